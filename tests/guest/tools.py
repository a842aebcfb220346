#!/usr/bin/python3
# SPDX-License-Identifier: GPL-2.0-only
"""What a tool shows of the trackers' events, against what ftrace shows of the same.

Usage: tools.py fields METADATA EVENTS       LTTng, of all events: the fields' names, order, types
       tools.py values TRACE LTTNG SYMBOLS   LTTng, of all records: the values
       tools.py text TRACE TOOL [EVENT...]   trace-cmd or perf: the same words

METADATA is a trace's, as babeltrace2 -o ctf-metadata prints it; EVENTS is the directory
of the group in tracefs. TRACE is ftrace's, LTTNG is what babeltrace2 --clock-cycles
prints, SYMBOLS is /proc/kallsyms of then, and TOOL is the output of trace-cmd report or perf
script. Between the marks "begin" and "end", TRACE and LTTNG must have what the other has; TOOL
must have what TRACE has, and each EVENT.

Says on lines with "# " what differs, and on the last line, in figures, how much.
"""
import bisect
import os
import re
import sys
from collections import Counter, defaultdict

import ftrace

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
    with open(path, encoding='utf-8') as metadata:
        # Attributes such as "encoding = UTF8" may follow a name.
        text = re.sub(r'\s+', ' ', re.sub(r'/\*.*?\*/', '', metadata.read(), flags=re.S))
    return {re.search(r'name = "([^"]*)"', part)[1]:
            ctf_fields(part.partition('fields := struct {')[2])
            for part in text.split('event { ')[1:]}


def format_fields(text):
    fields = []
    for match in FORMAT_FIELD.finditer(text):
        if match['name'].startswith('common_'):
            continue
        if match['type'].startswith('__data_loc unsigned long[]'):
            kind = 'sequence of 8 bytes'
        elif match['len']:
            kind = f'text of {match["len"]}'
        else:
            kind = f'{match["size"]} bytes{" signed" * (match["signed"] == "1")}'
        fields.append((match['name'], kind))
    return fields


def compare_fields(metadata, directory):
    lttng, fields, differ = ctf_events(metadata), 0, 0
    events = sorted(entry.name for entry in os.scandir(directory) if entry.is_dir())
    for name in events:
        with open(f'{directory}/{name}/format', encoding='utf-8') as text:
            expected = format_fields(text.read())
        fields += len(expected)
        if lttng.get(name) != expected:
            differ += 1
            print(f'# {name}: ftrace has {expected}, LTTng has {lttng.get(name)}')
    print(f'events={len(events)} fields={fields} differ={differ}')


# --- the values ----------------------------------------------------------------------

# [000012] (+0.1) host name: { cpu_id = 0 }, { delay = 1, comm = "x", ... }
LTTNG_LINE = re.compile(r'^\[0*(\d+)\] (?:\(\S+\) )?(?:\S+ )?(\w+): \{.*?\}, \{ (.*) \}$')
LTTNG_VALUE = re.compile(r'(\w+) = (?:"((?:[^"\\]|\\.)*)"|\( "?([^"]*?)"? : container = (\d+) \)|'
                         r'\[ (.*?) ?\](?=,|$)|([-\w]+))')
# What ftrace hides, or knows by names that LTTng does not have.
SKIPPED = {'skbaddr', 'reason'}


class Symbols:
    """The kernel's, to look up what is printed as symbol, symbol+offset/size [module]."""
    PRINTED = re.compile(r'^([^+\s]+)(?:\+(0x[0-9a-f]+)(?:/0x[0-9a-f]+)?)?(?: \[\w+\])?$')

    def __init__(self, path):
        self.names, self.places = defaultdict(set), defaultdict(set)
        with open(path, encoding='ascii') as symbols:
            for line in symbols:
                address, _, name = line.split()[:3]
                self.names[int(address, 16)].add(name)
                self.places[name].add(int(address, 16))
        self.addresses = sorted(self.names)

    def fit(self, address, printed):
        match = self.PRINTED.match(printed)
        if not match or printed == f'{address:#x}':
            return printed == f'{address:#x}'
        # Without an offset it may have one all the same.
        begin = (address - int(match[2], 16) if match[2] else
                 self.addresses[bisect.bisect_right(self.addresses, address) - 1])
        return match[1] in self.names[begin]

    def alike(self, one, other):
        """Whether both are printed of one address, which may have several names."""
        a, b = (self.PRINTED.match(frame.strip()) for frame in (one, other))
        if not a or not b:
            return False
        places = [{place + int(frame[2] or '0', 16) for place in self.places[frame[1]]}
                  for frame in (a, b)]
        return a.groups() == b.groups() or bool(places[0] & places[1])


def lttng_records(path):
    """(event, delay, start): [(values, time)], of all lines."""
    records = defaultdict(list)
    with open(path, encoding='utf-8', errors='replace') as lines:
        for line in lines:
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
                    values[name] = [int(ip, 16)
                                    for ip in re.findall(r'= (0x[0-9A-Fa-f]+)', sequence)]
                else:
                    values[name] = text
            records[match[2], values['delay'], values['start']].append((values, int(match[1])))
    return records


