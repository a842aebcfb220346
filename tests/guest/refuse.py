#!/usr/bin/python3
# SPDX-License-Identifier: GPL-2.0-only
"""Lets one thing after the other fail while a module is loaded, a parameter is written, or a pool
grows. After each it looks whether anything was left behind.

  refuse nth KIND load FILE PARAMETERS
  refuse nth KIND write FILE VALUE
  refuse nth KIND grow FILE THREADS
        the 1st, 2nd, 3rd ... of a KIND, until all went well without one. KIND is "call", a call
        of a module of ours that can fail, see tests/inject/refuse.c; or an allocation as
        CONFIG_FAULT_INJECTION counts them: "alloc" of this task, "init" likewise, but only from
        the module's init function on, "thread" of the kernel's thread that makes the threads,
        "work" of the work items of the core. "call" for "grow" is that of any task.
  refuse needs FILE...
        prints the symbols that modules ask the kernel for, one per line
  refuse symbols FILE
        none of the symbols that a module asks the kernel for is weak, so that the kernel refuses a
        module that lacks one; some of them have another name, one at a time
  refuse strings FILE ERRNO PARAMETERS STRING...
        each of the strings of a module has another first letter; loading it fails with ERRNO, or
        not at all if that is 0

Prints what was wrong, as lines with a #, and at last what it did, as NAME=VALUE.
"""
import ctypes
import difflib
import errno
import os
import struct
import sys
import threading
import time
from pathlib import Path

REFUSE = Path('/sys/module/latency_tracker_refuse/parameters')
STATE = Path('/sys/kernel/latency_tracker')
EVENTS = Path('/sys/kernel/tracing/events')
SETTLE_S = 5
NTH_MAX = 5000
# Each second one, where a run is to be shorter: the first, or the second.
HALF = os.environ.get('HALF', '')
GROW_FROM = 64
LIBC = ctypes.CDLL(None, use_errno=True)
# Of ELF.
SHT_PROGBITS, SHT_SYMTAB, SHF_ALLOC, SHN_UNDEF, STB_GLOBAL = 1, 2, 2, 0, 1
# Symbols of each module.
TRIED = 8

wrong = 0


def complain(text):
    global wrong
    wrong += 1
    print('#', text, flush=True)


# --- what there is of our modules in the kernel ----------------------------------------

def threads(prefix):
    """The tasks whose names begin so: their pids and names."""
    for pid in filter(str.isdigit, os.listdir('/proc')):
        try:
            comm = Path('/proc', pid, 'comm').read_text(encoding='latin-1').strip()
        except OSError:
            continue                    # gone
        if comm.startswith(prefix):
            yield int(pid), comm


def look():
    """Whatever a module of ours registers somewhere."""
    facts = [f'thread {comm}' for _, comm in threads('lt_')]
    lines = {'/proc/modules': 1, '/sys/kernel/debug/kprobes/list': 3,
             '/sys/devices/system/cpu/hotplug/states': None, REFUSE / 'probes': None}
    for path, words in lines.items():
        if os.path.exists(path):
            facts += [f'{path}: {line.split()[:words]}' for line in open(path, encoding='latin-1')]
    names = {'/sys/module': 'latency_tracker', '/sys/kernel': 'latency_tracker', STATE: '',
             EVENTS: 'latency_tracker', EVENTS / 'latency_tracker': ''}
    for path, prefix in names.items():
        if os.path.isdir(path):
            facts += [f'{path}: {name}' for name in os.listdir(path) if name.startswith(prefix)]
    return sorted(facts)


def compare(before, what):
    """Returns the facts. Threads and processes take a moment to go."""
    end = time.monotonic() + SETTLE_S
    while (after := look()) != before:
        if time.monotonic() > end:
            complain(f'{what}: not as it was before:')
            for line in difflib.ndiff(before, after):
                if line[0] in '-+':
                    print('#', line)
            break
        time.sleep(0.1)
    return after


# --- modules ---------------------------------------------------------------------------

