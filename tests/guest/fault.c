// SPDX-License-Identifier: GPL-2.0-only
/*
 * Lets one thing after the other fail while a module is loaded, a parameter is written, or a
 * pool grows, for the tests of this directory. After each it looks whether anything was left
 * behind.
 *
 *	fault nth KIND load FILE PARAMETERS
 *	fault nth KIND write FILE VALUE
 *	fault nth KIND grow FILE THREADS
 *		the 1st, 2nd, 3rd ... of a KIND, until all went well without one. KIND is
 *		"call", a call of a module of ours that can fail, see tests/inject/inject_fail.c;
 *		or an allocation as CONFIG_FAULT_INJECTION counts them: "alloc" of this task,
 *		"init" likewise, but only from the module's init function on, "thread" of the
 *		kernel's thread that makes the threads. For "grow" both are those of the
 *		tracker's thread.
 *	fault needs FILE
 *		prints the symbols that a module asks the kernel for, one per line
 *	fault symbols FILE
 *		each symbol that a module asks the kernel for has another name
 *	fault string STRING ERRNO FILE PARAMETERS
 *		a string of a module has another first letter; loading it fails with ERRNO,
 *		or not at all if that is 0
 *
 * Prints what was wrong, as lines with a #, and at last what it did, as NAME=VALUE.
 */
#define _GNU_SOURCE
#include <elf.h>
#include <errno.h>
#include <fcntl.h>
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <unistd.h>
#include "facts.h"

#define NTH_MAX		5000
#define GROW_FROM	64

/* --- modules ------------------------------------------------------------------------ */

struct image {
	char name[64];
	char *bytes;
	size_t size;
};

static struct image open_module(const char *path)
{
	struct image image = { };
	const char *base = strrchr(path, '/') ? strrchr(path, '/') + 1 : path;
	int fd = open(path, O_RDONLY);
	struct stat st;

	if (fd < 0 || fstat(fd, &st))
		die(path);
	image.size = st.st_size;
	image.bytes = malloc(image.size);
	for (size_t sum = 0; sum < image.size;) {
		ssize_t n = read(fd, image.bytes + sum, image.size - sum);

		if (n <= 0)
			die(path);
		sum += n;
	}
	close(fd);
	snprintf(image.name, sizeof(image.name), "%.*s",
		 (int)strcspn(base, "."), base);
	return image;
}

static int load(const struct image *image, const char *parameters)
{
	return syscall(SYS_init_module, image->bytes, image->size, parameters) ?
		       errno : 0;
}

static int unload(const struct image *image)
{
	return syscall(SYS_delete_module, image->name, O_NONBLOCK) ? errno : 0;
}

static Elf64_Shdr *section(const struct image *image, unsigned int i)
{
	Elf64_Ehdr *header = (Elf64_Ehdr *)image->bytes;

	if (i >= header->e_shnum)
		return NULL;
	return (Elf64_Shdr *)(image->bytes + header->e_shoff) + i;
}

/* --- the n-th of a kind ------------------------------------------------------------- */

enum kind { CALL, ALLOC, INIT, THREAD };

static const char *const kinds[] = { "call", "alloc", "init", "thread" };

/*
 * fail-nth of @task, open: to open it would be counted. What is asked of the kernel between
 * arm() and disarm() is only what is to fail.
 */
static int nth_fd = -1;

static void watch(enum kind kind, pid_t task)
{
	char path[64];

	put_number(INJECT "task", task);
	if (kind == CALL)
		return;
	snprintf(path, sizeof(path), "/proc/%d/fail-nth",
		 kind == THREAD ? 2 : task);
	nth_fd = open(path, O_RDWR | O_CLOEXEC);
	if (nth_fd < 0)
		die(path);
}

static void set_nth(int n)
{
	char text[16];
	int len = sprintf(text, "%d", n);

	if (pwrite(nth_fd, text, len, 0) != len)
		die("fail-nth");
}

