// SPDX-License-Identifier: GPL-2.0-only
/*
 * To which groups a packet belongs: its device and how it ended, and the control group of
 * the task to which it was copied.
 */
#include <linux/kernel.h>
#include <linux/netdevice.h>
#include <linux/nsproxy.h>
#include <linux/rcupdate.h>
#include <linux/string.h>
#include <net/net_namespace.h>

#include "examples/network/network.h"
#include "examples/network/packet.h"
#include "usecase/usecase.h"

/* An id: the inode of the network namespace, the number of the device, the end. */
#define INO_BITS	26
#define DEV_BITS	25
#define END_BITS	3
/* Inodes of namespaces come from here on, in /proc. */
#define PROC_NAMESPACE_FIRST	0xF0000000U

static u32 short_ino(u32 ino)
{
	return (ino - PROC_NAMESPACE_FIRST) & ((1U << INO_BITS) - 1);
}

static u64 dev_id(u32 netns, int ifindex, enum lt_network_end end)
{
	u64 dev = ifindex & ((1U << DEV_BITS) - 1);

	return ((u64)short_ino(netns) << DEV_BITS | dev) << END_BITS | end;
}

void network_group_ids(const void *key, const void *priv, const void *out_data,
		       u64 *id)
{
	const struct lt_network_report *report = priv;
	const struct lt_network_out *out = out_data;

	id[0] = dev_id(report->netns, report->ifindex, out->end);
	id[1] = out->end == LT_NETWORK_SOCKET ? lt_group_of_task(current) : 0;
}

/* Under rcu_read_lock(). */
static const struct net_device *find_dev(u32 ino, int ifindex)
{
	struct net *net;

	for_each_net_rcu(net) {
		if (short_ino(net->ns.inum) == ino)
			return dev_get_by_index_rcu(net, ifindex);
	}
	return NULL;
}

static const char *const ends[1 << END_BITS] = {
	[LT_NETWORK_NOWHERE] = "-",
	[LT_NETWORK_SOCKET] = "socket",
	[LT_NETWORK_CONSUMED] = "consumed",
	[LT_NETWORK_DROPPED] = "dropped",
	[LT_NETWORK_SENT] = "sent",
};

int network_group_name(u64 id, char *name)
{
	const struct net_device *dev;

	rcu_read_lock();
	dev = find_dev(id >> (DEV_BITS + END_BITS),
		       id >> END_BITS & ((1U << DEV_BITS) - 1));
	if (dev)
		snprintf(name, LATENCY_TRACKER_GROUP_NAME, "%s %s", dev->name,
			 ends[id & ((1U << END_BITS) - 1)] ?: "-");
	rcu_read_unlock();
	return dev ? 0 : -ENOENT;
}

/* In the network namespace of who writes it. */
static int find_ifindex(const char *name)
{
	const struct net_device *dev;
	int ifindex;

	rcu_read_lock();
	dev = dev_get_by_name_rcu(current->nsproxy->net_ns, name);
	ifindex = dev ? dev->ifindex : -EINVAL;
	rcu_read_unlock();
	return ifindex;
}

int network_threshold_find(const char *text, struct lt_threshold *found)
{
	char copy[LATENCY_TRACKER_GROUP_NAME], *words = copy;
	int ifindex, end = LT_NETWORK_NOWHERE;
	const char *name;

	if (strscpy(copy, text, sizeof(copy)) < 0)
		return -EINVAL;
	name = strsep(&words, " ");
	ifindex = find_ifindex(name);
	if (words)
		end = match_string(ends, LT_NETWORK_SENT + 1, words);
	if (ifindex < 0 || (words && end <= LT_NETWORK_NOWHERE))
		return -EINVAL;
	found->id = dev_id(current->nsproxy->net_ns->ns.inum, ifindex, end);
	found->mask = words ? ~0ULL : ~0ULL << END_BITS;
	snprintf(found->name, sizeof(found->name), "%s%s%s", name,
		 words ? " " : "", words ?: "");
	return 1;
}

void network_belongs(const struct latency_tracker_verdict *verdict,
		     struct lt_belongs *to)
{
	const struct lt_network_report *report = verdict->priv;
	const struct lt_network_out *out = verdict->out_data;

	to->id = dev_id(report->netns, report->ifindex,
			out ? out->end : LT_NETWORK_NOWHERE);
	if (out && out->end == LT_NETWORK_SOCKET)
		to->task = current;
}
