// SPDX-License-Identifier: GPL-2.0-only
/*
 * Operations of this program, marked by the library, and timed by clocks of its own.
 */
#include "inject.h"

#include <latency_tracker_user.h>

static u64 cpu_time(void)
{
	struct timespec ts;

	clock_gettime(CLOCK_THREAD_CPUTIME_ID, &ts);
	return ts.tv_sec * 1000 * MS + ts.tv_nsec;
}

static int define(const char *name)
{
	int mark = lt_mark_define(name);

	if (mark < 0)
		die("lt_mark_define");
	return mark;
}

static volatile sig_atomic_t enough;

static void on_enough(int sig)
{
	(void)sig;
	enough = 1;
}

/* At least once. */
static void write_file(const char *name, u64 times)
{
	static char block[4096];
	int fd = open(name, O_WRONLY | O_CREAT, 0600);

	if (fd < 0)
		die(name);
	do {
		if (write(fd, block, sizeof(block)) != sizeof(block) || fsync(fd))
			die(name);
	} while (times-- && !enough);
	close(fd);
}

/*
 * How it spends its time, ms: "sleep" or "spin"; or a file to write and fsync() so often, or until
 * SIGUSR1.
 */
static void spend(const char *how, u64 ms)
{
	if (!strcmp(how, "sleep"))
		sleep_ms(ms);
	else if (!strcmp(how, "spin"))
		spin_until(now() + ms * MS);
	else
		write_file(how, ms);
}

/* marks nested HOW MS: an operation "inner" in one called "outer". */
static int nested(char **argv)
{
	int outer = define("outer"), inner = define("inner");
	u64 out[2], in[2], run[2];

	prctl(PR_SET_NAME, "lt-marks");
	signal(SIGUSR1, on_enough);
	/* It has its memory by then, and its CPU time from its next switch on. */
	lt_mark_begin(outer, 1);
	lt_mark_end(outer, 1);
	usleep(1000);
	if (is_held())
		printf("pid=%d tgid=%d\n", own_pid(), getpid());
	wait_until_told();
	out[0] = now();
	lt_mark_begin(outer, 70000000000ULL);
	in[0] = now();
	run[0] = cpu_time();
	lt_mark_begin(inner, 8);
	spend(argv[2], atol(argv[3]));
	lt_mark_end(inner, 8);
	run[1] = cpu_time();
	in[1] = now();
	lt_mark_end(outer, 70000000000ULL);
	out[1] = now();
	printf("pid=%d tgid=%d begin=%llu end=%llu outer_begin=%llu outer_end=%llu run=%llu\n",
	       own_pid(), getpid(), in[0], in[1], out[0], out[1], run[1] - run[0]);
	return 0;
}

/* marks late MS: it waits for so long after an operation of 400 ms is over, before it tells that. */
static int late(char **argv)
{
	struct lt_mark_self *self = &lt_mark_self_1;
	int mark = define("told-late");
	u64 end;

	lt_mark_begin(mark, 1);
	lt_mark_end(mark, 1);
	lt_mark_begin(mark, 2);
	sleep_ms(400);
	end = now();
	lt_mark_take(self, 0);
	sleep_ms(atol(argv[2]));
	lt_mark_tell(0, &self->area->frame[0], end, LT_MARK_NO_TIME);
	printf("pid=%d\n", own_pid());
	return 0;
}

/*
 * marks count N US: so many operations of "short" that take about US, and twice as many of
 * "shorter" that take a third of it.
 */
