# SPDX-License-Identifier: GPL-2.0-only
"""Numbers, times, and what a terminal may get."""
from __future__ import annotations

import fcntl
import io
import os
import pty
import random
import struct
import termios

import pytest

from latency_tracker import Error, pretty
from latency_tracker.output import Output, cut, printable, width
from latency_tracker.units import NEVER_NS, exact, human, parse_time


@pytest.mark.parametrize('text, ns', [
    ('50ms', 50_000_000), ('1.5s', 1_500_000_000), ('0', 0), ('0ms', 0), ('7ns', 7), ('3us', 3000),
    ('3µs', 3000), ('2m', 120 * 10**9), ('1h', 3600 * 10**9), ('never', NEVER_NS), ('0.25us', 250)])
def test_a_time(text: str, ns: int) -> None:
    assert parse_time(text) == ns


@pytest.mark.parametrize('text', ['', '50', '5 0ms', 'ms', '-1ms', '1.0000000001s', '0.5ns', '1e3ms',
                                  '99999999999999999999h', '1ms ', '１ms', '1.ms'])
def test_no_time(text: str) -> None:
    with pytest.raises(Error):
        parse_time(text)


def test_an_exact_time_reads_back() -> None:
    chance = random.Random(1)
    for _ in range(500):
        ns = chance.randrange(1, 10**chance.randrange(1, 19))
        assert parse_time(exact(ns)) == ns
    assert parse_time(exact(NEVER_NS)) == NEVER_NS


@pytest.mark.parametrize('ns, text', [(0, '0 ns'), (999, '999 ns'), (1000, '1.00 µs'), (12_345_678, '12.3 ms'),
                                      (236_000_000, '236 ms'), (35.6e9, '35.6 s'), (NEVER_NS, 'never'),
                                      (5400 * 10**9, '1.5 h'), (10**15 * 3, '833 h')])
def test_for_people(ns: float, text: str) -> None:
    assert human(ns) == text


def test_what_moves_the_cursor_is_written_out() -> None:
    assert printable('a\x1b[2Jb\n\x9b\u202e\udc80') == 'a\\x1b[2Jb\\x0a\\x9b\\u202e\\udc80'
    assert printable('naïve 漢') == 'naïve 漢'


def test_wide_characters_count_twice() -> None:
    assert width('漢字a') == 5 and width('e\u0301') == 1
    assert cut('漢字漢字', 5) == '漢字…' and width(cut('漢字漢字', 4)) <= 4 and cut('abc', 3) == 'abc'


def test_columns_stand_below_each_other() -> None:
    stream = io.StringIO()
    Output(stream=stream).table(['name', '>count'], [['漢', '1'], ['long name', '1,000']])
    assert stream.getvalue().splitlines() == [
        'name       count', '漢             1', 'long name  1,000']


def on_a_terminal(columns: int, monkeypatch: pytest.MonkeyPatch, **env: str) -> list[str]:
    """What a table and a line look like there."""
    for name in ('COLUMNS', 'NO_COLOR'):
        monkeypatch.delenv(name, raising=False)
    monkeypatch.setenv('TERM', 'xterm')
    # Without python3-rich; with it, see test_terminal.py.
    monkeypatch.setattr(pretty, 'is_there', lambda: False)
    for name, value in env.items():
        monkeypatch.setenv(name, value)
    reader, terminal = pty.openpty()
    fcntl.ioctl(terminal, termios.TIOCSWINSZ, struct.pack('HHHH', 24, columns, 0, 0))
    with open(terminal, 'w', encoding='utf-8') as stream:
        out = Output(stream=stream)
        out.table(['tracker', 'what', '>late'], [['syscalls', 'x' * 60, '7'], ['block', 'y', '1,000']], ['', 'dim'])
        out.line('z' * 200, indent=10)
        found = b''
        while found.count(b'\n') < 4:
            found += os.read(reader, 8192)
    os.close(reader)
    return found.decode().splitlines()


def test_a_terminal_is_not_too_narrow(monkeypatch: pytest.MonkeyPatch) -> None:
    for columns in (40, 60, 200):
        lines = on_a_terminal(columns, monkeypatch, NO_COLOR='1')
        assert [len(line) <= columns for line in lines] == [True] * 4 and lines[1].endswith('     7')
        assert ('…' in lines[1]) == (columns < 80) and '\x1b' not in ''.join(lines)
    assert max(map(len, on_a_terminal(0, monkeypatch, NO_COLOR='1'))) == 80
    assert max(map(len, on_a_terminal(200, monkeypatch, NO_COLOR='1', COLUMNS='50'))) == 50


def test_colours_are_for_terminals(monkeypatch: pytest.MonkeyPatch) -> None:
    lines = on_a_terminal(100, monkeypatch)
    assert lines[0].startswith('\x1b[1m') and lines[2].startswith('\x1b[2m') and not lines[1].startswith('\x1b')
    assert '\x1b' not in ''.join(on_a_terminal(100, monkeypatch, TERM='dumb'))


def test_a_stream_that_knows_no_micro() -> None:
    raw = io.BytesIO()
    out = Output(stream=io.TextIOWrapper(raw, encoding='ascii', write_through=True))
    out.line('3.00 µs of 漢')
    assert raw.getvalue() == b'3.00 us of ?\n'
