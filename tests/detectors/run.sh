#!/bin/bash
# SPDX-License-Identifier: GPL-2.0-only
#
# Are the detectors of a debug kernel awake? latency_tracker_bad does what each of them is to
# find; one that stays silent, or that scripts/vm-run does not understand, is a failure.
# Prints TAP.
#
# Usage: tests/detectors/run.sh --kernel NAME [--console FILE]

set -euo pipefail
# shellcheck source=scripts/lib.sh
. "$(dirname "${BASH_SOURCE[0]}")/../../scripts/lib.sh"
# shellcheck source=tests/tap.sh
. "$top/tests/tap.sh"

name='' console=''
while (($#)); do
	case $1 in
	--kernel) name=$2 ;;
	--console) console=$2 ;;
	*) die "there is no option $1" ;;
	esac
	shift 2
done

tmp=$(mktemp -d)
trap 'rm -rf "$tmp"' EXIT
console=${console:-$tmp/console}

# The case, where the detector speaks, and what it says: on the "console", where vm-run must
# take it for trouble; "aside", in what the guest asks for; "nothing", where all is well.
# Lockdep is switched off by a report of KASAN, and by its own of an inversion: it comes first.
# shellcheck disable=SC2034 # by name
kasan=(
	'rcu|console|WARNING: suspicious RCU usage'
	'inversion|console|WARNING: possible circular locking dependency detected'
	'use-after-free|console|BUG: KASAN: (slab-)?use-after-free in bad_use_after_free'
	'out-of-bounds|console|BUG: KASAN: slab-out-of-bounds in bad_out_of_bounds'
	'stale-event|console|BUG: KASAN: (slab-)?use-after-free in latency_tracker_event_start'
	'state|console|item [0-9a-f]+: 0, not 1a7e4c03, becomes 1a7e4c04'
	'leak|aside|bad_leak\+'
	'lost-event|aside|lt_alloc_items\+'
	'failslab|aside|FAULT_INJECTION: forcing a failure'
	'fail-page|aside|FAULT_INJECTION: forcing a failure'
	'active-timer|console|ODEBUG: free active .* timer_list'
	'sleep|console|BUG: sleeping function called from invalid context'
)
# shellcheck disable=SC2034 # by name
kcsan=(
	'race|console|BUG: KCSAN: data-race in race'
	'ordered|nothing|BUG: '
	'barrier|console|reordered to: unordered'
)

# result CONDITION TEXT CASE
result()
{
	tap "$1" "$2" || cat "$tmp/$3.console" "$tmp/$3.out" | head -n 60 | tap_notes
}

# What was said from "$1 CASE" to "$2 CASE" in file $3.
between()
{
	sed -n "/$1 $4\$/,/$2 $4\(,\|\$\)/p" "$3" | sed '1d; $d'
}

check_case()
{
	local case=$1 where=$2 says=$3 trouble=0 found=0 log

	between 'bad: begin' 'bad: end' "$console" "$case" >"$tmp/$case.console"
	between begin end "$tmp/out" "$case" >"$tmp/$case.out"
	[ "$where" = aside ] && log=$tmp/$case.out || log=$tmp/$case.console
	! grep -qE "$says" "$log" || found=1
	[ -z "$(first_splat "$tmp/$case.console")" ] || trouble=1
	case $where in
	console) result $((found && trouble)) "$case: '$says' is on the console, and is trouble" "$case" ;;
	aside) result "$found" "$case: '$says' is in what the guest asked for" "$case" ;;
	nothing)
		grep -q "bad: end $case, 0" "$console" || trouble=1
		result $((!found && !trouble)) "$case: nothing is said" "$case"
		;;
	esac
}

list=$(kernel_value "$name" detectors)
[ -n "$list" ] || die "kernel '$name' has no detectors: take kasan or kcsan"
declare -n cases=$list

status=0
"$top/scripts/vm-run" --no-build --kernel "$name" --timeout 300 --console "$console" -- \
	tests/detectors/guest "${cases[@]%%|*}" </dev/null >"$tmp/out" 2>"$tmp/err" || status=$?
for case in "${cases[@]}"; do
	IFS='|' read -r case where says <<<"$case"
	check_case "$case" "$where" "$says"
done
cp "$tmp/err" "$tmp/all.console"
result $((status == 125)) "vm-run: the kernel was in trouble, status $status" all
tap_end