class Module:
    """A module's file, in memory. What it needs may be given another name there."""

    def __init__(self, path):
        self.name = Path(path).name.split('.')[0]
        self.image = bytearray(Path(path).read_bytes())
        offset, = struct.unpack_from('<Q', self.image, 40)
        size, number = struct.unpack_from('<HH', self.image, 58)
        # Of each section: name, type, flags, address, offset, size, link.
        self.sections = [struct.unpack_from('<IIQQQQI', self.image, offset + i * size)
                         for i in range(number)]

    def load(self, parameters):
        """Returns 0 or an errno."""
        image = (ctypes.c_char * len(self.image)).from_buffer(self.image)
        failed = LIBC.init_module(image, ctypes.c_ulong(len(self.image)), parameters.encode())
        return ctypes.get_errno() if failed else 0

    def unload(self):
        failed = LIBC.delete_module(self.name.encode(), os.O_NONBLOCK)
        return ctypes.get_errno() if failed else 0

    def needed(self):
        """Where the names of the symbols are that it wants, the names, and how they are bound."""
        for _, kind, _, _, offset, size, link in self.sections:
            if kind != SHT_SYMTAB:
                continue
            for at in range(offset, offset + size, 24):
                name, info, _, section = struct.unpack_from('<IBBH', self.image, at)
                start = self.sections[link][4] + name
                text = self.image[start:self.image.index(0, start)].decode()
                if section == SHN_UNDEF and text:
                    yield start, text, info >> 4

    def find(self, text):
        """Where a string is in what the module brings into memory."""
        wanted = text.encode() + b'\0'
        for _, kind, flags, _, offset, size, _ in self.sections:
            at = offset - 1
            while kind == SHT_PROGBITS and flags & SHF_ALLOC and (
                    at := self.image.find(wanted, at + 1, offset + size)) >= 0:
                if at == offset or not self.image[at - 1]:
                    yield at

    def load_without(self, places, parameters, name, expected):
        """With another letter in these places, which are a name's."""
        for place in places:
            self.image[place] ^= 1
        error = self.load(parameters)
        for place in places:
            self.image[place] ^= 1
        if error != expected or (not error and self.unload()):
            complain(f'without {name}: {os.strerror(error)}')


# --- the n-th of a kind ----------------------------------------------------------------

class Failure:
    """The n-th of a kind fails, of a task. What is asked of the kernel between arm() and disarm()
    is only what is to fail."""

    def __init__(self, kind, task):
        self.kind = kind
        self.file = None
        (REFUSE / 'task').write_text(str(task))
        if kind not in ('call', 'work'):
            # To open it would be counted.
            self.file = os.open(f'/proc/{2 if kind == "thread" else task}/fail-nth', os.O_RDWR)

    def counter(self):
        return 'nth' if self.kind == 'call' else 'work_nth'

    def arm(self, n):
        if self.kind in ('call', 'work'):
            (REFUSE / self.counter()).write_text(str(n))
        elif self.kind == 'init':
            (REFUSE / 'init_nth').write_text(str(n))
        else:
            os.pwrite(self.file, str(n).encode(), 0)

    def disarm(self):
        """Returns whether it has failed."""
        if self.kind in ('call', 'work'):
            left = int((REFUSE / self.counter()).read_text())
            (REFUSE / self.counter()).write_text('0')
            return not left
        left = int(os.pread(self.file, 16, 0))
        os.pwrite(self.file, b'0', 0)
        if self.kind == 'init':
            (REFUSE / 'init_nth').write_text('0')
        return not left

    def close(self):
        if self.file is not None:
            os.close(self.file)


def load(kind, path, parameters):
    """A module is loaded. Returns a function that does it once, and returns 0 or an errno, and
    whether something was made to fail."""
    module, failure = Module(path), Failure(kind, os.getpid())

    def run(n):
        failure.arm(n)
        error = module.load(parameters)
        failed = failure.disarm()
        if not error and module.unload():
            complain(f'load {n}: can not be unloaded')
        return error, failed
    return run


def write(kind, path, value):
    """A value is written."""
    path, failure = Path(path), Failure(kind, os.getpid())

    def run(n):
        data, error = value.encode(), 0
        old = path.read_text().strip('\n')
        file = os.open(path, os.O_WRONLY)
        failure.arm(n)
        try:
            os.write(file, data)
        except OSError as err:
            error = err.errno
        failed = failure.disarm()
        os.close(file)
        new = path.read_text().strip('\n')
        if new != (old if error else value):
            complain(f'write {n}: {os.strerror(error)}, but from {old} it is {new} now')
        if not error:
            path.write_text(old or '\n')
        return error, failed
    return run


