#!/usr/bin/env python3
# SPDX-License-Identifier: GPL-2.0-only
"""Runs litmus tests under the axioms of the Linux-kernel memory model.

usage: lkmm.py FILE...

FILE is a litmus test, NAME.litmus, or a list of small ones, as known.txt.

A small stand-in for herd7 with tools/memory-model, for where that is not to be had: see
README. It knows marked accesses (no plain ones, hence no data races), fences, RCU and
conditionals; no locks, SRCU or loops. For each test it prints KTAP: does the outcome of
its "exists" happen as often as its comment says ("Result: Never", Sometimes or Always)?
The axioms are those published in "Frightening Small Children and Disconcerting
Grown-ups: Concurrency in the Linux Kernel" (ASPLOS 2018), as amended in the kernel since.
"""
import itertools
import re
import sys

# --- programs ------------------------------------------------------------------------

TOKEN = re.compile(r'\s*(?:(\d+)|(\w+)|(/\\|\\/|==|!=|&&|\|\||[-+*&|!~(){};,=:<>]))')


class Litmus:
    """name, initial values, threads as statement lists, condition, expected result."""

    def __init__(self, name, text):
        self.name = name
        self.expected = re.search(r'Result: (\w+)', text).group(1)
        text = re.sub(r'\(\*.*?\*\)|/\*.*?\*/|//[^\n]*', ' ', text, flags=re.S)
        self.tokens = [m.group(m.lastindex) for m in TOKEN.finditer(text)]
        self.at = 0
        self.expect('C')
        while self.peek() != '{':
            self.next()
        self.init = self.parse_init()
        self.threads = []
        while re.fullmatch(r'P\d+', self.peek()):
            self.threads.append(self.parse_thread())
        self.expect('exists')
        self.condition = self.parse_condition()

    def peek(self, ahead=0):
        return self.tokens[self.at + ahead] if self.at + ahead < len(self.tokens) else ''

    def next(self):
        self.at += 1
        return self.tokens[self.at - 1]

    def expect(self, token):
        if self.next() != token:
            sys.exit(f'{token} expected before: {" ".join(self.tokens[self.at:self.at + 9])}')

    def accept(self, token):
        if self.peek() == token:
            self.at += 1
            return True
        return False

    def parse_init(self):
        init = {}
        self.expect('{')
        while not self.accept('}'):
            words = []
            while not self.accept(';'):
                words.append(self.next())
            name, _, value = (w for w in words if w not in ('int', '*', '&', 'atomic_t'))
            init[name] = int(value) if value.isdigit() else value
        return init

    def parse_thread(self):
        self.next()
        while self.next() != ')':
            pass
        return self.parse_block()

    def parse_block(self):
        if not self.accept('{'):
            return [self.parse_statement()]
        block = []
        while not self.accept('}'):
            statement = self.parse_statement()
            if statement:
                block.append(statement)
        return block

    def parse_statement(self):
        if self.accept('if'):
            self.expect('(')
            condition = self.parse_expr()
            self.expect(')')
            then = self.parse_block()
            other = self.parse_block() if self.accept('else') else []
            return ('if', condition, then, other)
        if self.accept('int'):
            while self.accept('*'):
                pass
        if self.peek(1) == '=':
            name = self.next()
            self.next()
            statement = ('set', name, self.parse_expr())
        elif self.peek(1) == ';':
            self.next()
            statement = None
        else:
            statement = ('do', self.parse_expr())
        self.expect(';')
        return statement

    def parse_expr(self):
        left = self.parse_unary()
        while self.peek() in ('==', '!=', '&&', '||', '+', '-', '&', '|'):
            op = self.next()
            left = ('op', op, left, self.parse_unary())
        return left

    def parse_unary(self):
        if self.accept('!'):
            return ('op', '==', self.parse_unary(), ('const', 0))
        if self.accept('*'):
            return ('deref', self.parse_unary())
        if self.accept('('):
            expr = self.parse_expr()
            self.expect(')')
            return expr
        word = self.next()
        if word.isdigit():
            return ('const', int(word))
        if not self.accept('('):
            return ('name', word)
        args = []
        while not self.accept(')'):
            args.append(self.parse_expr())
            self.accept(',')
        return ('call', word, args)

    def parse_condition(self):
        left = self.parse_and()
        while self.accept('\\/'):
            left = ('or', left, self.parse_and())
        return left

    def parse_and(self):
        left = self.parse_atom()
        while self.accept('/\\'):
            left = ('and', left, self.parse_atom())
        return left

    def parse_atom(self):
        if self.accept('~'):
            return ('not', self.parse_atom())
        if self.accept('('):
            condition = self.parse_condition()
            self.expect(')')
            return condition
        where = self.next()
        if self.accept(':'):
            where = (int(where), self.next())
        self.expect('=')
        value = self.next()
        return ('is', where, int(value) if value.isdigit() else value)


