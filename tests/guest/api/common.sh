# SPDX-License-Identifier: GPL-2.0-only
# shellcheck shell=bash
#
# For the tests of the two examples of the API.
. "$LIBDIR/lib.sh"

# reports NAME=VALUE...: lines of the trace with all of these fields.
reports()
{
	local word expression=''

	for word; do
		expression+="/[ ]${word%%=*}=${word#*=}(,|\$)/ && "
	done
	awk "/_latency: / && $expression 1" "$T/trace"
}

# figures OBSERVED REPORTED: for truth_count, where everything is late.
figures()
{
	echo "observed=$1 late=$1 reported=$2 missed=$(($1 > $2 ? $1 - $2 : 0))\
 invented=$(($2 > $1 ? $2 - $1 : 0))"
}
