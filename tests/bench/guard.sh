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
# shellcheck source=tests/tap.sh
. "$top/tests/tap.sh"

# More than this is a loss.
percent=5

kernel=$2
measured=$("$top/scripts/bench" pair --kernel "$kernel")
tap_notes <<<"$measured"
while IFS='|' read -r variant before; do
	now=$(sed -nE "s/^ *$variant  +([0-9.]+)( .*)?\$/\1/p" <<<"$measured")
	read -r ok less < <(awk -v now="${now:-0}" -v before="$before" -v percent="$percent" '
		BEGIN {
			print (now > 0 && now <= before * (1 + percent / 100)),
			      (now < before * (1 - percent / 100))
		}')
	text="$variant: ${now:-0} instructions a pair, $before were recorded"
	((!less)) || text+='; record the new figure'
	tap "$ok" "$text" || :
done < <(sed -n "s/^$kernel|//p" "$top/tests/bench/recorded")
tap_end
