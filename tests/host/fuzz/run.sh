#!/bin/bash
# SPDX-License-Identifier: GPL-2.0-only
# Runs the fuzzers side by side, or brings what they found into the corpus.
# Usage: run.sh check|corpus OUT SECONDS FUZZER...
set -euo pipefail

what=$1
out=$2
seconds=$3
shift 3
here=$(dirname "${BASH_SOURCE[0]}")
export ASAN_OPTIONS="detect_leaks=0 ${ASAN_OPTIONS:-}"

# What the log of libFuzzer says about the name $2: cov, ft, ...
figure()
{
	sed -n "s/^#.* $2: \([0-9]*\).*/\1/p" "$1" | tail -n 1
}

# fuzz FUZZER: two KTAP lines without numbers; the corpus alone, then the search.
fuzz()
{
	local name=$1 dir=$out/run/$1 status=0 runs

	rm -rf "$dir" && mkdir -p "$dir/new"
	"$here/corpus.py" unpack "$here/corpus/$name.b64" "$dir/seeds"
	"$out/$name" -runs=0 -artifact_prefix="$dir/" "$dir/seeds" >"$dir/seeds.log" 2>&1 || status=$?
	result "$status" "$name: the $(find "$dir/seeds" -type f | wc -l) inputs of the corpus" "$dir/seeds.log"
	status=0
	"$out/$name" -max_total_time="$seconds" -max_len=512 -timeout=10 -artifact_prefix="$dir/" \
		-print_final_stats=1 "$dir/new" "$dir/seeds" >"$dir/log" 2>&1 || status=$?
	runs=$(sed -n 's/^stat::number_of_executed_units: *//p' "$dir/log")
	echo "# $name: ${runs:-0} executions in $seconds s, $(figure "$dir/log" cov) edges," \
		"$(figure "$dir/log" ft) features, $(find "$dir/new" -type f | wc -l) new inputs"
	[ "${runs:-0}" -gt 0 ] || status=1
	result "$status" "$name: $seconds s of new inputs" "$dir/log"
}

result()
{
	if [ "$1" -eq 0 ]; then
		echo "ok $2"
		return
	fi
	grep -E 'expected |BUG at|SUMMARY|Test unit written' "$3" | sed 's/^/# /' || :
	echo "# again, step by step: FUZZ_TRACE=1 build/fuzz/${2%%:*} FILE"
	echo "not ok $2"
}

check()
{
	local name

	echo "KTAP version 1"
	echo "1..$(($# * 2))"
	for name; do
		fuzz "$name" >"$out/$name.result" &
	done
	wait
	for name; do
		cat "$out/$name.result"
	done | awk '
		/^(not )?ok / { n++; sub(/^(not )?ok /, "&" n " ") }
		/^not/ { bad = 1 }
		{ print }
		END { exit bad }'
}

# Only what reaches something that the rest does not.
corpus()
{
	local name dir

	for name; do
		dir=$out/run/$name
		mkdir -p "$dir/new"
		rm -rf "$dir/merged" && mkdir "$dir/merged"
		"$out/$name" -set_cover_merge=1 "$dir/merged" "$dir/seeds" "$dir/new" >"$dir/merge.log" 2>&1
		"$here/corpus.py" pack "$dir/merged" "$here/corpus/$name.b64"
	done
}

"$what" "$@"
