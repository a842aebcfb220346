// SPDX-License-Identifier: GPL-2.0-only
/*
 * Time, tasks and their states.
 */
#include "inject.h"

void die(const char *what)
{
	fprintf(stderr, "%s: %s: %s\n", program_invocation_short_name, what, strerror(errno));
	exit(1);
}

u64 now(void)
{
	struct timespec ts;

	clock_gettime(CLOCK_MONOTONIC, &ts);
	return ts.tv_sec * 1000000000ULL + ts.tv_nsec;
}

void sleep_ms(long ms)
{
	struct timespec ts = { ms / 1000, ms % 1000 * MS };

	while (nanosleep(&ts, &ts) && errno == EINTR)
		;
}

void pin(pid_t pid, int cpu)
{
	cpu_set_t set;

	CPU_ZERO(&set);
	CPU_SET(cpu, &set);
	if (sched_setaffinity(pid, sizeof(set), &set))
		die("sched_setaffinity");
}

void be_fifo(int priority)
{
	struct sched_param param = { .sched_priority = priority };

	if (sched_setscheduler(0, SCHED_FIFO, &param))
		die("sched_setscheduler");
}

void spin_until(u64 end)
{
	while (now() < end)
		;
}

/* As in /proc/PID/stat. */
char state_of(pid_t pid)
{
	char path[64], state = 0;
	FILE *f;

	snprintf(path, sizeof(path), "/proc/%d/stat", pid);
	f = fopen(path, "r");
	if (!f)
		return 0;
	if (fscanf(f, "%*d (%*[^)]) %c", &state) != 1)
		state = 0;
	fclose(f);
	return state;
}

void wait_asleep(pid_t pid)
{
	while (state_of(pid) != 'S')
		usleep(2000);
}

pid_t start(const char *comm, void (*run)(int fd, u64 arg), int fd, u64 arg)
{
	pid_t pid = fork();

	if (pid < 0)
		die("fork");
	if (pid)
		return pid;
	prctl(PR_SET_NAME, comm);
	prctl(PR_SET_PDEATHSIG, SIGKILL);
	run(fd, arg);
	_exit(0);
}

/* What start_thread() hands to its thread. */
struct job {
	const char *comm;
	void (*run)(int fd, u64 arg);
	int fd;
	u64 arg;
};

static void *run_job(void *arg)
{
	struct job *job = arg;

	prctl(PR_SET_NAME, job->comm);
	__atomic_store_n(&shared->thread, own_pid(), __ATOMIC_RELEASE);
	job->run(job->fd, job->arg);
	_exit(0);
}

static void begin_job(int fd, u64 arg)
{
	pthread_t thread;

	(void)fd;
	if (pthread_create(&thread, NULL, run_job, (struct job *)arg))
		die("pthread_create");
	pthread_join(thread, NULL);
}

/*
 * As start(), but @run is called by a second thread of the new process, so that its
 * pid is not its tgid. Returns the process.
 */
pid_t start_thread(const char *comm, void (*run)(int fd, u64 arg), int fd, u64 arg,
		   pid_t *thread)
{
	struct job job = { .comm = comm, .run = run, .fd = fd, .arg = arg };
	pid_t pid;

	shared->thread = 0;
	pid = start("lt-leader", begin_job, -1, (u64)&job);
	while (!(*thread = __atomic_load_n(&shared->thread, __ATOMIC_ACQUIRE)))
		usleep(500);
	return pid;
}

pid_t own_pid(void)
{
	return syscall(SYS_gettid);
}

/*
 * With INJECT_TOLD in the environment: it has printed its pids, and waits for the end
 * of standard input, so that a filter can be set.
 */
int is_held(void)
{
	return !!getenv("INJECT_TOLD");
}

void wait_until_told(void)
{
	char c;

	while (is_held() && read(0, &c, 1) > 0)
		;
}

/* How often this thread has slept. */
long slept(void)
{
	struct rusage usage;

	getrusage(RUSAGE_THREAD, &usage);
	return usage.ru_nvcsw;
}

static void on_alarm(int sig)
{
	(void)sig;
}

/* One call that keeps a CPU busy in the kernel, until @us from now. */
long read_zeros(u64 us)
{
	static char zeros[1 << 20];
	struct itimerval timer = {
		.it_value = { .tv_sec = us / 1000000, .tv_usec = us % 1000000 },
	};
	struct iovec vec[1024];
	int i, fd = open("/dev/zero", O_RDONLY);
	long ret;

	if (fd < 0)
		die("/dev/zero");
	for (i = 0; i < 1024; i++)
		vec[i] = (struct iovec){ .iov_base = zeros, .iov_len = sizeof(zeros) };
	signal(SIGALRM, on_alarm);
	setitimer(ITIMER_REAL, &timer, NULL);
	ret = readv(fd, vec, 1024);
	close(fd);
	return ret;
}

/* The one that argv[1] names. */
int run_command(const struct command *commands, unsigned int nr, char **argv)
{
	unsigned int i;
	int args = 0;

	while (argv[args + 1])
		args++;
	for (i = 0; i < nr; i++)
		if (!strcmp(argv[1], commands[i].name) && args == commands[i].args + 1)
			return commands[i].run(argv);
	die(argv[0]);
}
