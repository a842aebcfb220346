#!/usr/bin/python3
# SPDX-License-Identifier: GPL-2.0-only
"""Show what a run of scripts/bench has left in its files.

Usage: bench-report.py oltp FILE [--split FILE] [--json FILE] [--svg FILE]
       bench-report.py pair FILE WINDOWS [--json FILE]
       bench-report.py profile BEFORE AFTER
"""
import argparse
import bisect
import json
import os
import statistics
from collections import defaultdict
from xml.sax.saxutils import escape

# Of each configuration: what it is, and its group in the picture.
NAMES = {
    "nothing": ("nothing", ""),
    "wakeup": ("wakeup", "one tracker"),
    "offcpu": ("offcpu", "one tracker"),
    "syscalls": ("syscalls", "one tracker"),
    "block": ("block", "one tracker"),
    "irq": ("irq", "one tracker"),
    "network": ("network", "one tracker"),
    "lock": ("lock", "one tracker"),
    "six": ("all six", "several trackers"),
    "six-unprofiled": ("all six, without profiles", "several trackers"),
    "six-grouped": ("all six, with groups", "several trackers"),
    "critical-path": ("critical_path alone", "several trackers"),
    "six-critical-path": ("all six, with critical_path", "several trackers"),
    "six-paths": ("all six, with the paths of what is late", "several trackers"),
    "stacks": ("wakeup + syscalls, with stacks", "several trackers"),
    "sampling": ("syscalls, calls late: stacks sampled", "several trackers"),
    "all": ("all six, with all their events", "several trackers"),
    "lttng-sched": ("LTTng: sched_*", "LTTng"),
    "lttng-syscalls": ("LTTng: system calls", "LTTng"),
    "lttng-all": ("LTTng: all events", "LTTng"),
    "bpftrace-wakeup": ("bpftrace: wake-up to run", "BPF"),
    "bpftrace-syscalls": ("bpftrace: system calls", "BPF"),
    "bpftrace-offcpu": ("bpftrace: off the CPU", "BPF"),
    "bcc-runqslower": ("BCC: runqslower", "BPF"),
    "bcc-offcputime": ("BCC: offcputime", "BPF"),
    "bcc-syscount": ("BCC: syscount -L", "BPF"),
}
COLOURS = {"one tracker": "#1b7837", "several trackers": "#5aae61", "LTTng": "#b35806",
           "BPF": "#542788"}
# 97.5 % points of Student's distribution, by degrees of freedom.
STUDENT = [12.71, 4.30, 3.18, 2.78, 2.57, 2.45, 2.36, 2.31, 2.26, 2.23, 2.20, 2.18, 2.16, 2.14,
           2.13, 2.12, 2.11, 2.10, 2.09, 2.09]


def columns(rows):
    """Print rows, aligned: the first column to the left, the others to the right."""
    widths = [max(len(row[i]) for row in rows) for i in range(len(rows[0]))]
    for row in rows:
        print("  ".join(text.rjust(width) if i else text.ljust(width)
                        for i, (text, width) in enumerate(zip(row, widths))).rstrip())


def write_json(path, value):
    if path:
        with open(path, "w", encoding="utf-8") as out:
            json.dump(value, out, indent=1)
            out.write("\n")


# --- oltp ----------------------------------------------------------------------------

def read_oltp(path):
    """Of the lines of oltp-guest: the runs, in order, and the rest by its first word."""
    runs, other = [], defaultdict(list)
    with open(path, encoding="utf-8", errors="replace") as lines:
        for line in lines:
            word, *rest = line.split()
            if word == "run":
                runs.append((int(rest[0]), rest[1], float(rest[2]), int(rest[3])))
            else:
                other[word].append(rest)
    return runs, other


def interval(values):
    """Half the width of the 95 % confidence interval of their mean."""
    if len(values) < 2:
        return None
    student = STUDENT[min(len(values) - 2, len(STUDENT) - 1)]
    return student * statistics.stdev(values) / len(values) ** .5


