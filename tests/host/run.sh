#!/bin/bash
# SPDX-License-Identifier: GPL-2.0-only
# Runs KTAP programs one after the other: their results, and how each went.
# Usage: [TIME=SECONDS] [SEED=N] run.sh LOGDIR PROGRAM...
set -euo pipefail

log_dir=$1
shift
mkdir -p "$log_dir"
rm -f "$log_dir"/*.tap
options=(--time "${TIME:-5}")
if [ -n "${SEED:-}" ]; then
	options+=(--seed "$SEED")
fi
limit=$(awk -v t="${TIME:-5}" 'BEGIN { print int(4 * t + 60) }')
export TSAN_OPTIONS="halt_on_error=1 ${TSAN_OPTIONS:-}"

passed=0 failed=0 skipped=0
for program in "$@"; do
	name=$(basename "$(dirname "$program")")/$(basename "$program")
	log=$log_dir/${name/\//-}.tap
	start=$(date +%s%N)
	status=0
	{
		timeout "$limit" "$program" "${options[@]}" >"$log" 2>&1
	} 2>/dev/null || status=$?
	ms=$((($(date +%s%N) - start) / 1000000))

	plan=$(sed -n 's/^1\.\.\([0-9]*\)$/\1/p' "$log")
	skip=$(grep -c '^ok .*# SKIP' "$log" || true)
	ok=$(($(grep -c '^ok ' "$log" || true) - skip))
	bad=$(grep -c '^not ok ' "$log" || true)
	# Tests that did not report have failed: a crash, a hang, a detector.
	bad=$((bad + ${plan:-1} - ok - skip - bad))
	if [ "$status" -ne 0 ] && [ "$bad" -eq 0 ]; then
		bad=1
	fi
	passed=$((passed + ok)) failed=$((failed + bad))
	skipped=$((skipped + skip))
	sed -n "s|^\(\(not \)\?ok [0-9]*\) |\1 $name |; /^\(KTAP \|1\.\.\|ok \|not ok \|#\)/p" "$log"
	if [ "$bad" -ne 0 ]; then
		echo "# exit status $status (124: not done in $limit s); the rest of $log:"
		grep -vE '^(KTAP |1\.\.|ok |not ok |#)' "$log" | head -n 60 | sed 's/^/# | /' || true
	fi
	printf '# %s: %d passed, %d failed, %d skipped in %d.%d s\n' "$name" \
		"$ok" "$bad" "$skip" $((ms / 1000)) $((ms % 1000 / 100))
done
echo "# host: $passed passed, $failed failed, $skipped skipped"
if [ "$failed" -ne 0 ]; then
	echo "To repeat a run: PROGRAM --seed N --time SECONDS, N as in its log in $log_dir." >&2
	exit 1
fi
