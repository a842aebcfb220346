# SPDX-License-Identifier: GPL-2.0-only
"""Settings, loading, unloading, and what --json says."""
from __future__ import annotations

import ast
import io
import os
import re
from pathlib import Path

import pytest

from latency_tracker import Error
from latency_tracker.borrow import Borrowed
from latency_tracker.live import live
from latency_tracker.main import make_parser
from latency_tracker.modules import LOAD_AT_BOOT, OPTIONS_AT_BOOT
from latency_tracker.output import Output
from latency_tracker.schema import TYPES
from latency_tracker.settings import shown, value_of
from latency_tracker.state import KNOWN, Tracker

from .conftest import Shell
from .fake import Fake, groups_file, record, syscall

TOP = Path(__file__).parents[2]
BLOCK = '/sys/module/latency_tracker_block/parameters'


@pytest.mark.parametrize('name, text, value', [
    ('over', '50ms', '50000'), ('over', 'never', '18446744073709551'), ('over', '0', '0'),
    ('pending', 'off', '0'), ('pending', 'never', '0'), ('pending', '2s', '2000000'), ('per-minute', 'off', '0'),
    ('per-minute', '60', '60'), ('groups', 'on', 'Y'), ('profile', 'off', 'N'), ('dev', 'on', 'on'),
    ('raise-over', '1ms', '1000'), ('thresholds', 'a:1ms', 'a:1ms'), ('kthreads', '0', 'N')])
def test_what_the_module_gets(name: str, text: str, value: str) -> None:
    assert value_of(name, text) == value


@pytest.mark.parametrize('parameter, text, name, value', [
    ('usec_threshold', '50000', 'over', '50ms'), ('usec_threshold', '18446744073709551', 'over', 'never'),
    ('usec_timeout', '0', 'pending', 'off'), ('per_minute', '0', 'per-minute', 'off'),
    ('groups', 'N', 'groups', 'off'), ('dev', '8:0', 'dev', '8:0'), ('usec_threshold', '1', 'over', '1us')])
def test_what_is_shown_can_be_set(parameter: str, text: str, name: str, value: str) -> None:
    assert shown(parameter, text) == (name, value)
    assert value_of(name, value) == text


def test_set(shell: Shell) -> None:
    shell.machine.tracker('block')
    told = shell('set', 'block', 'over=50ms', 'groups=on')
    assert (told.status, told.out) == (0, 'block groups=on\nblock over=50ms\n')
    assert shell.machine.read(f'{BLOCK}/usec_threshold') == '50000\n'
    assert 'block per-minute=off' in shell('set', 'block').out.splitlines()


@pytest.mark.parametrize('words, complaint', [
    (('block', 'over=50'), 'no time'), (('block', 'over=1ns'), 'whole microseconds'),
    (('block', 'foo=1'), 'has no setting "foo"; it has: cgroup'), (('block', 'max_events=1'), 'only when it is'),
    (('over=50ms',), 'which tracker'), (('nosuch', 'over=1ms'), 'not loaded'), (('block', '=1'), 'NAME=VALUE'),
    (('block', 'over=1ms', 'over=2ms'), 'twice'), (('../x', 'over=1ms'), 'no name of a tracker')])
def test_bad_settings_change_nothing(shell: Shell, words: tuple[str, ...], complaint: str) -> None:
    shell.machine.tracker('block')
    told = shell('set', *words)
    assert told.status == 1 and complaint in told.err
    assert shell.machine.read(f'{BLOCK}/usec_threshold') == '10000\n'


def test_all_settings_or_none(shell: Shell, monkeypatch: pytest.MonkeyPatch) -> None:
    shell.machine.tracker('block')
    # To a directory nothing can be written, root or not.
    shell.machine.path(f'{BLOCK}/thresholds').unlink()
    shell.machine.path(f'{BLOCK}/thresholds').mkdir(mode=0o755)
    written = []
    plain = shell.machine.write

    def write(name: str, text: str) -> None:
        written.append((Path(name).name, text))
        plain(name, text)
    monkeypatch.setattr(shell.machine, 'write', write)
    read = shell.machine.read
    monkeypatch.setattr(shell.machine, 'read', lambda name: '' if name.endswith('thresholds') else read(name))
    told = shell('set', 'block', 'over=50ms', 'thresholds=x')
    assert told.status == 1 and 'nothing was changed' in told.err
    assert written == [('usec_threshold', '50000'), ('thresholds', 'x'), ('usec_threshold', '10000')]


