#!/bin/bash
# SPDX-License-Identifier: GPL-2.0-only
# Runs KTAP programs one after the other: their results, and how each went.
# Usage: [TIME=SECONDS] [SEED=N] run.sh LOGDIR PROGRAM...
set -euo pipefail

log_dir=$1
shift
mkdir -p "$log_dir"
rm -f "$log_dir"/*.tap
limit=$((4 * ${TIME:-5} + 60))
export TSAN_OPTIONS="halt_on_error=1 ${TSAN_OPTIONS:-}"

failed=0
for program; do
	name=$(basename "$(dirname "$program")")/$(basename "$program")
	log=$log_dir/${name/\//-}.tap
	status=0
	{ timeout "$limit" "$program" >"$log" 2>&1; } 2>/dev/null || status=$?
	sed -n "s|^\(ok [0-9]*\) |\1 $name |; /^\(KTAP \|1\.\.\|ok \|#\)/p" "$log"
	((status)) || continue
	failed=1
	# A broken promise, a crash, a hang, a detector: the results are then fewer than planned.
	echo "# $name: exit status $status (124: not done in $limit s); the rest of $log:"
	grep -vE '^(KTAP |1\.\.|ok |#)' "$log" | head -n 60 | sed 's/^/# | /' || true
	echo "# again: SEED=N TIME=SECONDS $program, N as above"
done
exit "$failed"
