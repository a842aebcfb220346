# SPDX-License-Identifier: GPL-2.0-only
"""A mutant: one plausible mistake in one place, and the test that must notice it.

The lists tests/mutants/*.list have one a line:

    name | file | sed script | catcher

The fields are separated by " | ", so a sed script may have a "|" without spaces around it; the
first two and the last are cut off before it. Lines that begin with "#" are comments. A catcher is
a kind with its words:

    host VARIANT PROGRAM [TEST]   a program of tests/host, built as plain, asan or tsan
    fuzz FUZZER [MODE]            a fuzzer of tests/host/fuzz, which begins from nothing
    guest TEST                    tests/guest/TEST.tc; the file is of a kernel module
    script TEST                   the same; the file is put over the one that the guest sees
    command TEST                  tests/command/test_TEST.py, without a kernel
"""
import hashlib
import subprocess
from dataclasses import dataclass
from pathlib import Path

TOP = Path(__file__).resolve().parents[2]
# How many words each kind has.
KINDS = {'host': (2, 3), 'fuzz': (1, 2), 'guest': (1, 1), 'script': (1, 1), 'command': (1, 1)}
KERNEL_KINDS = ('guest', 'script')


class Unusable(Exception):
    """A mutant that says nothing: it does not apply, or does not compile."""


@dataclass(frozen=True)
class Mutant:
    """Its full name is that of its list, the room, and its own."""
    room: str
    short: str
    file: str
    script: str
    kind: str
    words: tuple[str, ...]

    @property
    def name(self) -> str:
        return f'{self.room}/{self.short}'

    @property
    def place(self) -> str:
        """The name of its files."""
        return f'{self.room}-{self.short}'

    @property
    def catcher(self) -> str:
        return ' '.join((self.kind, *self.words))

    def text(self) -> str:
        """The file with the mistake in it."""
        path = TOP / self.file
        if not path.is_file():
            raise Unusable(f'there is no file {self.file} any more')
        sed = subprocess.run(['sed', '-e', self.script, path], capture_output=True, text=True,
                             check=False)
        if sed.returncode:
            raise Unusable(f'its sed script is wrong: {sed.stderr.strip()}')
        if sed.stdout == path.read_text():
            raise Unusable(f'no longer applies: nothing changed in {self.file}')
        return sed.stdout


@dataclass(frozen=True)
class Verdict:
    """What became of a mutant: it is caught, or the text says why not."""
    mutant: Mutant
    caught: bool
    text: str


def parse(room: str, line: str) -> Mutant:
    short, file, rest = line.split(' | ', 2)
    script, catcher = rest.rsplit(' | ', 1)
    kind, *words = catcher.split()
    if kind not in KINDS or not KINDS[kind][0] <= len(words) <= KINDS[kind][1]:
        raise ValueError(f'there is no catcher "{catcher}"')
    return Mutant(room, short.strip(), file.strip(), script, kind, tuple(words))


def read_lists(directory: Path) -> list[Mutant]:
    """All mutants, in the order of their names."""
    mutants: dict[str, Mutant] = {}
    for path in directory.glob('*.list'):
        for number, line in enumerate(path.read_text().splitlines(), 1):
            if not line.strip() or line.startswith('#'):
                continue
            try:
                mutant = parse(path.stem, line)
            except ValueError as error:
                raise SystemExit(f'{path}:{number}: {error}') from error
            if mutant.name in mutants:
                raise SystemExit(f'{path}:{number}: there are two mutants {mutant.name}')
            mutants[mutant.name] = mutant
    return [mutants[name] for name in sorted(mutants)]


def chosen_by(text: str, mutants: list[Mutant], count: int) -> list[Mutant]:
    """So many of the mutants; which ones depends on the text and on their names alone."""
    def key(mutant: Mutant) -> str:
        return hashlib.sha256(f'{text} {mutant.name}'.encode()).hexdigest()

    return sorted(sorted(mutants, key=key)[:count], key=lambda mutant: mutant.name)