def read_split(path, runs):
    """Instructions of each run in the kernel and in user space, as the plugin has counted
    them; none without the plugin."""
    if not path or not os.path.exists(path):
        return []
    with open(path, encoding="utf-8") as lines:
        split = [tuple(map(int, line.split())) for line in lines]
    if len(split) != len(runs):
        print(f"{path}: {len(split)} windows, but there were {len(runs)} runs: not used\n")
        return []
    return split


def base_of(runs, values, at):
    """What nothing took at that time, mean of values in the last such run before and the next
    one behind."""
    plain = [i for i, run in enumerate(runs) if run[1] == "nothing"]
    near = [i for i in plain if i < at][-1:] + [i for i in plain if i >= at][:1]
    return statistics.mean(values[i] for i in near)


def spread(values):
    return round((max(values) - min(values)) / statistics.mean(values) * 100, 3)


def mean_and_error(overheads, plain):
    """Of overheads in percent; what everything is compared with has none."""
    error = interval(overheads)
    return (0 if plain else round(statistics.mean(overheads), 3),
            None if error is None else round(error, 3))


def evaluate(runs, split):
    """For each configuration its figures; those of the kernel are in percent of all that is
    executed with nothing."""
    result = {}
    seconds = [run[2] for run in runs]
    kernel = [insns for insns, _ in split]
    total = [sum(insns) for insns in split]
    for name in dict.fromkeys(run[1] for run in runs):
        own = [at for at, run in enumerate(runs) if run[1] == name]
        r = result[name] = {
            "seconds": round(statistics.mean(seconds[at] for at in own), 5),
            "spread": spread([seconds[at] for at in own]),
            "runs": len(own),
            "switches": round(statistics.mean(runs[at][3] for at in own)),
        }
        r["overhead"], r["error"] = mean_and_error(
            [(seconds[at] / base_of(runs, seconds, at) - 1) * 100 for at in own],
            name == "nothing")
        if split:
            r["kernel"], r["kernel_error"] = mean_and_error(
                [(kernel[at] - base_of(runs, kernel, at)) / base_of(runs, total, at) * 100
                 for at in own], name == "nothing")
    return result


def show_oltp(result, other):
    rows = [("with", "seconds", "runs", "spread", "overhead", "+-", "kernel", "+-", "switches")]

    def overhead(r, value, error):
        if r.get(value) is None or r is result.get("nothing"):
            return "", ""
        return f"{r[value]:+.2f} %", "" if r[error] is None else f"{r[error]:.2f}"

    for name in NAMES:
        if name not in result:
            continue
        r = result[name]
        rows.append((NAMES[name][0], f"{r['seconds']:.4f}", str(r["runs"]),
                     f"{r['spread']:.2f} %" if r["runs"] > 1 else "",
                     *overhead(r, "overhead", "error"), *overhead(r, "kernel", "kernel_error"),
                     str(r["switches"])))
    columns(rows)
    print("\nspread: from the fastest to the slowest run; overhead: against the runs with nothing\n"
          "before and behind; kernel: the part of it that the kernel executes; +-: half of the\n"
          "95 % confidence interval, in percentage points")
    if other["footprint"]:
        print()
        rows = [("footprint", "events", "bytes", "per event", "module")]
        for tracker, events, size, module in other["footprint"]:
            rows.append((tracker, events, size, f"{int(size) / int(events):.0f}", module))
        columns(rows)
    late = defaultdict(list)
    for name, tracker, count, started, skipped in other["late"]:
        late[name, tracker].append((int(count), int(started), int(skipped)))
    if late:
        print()
        rows = [("per run", "operations", "late", "skipped")]
        for (name, tracker), counts in late.items():
            rows.append((f"{name}: {tracker}",
                         *(str(round(statistics.mean(c[i] for c in counts))) for i in (1, 0, 2))))
        columns(rows)
    for word in ("failed", "lost"):
        for text in sorted({" ".join(rest) for rest in other[word]}):
            print(f"{word}: {text}")


