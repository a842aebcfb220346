# SPDX-License-Identifier: GPL-2.0-only
"""Show what a run of scripts/demo has left in a directory.

Everything comes from the trace events and from the counters in sysfs.
Usage: demo-report.py [--worst N] DIRECTORY
"""
import argparse
import io
import json
import os
import re
import sys
from collections import Counter, defaultdict
from pathlib import Path

try:
    from rich import box
    from rich.console import Console
    from rich.markup import escape
    from rich.table import Table
except ImportError:
    sys.exit("demo-report: install the package python3-rich: run scripts/setup")

TRACKERS = {
    "wakeup": "from the wake-up of a task until it runs",
    "offcpu": "from the switch away from a task until it runs again",
    "syscalls": "from the entry of a system call to its exit",
    "block": "block requests, in the queue and in the device",
    "irq": "run time of interrupt handlers, and soft interrupts from their raise to their run",
    "network": "packets, from the driver to their socket",
}

# Where the ends of a tracker's operations are reported.
EVENTS = {
    "wakeup": ["wakeup_latency"],
    "offcpu": ["offcpu_sched_switch"],
    "syscalls": ["syscall_latency"],
    "block": ["block_latency"],
    "irq": ["irq_latency", "softirq_latency"],
    "network": ["network_latency"],
}

# Calls that wait for something to do: being late is what they are for.
WAITING_CALLS = set(
    "poll ppoll select pselect6 epoll_wait epoll_pwait epoll_pwait2 futex pause "
    "nanosleep clock_nanosleep wait4 waitid rt_sigtimedwait rt_sigsuspend accept "
    "accept4 recvfrom recvmsg io_getevents io_uring_enter restart_syscall".split())

OPERATIONS = {"R": "read", "W": "write", "D": "discard", "E": "erase", "F": "flush",
              "N": "other"}
OPERATION_FLAGS = {"S": "sync", "M": "meta", "A": "ahead", "F": "FUA"}

# How each event prints; unknown fields between these are skipped.
FIELDS = {
    "wakeup_latency": "comm pid cpu delay flag start waker_comm waker_pid prev_comm "
                      "prev_pid holder_comm holder_pid holder_ran prev_stack",
    "offcpu_sched_switch": "comm pid delay flag start state stack",
    "offcpu_sched_wakeup": "waker_comm wakee_comm wakee_offcpu_delay flag start waker_stack",
    "syscall_latency": "comm pid nr compat ret delay flag start",
    "syscall_latency_stack": "comm pid nr delay flag start stack",
    "block_latency": "dev sector nr_bytes rwbs stage error comm pid delay flag start",
    "irq_latency": "irq name handler cpu ret comm pid delay flag start stack",
    "softirq_latency": "vec name stage cpu comm pid delay flag start stack",
    "network_latency": "dev l4 len end reason comm pid delay flag start",
}
NUMBERS = {"pid", "cpu", "delay", "start", "waker_pid", "prev_pid", "wakee_offcpu_delay",
           "holder_pid", "holder_ran", "nr", "compat", "sector", "nr_bytes", "error", "l4", "len"}
STACKS = {"stack", "waker_stack", "prev_stack"}

# Functions in which a call or a task waits for somebody else's data.
WAITING_FUNCTIONS = {"pipe_read", "unix_stream_read_generic", "unix_stream_data_wait",
                     "n_tty_read", "sk_wait_data"}
USER_SPACE = re.compile(r"(irqentry_)?exit_to_user_mode\w*|syscall_exit_to_user_mode\w*")

# Frames that every stack of their kind has at its ends.
INNER = re.compile(r"(__)?schedule|preempt_schedule(_common|_irq|_notrace)?|io_schedule")
OUTER = re.compile(r"do_syscall_64|entry_SYSCALL_64_after_hwframe|ret_from_fork(_asm)?|"
                   r"kthread|asm_\w+")
