# SPDX-License-Identifier: GPL-2.0-only
# shellcheck shell=bash disable=SC2034
#
# For the tests that let one thing after the other fail.
# shellcheck source=tests/guest/lib.sh
. "$LIB"

trackers="wakeup offcpu syscalls block irq network lock mark chain"
sum=0

file_of()
{
	modinfo -n "$1"
}

# refuse ARGUMENT...: leaves the figures in $figures; returns whether nothing was wrong.
refuse()
{
	local status=0

	"$BIN/refuse" "$@" >"$T/refuse" 2>&1 || status=$?
	# What has failed as it should, not one by one.
	sed -n 's/^# \([0-9]*: \)\{0,1\}//p' "$T/refuse" | sed 's/ for .*:/:/' | cut -c 1-160 |
		sort | uniq -c | head -n 60 | sed 's/^/# /'
	figures=$(tail -n 1 "$T/refuse")
	return $status
}

# nth AT_LEAST TEXT KIND DEED ARGUMENT...: one result.
nth()
{
	local good=1 least=$1

	[ -z "${HALF:-}" ] || least=$(($1 / 2))
	refuse nth "${@:3}" || good=0
	sum=$((sum + $(field failures "$figures")))
	result $((good && $(field failures "$figures") >= least)) "$2: $figures"
}
