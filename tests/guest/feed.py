#!/usr/bin/python3
# SPDX-License-Identifier: GPL-2.0-only
"""Feeds the writable files of the modules with strings.

Usage: feed each FILE...
       feed SEED COUNT PROCESSES FILE...

"each": file after file gets all words, edges and bounds below. Otherwise they get COUNT strings
that are generated, one process file after file, several all files at the same time.

Where one process writes, the value is what it was, or what was written, in the form in which the
file shows it. With more, what is read may be another's, but must be in that form. In both cases it
is known beforehand whether a string is a value of the file: here it is decided again, from what
Documentation/ABI says, not by the kernel's functions.

Prints the strings that were not treated so, as lines with a #, and at last figures as NAME=VALUE.
What the files had at first is written back.
"""
import collections
import errno
import functools
import glob
import multiprocessing
import os
import random
import re
import sys

PAGE = os.sysconf('SC_PAGE_SIZE')
U64 = (1 << 64) - 1
SPACE = b'\t\n\v\f\r \xa0'

# --- what the files take, and how they show it -------------------------------------------


def number(f, text, pattern=rb'[+]?[0-9]+|-0+'):
    """Returns None if it is no number of the file's."""
    if not re.fullmatch(pattern, text):
        return None
    value = int(text, 16 if text.startswith(b'0x') else 10)
    return value if f.low <= value <= f.high else None


def decimal(value):
    return None if value is None else b'%d' % value


def unsigned(f, text):
    return decimal(number(f, text, rb'[+]?[0-9]+'))


def signed(f, text):
    return decimal(number(f, text))


def hexadecimal_too(f, text):
    return decimal(number(f, text, rb'[+]?[0-9]+|0x[0-9a-fA-F]+'))


def disk(f, text):
    """MAJOR:MINOR, or the name of a disk, or nothing, with space around it."""
    if len(text) > 127:
        return None
    text = text.strip(SPACE)
    match = re.fullmatch(rb'[+]?([0-9]+):[+]?([0-9]+)', text)
    if not match:
        return named(text) if text else b''
    major, minor = map(int, match.groups())
    return b'%d:%d' % (major, minor) if 1 <= major <= 4095 and minor <= 1048575 else None


def named(text):
    """The number of a disk that is there. (There are no partitions.)"""
    if not re.fullmatch(rb'(/dev/)?[\w-]+', text):
        return None
    path = b'/sys/block/' + text.removeprefix(b'/dev/')
    if not os.path.exists(path + b'/mq'):
        return None
    with open(path + b'/dev', 'rb') as number:
        return number.read().strip()


UNITS = {b's': 10**9, b'ms': 10**6, b'us': 1000, b'ns': 1}


