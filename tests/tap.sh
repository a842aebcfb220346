# SPDX-License-Identifier: GPL-2.0-only
# shellcheck shell=bash
#
# TAP, for the tests that are scripts and run outside of guests. Source it.

tap_count=0 tap_failed=0

# tap CONDITION TEXT: one result. CONDITION is an arithmetic value, so 0 is a failure, which
# is also what is returned.
tap()
{
	tap_count=$((tap_count + 1))
	if (($1)); then
		echo "ok $tap_count - $2"
		return 0
	fi
	tap_failed=$((tap_failed + 1))
	echo "not ok $tap_count - $2"
	return 1
}

# Standard input, for whoever looks into a failure.
tap_notes()
{
	sed 's/^/# /'
}

# Numbers the results of standard input, one per line; other lines are passed on. Fails if a
# result is one.
tap_number()
{
	local line n=0 bad=0

	while IFS= read -r line; do
		if [[ $line == ?(not )ok\ * ]]; then
			n=$((n + 1))
			line=${line/ok /ok $n }
		fi
		[[ $line != 'not ok '* ]] || bad=1
		printf '%s\n' "$line"
	done
	return "$bad"
}

# The plan; fails if a result was one.
tap_end()
{
	echo "1..$tap_count"
	((tap_failed == 0))
}
