#!/bin/bash
# SPDX-License-Identifier: GPL-2.0-only
#
# A kernel that calls a tracepoint with other arguments than a probe expects must break
# the build, not the data. Each tracker with the headers of a kernel in which its tracepoints
# have changed: it must not compile, and the compiler must name each probe, in an error of its
# own; with unchanged headers, the same must compile. Prints
# TAP; ends with non-zero if a check failed.
#
# Usage: tests/signatures/run.sh [--kernel NAME]

set -euo pipefail
# shellcheck source=scripts/lib.sh
. "$(dirname "${BASH_SOURCE[0]}")/../../scripts/lib.sh"
# shellcheck source=tests/tap.sh
. "$top/tests/tap.sh"

name=bookworm
[ "${1:-}" != --kernel ] || name=$2
src=build/$name-signatures-src out=build/$name-signatures

# The tracepoints that tracker $1 probes, if this kernel has them.
probed()
{
	local event

	while read -r event; do
		[[ $headers != *[^a-z0-9_]"$event"[^a-z0-9_]* ]] || echo "$event"
	done < <(sed -nE 's/^\tLT_(FIRST_)?PROBE\(([a-z0-9_]*)\),$/\2/p' "$top/${file[$1]}")
}

# source_of TRACKER EVENT...: that tracker, where these are changed.
source_of()
{
	local tracker=$1 event
	shift

	echo '/* SPDX-License-Identifier: GPL-2.0-only */'
	echo 'struct lt_changed;'
	for event; do
		# Like a function: it is defined by this name, and asked for its type
		# without parentheses.
		cat <<-EOT
		#define check_trace_callback_type_$event(...) \\
			check_trace_callback_type_$event(void (*cb)(void *data, \\
							 struct lt_changed *changed))
		EOT
	done
	echo "#include \"${file[$tracker]}\""
}

# Never run, so all of them may be in one directory. All tracepoints of a tracker are changed in one
# source: each has an error of its own, and one is enough for the build to fail.
write_sources()
{
	local tracker events

	rm -rf "${top:?}/$src"
	mkdir -p "$top/$src"
	for tracker in "${trackers[@]}"; do
		mapfile -t events < <(probed "$tracker")
		source_of "$tracker" >"$top/$src/$tracker-unchanged.c"
		source_of "$tracker" "${events[@]}" >"$top/$src/$tracker-changed.c"
		echo "obj-m += $tracker-unchanged.o $tracker-changed.o"
	done >"$top/$src/Kbuild"
	echo "ccflags-y := -I$top -I$top/include" >>"$top/$src/Kbuild"
}

compiled()
{
	[ -e "$top/$out/$1.o" ] && echo 1 || echo 0
}

# How often the compiler has named the probe of tracepoint $1.
named()
{
	grep -c "error: static assertion failed: \"probe_$1() is not of the type that" \
		"$top/$out.log" || :
}

check_tracker()
{
	local tracker=$1 event events

	mapfile -t events < <(probed "$tracker")
	tap "$(compiled "$tracker-unchanged")" "$tracker: compiles with the headers of '$name'" || :
	tap $((${#events[@]} > 0)) "$tracker: probes ${#events[@]} tracepoints: ${events[*]}" || :
	for event in "${events[@]}"; do
		tap $((!$(compiled "$tracker-changed") && $(named "$event") == ${probes[$event]})) \
			"$tracker: with another signature of $event it does not compile; the\
 compiler names probe_$event() $(named "$event") times, in ${probes[$event]} trackers" || :
	done
}

need_setup "$name"
kver=$(<"$(rootfs_dir "$name")/kver")
# shellcheck disable=SC2016 # the inner shell expands it
headers=$(in_rootfs "$name" sh -c 'cat "/lib/modules/$1/source/include/trace/events"/*.h' sh "$kver")
# For each tracker the file with its table of probes: its only one, or that in its directory.
declare -A file=() probes=()
while read -r path; do
	tracker=${path##*/latency_tracker_}
	[[ $tracker != */* ]] || tracker=$(basename "${path%/*}")
	file[${tracker%.c}]=$path
done < <(cd "$top" && grep -rlE --include='*.c' '^	LT_(FIRST_)?PROBE\(' examples usecase)
mapfile -t trackers < <(printf '%s\n' "${!file[@]}" | sort)
for tracker in "${trackers[@]}"; do
	for event in $(probed "$tracker"); do
		probes[$event]=$((${probes[$event]:-0} + 1))
	done
done
write_sources
# From the beginning: what it depends on is not in its directory.
rm -rf "${top:?}/$out"
mkdir -p "$top/$out"
kbuild "$name" "$src" "$out" KCFLAGS="$(test_flags "$name")" -k >"$top/$out.log" 2>&1 || :

for tracker in "${trackers[@]}"; do
	check_tracker "$tracker"
done
# Whatever registers a probe by itself would get round all this.
tap $(($(cat "$top"/{core,usecase,examples,examples/*}/*.[ch] |
	grep -cE 'tracepoint_probe_register(_prio)?\(') == 1)) \
	"only usecase/probe.c registers probes" || :
tap_end || { tail -n 40 "$top/$out.log" >&2; exit 1; }
