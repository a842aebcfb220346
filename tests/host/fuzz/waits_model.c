// SPDX-License-Identifier: GPL-2.0-only
/*
 * The model of published waits: of which end one is, and which of them can still be read.
 */
#include <linux/hash.h>

#include "model.h"

/* The smallest ring. */
#define RING		LATENCY_TRACKER_WAITS_MIN
#define PUBLISHED_MAX	4096
#define HEADS_BITS	12

static struct published {
	pid_t pid;
	u64 nr;
	unsigned int cpu;
	unsigned int index;	/* on that CPU */
} published[PUBLISHED_MAX];

static unsigned int nr_published;
static unsigned int on_cpu[64];
static bool is_read;
static u64 waits_ns;
static u64 told, to_tell;

static pid_t pid_of(const void *key)
{
	return 1 + *(const u8 *)key % FUZZ_KEYS;
}

void waited(const struct latency_tracker_verdict *v)
{
	struct latency_tracker_wait wait = {
		.begin_ns = v->start_ns,
		.end_ns = v->now_ns,
		.where = nr_published,
		.pid = pid_of(v->key),
	};
	struct published *p = &published[nr_published];

	EXPECT(is_read && ending, "a wait is published without an end, or a reader");
	EXPECT(v->delay_ns >= waits_ns, "too short");
	told++;
	if (nr_published == PUBLISHED_MAX)
		return;
	p->pid = wait.pid;
	p->cpu = host_cpu();
	p->index = on_cpu[p->cpu]++;
	p->nr = latency_tracker_wait_publish(&wait);
	EXPECT(p->nr, "it is not kept");
	nr_published++;
}

/* Is an operation that took so long published? */
bool is_told(u64 delay_ns)
{
	return is_read && delay_ns >= waits_ns;
}

/* One has ended. */
void note_wait(u64 delay_ns)
{
	to_tell += is_told(delay_ns);
}

static void late(const struct latency_tracker_late *unused)
{
}

void forget_waits(void)
{
	if (is_read)
		latency_tracker_waits_close();
	is_read = false;
	nr_published = 0;
	memset(on_cpu, 0, sizeof(on_cpu));
	told = 0;
	to_tell = 0;
}

static bool is_overwritten(const struct published *p)
{
	return on_cpu[p->cpu] - p->index > RING;
}

/* All that are chained with those of @pid, the last one first, up to one that was overwritten. */
static void read_chain(pid_t pid)
{
	u64 nr = latency_tracker_wait_last(pid), before;
	struct latency_tracker_wait wait;
	unsigned int i = nr_published;
	int err;

	while (i--) {
		const struct published *p = &published[i];

		if (hash_32(p->pid, HEADS_BITS) != hash_32(pid, HEADS_BITS))
			continue;
		EXPECT(nr == p->nr, "wait %u is not in the chain", i);
		err = latency_tracker_wait_read(nr, &wait, &before);
		if (is_overwritten(p)) {
			EXPECT(err == -ESTALE, "%d for one that is overwritten", err);
			return;
		}
		EXPECT(!err && wait.where == i && wait.pid == p->pid, "wait %u: %d", i, err);
		nr = before;
	}
	EXPECT(!nr && latency_tracker_wait_read(nr, &wait, &before) == -ENOENT, "no end");
}

void check_waits(void)
{
	unsigned int key;

	EXPECT(told == to_tell, "%llu waits were published instead of %llu",
	       (unsigned long long)told, (unsigned long long)to_tell);
	for (key = 0; is_read && nr_published < PUBLISHED_MAX && key < FUZZ_KEYS; key++)
		read_chain(1 + key);
}

static void open_waits(u64 least_ns)
{
	struct latency_tracker_waits_config config = {
		.entries = RING, .late = late, .least_ns = least_ns,
	};

	EXPECT(latency_tracker_waits_open(&config) == (is_read ? -EBUSY : 0), "open");
	if (!is_read)
		waits_ns = least_ns;
	is_read = true;
}

/* What few inputs do by themselves: enough waits for more than half of the ring. */
static void waits_life(u8 arg)
{
	unsigned int n;

	open_waits(0);
	for (n = 0; n < RING * 5 / 8; n++) {
		do_whole((arg + n) % FUZZ_KEYS);
		/* Or the pool runs dry. */
		fuzz_grace_period();
		fuzz_worker_run();
		/* What is collected by then may come again as the next one. */
		sweep();
	}
}

void do_waits(u8 arg)
{
	u64 least_ns = span();

	check_waits();
	switch (arg % 4) {
	case 0:
		open_waits(least_ns);
		break;
	case 1:
		if (arg & 4)
			forget_waits();
		break;
	case 2:
		EXPECT(latency_tracker_waits_set_least(least_ns) ==
		       (is_read && least_ns != LATENCY_TRACKER_NEVER ? 0 : -EINVAL), "set");
		if (is_read && least_ns != LATENCY_TRACKER_NEVER)
			waits_ns = least_ns;
		break;
	default:
		waits_life(arg / 4);
	}
}