def svg(result, about):
    names = [name for name in NAMES if name in result and name != "nothing"]
    left, width, high, bottom, top = 270, 480, 22, 46, 62
    most = max([result[name]["overhead"] + (result[name]["error"] or 0) for name in names] + [1])
    any_error = any(result[name]["error"] for name in names)
    step = next(s for s in (.5, 1, 2, 5, 10, 20, 50, 100) if most / s <= 10)

    def x(value):
        return left + width * max(value, 0) / most

    height = top + high * len(names) + bottom
    out = [f'<svg xmlns="http://www.w3.org/2000/svg" width="{left + width + 90}" height="{height}" '
           'font-family="sans-serif" font-size="13">',
           '<rect width="100%" height="100%" fill="white"/>',
           '<text x="10" y="22" font-size="16">What it costs: sysbench oltp_read_write on '
           f'MariaDB, Linux {escape(about.get("kernel", "?"))}</text>',
           '<text x="10" y="42" fill="#555">more instructions than with nothing, in percent'
           f'{"; lines: 95 % confidence intervals" if any_error else ""}</text>']
    value = 0
    while value <= most:
        out.append(f'<line x1="{x(value):.1f}" y1="{top}" x2="{x(value):.1f}" '
                   f'y2="{height - bottom}" stroke="#ddd"/><text x="{x(value):.1f}" '
                   f'y="{height - bottom + 16}" text-anchor="middle" fill="#555">{value:g}</text>')
        value += step
    for i, name in enumerate(names):
        label, group = NAMES[name]
        r, y = result[name], top + high * i
        error = r["error"] or 0
        out.append(f'<text x="{left - 8}" y="{y + 15}" text-anchor="end">{escape(label)}</text>'
                   f'<rect x="{left}" y="{y + 3}" width="{x(r["overhead"]) - left:.1f}" '
                   f'height="{high - 6}" fill="{COLOURS[group]}"/>'
                   f'<line x1="{x(r["overhead"] - error):.1f}" y1="{y + high / 2}" '
                   f'x2="{x(r["overhead"] + error):.1f}" y2="{y + high / 2}" stroke="black"/>'
                   f'<text x="{x(r["overhead"] + error) + 6:.1f}" y="{y + 15}">'
                   f'{r["overhead"]:.2f}</text>')
    place = 10
    for group, colour in COLOURS.items():
        out.append(f'<rect x="{place}" y="{height - 18}" width="12" height="12" fill="{colour}"/>'
                   f'<text x="{place + 17}" y="{height - 8}">{escape(group)}</text>')
        place += 150
    return "\n".join(out) + "\n</svg>\n"


def oltp(args):
    runs, other = read_oltp(args.file)
    split = read_split(args.split, runs)
    result = evaluate(runs, split)
    about = {rest[0]: " ".join(rest[1:]) for rest in other["about"]}
    show_oltp(result, other)
    write_json(args.json, {"about": about, "results": result,
                           "runs": [list(run) for run in runs],
                           "split": [list(insns) for insns in split],
                           "footprint": other["footprint"]})
    if args.svg:
        with open(args.svg, "w", encoding="utf-8") as out:
            out.write(svg(result, about))


# --- pair ----------------------------------------------------------------------------

COUNTS = ("locked", "unlocked", "lines")


def read_windows(path):
    """Per group of marks: what the plugin counted, mean and least, by name."""
    groups = defaultdict(list)
    if os.path.exists(path):
        with open(path, encoding="utf-8") as lines:
            for line in lines:
                group, *counts = map(int, line.split())
                groups[group].append(counts)
    return [{name: (statistics.mean(counts), min(counts))
             for name, counts in zip(COUNTS, zip(*windows))} for windows in groups.values()]