def same_value(symbols, name, printed, value):
    if isinstance(value, tuple):
        return printed in (value[0], str(value[1]))
    if isinstance(value, list):
        frames = [] if printed == '-' else printed.split(' <- ')
        return len(frames) == len(value) and all(map(symbols.fit, value, frames))
    if name == 'dev' and isinstance(value, int):
        return printed == f'{value >> 20},{value & 0xfffff}'
    if isinstance(value, str) or re.match(r'^-?\d+$', printed):
        return printed == str(value)
    if re.match(r'^0x[0-9a-f]+$', printed):
        return int(printed, 16) == value
    return symbols.fit(value, printed)


def differences(symbols, event, fields, values):
    # The number of a vector is there, too.
    hidden = SKIPPED | ({'name'} if event == 'softirq_latency' else set())
    for name in sorted(set(fields) | {n for n in values if not n.endswith('_length')}):
        if name in hidden:
            continue
        if name not in fields or name not in values:
            yield f'{name} is only in {"LTTng" if name in values else "ftrace"}'
        elif not same_value(symbols, name, fields[name], values[name]):
            yield f'{name}: ftrace has {fields[name]}, LTTng has {values[name]}'


def compare_values(trace, lttng, kallsyms):
    symbols, theirs, ours, marks = Symbols(kallsyms), lttng_records(lttng), [], {}
    for line in ftrace.read(trace):
        if line.event == 'tracing_mark_write':
            marks[line.text] = line.time * 1000
        else:
            ours.append((line.event, ftrace.report(line.text), line.time * 1000))
    kinds, differ, missing, invented, untimely = Counter(), 0, 0, 0, 0
    for (event, delay, start), records in theirs.items():
        for values, time in records:
            # One clock: a record is written once the operation is late, and soon.
            if not 0 <= time - start - delay <= 5 * 10**9:
                untimely += 1
                print(f'# {event} at {time}: {values}')
    for event, fields, time in ours:
        known = theirs.get((event, int(fields['delay']), int(fields['start'])))
        if known:
            kinds[event] += 1
            wrong = list(differences(symbols, event, fields, known.pop(0)[0]))
            differ += bool(wrong)
            for text in wrong:
                print(f'# {event}: {text}')
        elif marks['begin'] < time < marks['end']:
            missing += 1
            print(f'# {event} is not in LTTng: {fields}')
    for key, records in theirs.items():
        for values, time in records:
            if marks['begin'] < time < marks['end']:
                invented += 1
                print(f'# {key[0]} is only in LTTng: {values}')
    print('#', ' '.join(f'{event}={n}' for event, n in sorted(kinds.items())))
    print(f'records={sum(kinds.values())} events={len(kinds)} differ={differ} missing={missing} '
          f'invented={invented} untimely={untimely}')


# --- the text ------------------------------------------------------------------------

TEXT_LINE = re.compile(r'\b([a-z]+_(?:latency(?:_stack)?|sched_switch|sched_wakeup)): +(.*)')
# See latency_tracker_format.h: how many frames the tools can print, and what is none.
SHOWN = 12
NOWHERE = '0xffffff'
# While it wakes its reader, perf takes no event, which might lead to another wake-up:
# perf_pending_irq(), on older kernels perf_pending_event().
BLIND = 'perf_pending_'


def text_records(path):
    """{(event, fields but for the stack): (frames, whether there are more)}, and how many lines
    the tool could not read."""
    records, unparsed = {}, 0
    with open(path, encoding='utf-8', errors='replace') as lines:
        for line in lines:
            unparsed += 'FAILED TO PARSE' in line
            match = TEXT_LINE.search(line)
            if not match or 'start=' not in match[2]:
                continue
            frames, fields = [], []
            for name, value in ftrace.report(match[2].rstrip(', ')).items():
                if name.endswith('stack'):
                    frames = value.strip().split(' <- ')
                elif name in ('handler', 'location', 'function'):
                    # The kernel says more of a symbol than the tools do.
                    value = re.sub(r'/0x[0-9a-f]+|( \[\w+\])', '', value)
                    fields.append((name, '0x0' if value == NOWHERE else value))
                elif name != 'skbaddr':
                    # That is hashed by the kernel, and in another way by the tools.
                    fields.append((name, ' '.join(value.split())))
            records[(match[1], *fields)] = ([frame for frame in frames if frame not in
                                             ('-', NOWHERE, '...', '')], frames[-1:] == ['...'])
    return records, unparsed


def compare_text(trace, tool, *events):
    symbols = Symbols('/proc/kallsyms')
    (ours, _), (theirs, unparsed) = text_records(trace), text_records(tool)
    common, differ, stacks, alone = [], 0, 0, 0
    for key, (frames, _) in ours.items():
        if key not in theirs:
            blind = any(frame.startswith(BLIND) for frame in frames)
            alone += not blind
            print('# perf was blind:' if blind else '# only the kernel:', key, frames)
            continue
        common.append(key[0])
        stacks += bool(frames)
        shown, more = theirs[key]
        if (len(shown) != min(len(frames), SHOWN) or more != (len(frames) > SHOWN) or
                not all(map(symbols.alike, frames, shown))):
            differ += 1
            print('# kernel:', key, frames, '\n# tool:  ', shown, more)
    absent = [event for event in events if event not in common]
    print('# absent:', *absent)
    print(f'events={len(common)} of={len(common) + alone} differ={differ} stacks={stacks} '
          f'absent={len(absent)} unparsed={unparsed}')


if __name__ == '__main__':
    {'fields': compare_fields, 'values': compare_values,
     'text': compare_text}[sys.argv[1]](*sys.argv[2:])
