# SPDX-License-Identifier: GPL-2.0-only
"""The part of the page that is of paths, in a browser, too."""
from __future__ import annotations

import json
from pathlib import Path

import pytest

from .conftest import Shell
from .fake import NOW_NS
from .fake_paths import flushed, segment
from .test_browser import measured
from .test_paths import gather
from .test_report import Elements, recording

# The fixture is found by its name.
__all__ = ['recording']
HOSTILE = '<b onclick=window.hacked=1>'


def of_paths(*events: bytes) -> str:
    """Lines of a recording."""
    return ''.join(json.dumps({'schema': 1, 'type': 'path', 'time': '2026-11-27T12:00:01', 'host': 'db1', **path.values()}) + '\n'
                   for path in gather(events))


LINES = of_paths(*flushed(operation='fsync'), *flushed(op=18, operation='read', begin=NOW_NS + 10**9)[:5],
                 *flushed(op=19, operation='fsync', begin=NOW_NS + 2 * 10**9),
                 segment(0, 0, -1, 0, 90, 'task', of=('sh', 55), by=(HOSTILE[:15], 5), op=20, total=90, count=1, tracker='wakeup'))


def page(shell: Shell, recorded: Path, text: str) -> str:
    """Made of a recording."""
    made = recorded.with_suffix('.html')
    recorded.write_text(text)
    assert shell('report', '--html', '-o', str(made), str(recorded)).status == 0
    return made.read_text()


def test_a_page_of_paths(shell: Shell, recording: Path) -> None:
    text = recording.read_text()
    before = Elements(page(shell, recording, text))
    made = page(shell, recording, text + LINES)
    found = Elements(made)
    # The slowest of each kind has bars: one for each segment, and words, and what is missing.
    assert not found.open and found.count['svg'] == before.count['svg'] + 3 and found.count['details'] == before.count['details'] + 3
    first = made[made.index('aria-label="path of fsync()"'):]
    first = first[:first.index('</details>')]
    assert first.count('<rect') == 7 and first.count('<div style="margin-left') == 7 and '5 of 7 segments seen' in made
    assert 'jbd2/vda-8 (77): waiting for a CPU that stress (9) had</div>' in first and first.count('<code>') == 1
    # In the row of its hop, below what it explains.
    heights = [part.split('y="')[1].split('"')[0] for part in first.split('<rect')[1:]]
    assert heights == ['4.0', '24.0', '44.0', '44.0', '24.0', '4.0', '4.0']
    wide = [float(part.split('width="')[1].split('"')[0]) for part in first.split('<rect')[1:]]
    assert wide[0] == pytest.approx(400 / 700 * 1080 - 1, abs=0.1) and wide[3] == pytest.approx(200 / 700 * 1080 - 1, abs=0.1)
    assert '&lt;b onclick' in made and not found.attributes & {'src', 'href', 'onclick'} and '://' not in made
    assert '<td>fsync()<td>device vda<td class=n>29 %' in made


def test_a_page_of_nothing_but_paths(shell: Shell, tmp_path: Path) -> None:
    made = page(shell, tmp_path / 'x', of_paths(*flushed(operation='fsync')))
    found = Elements(made)
    assert found.count['svg'] == 1 and not found.open and 'What the slowest were made of' in made and '2026-11-27T12:00:01' in made


def test_what_is_garbled_stays_inside(shell: Shell, tmp_path: Path) -> None:
    events = [segment(0, 0, -1, 900, 9000, 'running', count=2), segment(1, 0, -1, -500, 10, 'running', count=2)]
    made = page(shell, tmp_path / 'x', of_paths(*events))
    for part in made.split('<rect')[1:]:
        x, width = (float(part.split(f' {name}="')[1].split('"')[0]) for name in ('x', 'width'))
        assert x >= 10 and x + width <= 1091, part


@pytest.mark.parametrize('width', [1000, 400])
def test_paths_in_a_browser(shell: Shell, recording: Path, width: int) -> None:
    page(shell, recording, recording.read_text() + LINES)
    told = measured(recording.with_suffix('.html'), width)
    assert not told['hacked'] and told['fetched'] == 0 and HOSTILE[:15] in told['text'] and told['over'] <= 0
    assert len(told['pictures']) == 6
    for picture in told['pictures']:
        assert picture['width'] > 0.8 * width and not picture['outside'] and not picture['crossed'], picture
    assert 'lock mutex the_lock, held by cp (8)' in told['text']
