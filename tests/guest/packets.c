// SPDX-License-Identifier: GPL-2.0-only
/*
 * Sends and receives packets, for the tests of this directory, and prints what
 * it did as NAME=VALUE; times are ns of CLOCK_MONOTONIC, the clock of the
 * trackers. The sender is a child in the network namespace NETNS, as made by
 * "ip netns"; the receiver is where the program was started.
 */
#define _GNU_SOURCE
#include <arpa/inet.h>
#include <errno.h>
#include <fcntl.h>
#include <linux/if_ether.h>
#include <linux/if_packet.h>
#include <net/if.h>
#include <poll.h>
#include <sched.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/prctl.h>
#include <sys/socket.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>
#include "common.h"

#define MS		1000000ULL
#define PORT		7777
#define CLOSED_PORT	7778
#define ETHERTYPE	0x88b5	/* for experiments: nobody has a handler */

typedef unsigned long long u64;

static char data[65536];

/* What sender and receiver tell each other. */
static struct shared {
	u64 sending, sent;
	int go;		/* bursts that the sender may have sent */
	int done;	/* bursts that it has sent */
} *shared;

static u64 now(void)
{
	struct timespec ts;

	clock_gettime(CLOCK_MONOTONIC, &ts);
	return ts.tv_sec * 1000000000ULL + ts.tv_nsec;
}

static void enter_netns(const char *netns)
{
	char path[256];
	int fd;

	snprintf(path, sizeof(path), "/run/netns/%s", netns);
	fd = open(path, O_RDONLY);
	if (fd < 0 || setns(fd, CLONE_NEWNET))
		die(path);
	close(fd);
}

/* In the parent 0; the child is in @netns, and dies with its parent. */
static int in_netns(const char *netns)
{
	pid_t pid = fork();

	if (pid < 0)
		die("fork");
	if (pid)
		return 0;
	prctl(PR_SET_PDEATHSIG, SIGKILL);
	enter_netns(netns);
	return 1;
}

static void end_child(void)
{
	int status;

	if (wait(&status) < 0 || status)
		exit(1);
}

static struct sockaddr_in address(const char *text, int port)
{
	struct sockaddr_in addr = { .sin_family = AF_INET };

	addr.sin_port = htons(port);
	if (inet_pton(AF_INET, text, &addr.sin_addr) != 1)
		die(text);
	return addr;
}

static int udp_socket(const char *text)
{
	struct sockaddr_in addr = address(text, PORT);
	int fd = socket(AF_INET, SOCK_DGRAM, 0), size = 8 << 20;

	if (fd < 0 || bind(fd, (void *)&addr, sizeof(addr)) ||
	    setsockopt(fd, SOL_SOCKET, SO_RCVBUFFORCE, &size, sizeof(size)))
		die("udp");
	return fd;
}

static void wait_readable(int fd)
{
	struct pollfd pfd = { .fd = fd, .events = POLLIN };

	if (poll(&pfd, 1, 20000) != 1)
		die("nothing arrives");
}

static void send_to(const char *text, int port, int size, int n)
{
	struct sockaddr_in addr = address(text, port);
	int fd = socket(AF_INET, SOCK_DGRAM, 0);

	while (n--)
		if (sendto(fd, data, size, 0, (void *)&addr,
			   sizeof(addr)) != size)
			die("sendto");
	close(fd);
}

/* Receives what is in the queue for @ms, and says when. */
static void receive_late(int fd, u64 ms, int flags)
{
	u64 queued, before, after;
	ssize_t len;

	wait_readable(fd);
	queued = now();
	sleep_ms(ms);
	before = now();
	len = recv(fd, data, sizeof(data), flags);
	after = now();
	if (len < 0)
		die("recv");
	printf("pid=%d len=%zd sending=%llu sent=%llu queued=%llu before=%llu after=%llu\n",
	       getpid(), len, shared->sending, shared->sent, queued, before,
	       after);
}

/*
 * udp NETNS ADDR MS SIZE [HOW]: a datagram lies in the queue of its socket for
 * MS. HOW: peek: it is only looked at then; close: it is never read.
 */
