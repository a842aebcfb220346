# SPDX-License-Identifier: GPL-2.0-only
"""Mutants of what runs in a guest: modules are built with a mistake in them, and a guest test must
fail with each; they share a guest until one breaks it."""
import fcntl
import filecmp
import hashlib
import os
import queue
import re
import shutil
import subprocess
import threading
import time
from collections.abc import Callable, Iterator
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass, field
from pathlib import Path

from lab import kernel as kernels
from lab.guest import GuestTest, copy_options, find_tests
from lab.output import Console
from lab.setup import Lab
from lab.shell import Failed, Shell
from mutant import TOP, Mutant, Unusable, Verdict

HERE = Path(__file__).resolve().parent
GOOD = 'good'
# How vm-run ends when QEMU has failed, and not the guest; so often that may happen to a test.
EMULATOR, TRIES = 122, 3
# What a test may take beyond its own limit, which ends it.
GRACE = 90


def say(text: str) -> None:
    print(f'# {text}', flush=True)


class Builder:
    """Modules with mistakes, out of copies of the tree of the good ones."""

    def __init__(self, kernel: str, work: Path) -> None:
        self.kernel = kernel
        self.good = TOP / 'build' / kernel
        self.work = work
        self.copies: queue.Queue[Path] = queue.Queue()

    def copy(self) -> None:
        """As many copies of the tree of the good modules as there are CPUs."""
        for number in range(os.cpu_count() or 1):
            copy = self.work / f'tree{number}'
            copy.mkdir(parents=True, exist_ok=True)
            # Not while a script renews them.
            subprocess.run(['flock', '-s', self.good / '.lock', 'rsync', '-a', '--delete',
                            '--exclude=/.modules', '--exclude=/.lock', f'{self.good}/', copy],
                           check=True)
            self.copies.put(copy)

    def changed(self, copy: Path) -> Iterator[Path]:
        for module in copy.rglob('*.ko'):
            good = self.good / module.relative_to(copy)
            if good.is_file() and not filecmp.cmp(module, good, shallow=False):
                yield module

    def key(self, mutant: Mutant) -> str:
        """Of all that its modules are made of: the good ones', and its text."""
        state = (self.good / '.modules/state').read_text()
        return hashlib.sha256(f'{state}{mutant}{mutant.text()}'.encode()).hexdigest()

    def is_built(self, mutant: Mutant) -> bool:
        """By a run before this one."""
        try:
            return (self.work / mutant.place / 'key').read_text() == self.key(mutant)
        except (OSError, Unusable):
            return False

    def build(self, mutant: Mutant) -> None:
        """Its modules, or its file, go to where in-guest looks for them."""
        text = mutant.text()
        place = self.work / mutant.place
        if self.is_built(mutant):
            return
        shutil.rmtree(place, ignore_errors=True)
        self.build_anew(mutant, text, place)
        (place / 'key').write_text(self.key(mutant))

    def build_anew(self, mutant: Mutant, text: str, place: Path) -> None:
        if mutant.kind == 'script':
            broken = place / 'files' / mutant.file
            broken.parent.mkdir(parents=True)
            broken.write_text(text)
            broken.chmod((TOP / mutant.file).stat().st_mode)
            return
        if not (self.good / mutant.file).is_file():
            raise Unusable(f'{mutant.file} is not of a module')
        copy = self.copies.get()
        try:
            self.build_in(copy, mutant, text, place)
        finally:
            # Not with its old time, or the objects of the mistake would look new enough.
            shutil.copyfile(self.good / mutant.file, copy / mutant.file)
            self.copies.put(copy)

    def build_in(self, copy: Path, mutant: Mutant, text: str, place: Path) -> None:
        (copy / mutant.file).write_text(text)
        probe = 'lttng' in mutant.words[0]
        for more in ('', 'probe') if probe else ('',):
            done = subprocess.run([HERE / 'build-modules', self.kernel, copy, *more.split()],
                                  capture_output=True, text=True, check=False)
            place.mkdir(exist_ok=True)
            (place / 'log').write_text(done.stdout + done.stderr)
            if done.returncode:
                raise Unusable(f'does not compile, see {place}/log')
        modules = list(self.changed(copy))
        if not modules:
            raise Unusable('no module is another one with it')
        (place / 'modules').mkdir()
        for module in modules:
            shutil.copy(module, place / 'modules')


