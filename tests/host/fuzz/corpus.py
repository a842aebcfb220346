#!/usr/bin/env python3
# SPDX-License-Identifier: GPL-2.0-only
"""A corpus as text: an input per line, in base64.

corpus.py unpack FILE DIR   each line becomes a file
corpus.py pack DIR FILE     and back, the short ones first
"""
import base64
import hashlib
import pathlib
import sys

MAX_BYTES = 48_000


def unpack(text, folder):
    folder.mkdir(parents=True, exist_ok=True)
    for line in text.read_text().splitlines():
        if line.startswith('#'):
            continue
        data = base64.b64decode(line)
        (folder / hashlib.sha1(data).hexdigest()).write_bytes(data)


def pack(folder, text):
    inputs = sorted({f.read_bytes() for f in folder.iterdir()},
                    key=lambda data: (len(data), data))
    lines = ['# SPDX-License-Identifier: GPL-2.0-only',
             '# Made by "make corpus", see tests/host/fuzz/Makefile.']
    size = 0
    for data in inputs:
        line = base64.b64encode(data).decode()
        size += len(line) + 1
        if data and size < MAX_BYTES:
            lines.append(line)
    text.write_text('\n'.join(lines) + '\n')


def main():
    if len(sys.argv) != 4 or sys.argv[1] not in ('pack', 'unpack'):
        sys.exit(__doc__)
    command = pack if sys.argv[1] == 'pack' else unpack
    command(pathlib.Path(sys.argv[2]), pathlib.Path(sys.argv[3]))


main()
