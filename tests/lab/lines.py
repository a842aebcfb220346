# SPDX-License-Identifier: GPL-2.0-only
"""What a line of a suite's output says. python3-tap reads it; KTAP's version line, and the
words of tests/guest/run, are added to what it knows."""

import functools
import re
from dataclasses import dataclass
from typing import Any


@dataclass(frozen=True)
class Line:
    """kind: "version", "plan", "result", "bail", "note" (a diagnostic), "unknown", or a word of
    tests/guest/run. number: of a result, or how many a plan promises. skipped: the reason
    of a skip, which may be missing: then it is empty."""

    kind: str
    text: str = ""
    number: int | None = None
    good: bool = True
    skipped: str | None = None


_VERSION = re.compile(r"K?TAP version ")
# The library takes "okay" for a result, and "10 of 5" for a plan.
_STRICT = re.compile(r"(not )?ok(\s|$)|1\.\.\d|Bail out!")
_DIRECTIVE = re.compile(r"(?<!\S)# (?=SKIP\b|TODO\b)", re.IGNORECASE)
# To the library, all behind the first # is a directive.
_HASH = "\N{FULLWIDTH NUMBER SIGN}"
# A test begins, is done; a line for the truth table.
_WORD = re.compile(r"# (test|done|truth): (.*)")


@functools.cache
def _parser() -> Any:
    # Not at the start: it may have to be installed first.
    from tap.parser import Parser

    return Parser()


def _hide_hashes(text: str) -> str:
    """Leave only the # of a directive."""
    found = list(_DIRECTIVE.finditer(text))
    if not found:
        return text.replace("#", _HASH)
    at = found[-1].start()
    return text[:at].replace("#", _HASH) + "#" + text[at + 1 :].replace("#", _HASH)


def _read_tap(text: str) -> Line:
    line = _parser().parse_line(_hide_hashes(text))
    if line.category == "plan":
        return Line("plan", number=int(line.expected_tests))
    if line.category == "bail":
        return Line("bail", str(line.reason).replace(_HASH, "#"))
    if line.category != "test":
        return Line("unknown")
    words = [str(line.description).removeprefix("- ").removeprefix("-").strip()]
    if line.directive.text:
        words.append(f"# {line.directive.text}")
    return Line(
        "result",
        text=" ".join(word for word in words if word).replace(_HASH, "#"),
        number=line.number,
        good=bool(line.ok),
        skipped=str(line.directive.reason or "") if line.skip else None,
    )


def read(line: str) -> Line:
    """Read one line, without its end."""
    text = line.rstrip()
    if found := _WORD.match(text):
        return Line(found[1], found[2])
    if text.startswith("#"):
        return Line("note", text)
    if _VERSION.match(line):
        return Line("version")
    return _read_tap(text) if _STRICT.match(text) else Line("unknown")