static int count(char **argv)
{
	static const char *const names[] = { "short", "shorter" };
	long n = atol(argv[2]), i;
	u64 begin, sum[2] = {}, most[2] = {}, took, least[2] = { ~0ULL, ~0ULL };
	int mark[2], which;

	for (which = 0; which < 2; which++)
		mark[which] = define(names[which]);
	for (i = 0; i < 3 * n; i++) {
		which = i % 3 != 0;
		begin = now();
		lt_mark_begin(mark[which], i);
		spin_until(begin + atol(argv[3]) * 1000 / (which ? 3 : 1));
		lt_mark_end(mark[which], i);
		took = now() - begin;
		sum[which] += took;
		most[which] = took > most[which] ? took : most[which];
		least[which] = took < least[which] ? took : least[which];
	}
	for (which = 0; which < 2; which++)
		printf("%s=%ld sum_%s=%llu least_%s=%llu most_%s=%llu ", names[which],
		       which ? 2 * n : n, names[which], sum[which], names[which], least[which],
		       names[which], most[which]);
	printf("\n");
	fflush(stdout);
	wait_until_told();
	return 0;
}

/*
 * marks many MARKS N: N operations of each of so many marks, which take 1 us to 1 ms: more
 * different times than the table of a thread has room for.
 */
static int many(char **argv)
{
	int marks = atoi(argv[2]), n = atoi(argv[3]), mark[marks], i, of;
	char name[16];
	u64 ns, begin;

	for (i = 0; i < marks; i++) {
		snprintf(name, sizeof(name), "many%d", i);
		mark[i] = define(name);
	}
	for (of = 0; of < n; of++) {
		ns = (1000 + 24ULL * of % 1000) << of * 10 / n;
		for (i = 0; i < marks; i++) {
			begin = now();
			lt_mark_begin(mark[i], of);
			spin_until(begin + ns);
			lt_mark_end(mark[i], of);
		}
	}
	printf("many=%d\n", marks * n);
	fflush(stdout);
	wait_until_told();
	return 0;
}

static void *end_id(void *id)
{
	int mark = define("handed");

	sleep_ms((u64)id / 10);
	lt_mark_end_id(mark, (u64)id);
	return NULL;
}

/*
 * marks handed N MS: N operations of one thread that others end, each in its own time: the
 * one with id i, from 1 on, after i * MS. As an oracle, each is ended twice.
 */
static int handed(char **argv)
{
	u64 n = atol(argv[2]), ms = atol(argv[3]), i;
	int mark = define("handed");
	pthread_t thread[2 * n];

	prctl(PR_SET_NAME, "lt-hands-over");
	for (i = 1; i <= n; i++)
		lt_mark_begin_id(mark, i * ms * 10);
	for (i = 0; i < 2 * n; i++)
		if (pthread_create(&thread[i], NULL, end_id, (void *)((i / 2 + 1) * ms * 10)))
			die("pthread_create");
	for (i = 0; i < 2 * n; i++)
		pthread_join(thread[i], NULL);
	printf("pid=%d handed=%llu\n", getpid(), n);
	fflush(stdout);
	wait_until_told();
	return 0;
}

/* By the calls themselves, for their errors. */
static long call_shared(unsigned long command, int mark, u64 id)
{
	struct lt_mark_between shared = { .mark = mark, .id = id };
	long ret = ioctl(lt_mark_process_1.fd, command, &shared);

	return ret < 0 ? -errno : ret;
}

/*
 * marks shared WHAT ID N: begin or end so many operations that other processes may end: those with
 * the ids from ID on. Says what the last call has returned.
 */
static int shared_ids(char **argv)
{
	unsigned long command = strcmp(argv[2], "begin") ? LT_MARK_END_SHARED : LT_MARK_BEGIN_SHARED;
	u64 id = atoll(argv[3]), n = atoll(argv[4]), i;
	int mark = define("between");
	long ret = 0, good = 0;

	prctl(PR_SET_NAME, strcmp(argv[2], "begin") ? "lt-ends" : "lt-begins");
	for (i = 0; i < n; i++) {
		ret = call_shared(command, mark, id + i);
		good += ret >= 0;
	}
	printf("pid=%d good=%ld last=%ld at=%llu\n", getpid(), good, ret, now());
	fflush(stdout);
	wait_until_told();
	return 0;
}