INTERRUPT = re.compile(r"asm_(sysvec|common_interrupt|exc_nmi)\w*")
# Frames that only say that a task waits; what it waits for is further out.
HOW = re.compile(r"\w*schedule\w*|bit_wait\w*|__wait_on_bit\w*|out_of_line_wait_on_bit\w*|"
                 r"__wait_for_common|wait_for_completion\w*|prepare_to_wait\w*|"
                 r"futex_wait_queue|do_wait_intr\w*|\w*_mutex_lock\w*|mutex_lock\w*|"
                 r"rwsem_down\w*|down_(read|write)\w*|__down\w*|folio_wait_bit\w*")


def field_pattern(name):
    value = r"-?\d+" if name in NUMBERS else r"\S+(?: \[\S+\])?(?: <- .*)?" if name in STACKS else ".*?"
    return f"{name}=(?P<{name}>{value})"


PATTERNS = {
    event: re.compile(r", (?:\w+=[^,]*, )*?".join(map(field_pattern, fields.split())) + "(?:,|$)")
    for event, fields in FIELDS.items()
}
EVENT_LINE = re.compile(r"\[\d+\] \S+ +\d+\.\d+: (\w+): (.*)")


def human(ns):
    """A duration in the unit that a person would use."""
    for unit, size in (("s", 10**9), ("ms", 10**6), ("µs", 10**3)):
        if ns >= size:
            value = ns / size
            return f"{value:.{0 if value >= 100 else 1 if value >= 10 else 2}f} {unit}"
    return f"{ns} ns"


def size(nbytes):
    if nbytes >= 1 << 20:
        return f"{nbytes / (1 << 20):.1f} MiB"
    return f"{nbytes / 1024:g} KiB" if nbytes >= 1024 else f"{nbytes} B"


def frames(stack):
    """Function names with their module, innermost first."""
    if stack == "-":
        return []
    return [re.sub(r"\+0x[0-9a-f]+/0x[0-9a-f]+", "", frame) for frame in stack.split(" <- ")]


def function(frame):
    return frame.split(" ")[0]


def reason(stack):
    """The innermost function that says what a task was waiting for."""
    names = [function(frame) for frame in stack]
    for name in names:
        if not HOW.fullmatch(name):
            return name
    return names[0] if names else "-"


class Run:
    """What a run has left."""

    def __init__(self, directory):
        self.directory = directory
        self.about = dict(line.split(" ", 1) for line in self.lines("about"))
        self.counters = defaultdict(dict)
        self.pending = {}
        for line in self.lines("counters"):
            path, value = line.split(" ")
            self.counters[path.split("/")[0]][path.split("/")[1]] = int(value)
        for line in self.lines("counters-running"):
            path, value = line.split(" ")
            if path.endswith("/pending"):
                self.pending[path.split("/")[0]] = int(value)
        self.lost = sum(int(line.split(":")[1]) for line in self.lines("buffers")
                        if re.match("(commit )?overrun|dropped", line))
        self.calls = {}
        for line in self.lines("unistd_64.h"):
            match = re.match(r"#define __NR_(\w+)\s+(\d+)", line)
            if match:
                self.calls[int(match[2])] = match[1]
        self.events = defaultdict(list)
        self.unread = 0
        self.read_trace()

    def lines(self, name):
        text = (self.directory / name).read_text(encoding="utf-8", errors="replace")
        return text.splitlines()

    def read_trace(self):
        for line in self.lines("trace"):
            match = EVENT_LINE.search(line)
            if not match or match[1] not in PATTERNS:
                continue
            fields = PATTERNS[match[1]].match(match[2])
            if not fields:
                self.unread += 1
                continue
            event = fields.groupdict()
            for name in event:
                if name in NUMBERS:
                    event[name] = int(event[name])
                elif name in STACKS:
                    event[name] = frames(event[name])
            self.events[match[1]].append(event)

    def late(self, name):
        """The events of an operation that ended, the worst first."""
        return self.worst_first(event for event in self.events[name] if event["flag"] == "ended")

    @staticmethod
    def worst_first(events):
        return sorted(events, key=lambda event: -event["delay"])

    def call(self, event):
        if event["compat"]:
            return f"32-bit call {event['nr']}"
        return self.calls.get(event["nr"], f"call {event['nr']}")

    def workload(self):
        text = "\n".join(self.lines("sysbench.log"))
        found = re.search(r"transactions: +(\d+) +\((\S+) per sec", text)
        tail = re.search(r"95th percentile: +(\S+)", text)
        if found and tail:
            yield (f"sysbench oltp_read_write: {found[1]} transactions, {found[2]}/s, "
                   f"95 % within {human(float(tail[1]) * 1e6)}")
        with open(self.directory / "fio.json", encoding="utf-8") as file:
            jobs = json.load(file)["jobs"]
        for kind in ("read", "write"):
            ios = sum(job[kind]["total_ios"] for job in jobs)
            if ios:
                mean = sum(job[kind]["total_ios"] * job[kind]["clat_ns"]["mean"]
                           for job in jobs) / ios
                yield f"fio random {kind}s: {ios}, {human(mean)} each on average"


