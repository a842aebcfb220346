# SPDX-License-Identifier: GPL-2.0-only
"""The sources as the kernel's build gets them: a mirror, since it writes beside them, and without
comments, since a comment that changes is no reason to build anything again.

Usage: python3 -m lab.mirror SOURCE DIRECTORY

Prints the names of files that have changed. A comment leaves its room behind, so what the
compiler says is still about the same line and column."""

import re
import sys
from collections.abc import Iterator
from pathlib import Path

_C = {".c", ".h"}
_NAMES = {"Kbuild", "Makefile"}
# Literals are matched so that what is in them is not taken for a comment.
_TOKEN = re.compile(
    r"""//[^\n]*|/\*.*?\*/|"(?:\\.|[^"\\\n])*"|'(?:\\.|[^'\\\n])*'""", re.DOTALL
)
_VISIBLE = re.compile(r"\S")
_BLANKS = re.compile(r"[ \t]+$", re.MULTILINE)


def _bare(match: "re.Match[str]") -> str:
    text = match.group()
    # Not a comment, or one that a compiler warns of, or in the lines of a macro.
    if text[0] != "/" or "\\\n" in text or text.endswith("\\") or "/*" in text[2:]:
        return text
    return _VISIBLE.sub(" ", text)


def without_comments(text: str) -> str:
    """A source of C without its comments."""
    return _BLANKS.sub("", _TOKEN.sub(_bare, text))


def _is_source(name: str) -> bool:
    if name in _NAMES:
        return True
    return Path(name).suffix in {".S", *_C} and not name.endswith(".mod.c")


def _find(root: Path, directory: Path) -> Iterator[Path]:
    """The sources below a directory, by their path from the root."""
    for entry in sorted(directory.iterdir()):
        if entry.name.startswith(".") or entry == root / "build":
            continue
        if entry.is_dir() and not entry.is_symlink():
            yield from _find(root, entry)
        elif _is_source(entry.name):
            yield entry.relative_to(root)


def _content(file: Path) -> bytes:
    content = file.read_bytes()
    if file.suffix not in _C:
        return content
    return without_comments(content.decode("latin-1")).encode("latin-1")


def update(source: Path, mirror: Path) -> list[str]:
    """Make the mirror what the source is. Files that stay as they are keep their time."""
    changed = []
    wanted = list(_find(source, source))
    for file in wanted:
        copy = mirror / file
        content = _content(source / file)
        if not copy.is_file() or copy.read_bytes() != content:
            copy.parent.mkdir(parents=True, exist_ok=True)
            copy.unlink(missing_ok=True)
            copy.write_bytes(content)
            changed.append(str(file))
    for file in sorted(set(_find(mirror, mirror)) - set(wanted)):
        (mirror / file).unlink()
        changed.append(str(file))
    return changed


if __name__ == "__main__":
    for name in update(Path(sys.argv[1]), Path(sys.argv[2])):
        print(name)
