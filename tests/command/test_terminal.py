# SPDX-License-Identifier: GPL-2.0-only
"""The command in a terminal: its width, its colours, Ctrl-C, and a window that is closed."""
from __future__ import annotations

import codecs
import fcntl
import os
import pty
import re
import select
import struct
import sys
import termios
import time

import pytest

from latency_tracker import pretty
from latency_tracker.main import main
from latency_tracker.output import width

from .fake import Fake, groups_file, record, syscall

SECONDS = 20
COLOUR = re.compile(r'\x1b\[[0-9;]*m')


class Terminal:
    """The command in one, in a process of its own."""

    def __init__(self, machine: Fake, words: list[str], columns: int = 60, environment: dict[str, str] | None = None) -> None:
        self.text, self.status = '', -1
        self.decoder = codecs.getincrementaldecoder('utf-8')()
        self.pid, self.fd = pty.fork()
        if not self.pid:
            fcntl.ioctl(0, termios.TIOCSWINSZ, struct.pack('HHHH', 24, columns, 0, 0))
            os.environ.update({'TERM': 'xterm', **(environment or {})})
            # Those of pytest are pipes.
            sys.stdout = open(1, 'w', encoding='utf-8', closefd=False)
            status = 3
            try:
                status = main(words, machine)
            finally:
                machine.put('/log', '\n'.join(machine.log))
                os._exit(status)

    def read(self, until: str | None = None) -> str:
        """All, or until something is there."""
        end = time.monotonic() + SECONDS
        while until is None or until not in self.text:
            assert time.monotonic() < end, self.text
            if not select.select([self.fd], [], [], 0.1)[0]:
                continue
            try:
                # A read may end in the middle of a character.
                self.text += self.decoder.decode(os.read(self.fd, 4096))
            except OSError:
                break
        return self.text

    def end(self) -> int:
        """The exit status."""
        _, status = os.waitpid(self.pid, 0)
        return os.waitstatus_to_exitcode(status)


@pytest.fixture(autouse=True)
def no_environment(monkeypatch: pytest.MonkeyPatch) -> None:
    """Of whoever runs the tests."""
    for name in ('NO_COLOR', 'COLUMNS'):
        monkeypatch.delenv(name, raising=False)


@pytest.fixture
def late(machine: Fake) -> Fake:
    """A call was late, whose task has a wide name."""
    machine.tracker('syscalls')
    machine.last('syscalls', record(1, 'syscall_latency', (*syscall(comm='日本語のプロセス'), ('stack', 6, [1] * 40))))
    return machine


@pytest.fixture(params=[True, False])
def rich(request: pytest.FixtureRequest, monkeypatch: pytest.MonkeyPatch) -> bool:
    """Whether python3-rich is installed."""
    if not request.param:
        monkeypatch.setattr(pretty, 'is_there', lambda: False)
    return bool(request.param)


@pytest.mark.parametrize('columns', [40, 60, 200])
@pytest.mark.parametrize('words', [['list'], ['status', '--for', '10ms'], ['hist'], ['last']])
def test_tables_and_stacks_fit(late: Fake, words: list[str], columns: int, rich: bool) -> None:
    terminal = Terminal(late, words, columns)
    framed = '╭' in terminal.read()
    # Where it is too narrow for all numbers there is no frame.
    least = {'list': 60, 'status': 200, 'hist': 60, 'last': 999}[words[0]]
    assert framed == (rich and columns >= least)
    lines = [COLOUR.sub('', line) for line in terminal.read().replace('\r', '').split('\n')]
    assert terminal.end() == 0
    # Numbers are not cut, nor are sentences, which the terminal wraps.
    cut = [line for line in lines if line.startswith((' ' * 14, '│', '╭')) or '  not loaded' in line]
    assert all(width(line) <= columns for line in cut), cut
    assert words != ['list'] or any('…' in line for line in lines) == (columns < 100)


@pytest.mark.parametrize('environment, colours', [({}, True), ({'NO_COLOR': '1'}, False), ({'TERM': 'dumb'}, False)])
def test_colours(late: Fake, environment: dict[str, str], colours: bool) -> None:
    terminal = Terminal(late, ['last'], environment=environment)
    assert bool(COLOUR.search(terminal.read())) == colours and terminal.end() == 0


def test_cells_are_text_and_nothing_else(machine: Fake) -> None:
    machine.tracker('syscalls')
    machine.put('/sys/kernel/latency_tracker/syscalls/profile/groups', groups_file({
        ('call', b'[bold]:smile:[/]\x1b[2J'): [10**7] * 9}))
    text = Terminal(machine, ['hist', '--by', 'call'], 150).read()
    assert '╭' in text and '[bold]:smile:[/]\\x1b[2J' in text and '\x1b[2J' not in text


def test_control_c_ends_watch_with_its_sum(late: Fake) -> None:
    terminal = Terminal(late, ['watch'])
    terminal.read('waiting for late operations')
    os.write(terminal.fd, b'\x03')
    terminal.read()
    assert terminal.end() == 0 and 'Traceback' not in terminal.text


def test_a_window_that_is_closed_leaves_nothing(machine: Fake) -> None:
    machine.put('/proc/modules', '')
    terminal = Terminal(machine, [])
    terminal.read('as they come')
    os.close(terminal.fd)
    assert terminal.end() in (0, 1)
    log = machine.read('/log').splitlines()
    loaded = {line.split()[1] for line in log if not line.startswith('modprobe -r')}
    assert len(loaded) == 6 and {line.split()[2] for line in log if line.startswith('modprobe -r')} == loaded