/* marks between MS: an operation that a child ends, by the library. */
static int between(char **argv)
{
	int mark = define("between");
	u64 begin[2], end[2];
	int pipes[2];
	pid_t child;

	prctl(PR_SET_NAME, "lt-between");
	if (pipe(pipes))
		die("pipe");
	begin[0] = now();
	lt_mark_begin_shared(mark, 4711);
	begin[1] = now();
	child = fork();
	if (!child) {
		sleep_ms(atol(argv[2]));
		end[0] = now();
		lt_mark_end_shared(mark, 4711);
		end[1] = now();
		_exit(write(pipes[1], end, sizeof(end)) != sizeof(end));
	}
	if (child < 0 || read(pipes[0], end, sizeof(end)) != sizeof(end))
		die("child");
	waitpid(child, NULL, 0);
	printf("pid=%d least=%llu most=%llu\n", getpid(), end[0] - begin[1], end[1] - begin[0]);
	return 0;
}

/* marks deep N: N operations in each other. */
static int deep(char **argv)
{
	int mark = define("deep"), n = atoi(argv[2]), i;

	for (i = 0; i < n; i++)
		lt_mark_begin(mark, i);
	for (i = n; i--;)
		lt_mark_end(mark, i);
	printf("deep=%d\n", n);
	wait_until_told();
	return 0;
}

static void *begin_alone(void *ms)
{
	lt_mark_begin(define("alone"), 3);
	sleep_ms((long)ms);
	return NULL;
}

/* marks thread MS: a thread begins something and ends itself so much later. */
static int thread(char **argv)
{
	pthread_t thread;

	if (pthread_create(&thread, NULL, begin_alone, (void *)atol(argv[2])))
		die("pthread_create");
	pthread_join(thread, NULL);
	printf("pid=%d\n", getpid());
	fflush(stdout);
	wait_until_told();
	return 0;
}

/* marks exec: it begins something, and becomes sleep. The device stays open, against all rules. */
static int exec(char **argv)
{
	int fd = open(LT_MARK_DEVICE, O_RDWR);

	(void)argv;
	if (fd < 0)
		die(LT_MARK_DEVICE);
	lt_mark_begin(define("replaced"), 1);
	fcntl(lt_mark_process_1.fd, F_SETFD, 0);
	execlp("sleep", "sleep", "3", NULL);
	die("sleep");
}

/* marks fork MS: a child that goes on with the marks of its parent, and both end in their own time. */
static int forked(char **argv)
{
	int mark = define("forked");
	pid_t child;

	lt_mark_begin(mark, 1);
	child = fork();
	if (!child) {
		prctl(PR_SET_NAME, "lt-child");
		lt_mark_begin(mark, 2);
		sleep_ms(atol(argv[2]));
		lt_mark_end(mark, 2);
		/* Of its parent. */
		lt_mark_end(mark, 1);
		_exit(0);
	}
	waitpid(child, NULL, 0);
	lt_mark_end(mark, 1);
	printf("pid=%d child=%d\n", getpid(), child);
	return 0;
}

struct turn {
	u64 id, begin[2], end[2];
};

struct crowd {
	struct turn *turns;
	pid_t pid;
	int n, mark;
	unsigned int seed;
	u64 ms;
};

static void *take_turns(void *data)
{
	struct crowd *crowd = data;
	struct turn *turn;

	crowd->pid = own_pid();
	for (turn = crowd->turns; turn < crowd->turns + crowd->n; turn++) {
		turn->begin[0] = now();
		lt_mark_begin(crowd->mark, turn->id);
		turn->begin[1] = now();
		spend(rand_r(&crowd->seed) % 4 ? "sleep" : "spin", rand_r(&crowd->seed) % crowd->ms);
		turn->end[0] = now();
		lt_mark_end(crowd->mark, turn->id);
		turn->end[1] = now();
	}
	return NULL;
}

/*
 * marks crowd THREADS N MS: each thread has N operations that take up to MS. Then a line of each:
 * its thread, and how long it took at least and at most, by the clock around begin and end.
 */
