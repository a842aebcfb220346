# SPDX-License-Identifier: GPL-2.0-only
# shellcheck shell=bash disable=SC2034
#
# For tests of a load whose process is known before it begins.
# shellcheck source=tests/guest/lib.sh
. "$LIB"

# told COMMAND...: of inject, which has the pid $pid then, and waits for tell.
told()
{
	hold_inject "$@"
	pid=$prepared
}

tell()
{
	exec {hold}>&-
}
