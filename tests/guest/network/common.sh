# SPDX-License-Identifier: GPL-2.0-only
# shellcheck shell=bash disable=SC2034,SC2154
#
# For the tests of this directory: packets between two namespaces and this one.
. "$LIBDIR/lib.sh"

events="latency_tracker/network_latency skb/kfree_skb skb/consume_skb skb/skb_copy_datagram_iovec
	net/netif_receive_skb_entry net/netif_receive_skb_list_entry net/netif_rx_entry
	net/napi_gro_receive_entry net/napi_gro_frags_entry net/net_dev_queue
	net/net_dev_start_xmit"
[ ! -d /sys/kernel/tracing/events/net/netif_rx_ni_entry ] || events+=' net/netif_rx_ni_entry'

# wire DEVICE ADDRESS NETNS ITS-DEVICE ITS-ADDRESS: a veth pair to another namespace, where
# nobody has to ask for an address.
wire()
{
	ip netns add "$3" 2>/dev/null
	ip -n "$3" link set lo up
	ip link add "$1" type veth peer name "$4" netns "$3" || give_up "no veth"
	ip netns exec "$3" sysctl -qw net.ipv6.conf.all.disable_ipv6=1
	ip addr add "$2/24" dev "$1"
	ip -n "$3" addr add "$5/24" dev "$4"
	ip link set "$1" up
	ip -n "$3" link set "$4" up
	ip neigh replace "$5" dev "$1" lladdr "$(ip netns exec "$3" cat "/sys/class/net/$4/address")"
	ip -n "$3" neigh replace "$2" dev "$4" lladdr "$(<"/sys/class/net/$1/address")"
}

network_up()
{
	sysctl -qw net.ipv6.conf.all.disable_ipv6=1 net.ipv4.icmp_ratelimit=0
	ip link set lo up
	wire v0 10.0.0.1 a v1 10.0.0.2
	wire w0 10.0.1.1 b w1 10.0.1.2
	ip -n a route add 10.0.1.0/24 via 10.0.0.1
	ip -n b route add 10.0.0.0/24 via 10.0.1.1
	trap network_down EXIT
}

# ipv6_up: between v0 and namespace a, whose addresses are then fd00::1 and fd00::2.
ipv6_up()
{
	sysctl -qw net.ipv6.conf.v0.disable_ipv6=0 || return
	ip netns exec a sysctl -qw net.ipv6.conf.v1.disable_ipv6=0
	ip addr add fd00::1/64 dev v0 nodad
	ip -n a addr add fd00::2/64 dev v1 nodad
}

network_down()
{
	ip link del br0 2>/dev/null
	ip link del v0
	ip link del w0 2>/dev/null || ip link del v0x
	ip netns del a
	ip netns del b
	sysctl -qw net.ipv4.ip_forward=0
}

packets()
{
	"$BIN/packets" "$@" || give_up "packets $* failed"
}

# Reports in the trace that have all of these.
reports()
{
	local text

	text=$(grep network_latency: "$T/trace")
	for pattern; do
		text=$(grep -e "$pattern" <<<"$text")
	done
	[ -z "$text" ] || printf '%s\n' "$text"
}

how_many()
{
	reports "$@" | wc -l
}

# Something may sit in a queue of the kernel's for a moment, such as an address that is asked for.
result_at_rest()
{
	local missed

	wait_for 5 at_most network pending 0
	missed=$(param network missed)
	result $(($(count network pending) <= missed)) \
		"$1: $(count network pending) of $(count network started) pending, ends not seen: $missed"
}

# traced COMMAND...: leaves what it prints in $out, and the reports in $T/trace.
traced()
{
	trace_start latency_tracker/network_latency
	out=$("$@")
	trace_stop "$T/trace"
	diag "$out" "$(reports)"
}

# exact CASE PATTERN COMMAND...: one report that fits PATTERN, and its delay is between what the
# program saw from the inside and from the outside. It names the thread that reads, if that tells.
exact()
{
	local line least most delay reader

	traced "${@:3}"
	line=$(reports "$2" flag=ended)
	delay=$(field delay "$line")
	least=$(($(field before "$out") - $(field queued "$out")))
	most=$(($(field after "$out") - $(field sending "$out")))
	truth_delay network "$1" "$least" "$delay"
	reader=$(field tid "$out")
	((reader > 0)) || reader=$(field pid "$out")
	result $(($(how_many "$2") == 1 && delay >= least && delay <= most &&
		  (reader < 0 || $(field pid "$line") == reader))) "$1: in its queue for $(ms "$least") to $(ms "$most") ms, reported $(ms "$delay") ms"
}

# Everything about packets, with their addresses as they are. Where UDP has read a datagram, the
# kernel may free it much later, and no event tells: a kprobe event does.
trace_packets()
{
	echo "p:lt_udp_read skb_consume_udp skbaddr=\$arg2:x64" >/sys/kernel/tracing/kprobe_events ||
		give_up "no kprobe event"
	# shellcheck disable=SC2086 # words
	trace_start $events kprobes/lt_udp_read
	[ ! -e "$tracing/options/hash-ptr" ] || echo 0 >"$tracing/options/hash-ptr"
}

packets_traced()
{
	trace_stop "$1"
	: >/sys/kernel/tracing/kprobe_events
}

network_up
