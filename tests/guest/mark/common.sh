# SPDX-License-Identifier: GPL-2.0-only
# shellcheck shell=bash disable=SC2034
#
# For the tests of latency_tracker_mark: operations of "inject marks".
. "$LIBDIR/lib.sh"

# A program starts so many times slower here.
slow=${LAB_SLOW:-1}

# mine FLAG MARK PID [FILE]: reports about that thread, in the order in which they came.
mine()
{
	grep "mark_latency: mark=$2, .* pid=$3, .*flag=$1" "${4:-$T/trace}"
}

# parameter NAME: of the module.
parameter()
{
	param mark "$1"
}
