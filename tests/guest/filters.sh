# SPDX-License-Identifier: GPL-2.0-only
# shellcheck shell=bash disable=SC2154
#
# For the trackers that have the filters pid and tgid. The test sets $tracker; $kernel, an event of
# the kernel's, of which there are at least $busy; $events, those of the tracker; $injected, what
# "inject" does, which is one operation of at least $least ns; $most, how many begins that may be.

# filtered PARAMETER FIELD SUBJECT REPORTS [LOAD-PARAMETER...]: by the number FIELD of SUBJECT, a
# task of the injection, while others are busy all the time. None but it is in REPORTS.
filtered()
{
	local id pid started unmatched others foreign n again

	load "$tracker" usec_threshold=0 "${@:5}"
	trace_start "$kernel" "${events[@]/#/latency_tracker/}"
	"$BIN/inject" load 30000 ping waiter &
	hold_inject "${injected[@]}"
	id=$(field "$2" "$out") pid=$(field "$3" "$out")
	param "$tracker" "$1" "$id"
	started=$(count "$tracker" started) unmatched=$(count "$tracker" unmatched)
	mark begin
	release_inject
	sleep 0.2
	mark end
	again=$(count "$tracker" started)
	started=$((again - started)) unmatched=$(($(count "$tracker" unmatched) - unmatched))
	param "$tracker" "$1" 0
	wait_for 5 at_least "$tracker" started $((again + 100))
	again=$(($(count "$tracker" started) - again))
	kill %1
	wait
	trace_stop "$T/all"
	sed -n '/tracing_mark_write: begin$/,/tracing_mark_write: end$/p' "$T/all" >"$T/trace"
	unload "$tracker"
	others=$(grep -c ": ${kernel#*/}:" "$T/trace")
	n=$(awk -v least="$least" "/: ${events[0]}: .* pid=$pid, .*flag=ended/"'{
		sub(/.* delay=/, ""); n += $0 + 0 >= least } END { print n + 0 }' "$T/trace")
	foreign=$(grep -E ": ($4):" "$T/trace" | grep -vcE " $1=$id, | wakee_comm=\S+ \($id\), ")
	result $((n == 1 && foreign == 0)) "filter by $1: the operation of $(ms "$least") ms is\
 reported $n time, what other tasks do $foreign times"
	result $((others >= busy && started <= most && unmatched * 10 <= others && again >= 100)) \
		"of $others events, the tracker took $started for begins and $unmatched for other ends;\
 without the filter, $again for begins"
}
