// SPDX-License-Identifier: GPL-2.0-only
/*
 * A program that does to /dev/latency_tracker whatever comes to its mind: calls with any
 * arguments, memory that it scribbles on, maps and unmaps, threads and children that end, fork or
 * are killed at any moment. It may harm itself only.
 *
 * The numbers are of an LCG, by the seed: what has found something is repeated, as far as the
 * scheduler does its part.
 */
#include "inject.h"

#include <latency_tracker_mark.h>
#include <sys/ioctl.h>

#define FILES	4
#define MAPS	16

struct fuzz {
	unsigned long long state;
	int file[FILES];
	void *map[MAPS];
	size_t size[MAPS];
	unsigned long *steps;
};

static unsigned int any(struct fuzz *f, unsigned int below)
{
	f->state = f->state * 6364136223846793005ULL + 1442695040888963407ULL;
	return (f->state >> 33) % below;
}

/* A value that may be anything, and often is near to a limit. */
static u64 any_value(struct fuzz *f)
{
	static const u64 edges[] = { 0, 1, 7, 8, 63, 64, 1023, 1024, 0x7fffffff, 0xffffffff,
				     1ULL << 63, ~0ULL };

	switch (any(f, 4)) {
	case 0:
		return edges[any(f, sizeof(edges) / sizeof(edges[0]))];
	case 1:
		return now() - any(f, 2000000000);
	case 2:
		return any(f, 16);
	default:
		return (u64)any(f, ~0U) << 32 | any(f, ~0U);
	}
}

static void any_bytes(struct fuzz *f, void *to, size_t bytes)
{
	size_t i;

	for (i = 0; i < bytes; i++)
		((unsigned char *)to)[i] = any(f, 256);
}

static int *any_file(struct fuzz *f)
{
	return &f->file[any(f, FILES)];
}

static void reopen(struct fuzz *f)
{
	int *file = any_file(f);

	if (*file >= 0)
		close(*file);
	*file = any(f, 8) ? open(LT_MARK_DEVICE, O_RDWR | (any(f, 2) ? O_CLOEXEC : 0)) : -1;
}

static void define(struct fuzz *f)
{
	struct lt_mark_define define = {};

	if (any(f, 4))
		snprintf(define.name, sizeof(define.name), "fuzz%u", any(f, 100));
	else
		any_bytes(f, &define, sizeof(define));
	ioctl(*any_file(f), LT_MARK_DEFINE, any(f, 16) ? &define : (void *)any_value(f));
}

static void end(struct fuzz *f)
{
	struct lt_mark_end end = {
		.frame = any(f, 2) ? any(f, LT_MARK_DEPTH) : any_value(f),
		.seq = any(f, 8) * 2 + 1,
		.mark = any(f, 2) ? any(f, 4) : any_value(f),
		.id = any_value(f),
		.start_ns = any(f, 2) ? now() - any(f, 3000000) : any_value(f),
		.start_run_ns = any_value(f),
		.end_ns = any(f, 2) ? now() : any_value(f),
		.end_run_ns = any_value(f),
	};

	if (!any(f, 8))
		any_bytes(f, &end, sizeof(end));
	ioctl(*any_file(f), LT_MARK_END, any(f, 16) ? &end : (void *)any_value(f));
}

/* Ids that other files and processes have, too. */
static void share(struct fuzz *f)
{
	struct lt_mark_between shared = {
		.mark = any(f, 4) ? any(f, 4) : any_value(f),
		.id = any(f, 4) ? any(f, 8) : any_value(f),
	};

	if (!any(f, 16))
		any_bytes(f, &shared, sizeof(shared));
	ioctl(*any_file(f), any(f, 2) ? LT_MARK_BEGIN_SHARED : LT_MARK_END_SHARED,
	      any(f, 16) ? &shared : (void *)any_value(f));
}

static void map(struct fuzz *f)
{
	unsigned int at = any(f, MAPS);
	u64 offset = any(f, 4) ? LT_MARK_AREA * any(f, 4) : any_value(f) & ~4095ULL;

	if (f->map[at])
		munmap(f->map[at], f->size[at]);
	f->size[at] = any(f, 4) ? sizeof(struct lt_mark_thread) : 1 + any(f, 1 << 20);
	f->map[at] = mmap(NULL, f->size[at], PROT_READ | (any(f, 8) ? PROT_WRITE : 0),
			  any(f, 8) ? MAP_SHARED : MAP_PRIVATE, *any_file(f), offset);
	if (f->map[at] == MAP_FAILED || f->size[at] > sizeof(struct lt_mark_thread)) {
		if (f->map[at] != MAP_FAILED)
			munmap(f->map[at], f->size[at]);
		f->map[at] = NULL;
	}
}

