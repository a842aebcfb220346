// SPDX-License-Identifier: GPL-2.0-only
/*
 * System calls by name: for the events, and the filter "calls".
 *
 * The kernel has the names in its headers only. The build makes native.names and
 * compat.names of them, with a line "[number] = name," for each call. Calls of the
 * 32-bit table of arm64 have no names here.
 */
#include <linux/bitmap.h>
#include <linux/kernel.h>
#include <linux/module.h>
#include <linux/slab.h>
#include <linux/string.h>
#include <linux/sysfs.h>
#include <linux/unistd.h>

#include "examples/syscalls/names.h"
#include "usecase/filter.h"
#include "usecase/thresholds.h"

static const char *const native_names[CALLS_MAX] = {
#include "syscalls/native.names"
};

static const char *const compat_names[CALLS_MAX] = {
#include "syscalls/compat.names"
};

struct calls_filter calls_filter;

/*
 * What waits for something to do, or for another task, by its own definition. Which
 * of them there are depends on the architecture.
 */
static const char *const idle_calls[] = {
	"nanosleep", "clock_nanosleep", "clock_nanosleep_time64", "pause",
	"poll", "ppoll", "ppoll_time64", "select", "_newselect", "pselect6",
	"pselect6_time64", "epoll_wait", "epoll_pwait", "epoll_pwait2",
	"futex", "futex_time64", "futex_wait", "futex_waitv",
	"wait4", "waitid", "waitpid",
	"rt_sigtimedwait", "rt_sigtimedwait_time64", "rt_sigsuspend", "sigsuspend",
	"accept", "accept4", "recvfrom", "recvmsg", "recvmmsg", "recvmmsg_time64",
	"recv", "socketcall",
	"msgrcv", "mq_timedreceive", "mq_timedreceive_time64",
	"semop", "semtimedop", "semtimedop_time64", "ipc",
	"io_getevents", "io_pgetevents", "io_pgetevents_time64", "io_uring_enter",
	"restart_syscall",
};

/* The parameter was given. */
static bool calls_given;

/* Of x32: the same table, for the most part. */
static long table_index(long nr)
{
#ifdef __X32_SYSCALL_BIT
	nr &= ~(long)__X32_SYSCALL_BIT;
#endif
	return nr;
}

static const char *name_of(long nr, bool compat)
{
	nr = table_index(nr);
	if (nr < 0 || nr >= CALLS_MAX)
		return NULL;
	return compat ? compat_names[nr] : native_names[nr];
}

/* "-" for a number without a name. */
void call_name(char name[LT_SYSCALL_NAME_LEN], long nr, bool compat)
{
	strscpy_pad(name, name_of(nr, compat) ?: "-", LT_SYSCALL_NAME_LEN);
}

/* The number, and behind it those of the 32-bit table. One for all that have no name. */
u64 call_group(long nr, bool compat)
{
	nr = table_index(nr);
	if (nr < 0 || nr >= CALLS_MAX)
		nr = CALLS_MAX - 1;
	return nr + (compat ? CALLS_MAX : 0);
}

int call_group_name(u64 id, char *name)
{
	bool compat = id >= CALLS_MAX;
	long nr = id % CALLS_MAX;

	if (!name_of(nr, compat) && nr < CALLS_MAX - 1)
		snprintf(name, LATENCY_TRACKER_GROUP_NAME, "%ld%s", nr,
			 compat ? " (32-bit)" : "");
	else
		snprintf(name, LATENCY_TRACKER_GROUP_NAME, "%s%s",
			 name_of(nr, compat) ?: "-", compat ? " (32-bit)" : "");
	return 0;
}

bool calls_pass_some(long nr, bool compat)
{
	nr = table_index(nr);
	if (nr < 0 || nr >= CALLS_MAX)
		return READ_ONCE(calls_filter.others);
	return test_bit(nr, compat ? calls_filter.compat : calls_filter.native);
}

static int number_of(const char *const names[], const char *name)
{
	int i;

	for (i = 0; i < CALLS_MAX; i++) {
		if (names[i] && !strcmp(names[i], name))
			return i;
	}
	return -1;
}

/* A number is of the native table. One that has a name there is taken for that. */
static int number_in(const char *word)
{
	int nr;

	/* kstrtoint() takes signs and a newline, too. */
	if (word[strspn(word, "0123456789")] || kstrtoint(word, 10, &nr) ||
	    nr >= CALLS_MAX)
		return -1;
	return nr;
}

static int found_call(struct lt_threshold *found, const char *text, long nr,
		      bool compat)
{
	if (nr < 0)
		return 0;
	found->id = call_group(nr, compat);
	found->mask = ~0ULL;
	strscpy(found->name, text, sizeof(found->name));
	return 1;
}

