// SPDX-License-Identifier: GPL-2.0-only
/*
 * Feeds the writable files of the modules with strings, for the tests of this directory.
 *
 *	feed SEED COUNT THREADS FILE...
 *
 * With one thread, file after file gets its share of COUNT strings, and after each of them its
 * value is what it was, or what was written, in the form in which the file shows it. With
 * more, all files get theirs at the same time; what is read may then be another's, but must
 * be in that form. In both cases it is known beforehand whether a string is a value of the file:
 * here it is decided again, from what Documentation/ABI says, not by the kernel's functions.
 *
 * Prints the strings that were not treated so, as lines with a #, and at last figures as
 * NAME=VALUE. What the files had at first is written back.
 */
#define _GNU_SOURCE
#include <errno.h>
#include <fcntl.h>
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>
#include "common.h"
#include "formats.h"

#define FILES_MAX	128
#define VALUE_MAX	64

/* --- what they get ------------------------------------------------------------------ */

static __thread u64 random_state;

/* xorshift64*, by Vigna. */
static u64 rnd(void)
{
	random_state ^= random_state >> 12;
	random_state ^= random_state << 25;
	random_state ^= random_state >> 27;
	return random_state * 2685821657736338717ULL;
}

static unsigned int below(unsigned int n)
{
	return (rnd() >> 32) % n;
}

static const char *const words[] = {
	"none", "snapshot", "traceoff", "snapshot:1", "traceoff:0", "none:1",
	"snapshot:268435454", "snapshot:268435455", "snapshot:", "nonesuch",
	"ip", "ipv6", "arp", "IP", "tcp", "HI", "NET_RX", "net_rx", "RCU",
	"lo", "eth0", "fifteen-letters", "sixteen-letters-", ".", "..", "a/b",
	"a:1", "8:0", "8:", ":8", "8:0:0", "8\n:0", "8 :0", "0:0", "4095:1048575",
	"4096:0", "8:1048576", "+8:+0", "-8:0", "0x8:0", "on", "off", "true",
	"NaN", "inf", "1e3", "1.5", "5us", "%s%n", "0x", "0xg", "+", "-", "-0",
	"--1", "+-1", "0b1", "5;", "'5'", "$(id)", "\xc3\xa4", "\xc3\x84th0",
	"\xe2\x82\xac", "\xd9\xa5", "\xef\xbc\x95", "\xff\xfe", "\xf0\x9f\x90\xa7",
	"5\xc2\xa0", "\x7f", "\x1b[2J",
};

static const u64 edges[] = {
	0, 1, 2, 9, 10, 15, 16, 127, 128, 255, 256, 999999, 1000000, 32767, 32768,
	65535, 65536, 4194303, 4194304, 4194305, 268435454, 268435455,
	2147483647, 2147483648, 4294967295, 4294967296, 3600000000000,
	3600000000001, 18446744073709551, 18446744073709552,
	9223372036854775807, 9223372036854775808ULL,
	18446744073709551614ULL, 18446744073709551615ULL,
};

static const unsigned int lengths[] = {
	4094, 4095, 4096, 4097, 5000, 8192, 65536,
};

static size_t put_number(char *to)
{
	static const char *const styles[] = {
		"%llu", "%llu", "%llu", "0x%llx", "0x%llX", "0%llo", "%llx",
		"-%llu", "+%llu", "0%llu", " %llu", "%llu ", "\t%llu", "%llu\n\n",
		"00000000000000000000000000000000000000000000000%llu",
		"%lluk", "%llu,0", "%llu%%", "%llu;rm", "0x+%llx", "0X%llx",
	};
	u64 value = below(3) ? edges[below(ARRAY_SIZE(edges))] :
			       rnd() >> below(64);

	return sprintf(to, styles[below(ARRAY_SIZE(styles))], value);
}

static size_t put_long(char *to)
{
	size_t len = lengths[below(ARRAY_SIZE(lengths))];

	memset(to, "0019a xN\n"[below(9)], len);
	if (below(2))
		to[len - 1 - below(2)] = '5';
	return len;
}

static size_t put_bytes(char *to)
{
	size_t i, len = 1 + below(below(8) ? 24 : 4096);

	for (i = 0; i < len; i++)
		to[i] = rnd();
	return len;
}

