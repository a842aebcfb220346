#!/usr/bin/python3
# SPDX-License-Identifier: GPL-2.0-only
"""A thread whose name, lt-thread, and number are not those of its process.

Usage: thread.py CPU read               on that CPU, it reads for ever
       thread.py CPU loop               it stays in user space for ever
       thread.py CPU write FILE TEXT    it writes once
       thread.py DISK requests          reads and writes of several sizes, direct and not
       thread.py DISK fail SECTOR       a direct read of 4 KiB that fails
       thread.py DISK timed SECTOR...   one direct read of 4 KiB after the other, with the times
                                        before and behind them by CLOCK_MONOTONIC, ns
Prints what it is, before it begins, and the error, as NAME=VALUE; "begun" when it reads or loops.
"""
import errno
import mmap
import os
import sys
import threading
import time

KIB = 1024


def read():
    fd, buffer = os.open('/dev/zero', os.O_RDONLY), bytearray(64 << 20)
    os.readv(fd, [buffer])      # the memory is there now
    print('begun', flush=True)
    # Whoever looks is to find it in the call.
    while True:
        os.readv(fd, [buffer] * 16)


def loop():
    print('begun', flush=True)
    while True:
        pass


def write(path, text):
    os.write(os.open(path, os.O_WRONLY), text.encode())


def requests(disk):
    buffer = mmap.mmap(-1, 64 * KIB)
    buffer.write(b'x' * len(buffer))
    view = memoryview(buffer)
    fd = os.open(disk, os.O_RDWR | os.O_DIRECT)
    for size in (4, 8, 64):
        os.preadv(fd, [view[:size * KIB]], 1024 * KIB)
        os.pwritev(fd, [view[:size * KIB]], 2048 * KIB)
    # Of pages that need not lie one behind the other.
    os.preadv(fd, [view[at * KIB:(at + 4) * KIB] for at in (60, 0, 32, 8)], 3072 * KIB)
    os.close(fd)
    fd = os.open(disk, os.O_RDWR)
    os.pread(fd, 4 * KIB, 8192 * KIB)
    os.pwrite(fd, b'x' * 4 * KIB, 9216 * KIB)
    os.fsync(fd)
    os.close(fd)


def fail(disk, sector):
    fd, error = os.open(disk, os.O_RDONLY | os.O_DIRECT), 0
    try:
        os.preadv(fd, [mmap.mmap(-1, 4 * KIB)], int(sector) * 512)
    except OSError as failed:
        error = failed.errno
    print(f'error=-{error} name={errno.errorcode.get(error)}')


def timed(disk, *sectors):
    fd, buffer = os.open(disk, os.O_RDONLY | os.O_DIRECT), mmap.mmap(-1, 4 * KIB)
    for sector in sectors:
        begin = time.monotonic_ns()
        os.preadv(fd, [buffer], int(sector) * 512)
        print(f'sector={sector} begin={begin} end={time.monotonic_ns()}', flush=True)


def work(where, what, args):
    with open('/proc/thread-self/comm', 'w', encoding='ascii') as comm:
        comm.write('lt-thread')
    if where.isdigit():
        os.sched_setaffinity(0, {int(where)})
    else:
        args = [where, *args]
    print(f'comm=lt-thread pid={threading.get_native_id()} tgid={os.getpid()}', flush=True)
    {'read': read, 'loop': loop, 'write': write, 'requests': requests, 'fail': fail,
     'timed': timed}[what](*args)


if len(sys.argv) < 3:
    sys.exit(__doc__)
threading.Thread(target=work, args=(sys.argv[1], sys.argv[2], sys.argv[3:])).start()