/* Of both tables, or of the 32-bit one alone, as the name of the group says. */
int call_threshold_find(const char *text, struct lt_threshold *found)
{
	int native = number_of(native_names, text), nr;
	char name[LATENCY_TRACKER_GROUP_NAME];

	if (native < 0)
		native = number_in(text);
	if (strscpy(name, text, sizeof(name)) < 0)
		return -EINVAL;
	nr = found_call(found, text, native, false);
	name[strcspn(name, " ")] = '\0';
	if (!strcmp(text + strlen(name), " (32-bit)") || !text[strlen(name)])
		nr += found_call(found + nr, text, number_of(compat_names, name), true);
	return nr ?: -EINVAL;
}

/* A name is of both tables. */
static int add_call(struct calls_filter *filter, const char *word)
{
	int native = number_in(word), compat;

	if (native >= 0 && native_names[native])
		word = native_names[native];
	else if (native < 0)
		native = number_of(native_names, word);
	compat = number_of(compat_names, word);
	if (native < 0 && compat < 0)
		return -EINVAL;
	if (native >= 0)
		set_bit(native, filter->native);
	if (compat >= 0)
		set_bit(compat, filter->compat);
	return 0;
}

/* What this kernel has of idle_calls. */
static void add_idle(struct calls_filter *filter)
{
	int i;

	for (i = 0; i < ARRAY_SIZE(idle_calls); i++)
		add_call(filter, idle_calls[i]);
}

/* All with "!", or none: @filter->others tells. */
static int parse_words(struct calls_filter *filter, char *text)
{
	char *word;
	int err;

	while ((word = strsep(&text, ","))) {
		if ((*word == '!') != filter->others)
			return -EINVAL;
		err = add_call(filter, word + filter->others);
		if (err)
			return err;
	}
	return 0;
}

/* What was named is set. "default" is all but idle_calls. */
static int parse(struct calls_filter *filter, char *text)
{
	bool idle = !strcmp(text, "default");

	filter->on = *text;
	filter->others = idle || *text == '!';
	if (idle)
		add_idle(filter);
	return idle || !filter->on ? 0 : parse_words(filter, text);
}

/* What the file shows. */
static char calls_text[PAGE_SIZE];

/* In the order of the numbers; of the 32-bit table what the native one lacks. */
static int print(char text[PAGE_SIZE], const struct calls_filter *filter)
{
	const char *not = filter->others ? "!" : "", *sep = "";
	int nr, len = 0;

	for (nr = 0; nr < 2 * CALLS_MAX && len < PAGE_SIZE - 2; nr++) {
		bool compat = nr >= CALLS_MAX;
		int i = nr % CALLS_MAX;
		const char *name = compat ? compat_names[i] : native_names[i];

		if (!test_bit(i, compat ? filter->compat : filter->native) ||
		    (compat && number_of(native_names, name) >= 0))
			continue;
		len += name ? scnprintf(text + len, PAGE_SIZE - len, "%s%s%s",
					sep, not, name) :
			      scnprintf(text + len, PAGE_SIZE - len, "%s%s%d",
					sep, not, i);
		sep = ",";
	}
	return len < PAGE_SIZE - 2 ? 0 : -EINVAL;
}

static void change(struct calls_filter *new)
{
	if (new->others) {
		bitmap_complement(new->native, new->native, CALLS_MAX);
		bitmap_complement(new->compat, new->compat, CALLS_MAX);
	}
	bitmap_copy(calls_filter.native, new->native, CALLS_MAX);
	bitmap_copy(calls_filter.compat, new->compat, CALLS_MAX);
	WRITE_ONCE(calls_filter.others, new->others);
	WRITE_ONCE(calls_filter.on, new->on);	/* pairs with calls_pass() */
	lt_filter_changed(&syscalls_usecase);
}

static int calls_set(const char *val, const struct kernel_param *kp)
{
	struct calls_filter *new = kzalloc(sizeof(*new), GFP_KERNEL);
	char *text = kzalloc(PAGE_SIZE, GFP_KERNEL);
	char *words = kstrdup(val, GFP_KERNEL);
	int err = -ENOMEM;

	if (!new || !text || !words)
		goto out;
	err = parse(new, strim(words));
	if (!err)
		err = print(text, new);
	calls_given |= !err;
	if (err || !strcmp(text, calls_text))
		goto out;
	memcpy(calls_text, text, PAGE_SIZE);
	change(new);
out:
	kfree(words);
	kfree(text);
	kfree(new);
	return err;
}

static int calls_get(char *buffer, const struct kernel_param *kp)
{
	return sysfs_emit(buffer, "%s\n", calls_text);
}

static const struct kernel_param_ops calls_ops = {
	.set = calls_set,
	.get = calls_get,
};

/* Before there is a tracker: unless the user has said which. */
int calls_init(void)
{
	int err = 0;

	kernel_param_lock(THIS_MODULE);
	if (!calls_given)
		err = calls_set("default", NULL);
	kernel_param_unlock(THIS_MODULE);
	return err;
}

module_param_cb(calls, &calls_ops, NULL, 0644);
MODULE_PARM_DESC(calls, "Track only these system calls, or all but these: names or numbers, such as fsync,fdatasync or !poll,!futex; empty: all (default: all but those that wait for something to do, such as poll)");