static void arm(enum kind kind, int n)
{
	if (kind == CALL)
		put_number(INJECT "nth", n);
	else if (kind == INIT)
		put_number(INJECT "init_nth", n);
	else
		set_nth(n);
}

/* Returns whether it has failed. */
static int disarm(enum kind kind)
{
	char text[16] = "";
	int left;

	if (kind == CALL) {
		left = get_number(INJECT "nth");
		put_number(INJECT "nth", 0);
		return !left;
	}
	if (pread(nth_fd, text, sizeof(text) - 1, 0) < 0)
		die("fail-nth");
	set_nth(0);
	if (kind == INIT)
		put_number(INJECT "init_nth", 0);
	return !atoi(text);
}

/* --- what is done meanwhile --------------------------------------------------------- */

/**
 * struct deed - what is to fail
 * @image: a module
 * @argument: its parameters; or what to write
 * @path: where to
 * @threads: that are to be in a system call at once
 * @kind: of failure
 */
struct deed {
	struct image image;
	const char *argument;
	const char *path;
	int threads;
	enum kind kind;
};

/* Returns 0 or an errno. */
static int do_load(struct deed *deed, int n, int *failed)
{
	int err;

	arm(deed->kind, n);
	err = load(&deed->image, deed->argument);
	*failed = disarm(deed->kind);
	if (!err && unload(&deed->image)) {
		printf("# load %d: can't be unloaded\n", n);
		wrong++;
	}
	return err;
}

static int do_write(struct deed *deed, int n, int *failed)
{
	char old[4096], new[4096];
	int err, fd;

	if (slurp(deed->path, old, sizeof(old)) < 0)
		die(deed->path);
	fd = open(deed->path, O_WRONLY);
	arm(deed->kind, n);
	err = write(fd, deed->argument, strlen(deed->argument)) < 0 ? errno : 0;
	*failed = disarm(deed->kind);
	close(fd);
	slurp(deed->path, new, sizeof(new));
	new[strcspn(new, "\n")] = 0;
	old[strcspn(old, "\n")] = 0;
	if (strcmp(new, err ? old : deed->argument)) {
		printf("# write %d: %s, but from %s it is %s now\n", n,
		       err ? strerror(err) : "success", old, new);
		wrong++;
	}
	if (!err && put(deed->path, old))
		die(deed->path);
	return err;
}

static int gate[2];
static int arrived;

static void *blocked(void *arg)
{
	char byte;

	__atomic_add_fetch(&arrived, 1, __ATOMIC_RELAXED);
	if (read(gate[0], &byte, 1) < 0)
		return arg;
	return NULL;
}

/*
 * Once all threads are in their call, and the pool, that began too small, has grown until it is
 * not low any more, whatever has failed before: half of its capacity is free, and what the CPUs
 * keep is at most a quarter of what it began with. Threads that came too early have no event.
 */
static void wait_for_room(struct deed *deed, int n)
{
	long capacity = 0, pending = 0;
	int ms;

	for (ms = 0; ms < SETTLE_MS; ms += 50) {
		sleep_ms(50);
		capacity = get_number(STATE "syscalls/capacity");
		pending = get_number(STATE "syscalls/pending");
		if (__atomic_load_n(&arrived, __ATOMIC_RELAXED) == deed->threads &&
		    capacity > GROW_FROM && pending <= capacity / 2 + GROW_FROM / 4)
			return;
	}
	printf("# grow %d: %ld events pending, room for %ld\n", n, pending, capacity);
	wrong++;
}

static void open_gate(pthread_t *threads, int n)
{
	char *bytes = calloc(n, 1);
	int i;

	if (write(gate[1], bytes, n) != n)
		die("write");
	free(bytes);
	for (i = 0; i < n; i++)
		pthread_join(threads[i], NULL);
}

