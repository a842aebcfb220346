#!/bin/bash
# SPDX-License-Identifier: GPL-2.0-only
# Runs the benchmark of marks on one CPU, the last one, while LTTng records its tracepoints, if it
# is there.
# Usage: marks.sh PROGRAM DIRECTORY ROUNDS
set -euo pipefail

program=$1 directory=$2 rounds=$3
session=lt_bench-$$
daemon=''

end()
{
	[ -z "$daemon" ] || lttng -q destroy "$session" || :
	rm -rf "$directory/trace"
	[ ! -s "$directory/sessiond.pid" ] || kill "$(cat "$directory/sessiond.pid")" || :
}

record()
{
	mkdir -p "$directory"
	rm -f "$directory/sessiond.pid"
	lttng -q --no-sessiond list >/dev/null 2>&1 ||
		lttng-sessiond --daemonize --no-kernel --pidfile="$directory/sessiond.pid" || return
	daemon=1
	# As the tracker forgets what is in time, an old trace may be overwritten.
	lttng -q create "$session" --output="$directory/trace" &&
	lttng -q enable-channel -u -s "$session" --overwrite --subbuf-size=1M --num-subbuf=4 bench &&
	lttng -q enable-event -u -s "$session" -c bench 'lt_bench:*' &&
	lttng -q start "$session"
}

trap end EXIT
if ! command -v lttng >/dev/null || ! grep -q lttng_ust <(nm -D "$program"); then
	echo 'No LTTng-UST: liblttng-ust-dev and lttng-tools are not installed.' >&2
elif ! record; then
	echo 'LTTng does not record: see above. Its tracepoints are off.' >&2
else
	export LTTNG_UST_REGISTER_TIMEOUT=5000
fi
taskset -c "$(($(nproc) - 1))" "$program" "$rounds"