# --- the executions of one thread ------------------------------------------------------

class NeedValue(Exception):
    """A read of this location has no value yet."""


class Event:
    def __init__(self, kind, tag, loc=None, value=None, thread=None):
        self.kind, self.tag, self.loc, self.value = kind, tag, loc, value
        self.thread = thread


class Trace:
    """One run of a thread, with the values of its reads given."""

    def __init__(self, number, statements, values, locations):
        self.number, self.values, self.locations = number, list(values), locations
        self.events, self.regs = [], {}
        self.ctrl_now = frozenset()
        self.rmw, self.addr, self.data, self.ctrl = [], [], [], []
        self.run(statements)

    def writes(self):
        return [e for e in self.events if e.kind == 'W']

    def run(self, statements):
        for s in statements:
            if s[0] == 'set':
                self.regs[s[1]] = self.eval(s[2])
            elif s[0] == 'do':
                self.eval(s[1])
            else:
                value, deps = self.eval(s[1])
                self.ctrl_now |= deps
                self.run(s[2] if value else s[3])

    def emit(self, kind, tag, loc=None, value=None, addr=(), data=()):
        event = Event(kind, tag, loc, value, self.number)
        self.events.append(event)
        for rel, sources in ((self.addr, addr), (self.data, data), (self.ctrl, self.ctrl_now)):
            rel.extend((source, event) for source in sources)
        return event

    def read(self, tag, where):
        loc, deps = where
        if loc not in self.locations:
            sys.exit(f'not the address of a variable: {loc}')
        if not self.values:
            raise NeedValue(loc)
        return self.emit('R', tag, loc, self.values.pop(0), addr=deps)

    def eval(self, e):
        """The value and the reads that it depends on."""
        if e[0] == 'const':
            return e[1], frozenset()
        if e[0] == 'name':
            if e[1] in self.regs:
                return self.regs[e[1]]
            return (e[1] if e[1] in self.locations else 0), frozenset()
        if e[0] == 'op':
            (a, da), (b, db) = self.eval(e[2]), self.eval(e[3])
            value = {'==': lambda: int(a == b), '!=': lambda: int(a != b),
                     '&&': lambda: int(bool(a and b)), '||': lambda: int(bool(a or b)),
                     '+': lambda: a + b, '-': lambda: a - b,
                     '&': lambda: a & b, '|': lambda: a | b}[e[1]]()
            return value, da | db
        if e[0] == 'call':
            return self.call(e[1], e[2])
        sys.exit(f'a plain access, which this program does not know: {e}')

    def address(self, e):
        """Where *e or, for atomic operations, e points."""
        return self.eval(e[1] if e[0] == 'deref' else e)

    FENCES = {'smp_mb': 'mb', 'smp_rmb': 'rmb', 'smp_wmb': 'wmb',
              'rcu_read_lock': 'lock', 'rcu_read_unlock': 'unlock',
              'synchronize_rcu': 'gp'}
    LOADS = {'READ_ONCE': 'once', 'rcu_dereference': 'once', 'atomic_read': 'once',
             'smp_load_acquire': 'acquire'}
    STORES = {'WRITE_ONCE': 'once', 'smp_store_release': 'release', 'atomic_set': 'once',
              'rcu_assign_pointer': 'release'}

    def call(self, name, args):
        if name in self.FENCES:
            self.emit('F', self.FENCES[name])
            return 0, frozenset()
        if name in self.LOADS:
            event = self.read(self.LOADS[name], self.address(args[0]))
            return event.value, frozenset([event])
        if name in self.STORES:
            if name == 'atomic_set':
                args = [args[0], args[1]]
            loc, deps = self.address(args[0])
            value, data = self.eval(args[1])
            self.emit('W', self.STORES[name], loc, value, addr=deps, data=data)
            return 0, frozenset()
        return self.read_modify_write(name, args)

    def read_modify_write(self, name, args):
        m = re.fullmatch(r'(?:atomic_)?(cmpxchg|xchg|(?:sub|add)_return|fetch_(?:add|andnot|or))'
                         r'(_relaxed|_acquire|_release)?', name)
        if not m:
            sys.exit(f'{name}() is not known to this program')
        what, order = m.group(1), (m.group(2) or '_mb')[1:]
        if what in ('cmpxchg', 'xchg'):
            where, args = self.address(args[0]), [self.eval(a) for a in args[1:]]
        else:
            where, args = self.address(args[1]), [self.eval(args[0])]
        at = len(self.events)
        read = self.read('acquire' if order == 'acquire' else 'once', where)
        if what == 'cmpxchg' and read.value != args[0][0]:
            read.tag = 'once'		# a failed one orders nothing
            return read.value, frozenset([read])
        if order == 'mb':
            self.events.insert(at, Event('F', 'mb', thread=self.number))
        arg, data = args[-1]
        new = {'cmpxchg': lambda: arg, 'xchg': lambda: arg,
               'sub_return': lambda: read.value - arg, 'add_return': lambda: read.value + arg,
               'fetch_add': lambda: read.value + arg, 'fetch_or': lambda: read.value | arg,
               'fetch_andnot': lambda: read.value & ~arg}[what]()
        if what not in ('cmpxchg', 'xchg'):
            data = data | {read}
        write = self.emit('W', 'release' if order == 'release' else 'once', where[0], new,
                          addr=where[1], data=data)
        self.rmw.append((read, write))
        if order == 'mb':
            self.emit('F', 'mb')
        return (new if what.endswith('_return') else read.value), frozenset([read])