/* The tracker sees this process alone. */
static int do_grow(struct deed *deed, int n, int *failed)
{
	pthread_t threads[deed->threads];
	pthread_attr_t attr;
	char text[128];
	int i;

	snprintf(text, sizeof(text),
		 "max_events=%d grow_limit=%d usec_threshold=18446744073709551 tgid=%d",
		 GROW_FROM, 4 * deed->threads, getpid());
	arrived = 0;
	errno = load(&deed->image, text);
	if (errno || pipe(gate))
		die("load");
	watch(deed->kind, find_thread("lt_syscalls", NULL));
	pthread_attr_init(&attr);
	pthread_attr_setstacksize(&attr, 65536);
	arm(deed->kind, n);
	for (i = 0; i < deed->threads; i++)
		if (pthread_create(&threads[i], &attr, blocked, NULL))
			die("pthread_create");
	wait_for_room(deed, n);
	*failed = disarm(deed->kind);
	open_gate(threads, deed->threads);
	close(gate[0]);
	close(gate[1]);
	if (nth_fd >= 0)
		close(nth_fd);
	if (unload(&deed->image)) {
		printf("# grow %d: can't be unloaded\n", n);
		wrong++;
	}
	return 0;
}

/* --- the commands ------------------------------------------------------------------- */

static const struct {
	const char *name;
	int (*run)(struct deed *deed, int n, int *failed);
} deeds[] = {
	{ "load", do_load },
	{ "write", do_write },
	{ "grow", do_grow },
};

static const char *failed_function(void)
{
	static char text[1024];

	if (slurp(INJECT "failed", text, sizeof(text)) < 0)
		die("failed");
	text[strcspn(text, "\n")] = 0;
	return text;
}

/* All that fails for want of memory says so; a selftest is free to say EIO. */
static int is_sensible(const struct deed *deed, int err)
{
	return err == ENOMEM || (err == EAGAIN && deed->kind == THREAD) ||
	       (err == EIO && strstr(deed->image.name, "selftest"));
}

/*
 * An error that has no failure behind it is none, and so is one that has but tells something
 * else. Not each failure ends in an error: some can be done without.
 */
static int nth(int (*run)(struct deed *deed, int n, int *failed),
	       struct deed *deed)
{
	int n, failed = 1, err, errors = 0, survived = 0;

	look(before);
	for (n = 1; failed && n < NTH_MAX; n++) {
		err = run(deed, n, &failed);
		if (deed->kind == CALL && failed)
			printf("# %d: %s: %s\n", n, failed_function(),
			       err ? strerror(err) : "done without");
		errors += err && failed;
		survived += !err && failed;
		if (err && (!failed || !is_sensible(deed, err))) {
			wrong++;
			printf("# %d: %s%s\n", n, strerror(err),
			       failed ? "" : ", though nothing has failed");
		}
		compare("nth", n);
		fflush(stdout);
	}
	if (failed) {
		wrong++;
		printf("# there is no end of it\n");
	}
	printf("failures=%d errors=%d survived=%d wrong=%d\n",
	       errors + survived, errors, survived, wrong);
	return !!wrong;
}

/* nth KIND DEED FILE ARGUMENT */
static int cmd_nth(char **argv)
{
	struct deed deed = { };
	unsigned int i, j;

	for (i = 0; i < 4; i++)
		if (!strcmp(argv[0], kinds[i]))
			break;
	for (j = 0; j < 3; j++)
		if (!strcmp(argv[1], deeds[j].name))
			break;
	if (i == 4 || j == 3)
		return 2;
	deed.kind = i;
	deed.path = argv[2];
	deed.argument = argv[3];
	deed.threads = atoi(argv[3]);
	if (deeds[j].run != do_write)
		deed.image = open_module(argv[2]);
	if (deeds[j].run != do_grow)
		watch(deed.kind, getpid());
	return nth(deeds[j].run, &deed);
}