/* Something that is nearly right. */
static size_t put_mutation(char *to, const char *value)
{
	size_t len = sprintf(to, "%s", value), at = len ? below(len) : 0;

	switch (below(4)) {
	case 0:
		to[at] ^= 1 << below(8);
		return len ? len : 1;
	case 1:
		memmove(to + at + 1, to + at, len - at + 1);
		to[at] = "\0\n\t -+x0:1/"[below(11)];
		return len + 1;
	case 2:
		to[len] = rnd();
		return len + 1;
	}
	return len ? len - 1 : 0;
}

/* Always right, the borders included. */
static size_t put_value(char *to, const struct format *f)
{
	u64 span = f->max - f->min;
	u64 value = f->min + (span == UINT64_MAX ? rnd() : rnd() % (span + 1));

	switch (f->form) {
	case DISK:
		return sprintf(to, "%u:%u", 1 + below(4095), below(1048576));
	case ACTION:
		return sprintf(to, "%s:%llu",
			       below(2) ? "traceoff" : "snapshot", value);
	default:
		if (!below(3))
			value = below(2) ? f->min : f->max;
		return sprintf(to, "%llu", value);
	}
}

/* Returns its length. */
static size_t make_input(char *to, const struct format *f, const char *value)
{
	size_t len;

	switch (below(16)) {
	case 0:
		len = 0;
		break;
	case 1:
		len = put_long(to);
		break;
	case 2:
	case 3:
		len = put_bytes(to);
		break;
	case 4:
	case 5:
	case 6:
		len = sprintf(to, "%s", words[below(ARRAY_SIZE(words))]);
		break;
	case 7:
	case 8:
		len = put_mutation(to, value);
		break;
	case 9:
		len = put_value(to, f);
		/* So that the whole does not take too long. */
		if (f->slow && below(3))
			to[len++] = '!';
		break;
	case 10:
		to[0] = "\0\n \t\v\r\f\x80"[below(8)];
		len = 1;
		break;
	default:
		len = put_number(to);
		break;
	}
	if (below(3) && len < INPUT_MAX)
		to[len++] = '\n';
	return len;
}

/* --- the feeding -------------------------------------------------------------------- */

/**
 * struct file - one of the files
 * @path: of it
 * @format: what it takes
 * @fd: for reading and writing
 * @first: what it had before
 */
struct file {
	const char *path;
	const struct format *format;
	int fd;
	char first[VALUE_MAX];
};

struct figures {
	unsigned long fed, accepted, refused, wrong;
};

struct feeder {
	pthread_t thread;
	u64 seed;
	unsigned long count;
	struct figures figures;
};

static struct file files[FILES_MAX];
static unsigned int nr_files, nr_threads;
static size_t page;
static pthread_mutex_t printing = PTHREAD_MUTEX_INITIALIZER;

/* Without the newline. */
static void read_value(const struct file *file, char *value)
{
	ssize_t n = pread(file->fd, value, VALUE_MAX, 0);

	if (n < 1 || n == VALUE_MAX || value[n - 1] != '\n') {
		errno = n < 0 ? errno : EBADMSG;
		die(file->path);
	}
	value[n - 1] = 0;
}

static void complain(struct figures *figures, const struct file *file,
		     const char *input, size_t len, const char *why,
		     const char *text)
{
	size_t i;

	if (figures->wrong++ > 20)
		return;
	pthread_mutex_lock(&printing);
	printf("# %s: %zu bytes \"", file->path, len);
	for (i = 0; i < len && i < 60; i++)
		printf(input[i] > 32 && input[i] < 127 ? "%c" : "\\x%02x",
		       (unsigned char)input[i]);
	printf("\": %s: %s\n", why, text);
	pthread_mutex_unlock(&printing);
}

