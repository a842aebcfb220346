#!/usr/bin/python3
# SPDX-License-Identifier: GPL-2.0-only
"""What the kernel's own events say of the requests and bios of a disk, for fields.py."""
from collections import Counter

import ftrace


class Requests:
    """What the kernel says of the requests of a disk: for each stage the fields of each request.
    One that a driver has not done, as a whole, may be requeued before and behind its issue."""
    NAMES = {'device': 'dev sector nr_bytes rwbs comm pid error end requeues',
             'request': 'dev sector nr_bytes rwbs comm pid error end requeues',
             'queue': 'dev sector nr_bytes end'}

    def __init__(self, stage):
        self.stage, self.names = stage, self.NAMES[stage].split()
        self.issued, self.first, self.requeues = {}, {}, Counter()
        self.expected, self.reported, self.wrong = Counter(), Counter(), []

    def expect(self, stage, request, **more):
        if stage == self.stage:
            request = {**request, **more}
            self.expected[tuple(str(request[name]) for name in self.names)] += 1

    def add(self, line):
        if line.event == 'block_latency':
            fields = ftrace.report(line.text)
            if fields['stage'] == self.stage and fields['flag'] == 'ended':
                self.reported[tuple(fields[name] for name in self.names)] += 1
        elif line.event.startswith('block_rq_') and (request := line.block()):
            place = request['dev'], request['sector']
            request = {**request, 'nr_bytes': request['sectors'] * 512, 'comm': request['last'],
                       'pid': line.pid, 'requeues': self.requeues[place]}
            getattr(self, line.event.removeprefix('block_rq_'))(place, request)

    def insert(self, place, request):
        self.first.setdefault(place, request)

    def issue(self, place, request):
        self.issued[place] = request
        self.expect('queue', request, end='issued')

    def requeue(self, place, request):
        issued = self.issued.pop(place, None)
        if not self.requeues[place]:
            self.first[place] = issued or self.first.get(place, request)
        self.requeues[place] += 1
        if issued:
            self.expect('device', issued, error=0, end='requeued')

    def complete(self, place, request):
        issued = self.issued.pop(place, None)
        if not issued:
            return
        left = issued.get('left', issued['sectors']) - request['sectors']
        if left:
            self.issued[place] = {**issued, 'left': left}
            self.move(place, (place[0], place[1] + request['sectors']))
            return
        end = {'error': request['last'], 'end': 'completed'}
        self.expect('device', issued, **end)
        first, requeues = self.first.pop(place, None), self.requeues.pop(place, 0)
        if requeues:
            self.expect('request', {**first, 'requeues': requeues}, **end)

    def move(self, place, rest):
        """A part has been done, or nothing of it, as some drivers say first: what is left."""
        for known in self.issued, self.first, self.requeues:
            if place in known:
                known[rest] = known.pop(place)

    def merge(self, place, request):
        self.first.pop(place, None)

    def end(self):
        pass


class Bios:
    """Each bio passes block_bio_queue once, on its way into the block layer. The times of one that
    was alone at its place are those between the kernel's events."""
    NAMES = ('dev', 'sector', 'nr_bytes', 'rwbs', 'comm', 'pid')
    # Of which event to which, of the bio and then of its request.
    TIMES = {'throttled': ('start', 'block_bio_queue'),
             'getrq': ('block_bio_queue', 'block_getrq'),
             'queue': ('block_getrq', 'block_rq_issue'),
             'device': ('block_rq_issue', 'block_rq_complete')}
    # The machine may pause between the tracker's look at its clock and the kernel's event, us.
    NEAR = 20000
    # What is shorter is not compared: the machine may pause anywhere.
    LONG = 100000

    def __init__(self, _):
        self.expected, self.reported = Counter(), Counter()
        self.reports, self.events, self.wrong = [], {}, []

    def add(self, line):
        if line.event == 'block_latency':
            fields = ftrace.report(line.text)
            if fields['stage'] == 'bio' and fields['flag'] == 'ended':
                # Where there is no cache to flush the kernel takes the flag away, behind the begin.
                fields['rwbs'] = fields['rwbs'].removeprefix('F')
                self.reports.append(fields)
        elif line.event.startswith('block_') and (bio := line.block()):
            place = bio['dev'], str(bio['sector'])
            self.events.setdefault(place, {}).setdefault(line.event, []).append(line.time)
            if line.event == 'block_bio_queue':
                # Of one that was throttled, a kernel thread lets it in.
                self.expected[(*place, str(bio['sectors'] * 512), bio['rwbs'].removeprefix('F'),
                               bio['last'], str(line.pid))] += 1

    def end(self):
        for fields in self.reports:
            key = tuple(fields[name] for name in self.NAMES)
            if fields['nr_bytes'] == '0' and key not in self.expected:
                continue    # nothing to flush: it ends where it was submitted
            if int(fields['throttled']):
                held = [other for other in self.expected if other[:4] == key[:4]]
                key = held[0] if held else key
            self.reported[key] += 1
            self.compare(fields)

    def compare(self, fields):
        times = {'start': [int(fields['start']) / 1000]}
        times.update(self.events.get((fields['dev'], fields['sector']), {}))
        if any(len(events) != 1 for events in times.values()):
            return
        for name, (begin, end) in self.TIMES.items():
            if begin in times and end in times:
                right, ours = times[end][0] - times[begin][0], int(fields[name]) / 1000
                if abs(ours - right) > self.NEAR and max(ours, abs(right)) >= self.LONG:
                    self.wrong.append(f'{name}={fields[name]}, by the kernel {right:.0f} us')


STAGES = {**dict.fromkeys(Requests.NAMES, Requests), 'bio': Bios}


def compare(stage, path, counts):
    """Every request must have been reported, whole: for the stages "device" and "request" with
    sector, size, operation, task, error and requeues; for "queue", where a request grows, with
    sector and size."""
    trace = STAGES[stage](stage)
    for line in ftrace.read(path):
        trace.add(line)
    trace.end()
    expected, reported = trace.expected, trace.reported
    different = (expected - reported) + (reported - expected)
    for request in sorted(different)[:20]:
        print(f'# the kernel has {expected[request]}, reported {reported[request]}:', *request)
    for text in trace.wrong[:20]:
        print('# wrong:', text)
    counts.update(compared=sum(expected.values()), reports=sum(reported.values()),
                  wrong=sum(different.values()) + len(trace.wrong))
