# SPDX-License-Identifier: GPL-2.0-only
# shellcheck shell=bash disable=SC2154
#
# Torture: operations are late at random, at their end or while they are pending, many at once. Meanwhile the trackers
# that tell of them, and the module that is told, come and go, their settings change, tasks are born and die.
told_by=(syscalls offcpu wakeup lock)

# any WORD...: one of them, in $any.
any()
{
	shift $((RANDOM % $#))
	any=$1
}

# until_over COMMAND...: again and again, behind what the test does, in the background.
until_over()
{
	while [ ! -e "$T/over" ]; do
		nice -n 19 "$@"
		sleep 0.05
	done >/dev/null 2>&1 &
}

# Tasks wait for each other, for disks and for locks, call exec, and die.
start_load()
{
	modprobe null_blk irqmode=2 queue_mode=2 completion_nsec=2000000 || give_up "no null_blk"
	modprobe latency_tracker_locks || give_up "no latency_tracker_locks"
	until_over "$BIN/inject" load 500 mortal sleeper waiter stopper beat
	until_over "$BIN/inject" chain "futex+pipe+flock+disk:1" 1
	until_over "$BIN/inject" chain "flock+mutex:20" 1
	until_over "$BIN/inject" die exit 3
	until_over dd if=/dev/nullb0 of=/dev/null bs=4k count=50 iflag=direct
}

stop_load()
{
	touch "$T/over"
	wait
	rm "$T/over"
	wait_for 20 rmmod null_blk 2>/dev/null
	rmmod latency_tracker_locks
}

# come MODULE: in a counted round nothing is late before it is told.
come()
{
	if [ "$1" = critical_path ]; then
		any 64 1024 65536
		insmod "$T/modules/critical_path.ko" waits="$any" tasks=$((any < 1024 ? 1024 : any)) usec_wait=$((RANDOM % 2 * 1000)) ||
			errors=$((errors + 1))
		echo 1 >"$tracing/events/latency_tracker/critical_path/enable"
	else
		# Each event is an object of its own on a debug kernel.
		insmod "$T/modules/$1.ko" usec_threshold=$((is_counted ? 60000000 : RANDOM % 3 * 500)) max_events=$((slow > 1 ? 512 : 8192)) ||
			errors=$((errors + 1))
	fi
}

# go MODULE: what a tracker has reported of tasks goes to $reports.
go()
{
	if [[ " ${told_by[*]} " == *" $1 "* ]] && ((is_counted)); then
		echo 0 >"$state/$1/tracking_on"
		# A probe that is running may still count.
		sleep 0.1
		adds_up "$1" || wrong+=" $(counters "$1")"
		reports[$1]=$((${reports[$1]:-0} + $(count "$1" late) + $(count "$1" timeouts) + $(count "$1" collected)))
		[ "$1" != wakeup ] || reports[$1]=$((${reports[$1]} - $(param wakeup doubtful)))
	fi
	rmmod "latency_tracker_$1" || errors=$((errors + 1))
}

# A setting of a tracker, or of the module, changes.
shake()
{
	case $((RANDOM % 6)) in
	0 | 1) any 0 50 1000 20000 && param "$1" usec_threshold "$any" ;;
	2) any 0 50 1000 100000 && param "$1" usec_timeout "$any" ;;
	3) echo 0 >"$state/$1/tracking_on" && echo 1 >"$state/$1/tracking_on" ;;
	4) any 0 200 1000 100000 && echo "$any" >"$counters/usec_wait" ;;
	5) any 0 1000 10000 && echo "$any" >"$counters/usec_stack" ;;
	esac || errors=$((errors + 1))
}

# told: how many reports have a path, or are counted as left out.
told()
{
	echo $(($(<"$counters/paths") + $(<"$counters/left_out")))
}

all_told()
{
	(($(told) >= $1))
}

# In the end of a counted round: each report that there was is told.
tell_round()
{
	local want=0 tracker

	for tracker in "${told_by[@]}"; do
		want=$((want + reports[$tracker]))
	done
	wait_for $((10 * slow)) all_told "$want"
	diag "round $1, $SECONDS s: $(for tracker in "${told_by[@]}"; do echo -n "$tracker ${reports[$tracker]}, "; done)told $(told)" \
		"$(grep . "$counters"/* | sed 's,.*/,,' | paste -sd ' ')"
	late=$((late + want))
	paths=$((paths + $(<"$counters/paths"))) left_out=$((left_out + $(<"$counters/left_out")))
}

# torture_round N: in each other one nothing is counted, and the module goes while all is late.
torture_round()
{
	local is_counted=$(($1 % 2)) module end order
	local -A reports=()

	mapfile -t order < <(shuf -e critical_path block irq "${told_by[@]}")
	for module in "${order[@]}"; do
		come "$module"
	done
	end=$((SECONDS + 2))
	while ((SECONDS < end)); do
		any "${told_by[@]}"
		shake "$any"
		sleep 0.02
		((RANDOM % 32 == 0)) || continue
		any "${order[@]}"
		module=$any
		if ((!is_counted)) || [ "$module" != critical_path ]; then
			go "$module"
			come "$module"
		fi
	done
	for module in "${order[@]}"; do
		((is_counted)) && [ "$module" = critical_path ] && continue
		go "$module"
	done
	((is_counted)) || return 0
	tell_round "$1"
	cat "$tracing/trace" >"$T/trace"
	go critical_path
}

# torture ROUNDS: four results. On a slow machine it is two rounds.
torture()
{
	local round module began=$SECONDS errors=0 wrong='' late=0 paths=0 left_out=0 judged

	# From memory, and without what a debugger wants: the files of the checkout are slow.
	mkdir "$T/modules"
	for module in critical_path block irq "${told_by[@]}"; do
		strip --strip-debug -o "$T/modules/$module.ko" "$(modinfo -n "latency_tracker_$module")"
	done
	modprobe latency_tracker
	trace_kb=512 trace_start
	start_load
	for ((round = 0; round < 2 || (round < $1 && SECONDS < began + 40); round++)); do
		torture_round "$round"
	done
	stop_load
	rmmod latency_tracker
	judged=$(judge critical_path/chain.py sums "$T/trace")
	rmdir "$tracing"
	result $((errors == 0)) "torture: $round rounds in $((SECONDS - began)) s, $errors errors"
	same "" "$wrong" "the counters of all trackers add up each time"
	result $((late == paths + left_out && paths > 0)) \
		"of $late reports, at their ends or pending, $paths have a path, $left_out are counted as left out"
	result $(($(field paths "$judged") > 0 && $(field wrong "$judged") == 0)) "the parts of each path add up: $judged"
}
