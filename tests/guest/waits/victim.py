#!/usr/bin/python3
# SPDX-License-Identifier: GPL-2.0-only
"""A task that is kept waiting, and measures for how long by CLOCK_MONOTONIC.

Usage: victim.py WAY ARGUMENT...        see the functions of that name

It prepares itself, prints "ready pid=N", waits for the end of its standard input, does what is
slow, and prints pid, begin and end, in ns, of each wait.
"""
import ctypes
import errno
import fcntl
import mmap
import os
import socket
import struct
import sys
import threading
import time
from contextlib import suppress

KIB = 1024
HELD_S = 1.0            # for how long whatever is held is held
GAP_NS = 100 * 10**6    # shorter ones may be pauses of the machine
MADV_PAGEOUT = 21
MCL_CURRENT = 1
PTRACE_DETACH, PTRACE_SYSCALL, PTRACE_SEIZE, PTRACE_INTERRUPT = 17, 24, 0x4206, 0x4207
LIBC = ctypes.CDLL(None, use_errno=True)


def be_called(name):
    with open('/proc/thread-self/comm', 'w', encoding='ascii') as comm:
        comm.write(name)


def check(result):
    if result < 0:
        raise OSError(ctypes.get_errno(), os.strerror(ctypes.get_errno()))
    return result


def ready(pid=0):
    print(f'ready pid={pid or threading.get_native_id()}', flush=True)
    while os.read(0, 100):
        pass


def begins():
    """Of a wait: the CPU time of this thread, and now."""
    return time.thread_time_ns(), time.monotonic_ns()


def tell(begun):
    """A wait ends now. In the time that this thread had the CPU it has not waited; a pause of the machine
    counts as such time."""
    end, cpu = time.monotonic_ns(), max(0, time.thread_time_ns() - begun[0])
    print(f'pid={threading.get_native_id()} begin={begun[1]} end={end} cpu={cpu}', flush=True)


def measure(call, *args):
    ready()
    begun = begins()
    call(*args)
    tell(begun)


def holder(hold):
    """A process lt-holder, which calls hold(told) and ends. Returns its pid once it has called
    told(), with what it holds in its hands."""
    ours, theirs = os.pipe()
    pid = os.fork()
    if not pid:
        be_called('lt-holder')
        hold(lambda: os.write(theirs, b'x'))
        os._exit(0)
    os.read(ours, 1)
    return pid


def held_from(begin):
    """The holder begins with the measurement."""
    ready()
    pid = begin()
    return pid, begins()


# --- disks ----------------------------------------------------------------------------

def direct(path):
    """One direct read of 4 KiB."""
    fd, buffer = os.open(path, os.O_RDONLY | os.O_DIRECT), mmap.mmap(-1, 4 * KIB)
    measure(os.preadv, fd, [buffer], 1024 * KIB)


def fsync(path):
    fd = os.open(path, os.O_RDWR | os.O_CREAT)
    os.pwrite(fd, b'x' * 4 * KIB, 0)
    measure(os.fsync, fd)


def fault(path):
    """A page of a mapped file that is not in memory."""
    fd = os.open(path, os.O_RDWR | os.O_CREAT)
    os.pwrite(fd, b'x' * 64 * KIB, 0)
    os.fsync(fd)
    memory = mmap.mmap(fd, 64 * KIB, prot=mmap.PROT_READ)
    memory.madvise(mmap.MADV_RANDOM)
    os.posix_fadvise(fd, 0, 0, os.POSIX_FADV_DONTNEED)
    measure(lambda: memory[32 * KIB])


def swap():
    """A page that is swapped out; the test sees to it that it leaves the memory. All else of this process
    stays there, so that it waits for that page alone."""
    check(LIBC.mlockall(MCL_CURRENT))
    memory = mmap.mmap(-1, 4096 * KIB, flags=mmap.MAP_PRIVATE | mmap.MAP_ANONYMOUS)
    for at in range(0, len(memory), 4 * KIB):
        memory[at:at + 8] = struct.pack('Q', at)
    memory.madvise(mmap.MADV_RANDOM)
    memory.madvise(MADV_PAGEOUT)
    measure(lambda: memory[2048 * KIB])


# --- memory and the CPU ---------------------------------------------------------------

