# SPDX-License-Identifier: GPL-2.0-only
# shellcheck shell=bash disable=SC2034,SC2154
#
# For the tests of latency_tracker_chain: activations of tasks on CPU 1.
. "$LIBDIR/lib.sh"

slow=${LAB_SLOW:-1}
run=/sys/module/latency_tracker_chains/parameters/run
stages=(raise handling waiting returning working)
# Does the kernel tell when a task is back in user space?
returns=0
! grep -q ' user_return_notifier_register$' /proc/kallsyms || returns=1

# Whoever tests is not in the way on CPU 1.
taskset -pc 0 $$ >/dev/null

# A task that works for long is never throttled: it ends itself.
echo -1 >/proc/sys/kernel/sched_rt_runtime_us

# of NAME: what was injected, by $out; told NAME: what is reported, in $line.
of()
{
	field "$1" "$out"
}

told()
{
	field "$1" "$line"
}

# mine FLAG PID: the reports about that task so far.
mine()
{
	trace_now | grep -E "chain_latency: .* pid=$2, .*flag=$1,"
}

# activation HOW MS: leaves in $out what was injected, in $line the report about it.
activation()
{
	out=$("$BIN/inject" activation "$@")
	line=$(mine ended "$(of active)" | grep "start=$(of due),")
	diag "$out" "$line"
}

# wake COMMAND...: by the line of latency_tracker_chains, on CPU 0; likewise.
wake()
{
	echo "wake $*" >"$run" || give_up "wake $* failed"
	out=$(<"$run")
	line=$(mine ended "$(of pid)" | tail -n 1)
	diag "$out" "$line"
}

# near MEASURED LEAST MS: not less than LEAST ns, and not MS longer.
near()
{
	(($1 >= $2 && $1 < $2 + $3 * 1000000 * slow))
}

# result_near TEXT (NAME LEAST MS)...: those fields of $line.
result_near()
{
	local text=$1 ok=1 said=''
	shift

	while (($#)); do
		near "$(told "$1")" "$2" "$3" || ok=0
		said+=", $1 $(ms "$(told "$1")") ms of $(ms "$2")"
		shift 3
	done
	result "$ok" "$text${said/,/:}"
}

# result_sums_up: the stages of $line are all of its time, but for those that are not known or have not begun.
result_sums_up()
{
	local sum=0 stage

	for stage in "${stages[@]}"; do
		(($(told "$stage") < 0)) || sum=$((sum + $(told "$stage")))
	done
	same "$(told delay)" "$sum" "the stages add up to the whole: $sum ns"
}

# judge THRESHOLD_NS PID CYCLES TRACE: the figures of truth_count; how many reports have times that
# cannot be, by the clock of the program; how many of them have the task run within 100 us
# of when the program says so, and the worst; how many know when it was back in user space, and the
# worst of these.
judge()
{
	awk -v threshold="$1" -v pid="$2" '
		function of(name) { return name in value ? value[name] + 0 : -1 }
		/^cycle=|chain_latency: / {
			split("", value)
			for (k = split($0, word, /[ ,]+/); k; k--)
				if (at = index(word[k], "="))
					value[substr(word[k], 1, at - 1)] = substr(word[k], at + 1)
		}
		/^cycle=/ {
			i = ++n
			due[i] = of("due"); ran[i] = of("ran"); done[i] = of("done")
			number[due[i]] = i
		}
		/chain_latency: / && of("pid") == pid && /flag=ended/ && of("irq") == -1 {
			told++
			i = number[of("start")]
			if (!i || seen[i]++) {
				invented++
				next
			}
			end[i] = of("start") + of("delay")
			run = of("start") + of("raise") + of("handling") + of("waiting")
			user = run
			if (of("returning") >= 0) {
				returned++
				user += of("returning")
			}
			if (user > ran[i] || end[i] < done[i] || user + of("working") != end[i])
				wrong++
			if (ran[i] - run > worst)
				worst = ran[i] - run
			if (ran[i] - user > back)
				back = ran[i] - user
			near += ran[i] - run < 100000
		}
		END {
			for (i = 1; i < n; i++) {
				# The end is between two looks at the clock.
				if (done[i] - due[i] >= threshold) {
					late++
					missed += !(i in seen)
				}
				if (i in seen && (end[i] > ran[i + 1] || ran[i + 1] - due[i] < threshold))
					invented++
			}
			printf "observed=%d late=%d reported=%d missed=%d invented=%d wrong=%d near=%d worst=%d returned=%d back=%d\n", n, late, told, missed, invented, wrong, near, worst, returned, back
		}' "$3" "$4"
}

# cycle THRESHOLD_US ARG...: leaves $seen, and $pid.
cycle()
{
	param chain usec_threshold "$1"
	trace_start latency_tracker/chain_latency
	"$BIN/inject" cycle "${@:2}" >"$T/cycles"
	pid=$(field cycle "$(head -n 1 "$T/cycles")")
	trace_stop "$T/trace"
	seen=$(judge $(($1 * 1000)) "$pid" "$T/cycles" "$T/trace")
	diag "$seen"
}

modprobe latency_tracker_chains || give_up "no latency_tracker_chains"