@dataclass
class Item:
    """A turn of a test in a guest."""
    name: str
    test: GuestTest
    mutant: Mutant | None = None
    tries: int = 0
    failure: str = ''
    began: float = 0.0

    @property
    def line(self) -> str:
        return f'{self.name} {self.test.name}'


@dataclass
class Guest:
    """One guest, and what it says of the items that it was given."""
    kernel: kernels.Kernel
    work: Path
    machine: tuple[str, ...]
    number: int
    items: list[Item]
    done: list[tuple[Item, int]] = field(default_factory=list)
    current: Item | None = None
    hung: bool = False
    timer: threading.Timer | None = None

    def run(self) -> int:
        """vm-run's exit status, 124 if the present item hung."""
        (self.work / 'todo').write_text(''.join(f'{item.line}\n' for item in self.items))
        total = 120 + sum(item.test.timeout + GRACE for item in self.items)
        command: list[str | Path] = [
            TOP / 'scripts/vm-run', '--no-build', '--kernel', self.kernel.name,
            '--timeout', str(total), '--console', self.work / f'console{self.number}',
            *copy_options(self.kernel), *self.machine, '--',
            'tests/mutants/in-guest', self.kernel.programs, self.work.relative_to(TOP)]
        with open(self.work / f'guest{self.number}.log', 'wb') as log, \
                subprocess.Popen(command, cwd=TOP, stdin=subprocess.DEVNULL,
                                 stdout=subprocess.PIPE, stderr=log) as vm:
            assert vm.stdout
            for line in vm.stdout:
                log.write(line)
                log.flush()
                self.read(line.decode(errors='replace').rstrip('\n'))
                self.watch(vm)
            self.watch(None)
            status = vm.wait()
        return 124 if self.hung else status

    def watch(self, vm: 'subprocess.Popen[bytes] | None') -> None:
        """The present item may take so long; between two items, vm-run's own limit is enough."""
        def end() -> None:
            self.hung = True
            if vm:
                vm.terminate()

        if self.timer:
            self.timer.cancel()
        self.timer = None
        if vm and self.current:
            limit = (self.current.test.timeout + GRACE) * int(self.kernel.values['slow'])
            left = self.current.began + limit - time.monotonic()
            self.timer = threading.Timer(left, end)
            self.timer.start()

    def read(self, line: str) -> None:
        if line.startswith('# mutant: '):
            self.current = next((item for item in self.items
                                 if line == f'# mutant: {item.line}'), None)
            if self.current:
                self.current.began = time.monotonic()
        elif line.startswith('not ok') and self.current and not self.current.failure:
            self.current.failure = re.sub(r'^not ok( \d+)?( -)? *', '', line)
        elif line.startswith('# status: ') and self.current:
            self.done.append((self.current, int(line.rsplit(' ', 1)[1])))
            self.current = None


