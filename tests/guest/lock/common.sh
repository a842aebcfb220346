# SPDX-License-Identifier: GPL-2.0-only
# shellcheck shell=bash disable=SC2034,SC2154
#
# For the tests of latency_tracker_lock: locks of the module latency_tracker_locks.
. "$LIBDIR/lib.sh"

locks=/proc/latency_tracker_locks
if [ "$(cat /sys/kernel/realtime 2>/dev/null)" = 1 ]; then
	is_rt=yes
else
	is_rt=no
fi

# plan_locks N: as many results, with the module.
plan_locks()
{
	plan "$1"
	modprobe latency_tracker_locks
	# Is the name of a variable known here? Without CONFIG_KALLSYMS_ALL it is not.
	known=$(grep -q " [bd] hold_semaphore" /proc/kallsyms && echo yes || echo no)
}

# A program starts so many times slower here.
slow=${LAB_SLOW:-1}

# Whoever holds a lock is on CPU 1, whoever tests is not.
taskset -pc 0 $$ >/dev/null

# contend HELD MS WANTED [spin]: lt-holder takes the lock HELD; 100 ms later lt-waiter wants WANTED.
# Leaves their pids in $holder and $waiter, the turns in $out, reports about the waiter in $T/mine.
contend()
{
	trace_start latency_tracker/lock_latency
	take lt-holder "$1 $(($2 * slow)) ${4:-}" 1
	holder=$!
	wait_for 5 is_called "$holder" lt-holder || give_up "no holder"
	sleep 0.1
	take lt-waiter "$3 0"
	waiter=$!
	wait
	trace_stop "$T/trace"
	out=$(<"$locks")
	diag "$out"
	# Others wait for locks, too.
	grep "lock_latency: .* pid=$waiter, .*hold_in_$3" "$T/trace" >"$T/mine" || :
	diag "$(cut -c1-700 "$T/mine")"
	ended=$(grep flag=ended "$T/mine")
	pending=$(grep flag=pending "$T/mine" | head -n 1)
}

# take NAME WORDS [CPU]: a task of that name takes a lock so, in the background.
take()
{
	# shellcheck disable=SC2016 # the inner shell expands it
	taskset -c "${3:-0}" bash -c 'printf %s "$1" >/proc/self/comm; echo "$2" >"$3"' take "$1" "$2" "$locks" &
}

is_called()
{
	[ "$(<"/proc/$1/comm")" = "$2" ]
}

# turn PID NAME: a time of its turn.
turn()
{
	field "$2" "$(grep "pid=$1 " <<<"$out")"
}

# of_seen NAME: a count of locks.py judge.
of_seen()
{
	field "$1" "$seen"
}

# judge_crowd KIND TOLD COMMAND...: two results about a crowd that takes a lock of this kind. The
# tracker calls it TOLD. COMMAND is a script, and prints the turns.
judge_crowd()
{
	local kind=$1 told=$2 named sure before may_miss

	shift 2
	trace_kb=32768 trace_start latency_tracker/lock_latency
	before=$(param lock missed)
	python3 "$@" >"$T/turns"
	trace_stop "$T/trace"
	may_miss=$(($(count lock skipped) + $(param lock missed) - before))
	seen=$(judge locks.py judge "$T/trace" "$T/turns" "$kind" "$told")
	diag "$kind: $seen"
	truth_count lock "waits for a $kind" "observed=$(of_seen turns) late=$(of_seen waited) reported=$(of_seen told) \
missed=$(of_seen missed) invented=$(of_seen invented)" $may_miss
	result $(($(of_seen told) >= 1000 && $(of_seen missed) <= may_miss && $(of_seen missed) * 100 <= $(of_seen waited) &&
		  $(of_seen invented) == 0 && $(of_seen wrong_delay) == 0)) \
		"$kind: $(of_seen waited) waits by the clock of its user, $(of_seen missed) missed, of at most $may_miss that were\
 counted; of $(of_seen told) reports $(of_seen invented) are of none, $(of_seen wrong_delay) have another delay"
	named=$(of_seen named) sure=$(of_seen sure)
	# The kernel does not note who has a semaphore.
	[ "$kind" != semaphore ] || named=$sure
	result $(($(of_seen wrong_holder) == 0 && $(of_seen wrong_waker) == 0 && sure > 150 && named * 100 >= sure * 99 &&
		  $(of_seen woken) * 100 >= $(of_seen waited) * 90)) \
		"$kind: of $sure holders that are known for sure $(of_seen named) were named, $(of_seen wrong_holder) wrong;\
 of $(of_seen woken) wakers $(of_seen wrong_waker), $(of_seen by_the_last) of them the last holder"
}
