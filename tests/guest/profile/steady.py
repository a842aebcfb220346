#!/usr/bin/python3
# SPDX-License-Identifier: GPL-2.0-only
"""Sleeps for times that nobody knows before: most of them short, few long.

Usage: steady.py SECONDS MEAN_MS [SEED]
"""
import ctypes
import random
import sys
import time

seconds, mean_ms = map(float, sys.argv[1:3])
chance = random.Random(int(sys.argv[3]) if len(sys.argv) > 3 else 1)
# The C library's, which calls clock_nanosleep() and nothing else.
usleep = ctypes.CDLL(None).usleep
end = time.monotonic() + seconds
while time.monotonic() < end:
    usleep(int(chance.expovariate(1 / mean_ms) * 1000))