def memory():
    """It takes more and more for two seconds: the first waits are shorter than the threshold."""
    def grow():
        end, at = time.monotonic() + 2 * HELD_S, 0
        while time.monotonic() < end and at < len(room):
            room[at] = 1
            at += 4 * KIB

    room = mmap.mmap(-1, 128 << 20, flags=mmap.MAP_PRIVATE | mmap.MAP_ANONYMOUS)
    with suppress(OSError):     # PREEMPT_RT has no huge pages
        room.madvise(mmap.MADV_NOHUGEPAGE)
    measure(grow)


def spin(cpu, irq_ms=0):
    """A loop in user space until the end of standard input. Each gap is a wait: with irq_ms, longer ones,
    and whether the task had the CPU does not matter, as the kernel counts an interrupt as its time."""
    os.sched_setaffinity(0, {int(cpu)})
    print(f'ready pid={os.getpid()}', flush=True)
    os.set_blocking(0, False)
    gap = int(irq_ms) * 10**6 or GAP_NS
    looked = begins()
    now = looked[1]
    while True:
        last, now = now, time.monotonic_ns()
        if now - last >= gap:
            tell((time.thread_time_ns() if irq_ms else looked[0] + max(0, last - looked[1]), last))
        if now - looked[1] >= GAP_NS:
            with suppress(BlockingIOError):
                if not os.read(0, 1):
                    return
            # It may have been kept in that: then this is told first.
            if time.monotonic_ns() - now < GAP_NS:
                looked = begins()


def yields():
    """It lets another real-time task of its priority go on, which takes its time."""
    os.sched_setaffinity(0, {1})
    os.sched_setscheduler(0, os.SCHED_FIFO, os.sched_param(10))
    ours, theirs = os.pipe()
    if not os.fork():
        be_called('lt-holder')
        os.read(ours, 1)
        spin_for(HELD_S / 2)
        os._exit(0)
    ready()
    os.write(theirs, b'x')      # it can go on now, but does not take the CPU
    begun = begins()
    os.sched_yield()
    tell(begun)


def spin_for(seconds):
    end = time.monotonic() + seconds
    while time.monotonic() < end:
        pass


def trace(pid, where=''):
    """No victim: stops that task, as a debugger does; where: "call": where its next call begins."""
    pid = int(pid)
    check(LIBC.ptrace(PTRACE_SEIZE, pid, None, None))
    check(LIBC.ptrace(PTRACE_INTERRUPT, pid, None, None))
    os.waitpid(pid, 0x40000000)         # __WALL
    if where == 'call':
        check(LIBC.ptrace(PTRACE_SYSCALL, pid, None, None))
        os.waitpid(pid, 0x40000000)
    time.sleep(HELD_S)
    check(LIBC.ptrace(PTRACE_DETACH, pid, None, None))


# --- others ---------------------------------------------------------------------------

def sleep():
    # Before 3.11 that of Python is select().
    measure(LIBC.usleep, int(HELD_S * 1000000))


def child():
    def begin():
        return holder(lambda told: (told(), time.sleep(HELD_S)))

    pid, begun = held_from(begin)
    os.waitpid(pid, 0)
    tell(begun)


def pipe():
    ours, theirs = os.pipe()

    def begin():
        return holder(lambda told: (told(), time.sleep(HELD_S), os.write(theirs, b'x')))

    _, begun = held_from(begin)
    os.read(ours, 1)
    tell(begun)


def flock(path):
    def hold(told):
        fd = os.open(path, os.O_RDWR | os.O_CREAT)
        fcntl.flock(fd, fcntl.LOCK_EX)
        told()
        time.sleep(HELD_S)
        fcntl.flock(fd, fcntl.LOCK_UN)

    fd = os.open(path, os.O_RDWR | os.O_CREAT)
    _, begun = held_from(lambda: holder(hold))
    fcntl.flock(fd, fcntl.LOCK_EX)
    tell(begun)


def inode(path):
    """The lock of an inode, which a write that makes the file larger holds over its I/O."""
    def hold(told):
        buffer = mmap.mmap(-1, 4 * KIB)
        told()
        os.pwritev(os.open(path, os.O_RDWR | os.O_DIRECT), [buffer], 0)

    fd = os.open(path, os.O_RDWR | os.O_CREAT | os.O_TRUNC)
    held_from(lambda: holder(hold))
    time.sleep(0.1)
    begun = begins()
    os.fchmod(fd, 0o600)
    tell(begun)