def test_start_and_stop(shell: Shell) -> None:
    assert shell('start', 'block', 'syscalls', 'over=50ms', 'groups=on').status == 0
    assert shell.machine.log == ['modprobe latency_tracker_block usec_threshold=50000 groups=Y',
                                 'modprobe latency_tracker_syscalls usec_threshold=50000 groups=Y']
    assert shell('stop', 'block').out == 'block: unloaded\n'
    assert shell('stop', 'block').status == 1
    assert shell('stop').out == 'syscalls: unloaded\n'


def test_a_part_is_loaded_and_set_but_is_no_tracker(shell: Shell) -> None:
    told = shell('start', 'critical_path', 'usec_wait=500', '--json')
    assert told.status == 0 and types_are_right(told.objects[0]) and told.objects[0]['threshold_ns'] is None
    assert shell.machine.log == ['modprobe latency_tracker_critical_path usec_wait=500']
    assert 'was loaded; it tells what late operations' in shell('start', 'critical_path').out
    (of,) = [of for of in shell('list', '--json').objects if of['loaded']]
    # Its counters are parameters.
    assert (of['tracker'], of['paths'], of['unknown']) == ('critical_path', 7, 2) and 'usec_wait' not in of
    assert shell('set', 'critical_path', 'usec_stack=20000').out == 'critical_path usec_stack=20000\n'
    assert 'only when it is' in shell('set', 'critical_path', 'waits=9').err
    for words in (['watch'], ['hist'], ['status'], ['record']):
        assert 'critical_path is no tracker' in shell(*words, 'critical_path').err
    # It is not meant by "all trackers".
    assert 'no tracker is loaded' in shell('last').err and 'critical_path' not in shell('stop').out
    assert shell('stop', 'critical_path').out == 'critical_path: unloaded\n'
    assert 'is not loaded' in shell('set', 'critical_path', 'usec_stack=9').err


def test_marks_are_loaded_by_their_name_only(shell: Shell) -> None:
    told = shell('start')
    assert told.status == 0 and 'mark' not in told.out + ''.join(shell.machine.log)
    told = shell('start', 'mark', 'over=20ms', 'device_mode=0666', 'thresholds=request:5ms,/system.slice:1s', 'user-reports=10')
    assert told.status == 0 and shell.machine.log[-1] == (
        'modprobe latency_tracker_mark usec_threshold=20000 device_mode=0666 thresholds=request:5ms,/system.slice:1s user_reports=10')
    assert 'mark user_threads=9' in shell('set', 'mark', 'user_threads=9').out
    assert 'only when it is' in shell('set', 'mark', 'device_mode=0600').err
    (of,) = [of for of in shell('list', '--json').objects if of['tracker'] == 'mark']
    assert of['loaded'] and of['about'] == 'an operation of a program, which the program marks itself'
    # A program that has marks is in no list of modules.
    shell.machine.fails['latency_tracker_mark'] = 'modprobe: FATAL: Module latency_tracker_mark is in use.'
    for name, who in (('mark', 'fuser -v /dev/latency_tracker'), ('block', 'lsmod')):
        shell.machine.fails[f'latency_tracker_{name}'] = 'it is in use'
        assert f'it is in use; who uses it: {who}' in shell('stop', name).err


def test_a_start_that_fails_leaves_nothing(shell: Shell) -> None:
    shell.machine.fails['latency_tracker_syscalls'] = 'modprobe: FATAL: Module x not found in directory y'
    told = shell('start', 'block', 'syscalls')
    assert told.status == 1 and 'install the package latency-tracker-dkms' in told.err
    assert not Tracker(shell.machine, 'block').loaded


def test_boot(shell: Shell) -> None:
    shell('start', 'block', 'over=50ms', '--boot')
    shell('start', 'irq', '--boot')
    shell('set', 'block', 'thresholds=a (32-bit):1ms', '--boot')
    assert shell.machine.read(LOAD_AT_BOOT).splitlines()[1:] == ['latency_tracker_block', 'latency_tracker_irq']
    assert shell.machine.read(OPTIONS_AT_BOOT).splitlines()[1:] == [
        'options latency_tracker_block usec_threshold=50000 thresholds="a (32-bit):1ms"']
    shell('stop', 'irq', '--boot')
    shell('set', 'block', 'over=1ms', '--boot')
    assert shell.machine.read(LOAD_AT_BOOT).splitlines()[1:] == ['latency_tracker_block']
    assert 'usec_threshold=1000 ' in shell.machine.read(OPTIONS_AT_BOOT)
    shell('stop', '--boot')
    assert not shell.machine.path(LOAD_AT_BOOT).exists() and not shell.machine.path(OPTIONS_AT_BOOT).exists()


