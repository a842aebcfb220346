# SPDX-License-Identifier: GPL-2.0-only
"""Places of functions and USDT probes. The judge is the program itself, which looks at its memory while it runs."""
from __future__ import annotations

import os
import subprocess
import sys
from pathlib import Path

import pytest

from latency_tracker import elf

from .conftest import Shell
from .test_state import types_are_right

TOP = Path(__file__).parents[2]
KINDS = {'static': ('-static',), 'PIE': ('-fPIE', '-pie'), 'no-PIE': ('-no-pie', '-fno-pie'),
         'exports': ('-fPIE', '-pie', '-rdynamic', '-s')}


class Program:
    """tests/guest/inject, and where its places are."""

    def __init__(self, path: Path, kind: str) -> None:
        sources = [str(file) for file in sorted((TOP / 'tests/guest/inject').glob('*.c'))]
        subprocess.run(['gcc', '-O2', '-pthread', f'-I{TOP}/user', f'-I{TOP}/include/uapi', *KINDS[kind], *sources, '-o', path], check=True)
        said = subprocess.run([path, 'probed', 'where'], check=True, stdout=subprocess.PIPE, text=True).stdout
        self.path, self.at = path, dict(pair.split('=') for pair in said.split())

    @property
    def pair(self) -> str:
        """As the module takes it."""
        return '{begin}+{begin_ref}-{end}+{end_ref}'.format(**self.at)


@pytest.fixture(name='programs', scope='module')
def fixture_programs(tmp_path_factory: pytest.TempPathFactory) -> dict[str, Program]:
    return {kind: Program(tmp_path_factory.mktemp('programs') / kind, kind) for kind in KINDS}


@pytest.fixture(name='shell')
def fixture_shell(shell: Shell) -> Shell:
    shell.machine.tracker('mark')
    return shell


def put(shell: Shell, program: Path) -> str:
    """On that machine."""
    shell.machine.put('/opt/program', program.read_bytes())
    return '/opt/program'


def probes(shell: Shell) -> str:
    return shell.machine.read('/sys/module/latency_tracker_mark/parameters/probes').strip()


@pytest.mark.parametrize('kind', KINDS)
def test_places_are_where_the_program_finds_them(shell: Shell, programs: dict[str, Program], kind: str) -> None:
    program = programs[kind]
    path = put(shell, program.path)
    assert shell('mark', path, 'probed_call', 'deep=probed_deep').status == 0
    told = shell('mark', path, '--usdt', 'probed:begin,probed:end', '--name', 'a/pair', '--json')
    assert probes(shell) == f'probed_call={path}:{program.at["call"]},deep={path}:{program.at["deep"]},a/pair={path}:{program.pair}'
    assert all(types_are_right(of) for of in told.objects)
    assert [(of['name'], of['program'], of['places']) for of in told.objects] == [
        ('probed_call', path, program.at['call']), ('deep', path, program.at['deep']), ('a/pair', path, program.pair)]


def test_of_a_name_the_last_probes_count(shell: Shell, programs: dict[str, Program]) -> None:
    at = programs['PIE'].at
    path = put(shell, programs['PIE'].path)
    shell('mark', path, 'x=probed_call', 'probed_deep')
    assert f'x: {path}, function at {at["short"]}' in shell('mark', path, 'x=probed_short').out
    assert probes(shell) == f'probed_deep={path}:{at["deep"]},x={path}:{at["short"]}'
    assert shell('mark', '--remove', 'probed_deep').status == 0
    assert probes(shell) == f'x={path}:{at["short"]}'
    assert shell('mark', '--list').out == f'x: {path}, function at {at["short"]}\n'
    assert 'probed_deep has no probes (there are: x)' in shell('mark', '--remove', 'probed_deep').err
    shell('mark', '--remove', 'x')
    assert probes(shell) == '' and shell('mark', '--list').out == ''


def test_a_relative_path_is_made_a_full_one(shell: Shell, programs: dict[str, Program], monkeypatch: pytest.MonkeyPatch) -> None:
    program = programs['static'].path
    monkeypatch.chdir(program.parent)
    shell.machine.put(str(program), program.read_bytes())
    shell('mark', program.name, 'probed_call')
    assert probes(shell) == f'probed_call={program}:{programs["static"].at["call"]}'


