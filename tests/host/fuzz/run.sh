#!/bin/bash
# SPDX-License-Identifier: GPL-2.0-only
# Runs the fuzzers side by side, from nothing, each for so many seconds of a CPU.
# Usage: run.sh SECONDS FUZZER...
set -euo pipefail

seconds=$1
shift
# shellcheck source=tests/tap.sh
. "$(dirname "${BASH_SOURCE[0]}")/../../tap.sh"
export ASAN_OPTIONS="detect_leaks=0 ${ASAN_OPTIONS:-}"

for fuzzer; do
	rm -rf "$fuzzer.run" && mkdir -p "$fuzzer.run/new"
	FUZZ_TIME=$seconds "$fuzzer" -max_len=512 -timeout=10 -print_final_stats=1 \
		-artifact_prefix="$fuzzer.run/" "$fuzzer.run/new" >"$fuzzer.run/log" 2>&1 &
	pids[$!]=$fuzzer
done
for pid in "${!pids[@]}"; do
	fuzzer=${pids[$pid]} log=${pids[$pid]}.run/log status=0
	wait "$pid" || status=$?
	# How far it came.
	sed -n '/ cov: .* exec/s/^#/# /p' "$log" | tail -n 1
	grep -q '^stat::number_of_executed_units: *[1-9]' "$log" || status=1
	tap "$((status == 0))" "${fuzzer##*/}: $seconds s of inputs" && continue
	grep -E 'BUG at|SUMMARY|Test unit written' "$log" | tap_notes || :
	echo "# again, step by step: FUZZ_TRACE=1 $fuzzer FILE"
done
tap_end
