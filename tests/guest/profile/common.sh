# SPDX-License-Identifier: GPL-2.0-only
# shellcheck shell=bash disable=SC2154
#
# For the tests of profiles.
# shellcheck source=tests/guest/lib.sh
. "$LIB"

# of TRACKER WINDOW NAME: a value of a profile.
of()
{
	sed -n "s/^$3 //p" "$state/$1/profile/$2"
}

generation()
{
	od -An -t u8 -j 40 -N 8 "$state/$1/profile/buckets"
}

is_later()
{
	(($(generation "$1") >= $2))
}

# next_sum TRACKER: one that was begun after now.
next_sum()
{
	wait_for $((20 * ${LAB_SLOW:-1})) is_later "$1" $(($(generation "$1") + 2)) ||
		give_up "no sum of $1"
}