static int crowd(char **argv)
{
	int threads = atoi(argv[2]), n = atoi(argv[3]), mark = define("crowd"), i, of;
	struct crowd crowds[threads];
	pthread_t thread[threads];
	struct turn *turn;

	for (i = 0; i < threads; i++) {
		crowds[i] = (struct crowd){ calloc(n, sizeof(*turn)), 0, n, mark, i + 1, atol(argv[4]) };
		for (of = 0; of < n; of++)
			crowds[i].turns[of].id = i * n + of + 1;
		if (pthread_create(&thread[i], NULL, take_turns, &crowds[i]))
			die("pthread_create");
	}
	for (i = 0; i < threads; i++) {
		pthread_join(thread[i], NULL);
		for (turn = crowds[i].turns; turn < crowds[i].turns + n; turn++)
			printf("id=%llu pid=%d least=%llu most=%llu\n", turn->id, crowds[i].pid,
			       turn->end[0] - turn->begin[1], turn->end[1] - turn->begin[0]);
	}
	return 0;
}

/* marks times N: how long a begin with its end, and two looks at a clock, take, in ps: the mean of N. */
static int times(char **argv)
{
	int mark = lt_mark_define("times");
	u64 n = atol(argv[2]), i, begin, clocks;

	begin = now();
	for (i = 0; i < 2 * n; i++)
		now();
	clocks = now() - begin;
	lt_mark_begin(mark, 0);
	lt_mark_end(mark, 0);
	begin = now();
	for (i = 0; i < n; i++) {
		lt_mark_begin(mark, i);
		lt_mark_end(mark, i);
	}
	printf("mark_ps=%llu clock_ps=%llu\n", (now() - begin) * 1000 / n, clocks * 1000 / n);
	return 0;
}

/* marks times_shared N: likewise of an operation that another process may end. */
static int times_shared(char **argv)
{
	int mark = define("times_shared");
	u64 n = atol(argv[2]), i, begin;

	begin = now();
	for (i = 0; i < n; i++) {
		lt_mark_begin_shared(mark, i);
		lt_mark_end_shared(mark, i);
	}
	printf("shared_ps=%llu\n", (now() - begin) * 1000 / n);
	return 0;
}

/* marks open: may it? */
static int may_open(char **argv)
{
	int mark = lt_mark_define("mine");

	(void)argv;
	printf("mark=%d errno=%d on=%d\n", mark, errno, lt_mark_on());
	return 0;
}

static void *hold_one(void *barrier)
{
	int mark = lt_mark_define("held");

	lt_mark_begin(mark, 1);
	pthread_barrier_wait(barrier);
	pthread_barrier_wait(barrier);
	lt_mark_end(mark, 1);
	return NULL;
}

/* marks threads N: so many with something pending. */
static int threads(char **argv)
{
	int n = atoi(argv[2]), i;
	pthread_barrier_t barrier;
	pthread_t of[n];

	pthread_barrier_init(&barrier, NULL, n + 1);
	for (i = 0; i < n; i++)
		if (pthread_create(&of[i], NULL, hold_one, &barrier))
			die("pthread_create");
	pthread_barrier_wait(&barrier);
	printf("threads=%d\n", n);
	fflush(stdout);
	wait_until_told();
	pthread_barrier_wait(&barrier);
	for (i = 0; i < n; i++)
		pthread_join(of[i], NULL);
	return 0;
}

static const struct command commands[] = {
	{ "nested", 2, nested }, { "count", 2, count },	  { "deep", 1, deep }, { "late", 1, late },
	{ "thread", 1, thread }, { "exec", 0, exec },	  { "fork", 1, forked },
	{ "open", 0, may_open }, { "handed", 2, handed }, { "threads", 1, threads },
	{ "times", 1, times },	  { "crowd", 3, crowd },	  { "shared", 3, shared_ids },
	{ "between", 1, between }, { "times_shared", 1, times_shared }, { "many", 2, many },
};

int cmd_marks(char **argv)
{
	return run_command(commands, sizeof(commands) / sizeof(commands[0]), argv);
}
