# SPDX-License-Identifier: GPL-2.0-only
"""What report makes of a recording."""
from __future__ import annotations

import gzip
import json
from collections import Counter
from html.parser import HTMLParser
from pathlib import Path
from xml.etree import ElementTree

import pytest

from .conftest import Shell
from .fake import NOW_NS, record, syscall
from .test_reports import block, offcpu, wakeup
from .test_state import types_are_right


@pytest.fixture
def recording(shell: Shell, tmp_path: Path) -> Path:
    """Of six reports, by the command itself."""
    shell.machine.tracker('offcpu')
    shell.machine.put('/proc/kallsyms', '')
    events = (('offcpu_sched_switch', offcpu()), ('offcpu_sched_switch', offcpu()), ('wakeup_latency', wakeup()),
              ('block_latency', block()), ('syscall_latency', syscall(flag=(1, 'pending'))),
              ('syscall_latency', syscall(comm=b'a;b\n')))
    shell.machine.last('offcpu', *(record(nr + 1, *of, at_ns=NOW_NS + nr) for nr, of in enumerate(events)))
    path = tmp_path / 'recording.json'
    path.write_text(shell('last', '--json').out + '{"schema": 1, "type": "missed", "count": 3}\n')
    return path


def test_record(shell: Shell, tmp_path: Path) -> None:
    shell.machine.tracker('syscalls')
    shell.machine.put('/proc/sys/kernel/osrelease', '6.1.0-x\n')
    last = shell.machine.path('/sys/kernel/latency_tracker/syscalls/profile/last')
    shell.machine.put('/late', record(1, 'syscall_latency', syscall()) + record(9, 'syscall_latency', syscall(pid=3)))
    into = tmp_path / 'into.json.gz'
    # The command makes two reports, of nine.
    told = shell('record', '-o', str(into), '--', 'dd', f'if={shell.machine.path("/late")}', f'of={last}',
                 'conv=notrunc', 'status=none')
    assert told.status == 0 and '2 late operations in' in told.out and '7 more reports came too fast' in told.out
    objects = [json.loads(line) for line in gzip.decompress(into.read_bytes()).splitlines()]
    assert [of['type'] for of in objects] == ['recording', 'report', 'report', 'missed']
    assert objects[0]['kernel'] == '6.1.0-x' and objects[0]['command'][0] == 'dd' and types_are_right(objects[0])
    assert '2 reports, the first' in shell('report', str(into)).out
    shell.machine.put('/garbled', b'x' * 4096)
    told = shell('record', '-o', str(into), '--', 'dd', f'if={shell.machine.path("/garbled")}', f'of={last}',
                 'conv=notrunc', 'status=none')
    assert told.status == 1 and 'a layout that is not known' in told.err
    last.write_bytes(record(0, '', ()))
    for command, status, complaint in ((['false'], 1, 'ended with status 1'), (['/no/such'], 1, 'No such file')):
        told = shell('record', '-o', str(into), '--', *command)
        assert told.status == status and complaint in told.err
    assert shell('record', '-o', str(into), '--for', '300ms').status == 0


def test_text(shell: Shell, recording: Path) -> None:
    told = shell('report', str(recording), '-n', '2')
    lines = told.out.splitlines()
    assert lines[0].startswith('6 reports, the first at 2026-11-27T12:00:00')
    assert any(line.split()[:2] == ['offcpu', 'mariadbd'] and line.split()[-5] == '2' for line in lines)
    assert [line.split(' of ')[1].split(' (')[0] for line in lines if '(252) ' in line and 'returned' in line] == [
        'mariadbd', 'a;b\\x0a']
    assert not any('was blocked' in line for line in lines)
    assert told.err == 'latency-tracker: 3 reports came too fast, and are missing\n'


def test_a_compressed_one_is_the_same(shell: Shell, recording: Path) -> None:
    plain = shell('report', str(recording)).out
    packed = recording.with_suffix('.gz')
    packed.write_bytes(gzip.compress(recording.read_bytes()))
    assert shell('report', str(packed)).out == plain
    packed.write_bytes(packed.read_bytes()[:500])
    told = shell('report', str(packed))
    assert told.status == 0 and 'is cut off' in told.err and '6 reports' not in told.out


def test_folded(shell: Shell, recording: Path) -> None:
    text = recording.read_text().replace('"?", "?"', '"inner+0x4/0x9", "outer+0x1 [ext4]"')
    recording.write_text(text)
    assert shell('report', '--folded', str(recording)).out == 'mariadbd;outer [ext4];inner 470000\n'


