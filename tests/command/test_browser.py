# SPDX-License-Identifier: GPL-2.0-only
"""The page of "report --html" in a real browser, without a network: what it shows, measured there and in a
screenshot. LT_SCREENSHOTS=DIRECTORY keeps these, to be looked at."""
from __future__ import annotations

import colorsys
import html
import json
import os
import re
import struct
import subprocess
import zlib
from collections import Counter
from pathlib import Path
from typing import Any

import pytest

from .conftest import Shell
from .test_report import recording

BROWSER = 'chromium-headless-shell'
HEIGHT = 1400
# Of the page's own text nothing is run: this is appended to a copy of it.
PROBE = '''<pre id=probe></pre><script>
const inside = (a, b) => a.left >= b.left - 1 && a.right <= b.right + 1 && a.top >= b.top - 1 && a.bottom <= b.bottom + 1;
const cross = (a, b) => a.left < b.right - 1 && b.left < a.right - 1 && a.top < b.bottom - 3 && b.top < a.bottom - 3;
const pictures = [...document.querySelectorAll('svg')].map(svg => {
    const labels = [...svg.querySelectorAll('text')].map(text => text.getBoundingClientRect());
    const all = [...svg.querySelectorAll('rect, text')].map(part => part.getBoundingClientRect());
    const frame = svg.getBoundingClientRect();
    return {width: frame.width, height: frame.height, parts: all.length,
            outside: all.filter(part => !inside(part, frame)).length,
            crossed: labels.filter((a, i) => labels.some((b, j) => j < i && cross(a, b))).length};
});
document.getElementById('probe').textContent = JSON.stringify({
    pictures, fetched: performance.getEntriesByType('resource').length, hacked: window.hacked === 1,
    over: document.documentElement.scrollWidth - window.innerWidth, text: document.body.innerText});
</script>'''

# The fixture is found by its name.
__all__ = ['recording']
TRACKERS = {'offcpu_sched_switch': 'offcpu', 'wakeup_latency': 'wakeup', 'block_latency': 'block',
            'syscall_latency': 'syscalls'}


def browse(page: Path, width: int, *words: str) -> str:
    """What the browser prints."""
    return subprocess.run([BROWSER, '--no-sandbox', '--disable-gpu', '--disable-dev-shm-usage',
                           '--host-resolver-rules=MAP * ~NOTFOUND',
                           f'--user-data-dir={page.parent}/browser', '--enable-logging=stderr', '--hide-scrollbars',
                           f'--window-size={width},{HEIGHT}', *words, page.as_uri()],
                          check=True, capture_output=True, timeout=120, text=True, errors='replace').stdout


def measured(page: Path, width: int) -> dict[str, Any]:
    """By the browser."""
    probed = page.with_name('probed.html')
    probed.write_text(page.read_text().replace('</body>', PROBE + '</body>'))
    found = re.search(r'<pre id="probe">(.*?)</pre>', browse(probed, width, '--dump-dom'), re.S)
    assert found
    told: dict[str, Any] = json.loads(html.unescape(found[1]))
    return told


def pixels(png: bytes) -> list[list[bytes]]:
    """Of a picture of 8 bits per colour, not interlaced; row by row. (The library for that is not typed.)"""
    assert png[:8] == b'\x89PNG\r\n\x1a\n'
    at, data, width, size = 8, b'', 0, 0
    while at < len(png):
        length, kind = struct.unpack_from('>I4s', png, at)
        if kind == b'IHDR':
            width, _, depth, colour, _, _, interlaced = struct.unpack_from('>IIBBBBB', png, at + 8)
            assert depth == 8 and not interlaced
            size = {2: 3, 6: 4}[colour]
        elif kind == b'IDAT':
            data += png[at + 8:at + 8 + length]
        at += length + 12
    raw, rows, above = zlib.decompress(data), [], bytes(width * size)
    for start in range(0, len(raw), width * size + 1):
        row = bytearray(raw[start + 1:start + 1 + width * size])
        for i, value in enumerate(row):
            left, up = row[i - size] if i >= size else 0, above[i]
            corner = above[i - size] if i >= size else 0
            nearest = min((left, up, corner), key=lambda of, sum_=left + up - corner: abs(sum_ - of))  # type: ignore[misc]
            row[i] = (value + (0, left, up, (left + up) // 2, nearest)[raw[start]]) & 255
        above = bytes(row)
        rows.append([above[i:i + 3] for i in range(0, width * size, size)])
    return rows


@pytest.mark.parametrize('width', [1000, 400])
def test_page_in_a_browser(shell: Shell, recording: Path, tmp_path: Path, width: int) -> None:
    hostile = '<img src=x onerror=window.hacked=1><script>window.hacked=1</script>'
    made = [json.loads(line) for line in recording.read_text().splitlines()]
    text = '\n'.join(json.dumps({**of, 'tracker': TRACKERS.get(of.get('event', ''))}) for of in made)
    recording.write_text(text.replace('jbd2/sda-8', hostile).replace('mariadbd', 'mariadbd-with-a-long-name'))
    page = tmp_path / 'page.html'
    shell('report', '--html', '-o', str(page), str(recording))
    told = measured(page, width)
    assert not told['hacked'] and told['fetched'] == 0 and hostile in told['text']
    assert len(told['pictures']) == 3
    for picture in told['pictures']:
        assert picture['width'] > 0.8 * width and picture['parts'] > 5, picture
        assert not picture['outside'] and not picture['crossed'], picture
    assert told['over'] <= 0
    screenshot = tmp_path / f'page-{width}.png'
    browse(page, width, f'--screenshot={screenshot}')
    keep = os.environ.get('LT_SCREENSHOTS')
    if keep:
        (Path(keep) / screenshot.name).write_bytes(screenshot.read_bytes())
    rows = pixels(screenshot.read_bytes())
    assert (len(rows), len(rows[0])) == (HEIGHT, width)
    background = rows[0][0]
    drawn = [sum(pixel != background for pixel in row) > 3 for row in rows]
    last = max(i for i, is_drawn in enumerate(drawn) if is_drawn)
    gaps = ''.join('x' if is_drawn else ' ' for is_drawn in drawn[:last]).split('x')
    # From the top on, without a hole; and the colours of four trackers.
    assert max(map(len, gaps)) < 80 and last > 500
    colours = Counter(pixel for row in rows for pixel in row if max(pixel) - min(pixel) > 60)
    hues = {round(colorsys.rgb_to_hsv(*pixel)[0], 1) for pixel, count in colours.items() if count > 60}
    assert len(hues) >= 4, hues