/* The next symbol behind @sym that the module wants, or the first one; NULL at the end. */
static char *next_needed(const struct image *image, Elf64_Sym **sym)
{
	Elf64_Shdr *symtab, *strtab;
	unsigned int i;
	char *name;

	for (i = 0; (symtab = section(image, i)); i++)
		if (symtab->sh_type == SHT_SYMTAB)
			break;
	strtab = section(image, symtab->sh_link);
	*sym = *sym ? *sym + 1 : (Elf64_Sym *)(image->bytes + symtab->sh_offset);
	for (; (char *)*sym < image->bytes + symtab->sh_offset + symtab->sh_size;
	     ++*sym) {
		name = image->bytes + strtab->sh_offset + (*sym)->st_name;
		if ((*sym)->st_shndx == SHN_UNDEF && *name)
			return name;
	}
	return NULL;
}

/* needs FILE */
static int cmd_needs(char **argv)
{
	struct image image = open_module(argv[0]);
	Elf64_Sym *sym = NULL;
	char *name;

	while ((name = next_needed(&image, &sym)))
		puts(name);
	return 0;
}

/* symbols FILE */
static int cmd_symbols(char **argv)
{
	struct image image = open_module(argv[0]);
	Elf64_Sym *sym = NULL;
	int n = 0, err;
	char *name;

	while ((name = next_needed(&image, &sym))) {
		look(before);
		*name ^= 1;
		err = load(&image, "");
		*name ^= 1;
		if (!err)
			unload(&image);
		if (err != ENOENT) {
			wrong++;
			printf("# without %s: %s\n", name, strerror(err));
		}
		compare(name, ++n);
	}
	printf("symbols=%d wrong=%d\n", n, wrong);
	return !!wrong;
}

/* Returns how often the string is in what the module brings into memory. */
static int rename_string(struct image *image, const char *string)
{
	size_t len = strlen(string) + 1;
	Elf64_Shdr *shdr;
	unsigned int i;
	int n = 0;
	char *p, *end;

	for (i = 0; (shdr = section(image, i)); i++) {
		if (shdr->sh_type != SHT_PROGBITS ||
		    !(shdr->sh_flags & SHF_ALLOC))
			continue;
		p = image->bytes + shdr->sh_offset;
		end = p + shdr->sh_size;
		while ((p = memmem(p, end - p, string, len))) {
			if (p == image->bytes + shdr->sh_offset || !p[-1]) {
				*p ^= 1;
				n++;
			}
			p += len;
		}
	}
	return n;
}

/* string STRING ERRNO FILE PARAMETERS */
static int cmd_string(char **argv)
{
	struct image image = open_module(argv[2]);
	int n = rename_string(&image, argv[0]), err;

	look(before);
	err = n ? load(&image, argv[3]) : -1;
	if (!err && unload(&image))
		wrong++;
	if (n && err != atoi(argv[1])) {
		wrong++;
		printf("# without %s: %s\n", argv[0], strerror(err));
	}
	compare(argv[0], 1);
	printf("found=%d wrong=%d\n", n, wrong);
	return !!wrong;
}

static const struct {
	const char *name;
	int args;
	int (*run)(char **argv);
} commands[] = {
	{ "nth", 4, cmd_nth },
	{ "needs", 1, cmd_needs },
	{ "symbols", 1, cmd_symbols },
	{ "string", 4, cmd_string },
};

int main(int argc, char **argv)
{
	unsigned int i;
	int ret = 2;

	/* A page that is not there yet would be an allocation. */
	if (mlockall(MCL_CURRENT))
		die("mlockall");
	for (i = 0; i < sizeof(commands) / sizeof(commands[0]); i++)
		if (argc == commands[i].args + 2 &&
		    !strcmp(argv[1], commands[i].name))
			ret = commands[i].run(argv + 2);
	if (ret == 2)
		fprintf(stderr, "Usage: fault COMMAND ARG...; see the source\n");
	return ret;
}
