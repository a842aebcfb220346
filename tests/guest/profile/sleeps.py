#!/usr/bin/python3
# SPDX-License-Identifier: GPL-2.0-only
"""Sleeps, once its standard input has ended, and tells of each sleep by its own clock.

Usage: sleeps.py MS...

Prints its pid, and for each sleep "sleep=MS begin=NS end=NS", of CLOCK_MONOTONIC.
"""
import ctypes
import os
import sys
import time

print(f'pid={os.getpid()}', flush=True)
# The C library's, which calls clock_nanosleep() and nothing else.
usleep = ctypes.CDLL(None).usleep
sys.stdin.read()
sleeps = []
for ms in map(int, sys.argv[1:]):
    begin = time.monotonic_ns()
    usleep(ms * 1000)
    sleeps.append(f'sleep={ms} begin={begin} end={time.monotonic_ns()}')
print(*sleeps, sep='\n')
