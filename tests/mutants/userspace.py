# SPDX-License-Identifier: GPL-2.0-only
"""Mutants of what also runs in user space: the programs of tests/host and the fuzzers are linked
with a broken file, and must fail."""
import os
import shutil
import subprocess
from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

from mutant import TOP, Mutant, Unusable, Verdict

HOST = TOP / 'tests/host'
# Seconds for a host program; a hang is a catch as well: a broken list may be a circle.
HOST_LIMIT = 30
# A fuzzer ends after so many seconds of a CPU, for which it may have to wait this many times as
# long. It notices itself if one input hangs.
WAIT_FOR_CPU = 20


def make(target: str) -> str:
    done = subprocess.run(['make', '--no-print-directory', '-s', f'-j{os.cpu_count()}', '-C',
                           HOST, target], stdout=subprocess.PIPE, text=True, check=False)
    if done.returncode:
        raise SystemExit(f'make -C {HOST} {target} has failed: correct what it reports')
    return done.stdout


def settings(target: str) -> dict[str, str]:
    """Compiler and flags, as the Makefile says, with the target built."""
    make(target)
    return dict(line.split('=', 1) for line in make('flags').splitlines())


def build(command: list[str | Path], directory: Path) -> None:
    with open(directory / 'log', 'w', encoding='utf-8') as log:
        done = subprocess.run(command, stdout=log, stderr=log, check=False)
    if done.returncode:
        raise Unusable(f'does not compile, see {directory}/log')


def run(command: list[str | Path], directory: Path, limit: int, env: dict[str, str]) -> int:
    """The exit status; 124 if it was killed."""
    with open(directory / 'log', 'w', encoding='utf-8') as log:
        try:
            return subprocess.run(command, stdout=log, stderr=log, check=False, timeout=limit,
                                  env={**os.environ, **env}).returncode
        except subprocess.TimeoutExpired:
            return 124


class Host:
    """The programs of tests/host."""

    def __init__(self) -> None:
        self.flags = settings('all')
        self.out = Path(self.flags['OUT'])
        self.room = self.out / 'mutants'

    def catch(self, mutant: Mutant) -> Verdict:
        variant, program, *test = mutant.words
        directory = self.room / mutant.short
        for room in ('rculfhash', 'core', 'wrapper', 'include/uapi', 'user', 'tests/host'):
            shutil.copytree(TOP / room, directory / room,
                            ignore=shutil.ignore_patterns('fuzz', 'bench'))
        (directory / mutant.file).write_text(mutant.text())
        sources = [directory / source for source in self.flags['TABLE'].split()]
        objects = []
        for helper in self.flags['HELPERS'].split():
            if mutant.file == f'tests/host/{helper}':
                sources.append(directory / 'tests/host' / helper)
            else:
                objects.append(self.out / variant / helper.replace('.c', '.o'))
        build([self.flags['CC'], *self.flags['CFLAGS'].split(),
               *self.flags[f'CFLAGS_{variant}'].split(), '-w',
               f'-I{directory}', '-o', directory / 'test', directory / 'tests/host' / f'{program}.c', *sources, *objects],
              directory)
        status = run([directory / 'test', *test], directory, HOST_LIMIT,
                     {'TIME': '20', 'TSAN_OPTIONS': 'halt_on_error=1 ' +
                      os.environ.get('TSAN_OPTIONS', '')})
        if status:
            return Verdict(mutant, True, f'caught by {mutant.catcher} (status {status})')
        return Verdict(mutant, False, f'{mutant.catcher} did not notice, see {directory}/log')


