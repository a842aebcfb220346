#!/bin/bash
# SPDX-License-Identifier: GPL-2.0-only
# The models must hold in all states, and each broken twin must be refuted; the litmus
# tests must have the results that they state. See README.md.
# Usage: run.sh OUT
set -euo pipefail

out=$1
here=$(cd "$(dirname "${BASH_SOURCE[0]}")" && pwd)

# Prints one KTAP line without a number for twin $2 of model $1; 0 is the model itself.
one()
{
	local model=$1 twin=$2 dir=$out/$1-$2 what status=0 states

	rm -rf "$dir" && mkdir -p "$dir" && cd "$dir"
	if ! spin -a -DBROKEN="$twin" "$here/models/$model.pml" >log 2>&1 ||
		! "${CC:-gcc}" -O0 -w -DSAFETY -DVECTORSZ=4096 -o pan pan.c >>log 2>&1; then
		echo "not ok $model $twin: does not compile, see $dir/log"
		return
	fi
	timeout 120 ./pan -m100000 >log 2>&1 || status=$?
	states=$(sed -n 's/^ *\([0-9]*\) states, stored.*/\1/p' log)
	# Whatever pan did not finish says nothing.
	if ((status)) || ! grep -q '^State-vector .* errors: [01]$' log ||
		grep -qE 'max search depth too small|Search not completed.*limit|out of memory' log; then
		echo "not ok $model $twin: not searched to the end, see $dir/log"
	elif ((twin == 0)); then
		what="$model: holds in $states states"
		grep -q 'errors: 0$' log || what="$model: $(grep -m 1 '^pan:1' log), see $dir/log"
		grep -q 'errors: 0$' log && echo "ok $what" || echo "not ok $what"
	else
		what="$model: refuted: $(sed -n "s/^ \* twin $twin: //p" "$here/models/$model.pml")"
		grep -q 'errors: 1$' log && echo "ok $what" || echo "not ok $what"
	fi
}

# MODEL TWIN of all
all()
{
	local file model

	for file in "$here"/models/*.pml; do
		model=$(basename "$file" .pml)
		echo "$model 0"
		sed -n "s/^ \* twin \([0-9]*\): .*/$model \1/p" "$file"
	done
}

if [ "${2:-}" = one ]; then
	one "$3" "$4"
	exit
fi

mkdir -p "$out"
n=0
echo "KTAP version 1"
echo "1..$(all | wc -l)"
all | xargs -n 2 -P "$(nproc)" "$0" "$out" one | tee "$out/results" |
	while read -r line; do
		n=$((n + 1))
		echo "${line/ok /ok $n }"
	done
status=0
! grep -q '^not ok' "$out/results" || status=1
# A list of published results shows that the judge can be trusted.
"$here/lkmm.py" "$here/known.txt" || status=1
"$here/lkmm.py" "$here"/*.litmus || status=1
exit "$status"
