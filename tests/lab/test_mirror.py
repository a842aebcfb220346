# SPDX-License-Identifier: GPL-2.0-only
"""What the kernel's build gets of a source."""

from pathlib import Path

import pytest

from lab.mirror import update, without_comments

BARE = {
    "a comment": ("a /* b */ c\n", "a         c\n"),
    "its lines": ("a\n/* b\n * c\n */\nd\n", "a\n\n\n\nd\n"),
    "at the end": ("a; // b\nc;\t/* d */\n", "a;\nc;\n"),
    "between tokens": ("int/**/a", "int    a"),
    "in a string": ('a("/* b */", "\\"//", \'"\') /* c */', 'a("/* b */", "\\"//", \'"\')'),
    "in a macro": ("#define a /* b \\\n c */ d\n", "#define a /* b \\\n c */ d\n"),
    "that goes on": ("// b \\\nc\n", "// b \\\nc\n"),
    "that is warned of": ("/* a /* b */\n", "/* a /* b */\n"),
    "and a division": ("a / b * c", "a / b * c"),
    "with an apostrophe": ("/* don't */ a /* isn't */\n", "            a\n"),
}


@pytest.mark.parametrize("text, bare", BARE.values(), ids=BARE)
def test_comment(text: str, bare: str) -> None:
    assert without_comments(text) == bare


def write(directory: Path, **files: str) -> None:
    directory.mkdir(exist_ok=True)
    for name, text in files.items():
        (directory / name.replace("_", ".")).write_text(text)


def test_only_what_has_changed_is_new(tmp_path: Path) -> None:
    source, mirror = tmp_path / "s", tmp_path / "m"
    write(source, a_c="int a; /* one */\n", b_h="int b;\n", Kbuild="# one\n", x_txt="x")
    assert update(source, mirror) == ["Kbuild", "a.c", "b.h"]
    before = (mirror / "a.c").stat().st_mtime_ns
    write(source, a_c="int a; /* two */\n", b_h="int c;\n", Kbuild="# two\n")
    assert update(source, mirror) == ["Kbuild", "b.h"]
    assert (mirror / "a.c").stat().st_mtime_ns == before
    assert (mirror / "b.h").read_text() == "int c;\n"


def test_what_the_build_has_made_stays(tmp_path: Path) -> None:
    source, mirror = tmp_path / "s", tmp_path / "m"
    write(source, a_c="int a;\n", b_c="int b;\n")
    update(source, mirror)
    write(mirror, a_o="object", a_mod_c="made")
    (source / "b.c").unlink()
    assert update(source, mirror) == ["b.c"]
    assert sorted(file.name for file in mirror.iterdir()) == ["a.c", "a.mod.c", "a.o"]


def test_what_is_no_source(tmp_path: Path) -> None:
    source, mirror = tmp_path / "s", tmp_path / "m"
    write(source, a_c="int a;\n")
    write(source / "build", b_c="int b;\n")
    write(source / ".git", c_c="int c;\n")
    assert update(source, mirror) == ["a.c"]
