# SPDX-License-Identifier: GPL-2.0-only
# shellcheck shell=bash disable=SC2034,SC2154
#
# For the tests of waits that no task is to blame for: a task of CPU 1 that looks at its own clock.
. "$LIBDIR/lib.sh"

# lates CGROUP COMMAND...: runs COMMAND in the group with the tracker, after beside(), which the
# test defines: the processes that it leaves in $beside are killed behind COMMAND. Leaves in $kept how
# long it was kept, by its own clock, and in $line the report about that: the longest time that is
# covered by a report of the cause $expected. A longer one may be a pause of the machine below, in front
# of the wake-up or behind it.
lates()
{
	local round

	for round in {1..4}; do
		diag "round $round"
		lates_once "$@"
		! longest_covered 10 || break
	done
}

lates_once()
{
	load wakeup usec_threshold=5000
	trace_start latency_tracker/wakeup_latency
	# Behind what may take seconds.
	beside=()
	beside
	# It starts outside, where nothing keeps it.
	taskset -c 1 "${@:2}" >"$T/lates" &
	echo $! >"$1/cgroup.procs" || give_up "no way into $1"
	wait $! || give_up "${*:2} failed"
	((!${#beside[@]})) || kill "${beside[@]}"
	trace_stop "$T/trace"
	unload wakeup
	wait
}

# covered LEAST_MS: does the report cover the wait, of at least so long?
covered()
{
	((kept >= $1 * 1000000 && delay > 0 && delay <= kept && delay + 1000000 >= kept * 95 / 100))
}

longest_covered()
{
	local out

	kept=0 line='' delay=-1
	while read -r out; do
		kept=$(field kept "$out")
		line=$(awk -v pid="$(field late "$out")" -v at="$(field due "$out")" -v kept="$kept" '
			/wakeup_latency:/ && index($0, " pid=" pid ",") && match($0, / start=[0-9]+/) {
				off = substr($0, RSTART + 7, RLENGTH - 7) - at
				if (off >= 0 && off <= kept) print
			}' "$T/trace" | tail -n 1)
		delay=$(field delay "$line")
		diag "$out"
		diag "$line"
		! covered "$1" || [ "$(field cause "$line")" != "$expected" ] || return 0
	done < <(sed 's/.* kept=\([0-9]*\) .*/\1 &/' "$T/lates" | sort -rn | head -n 12 | cut -d ' ' -f 2-)
	return 1
}

# result_caused CAUSE CGROUP LEAST_MS TEXT: two results: the report covers the wait, of at least so
# long, and names the cause, of at least 90 % of it, and no task.
result_caused()
{
	result "$(covered "$3" && echo 1 || echo 0)" \
		"$4: kept for $(ms "$kept") ms by its own clock, reported with $(ms "$delay") ms"
	result "$([ "$(field cause "$line") $(field cgroup "$line") $(field holder_comm "$line")\
 $(field holder_pid "$line") $(field holder_ran "$line")" = "$1 $2 - -1 0" ] &&
		(($(field cause_ran "$line") * 100 >= delay * 90)) && echo 1 || echo 0)" \
		"cause=$(field cause "$line") for $(ms "$(field cause_ran "$line")") ms,\
 cgroup=$(field cgroup "$line"), holder_pid=$(field holder_pid "$line")"
}