static int cmd_udp(int argc, char **argv)
{
	const char *how = argc > 5 ? argv[5] : "";
	int fd = udp_socket(argv[2]);
	u64 before;

	if (in_netns(argv[1])) {
		shared->sending = now();
		send_to(argv[2], PORT, atoi(argv[4]), 1);
		shared->sent = now();
		_exit(0);
	}
	if (!strcmp(how, "close")) {
		wait_readable(fd);
		sleep_ms(atoi(argv[3]));
		before = now();
		close(fd);
		/* That leaves some of the work to RCU. */
		sleep_ms(500);
		printf("sending=%llu before=%llu after=%llu\n", shared->sending,
		       before, now());
	} else {
		receive_late(fd, atoi(argv[3]),
			     strcmp(how, "peek") ? 0 : MSG_PEEK);
		if (!strcmp(how, "peek"))
			sleep_ms(200);
	}
	end_child();
	return 0;
}

/* packet NETNS FROM TO MS: the same with a packet socket, device to device. */
static int cmd_packet(int argc, char **argv)
{
	struct sockaddr_ll ll = {
		.sll_family = AF_PACKET,
		.sll_protocol = htons(ETHERTYPE),
		.sll_halen = ETH_ALEN,
	};
	int fd = socket(AF_PACKET, SOCK_DGRAM, htons(ETHERTYPE));

	(void)argc;
	ll.sll_ifindex = if_nametoindex(argv[3]);
	if (fd < 0 || bind(fd, (void *)&ll, sizeof(ll)))
		die("packet socket");
	memset(ll.sll_addr, 0xff, ETH_ALEN);
	if (in_netns(argv[1])) {
		fd = socket(AF_PACKET, SOCK_DGRAM, 0);
		ll.sll_ifindex = if_nametoindex(argv[2]);
		shared->sending = now();
		if (sendto(fd, data, 100, 0, (void *)&ll, sizeof(ll)) != 100)
			die("sendto");
		shared->sent = now();
		_exit(0);
	}
	receive_late(fd, atoi(argv[4]), 0);
	end_child();
	return 0;
}

/* flood NETNS ADDR N: as fast as possible, to a port that is closed. */
static int cmd_flood(int argc, char **argv)
{
	(void)argc;
	if (in_netns(argv[1])) {
		send_to(argv[2], CLOSED_PORT, 100, atoi(argv[3]));
		_exit(0);
	}
	end_child();
	printf("sent=%s\n", argv[3]);
	return 0;
}

static int drain(int fd)
{
	int n = 0;

	while (recv(fd, data, sizeof(data), MSG_DONTWAIT) >= 0)
		n++;
	return n;
}

/*
 * bursts NETNS ADDR N MAX_MS [SEED]: N bursts of datagrams, each of which lies
 * in its queue for up to MAX_MS; some go to a closed port.
 */
static int cmd_bursts(int argc, char **argv)
{
	int n = atoi(argv[3]), max = atoi(argv[4]), fd, i, got = 0;
	unsigned int seed = argc > 5 ? atoi(argv[5]) : 1;

	fd = udp_socket(argv[2]);
	if (in_netns(argv[1])) {
		for (i = 1; i <= n; i++) {
			while (__atomic_load_n(&shared->go, __ATOMIC_ACQUIRE) < i)
				usleep(500);
			send_to(argv[2], PORT, rand_r(&seed) % 1400 + 1,
				rand_r(&seed) % 16 + 1);
			send_to(argv[2], CLOSED_PORT, 10, 1);
			__atomic_store_n(&shared->done, i, __ATOMIC_RELEASE);
		}
		_exit(0);
	}
	for (i = 1; i <= n; i++) {
		__atomic_store_n(&shared->go, i, __ATOMIC_RELEASE);
		while (__atomic_load_n(&shared->done, __ATOMIC_ACQUIRE) < i)
			usleep(500);
		sleep_ms(max ? rand_r(&seed) % max : 0);
		got += drain(fd);
	}
	end_child();
	got += drain(fd);
	printf("received=%d\n", got);
	return 0;
}