def traces(number, statements, domains):
    """All runs of a thread in which each read has a value that its location may have."""
    todo, done = [[]], []
    while todo:
        values = todo.pop()
        try:
            done.append(Trace(number, statements, values, domains))
        except NeedValue as need:
            todo += [values + [v] for v in domains[need.args[0]]]
    return done


def all_traces(test):
    domains = {loc: {value} for loc, value in test.init.items()}
    rounds = 0
    while True:
        threads = [traces(i, s, domains) for i, s in enumerate(test.threads)]
        # A value comes about in as many steps as there are writes, at most.
        rounds += 1
        if rounds > sum(max(len(t.writes()) for t in thread) for thread in threads):
            return threads
        found = {(e.loc, e.value) for thread in threads for t in thread for e in t.writes()}
        if all(value in domains[loc] for loc, value in found):
            return threads
        for loc, value in found:
            domains[loc].add(value)


# --- relations: a list of bit masks, one for each event ----------------------------------

class Rel:
    def __init__(self, n, pairs=(), rows=None):
        self.n, self.rows = n, rows or [0] * n
        for a, b in pairs:
            self.rows[a] |= 1 << b

    def __or__(self, other):
        return Rel(self.n, rows=[a | b for a, b in zip(self.rows, other.rows)])

    def __and__(self, other):
        return Rel(self.n, rows=[a & b for a, b in zip(self.rows, other.rows)])

    def __sub__(self, other):
        return Rel(self.n, rows=[a & ~b for a, b in zip(self.rows, other.rows)])

    def __mul__(self, other):		# composition
        rows = []
        for row in self.rows:
            out = 0
            while row:
                low = row & -row
                out |= other.rows[low.bit_length() - 1]
                row ^= low
            rows.append(out)
        return Rel(self.n, rows=rows)

    def inverse(self):
        return Rel(self.n, ((b, a) for a in range(self.n) for b in range(self.n)
                            if self.rows[a] >> b & 1))

    def opt(self):
        return Rel(self.n, rows=[row | 1 << i for i, row in enumerate(self.rows)])

    def star(self):
        now, before = self.opt(), None
        while before is None or now.rows != before.rows:
            before, now = now, now * now
        return now

    def plus(self):
        return self * self.star()

    def irreflexive(self):
        return not any(row >> i & 1 for i, row in enumerate(self.rows))

    def acyclic(self):
        return self.plus().irreflexive()


