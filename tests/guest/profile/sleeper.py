#!/usr/bin/python3
# SPDX-License-Identifier: GPL-2.0-only
"""Sleeps, once its standard input has ended, and measures each sleep with its own clock.

Usage: sleeper.py COUNT MS [COUNT MS...]

Prints its pid, and at last count=, sum=, max=, p50=, p90=, p99= of the sleeps, ns; and least=, what
they were to take in all.
"""
import ctypes
import os
import random
import sys
import time

print(f'pid={os.getpid()}', flush=True)
pairs = [int(word) for word in sys.argv[1:]]
sleeps = [ms for count, ms in zip(pairs[::2], pairs[1::2]) for _ in range(count)]
random.Random(1).shuffle(sleeps)
# The C library's, which calls clock_nanosleep() and nothing else.
usleep = ctypes.CDLL(None).usleep
sys.stdin.read()
delays = []
for ms in sleeps:
    begin = time.monotonic_ns()
    usleep(ms * 1000)
    delays.append(time.monotonic_ns() - begin)
delays.sort()
figures = {f'p{share}': delays[-(-len(delays) * share // 100) - 1] for share in (50, 90, 99)}
figures |= {'count': len(delays), 'sum': sum(delays), 'max': delays[-1],
            'least': sum(sleeps) * 10**6}
print(*(f'{name}={value}' for name, value in figures.items()))