def pair(args):
    """Line after line of the file is group after group of the windows, behind an empty one."""
    groups, results, about, empty_bpf = read_windows(args.windows), {}, {}, None
    with open(args.file, encoding="utf-8") as lines:
        for line in lines:
            word, *rest = line.split()
            if word == "about":
                about[rest[0]] = " ".join(rest[1:])
            if word != "pair":
                continue
            name, insns = " ".join(rest[:-1]), float(rest[-1])
            result = {"instructions": insns}
            n = len(results) + 1 if empty_bpf is None else len(results) + 2
            group = groups[n] if n < len(groups) else None
            if name == "BPF: empty program":
                empty_bpf = group or {}
                continue
            if group:
                # A run of a BPF program has a system call around it, and maybe a tick.
                less, which = (empty_bpf, 1) if name.startswith("BPF") else (groups[0], 0)
                for count in COUNTS:
                    result[count] = round(group[count][which] - less[count][which], 2)
            results[name] = result
    rows = [("per pair", "instructions", "atomic", "without lock", "lines written")]
    for name, r in results.items():
        rows.append((name, f"{r['instructions']:.1f}",
                     *(f"{r[c]:.1f}" if c in r else "-" for c in ("locked", "unlocked", "lines"))))
    print(f"Linux {about.get('kernel', '?')}")
    columns(rows)
    write_json(args.json, {"about": about, "results": results})


# --- profile -------------------------------------------------------------------------

USER = "(user space)"


def read_symbols(path):
    """Addresses in order, and what is there."""
    symbols = []
    with open(path, encoding="utf-8", errors="replace") as lines:
        for line in lines:
            addr, kind, name, *module = line.split()
            if kind in "tTwW":
                symbols.append((int(addr, 16), name, module[0] if module else ""))
    symbols.sort(key=lambda symbol: symbol[0])
    return [symbol[0] for symbol in symbols], symbols


def read_profile(path):
    """Instructions per function of the kernel and its module."""
    addrs, symbols = read_symbols(f"{path}.symbols")
    result = defaultdict(int)
    with open(f"{path}.blocks", encoding="utf-8") as lines:
        for line in lines:
            addr, insns, times = line.split()
            at = bisect.bisect_right(addrs, int(addr, 16)) - 1
            where = symbols[at][1:] if at >= 0 else (USER, "")
            result[where] += int(insns) * int(times)
    return result


def profile(args):
    """User space is where the noise is; what hardly runs without a tracker is its for sure."""
    before, after = read_profile(args.before), read_profile(args.after)
    total = sum(before.values())
    change = {where: after[where] - before[where] for where in {*before, *after}}
    user = change.pop((USER, ""), 0)
    own = {where: more for where, more in change.items() if before[where] * 10 < after[where]}

    def share(more):
        return f"{more:+,}", f"{more / total * 100:+.3f} %"

    columns([("instructions with nothing", f"{total:,}", ""),
             ("more in the kernel", *share(sum(change.values()))),
             ("  in functions that run ten times as much", *share(sum(own.values()))),
             ("more in user space", *share(user))])
    print()
    rows = [("function", "with nothing", "more", "percent")]
    for where in sorted(change, key=lambda where: -abs(change[where]))[:25]:
        more, percent = share(change[where])
        rows.append((" ".join(where).strip(), f"{before[where]:,}", more, percent[:-2]))
    columns(rows)


def idle(args):
    """What the trackers counted in a guest that had nothing to do, and the reports of that."""
    rows, reports = [("tracker", "", "seconds", "operations", "crossings")], []
    with open(args.file, encoding="utf-8") as file:
        for line in file:
            word, _, text = line.rstrip().partition(" ")
            if word in ("idle", "busy"):
                tracker, crossed, started, seconds = text.split()
                rows.append((tracker, word, seconds, started, crossed))
            elif word == "report":
                reports.append(text)
    columns(rows)
    for text in reports:
        print(text)


def main():
    parser = argparse.ArgumentParser(description=__doc__,
                                     formatter_class=argparse.RawDescriptionHelpFormatter)
    commands = parser.add_subparsers(required=True)
    command = commands.add_parser("oltp")
    command.set_defaults(run=oltp)
    command.add_argument("file")
    command.add_argument("--split")
    command.add_argument("--svg")
    command.add_argument("--json")
    command = commands.add_parser("pair")
    command.set_defaults(run=pair)
    command.add_argument("file")
    command.add_argument("windows")
    command.add_argument("--json")
    command = commands.add_parser("profile")
    command.set_defaults(run=profile)
    command.add_argument("before")
    command.add_argument("after")
    command = commands.add_parser("idle")
    command.set_defaults(run=idle)
    command.add_argument("file")
    args = parser.parse_args()
    args.run(args)


if __name__ == "__main__":
    main()
