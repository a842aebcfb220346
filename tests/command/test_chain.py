# SPDX-License-Identifier: GPL-2.0-only
"""Activations in words."""
from latency_tracker.records import Report, Value
from latency_tracker.words import words

MS = 1_000_000
TIMER: dict[str, Value] = {
    'comm': 'loop', 'pid': 9, 'irq': -1, 'via': 'hardirq', 'stage': 'done', 'raise': 30 * MS, 'handling': 0, 'waiting': 6 * MS,
    'returning': -1, 'working': 4 * MS, 'interrupted_comm': 'driver', 'interrupted_pid': 7, 'prev_comm': 'hog', 'prev_pid': 8,
    'stack': ['cmd_off+0x5b/0x90 [driver]', 'vfs_write+0xb9/0x3e0']}


def chain(flag: str = 'ended', **other: Value) -> Report:
    """Of 40 ms."""
    return Report('chain', 'chain_latency', 1, 0, 0, 40 * MS, flag, values={**TIMER, **other})


def test_timer() -> None:
    """Each stage has its share, and what was found in it."""
    of = words(chain())
    assert of.text == 'loop (9), woken by a timer, was done after 40.0 ms, mostly until its timer was served'
    assert of.details == [
        '30.0 ms, 75 %, until its timer was served: the interrupt has found driver (7) in cmd_off()',
        '0 ns, 0 %, until it was woken', '6.00 ms, 15 %, waiting for a CPU: hog (8) had it last', '4.00 ms, 10 %, at work']


def test_return() -> None:
    """What has its CPU is not at work as long as it is in the kernel."""
    of = words(chain('pending', stage='returning', returning=34 * MS, working=-1, **{'raise': 0}))
    assert of.text == 'loop (9), woken by a timer, is not done after 40.0 ms, mostly until it was back in user space'
    assert of.details[-1] == '34.0 ms, 85 %, until it was back in user space'


def test_undone() -> None:
    """Its mark had not ended when it was woken for the next time."""
    assert words(chain(stage='working')).text == (
        'loop (9), woken by a timer, was not done when it was to begin again, after 40.0 ms, mostly until its timer was served')


def test_line() -> None:
    """What is not known is said to be unknown, and what is not over is none."""
    of = words(chain('pending', irq=24, via='thread', stage='waiting', handling=10 * MS, waiting=30 * MS, working=-1, **{'raise': -1}))
    assert of.text == 'loop (9), woken by interrupt 24, is not done after 40.0 ms, mostly waiting for a CPU'
    assert of.details == ['10.0 ms, 25 %, until it was woken, by the thread of its handler',
                          '30.0 ms, 75 %, waiting for a CPU: hog (8) has it', 'when the line was raised is not known']
    assert words(chain(prev_pid=0)).details[2].endswith('nothing had it last')
    assert words(chain(prev_pid=-1, prev_comm='-')).details[2].endswith('waiting for a CPU')