static void tcp_send(const char *text, u64 bytes)
{
	struct sockaddr_in addr = address(text, PORT);
	int fd = socket(AF_INET, SOCK_STREAM, 0);
	ssize_t len;

	if (fd < 0 || connect(fd, (void *)&addr, sizeof(addr)))
		die("connect");
	for (; bytes; bytes -= len) {
		len = send(fd, data, bytes < sizeof(data) ? bytes : sizeof(data),
			   0);
		if (len < 0)
			die("send");
	}
	close(fd);
}

static ssize_t tcp_receive(int fd, const char *how)
{
	static int fds[2], null;
	ssize_t len;

	if (strcmp(how, "splice"))
		return recv(fd, data, sizeof(data), 0);
	if (!null) {
		null = open("/dev/null", O_WRONLY);
		if (null < 0 || pipe(fds))
			die("pipe");
	}
	len = splice(fd, NULL, fds[1], NULL, 32768, 0);
	if (len > 0 && splice(fds[0], NULL, null, NULL, len, 0) != len)
		die("splice");
	return len;
}

/*
 * tcp NETNS ADDR BYTES MS [HOW]: a connection, of which nothing is read for
 * the first MS. HOW: splice: the data are not copied.
 */
static int cmd_tcp(int argc, char **argv)
{
	struct sockaddr_in addr = address(argv[2], PORT);
	int on = 1, fd, listener = socket(AF_INET, SOCK_STREAM, 0);
	u64 bytes = 0, begin, before;
	ssize_t len;

	if (setsockopt(listener, SOL_SOCKET, SO_REUSEADDR, &on, sizeof(on)) ||
	    bind(listener, (void *)&addr, sizeof(addr)) || listen(listener, 1))
		die("listen");
	begin = now();
	if (in_netns(argv[1])) {
		tcp_send(argv[2], strtoull(argv[3], NULL, 10));
		_exit(0);
	}
	fd = accept(listener, NULL, NULL);
	if (fd < 0)
		die("accept");
	sleep_ms(atoi(argv[4]));
	before = now();
	while ((len = tcp_receive(fd, argc > 5 ? argv[5] : "")) > 0)
		bytes += len;
	if (len < 0)
		die("recv");
	end_child();
	printf("bytes=%llu begin=%llu before=%llu after=%llu\n", bytes, begin,
	       before, now());
	return 0;
}

/* sniff MS: a packet socket for everything, which is read once, after MS. */
static int cmd_sniff(int argc, char **argv)
{
	int fd = socket(AF_PACKET, SOCK_RAW, htons(ETH_P_ALL)), size = 32 << 20;

	(void)argc;
	if (fd < 0 ||
	    setsockopt(fd, SOL_SOCKET, SO_RCVBUFFORCE, &size, sizeof(size)))
		die("packet socket");
	printf("ready=1\n");
	sleep_ms(atoi(argv[1]));
	printf("sniffed=%d\n", drain(fd));
	return 0;
}

static const struct {
	const char *name;
	int args;
	int (*run)(int argc, char **argv);
} commands[] = {
	{ "udp", 4, cmd_udp },
	{ "packet", 4, cmd_packet },
	{ "flood", 3, cmd_flood },
	{ "bursts", 4, cmd_bursts },
	{ "tcp", 4, cmd_tcp },
	{ "sniff", 1, cmd_sniff },
};

int main(int argc, char **argv)
{
	unsigned int i;

	setlinebuf(stdout);
	shared = mmap(NULL, sizeof(*shared), PROT_READ | PROT_WRITE,
		      MAP_SHARED | MAP_ANONYMOUS, -1, 0);
	if (shared == MAP_FAILED)
		die("mmap");
	for (i = 0; i < sizeof(commands) / sizeof(commands[0]); i++)
		if (argc - 2 >= commands[i].args &&
		    !strcmp(argv[1], commands[i].name))
			return commands[i].run(argc - 1, argv + 1);
	fprintf(stderr, "Usage: packets COMMAND ARG...; see the source\n");
	return 2;
}
