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

# groups TRACKER: a line for each group.
groups()
{
	python3 "$LIBDIR/profile/groups.py" "$state/$1/profile"
}

# told TRACKER NAME FIELD: of a group; 0 if it is not there.
told()
{
	local line

	line=$(groups "$1" | grep " name=$2 ") || line="$3=0"
	field "$3" "$line"
}

groups_generation()
{
	od -An -t u8 -j 32 -N 8 "$state/$1/profile/groups"
}

groups_are_later()
{
	(($(groups_generation "$1") >= $2))
}

# next_groups TRACKER: what has ended by now is in the groups.
next_groups()
{
	wait_for $((20 * ${LAB_SLOW:-1})) groups_are_later "$1" $(($(groups_generation "$1") + 2)) ||
		give_up "no groups of $1"
}

cgroups=/sys/fs/cgroup
mount_cgroups()
{
	mountpoint -q $cgroups || mount -t cgroup2 none $cgroups || give_up "no cgroup2"
}