class Fuzz:
    """The fuzzers, which begin from nothing."""

    def __init__(self, seconds: int) -> None:
        self.flags = settings('fuzzers')
        self.out = Path(self.flags['OUT'])
        self.room = self.out / 'fuzz-mutants'
        self.seconds = seconds

    def source_of(self, name: str, directory: Path) -> Path | None:
        """A file at the top would take the headers that are beside it: it is copied. None if
        it is gone, and only its object is left."""
        for room in ('tests/host/fuzz', 'tests/host/shim', 'rculfhash', 'core'):
            if (TOP / room / name).is_file():
                return TOP / room / name
        if not (TOP / name).is_file():
            return None
        return Path(shutil.copy(TOP / name, directory / name))

    def catch(self, mutant: Mutant) -> Verdict:
        fuzzer, mode = mutant.words[0], ' '.join(mutant.words[1:])
        directory = self.room / mutant.short
        broken = directory / mutant.file
        broken.parent.mkdir(parents=True)
        (directory / 'corpus').mkdir()
        origins = {path: self.source_of(f'{path.stem}.c', directory)
                   for path in sorted((self.out / fuzzer).glob('*.o'))}
        objects = [path for path, origin in origins.items() if origin]
        # As a file at the top: what they include is inline.
        for header in TOP.glob('*.h'):
            shutil.copy(header, directory)
        broken.write_text(mutant.text())
        sources: list[Path] = [broken]
        if mutant.file.endswith('.h'):
            # All that include it.
            users = [path for path in objects
                     if f'/{mutant.file}' in path.with_suffix('.d').read_text()]
            sources = [origin for path in users if (origin := origins[path])]
            objects = [path for path in objects if path not in users]
        else:
            objects = [path for path in objects if path.stem != broken.stem]
        build([self.flags['CLANG'], *self.flags['CFLAGS'].split(),
               *self.flags[f'CFLAGS_{fuzzer}'].split(), '-w', '-fsanitize=fuzzer',
               f'-I{directory}', f'-I{TOP}',
               '-o', directory / 'fuzz', *sources, *objects], directory)
        status = run([directory / 'fuzz', '-max_len=512', '-timeout=10',
                      f'-artifact_prefix={directory}/', directory / 'corpus'],
                     directory, self.seconds * WAIT_FOR_CPU,
                     {'FUZZ_TIME': str(self.seconds), 'FUZZ_MODE': mode,
                      'ASAN_OPTIONS': 'detect_leaks=0 ' + os.environ.get('ASAN_OPTIONS', '')})
        if status == 124:
            raise Unusable(f'its fuzzer came to no end, see {directory}/log')
        if status:
            return Verdict(mutant, True, f'found by the fuzzer of the {fuzzer}')
        return Verdict(mutant, False, f'the fuzzer of the {fuzzer} did not find it in '
                       f'{self.seconds} s, see {directory}/log')


class Command:
    """The tests of tools/latency-tracker, and of Python in user/, that need no kernel."""

    def __init__(self) -> None:
        self.room = TOP / 'build/command-mutants'

    def catch(self, mutant: Mutant) -> Verdict:
        directory = self.room / mutant.short
        for room in ('tools', 'include/uapi', 'user', 'tests/command'):
            shutil.copytree(TOP / room, directory / room, ignore=shutil.ignore_patterns('__pycache__'))
        (directory / mutant.file).write_text(mutant.text())
        test = f'test_{mutant.words[0]}.py'
        status = run(['/usr/bin/python3', '-P', '-m', 'pytest', '-q', '-x', '-p', 'no:cacheprovider',
                      directory / 'tests/command' / test], directory, HOST_LIMIT,
                     {'PYTHONPATH': f'{directory}/tests:{directory}/tools'})
        # 1: a test has failed; what else there is, such as a file that cannot be read, says nothing.
        if status not in (0, 1, 124):
            raise Unusable(f'its tests do not run, see {directory}/log')
        if status:
            return Verdict(mutant, True, f'caught by {test}')
        return Verdict(mutant, False, f'{test} did not notice, see {directory}/log')


def catch(mutants: list[Mutant], seconds: int, report: Callable[[Verdict], None]) -> None:
    """Those of one kind, as many at a time as there are CPUs."""
    kind = mutants[0].kind
    catcher: Host | Fuzz | Command = \
        Host() if kind == 'host' else Command() if kind == 'command' else Fuzz(seconds)
    shutil.rmtree(catcher.room, ignore_errors=True)

    def one(mutant: Mutant) -> Verdict:
        try:
            return catcher.catch(mutant)
        except Unusable as error:
            return Verdict(mutant, False, str(error))

    with ThreadPoolExecutor(os.cpu_count()) as pool:
        for verdict in pool.map(one, mutants):
            report(verdict)