/* One string. What the file shows before it is in @value, and behind it what it shows then. */
static void feed(const struct file *file, char *value, struct figures *figures)
{
	static __thread char input[INPUT_MAX + VALUE_MAX];
	char before[VALUE_MAX], *after = value, shown[VALUE_MAX] = "", again[VALUE_MAX];
	size_t len, seen;
	ssize_t got;
	int valid;

	strcpy(before, value);
	len = make_input(input, file->format, before);
	/* The kernel takes a page; what is behind it would be another write. */
	seen = len < page ? len : page;
	valid = seen && is_value(file->format, input, seen, shown);
	got = pwrite(file->fd, input, len, 0);
	if (got < 0 && errno != EINVAL)
		complain(figures, file, input, len, "error", strerror(errno));
	read_value(file, after);
	figures->fed++;
	if (got >= 0)
		figures->accepted++;
	else
		figures->refused++;
	if (!seen)
		valid = got == 0;
	if (got < 0 ? valid : !valid || (size_t)got != seen)
		complain(figures, file, input, len,
			 valid ? "refused" : "accepted", after);
	else if (nr_threads == 1 && strcmp(after, valid && seen ? shown : before))
		complain(figures, file, input, len, "reads as", after);
	else if (!is_value(file->format, after, strlen(after), again) ||
		 strcmp(again, after))
		complain(figures, file, input, len, "no value at all", after);
}

static void *feeder(void *arg)
{
	const struct file *file, *last = NULL;
	struct feeder *me = arg;
	char value[VALUE_MAX];
	unsigned long i;

	random_state = me->seed;
	for (i = 0; i < me->count; i++) {
		file = &files[nr_threads > 1 ? below(nr_files) :
			      i * nr_files / me->count];
		/* Alone with a file, it is still what it was behind the last string. */
		if (file != last)
			read_value(file, value);
		last = file;
		feed(file, value, &me->figures);
	}
	return NULL;
}

static void open_files(char **paths)
{
	for (; *paths && nr_files < FILES_MAX; paths++) {
		struct file *file = &files[nr_files++];

		file->path = *paths;
		file->format = format_of(*paths);
		file->fd = open(*paths, O_RDWR);
		if (file->fd < 0)
			die(*paths);
		read_value(file, file->first);
	}
}

static void restore_files(struct figures *figures)
{
	char text[VALUE_MAX + 1];
	struct file *file;

	for (file = files; file < files + nr_files; file++) {
		sprintf(text, "%s\n", file->first);
		if (pwrite(file->fd, text, strlen(text), 0) < 0)
			die(file->path);
	}
	/* Some are one value in two files. */
	for (file = files; file < files + nr_files; file++) {
		read_value(file, text);
		if (strcmp(text, file->first))
			complain(figures, file, text, strlen(text), "at first",
				 file->first);
	}
}

/* The last one that is possible; there are no gaps in a guest. */
static void find_cpus(void)
{
	size_t i;

	for (i = 0; i < ARRAY_SIZE(formats); i++)
		if (!strcmp(formats[i].path, "/cpu"))
			formats[i].max = sysconf(_SC_NPROCESSORS_CONF) - 1;
}

int main(int argc, char **argv)
{
	struct figures sum = { };
	struct feeder *feeders;
	u64 seed;
	unsigned int i;

	if (argc < 5) {
		fprintf(stderr, "Usage: feed SEED COUNT THREADS FILE...\n");
		return 2;
	}
	seed = strtoull(argv[1], NULL, 0);
	nr_threads = atoi(argv[3]);
	page = sysconf(_SC_PAGESIZE);
	find_cpus();
	open_files(argv + 4);
	feeders = calloc(nr_threads, sizeof(*feeders));
	for (i = 0; i < nr_threads; i++) {
		feeders[i].seed = (seed + i + 1) * 0x9e3779b97f4a7c15ULL;
		feeders[i].count = atol(argv[2]) / nr_threads;
		errno = pthread_create(&feeders[i].thread, NULL, feeder,
				       &feeders[i]);
		if (errno)
			die("pthread_create");
	}
	for (i = 0; i < nr_threads; i++) {
		pthread_join(feeders[i].thread, NULL);
		sum.fed += feeders[i].figures.fed;
		sum.accepted += feeders[i].figures.accepted;
		sum.refused += feeders[i].figures.refused;
		sum.wrong += feeders[i].figures.wrong;
	}
	restore_files(&sum);
	printf("seed=%llu files=%u threads=%u fed=%lu accepted=%lu refused=%lu wrong=%lu\n",
	       seed, nr_files, nr_threads, sum.fed, sum.accepted, sum.refused, sum.wrong);
	return !!sum.wrong;
}
