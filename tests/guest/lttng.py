#!/usr/bin/python3
# SPDX-License-Identifier: GPL-2.0-only
"""What LTTng shows of the trackers' events, against what ftrace shows of the same.

Usage: lttng.py fields METADATA EVENTS      of all events: names, order, types of the fields
       lttng.py values TRACE LTTNG SYMBOLS  of all records: the values

METADATA is a trace's, as babeltrace2 -o ctf-metadata prints it; EVENTS is the directory
of the group in tracefs. TRACE is ftrace's, LTTNG is what babeltrace2 --clock-cycles
prints, and SYMBOLS is /proc/kallsyms of then. Between the marks "begin" and "end" each must have what the other has.

Says on lines with "# " what differs, and on the last line, in figures, how much.
"""
import bisect
import os
import re
import sys
from collections import Counter, defaultdict

# --- the fields ----------------------------------------------------------------------

# integer { size = 32; ... } _pid;  enum : integer { ... } { ... } _flag;
CTF_FIELD = re.compile(r'(?:enum : )?integer \{(?P<type>[^}]*)\}(?: \{(?P<names>[^}]*)\})?'
                       r' (?P<name>\w+)(?:\[ ?(?P<len>\w+) ?\])?;')
FORMAT_FIELD = re.compile(r'field:(?P<type>.*?) ?(?P<name>\w+)(?:\[(?P<len>\d+)\])?;\t'
                          r'offset:\d+;\tsize:(?P<size>\d+);\tsigned:(?P<signed>\d);')


def ctf_fields(text):
    """Of the fields of an event: name and type, as text."""
    fields = []
    for match in CTF_FIELD.finditer(text):
        name = match['name'][1:]
        size = int(re.search(r'size = (\d+)', match['type'])[1]) // 8
        signed = re.search(r'signed = (\w+)', match['type'])[1] in ('1', 'true')
        if match['len'] is None:
            fields.append((name, f'{size} bytes{" signed" * signed}'))
        elif match['len'].isdigit():
            fields.append((name, f'text of {match["len"]}'))
        else:
            # Of a sequence, the field before it is the length.
            fields[-1] = (name, f'sequence of {size} bytes')
    return fields


def ctf_events(path):
    text = open(path).read()
    # Attributes such as "encoding = UTF8" may follow a name.
    text = re.sub(r'\s+', ' ', re.sub(r'/\*.*?\*/', '', text, flags=re.S))
    events = {}
    for part in text.split('event { ')[1:]:
        name = re.search(r'name = "([^"]*)"', part)[1]
        events[name] = ctf_fields(part.partition('fields := struct {')[2])
    return events


def format_events(directory):
    events = {}
    for name in os.listdir(directory):
        path = os.path.join(directory, name, 'format')
        if not os.path.exists(path):
            continue
        fields = []
        for match in FORMAT_FIELD.finditer(open(path).read()):
            if match['name'].startswith('common_'):
                continue
            size = int(match['size'])
            if match['type'].startswith('__data_loc unsigned long[]'):
                kind = 'sequence of 8 bytes'
            elif match['len']:
                kind = f'text of {match["len"]}'
            else:
                kind = f'{size} bytes{" signed" * (match["signed"] == "1")}'
            fields.append((match['name'], kind))
        events[name] = fields
    return events


def compare_fields(metadata, directory):
    lttng, ftrace = ctf_events(metadata), format_events(directory)
    fields = differ = 0
    for name in sorted(ftrace):
        fields += len(ftrace[name])
        if lttng.get(name) != ftrace[name]:
            differ += 1
            print(f'# {name}: ftrace has {ftrace[name]}, LTTng has {lttng.get(name)}')
    print(f'events={len(ftrace)} fields={fields} differ={differ}')


# --- the values ----------------------------------------------------------------------

FTRACE_LINE = re.compile(r'^ *.*-\d+ +\[\d+\] +\S+ +(\d+)\.(\d{6}): (\w+): (.*)$')
# [000012] (+0.1) host name: { cpu_id = 0 }, { delay = 1, comm = "x", ... }
LTTNG_LINE = re.compile(r'^\[0*(\d+)\] (?:\(\S+\) )?(?:\S+ )?(\w+): \{.*?\}, \{ (.*) \}$')
LTTNG_VALUE = re.compile(r'(\w+) = (?:"((?:[^"\\]|\\.)*)"|\( "?([^"]*?)"? : container = (\d+) \)|'
                         r'\[ (.*?) ?\](?=,|$)|([-\w]+))')
# What ftrace prints by another name than the field's.
RENAMED = {'wakee_offcpu_delay': 'delay'}
# What ftrace hides, or knows by names that LTTng does not have.
SKIPPED = {'skbaddr', 'reason'}