/* Anything at any place, or what looks like an operation. Faults are survived by a new process. */
static void scribble(struct fuzz *f)
{
	unsigned int at = any(f, MAPS), frame = any(f, LT_MARK_DEPTH), cell;
	struct lt_mark_thread *area = f->map[at];

	if (!area)
		return;
	switch (any(f, 3)) {
	case 0:
		any_bytes(f, (char *)area + any(f, sizeof(*area) - 64), 64);
		break;
	case 1:
		area->frame[frame].mark = any(f, 3);
		area->frame[frame].start_ns = now() - any(f, 3) * 700 * MS;
		area->frame[frame].run_ns = any_value(f);
		area->frame[frame].seq += any(f, 3);
		break;
	default:
		cell = any(f, LT_MARK_CELLS);
		area->cell[cell].key = lt_mark_key(any(f, 3), any_value(f) >> any(f, 64));
		area->cell[cell].sum_ns += any_value(f) >> any(f, 64);
		area->cell[cell].count += any(f, 5);
		area->ended++;
	}
}

static void *thread_of(void *arg)
{
	struct fuzz f = *(struct fuzz *)arg;
	unsigned int nr;

	f.state ^= (unsigned long)pthread_self();
	ioctl(*any_file(&f), LT_MARK_THREAD, &nr);
	end(&f);
	return NULL;
}

static void thread(struct fuzz *f)
{
	pthread_t thread;

	if (pthread_create(&thread, NULL, thread_of, f))
		return;
	pthread_join(thread, NULL);
}

/* A child with the same files and memory: it goes on for a while, becomes another program, or not. */
static void child(struct fuzz *f, void (*go_on)(struct fuzz *f, u64 until))
{
	pid_t pid = fork();

	if (!pid) {
		if (!any(f, 8))
			execlp("true", "true", NULL);
		go_on(f, now() + any(f, 50) * MS);
		_exit(0);
	}
	if (pid > 0) {
		if (any(f, 2))
			usleep(any(f, 20000));
		kill(pid, SIGKILL);
		waitpid(pid, NULL, 0);
	}
}

static void go_on(struct fuzz *f, u64 until)
{
	unsigned int nr;

	while (now() < until) {
		++*f->steps;
		switch (any(f, 28)) {
		case 0:
			reopen(f);
			break;
		case 1:
			child(f, go_on);
			break;
		case 2:
			thread(f);
			break;
		case 3: case 4:
			define(f);
			break;
		case 5: case 6:
			ioctl(*any_file(f), LT_MARK_THREAD, any(f, 16) ? &nr : (void *)any_value(f));
			break;
		case 7: case 8: case 9:
			map(f);
			break;
		case 10:
			ioctl(*any_file(f), any_value(f), any_value(f));
			break;
		case 11:
			usleep(any(f, 3000));
			break;
		case 12: case 13: case 14: case 15:
			end(f);
			break;
		case 16: case 17: case 18: case 19:
			share(f);
			break;
		default:
			scribble(f);
		}
	}
}

static void fuzz(unsigned long *steps, unsigned long long seed)
{
	struct fuzz f = { .state = seed, .steps = steps, .file = { -1, -1, -1, -1 } };

	prctl(PR_SET_NAME, "lt-fuzz");
	prctl(PR_SET_PDEATHSIG, SIGKILL);
	go_on(&f, now() + 300 * MS);
	_exit(0);
}

/* fuzz SECONDS SEED: prints how many steps it has taken, and how many processes that took. */
int cmd_fuzz(char **argv)
{
	u64 until = now() + atol(argv[1]) * 1000 * MS;
	unsigned long long seed = atoll(argv[2]);
	unsigned long *steps = (unsigned long *)shared, processes = 0;

	while (now() < until) {
		pid_t pid = fork();

		if (pid < 0)
			die("fork");
		if (!pid)
			fuzz(steps, seed + processes);
		waitpid(pid, NULL, 0);
		processes++;
	}
	printf("steps=%lu processes=%lu\n", *steps, processes);
	return 0;
}
