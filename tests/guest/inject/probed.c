// SPDX-License-Identifier: GPL-2.0-only
/*
 * Operations of a program that knows nothing of marks: a function, and what is between two USDT
 * probes, timed by a clock of its own.
 */
#include "inject.h"
#include <setjmp.h>

/* As <sys/sdt.h> has them, without arguments; and a label. */
#define USDT(name, semaphore)						\
	__asm__ volatile("probed_at_" name ":\n"			\
			 "990: nop\n"					\
			 ".pushsection .note.stapsdt, \"\", \"note\"\n"	\
			 ".balign 4\n"					\
			 ".4byte 992f - 991f, 994f - 993f, 3\n"		\
			 "991: .asciz \"stapsdt\"\n"			\
			 "992: .balign 4\n"				\
			 "993: .8byte 990b, _.stapsdt.base, " semaphore "\n" \
			 ".asciz \"probed\", \"" name "\", \"\"\n"	\
			 "994: .balign 4\n"				\
			 ".popsection\n")

__asm__(".pushsection .stapsdt.base, \"aG\", \"progbits\", .stapsdt.base, comdat\n"
	".weak _.stapsdt.base\n"
	".hidden _.stapsdt.base\n"
	"_.stapsdt.base: .space 1\n"
	".size _.stapsdt.base, 1\n"
	".popsection\n");

/* Not 0 while somebody looks. */
unsigned short probed_begin_semaphore __attribute__((section(".probes"), used));
unsigned short probed_end_semaphore __attribute__((section(".probes"), used));

extern const char probed_at_begin[], probed_at_end[];

#define OPAQUE __attribute__((noinline, noclone))

void probed_call(void (*what)(u64 arg), u64 arg);
int probed_deep(int levels, u64 ms);
int probed_short(int n);
int probed_stepped(int n);
void probed_pair(u64 ms);

/* The probed function. What it calls may not come back. */
void OPAQUE probed_call(void (*what)(u64 arg), u64 arg)
{
	what(arg);
	__asm__ volatile("");
}

/* Each level sleeps before and behind the next one. */
int OPAQUE probed_deep(int levels, u64 ms)
{
	int below;

	sleep_ms(ms);
	below = levels > 1 ? probed_deep(levels - 1, ms) : 0;
	sleep_ms(ms);
	__asm__ volatile("");
	return below + 1;
}

/* On x86 it begins with a push, as most functions do, which the kernel need not step over. */
int OPAQUE __attribute__((optimize("no-omit-frame-pointer"))) probed_short(int n)
{
	__asm__ volatile("" : : "r"(&n) : "memory");
	return n + 1;
}

int OPAQUE probed_stepped(int n)
{
	__asm__ volatile("" : "+r"(n));
	return n + 1;
}

void OPAQUE probed_pair(u64 ms)
{
	USDT("begin", "probed_begin_semaphore");
	if (ms)
		sleep_ms(ms);
	USDT("end", "probed_end_semaphore");
}

static void sleeps(u64 ms)
{
	sleep_ms(ms);
}

static void told(u64 begin, u64 end)
{
	printf("pid=%d tgid=%d begin=%llu end=%llu\n", own_pid(), getpid(), begin, end);
}

/* probed call MS: the function, which takes that long. */
static int call(char **argv)
{
	u64 begin;

	prctl(PR_SET_NAME, "lt-probed");
	/* What the first call of a program costs is none of its time. */
	probed_call(sleeps, 0);
	if (is_held())
		printf("pid=%d tgid=%d\n", own_pid(), getpid());
	wait_until_told();
	begin = now();
	probed_call(sleeps, atol(argv[2]));
	told(begin, now());
	return 0;
}

/* probed deep N MS: N calls in each other, twice MS each. */
static int deep(char **argv)
{
	u64 begin = now();
	int n = probed_deep(atoi(argv[2]), atol(argv[3]));

	printf("levels=%d ", n);
	told(begin, now());
	return 0;
}

/* probed pair MS: between two USDT probes. */
static int pair(char **argv)
{
	u64 begin = now();

	probed_pair(atol(argv[2]));
	printf("semaphores=%d,%d ", *(volatile unsigned short *)&probed_begin_semaphore,
	       *(volatile unsigned short *)&probed_end_semaphore);
	told(begin, now());
	return 0;
}

static jmp_buf back;

static void jumps(u64 unused)
{
	(void)unused;
	longjmp(back, 1);
}

/* probed jump MS: a call that is left by longjmp(); then a rest; then a call that returns. */
static int jump(char **argv)
{
	volatile u64 begin;

	if (!setjmp(back))
		probed_call(jumps, 0);
	sleep_ms(atol(argv[2]));
	begin = now();
	probed_call(sleeps, atol(argv[2]));
	told(begin, now());
	return 0;
}

