# SPDX-License-Identifier: GPL-2.0-only
# shellcheck shell=bash
#
# For the tests, by way of lib.sh: what was injected and observed, against what was reported.

# --- observers -----------------------------------------------------------------------

# observe_ahead KIND THRESHOLD_MS MARGIN_MS...: begins what observe is going to be asked for.
observe_ahead()
{
	local judges=()

	while (($#)); do
		judge observe.py "$1" "$T/trace" "$2" "$3" >"$T/observed-$1-$2-$3" 2>&1 &
		judges+=($!)
		shift 3
	done
	wait "${judges[@]}"
}

# observe KIND THRESHOLD_MS MARGIN_MS: compares $T/trace with the kernel's own events, see
# observe.py. Leaves the figures in $seen, and some of those on which they differ in $which; returns
# whether the observer agrees.
observe()
{
	local out told="$T/observed-$1-$2-$3"

	[ -e "$told" ] || observe_ahead "$1" "$2" "$3"
	out=$(<"$told")
	rm "$told"
	grep "^#" <<<"$out" | head -n 60
	which=$(grep -E '^# (missed|invented)' <<<"$out" | head -n 4 | cut -c2- | paste -sd ';')
	seen=$(tail -n 1 <<<"$out")
	[[ $seen == *' missed=0 invented=0' ]]
}

# observed KIND THRESHOLD_MS MARGIN_MS AT_LEAST [CASE]: one result: the observer has seen
# AT_LEAST late operations, and the tracker has reported exactly those.
observed()
{
	local agrees=0

	! observe "$1" "$2" "$3" || agrees=1
	truth_count "$(tracker_of "$1")" "${5:-$1, threshold $2 ms}" "$seen"
	result $((agrees && $(field late "$seen") >= $4)) \
		"$1 against the kernel's own events, threshold $2 ms: $seen$which"
}

# fields KIND THRESHOLD_MS AT_LEAST TEXT: one result: each field of AT_LEAST reports in $T/trace
# is what the kernel's own events have, see fields.py. Leaves the figures in $seen.
fields()
{
	local out

	out=$(judge fields.py "$1" "$T/trace" "$2" 2>&1)
	grep '^#' <<<"$out" | head -n 40
	seen=$(tail -n 1 <<<"$out")
	result $(($(field compared "$seen") >= $3 && $(field wrong "$seen") == 0 &&
		  $(field alone "$seen") * 10 <= $(field compared "$seen"))) "$4: $seen"
}

# same_stack EVENT FIELD KERNEL TEXT: one result: FIELD of the first report that matches
# EVENT in $T/trace is the stack that the kernel has recorded itself, see fields.py.
same_stack()
{
	local out

	out=$(judge fields.py stack "$T/trace" "$1" "$2" "$3" 2>&1)
	diag "$out"
	result "$([[ $out == *$'\nsame='[1-9]* ]] && echo 1 || echo 0)" "$4: ${out##*$'\n'}"
}

# --- the truth table -----------------------------------------------------------------

# scripts/check makes one table of these lines, per tracker and kernel.

# truth_delay TRACKER CASE INJECTED_NS REPORTED_NS: one delay of a known size.
truth_delay()
{
	echo "# truth: $1|$2|$3|$4||||||"
}

# truth_count TRACKER CASE FIGURES [SKIPPED]: what an independent observer saw in the same run, as
# observe.py prints it. Call it while the tracker is loaded: it tells what was skipped.
truth_count()
{
	echo "# truth: $1|$2|||$(field observed "$3")|$(field late "$3")|$(field reported "$3")|$(
		field missed "$3")|$(field invented "$3")|${4:-$(count "$1" skipped)}"
}

# The tracker that reports a KIND of observe.py.
tracker_of()
{
	case $1 in
	queue) echo block ;;
	softirq) echo irq ;;
	preempted) echo wakeup ;;
	*) echo "$1" ;;
	esac
}