def test_a_file_of_the_user_is_not_overwritten(shell: Shell) -> None:
    shell.machine.put(OPTIONS_AT_BOOT, 'options mine\n')
    assert 'move it away' in shell('start', 'block', '--boot').err
    assert shell.machine.read(OPTIONS_AT_BOOT) == 'options mine\n'


def test_borrowed_trackers_go_with_the_last_that_uses_them(machine: Fake) -> None:
    machine.tracker('irq')
    mine = Borrowed(machine)
    trackers = [Tracker(machine, name) for name in ('block', 'irq')]
    assert [tracker.name for tracker in mine.load(trackers, {})] == ['block']
    # Another process that runs; and one that has ended, whose number was used again.
    machine.put('/run/latency-tracker/77.json', '{"start": "5", "names": ["block"], "groups": []}')
    machine.put('/proc/77/stat', '77 (x) S ' + '0 ' * 18 + '5 0')
    assert mine.give_back() == [] and trackers[0].loaded and trackers[1].loaded
    again = Borrowed(machine)
    assert not again.load(trackers, {}) and again.mine.names == ['block']
    machine.put('/proc/77/stat', '77 (x) S ' + '0 ' * 18 + '6 0')
    assert again.give_back() == [] and not trackers[0].loaded and trackers[1].loaded
    assert sorted(os.listdir(machine.path('/run/latency-tracker'))) == ['lock']


def test_what_a_killed_one_has_left_is_unloaded(machine: Fake) -> None:
    machine.tracker('block')
    machine.put('/run/latency-tracker/77.json', '{"start": "5", "names": ["block"], "groups": []}')
    machine.put('/run/latency-tracker/78.json', '{"sta')
    mine = Borrowed(machine)
    assert [tracker.name for tracker in mine.load([Tracker(machine, 'block')], {})] == ['block']
    assert machine.log == ['modprobe -r latency_tracker_block', 'modprobe latency_tracker_block']


def test_groups_are_switched_off_by_the_last_that_uses_them(machine: Fake) -> None:
    on = {}
    for name in ('block', 'irq', 'network'):
        machine.tracker(name)
        on[name] = f'/sys/kernel/latency_tracker/{name}/profile/groups_on'
    machine.put(on['irq'], '1\n')
    machine.put(on['network'], '1\n')
    # Another top works, and one was killed.
    machine.put('/run/latency-tracker/77.json', '{"start": "5", "names": [], "groups": ["irq"]}')
    machine.put('/proc/77/stat', '77 (x) S ' + '0 ' * 18 + '5 0')
    machine.put('/run/latency-tracker/78.json', '{"start": "5", "names": [], "groups": ["network", "irq"]}')
    mine = Borrowed(machine)
    mine.switch_groups_on([Tracker(machine, name) for name in ('block', 'irq')])
    assert [machine.read(on[name])[0] for name in on] == ['1', '1', '0']
    mine.give_back()
    assert [machine.read(on[name])[0] for name in on] == ['0', '1', '0']


def test_a_module_that_does_not_load_is_left_out(machine: Fake) -> None:
    machine.fails['latency_tracker_irq'] = 'Key was rejected by service'
    mine = Borrowed(machine)
    trackers = [Tracker(machine, name) for name in ('block', 'irq')]
    assert mine.load(trackers, {}) == trackers[:1] and 'Secure Boot' in mine.failed[0]
    assert mine.give_back() == [] and not trackers[0].loaded
    machine.fails['latency_tracker_block'] = 'Operation not permitted'
    with pytest.raises(Error, match='be root'):
        Borrowed(machine).load(trackers, {})


def test_live(shell: Shell) -> None:
    told = shell('--for', '10ms', '--json')
    assert told.status == 0 and {str(of['type']) for of in told.objects} == {'threshold'}
    assert [word for word in shell.machine.log if '-r' not in word] == [
        f'modprobe latency_tracker_{name} usec_threshold=18446744073709551' for name in KNOWN]
    assert not any(Tracker(shell.machine, name).loaded for name in KNOWN)