static void leaves(u64 unused)
{
	(void)unused;
	pthread_exit(NULL);
}

static void becomes(u64 unused)
{
	(void)unused;
	execlp("sleep", "sleep", "3", NULL);
	die("sleep");
}

static void *call_and_leave(void *unused)
{
	probed_call(leaves, 0);
	return unused;
}

/* probed left: a thread ends in the function; the program goes on. */
static int left(char **argv)
{
	pthread_t thread;

	(void)argv;
	if (pthread_create(&thread, NULL, call_and_leave, NULL))
		die("pthread_create");
	pthread_join(thread, NULL);
	printf("pid=%d\n", getpid());
	fflush(stdout);
	wait_until_told();
	return 0;
}

/* probed exec: the program becomes another one in the function. */
static int becomes_sleep(char **argv)
{
	(void)argv;
	probed_call(becomes, 0);
	return 1;
}

static void forks(u64 ms)
{
	pid_t child = fork();

	if (child)
		waitpid(child, NULL, 0);
	else
		sleep_ms(ms);
}

/* probed fork MS: a child is born in the function, and returns from it, too. */
static int forked(char **argv)
{
	pid_t parent = getpid();
	u64 begin = now();

	probed_call(forks, atol(argv[2]));
	if (getpid() != parent)
		_exit(0);
	told(begin, now());
	return 0;
}

/* probed times N: N times of each; prints how long one took, in ps, and all loops. */
static int times(char **argv)
{
	long n = atol(argv[2]), i;
	u64 begin = now(), of_function, of_stepped, of_pair;
	int sum = 0;

	for (i = 0; i < n; i++)
		sum = probed_short(sum);
	of_function = now() - begin;
	begin = now();
	for (i = 0; i < n; i++)
		sum = probed_stepped(sum);
	of_stepped = now() - begin;
	begin = now();
	for (i = 0; i < n; i++)
		probed_pair(0);
	of_pair = now() - begin;
	printf("sum=%d function_ps=%llu stepped_ps=%llu pair_ps=%llu\n", sum,
	       of_function * 1000 / n, of_stepped * 1000 / n, of_pair * 1000 / n);
	return 0;
}

static void *call_all_the_time(void *end)
{
	long n = 0;

	while (now() < *(u64 *)end) {
		probed_short(n++);
		probed_pair(0);
		if (n % 64 == 0)
			probed_deep(3, 1);
	}
	return (void *)n;
}

/* probed load MS THREADS: all of them, all the time. */
static int load(char **argv)
{
	int threads = atoi(argv[3]), i;
	u64 end = now() + atol(argv[2]) * MS;
	pthread_t of[threads];
	long sum = 0;
	void *n;

	for (i = 0; i < threads; i++)
		if (pthread_create(&of[i], NULL, call_all_the_time, &end))
			die("pthread_create");
	for (i = 0; i < threads; i++) {
		pthread_join(of[i], &n);
		sum += (long)n;
	}
	printf("rounds=%ld\n", sum);
	return 0;
}

/* The offset in this program's file of something in its memory. */
static u64 offset_of(const void *at)
{
	u64 from, to, offset;
	char line[512];
	FILE *maps = fopen("/proc/self/maps", "r");

	while (maps && fgets(line, sizeof(line), maps)) {
		if (sscanf(line, "%llx-%llx %*s %llx", &from, &to, &offset) == 3 &&
		    (u64)at >= from && (u64)at < to)
			return fclose(maps), (u64)at - from + offset;
	}
	die("/proc/self/maps");
}

/* probed where: the functions, the places of the pair, and their semaphores; offsets in the file. */
static int where(char **argv)
{
	(void)argv;
	printf("call=%llx deep=%llx short=%llx stepped=%llx begin=%llx end=%llx begin_ref=%llx end_ref=%llx\n",
	       offset_of(probed_call), offset_of(probed_deep), offset_of(probed_short),
	       offset_of(probed_stepped), offset_of(probed_at_begin), offset_of(probed_at_end),
	       offset_of(&probed_begin_semaphore), offset_of(&probed_end_semaphore));
	return 0;
}

static const struct command commands[] = {
	{ "call", 1, call },  { "deep", 2, deep },	    { "pair", 1, pair },
	{ "jump", 1, jump },  { "left", 0, left },	    { "exec", 0, becomes_sleep },
	{ "fork", 1, forked }, { "times", 1, times },	    { "load", 2, load },
	{ "where", 0, where },
};

int cmd_probed(char **argv)
{
	return run_command(commands, sizeof(commands) / sizeof(commands[0]), argv);
}
