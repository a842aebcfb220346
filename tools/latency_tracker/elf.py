# SPDX-License-Identifier: GPL-2.0-only
"""Where functions and USDT probes are in the file of a program."""
from __future__ import annotations

import importlib
import struct
from collections.abc import Iterator
from dataclasses import dataclass
from types import TracebackType
from typing import Any

from latency_tracker import Error

CODE = 1


def library() -> Any:
    """pyelftools."""
    try:
        return importlib.import_module('elftools.elf.elffile')
    except ImportError:
        raise Error('mark needs the package python3-pyelftools: apt-get install python3-pyelftools') from None


@dataclass(frozen=True)
class Place:
    """Offsets in a file, of an instruction, and of the semaphore that says whether anybody looks; 0: none."""
    offset: int
    semaphore: int = 0

    def __str__(self) -> str:
        return f'{self.offset:x}' + (f'+{self.semaphore:x}' if self.semaphore else '')


class Program:
    """A program, or a library. As a context: its file is open."""

    def __init__(self, path: str, shown: str) -> None:
        """Shown is what it is called in messages."""
        self.shown = shown
        self._library = library()
        try:
            self._file = open(path, 'rb')
        except OSError as error:
            raise Error(f'{shown}: {error.strerror}') from None
        try:
            self._elf = self._library.ELFFile(self._file)
        except Exception:  # ELFError, or whatever a few random bytes lead to. pylint: disable=broad-exception-caught
            self._file.close()
            raise Error(f'{shown} is no program: give the path of an ELF file, not of a script') from None

    def __enter__(self) -> Program:
        return self

    def __exit__(self, kind: type[BaseException] | None, error: BaseException | None, at: TracebackType | None) -> None:
        self._file.close()

    def _offset(self, address: int, code: bool) -> int:
        """In the file, of what is at an address while it runs."""
        for segment in self._elf.iter_segments():
            if segment['p_type'] == 'PT_LOAD' and 0 <= address - segment['p_vaddr'] < segment['p_filesz'] and (
                    not code or segment['p_flags'] & CODE):
                return int(address - segment['p_vaddr'] + segment['p_offset'])
        raise Error(f'{self.shown} has nothing at {address:#x}: it is not the file that runs, such as one of debugging symbols')

    def function(self, name: str) -> Place:
        """Its entry."""
        found, is_resolver = set(), False
        for table in ('.symtab', '.dynsym'):
            section = self._elf.get_section_by_name(table)
            for symbol in section.iter_symbols() if section and hasattr(section, 'iter_symbols') else ():
                kind = symbol['st_info']['type']
                # In .symtab, what stands behind an @ is a version.
                if symbol.name.split('@')[0] == name and symbol['st_shndx'] != 'SHN_UNDEF':
                    is_resolver |= kind in ('STT_GNU_IFUNC', 'STT_LOOS')
                    if kind == 'STT_FUNC':
                        found.add(int(symbol['st_value']))
        if len(found) == 1:
            return Place(self._offset(found.pop(), True))
        if found:
            raise Error(f'{self.shown} has {len(found)} functions {name}: take one that calls it, or give their offsets to the setting probes')
        if is_resolver:
            raise Error(f'{name} in {self.shown} is one of several functions, which is chosen when a program starts: '
                        f'take one of these: nm {self.shown}')
        stripped = not self._elf.get_section_by_name('.symtab')
        raise Error(f'{self.shown} has no function {name}' + (
            ': its symbols were stripped, so it has only those that others call: nm -D ' if stripped else ': nm ') + self.shown)

    def _notes(self) -> Iterator[tuple[str, Place]]:
        """PROVIDER:NAME and places of all USDT probes. What the notes say is moved by as much as .stapsdt.base was."""
        section = self._elf.get_section_by_name('.note.stapsdt')
        base = self._elf.get_section_by_name('.stapsdt.base')
        order, word = '<' if self._elf.little_endian else '>', 'Q' if self._elf.elfclass == 64 else 'I'
        data, at = section.data() if section else b'', 0
        while at + 12 <= len(data):
            name_size, size, kind = struct.unpack_from(f'{order}III', data, at)
            begin = at + 12 + (name_size + 3) // 4 * 4
            at = begin + (size + 3) // 4 * 4
            if data[begin - (name_size + 3) // 4 * 4:][:name_size] != b'stapsdt\0' or kind != 3:
                continue
            location, then, semaphore = struct.unpack_from(f'{order}3{word}', data, begin)
            moved = base['sh_addr'] - then if base and then else 0
            provider, name = data[begin + struct.calcsize(f'{order}3{word}'):begin + size].decode(errors='replace').split('\0')[:2]
            yield f'{provider}:{name}', Place(self._offset(location + moved, True),
                                              self._offset(semaphore + moved, False) if semaphore else 0)

    def usdt(self, name: str) -> list[Place]:
        """All places of PROVIDER:NAME."""
        found = list(self._notes())
        places = sorted({place for other, place in found if other == name}, key=lambda place: place.offset)
        if not places:
            there = ' '.join(sorted({other for other, _ in found})) or 'none'
            raise Error(f'{self.shown} has no USDT probe {name}; it has: {there}')
        return places
