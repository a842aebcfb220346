# SPDX-License-Identifier: GPL-2.0-only
# shellcheck shell=bash
#
# For the tests, by way of lib.sh: memory that was lost, and what the detectors of debug kernels say.

# --- what was lost -------------------------------------------------------------------

# Kilobytes where our allocations go, without what was freed and only kept.
used()
{
	local cache

	sync
	echo 3 >/proc/sys/vm/drop_caches
	sleep 2
	# KASAN keeps up to a 32nd of the memory, so that its use is seen.
	for cache in /sys/kernel/slab/*; do
		[ -L "$cache" ] || echo 1 >"$cache/shrink"
	done
	awk '/^(SUnreclaim|VmallocUsed|Percpu):/ { kb += $2 } END { print kb }' /proc/meminfo
}

# orphans_begin: the test needs "boot: slub_debug=U".
orphans_begin()
{
	modprobe null_blk
	# How the addresses of modules begin.
	place=$(awk '$1 == "null_blk" { print substr($6, 1, 11) }' /proc/modules)
	# Up to 5.13 there is alloc_calls instead, which ends after one page.
	slab_traces=0
	[ ! -e /sys/kernel/debug/slab/kmalloc-1k/alloc_traces ] || slab_traces=1
	((slab_traces)) || [ -s /sys/kernel/slab/kmalloc-1k/alloc_calls ] ||
		give_up "slub_debug=U is needed"
}

# Objects that were allocated by code that has no name any more, or on its behalf, and of no
# other module: it was in a module that is gone. The kernel keeps the vmap_area of memory that
# is free again for as long as it likes; what is not free has a vm_struct, too, in a kmalloc slab.
orphans()
{
	((!slab_traces)) ||
		awk -v place="$place" 'BEGIN { RS = "" }
			FILENAME !~ /[/]vmap_area[/]/ && $0 ~ place && !/\[/ { print $1, FILENAME, $0 }' \
			/sys/kernel/debug/slab/*/alloc_traces
	awk '$3 ~ /^0x/ { print 1, "vmalloc", $0 }' /proc/vmallocinfo
}

how_many()
{
	awk '/^[0-9]/ { n += $1 } END { print n + 0 }' "$1"
}

# One result: there are no more of them than there were in $T/orphans-before.
result_orphans()
{
	local old new text n

	old=$(how_many "$T/orphans-before")
	# A directory that is gone stays in a cache for as long as it was looked at lately.
	for n in 1 2 3 4 5; do
		orphans >"$T/orphans-after"
		new=$(how_many "$T/orphans-after")
		((new > old)) || break
		echo 2 >/proc/sys/vm/drop_caches
		sleep $n
	done
	text="objects whose allocating code is gone: $old before, $new after"
	if ((slab_traces || new > old)); then
		result $((new <= old)) "$text" ||
			diag "$(diff "$T/orphans-before" "$T/orphans-after" | head -n 60)"
	else
		skip "no alloc_traces of slabs before Linux 5.14; only vmalloc is seen" "$text"
	fi
}

# --- detectors of debug kernels -------------------------------------------------------

# complaints PATTERN: what the kernel's log has of them. Not data races, of which it has some of
# its own: scripts/vm-run looks which are ours.
complaints()
{
	dmesg | grep -E "BUG|WARNING|$1" | grep -v 'BUG: KCSAN:'
}

# leaks: prints what kmemleak has lost sight of since the last call, if our modules were on the
# way to its allocation, also those that are gone. Nothing where there is no kmemleak. Takes
# minutes. Not the kernel's own: before 6.2 it loses the name of a kset that can't be registered.
leaks()
{
	local file=/sys/kernel/debug/kmemleak

	[ -e $file ] || return 0
	# It takes nothing for lost that is younger than this, nor at first sight.
	sleep 6
	if ! { echo scan && echo scan; } >$file; then
		echo "kmemleak does not work any more"
		return
	fi
	awk '
		function flush() {
			if (ours && text !~ /kset_create_and_add/)
				printf "%s", text
			text = ""
			ours = 0
		}
		/^unreferenced/ { flush() }
		/\[latency_tracker|\] 0x[0-9a-f]+$/ { ours = 1 }
		{ text = text $0 "\n" }
		END { flush() }
	' $file
	echo clear >$file
}