def wait_for_room(n, number):
    """Once all threads are in their call, and the pool has grown until it is not low any more,
    whatever has failed before: half of its capacity is free, or as much as is there on top of it for
    what two CPUs keep, at most a quarter. Threads that came too early have no event."""
    end = time.monotonic() + SETTLE_S
    while time.monotonic() < end:
        time.sleep(0.05)
        capacity = int((STATE / 'syscalls/capacity').read_text())
        pending = int((STATE / 'syscalls/pending').read_text())
        if (threading.active_count() > number and capacity > GROW_FROM and
                pending <= capacity // 2 + capacity // 4):
            return
    complain(f'grow {n}: {pending} events pending, room for {capacity}')


def grow(kind, path, argument):
    """A pool is too small for the threads that are in a system call at once. The tracker sees this
    process alone."""
    module, number = Module(path), int(argument)
    threading.stack_size(256 << 10)

    def run(n):
        error = module.load(f'max_events={GROW_FROM} grow_limit={4 * number}'
                            f' usec_threshold=18446744073709551 tgid={os.getpid()}')
        if error:
            sys.exit(f'load: {os.strerror(error)}')
        failure = Failure(kind, 0)
        exit_, gate = os.pipe()
        blocked = [threading.Thread(target=os.read, args=(exit_, 1)) for _ in range(number)]
        failure.arm(n)
        for thread in blocked:
            thread.start()
        wait_for_room(n, number)
        failed = failure.disarm()
        os.write(gate, bytes(number))
        for thread in blocked:
            thread.join()
        for file in exit_, gate:
            os.close(file)
        failure.close()
        if module.unload():
            complain(f'grow {n}: can not be unloaded')
        return 0, failed
    return run


# --- the commands ----------------------------------------------------------------------

def nth(kind, deed, path, argument):
    """An error that has no failure behind it is none, and so is one that has but tells something
    else. Not each failure ends in an error: some can be done without."""
    # All that fails for want of memory says so; a selftest is free to say EIO.
    sensible = {errno.ENOMEM}
    sensible |= {errno.EAGAIN} if kind == 'thread' else set()
    sensible |= {errno.EIO} if 'selftest' in path else set()
    run = {'load': load, 'write': write, 'grow': grow}[deed](kind, path, argument)
    errors = survived = 0
    before = look()
    turns = range(1 + int(HALF), NTH_MAX, 2) if HALF else range(1, NTH_MAX)
    for n in turns:
        error, failed = run(n)
        said = os.strerror(error) if error else 'done without'
        if failed and kind == 'call':
            print(f'# {n}: {(REFUSE / "failed").read_text().strip()}: {said}')
        errors += bool(error and failed)
        survived += bool(not error and failed)
        if error and (not failed or error not in sensible):
            complain(f'{n}: {said}' + (', though nothing has failed' if not failed else ''))
        before = compare(before, f'{n}')
        if not failed:
            break
    else:
        complain('there is no end of it')
    print(f'failures={errors + survived} errors={errors} survived={survived} wrong={wrong}')


def needs(*paths):
    for path in paths:
        print(*(name for _, name, _ in Module(path).needed()), sep='\n')


def symbols(path):
    module, before = Module(path), look()
    places = list(module.needed())
    for _, name, binding in places:
        if binding != STB_GLOBAL:
            complain(f'{name} may be missing')
    tried = places[::max(1, len(places) // TRIED)]
    for place, name, _ in tried:
        module.load_without([place], '', name, errno.ENOENT)
    # Not one of them came as far as its own code.
    compare(before, 'symbols')
    print(f'symbols={len(places)} tried={len(tried)} wrong={wrong}')


def strings(path, expected, parameters, *names):
    module = Module(path)
    found = {name: places for name in names if (places := list(module.find(name)))}
    before = look()
    for name, places in found.items():
        module.load_without(places, parameters, name, int(expected))
        before = compare(before, name)
    print(f'found={len(found)} wrong={wrong}')


# A page that is not there yet would be an allocation: MCL_CURRENT, MCL_FUTURE.
LIBC.mlockall(3)
{'nth': nth, 'needs': needs, 'symbols': symbols, 'strings': strings}[sys.argv[1]](*sys.argv[2:])
sys.exit(wrong != 0)
