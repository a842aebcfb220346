# SPDX-License-Identifier: GPL-2.0-only
"""Poll the file "crossings" of the tracker "function", which tracks a system call that
nobody else makes, with threshold 0: each call is one crossing.

Usage: poll.py COMMAND [ARGUMENT...]; prints NAME=VALUE, see the functions.
"""
import errno
import os
import select
import subprocess
import sys
import time

DIR = '/sys/kernel/latency_tracker/function'


def cross():
    os.sched_rr_get_interval(0)


def value(name):
    with open(f'{DIR}/{name}') as file:
        return int(file.read())


def open_all(number):
    """Each as a reader of its own, who has read."""
    fds = [os.open(f'{DIR}/crossings', os.O_RDONLY) for _ in range(number)]
    for fd in fds:
        os.pread(fd, 32, 0)
    return fds


def woken(fd, seconds):
    """Whether poll() returned because of a crossing."""
    poll = select.poll()
    poll.register(fd, select.POLLPRI)
    return any(events & select.POLLPRI for _, events in poll.poll(seconds * 1000))


def children(number, work):
    """Run work() in each, with a pipe to tell what it returns. Returns the pipes."""
    pipes = []
    for _ in range(number):
        there, here = os.pipe()
        if not os.fork():
            os.close(there)
            os.write(here, str(work()).encode())
            os._exit(0)
        os.close(here)
        pipes.append(there)
    return pipes


def results(pipes):
    texts = [os.read(pipe, 4096).decode() for pipe in pipes]
    for _ in pipes:
        os.wait()
    return [text.split() for text in texts]


def asleep(number):
    """Until all children sleep, for a while: in poll(), there is nothing else."""
    deadline, times = time.monotonic() + 10, 0
    while time.monotonic() < deadline:
        states = subprocess.run(['ps', '-o', 'stat=', '--ppid', str(os.getpid())],
                                capture_output=True, text=True, check=False).stdout
        times = times + 1 if states.count('S') >= number else 0
        if times == 3:
            return
        time.sleep(0.1)
    print('not_asleep=1', end=' ')


def between(number):
    """A crossing between read and poll; time enough for it to be told to nobody."""
    fds = open_all(number)
    early = sum(woken(fd, 0) for fd in fds)
    cross()
    time.sleep(0.7)
    ready = sum(woken(fd, 0) for fd in fds)
    values = {os.pread(fd, 32, 0) for fd in fds}
    again = sum(woken(fd, 0) for fd in fds)
    print(f'early={early} ready={ready} values={len(values)} again={again}')


def sleepers(number, *command):
    """Readers who sleep; a crossing, or a command that is to wake them."""
    before = value('crossings')

    def work():
        fd = open_all(1)[0]
        ok = woken(fd, 60)
        at = time.monotonic_ns()
        try:
            read = int(os.pread(fd, 32, 0)) - before
        except OSError as error:
            read = errno.errorcode[error.errno]
        return f'{int(ok)} {int(woken(fd, 0))} {read} {at}'

    pipes = children(number, work)
    asleep(number)
    if command:
        subprocess.run(command, check=True)
    begin = time.monotonic_ns()
    if not command:
        cross()
    got = results(pipes)
    print(f'woken={sum(int(ok) for ok, *_ in got)} still={sum(int(ok) for _, ok, *_ in got)}'
          f' read={",".join({read for _, _, read, _ in got})}'
          f' last_ms={max(0, max(int(at) for *_, at in got) - begin) // 1000000}')


def storm(number, seconds):
    """Crossings as fast as two processes can, and readers who count."""
    stop, write = os.pipe()

    def work():
        fd, wakes = open_all(1)[0], 0
        poll = select.poll()
        poll.register(fd, select.POLLPRI)
        poll.register(stop, select.POLLIN)
        while True:
            found = [which for which, events in poll.poll() if which == fd]
            if not found:
                return f'{wakes} {int(os.pread(fd, 32, 0))}'
            wakes += 1
            os.pread(fd, 32, 0)

    def make():
        end = time.monotonic() + seconds
        while time.monotonic() < end:
            for _ in range(100):
                cross()
        return ''

    pipes = children(number, work)
    asleep(number)
    first, suppressed = value('crossings'), value('crossings_suppressed')
    begin = time.monotonic()
    results(children(2, make))
    took = time.monotonic() - begin
    # The tracker's thread may be at other work, for long in a debug build.
    slow = int(os.environ.get('LAB_SLOW') or 1)
    time.sleep((2 * value('crossings_interval_ns') / 1e9 + 0.7) * slow)
    os.write(write, b'x')
    got = results(pipes)
    now = value('crossings')
    suppressed = value('crossings_suppressed') - suppressed
    print(f'crossings={now - first} suppressed={suppressed} took_ms={int(took * 1000)}'
          f' told={now - first - suppressed}'
          f' wakes_min={min(int(wakes) for wakes, _ in got)}'
          f' wakes_max={max(int(wakes) for wakes, _ in got)}'
          f' right={sum(int(last) == now for _, last in got)}')


def single(number):
    """One by one, the next when the reader knows of the last."""
    fd = open_all(1)[0]
    suppressed, wakes, took = value('crossings_suppressed'), 0, []
    for _ in range(number):
        time.sleep(1.5 * value('crossings_interval_ns') / 1e9)
        begin = time.monotonic_ns()
        cross()
        wakes += woken(fd, 20)
        took.append((time.monotonic_ns() - begin) // 1000000)
        os.pread(fd, 32, 0)
    print(f'wakes={wakes} suppressed={value("crossings_suppressed") - suppressed}'
          f' more={int(woken(fd, 1))} middle_ms={sorted(took)[number // 2]}')


def second(number):
    """Two at once, of which the second one is told when the interval is over."""
    fd, took, wakes = open_all(1)[0], [], 0
    for _ in range(number):
        time.sleep(1.5 * value('crossings_interval_ns') / 1e9)
        cross()
        wakes += woken(fd, 20)
        os.pread(fd, 32, 0)
        begin = time.monotonic_ns()
        cross()
        wakes += woken(fd, 20)
        took.append((time.monotonic_ns() - begin) // 1000000)
        os.pread(fd, 32, 0)
    print(f'wakes={wakes} least_ms={min(took)} middle_ms={sorted(took)[number // 2]}')


def pending():
    """Told while it is pending, and once more if its end is late."""
    fd = open_all(1)[0]
    child = subprocess.Popen([os.environ['BIN'] + '/inject', 'nanosleep', '3000'],
                             stdout=subprocess.DEVNULL)
    ok = woken(fd, 20)
    early = child.poll() is None
    new = int(os.pread(fd, 32, 0))
    child.wait()
    print(f'woken={int(ok)} pending={int(early)} crossings={new}'
          f' after_end={value("crossings")}')


if __name__ == '__main__':
    globals()[sys.argv[1]](*(int(word) if word.isdigit() else word for word in sys.argv[2:]))