def test_a_reader_that_goes_away_leaves_nothing(machine: Fake) -> None:
    class Pipe(io.StringIO):
        """Its reader has seen enough after two lines."""

        def flush(self) -> None:
            if self.getvalue().count('\n') >= 2:
                raise BrokenPipeError
    args = make_parser().parse_args(['--for', '10ms'])
    with pytest.raises(BrokenPipeError):
        live(args, machine, Output(stream=Pipe()))
    assert machine.log and not any(Tracker(machine, name).loaded for name in KNOWN)


def types_are_right(told: dict[str, object]) -> bool:
    """Each field of the schema is there, and is what the schema says."""
    python = {'string': str, 'boolean': bool, 'integer': int, 'number': (int, float), 'array': list,
              'object': dict}
    fields = TYPES[str(told['type'])][1]
    return told['schema'] == 1 and all(
        name in told and (told[name] is None if of.endswith('?') and told[name] is None else
                          isinstance(told[name], python[of.rstrip('?')]))  # type: ignore[arg-type]
        for name, of in fields.items())


def test_json_is_what_the_schema_says(shell: Shell) -> None:
    shell.machine.tracker('syscalls')
    shell.machine.last('syscalls', record(1, 'syscall_latency', syscall()))
    shell.machine.put('/sys/kernel/latency_tracker/syscalls/profile/groups', groups_file({
        ('call', b'read'): [10**7] * 9}))
    seen = set()
    for words in (['list'], ['status', '--for', '10ms'], ['set', 'syscalls'], ['last'], ['hist'],
                  ['hist', '--by', 'call'], ['top', '--turns', '1', '--every', '10ms'],
                  ['start', 'block'], ['--for', '10ms'], ['stop', 'block']):
        told = shell(*words, '--json')
        assert told.status == 0, told.err
        for entry in told.objects:
            assert types_are_right(entry), entry
            seen.add(str(entry['type']))
    # These have tests of their own, but for what needs a kernel: guest/command.
    assert set(TYPES) - seen == {'change', 'exporting', 'finding', 'recording', 'row', 'summary', 'missed', 'still', 'burst', 'bursts', 'path',
                               'cause', 'window', 'probe'}
    assert '"const": "histogram"' in shell('schema').out


def test_without_trackers_it_says_what_to_do(shell: Shell) -> None:
    for words in ('watch', 'last', 'worst', 'hist', 'top', 'status'):
        told = shell(words)
        assert told.status == 1 and 'latency-tracker start' in told.err
    assert shell('list').out.count('not loaded') == 10


@pytest.mark.parametrize('words', [['nosuch'], ['last', '-n', '0'], ['watch', '--for', '5'], ['--window'],
                                   ['--json', 'list'], ['list', '--', 'true'], ['record', '--'], ['--over', '1ms', 'watch'],
                                   ['worst', '--window', '2h'], ['last', '--pid', '-1'], ['hist', '-n', 'x']])
def test_usage_errors_end_with_1(shell: Shell, words: list[str]) -> None:
    told = shell(*words)
    assert told.status == 1 and told.err.startswith('latency-tracker: ') and not told.out


def options() -> set[object]:
    """All of the command line, and the commands."""
    parser = make_parser()
    subs = next(action for action in parser._actions if isinstance(action.choices, dict))
    assert isinstance(subs.choices, dict)
    found: set[object] = {option for of in (parser, *subs.choices.values()) for action in of._actions
             for option in action.option_strings}
    found.update(subs.choices)
    found.discard('-h')
    return found


@pytest.mark.parametrize('file', ['tools/latency-tracker.8', 'tools/completions/latency-tracker'])
def test_man_page_and_completion_know_all_options(file: str) -> None:
    text = (TOP / file).read_text().replace('\\-', '-')
    assert [option for option in sorted(map(str, options())) if option != '--help' and
            not re.search(rf'(?<![\w-]){re.escape(option)}(?![\w-])', text)] == []


@pytest.mark.parametrize('file', sorted(path.name for path in (TOP / 'tools/latency_tracker').glob('*.py')))
def test_python_3_9_reads_it(file: str) -> None:
    text = (TOP / 'tools/latency_tracker' / file).read_text()
    ast.parse(text, feature_version=(3, 9))
    # It takes a star in a subscript for granted.
    assert not re.search(r'\w\[[^][()]*, \*', text)