class Guests:
    """All mutants of kernel modules and of what runs in a guest."""

    def __init__(self, kernel: str, report: Callable[[Verdict], None],
                 are_tested: bool = False) -> None:
        shell = Shell(TOP)
        self.lab = Lab(TOP, shell, Console(say))
        (self.kernel,) = kernels.choose(shell, TOP, kernel)
        self.report = report
        self.are_tested = are_tested
        self.tests = {test.name: test for test in find_tests(TOP)}
        self.work = TOP / 'build/mutants' / kernel
        self.broken: dict[GuestTest, str] = {}
        self.started = 0

    def build(self, mutants: list[Mutant]) -> list[Mutant]:
        """Those that could be built."""
        self.work.mkdir(parents=True, exist_ok=True)
        self.lock = open(self.work / 'lock', 'w', encoding='utf-8')
        fcntl.flock(self.lock, fcntl.LOCK_EX)
        try:
            self.lab.prepare(self.kernel, [mutant.words[0] for mutant in mutants])
        except Failed:
            raise SystemExit(1) from None
        builder = Builder(self.kernel.name, self.work)
        built = {mutant.place for mutant in mutants if builder.is_built(mutant)}
        for path in self.work.glob('*'):
            if not path.name.startswith(('tree', 'lock')) and path.name not in built:
                shutil.rmtree(path) if path.is_dir() else path.unlink()
        if len(built) < len(mutants):
            builder.copy()
        good = []

        def one(mutant: Mutant) -> Unusable | None:
            try:
                if mutant.words[0] not in self.tests:
                    raise Unusable(f'there is no test tests/guest/{mutant.words[0]}.tc')
                builder.build(mutant)
            except Unusable as error:
                return error
            return None

        with ThreadPoolExecutor(os.cpu_count()) as pool:
            for number, (mutant, error) in enumerate(zip(mutants, pool.map(one, mutants)), 1):
                say(f'built {number} of {len(mutants)}: {mutant.name}')
                if error:
                    self.report(Verdict(mutant, False, str(error)))
                else:
                    good.append(mutant)
        return good

    def catch(self, mutants: list[Mutant]) -> None:
        of_test: dict[GuestTest, list[Mutant]] = {}
        for mutant in self.build(mutants):
            of_test.setdefault(self.tests[mutant.words[0]], []).append(mutant)
        for machine in sorted({test.machine for test in of_test}):
            # Each test as it is, unless that was done just before, and then its mutants.
            items = []
            for test in sorted(of_test, key=lambda test: test.name):
                if test.machine == machine:
                    items += [Item(GOOD, test)] * (not self.are_tested)
                    items += [Item(mutant.place, test, mutant) for mutant in of_test[test]]
            while items:
                items = self.run_guest(machine, items)

    def run_guest(self, machine: tuple[str, ...], items: list[Item]) -> list[Item]:
        """What is left, for the next one."""
        self.started += 1
        say(f'guest {self.started}: {len(items)} turns{" with " * bool(machine)}{" ".join(machine)}')
        guest = Guest(self.kernel, self.work, machine, self.started, items)
        status = guest.run()
        for item, result in guest.done:
            self.finish(item, result)
        left = [item for item in items if item not in [done for done, _ in guest.done]]
        present = guest.current
        if not guest.done and not present:
            raise SystemExit(f'the guest has run nothing (status {status}): see '
                             f'{self.work}/guest{self.started}.log')
        if present:
            present.tries += 1
            if status != EMULATOR or present.tries >= TRIES:
                left.remove(present)
                present.failure = {124: 'the guest hung', 125: 'the kernel crashed'}.get(
                    status, f'the guest ended with status {status}')
                self.finish(present, 1)
        return [item for item in left if not self.is_hopeless(item)]

    def is_hopeless(self, item: Item) -> bool:
        """Its test fails anyway, which is then told."""
        if item.mutant and item.test in self.broken:
            self.finish(item, 0)
            return True
        return False

    def finish(self, item: Item, status: int) -> None:
        seconds = f'{time.monotonic() - item.began:.0f} s' if item.began else ''
        if not item.mutant:
            say(f'{item.test.name} as it is: ' +
                (f'FAILED: {item.failure}' if status else 'passed'))
            if status:
                self.broken[item.test] = item.failure
        elif item.test in self.broken:
            self.report(Verdict(item.mutant, False, f'{item.test.name} fails without it, too: '
                                f'{self.broken[item.test]}'))
        elif status == 1:
            self.report(Verdict(item.mutant, True, f'caught by {item.mutant.catcher}: '
                                f'{item.failure}'))
        else:
            why = 'did not notice' if status == 0 else f'ended with status {status}'
            self.report(Verdict(item.mutant, False, f'{item.mutant.catcher} {why} ({seconds}), '
                                f'see {self.work}/guest{self.started}.log'))