def thresholds(f, text):
    """NAME:TIME,NAME:TIME... of groups that the tracker knows, see f.named(), or that are control groups."""
    shown, names, text = [], set(), text.strip(SPACE)
    for entry in text.split(b',') if text else ():
        match = re.fullmatch(rb'(.+):([0-9]+)(s|ms|us|ns)', entry.strip(SPACE), re.S)
        name, time = match and group_named(f, match[1]), match and int(match[2]) * UNITS[match[3]]
        if not match or not name or time >= U64 or name in names or len(names) == 64:
            return None
        names.add(name)
        unit = next(unit for unit, ns in UNITS.items() if not time % ns)
        shown.append(b'%s:%d%s' % (name, time // UNITS[unit], unit))
    return b','.join(shown)


def group_named(f, text):
    name = f.named(text)
    return name or (group(f, text) if text.startswith(b'/') and f.named != interrupt_named else None)


def no_place(f, text):
    """Places in programs, or nothing, in less than a page: no string of these is one. mark/uprobes has some."""
    return None if text.strip(SPACE) or len(text) >= PAGE else b''


def disk_named(text):
    words = text.split(b' ')
    known = ((b'read', b'write', b'flush', b'discard', b'other'),
             (b'queue', b'device', b'request', b'bio'))
    right = len(words) <= 3 and all(word in of for word, of in zip(words[1:], known))
    return b' '.join([disk_name(words[0]), *words[1:]]) if right and disk_name(words[0]) else None


def call_named(text):
    native, compat = names_of(NATIVE).values(), names_of('unistd_32.h').values()
    number = re.fullmatch(rb'[0-9]+', text) and int(text) < 1024
    return text if number or text in {*native, *compat} or (
        text.endswith(b' (32-bit)') and text.removesuffix(b' (32-bit)') in compat) else None


def class_named(text):
    return text if text in (b'deadline', b'realtime', b'normal', b'idle') else None


def mark_named(text):
    """A program that has it may come later."""
    return text if re.fullmatch(rb'[A-Za-z0-9_.-][A-Za-z0-9_./-]{0,46}', text) else None


def mark_or_none(f, text):
    return mark_named(text) if text else text


def kind_named(text):
    return text if text in KINDS else None


def interrupt_named(text):
    line = re.fullmatch(rb'irq ([0-9]+)', text)
    if line:
        return b'irq %d' % int(line[1]) if int(line[1]) < 1 << 32 else None
    words = text.split(b' ')
    return text if words[0] == b'softirq' and len(words) in (2, 3) and words[1] in VECTORS and (
        words[2:] in ([], [b'raise'], [b'run'])) else None


def origin_named(text):
    line = re.fullmatch(rb'irq ([0-9]+)', text)
    if line:
        return b'irq %d' % int(line[1]) if int(line[1]) < 1 << 32 else None
    return text if text == b'timer' else None


def device_named(text):
    words = text.split(b' ')
    right = words[0] in os.listdir(b'/sys/class/net') and (
        words[1:] in ([], [b'socket'], [b'consumed'], [b'dropped'], [b'sent']))
    return text if right else None


def disk_name(text):
    """What a disk is called in /sys/block; None if it is none of them."""
    path = b'/sys/dev/block/' + (disk(None, text) or b'nothing')
    return os.path.basename(os.path.realpath(path)) if os.path.exists(path) else None


def device(f, text):
    """The number of a network device, or a name that it might have."""
    if len(text) > 15 or text in (b'.', b'..'):
        return None
    if re.match(rb'[0-9-]', text):
        return signed(f, text)
    return None if re.search(rb'[\0-\x20\x7f\xa0/:]', text) else text


def protocol(f, text):
    names = {b'ip': 0x0800, b'ipv6': 0x86dd, b'arp': 0x0806}
    value = names.get(text) or number(f, text, rb'[+]?[0-9]+|0x[0-9a-fA-F]+')
    return b'0x%04x' % value if value else text if not text else None


def choice(f, text):
    """Of numbers, which may have names."""
    if text == b'' or text in f.names or (f.none and text == b'none'):
        return text
    value = number(f, text)
    return f.names[value] if f.names and value is not None else decimal(value)


NATIVE = 'unistd_64.h' if os.uname().machine == 'x86_64' else 'unistd.h'


@functools.cache
def names_of(name):
    """System calls by number, as the headers of the C library have them, or the kernel's own."""
    names = {}
    for pattern in ('include/*-linux-gnu/asm', 'include/asm-generic',
                    'src/linux-headers-*/arch/*/include/generated/uapi/asm',
                    'src/linux-headers-*/include/uapi/asm-generic'):
        for path in glob.glob(f'/usr/{pattern}/{name}'):
            with open(path, encoding='ascii') as header:
                text = header.read()
            for call, number in re.findall(r'#define __NR(?:3264)?_(\w+) (\d+)', text):
                names.setdefault(int(number), call.encode())
    if not names and name != 'unistd_32.h':
        sys.exit(f'feed: no header {name} says which system calls there are')
    return names


def calls(f, text):
    """System calls by name or number, all of them with a ! or none."""
    if not f.names:
        f.names = (names_of(NATIVE), names_of('unistd_32.h'))
    text = text.strip(SPACE)
    if not text:
        return text
    sign, chosen = b'!' * text.startswith(b'!'), set()
    for word in text.split(b','):
        if sign != word[:len(sign)] or (not sign and word.startswith(b'!')):
            return None
        word = word[len(sign):]
        found = [(table, number) for table, names in enumerate(f.names)
                 for number, name in names.items() if name == word]
        if not found and re.fullmatch(rb'[0-9]+', word) and int(word) < 1024:
            found = [(0, int(word))]
        if not found:
            return None
        chosen |= {found[0]}
    return b','.join(sign + f.names[table].get(number, b'%d' % number)
                     for table, number in sorted(chosen))


def boolean(f, text):
    """As the kernel's kstrtobool(): by the first letter, or by the second of "on" and "off". 7.3
    takes "enable" and "disable", too, which 6.12 does not; 5.10 does not take "true" and "false"."""
    release = tuple(map(int, os.uname().release.split('.')[:2]))
    if release > (6, 12):
        words = {b'e': b'Y', b'E': b'Y', b'd': b'N', b'D': b'N'}
        if text[:1] in words:
            return words[text[:1]]
    value = {b'y': b'Y', b'Y': b'Y', b't': b'Y', b'T': b'Y', b'1': b'Y', b'n': b'N', b'N': b'N',
             b'f': b'N', b'F': b'N', b'0': b'N'}.get(text[:1])
    if release <= (5, 10) and text[:1] in (b't', b'T', b'f', b'F'):
        value = None
    if text[:1] in (b'o', b'O'):
        value = {b'n': b'Y', b'N': b'Y', b'f': b'N', b'F': b'N'}.get(text[1:2])
    return value


def action(f, text):
    name, colon, count = text.partition(b':')
    if not colon:
        return name if name in (b'none', b'snapshot', b'traceoff') else None
    left = unsigned(f, count)
    return name + b':' + left if name in (b'snapshot', b'traceoff') and left else None


def several(f, text):
    names = text.split(b',')
    if not set(names) <= {b'all', *f.names}:
        return None
    if b'all' in names or set(names) == set(f.names):
        return b'all'
    return b','.join(name for name in f.names if name in names)


def toggle(_, text):
    return {b'Y': b'Y', b'1': b'Y', b'N': b'N', b'0': b'N'}.get(text)


def group(_, text):
    """The path of a control group that is there, or its id. Without the mount there is the root."""
    root = b'/sys/fs/cgroup'
    groups = {1: b'/'}
    if os.path.exists(root + b'/cgroup.procs'):
        groups = {os.stat(path).st_ino: path.removeprefix(root) or b'/'
                  for path, _, _ in os.walk(root)}
    if re.fullmatch(rb'[+]?[0-9]+', text):
        return groups.get(int(text))
    path = b'/' + b'/'.join(name for name in text.split(b'/') if name)
    return text if not text else path if text.startswith(b'/') and path in groups.values() else None


class Format:
    """What files take whose path ends with "end". slow: a new value takes the kernel a while. refusal: beside EINVAL."""

    def __init__(self, end, read, low=0, high=U64, slow=True, names=(), none=False, named=None,
                 group=None, refusal=errno.EINVAL):
        self.end, self.read, self.low, self.high, self.named, self.group = end, read, low, high, named, group
        self.slow, self.names, self.none, self.refusal = slow, names, none, refusal

    def shown(self, data):
        """How the file shows a string, or None: it is no value of it. A string ends at its first
        zero, as everywhere in sysfs; one newline at the end is allowed."""
        text = data.split(b'\0')[0]
        return self.read(self, text if self.read in (disk, thresholds, no_place) else text[:-1] if text.endswith(b'\n')
                         else text)


VECTORS = b'HI TIMER NET_TX NET_RX BLOCK IRQ_POLL TASKLET SCHED HRTIMER RCU'.split()
STATES = (b'preempted sleeping blocked other yielded throttled stopped traced frozen '
          b'unknown').split()
KINDS = (b'mutex semaphore rwsem_read rwsem_write rt_mutex rwbase_read rwbase_write percpu_read '
         b'percpu_write spinlock rwlock_read rwlock_write futex futex_pi futex_other flock posix').split()
FORMATS = (
    Format('/threshold_ns', hexadecimal_too, slow=False),
    Format('/timeout_ns', hexadecimal_too, slow=False),
    Format('/collect_ns', hexadecimal_too, slow=False),
    Format('/tracking_on', hexadecimal_too, 0, 1),
    Format('/crossings_interval_ns', hexadecimal_too, 1000000, 3600000000000, slow=False),
    Format('/usec_threshold', unsigned, 0, U64 // 1000, slow=False),
    Format('/usec_threshold_raise', unsigned, 0, U64 // 1000, slow=False),
    Format('/usec_wait', unsigned, 0, 86400 * 10**6),
    Format('/usec_stack', unsigned, 0, 86400 * 10**6, slow=False),
    Format('/usec_timeout', unsigned, 0, U64 // 1000, slow=False),
    Format('/pid', signed, 0, 4194304),
    Format('/tgid', signed, 0, 4194304),
    Format('block/parameters/dev', disk),
    Format('block/parameters/thresholds', thresholds, named=disk_named, group=b'vda read'),
    Format('syscalls/parameters/thresholds', thresholds, named=call_named, group=b'fsync'),
    Format('wakeup/parameters/thresholds', thresholds, named=class_named, group=b'normal'),
    Format('offcpu/parameters/thresholds', thresholds, named=class_named, group=b'idle'),
    Format('irq/parameters/thresholds', thresholds, named=interrupt_named, group=b'irq 7'),
    Format('lock/parameters/thresholds', thresholds, named=kind_named, group=b'rwsem_read'),
    Format('chain/parameters/thresholds', thresholds, named=origin_named, group=b'irq 7'),
    Format('mark/parameters/thresholds', thresholds, named=mark_named, group=b'request'),
    *(Format(f'/{name}', unsigned, 0, (1 << 32) - 1, slow=False)
      for name in ('user_threads', 'user_marks', 'user_reports', 'user_shared', 'shared_seconds')),
    Format('network/parameters/thresholds', thresholds, named=device_named, group=b'lo sent'),
    Format('network/parameters/dev', device, 1, (1 << 31) - 1),
    Format('/protocol', protocol, 1, 65535),
    Format('/probes', no_place),
    Format('chain/parameters/done', mark_or_none),
    Format('/calls', calls, 0, 1023),
    Format('/irq', choice, 0, (1 << 31) - 1, none=True),
    Format('/vector', choice, 0, 9, none=True, names=VECTORS),
    Format('/operations', several, names=(b'syscalls', b'offcpu', b'wakeup', b'lock', b'mark')),
    Format('/states', several, names=STATES), Format('/kinds', several, names=KINDS),
    Format('/kthreads', toggle), Format('/bios', toggle), Format('/preempted', toggle),
    Format('/egress', toggle), Format('/waker_irq', toggle), Format('/cgroup', group),
    # There are no gaps in a guest.
    Format('/cpu', choice, 0, os.sysconf('SC_NPROCESSORS_CONF') - 1),
    Format('/action', action, 0, (1 << 28) - 2, slow=False),
    Format('/interrupt_isolated', boolean, slow=False),
    Format('parameters/profile', boolean, slow=False),
    Format('parameters/groups', boolean, slow=False),
    Format('parameters/per_minute', unsigned, 0, 1000000, slow=False),
    Format('/per_minute', hexadecimal_too, 0, 1000000, slow=False),
    Format('/profile/on', hexadecimal_too, 0, 1, slow=False),
    *(Format(f'/chain_{stage}/profile/groups_on', hexadecimal_too, 0, 0, slow=False, refusal=errno.EOPNOTSUPP)
      for stage in ('raise', 'handling', 'waiting', 'returning', 'working')),
    Format('/profile/groups_on', hexadecimal_too, 0, 1, slow=False),
)

# --- what they get -----------------------------------------------------------------------

WORDS = [
    'none', 'snapshot', 'traceoff', 'snapshot:1', 'traceoff:0', 'none:1', 'snapshot:268435454',
    'snapshot:268435455', 'snapshot:', 'snapshot:-1', 'snapshot:x', 'traceoff:99999999999', 'snap',
    'stop', 'Traceoff', 'traceoff 1', 'traceoff:1 ', ' none', 'nonesuch', 'ip', 'ipv6', 'arp', 'IP',
    'tcp', 'HI', 'all', 'Y', 'N', 'blocked', 'stopped,frozen', 'blocked,', ',', 'S', 'NET', 'NET_RX', 'net_rx', 'RCU', 'lo', 'eth0',
    'fifteen-letters', 'sixteen-letters-', '.', '..', 'a/b', 'a.1', 'a:1', '8', '8:0', '8:', ':8', '8:0:0', '8\n:0',
    '8 :0',
    '0:0', '4095:1048575', '4096:0', '8:1048576', '+8:+0', '-8:0', '0x8:0', '0xffff', 'on', 'off',
    'vda:5ms', '/dev/vda:1000us', 'vda:0s, vda:1s', 'vda:18446744073709551616ns', 'vda:5', 'vda',
    'read,write', 'write,read,0', '!poll,!futex', 'poll,!futex', '!read,write', 'read,,write', '!',
    '!!read', 'read ,write', 'waitpid', '1023',
    '/', '//', '/none', '/none/', '/\n', '/\n/', '/.', ' /',
    'cycle', 'a' * 47, 'a' * 48, 'true', 'text', 'NaN', 'inf', '1e3', '1.5', '5us', '1s', '5 5', ' 5', '%s%n', '0x', '0xg', '+',
    '-', '-0', '-1', '-7', '--', '--1', '+-1', '0b1', '010', '5;', "'5'", '$(id)', '9' * 23, '\0',
    '\u00e4', '\u00c4th0', '\u20ac', '\u0665', '\uff15', '\U0001f427', '5\u00a0', '\x7f',
    '\x1b[2J', '', '9' * 5000, 'a' * 4095,
]
WORDS = [word.encode() for word in WORDS] + [b'\xff\xfe', b'\xff\xfe\1\2', b'5\xa0']
EDGES = [0, 1, 2, 9, 10, 15, 16, 127, 128, 255, 256, 999999, 1000000, 32767, 32768, 65535, 65536,
         4194303, 4194304, 4194305, 268435454, 268435455, *(2**n + i for n in (31, 32, 63, 64)
                                                            for i in (-2, -1, 0, 1)),
         3600000000000, 3600000000001, U64 // 1000, U64 // 1000 + 1]
STYLES = [b'%d', b'%d', b'%d', b'0x%x', b'0x%X', b'0%o', b'%x', b'-%d', b'+%d', b'0%d', b' %d',
          b'%d ', b'\t%d', b'%d\n\n', b'0' * 47 + b'%d', b'%dk', b'%d,0', b'%d%%', b'%d;rm',
          b'0x+%x', b'0X%x']
LENGTHS = [4094, 4095, 4096, 4097, 5000, 8192, 65536]


class Strings:
    """One after the other, of all kinds."""

    def __init__(self, seed):
        self.random = random.Random(seed)
        self.kinds = {self.long: 1, self.bytes: 2, self.word: 3, self.mutation: 2, self.value: 1,
                      self.one: 1, self.number: 5, self.nothing: 1}

    def number(self, f, value):
        value = (self.random.getrandbits(64) >> self.random.randrange(64) if
                 self.random.randrange(3) == 0 else self.random.choice(EDGES))
        return self.random.choice(STYLES) % value

    def long(self, f, value):
        text = bytearray(self.random.choice(b'0019a xN\n').to_bytes(1, 'big') *
                         self.random.choice(LENGTHS))
        if self.random.randrange(2):
            text[-1 - self.random.randrange(2)] = ord('5')
        return bytes(text)

    def bytes(self, f, value):
        most = 24 if self.random.randrange(8) else 4096
        return bytes(self.random.getrandbits(8) for _ in range(1 + self.random.randrange(most)))

    def word(self, f, value):
        return self.random.choice(WORDS)

    def nothing(self, f, value):
        return b''

    def one(self, f, value):
        return self.random.choice(b'\0\n \t\v\r\f\x80').to_bytes(1, 'big')

    def mutation(self, f, value):
        """Something that is nearly right."""
        text = bytearray(value or b'\0')
        at = self.random.randrange(len(text))
        how = self.random.randrange(4)
        if how == 0:
            text[at] ^= 1 << self.random.randrange(8)
        elif how == 1:
            text.insert(at, self.random.choice(b'\0\n\t -+x0:1/'))
        elif how == 2:
            text.append(self.random.getrandbits(8))
        else:
            text.pop()
        return bytes(text)

    def value(self, f, value):
        """Always right, the borders included."""
        right = self.random.choice([f.low, f.high, self.random.randint(f.low, f.high)])
        if f.read is disk:
            right = b'%d:%d' % (self.random.randint(1, 4095), self.random.randrange(1048576))
        elif f.read is thresholds:
            right = b'%s:%d%s' % (f.group, self.random.randrange(1 << 31),
                                  self.random.choice(list(UNITS)))
        elif f.read is boolean:
            right = self.random.choice([b'Y', b'N'])
        elif f.read is action:
            right = self.random.choice([b'traceoff:%d', b'snapshot:%d']) % right
        else:
            right = b'%d' % right
        # So that the whole does not take too long.
        return right + b'!' if f.slow and self.random.randrange(3) else right

    def next(self, f, value):
        kind, = self.random.choices(list(self.kinds), self.kinds.values())
        return kind(f, value) + (b'\n' if self.random.randrange(3) else b'')


def each(f):
    """All words, edges and bounds."""
    values = dict.fromkeys(EDGES + [f.low - 1, f.low, f.high, f.high + 1])
    texts = WORDS + [b'%d' % value for value in values]
    return [text + end for text in texts for end in (b'\n', b'')]


# --- the feeding -------------------------------------------------------------------------

class File:
    """One of the files."""

    def __init__(self, path):
        self.path = path
        self.format = next((f for f in FORMATS if path.endswith(f.end)), None)
        if not self.format:
            sys.exit(f'feed: {path}: a file that is new here')
        self.file = os.open(path, os.O_RDWR)
        self.first = self.read()

    def read(self):
        """Without the newline."""
        text = os.pread(self.file, PAGE, 0)
        if not text.endswith(b'\n'):
            raise ValueError(f'{self.path}: {text!r} is no line')
        return text[:-1]


class Feeder:
    """Feeds the files, and counts what became of it."""

    def __init__(self, alone):
        self.alone = alone
        self.figures = collections.Counter(fed=0, accepted=0, refused=0, wrong=0)

    def complain(self, file, text, why):
        self.figures['wrong'] += 1
        if self.figures['wrong'] <= 20:
            print(f'# {file.path}: {len(text)} bytes {text[:60]!r}: {why}', flush=True)

    def feed(self, file, text, before):
        """Returns what the file shows then."""
        # The kernel takes a page; what is behind it would be another write.
        seen = text[:PAGE]
        expected = file.format.shown(seen) if text else before
        try:
            got, error = os.pwrite(file.file, text, 0), 0
        except OSError as err:
            got, error = None, err.errno
        after = file.read()
        self.figures['fed'] += 1
        self.figures['refused' if error else 'accepted'] += 1
        if error not in (0, errno.EINVAL, file.format.refusal):
            self.complain(file, text, os.strerror(error))
        elif got != (None if expected is None else len(seen)):
            self.complain(file, text, f'{"refused" if error else f"accepted, {got} bytes"}: '
                          f'{before!r} is {after!r} now')
        elif self.alone and after != (before if expected is None else expected):
            self.complain(file, text, f'{before!r} reads as {after!r}')
        elif file.format.shown(after) != after:
            self.complain(file, text, f'{after!r} is no value at all')
        return after

    def feed_each(self, files):
        for file in files:
            value = file.read()
            for text in each(file.format):
                value = self.feed(file, text, value)

    def feed_generated(self, files, seed, count):
        strings, last, value = Strings(seed), None, b''
        for i in range(count):
            file = (files[i * len(files) // count] if self.alone else
                    strings.random.choice(files))
            if file is not last:
                value, last = file.read(), file
            value = self.feed(file, strings.next(file.format, value), value)

    def restore(self, files):
        for file in files:
            os.pwrite(file.file, file.first + b'\n', 0)
        # Some are one value in two files.
        for file in files:
            if file.read() != file.first:
                self.complain(file, file.first, f'at first, now {file.read()!r}')


def generated(paths, seed, count, alone):
    files, feeder = [File(path) for path in paths], Feeder(alone)
    feeder.feed_generated(files, seed, count)
    return feeder.figures


def main():
    each_once = sys.argv[1] == 'each'
    paths = sys.argv[2 if each_once else 4:]
    files = [File(path) for path in paths]
    feeder = Feeder(True)
    if each_once:
        feeder.feed_each(files)
    else:
        seed, count, processes = map(int, sys.argv[1:4])
        with multiprocessing.Pool(processes) as pool:
            for figures in pool.starmap(generated, [
                    (paths, seed + i, count // processes, processes == 1)
                    for i in range(processes)]):
                feeder.figures.update(figures)
    feeder.restore(files)
    print(f'files={len(files)}', *(f'{name}={n}' for name, n in feeder.figures.items()))
    sys.exit(feeder.figures['wrong'] != 0)


main()