# --- the axioms ------------------------------------------------------------------------

class Execution:
    """What does not depend on rf and co is computed once for a set of traces."""

    def __init__(self, test, run):
        self.events = [Event('W', 'init', loc, value) for loc, value in test.init.items()]
        for trace in run:
            self.events += trace.events
        self.number = {id(e): i for i, e in enumerate(self.events)}
        n = self.n = len(self.events)
        ev = self.events
        pairs = [(a, b) for a in range(n) for b in range(n)]
        self.po = Rel(n, ((a, b) for a, b in pairs
                          if ev[a].thread is not None and ev[a].thread == ev[b].thread and a < b))
        self.int = Rel(n, ((a, b) for a, b in pairs
                           if a == b or (ev[a].thread is not None and
                                         ev[a].thread == ev[b].thread)))
        self.ext = Rel(n, pairs) - self.int
        self.loc = Rel(n, ((a, b) for a, b in pairs if ev[a].loc and ev[a].loc == ev[b].loc))
        self.ident = Rel(n, ((a, a) for a in range(n)))
        self.rmw, self.addr, self.data, self.ctrl = (
            self.of(pair for t in run for pair in getattr(t, name))
            for name in ('rmw', 'addr', 'data', 'ctrl'))
        self.fences()

    def of(self, pairs):
        return Rel(self.n, ((self.number[id(a)], self.number[id(b)]) for a, b in pairs))

    def only(self, kinds, tag=None):
        return Rel(self.n, ((i, i) for i, e in enumerate(self.events)
                            if e.kind in kinds and tag in (None, e.tag)))

    def fences(self):
        po, mem = self.po, self.only('RW')
        self.marked = mem			# there are no others

        def fence(tag, kinds):
            return self.only(kinds) * po * self.only('F', tag) * po * self.only(kinds)

        self.po_rel = mem * po * self.only('W', 'release')
        acq_po = self.only('R', 'acquire') * po * mem
        self.wmb = fence('wmb', 'W')
        self.rcu_gp = self.only('F', 'gp')
        self.strong = fence('mb', 'RW') | po * self.rcu_gp * po.opt()
        self.fence = self.strong | self.po_rel | acq_po | self.wmb | fence('rmb', 'R')
        locks = [i for i, e in enumerate(self.events) if e.tag == 'lock']
        self.rscsi = Rel(self.n, (
            (next(j for j in range(i, self.n) if self.events[j].tag == 'unlock'), i)
            for i in locks))

    def allowed(self, rf, co):
        po, marked, ext = self.po, self.marked, self.ext
        fr = (rf.inverse() * co) - self.ident
        rfe, rfi = rf & ext, rf & self.int
        if not ((po & self.loc) | rf | co | fr).acyclic():
            return False
        if any((self.rmw & ((fr & ext) * (co & ext))).rows):
            return False

        overwrite = co | fr
        writes = self.only('W')
        dep = self.addr | self.data
        to_w = (dep | self.ctrl) * writes | (overwrite & self.int)
        to_r = self.addr | dep * rfi
        ppo = to_r | to_w | self.fence
        rfe_opt = rfe.opt()
        cumul = marked * (rfe_opt * (self.strong | self.po_rel) | self.wmb) * marked
        prop = marked * (overwrite & ext).opt() * cumul.star() * marked * rfe_opt * marked
        hb = marked * (ppo | rfe | ((prop - self.ident) & self.int)) * marked
        if not hb.acyclic():
            return False
        hbs = hb.star()
        pb = prop * self.strong * hbs * marked
        if not pb.acyclic():
            return False
        return self.rcu(prop, hbs, pb.star())

    def rcu(self, prop, hbs, pbs):
        po, gp, rscsi = self.po, self.rcu_gp, self.rscsi
        link = po.opt() * hbs * pbs * prop * po
        fence = before = gp
        while True:
            fence = (gp | gp * link * rscsi | rscsi * link * gp |
                     gp * link * before * link * rscsi |
                     rscsi * link * before * link * gp | before * link * before)
            if fence.rows == before.rows:
                break
            before = fence
        rb = prop * po * fence * po.opt() * hbs * pbs * self.marked
        return rb.irreflexive()


