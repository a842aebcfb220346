# SPDX-License-Identifier: GPL-2.0-only
# shellcheck shell=bash disable=SC2154
#
# The wait matrix: a task waits for another one, for a CPU, for a packet, or is stopped.

# kept SCENARIO NAMES KEEPER...: a loop on CPU 1, which KEEPER keeps from running.
kept()
{
	# shellcheck disable=SC2086 # one argument more, or none
	prepare spin 1 ${irq_ms:-}
	sleep 0.2
	"${@:3}"
	sleep 0.2
	# shellcheck disable=SC2086 # words
	explained "$1" $2
}

stopped()
{
	kill -STOP "$pid"
	sleep 1
	kill -CONT "$pid"
}

traced()
{
	python3 "$LIBDIR/waits/victim.py" trace "$pid" "$@"
}

preempted()
{
	taskset -c 1 chrt -f 10 "$BIN/inject" spin 800 >/dev/null
}

equal()
{
	taskset -c 1 "$BIN/inject" spin 3000 >/dev/null
}

# Has the victim had the CPU for most of the last 50 ms?
runs()
{
	local before now

	read -r before _ <"/proc/$pid/schedstat"
	sleep 0.05
	read -r now _ <"/proc/$pid/schedstat"
	((now - before > 25000000))
}

stands()
{
	! runs
}

# A real-time task; ordinary ones have half of each second. One of them is there all the time: while a
# program starts, many tasks have the CPU in turn; and an idle CPU keeps nobody back.
limited()
{
	taskset -c 1 "$BIN/inject" spin 60000 >/dev/null &
	until [ "$(<"/proc/$!/comm")" = lt-spin ]; do
		sleep 0.02
	done
	chrt -f -p 10 "$pid"
	sleep 2
	# Its last wait ends as one of a real-time task: it has just got the CPU again.
	wait_for 10 stands || give_up "it is not limited"
	wait_for 10 runs || give_up "it stays limited"
	chrt -o -p 0 "$pid"
	kill $!
	wait $! 2>/dev/null
}

frozen()
{
	group cpu
	echo "$pid" >"$group/cgroup.procs"
	echo 1 >"$group/cgroup.freeze"
	sleep 1
	echo 0 >"$group/cgroup.freeze"
}

throttled()
{
	group cpu
	echo "$pid" >"$group/cgroup.procs"
	echo "20000 1000000" >"$group/cpu.max"
	sleep 3
	echo max >"$group/cpu.max"
}

interrupted()
{
	echo "irq 1 1000 0" >/sys/module/latency_tracker_inject/parameters/run
}

wait_alone "nanosleep" sleep call:clock_nanosleep path:timer
wait_alone "a child that does not end" child call:wait4 waker:lt-holder path:task
wait_alone "a pipe that nobody writes to" pipe call:read waker:lt-holder path:task
wait_alone "a lock of user space" lock call:futex waker:lt-holder lock:futex held:lt-holder path:lock
prepare flock "$T/lock"
# A report of another tracker may come before the end of the wait for the lock is known.
explained "flock" call:flock waker:lt-holder lock:flock held:lt-holder path:lock path:task?
wait_alone "a supervisor of its system calls" supervised call:getppid waker:lt-holder path:task
wait_alone "a datagram that nobody reads" datagram packet:lo
kept "SIGSTOP" "state:stopped path:stopped" stopped
kept "a debugger" "state:traced path:traced" traced
kept "a debugger that looks at a system call" "call:read state:traced path:traced" traced call
kept "a real-time task takes the CPU" "state:preempted cause:cpu holder:lt-spin path:cpu" preempted
mountpoint -q /sys/kernel/debug || mount -t debugfs none /sys/kernel/debug
# Turns that are long enough. Before 5.13 it is a sysctl, and from 6.6 on a slice.
for turn in /sys/kernel/debug/sched/{base_slice_ns,min_granularity_ns} \
	    /proc/sys/kernel/sched_min_granularity_ns; do
	[ ! -e "$turn" ] || break
done
if [ "$(cat /sys/kernel/realtime 2>/dev/null)" = 1 ]; then
	skip "a turn ends here whenever a thread of the kernel has run" "an equal task"
else
	turn_ns=$(<"$turn")
	echo 400000000 >"$turn" || give_up "no long turns"
	kept "an equal task" "state:preempted cause:cpu holder:lt-spin path:cpu" equal
	echo "$turn_ns" >"$turn"
fi
server=/sys/kernel/debug/sched/fair_server/cpu1/runtime
cause=dl_server share=500000000
[ -e $server ] || { server=/proc/sys/kernel/sched_rt_runtime_us cause=rt_throttled share=500000; }
limit=$(<$server)
echo $share >$server || give_up "no limit for real-time tasks"
kept "the limit of real-time tasks" "cause:$cause state:preempted? state:throttled? path:$cause" limited
echo "$limit" >$server
wait_alone "sched_yield, to an equal task" yields call:sched_yield state:yielded cause:cpu holder:lt-holder path:cpu
kept "cgroup.freeze" "state:frozen path:frozen" frozen
no_group
kept "cpu.max" "state:throttled cause:throttled path:throttled" throttled
no_group
modprobe latency_tracker_inject || give_up "no latency_tracker_inject"
# Of whatever runs there at that moment, which may have preempted the victim. On arm64 it is called by an
# interrupt of another CPU, which is a line, too.
irq_ms=900 kept "an interrupt handler" "irq:lt_first irq:IPI? state:preempted? cause:cpu? holder:sh? holder:bash?" interrupted
rmmod latency_tracker_inject

# The wait is that from the wake-up on.
watch
out=$("$BIN/inject" wake 800)
sleep 0.1
trace_stop "$T/trace"
echo "pid=$(field victim "$out") begin=$(field wake "$out") end=$(field ran "$out")" >"$T/told"
judged "woken behind a real-time task" cause:cpu holder:lt-hog path:cpu

# What has much memory to give back takes its time.
for mb in 200 600 1000; do
	watch
	"$BIN/inject" exit $mb >"$T/told"
	sleep 0.1
	trace_stop "$T/trace"
	out=$(<"$T/told")
	(($(field end "$out") - $(field begin "$out") < 300000000)) || break
done
least_ms=100 judged "exit_group with $mb MB" call:exit_group path:running

watch
"$BIN/inject" linger 1 >"$T/told"
sleep 0.1
trace_stop "$T/trace"
# Where the kernel does not tell when a task is back in user space, the call is over before that.
close=call:close
grep -q ' user_return_notifier_register$' /proc/kallsyms || close+='?'
judged "a socket that lingers" "$close" path:timer

group memory
prepare memory
echo "$pid" >"$group/cgroup.procs"
echo 8M >"$group/memory.high"
explained "memory.high" stall:memory path:memory
no_group

modprobe sch_netem
tc qdisc add dev lo root netem delay 1000ms || give_up "no netem"
prepare received
explained "a qdisc with a delay" packet:lo qdisc:netem path:packet
tc qdisc del dev lo root
undelayed "a datagram" received