class Symbols:
    """The kernel's, to look up what ftrace prints as symbol, symbol+offset/size [module]."""
    PRINTED = re.compile(r'^([^+\s]+)(?:\+(0x[0-9a-f]+)/0x[0-9a-f]+)?(?: \[\w+\])?$')

    def __init__(self, path):
        self.names = defaultdict(set)
        with open(path) as symbols:
            for line in symbols:
                address, _, name = line.split()[:3]
                self.names[int(address, 16)].add(name)
        self.addresses = sorted(self.names)

    def fit(self, address, printed):
        match = self.PRINTED.match(printed)
        if not match or printed == f'{address:#x}':
            return printed == f'{address:#x}'
        # Without an offset it may have one all the same.
        begin = (address - int(match[2], 16) if match[2] else
                 self.addresses[bisect.bisect_right(self.addresses, address) - 1])
        return match[1] in self.names[begin]


def ftrace_records(path):
    """Event, values and time in ns of each line, that of the marks included."""
    for line in open(path, errors='surrogateescape'):
        match = FTRACE_LINE.match(line.rstrip('\n'))
        if match:
            values = {'mark': match[4]}
            if match[3] != 'tracing_mark_write':
                values = dict(part.split('=', 1) for part in re.split(r', (?=\w+=)', match[4]))
            yield match[3], values, int(match[1]) * 10**9 + int(match[2]) * 1000


def lttng_records(path):
    for line in open(path, errors='surrogateescape'):
        match = LTTNG_LINE.match(line.rstrip('\n'))
        if not match:
            print('# not understood:', line.rstrip('\n'))
            continue
        values = {}
        for value in LTTNG_VALUE.finditer(match[3]):
            name, text, label, number, sequence, plain = value.groups()
            if number is not None:
                values[name] = (label, int(number))
            elif plain is not None:
                values[name] = int(plain, 0)
            elif sequence is not None:
                values[name] = [int(ip, 16) for ip in re.findall(r'= (0x[0-9A-Fa-f]+)', sequence)]
            else:
                values[name] = text
        yield match[2], values, int(match[1])


def expand(event, values):
    """ftrace's values by the names of the fields."""
    fields = {}
    for name, value in values.items():
        name = RENAMED.get(name, name)
        pair = re.match(r'^(.*) \((\d+)\)$', value)
        if pair and name.endswith('_comm'):
            fields[name] = pair[1]
            fields[name.replace('_comm', '_pid')] = pair[2]
        elif event == 'softirq_latency' and name == 'name':
            # The number is there, too.
            continue
        elif name == 'dev' and re.match(r'^\d+,\d+$', value):
            major, minor = value.split(',')
            fields[name] = str(int(major) << 20 | int(minor))
        else:
            fields[name] = value
    return fields


def same_value(symbols, printed, value):
    if isinstance(value, tuple):
        return printed in (value[0], str(value[1]))
    if isinstance(value, list):
        frames = [] if printed == '-' else printed.split(' <- ')
        return len(frames) == len(value) and all(map(symbols.fit, value, frames))
    if isinstance(value, str) or re.match(r'^-?\d+$', printed):
        return printed == str(value)
    if re.match(r'^0x[0-9a-f]+$', printed):
        return int(printed, 16) == value
    return symbols.fit(value, printed)


def differences(symbols, event, printed, values):
    fields = expand(event, printed)
    for name in sorted(set(fields) | {n for n in values if not n.endswith('_length')}):
        if name in SKIPPED:
            continue
        if name not in fields or name not in values:
            yield f'{name} is only in {"LTTng" if name in values else "ftrace"}'
        elif not same_value(symbols, fields[name], values[name]):
            yield f'{name}: ftrace has {fields[name]}, LTTng has {values[name]}'


def on_time(event, values, time):
    """One clock: a record is written once the operation is late, and soon."""
    wait = time - values['start'] - values['delay']
    if 0 <= wait <= 5 * 10**9:
        return True
    print(f'# {event} at {time}: {values}')
    return False


def compare_values(trace, lttng, kallsyms):
    symbols = Symbols(kallsyms)
    ours = list(ftrace_records(trace))
    marks = {values['mark']: time for _, values, time in ours if 'mark' in values}
    theirs, kinds = defaultdict(list), Counter()
    differ = missing = invented = untimely = 0
    for event, values, time in lttng_records(lttng):
        theirs[event, values['delay'], values['start']].append((values, time))
        untimely += not on_time(event, values, time)
    for event, printed, time in ours:
        if 'mark' in printed:
            continue
        fields = expand(event, printed)
        known = theirs.get((event, int(fields['delay']), int(fields['start'])))
        if known:
            kinds[event] += 1
            wrong = list(differences(symbols, event, printed, known.pop(0)[0]))
            differ += bool(wrong)
            for text in wrong:
                print(f'# {event}: {text}')
        elif marks['begin'] < time < marks['end']:
            missing += 1
            print(f'# {event} is not in LTTng: {printed}')
    for key, records in theirs.items():
        for values, time in records:
            if marks['begin'] < time < marks['end']:
                invented += 1
                print(f'# {key[0]} is only in LTTng: {values}')
    print('#', ' '.join(f'{event}={n}' for event, n in sorted(kinds.items())))
    print(f'records={sum(kinds.values())} events={len(kinds)} differ={differ} missing={missing} '
          f'invented={invented} untimely={untimely}')


if __name__ == '__main__':
    {'fields': compare_fields, 'values': compare_values}[sys.argv[1]](*sys.argv[2:])