def lock():
    """A pthread_mutex_t of two threads."""
    sys.path.append(os.path.dirname(os.path.dirname(os.path.abspath(__file__))))
    from userlocks import Mutex
    mutex, held = Mutex('mutex'), threading.Event()

    def hold():
        be_called('lt-holder')
        mutex.take()
        held.set()
        time.sleep(HELD_S)
        mutex.give()

    thread = threading.Thread(target=hold)
    ready()
    thread.start()
    held.wait()
    begun = begins()
    mutex.take()
    tell(begun)
    thread.join()


# --- packets --------------------------------------------------------------------------

def sockets():
    server = socket.socket(socket.AF_INET, socket.SOCK_DGRAM)
    server.bind(('127.0.0.1', 0))
    client = socket.socket(socket.AF_INET, socket.SOCK_DGRAM)
    client.connect(server.getsockname())
    return client, server


def datagram():
    """It lies in its socket. As the victim is the datagram, the reports are about no task."""
    client, server = sockets()
    ready()
    begun = time.monotonic_ns()
    client.send(b'x')
    time.sleep(HELD_S)
    server.recv(10)
    print(f'pid=0 begin={begun} end={time.monotonic_ns()}')


def received():
    """It is waited for."""
    client, server = sockets()
    measure(lambda: (client.send(b'x'), server.recv(10)))


def awaited(run):
    """It comes to another CPU, where a task lets no soft interrupts run: see tests/inject/inject_irq.c."""
    def hog(told):
        os.sched_setaffinity(0, {1})
        told()
        with open(run, 'w', encoding='ascii') as inject:
            inject.write('softirq 0 400 1 0')

    client, server = sockets()
    os.sched_setaffinity(0, {0})
    held_from(lambda: holder(hog))
    time.sleep(0.1)
    begun = begins()
    client.send(b'x')
    server.recv(10)
    tell(begun)


# --- supervisors ----------------------------------------------------------------------

class Program(ctypes.Structure):
    _fields_ = [('length', ctypes.c_ushort), ('filter', ctypes.c_char_p)]


def supervised(how='let'):
    """getppid() is let go on by a supervisor (seccomp_unotify(2)), or refused."""
    number, seccomp = {'x86_64': (110, 317), 'aarch64': (173, 277)}[os.uname().machine]
    filters = b''.join(struct.pack('HBBI', *words) for words in (
        (0x20, 0, 0, 0),                # the number of the system call
        (0x15, 0, 1, number),
        (0x06, 0, 0, 0x7fc00000),       # SECCOMP_RET_USER_NOTIF
        (0x06, 0, 0, 0x7fff0000)))      # SECCOMP_RET_ALLOW
    program = Program(4, filters)
    listener, there = [], threading.Event()

    def supervise():
        be_called('lt-holder')
        there.wait()
        request = bytearray(80)
        fcntl.ioctl(listener[0], 0xc0502100, request)           # SECCOMP_IOCTL_NOTIF_RECV
        time.sleep(HELD_S)
        end = (0, 0, 1) if how == 'let' else (0, -errno.EPERM, 0)
        answer = struct.pack('QqiI', struct.unpack_from('Q', request)[0], *end)
        fcntl.ioctl(listener[0], 0xc0182101, answer)            # SECCOMP_IOCTL_NOTIF_SEND

    thread = threading.Thread(target=supervise)
    thread.start()
    check(LIBC.prctl(38, 1, 0, 0, 0))                           # PR_SET_NO_NEW_PRIVS
    # SECCOMP_SET_MODE_FILTER, SECCOMP_FILTER_FLAG_NEW_LISTENER
    listener.append(check(LIBC.syscall(seccomp, 1, 8, ctypes.byref(program))))
    ready()
    there.set()
    begun = begins()
    LIBC.syscall(number)
    tell(begun)
    thread.join()


if __name__ == '__main__':
    be_called('lt-victim')
    {way.__name__: way for way in (
        direct, fsync, fault, swap, memory, spin, yields, trace, sleep, child, pipe, flock, inode, lock,
        datagram, received, awaited, supervised)}[sys.argv[1]](*sys.argv[2:])