def test_trace(shell: Shell, recording: Path) -> None:
    events = json.loads(shell('report', '--trace', str(recording)).out)['traceEvents']
    phases = [event['ph'] for event in events]
    assert sorted(phases) == ['M', 'M', 'M', 'X', 'X', 'X', 'X', 'b', 'e']
    request = {event['ph']: event for event in events if event['ph'] in 'be'}
    assert request['e']['ts'] - request['b']['ts'] == pytest.approx(43_200) and \
        request['b']['id'] == request['e']['id']
    waits = [event for event in events if event['ph'] == 'X' and event['cat'] == 'offcpu' and
             event['name'].startswith('blocked')]
    assert [(event['tid'], event['dur']) for event in waits] == [(252, 235_000), (252, 235_000)]
    assert {event['args']['name'] for event in events if event['ph'] == 'M'} == {
        'mariadbd (252)', 'jbd2/sda-8 (120)', 'a;b\n (252)'}


def test_what_is_no_report_is_counted(shell: Shell, recording: Path) -> None:
    with recording.open('a') as file:
        file.write('hello\n{"type": "report"}\n[]\n{"type": "other"}\n')
    assert '3 lines are no object' in shell('report', str(recording)).err
    assert 'cannot be read' in shell('report', '/nosuch').err


class Elements(HTMLParser):
    """What a page has, and whether each element that begins also ends."""

    def __init__(self, text: str) -> None:
        super().__init__()
        self.count: Counter[str] = Counter()
        self.open: list[str] = []
        self.attributes: set[str] = set()
        self.feed(text)

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        self.count[tag] += 1
        self.attributes |= {name for name, _ in attrs}
        if tag not in ('meta', 'td', 'th'):
            self.open.append(tag)

    def handle_endtag(self, tag: str) -> None:
        assert self.open.pop() == tag


def test_page(shell: Shell, recording: Path, tmp_path: Path) -> None:
    text = recording.read_text().replace('jbd2/sda-8', '<script>alert(1)</script>')
    recording.write_text(text)
    page = tmp_path / 'page.html'
    assert shell('report', '--html', '-o', str(page), str(recording)).out == ''
    made = page.read_text()
    found = Elements(made)
    assert not found.open and found.count['svg'] == 3 and not found.count['script']
    # Nothing is fetched, and nothing runs.
    assert not found.attributes & {'src', 'href', 'onclick', 'onload'} and 'url(' not in made and '://' not in made
    assert '&lt;script&gt;' in made and '6 reports' in made and '3 more came too fast' in made
    # Each operation is in the timeline, and each kind once among the slowest.
    timeline = made[made.index('aria-label="timeline"'):made.index('Delays over time')]
    assert timeline.count('<rect') == 6 and found.count['details'] == 5


def test_flame_graph(shell: Shell, recording: Path, tmp_path: Path) -> None:
    lines = recording.read_text().splitlines()
    lines[0] = lines[0].replace('"?", "?"', '"inner+0x4/0x9", "outer+0x1 [ext4]"')
    lines[1] = lines[1].replace('"?", "?"', '"<b>", "outer+0x1 [ext4]"')
    recording.write_text('\n'.join(lines))
    made = tmp_path / 'flame.svg'
    shell('report', '--svg', '-o', str(made), str(recording))
    boxes = {box[0].text: box[1] for box in ElementTree.parse(made).getroot().findall('{*}g')}
    width = {name.rpartition(': ')[0]: float(box.get('width', '')) for name, box in boxes.items() if name}
    assert set(width) == {'all', 'mariadbd', 'outer [ext4]', 'inner', '<b>'}
    assert width['all'] == width['outer [ext4]'] == pytest.approx(2 * width['inner'], abs=0.2)
    heights = [float(boxes[name].get('y', '')) for name in boxes if name and name.startswith(('all', 'mariadbd', 'outer'))]
    assert heights == sorted(heights, reverse=True)


def test_what_waits_for_something_to_do_is_in_nobodys_way(shell: Shell, recording: Path, tmp_path: Path) -> None:
    lines = recording.read_text().splitlines()
    idle = json.loads(lines[0])
    idle['fields'].update(state='sleeping', comm='idler', pid=7)
    idle.update(start_ns=idle['start_ns'] - 10**13, idle=True)
    before = shell('report', '--folded', str(recording)).out
    recording.write_text('\n'.join([*lines, json.dumps(idle)]))
    assert shell('report', '--folded', str(recording)).out == before
    shell('report', '--html', '-o', str(tmp_path / 'page'), str(recording))
    made = (tmp_path / 'page').read_text()
    # Neither a line of the timeline, nor hours of nothing; but it is in the table.
    assert '>idler</text>' not in made and ' h</text>' not in made and '<td>idler' in made
    recording.write_text(json.dumps(idle))
    assert 'idler;' in shell('report', '--folded', str(recording)).out
    shell('report', '--html', '-o', str(tmp_path / 'page'), str(recording))
    assert '>idler</text>' in (tmp_path / 'page').read_text()


def test_a_page_of_nothing(shell: Shell, tmp_path: Path) -> None:
    (tmp_path / 'empty').write_text('')
    told = shell('report', '--html', str(tmp_path / 'empty'))
    assert told.status == 1 and 'has no report' in told.err