class Report:
    """The screen."""

    def __init__(self, run, worst):
        self.run = run
        self.worst = worst
        self.console = Console(highlight=False)
        self.plain = None
        if not self.console.is_terminal:
            self.plain = io.StringIO()
            self.console = Console(highlight=False, width=118, file=self.plain)
        self.problems = []
        self.notes = []
        self.after_stack = False

    def print(self, text="", **style):
        self.console.print(text, **style)

    def table(self, *columns):
        table = Table(box=box.SIMPLE_HEAD, header_style="bold", pad_edge=False, padding=(0, 1))
        for column in columns:
            right = column.startswith(">")
            table.add_column(column.lstrip(">"), justify="right" if right else "left",
                             no_wrap=True, overflow="ellipsis")
        return table

    def section(self, tracker):
        counters = self.run.counters[tracker]
        self.print()
        self.console.rule(f"[bold cyan]{tracker}[/]: {TRACKERS[tracker]}", align="left",
                          style="cyan")
        self.print(f"{counters['late']:,} of {counters['started']:,} took "
                   f"{human(counters['threshold_ns'])} or longer.")

    def explain(self, text):
        if self.after_stack:
            self.print()
        self.after_stack = False
        self.print(f"How to read it: {text}", style="italic dim")

    def stack(self, title, stack):
        """A stack as a list, innermost first, without what all of them have."""
        self.print(f"    {title}")
        first, last = 0, len(stack)
        while first < last - 1 and INNER.fullmatch(function(stack[first])):
            first += 1
        while last > first + 1 and OUTER.fullmatch(function(stack[last - 1])):
            last -= 1
        shown = stack[first:last]
        # What was interrupted has nothing to do with it.
        interrupt = next((i for i, frame in enumerate(shown) if INTERRUPT.match(frame)), None)
        if interrupt:
            shown = shown[:interrupt + 1]
        if not shown:
            self.print("      [dim](no kernel stack)[/]")
        elif USER_SPACE.fullmatch(function(shown[0])):
            self.print("      [bold yellow]user space[/] [dim]the program's own code[/]")
            return
        for number, frame in enumerate(shown[:10]):
            name, _, module = frame.partition(" ")
            style = "bold yellow" if number == 0 else "none"
            self.print(f"      [{style}]{name}[/] [dim]{escape(module)}[/]")
        hidden = len(shown) - 10
        if hidden > 0:
            self.print(f"      [dim]and {hidden} more[/]")
        self.after_stack = True

    def spread(self, delays):
        """A tiny histogram, each bar twice as long a delay as the one before."""
        if not delays:
            return ""
        low = min(delays)
        bars = Counter((delay // max(low, 1)).bit_length() - 1 for delay in delays)
        top = max(bars.values())
        line = "".join(" ▁▂▃▄▅▆▇█"[-(-8 * bars.get(i, 0) // top)] for i in range(max(bars) + 1))
        return f"{human(low)} {line} {human(max(delays))}"

    def groups(self, events, key, waiting, heads):
        """A table of events by key; what waits by its nature comes last."""
        groups = defaultdict(list)
        for event in events:
            groups[key(event)].append(event)
        order = sorted(groups, key=lambda k: (waiting(groups[k][0]), -groups[k][0]["delay"]))
        table = self.table(*heads, ">late", ">mean", ">worst")
        for k in order[:12]:
            found = groups[k]
            mean = sum(event["delay"] for event in found) / len(found)
            table.add_row(*map(escape, map(str, k)), str(len(found)), human(mean),
                          human(found[0]["delay"]), style="dim" if waiting(found[0]) else "")
        self.console.print(table)
        rest = sum(len(groups[k]) for k in order[12:])
        if rest:
            self.print(f"[dim]and {rest} more in {len(order) - 12} rows[/]")
        # The worst of different rows tell more than the worst of all.
        return [groups[k][0] for k in order][:self.worst]

    def overview(self):
        run = self.run
        self.print()
        self.console.rule("[bold]latency-tracker: what was late[/]", align="left")
        self.print(f"Linux {run.about['kernel']}, {run.about['cpus']} emulated CPUs, "
                   f"{float(run.about['seconds']):.0f} s of work, on a disk that takes up to "
                   f"{run.about['disk_ms']} ms for a request")
        for line in run.workload():
            self.print(f"  {line}")
        table = self.table("tracker", ">threshold", ">tracked", ">in time", ">late", ">pending",
                           ">cleared", ">skipped", "delays of the late")
        for tracker in TRACKERS:
            c = run.counters[tracker]
            if not c:
                self.problems.append(f"the tracker {tracker} has left no counters")
                continue
            late = [event for name in EVENTS[tracker] for event in run.late(name)]
            pending = min(run.pending.get(tracker, 0), c["cleared"])
            cleared = c["cleared"] + c["collected"] - pending
            table.add_row(tracker, human(c["threshold_ns"]), f"{c['started']:,}",
                          f"{c['finished'] - c['late']:,}", f"[bold]{c['late']:,}[/]",
                          f"{pending:,}", f"{cleared:,}", f"{c['skipped']:,}",
                          self.spread([event["delay"] for event in late]))
            self.account(tracker, c, len(late))
        self.console.print(table)
        self.explain("pending: when the trackers were switched off; cleared: forgotten without a "
                     "verdict, such\nas a task that died; skipped: not tracked, for want of "
                     "memory. A bar is twice the delay of the one before.")

    def account(self, tracker, c, recorded):
        rest = c["started"] - c["finished"] - c["collected"] - c["cleared"] - c["pending"]
        if rest:
            self.problems.append(f"the counters of {tracker} do not add up: {rest} of "
                                 f"{c['started']} operations are unaccounted for")
        if not c["late"] or not recorded:
            self.problems.append(f"the tracker {tracker} saw no late operation: give it a lower "
                                 f"--threshold than {human(c['threshold_ns'])}, or more --seconds")
        if c["skipped"]:
            self.notes.append(f"{tracker}: {c['skipped']} operations were skipped, for want of a "
                              "free event: raise max_events")
        if c["late"] != recorded:
            self.notes.append(f"{tracker}: {c['late']} were counted as late, {recorded} left an "
                              "event in the trace")

    def wakeup(self):
        self.section("wakeup")
        late = self.run.late("wakeup_latency")
        table = self.table(">delay", "who waited", "on CPU", "who held it", ">for", "woken by")
        for event in late[:6]:
            known = event["holder_ran"] > 0
            table.add_row(human(event["delay"]), escape(f"{event['comm']} ({event['pid']})"),
                          str(event["cpu"]),
                          escape(f"{event['holder_comm']} ({event['holder_pid']})"),
                          human(event["holder_ran"]) if known else "?",
                          escape(f"{event['waker_comm']} ({event['waker_pid']})"))
        self.console.print(table)
        holders = Counter(event["holder_comm"] for event in late)
        self.print("The CPU was held by: " + escape(", ".join(
            f"{name} {count}x" for name, count in holders.most_common(6))))
        # The stack is that of the last one, so show those that were the holder, too.
        seen = set()
        for event in late:
            if (event["holder_pid"] != event["prev_pid"] or event["prev_pid"] == 0 or
                    event["prev_comm"] in seen or len(seen) == self.worst):
                continue
            seen.add(event["prev_comm"])
            self.print()
            self.stack(escape(f"{event['comm']} waited {human(event['delay'])} for "
                              f"{event['prev_comm']} ({event['prev_pid']}), which was in"),
                       event["prev_stack"])
        self.explain("a task that could run had to wait for a CPU. Held it: the task that "
                     "had it for the longest\npart of the wait; its stack is where it gave the CPU "
                     "up. swapper is the idle task: waking the CPU took that long.")

    def offcpu(self):
        self.section("offcpu")
        late = self.run.late("offcpu_sched_switch")
        wakers = {(event["wakee_comm"], event["start"]): event
                  for event in self.run.events["offcpu_sched_wakeup"]}

        def waiting(event):
            return event["state"] == "S"

        worst = self.groups(late, lambda e: (e["comm"], e["state"], reason(e["stack"])), waiting,
                            ("who was out", "state", "in"))
        for event in worst:
            self.print()
            self.stack(escape(f"{event['comm']} ({event['pid']}) was out for "
                              f"{human(event['delay'])}, blocked in"), event["stack"])
            waker = wakers.get((f"{event['comm']} ({event['pid']})", event["start"]))
            if waker:
                self.stack(escape(f"and was woken by {waker['waker_comm']} after "
                                  f"{human(waker['wakee_offcpu_delay'])}, from"),
                           waker["waker_stack"])
        self.explain("state D: blocked, on a disk or a lock, and what holds up the work; state S "
                     "(below, dim):\nasleep, most often waiting for something to do. An interrupt "
                     "wakes in the name of the task that it interrupted.")

    def syscalls(self):
        self.section("syscalls")
        late = self.run.late("syscall_latency")
        stacks = defaultdict(list)
        for event in self.run.events["syscall_latency_stack"]:
            stacks[event["pid"], event["start"]].append(event)

        def waiting(event):
            return self.run.call(event) in WAITING_CALLS or any(
                function(frame) in WAITING_FUNCTIONS
                for sample in stacks[event["pid"], event["start"]] for frame in sample["stack"])

        worst = self.groups(late, lambda e: (e["comm"], self.run.call(e)), waiting,
                            ("who called", "system call"))
        for event in worst:
            self.print()
            self.print("  " + escape(
                f"{event['comm']} ({event['pid']}): {self.run.call(event)}() = "
                f"{event['ret']} took {human(event['delay'])}"))
            taken = stacks[event["pid"], event["start"]]
            # Where it was when it became late, and where it was longest from then on.
            shown = taken[:1]
            if len(taken) > 1:
                _, i = max((b["delay"] - a["delay"], i)
                             for i, (a, b) in enumerate(zip(taken, taken[1:]), 1))
                shown.append(taken[i])
            for sample in shown:
                self.stack(f"{human(sample['delay'])} after its begin it came back from",
                           sample["stack"])
            if len(taken) > len(shown):
                self.print(f"    [dim]and {len(taken) - len(shown)} stacks more[/]")
            if not taken:
                self.print("    [dim]it was not switched out any more once it was late[/]")
        self.explain("each time a late call got the CPU back, its stack was taken: there it had "
                     "been blocked.\nCalls that wait by their nature (poll, futex, ...) come last, "
                     "dim.")

    def block(self):
        self.section("block")
        late = self.run.late("block_latency")

        def operation(event):
            # A leading F is a flush that comes first, which a pure flush has, too.
            kinds, name = event["rwbs"], ""
            if kinds[:1] == "F" and kinds[1:2] in OPERATIONS:
                kinds, name = kinds[1:], "" if kinds[1] == "F" else "flush, "
            name += OPERATIONS.get(kinds[:1], kinds[:1])
            flags = kinds[1:]
            words = [OPERATION_FLAGS.get(flag, flag) for flag in flags]
            return " ".join([name] + ([f"({', '.join(words)})"] if words else []))

        self.groups(late, lambda e: (e["comm"], operation(e), e["stage"]), lambda e: False,
                    ("who", "operation", "stage"))
        table = self.table(">delay", "stage", "disk", ">sector", ">size", "operation", "who",
                           "result")
        for event in late[:5]:
            table.add_row(human(event["delay"]), event["stage"], event["dev"].replace(",", ":"),
                          str(event["sector"]) if event["nr_bytes"] else "-",
                          size(event["nr_bytes"]) if event["nr_bytes"] else "-", operation(event),
                          escape(f"{event['comm']} ({event['pid']})"),
                          "ok" if not event["error"] else os.strerror(-event["error"]))
        self.console.print(table)
        self.explain("stage queue: waited for the scheduler; stage device: the disk had it. Sectors "
                     "are of 512 bytes.\nWho: the task that handed it on, for a write often not the "
                     "one that wrote.")

    def irq(self):
        self.section("irq")
        runs = self.run.late("irq_latency")
        soft = self.run.late("softirq_latency")

        def what(event):
            if "handler" in event:
                return f"{event['name']}, line {event['irq']}", "run of the handler"
            return event["name"], "from raise to run" if event["stage"] == "raise" else "run"

        worst = self.groups(self.run.worst_first(runs + soft), what, lambda e: False,
                            ("interrupt", "what took long"))
        for event in worst:
            self.print()
            self.stack(escape(f"{what(event)[0]} on CPU {event['cpu']}, {what(event)[1]}: "
                              f"{human(event['delay'])}, in the name of {event['comm']} "
                              f"({event['pid']})"), event["stack"])
        self.explain("the threshold holds for both, what runs and what waits to run. The stack is "
                     "of the code that\nan interrupt has interrupted, or in which it runs at last: "
                     "for a soft interrupt often ksoftirqd's.")

    def network(self):
        self.section("network")
        late = self.run.late("network_latency")
        protocols = {"1": "ICMP", "6": "TCP", "17": "UDP"}

        def whom(event):
            return (event["dev"], protocols.get(str(event["l4"]), f"protocol {event['l4']}"),
                    f"dropped: {event['reason']}" if event["end"] == "dropped" else event["end"],
                    event["comm"])

        self.groups(late, whom, lambda e: False, ("device", "protocol", "ended in", "read by"))
        self.explain("a packet waited in the receive path or in the queue of its socket until "
                     "somebody read it:\nmost often that task had no CPU, or was busy with "
                     "something else.")

    def flush(self):
        """In a pipe, no line ends in blanks."""
        if self.plain:
            for line in self.plain.getvalue().splitlines():
                print(line.rstrip())
            sys.stdout.flush()

    def end(self):
        self.print()
        for note in self.notes:
            self.print(f"Note: {note}.", style="yellow")
        if self.run.lost:
            self.print(f"Note: the trace buffer was too small: {self.run.lost} events are "
                       "missing above.", style="yellow")
        if self.run.unread:
            self.print(f"Note: {self.run.unread} lines of the trace were not understood.",
                       style="yellow")
        lost = sum(c["skipped"] for c in self.run.counters.values()) + self.run.lost
        if not lost and not self.problems:
            self.print("All accounted for: started = in time + late + pending + cleared for each "
                       "tracker; nothing was skipped\nand no event was lost.", style="green")
        self.flush()
        for problem in self.problems:
            print(f"demo: {problem}", file=sys.stderr)
        return 1 if self.problems else 0


def main():
    parser = argparse.ArgumentParser(description="Show what scripts/demo has caught.")
    parser.add_argument("--worst", type=int, default=2, help="stacks of so many (2)")
    parser.add_argument("directory", type=Path)
    args = parser.parse_args()
    try:
        run = Run(args.directory)
        report = Report(run, args.worst)
        report.overview()
        for tracker in TRACKERS:
            if run.counters[tracker]:
                getattr(report, tracker)()
        status = report.end()
    except (OSError, ValueError, KeyError) as error:
        sys.exit(f"demo-report: {args.directory} does not hold a complete run: {error!r}")
    return status


if __name__ == "__main__":
    sys.exit(main())
