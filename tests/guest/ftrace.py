# SPDX-License-Identifier: GPL-2.0-only
"""The events of a trace of ftrace, and what the lines of the kernel's own ones say."""
import os
import re

# No name is longer: a pattern that tries the whole line first takes three times as long.
NAME = '.{0,16}'
LINE = re.compile(rf'^ *(?P<task>{NAME})-(?P<pid>\d+) +(?:\( *(?P<tgid>[\d-]+)\) +)?\[(?P<cpu>\d+)\] +'
                  r'(?P<flags>\S+) +(?P<sec>\d+)\.(?P<usec>\d{6}): (?P<event>\w+): (?P<text>.*)$')
FIELD = re.compile(r'(?:^|[ ,])(\w+)=([^,\s]*)')
SWITCH = re.compile(rf'prev_comm=(?P<prev_comm>{NAME}) prev_pid=(?P<prev>\d+) '
                    r'prev_prio=(?P<prev_prio>-?\d+) prev_state=(?P<state>\S+) ==> '
                    rf'next_comm=(?P<next_comm>{NAME}) next_pid=(?P<next>\d+) '
                    r'next_prio=(?P<next_prio>-?\d+)')
BLOCK = re.compile(r'^(?P<dev>\d+,\d+) (?P<rwbs>\S+) (?:(?:\d+ )?\(.*?\) )?'
                   r'(?P<sector>\d+) \+ (?P<sectors>\d+)(?:.* \[(?P<last>.*)\])?$')
# sys_enter of exit and exit_group.
FINAL = re.compile('NR (93|94) ' if (os.environ.get('LAB_MACHINE') or os.uname().machine) == 'aarch64' else 'NR (60|231) ')
# Of ours: fields are parted by commas, and "x_comm=NAME (PID)" are two.
PARTED = re.compile(r', (?=\w+=)')
TASK = re.compile(r'^(.*) \((\d+)\)$')


class Line:
    """One event of a trace; times in microseconds."""
    # The functions of the stack that the kernel has recorded with it.
    stack = []

    def __init__(self, match):
        _, pid, self.tgid, cpu, flags, sec, usec, self.event, self.text = match.groups()
        self.pid, self.cpu = int(pid), int(cpu)
        self.time = int(sec + usec)
        # Whether it came from an interrupt: h, s, or a dot for a task, see the head of a trace.
        self.context = flags[2:3]

    def fields(self):
        """Of an event of the kernel: they have no spaces, but for names."""
        return dict(FIELD.findall(self.text))

    def switch(self):
        """Of sched_switch, where names may have spaces."""
        fields = SWITCH.search(self.text).groupdict()
        fields['prev'], fields['next'] = int(fields['prev']), int(fields['next'])
        return fields

    def woken(self):
        """The pid of sched_wakeup and its like, behind a name that may have spaces."""
        return int(self.text.rpartition(' pid=')[2].partition(' ')[0])

    def block(self):
        """Of an event of a request; None if it is none."""
        match = BLOCK.search(self.text)
        return match and {**match.groupdict(), 'sector': int(match['sector']),
                          'sectors': int(match['sectors'])}


def report(text):
    """The fields of an event of ours, by the names that they have in its format."""
    fields = {}
    for name, value in (part.split('=', 1) for part in PARTED.split(text)):
        task = TASK.match(value) if name.endswith('_comm') else None
        if task:
            fields[name], fields[name.replace('_comm', '_pid')] = task.groups()
        else:
            fields['delay' if name == 'wakee_offcpu_delay' else name] = value
    return fields


def read(path):
    """The events of a trace, one after the other; one's stack is known behind it."""
    last, owner = {}, None
    with open(path, encoding='utf-8', errors='replace') as trace:
        for text in trace:
            match = LINE.match(text)
            if match:
                line = Line(match)
                last[line.cpu] = line
                yield line
            elif '<stack trace>' in text:
                owner = last.get(int(re.search(r'\[(\d+)\]', text)[1]))
            elif text.startswith(' => ') and owner:
                owner.stack = [*owner.stack, text.split()[1].split('+')[0]]
