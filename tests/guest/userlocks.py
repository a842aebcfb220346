#!/usr/bin/python3
# SPDX-License-Identifier: GPL-2.0-only
"""Locks of user space and on files, that are held for a set time.

    userlocks.py one KIND MS [HOW]      lt-holder has it, lt-waiter wants it 0.1 s later; prints
                                        both turns, as NAME=VALUE, ns of CLOCK_MONOTONIC
    userlocks.py line                   lt-holder has a flock, lt-next wants it, then lt-waiter; it is given
                                        back while a hog keeps lt-next from its CPU
    userlocks.py crowd TASKS TURNS KIND so many processes take it, 0 to 2 ms each, at random; then the
                                        turns, a line each, for locks.py

Kinds: mutex, pi (of two threads), shared, shared_pi, shared_robust (of two processes), flock, posix, and cond,
which is no lock. HOW: exit, the holder dies and never gives it back (a flock: but its child has it);
signal, a signal ends the wait after MS / 2.
"""
import ctypes
import fcntl
import mmap
import os
import random
import resource
import signal
import sys
import threading
import time

PATH = '/tmp/lt-userlocks'
LIBC = ctypes.CDLL(None, use_errno=True)
# Of pthread.h, on Linux.
PRIO_INHERIT = SHARED = ROBUST = 1
ON_FILES = ('flock', 'posix')
IN_PROCESSES = ('shared', 'shared_pi', 'shared_robust', *ON_FILES)


class Timespec(ctypes.Structure):
    _fields_ = [('sec', ctypes.c_long), ('nsec', ctypes.c_long)]


class Mutex:
    """A pthread_mutex_t, in memory that children share."""

    def __init__(self, kind):
        # Not at its begin: what is in front of the lock is not the lock's.
        self.memory = mmap.mmap(-1, 4096)
        self.lock = ctypes.byref(ctypes.c_char.from_buffer(self.memory), 128)
        attributes = ctypes.create_string_buffer(64)
        LIBC.pthread_mutexattr_init(attributes)
        if 'pi' in kind:
            LIBC.pthread_mutexattr_setprotocol(attributes, PRIO_INHERIT)
        if 'shared' in kind:
            LIBC.pthread_mutexattr_setpshared(attributes, SHARED)
        if 'robust' in kind:
            LIBC.pthread_mutexattr_setrobust(attributes, ROBUST)
        if LIBC.pthread_mutex_init(self.lock, attributes):
            sys.exit(f'there is no mutex {kind}')

    def take(self, seconds=20):
        until = time.clock_gettime(time.CLOCK_REALTIME) + seconds
        LIBC.pthread_mutex_timedlock(self.lock, ctypes.byref(Timespec(int(until), int(until % 1 * 1e9))))

    def give(self):
        LIBC.pthread_mutex_unlock(self.lock)


class File:
    def __init__(self, kind):
        self.call = fcntl.flock if kind == 'flock' else fcntl.lockf
        self.open()

    def open(self):
        """A flock belongs to an open file, and each task is to have its own."""
        self.file = open(PATH, 'w', encoding='ascii')  # pylint: disable=consider-using-with

    def take(self):
        try:
            self.call(self.file, fcntl.LOCK_EX)
        except InterruptedError:
            pass

    def give(self):
        self.call(self.file, fcntl.LOCK_UN)


class Condition:
    def __init__(self):
        self.event = threading.Event()

    def take(self):
        if threading.current_thread().name == 'lt-waiter':
            self.event.wait()

    def give(self):
        self.event.set()


def lock_of(kind):
    if kind == 'cond':
        return Condition()
    return File(kind) if kind in ON_FILES else Mutex(kind)


def rename(name, cpu):
    with open('/proc/thread-self/comm', 'w', encoding='ascii') as comm:
        comm.write(name)
    os.sched_setaffinity(0, {cpu})


def tell(who, **times):
    words = ' '.join(f'{name}={value}' for name, value in times.items())
    os.write(1, f'{who} pid={threading.get_native_id()} {words}\n'.encode())


def hold(lock, ms, how, ready):
    rename('lt-holder', 1)
    lock.take()
    os.write(ready, b'.')
    if how == 'exit' and isinstance(lock, Mutex):
        return
    if how == 'exit' and os.fork():
        tell('holder', gave=0)
        os._exit(0)
    time.sleep(ms / 1000)
    gave = time.monotonic_ns()
    lock.give()
    tell('holder', gave=gave)


