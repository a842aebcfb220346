#!/usr/bin/python3
# SPDX-License-Identifier: GPL-2.0-only
"""The independent observer: works out from the kernel's own events in a trace which
operations were late, and compares them with what a tracker reported in the same trace.

Usage: observe.py KIND TRACE THRESHOLD_MS MARGIN_MS
       observe.py running TRACE - -    counts the wake-ups of running tasks

Only operations that lie wholly between the marks "begin" and "end" count. One whose
delay is within MARGIN of the threshold may be reported or not. Prints
    observed=N late=N reported=N missed=N invented=N
where missed are late ones without a report, and invented are reports without such an
operation, and says on lines with "# " which ones.
"""
import bisect
import sys
from collections import defaultdict
from functools import partial
from itertools import product

import ftrace
from observers import CLOSE, EXACT, KINDS, Wakeup


def read(observer, path):
    """Feeds the trace to the observer; returns the window between the marks."""
    marks, last = {}, 0
    for event in ftrace.read(path):
        last = event.time
        observer.recorded.add(event)
        if event.event == 'tracing_mark_write':
            marks[event.text] = event.time
        elif event.event == observer.report:
            observer.reported(ftrace.report(event.text))
        else:
            observer.see(event)
    observer.finish(last)
    if not {'begin', 'end'} <= marks.keys():
        sys.exit('observe.py: the marks "begin" and "end" are not in the trace')
    return marks['begin'], marks['end']


def nearest(times, taken, time, tolerance):
    """The index, not taken, of the time next to this one; None if it is not close."""
    at = bisect.bisect_left(times, time)
    best = None
    for step, i in ((-1, at - 1), (1, at)):
        while 0 <= i < len(times) and abs(times[i] - time) <= tolerance:
            if i not in taken:
                if best is None or abs(times[i] - time) < abs(times[best] - time):
                    best = i
                break
            i += step
    return best


def match(operations, reports, fits, ends=(1, 0)):
    """Finds for each operation of a key a report that fits: the closest at its end or at its
    begin, in the order of ends. Both are pairs (begin, end). Returns what is left of both, and
    the pairs that were found."""
    pairs = []
    # The closest first, or one that is off takes its neighbour's: at both ends.
    for tolerance, end, far in product((30, EXACT, 3000, CLOSE), ends, (30, EXACT, None)):
        reports = sorted(reports, key=lambda report, end=end: report[end])
        times, taken, left = [report[end] for report in reports], set(), []
        for operation in operations:
            i = nearest(times, taken, operation[end], tolerance)
            if i is not None and fits(operation, reports[i]) and (
                    far is None or abs(reports[i][1 - end] - operation[1 - end]) <= far):
                taken.add(i)
                pairs.append((operation, reports[i]))
            else:
                left.append(operation)
        operations = left
        reports = [report for i, report in enumerate(reports) if i not in taken]
    return operations, reports, pairs


def is_excused(report, perhaps, pairs, fits):
    """Whether a report that is left is of what may explain one, or of an operation whose own,
    though closer, is of that. Takes such a pair out."""
    def may_be(other):
        return any((abs(begin - other[0]) <= EXACT and abs(end - other[1]) <= CLOSE) or
                   fits((begin, end), other) for begin, end in perhaps)

    if may_be(report):
        return True
    for pair in pairs:
        if fits(pair[0], report) and may_be(pair[1]):
            pairs.remove(pair)
            return True
    return False


def compare(observer, window, threshold, margin):
    """Finds for each operation its report and for each report its operation."""
    operations, short, reports = defaultdict(list), defaultdict(list), defaultdict(list)
    perhaps = defaultdict(list)
    late = missed = invented = 0

    def is_late(key, begin, end):
        return (observer.least(key, begin, end) > threshold + margin
                and begin >= window[0] and end <= window[1]
                and not observer.unsure(key, begin))

    for key, begin, end in sorted(observer.operations, key=lambda op: op[2]):
        if end - begin < threshold - margin:
            short[key].append((begin, end))
            continue
        operations[key].append((begin, end))
        if is_late(key, begin, end):
            late += 1
    for key, begin, end in observer.perhaps:
        perhaps[key].append((begin, end))
    for key, begin, end in observer.reports:
        reports[key].append((begin, end))
    for key in operations.keys() | reports.keys():
        fits = partial(observer.fits, key)
        without, left, pairs = match(operations[key], reports[key], fits, observer.ends)
        for begin, end in without:
            if is_late(key, begin, end):
                missed += 1
                print(f'# missed: {key} late by {end - begin} us at {end} us')
        # Late for the tracker, but not for us, if there was a pause in between.
        for begin, end in match(short[key], left, fits, observer.ends)[1]:
            # What began before the observer did is not known to it.
            if begin >= window[0] and not is_excused((begin, end), perhaps[key], pairs,
                                                               fits):
                invented += 1
                print(f'# invented: {key} reported {end - begin} us at {end} us')
    return (f'observed={len(observer.operations)} late={late} '
            f'reported={len(observer.reports)} missed={missed} invented={invented}')



def main():
    if len(sys.argv) == 5 and sys.argv[1] == 'running':
        observer = Wakeup()
        read(observer, sys.argv[2])
        print(observer.woken_running)
        return
    if len(sys.argv) != 5 or sys.argv[1] not in KINDS:
        sys.exit(__doc__)
    observer = KINDS[sys.argv[1]]()
    window = read(observer, sys.argv[2])
    print(compare(observer, window, float(sys.argv[3]) * 1000, float(sys.argv[4]) * 1000))


if __name__ == '__main__':
    main()
