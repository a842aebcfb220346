// SPDX-License-Identifier: GPL-2.0-only
/*
 * Filters of latency_tracker_network: the device, the protocol.
 */
#include <linux/if_ether.h>
#include <linux/kernel.h>
#include <linux/module.h>
#include <linux/string.h>

#include "examples/network/filter.h"
#include "examples/network/network.h"
#include "usecase/filter.h"

struct lt_netdev_filter dev_filter = { .usecase = &network_usecase };
module_param_cb(dev, &lt_netdev_ops, &dev_filter, 0644);
MODULE_PARM_DESC(dev, "Track only what enters through this device, a name or an ifindex (default empty: all)");

u16 protocol_filter;

static int protocol_set(const char *val, const struct kernel_param *kp)
{
	/* Base 0 would take a 0 in front for octal. */
	unsigned int base = strncmp(val, "0x", 2) ? 10 : 16;
	u16 new = 0;

	if (sysfs_streq(val, "ip"))
		new = ETH_P_IP;
	else if (sysfs_streq(val, "ipv6"))
		new = ETH_P_IPV6;
	else if (sysfs_streq(val, "arp"))
		new = ETH_P_ARP;
	else if (!sysfs_streq(val, "") && (kstrtou16(val, base, &new) || !new))
		return -EINVAL;
	if (new == protocol_filter)
		return 0;
	WRITE_ONCE(protocol_filter, new);	/* pairs with wants() */
	lt_filter_changed(&network_usecase);
	return 0;
}

static int protocol_get(char *buffer, const struct kernel_param *kp)
{
	if (!protocol_filter)
		return sysfs_emit(buffer, "\n");
	return sysfs_emit(buffer, "0x%04x\n", protocol_filter);
}

static const struct kernel_param_ops protocol_ops = {
	.set = protocol_set,
	.get = protocol_get,
};

module_param_cb(protocol, &protocol_ops, NULL, 0644);
MODULE_PARM_DESC(protocol, "Track only this protocol: ip, ipv6, arp or an ethertype such as 0x0800 (default empty: all)");