def candidates(test, run):
    """rf and co in all ways that fit the values."""
    ex = Execution(test, run)
    writes = {loc: [] for loc in test.init}
    for i, e in enumerate(ex.events):
        if e.kind == 'W':
            writes[e.loc].append(i)
    reads = [i for i, e in enumerate(ex.events) if e.kind == 'R']
    sources = [[w for w in writes[ex.events[r].loc] if ex.events[w].value == ex.events[r].value]
               for r in reads]
    orders = [[(ws[0],) + rest for rest in itertools.permutations(ws[1:])]
              for ws in writes.values()]
    for chosen in itertools.product(*sources):
        rf = Rel(ex.n, zip(chosen, reads))
        for order in itertools.product(*orders):
            co = Rel(ex.n, (pair for ws in order for pair in itertools.combinations(ws, 2)))
            if ex.allowed(rf, co):
                yield {loc: ex.events[ws[-1]].value for loc, ws in zip(writes, order)}


def holds(condition, final, run):
    op = condition[0]
    if op == 'is':
        if isinstance(condition[1], tuple):
            thread, reg = condition[1]
            return run[thread].regs.get(reg, (0,))[0] == condition[2]
        return final[condition[1]] == condition[2]
    if op == 'not':
        return not holds(condition[1], final, run)
    combine = all if op == 'and' else any
    return combine(holds(c, final, run) for c in condition[1:])


def result(test):
    yes = no = 0
    for run in itertools.product(*all_traces(test)):
        for final in candidates(test, run):
            if holds(test.condition, final, run):
                yes += 1
            else:
                no += 1
    return ('Never' if not yes else 'Always' if not no else 'Sometimes'), yes, yes + no


def test_of_line(line):
    """A line of known.txt as the text of a litmus test."""
    name, expected, *threads, condition = line.split('|')
    params = ', '.join(f'int *{v}' for v in 'xyzw')
    bodies = '\n'.join(f'P{i}({params}) {{ {body} }}' for i, body in enumerate(threads))
    return Litmus(name, f'C {name}\n(* Result: {expected} *)\n'
                  f'{{ x=0; y=0; z=0; w=0; }}\n{bodies}\nexists ({condition})')


def tests_of(path):
    with open(path, encoding='ascii') as file:
        text = file.read()
    if path.endswith('.litmus'):
        return [Litmus(path.rsplit('/', 1)[-1][:-len('.litmus')], text)]
    return [test_of_line(line) for line in text.splitlines() if line[:1] not in ('', '#')]


def main():
    if len(sys.argv) < 2:
        sys.exit(__doc__)
    tests = [test for path in sys.argv[1:] for test in tests_of(path)]
    bad = 0
    print(f'KTAP version 1\n1..{len(tests)}')
    for n, test in enumerate(tests, 1):
        got, yes, every = result(test)
        ok = got == test.expected
        bad += not ok
        print(f'{"ok" if ok else "not ok"} {n} {test.name}: {got}, in {yes} of {every} executions',
              flush=True)
        if not ok:
            print(f'# expected: {test.expected}')
    sys.exit(bad > 0)


if __name__ == '__main__':
    main()