def test_places_move_with_the_base(programs: dict[str, Program], tmp_path: Path) -> None:
    moved = tmp_path / 'moved'
    subprocess.run(['objcopy', '--change-section-address', '.stapsdt.base-4', programs['PIE'].path, moved],
                   check=True, stderr=subprocess.DEVNULL)
    at = programs['PIE'].at
    with elf.Program(str(moved), 'moved') as program:
        assert program.usdt('probed:begin') == [elf.Place(int(at['begin'], 16) - 4, int(at['begin_ref'], 16) - 4)]


SEVERAL = r'''
#define PROBE(name) __asm__ volatile("990: nop\n" ".pushsection .note.stapsdt, \"\", \"note\"\n" ".balign 4\n" \
    ".4byte 992f - 991f, 994f - 993f, 3\n" "991: .asciz \"stapsdt\"\n" "992: .balign 4\n" "993: .8byte 990b, 0, 0\n" \
    ".asciz \"p\", \"" name "\", \"8@%%rax\"\n" "994: .balign 4\n" ".popsection\n")
static int twice(int n) { return n + 1; }
int other(int);
int main(int argc, char **argv)
{
    PROBE("begin");
    if (argc > 1)
        PROBE("end");
    PROBE("end");
    return twice(other(argc)) + (argv ? 0 : 1);
}
'''
OTHER = 'static __attribute__((noinline)) int twice(int n) { return n + 2; } int other(int n) { return twice(n); }'


def test_probes_that_are_there_several_times(shell: Shell, tmp_path: Path) -> None:
    (tmp_path / 'a.c').write_text(SEVERAL)
    (tmp_path / 'b.c').write_text(OTHER)
    subprocess.run(['gcc', '-O0', tmp_path / 'a.c', tmp_path / 'b.c', '-o', tmp_path / 'several'], check=True)
    path = put(shell, tmp_path / 'several')
    assert shell('mark', path, '--usdt', 'p:begin,p:end', '--name', 'x').status == 0
    first, second = probes(shell).split(',')
    offsets = [int(text, 16) for text in (*first.rpartition(':')[2].split('-'), second.rpartition(':-')[2])]
    assert first.startswith(f'x={path}:') and second.startswith(f'x={path}:-')
    data = Path(tmp_path / 'several').read_bytes()
    assert len(set(offsets)) == 3 and all(data[offset] == 0x90 or os.uname().machine != 'x86_64' for offset in offsets)
    assert 'has 2 functions twice' in shell('mark', path, 'twice').err


@pytest.mark.parametrize('words, complaint', [
    (('nosuch',), 'has no function nosuch: nm /opt/program'),
    (('printf',), 'has no function printf'),
    (('a b=probed_call',), '"a b" is no name of a mark'),
    (('x' * 48 + '=probed_call',), 'is no name of a mark'),
    (('--usdt', 'probed:begin', '--name', 'x'), 'is no pair of probes'),
    (('--usdt', 'probed:begin,probed:nosuch', '--name', 'x'), 'has no USDT probe probed:nosuch; it has: probed:begin probed:end'),
    (('--usdt', 'probed:begin,probed:end'), 'has a --name'),
    (('probed_call', '--usdt', 'probed:begin,probed:end', '--name', 'x'), 'no functions'),
    (('--name', 'x'), 'give functions'),
    ((), 'give functions'),
    (('--list',), 'one of PROGRAM'),
])
def test_what_cannot_be_says_why(shell: Shell, programs: dict[str, Program], words: tuple[str, ...], complaint: str) -> None:
    told = shell('mark', put(shell, programs['PIE'].path), *words)
    assert told.status == 1 and complaint in told.err and not probes(shell)


def test_files_that_are_no_programs(shell: Shell, programs: dict[str, Program], monkeypatch: pytest.MonkeyPatch) -> None:
    shell.machine.put('/opt/script', '#!/bin/sh\n')
    assert 'is no program' in shell('mark', '/opt/script', 'main').err
    assert 'No such file' in shell('mark', '/opt/nosuch', 'main').err
    shell.machine.put('/opt/a,b', programs['PIE'].path.read_bytes())
    assert 'make a link' in shell('mark', '/opt/a,b', 'probed_call').err
    shell.machine.put('/opt/stripped', programs['exports'].path.read_bytes())
    assert 'were stripped' in shell('mark', '/opt/stripped', 'offset_of').err
    monkeypatch.setitem(sys.modules, 'elftools.elf.elffile', None)  # type: ignore[misc]
    assert 'apt-get install python3-pyelftools' in shell('mark', '/opt/stripped', 'x').err


def test_without_the_tracker(shell: Shell) -> None:
    shell.machine.run(['modprobe', '-r', 'latency_tracker_mark'])
    assert 'latency-tracker start mark' in shell('mark', '--list').err
