#!/bin/bash
# SPDX-License-Identifier: GPL-2.0-only
# Runs the fuzzers side by side, from nothing, each for so many seconds of a CPU.
# Usage: run.sh SECONDS FUZZER...
set -euo pipefail
shopt -s extglob

seconds=$1
shift
# shellcheck source=tests/tap.sh
. "$(dirname "${BASH_SOURCE[0]}")/../../tap.sh"
export ASAN_OPTIONS="detect_leaks=0 ${ASAN_OPTIONS:-}"

# start FUZZER [MODE]: see tracker_fuzz.c for what a mode is.
start()
{
	local run=$1.run${2:+-$2}

	rm -rf "$run" && mkdir -p "$run/new"
	FUZZ_MODE=${2:-} FUZZ_TIME=$seconds "$1" -max_len=512 -timeout=10 -print_final_stats=1 \
		-artifact_prefix="$run/" "$run/new" >"$run/log" 2>&1 &
	pids[$!]=$run
}

for fuzzer; do
	start "$fuzzer"
	[[ $fuzzer != */tracker_fuzz ]] || { start "$fuzzer" groups && start "$fuzzer" records; }
done
for pid in "${!pids[@]}"; do
	fuzzer=${pids[$pid]} log=${pids[$pid]}/log status=0
	wait "$pid" || status=$?
	# How far it came.
	sed -n '/ cov: .* exec/s/^#/# /p' "$log" | tail -n 1
	grep -q '^stat::number_of_executed_units: *[1-9]' "$log" || status=1
	name=${fuzzer##*/}
	tap "$((status == 0))" "${name/.run/}: $seconds s of inputs" && continue
	grep -E 'BUG at|SUMMARY|Test unit written' "$log" | tap_notes || :
	echo "# again, step by step: FUZZ_TRACE=1 FUZZ_MODE=${fuzzer##*.run*(-)} ${fuzzer%.run*} FILE"
done
tap_end
