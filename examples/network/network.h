/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * What the files of latency_tracker_network know of each other.
 */
#ifndef _LT_NETWORK_NETWORK_H
#define _LT_NETWORK_NETWORK_H

#include <linux/atomic.h>
#include <linux/skbuff.h>
#include <linux/socket.h>
#include <net/sock.h>

#include "usecase/data.h"

extern struct lt_usecase network_usecase;

/*
 * A message between sockets of this machine that never passes a device: most of what is freed on
 * many. It still has its sender then.
 */
static inline bool network_is_local(const struct sk_buff *skb)
{
	return skb->sk && READ_ONCE(skb->sk->sk_family) == AF_UNIX;
}

/* groups.c */
void network_group_ids(const void *key, const void *priv, const void *out_data,
		       u64 *id);
int network_group_name(u64 id, char *name);
int network_threshold_find(const char *text, struct lt_threshold *found);
void network_belongs(const struct latency_tracker_verdict *verdict,
		     struct lt_belongs *to);

/* probes.c */
extern struct lt_probe network_probes[];
extern const unsigned int network_nr_probes;
extern atomic_t gro_missed;

#endif /* _LT_NETWORK_NETWORK_H */
