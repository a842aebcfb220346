// SPDX-License-Identifier: GPL-2.0-only
/*
 * Loads: threads until the time is over.
 */
#include "inject.h"

static u64 load_end;

static void sleeper(long arg)
{
	unsigned int seed = own_pid();

	(void)arg;
	while (now() < load_end)
		sleep_ms(rand_r(&seed) % 8 ? 1 : 150 + rand_r(&seed) % 50);
}

static void beat(long ms)
{
	while (now() < load_end)
		sleep_ms(ms);
}

static void *rouser_thread(void *arg)
{
	int fd = (long)arg;

	pin(0, 0);
	while (now() < load_end && write(fd, "x", 1) == 1)
		sleep_ms(3);
	close(fd);
	return NULL;
}

/*
 * On the hog's CPU, but woken from the other one: with PREEMPT_RT the timer of
 * a waiter is in a thread of its CPU, which waits for the hog, too.
 */
static void woken(long arg)
{
	pthread_t rouser;
	int fds[2];
	char c;

	(void)arg;
	if (pipe(fds) ||
	    pthread_create(&rouser, NULL, rouser_thread, (void *)(long)fds[1]))
		die("woken");
	while (read(fds[0], &c, 1) == 1)
		;
	pthread_join(rouser, NULL);
	close(fds[0]);
}

static void hog(long arg)
{
	(void)arg;
	be_fifo(10);
	while (now() < load_end) {
		spin_until(now() + 200 * MS);
		sleep_ms(150);
	}
}

/* Children that are born and die: each at once after the other, with an exec, or now and then. */
static void parent(long pause_ms)
{
	while (now() < load_end) {
		pid_t pid = vfork();

		if (!pid && !pause_ms)
			execl("/bin/true", "true", NULL);
		if (!pid)
			_exit(0);
		if (pid > 0)
			waitpid(pid, NULL, 0);
		if (pause_ms)
			sleep_ms(pause_ms);
	}
}

/* Its child is stopped most of the time. */
static void stopper(long arg)
{
	pid_t pid = fork();

	(void)arg;
	if (!pid) {
		prctl(PR_SET_PDEATHSIG, SIGKILL);
		for (;;)
			usleep(1000);
	}
	while (now() < load_end) {
		kill(pid, SIGSTOP);
		sleep_ms(10);
		kill(pid, SIGCONT);
		sleep_ms(5);
	}
	kill(pid, SIGKILL);
	waitpid(pid, NULL, 0);
}

/*
 * Never sleeps: what wakes it finds it running. Two of them on a CPU take it from each
 * other, or give it to each other.
 */
static void spinner(long yields)
{
	/* A call that ends here, so that its begin was on the CPU where the loop runs. */
	own_pid();
	while (now() < load_end)
		if (yields)
			sched_yield();
}

/* Two threads that wake each other as fast as they can. */
static void *pong_thread(void *arg)
{
	int *fds = arg;
	char c;

	while (read(fds[0], &c, 1) == 1 && write(fds[3], &c, 1) == 1)
		;
	close(fds[3]);
	return NULL;
}

static void ping(long arg)
{
	int fds[4];
	pthread_t t;
	char c = 0;

	(void)arg;
	if (pipe(fds) || pipe(fds + 2) ||
	    pthread_create(&t, NULL, pong_thread, fds))
		die("ping");
	while (now() < load_end)
		if (write(fds[1], &c, 1) != 1 || read(fds[2], &c, 1) != 1)
			die("ping");
	close(fds[1]);
	pthread_join(t, NULL);
	close(fds[0]);
	close(fds[2]);
}

/*
 * A reader is woken just when it is about to sleep in a pipe, often before it
 * sleeps; when it then sleeps for long, it is not late after that. The waker
 * waits a little less whenever the reader was asleep already, and a little more
 * whenever it was not, and so stays close to the moment in question.
 */
struct edge {
	int fd;
	int ready;	/* the reader goes to sleep now */
	int end;
	int delay_ns;
};

static void *edge_waker(void *arg)
{
	struct edge *edge = arg;

	pin(0, 1);
	while (!__atomic_load_n(&edge->end, __ATOMIC_ACQUIRE)) {
		if (!__atomic_exchange_n(&edge->ready, 0, __ATOMIC_ACQ_REL))
			continue;
		spin_until(now() + edge->delay_ns);
		if (write(edge->fd, "x", 1) != 1)
			die("edge");
	}
	return NULL;
}

static void edge(long arg)
{
	struct edge edge = { .delay_ns = 20000 };
	unsigned int i, seed = 1;
	pthread_t waker;
	int fds[2];
	long before;
	char c;

	(void)arg;
	if (pipe(fds))
		die("edge");
	edge.fd = fds[1];
	if (pthread_create(&waker, NULL, edge_waker, &edge))
		die("edge");
	for (i = 0; now() < load_end; i++) {
		before = slept();
		__atomic_store_n(&edge.ready, 1, __ATOMIC_RELEASE);
		if (read(fds[0], &c, 1) != 1)
			die("edge");
		edge.delay_ns += (slept() > before ? -1 : 1) * (rand_r(&seed) % 2000);
		if (edge.delay_ns < 0)
			edge.delay_ns = 0;
		if (i % 4 == 0)
			sleep_ms(60);
	}
	__atomic_store_n(&edge.end, 1, __ATOMIC_RELEASE);
	pthread_join(waker, NULL);
	close(fds[0]);
	close(fds[1]);
}

/* SIGTERM ends a load at once. */
static void end_load(int sig)
{
	(void)sig;
	load_end = 0;
}

#define ANY	(-1)

static const struct load {
	const char *name;
	void (*run)(long arg);
	int cpu;
	long arg;
} loads[] = {
	{ "sleeper", sleeper, ANY, 0 },
	{ "beat", beat, ANY, 100 },
	{ "idler", beat, ANY, 20000 },
	{ "waiter", beat, 1, 3 },
	{ "woken", woken, 1, 0 },
	{ "runner", spinner, ANY, 1 },
	{ "hog", hog, 1, 0 },
	{ "exec", parent, ANY, 0 },
	{ "mortal", parent, ANY, 20 },
	{ "stopper", stopper, ANY, 0 },
	{ "spinner", spinner, 1, 0 },
	{ "ping", ping, ANY, 0 },
	{ "edge", edge, 0, 0 },
	{ NULL, NULL, 0, 0 },
};

static void *run_load(void *arg)
{
	const struct load *load = arg;

	if (load->cpu != ANY)
		pin(0, load->cpu);
	load->run(load->arg);
	return NULL;
}

/* load MS NAME...: one thread per NAME. */
int cmd_load(char **argv)
{
	const struct load *load;
	pthread_t threads[256];
	int i, n = 0;

	signal(SIGTERM, end_load);
	if (is_held())
		printf("pid=%d\n", getpid());
	wait_until_told();
	load_end = now() + atoi(argv[1]) * MS;
	for (argv += 2; *argv && n < 256; argv++) {
		for (load = loads; load->name && strcmp(*argv, load->name); load++)
			;
		if (!load->name ||
		    pthread_create(&threads[n++], NULL, run_load, (void *)load))
			die(*argv);
	}
	for (i = 0; i < n; i++)
		pthread_join(threads[i], NULL);
	return 0;
}
