# SPDX-License-Identifier: GPL-2.0-only
"""The command latency-tracker: what the kernel modules measure, for people and for programs.

It knows the ABI of the modules, Documentation/ABI, and nothing else of them.
"""
from __future__ import annotations

import pathlib


class Error(Exception):
    """What the user is told, as it is: what is wrong, and what to do."""


def version() -> str:
    """That of the installation; in a checkout there is none."""
    try:
        return (pathlib.Path(__file__).parent / 'VERSION').read_text(encoding='ascii').strip()
    except FileNotFoundError:
        return 'of a checkout'
