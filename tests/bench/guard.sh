#!/bin/bash
# SPDX-License-Identifier: GPL-2.0-only
#
# Does a begin with its end still cost what it did? Counts instructions with "scripts/bench
# pair" and compares them with the file "recorded". Prints TAP.
#
# Usage: tests/bench/guard.sh --kernel NAME

set -euo pipefail
# shellcheck source=scripts/lib.sh
. "$(dirname "${BASH_SOURCE[0]}")/../../scripts/lib.sh"

# More than this is a loss that somebody has to know of.
percent=5

kernel=$2
recorded=$(sed -n "s/^$kernel|//p" "$top/tests/bench/recorded")
echo "1..$(wc -l <<<"$recorded")"
measured=$("$top/scripts/bench" pair --kernel "$kernel")
while read -r line; do
	echo "# $line"
done <<<"$measured"
while IFS='|' read -r variant before; do
	now=$(sed -nE "s/^ *$variant  +([0-9.]+)( .*)?\$/\1/p" <<<"$measured")
	awk -v name="$variant" -v now="${now:-0}" -v before="$before" -v percent="$percent" '
		BEGIN {
			ok = now > 0 && now <= before * (1 + percent / 100)
			printf "%sok - %s: %s instructions a pair, %s were recorded", ok ? "" : "not ", name, now, before
			print now < before * (1 - percent / 100) ? "; record the new figure" : ""
		}'
done <<<"$recorded"