def want(lock, ms, how):
    rename('lt-waiter', 0)
    if how == 'signal':
        def stop(*_):
            raise InterruptedError
        signal.signal(signal.SIGALRM, stop)
        signal.setitimer(signal.ITIMER_REAL, ms / 2000)
    asked = time.monotonic_ns()
    if how == 'exit' and isinstance(lock, Mutex):
        lock.take(ms / 1000)
    else:
        lock.take()
    tell('waiter', asked=asked, got=time.monotonic_ns())


def start(kind, name, call, *words):
    """Returns what waits for its end."""
    if kind not in IN_PROCESSES:
        thread = threading.Thread(target=call, args=words, name=name)
        thread.start()
        return thread.join
    pid = os.fork()
    if not pid:
        if words and kind in ON_FILES:
            words[0].open()
        call(*words)
        os._exit(0)
    return lambda: os.waitpid(pid, 0)


def one(kind, ms, how=''):
    lock = lock_of(kind)
    taken, ready = os.pipe()
    first = start(kind, 'lt-holder', hold, lock, ms, how, ready)
    os.read(taken, 1)
    time.sleep(0.1)
    second = start(kind, 'lt-waiter', want, lock, ms, how)
    first()
    second()
    if kind in ON_FILES:
        stat = os.stat(PATH)
        tell('file', dev=f'{os.major(stat.st_dev)},{os.minor(stat.st_dev)}', ino=stat.st_ino)


def line():
    lock, hog_ns = File('flock'), 8 * 10**8
    (told, tell_fd), (go, let_go), (asks, ask) = os.pipe(), os.pipe(), os.pipe()

    def has():
        rename('lt-holder', 0)
        lock.open()
        lock.take()
        os.write(tell_fd, b'.')
        os.read(go, 1)
        lock.give()
        tell('holder', gave=time.monotonic_ns())

    def comes_next():
        rename('lt-next', 1)
        lock.open()
        os.write(tell_fd, b'.')
        lock.take()
        tell('next', got=time.monotonic_ns())
        lock.give()

    def hog():
        rename('lt-hog', 1)
        os.sched_setscheduler(0, os.SCHED_FIFO, os.sched_param(10))
        os.write(tell_fd, b'.')
        end = time.monotonic_ns() + hog_ns
        while time.monotonic_ns() < end:
            pass

    def waits():
        rename('lt-waiter', 0)
        lock.open()
        os.write(ask, b'.')
        want(lock, 0, '')

    rename('lt-parent', 0)
    ends = []
    for call in (has, comes_next, hog):
        ends.append(start('flock', '', call))
        os.read(told, 1)
        time.sleep(0.1)
    ends.append(start('flock', '', waits))
    os.read(asks, 1)
    time.sleep(0.03)
    os.write(let_go, b'.')
    for end in ends:
        end()


def crowd(tasks, turns, kind):
    lock = lock_of(kind)
    # Whoever comes later must not find the others done.
    begin = time.monotonic() + 0.2 * tasks
    for task in range(tasks):
        if not os.fork():
            rename(f'lt-crowd{task}', task % os.cpu_count())
            if kind in ON_FILES:
                lock.open()
            chance, lines = random.Random(task), []
            time.sleep(max(begin - time.monotonic(), 0))
            for _ in range(turns):
                slept, asked = resource.getrusage(resource.RUSAGE_THREAD).ru_nvcsw, time.monotonic_ns()
                lock.take()
                got, slept = time.monotonic_ns(), resource.getrusage(resource.RUSAGE_THREAD).ru_nvcsw - slept
                time.sleep(chance.randrange(3) / 1000)
                gave = time.monotonic_ns()
                lock.give()
                # The others are to have it, too.
                time.sleep(0.001)
                lines.append(f'pid={os.getpid()} kind={kind} slept={int(slept > 0)} asked={asked} got={got} gave={gave}\n')
            # A write of less than a page, to a pipe, is not mixed with others.
            for line in lines:
                os.write(1, line.encode())
            os._exit(0)
    for _ in range(tasks):
        if os.wait()[1]:
            sys.exit('a task of the crowd failed')


def main():
    what, *words = sys.argv[1:]
    if what == 'one':
        one(words[0], int(words[1]), *words[2:])
    elif what == 'line':
        line()
    else:
        crowd(int(words[0]), int(words[1]), words[2])


if __name__ == '__main__':
    main()
