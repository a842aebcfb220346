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

# generation FILE OFFSET: of the records in a file of a profile.
generation()
{
	od -An -t u8 -j "$2" -N 8 "$state/$1"
}

is_later()
{
	(($(generation "$1" "$2") >= $3))
}

# next_generation FILE OFFSET: one that was begun after now.
next_generation()
{
	wait_for $((20 * ${LAB_SLOW:-1})) is_later "$1" "$2" $(($(generation "$1" "$2") + 2)) ||
		give_up "no later $1"
}

# Of a tracker: what has ended by now is in its profile, in its groups.
next_sum()
{
	next_generation "$1/profile/buckets" 40
}

next_groups()
{
	next_generation "$1/profile/groups" 32
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

cgroups=/sys/fs/cgroup
mount_cgroups()
{
	mountpoint -q $cgroups || mount -t cgroup2 none $cgroups || give_up "no cgroup2"
}
