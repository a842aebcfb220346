#!/usr/bin/python3
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
import operator
import re
import sys
from dataclasses import dataclass

import numpy as np

from program import tests_of

# --- the executions of one thread ------------------------------------------------------

class NeedValue(Exception):
    """A read of this location has no value yet."""


@dataclass(eq=False)
class Event:
    kind: str
    tag: str
    loc: str = None
    value: object = None
    thread: int = -1		# that of the initial writes
    at: int = None		# its place in the execution that is looked at


def operation(op):
    def method(self, other):
        other = Value.of(other)
        return Value(op(self.what, other.what), self.deps | other.deps)
    return method


class Value:
    """A number or the name of a variable, and the reads that it depends on."""

    def __init__(self, what, deps=()):
        self.what, self.deps = what, frozenset(deps)

    @staticmethod
    def of(what):
        return what if isinstance(what, Value) else Value(what)

    __eq__, __ne__, __add__, __and__ = map(operation, (
        operator.eq, operator.ne, operator.add, operator.and_))


FENCES = {'smp_mb': 'mb', 'smp_rmb': 'rmb', 'smp_wmb': 'wmb',
          'rcu_read_lock': 'lock', 'rcu_read_unlock': 'unlock', 'synchronize_rcu': 'gp'}
LOADS = {'READ_ONCE': 'once', 'rcu_dereference': 'once', 'atomic_read': 'once',
         'smp_load_acquire': 'acquire'}
STORES = {'WRITE_ONCE': 'once', 'smp_store_release': 'release', 'atomic_set': 'once',
          'rcu_assign_pointer': 'release'}
UPDATES = {'sub_return': operator.sub, 'fetch_or': operator.or_,
           'fetch_andnot': lambda value, arg: value & ~arg}
ATOMIC = re.compile(rf'(?:atomic_)?(cmpxchg|xchg|{"|".join(UPDATES)})'
                    '(_relaxed|_acquire|_release)?')


class Trace:
    """One run of a thread, with the values of its reads given."""

    def __init__(self, number, code, values, variables):
        self.number, self.values, self.variables = number, list(values), variables
        self.events, self.control = [], frozenset()
        self.rmw, self.addr, self.data, self.ctrl = [], [], [], []
        self.regs = {name: Value(name) for name in variables}
        exec(code, {'call': self.call, 'branch': self.branch}, self.regs)

    def writes(self):
        return [e for e in self.events if e.kind == 'W']

    def branch(self, condition):
        self.control |= condition.deps
        return condition.what

    def emit(self, kind, tag, where=Value(None), value=Value(None)):  # noqa: B008
        event = Event(kind, tag, where.what, value.what, self.number)
        self.events.append(event)
        for rel, sources in ((self.addr, where.deps), (self.data, value.deps),
                             (self.ctrl, self.control)):
            rel.extend((source, event) for source in sources)
        return event

    def read(self, tag, where):
        if where.what not in self.variables:
            sys.exit(f'not the address of a variable: {where.what}')
        if not self.values:
            raise NeedValue(where.what)
        event = self.emit('R', tag, where, Value(self.values.pop(0)))
        return Value(event.value, [event])

    def call(self, name, *args):
        args = [Value.of(arg) for arg in args]
        if name in FENCES:
            self.emit('F', FENCES[name])
        elif name in LOADS:
            return self.read(LOADS[name], *args)
        elif name in STORES:
            self.emit('W', STORES[name], *args)
        elif m := ATOMIC.fullmatch(name):
            return self.read_modify_write(m[1], (m[2] or '_mb')[1:], args)
        else:
            sys.exit(f'{name}() is not known to this program')
        return None

    def read_modify_write(self, what, order, args):
        where = args.pop(-1 if what in UPDATES else 0)
        at = len(self.events)
        old = self.read('acquire' if order == 'acquire' else 'once', where)
        event = self.events[-1]
        if what == 'cmpxchg' and old.what != args[0].what:
            event.tag = 'once'		# a failed one orders nothing
            return old
        if order == 'mb':
            self.events.insert(at, Event('F', 'mb', thread=self.number))
        new = operation(UPDATES[what])(old, args[0]) if what in UPDATES else args[-1]
        write = self.emit('W', 'release' if order == 'release' else 'once', where, new)
        self.rmw.append((event, write))
        if order == 'mb':
            self.emit('F', 'mb')
        return Value(new.what, [event]) if what.endswith('_return') else old


def traces(number, code, domains):
    """All runs of a thread in which each read has a value that its location may have."""
    todo, done = [[]], []
    while todo:
        values = todo.pop()
        try:
            done.append(Trace(number, code, values, domains))
        except NeedValue as need:
            todo += [values + [v] for v in domains[need.args[0]]]
    return done


def all_traces(test):
    domains = {loc: {value} for loc, value in test.init.items()}
    for rounds in itertools.count(1):
        threads = [traces(i, code, domains) for i, code in enumerate(test.threads)]
        # A value comes about in as many steps as there are writes, at most.
        if rounds > sum(max(len(t.writes()) for t in thread) for thread in threads):
            return threads
        found = {(e.loc, e.value) for thread in threads for t in thread for e in t.writes()}
        if all(value in domains[loc] for loc, value in found):
            return threads
        for loc, value in found:
            domains[loc].add(value)


# --- relations: matrices of truth values, composed by @ -----------------------------------

def star(rel):
    now, before = rel | np.eye(len(rel), dtype=bool), None
    while before is None or (now != before).any():
        before, now = now, now @ now
    return now


def irreflexive(rel):
    return not rel.diagonal().any()


def acyclic(rel):
    return irreflexive(rel @ star(rel))


# --- the axioms ------------------------------------------------------------------------

class Execution:
    """What does not depend on rf and co is computed once for a set of traces."""

    def __init__(self, test, run):
        self.events = [Event('W', 'init', loc, value) for loc, value in test.init.items()]
        for trace in run:
            self.events += trace.events
        for at, event in enumerate(self.events):
            event.at = at
        self.ident = np.eye(len(self.events), dtype=bool)
        thread = np.array([e.thread for e in self.events])
        together = (thread[:, None] == thread) & (thread >= 0)
        self.po, self.int = np.triu(together, 1), together | self.ident
        self.ext = ~self.int
        self.marked = self.only('RW')		# there are no others
        loc = np.array([e.loc or '' for e in self.events])
        self.po_loc = self.marked @ (self.po & (loc[:, None] == loc)) @ self.marked
        self.rmw, self.addr, self.data, self.ctrl = (
            self.of((a.at, b.at) for t in run for a, b in getattr(t, name))
            for name in ('rmw', 'addr', 'data', 'ctrl'))
        self.fences()

    def of(self, pairs):
        rel = np.zeros_like(self.ident)
        for pair in pairs:
            rel[pair] = True
        return rel

    def only(self, kinds, tag=None):
        return np.diag([e.kind in kinds and tag in (None, e.tag) for e in self.events])

    def fences(self):
        po, mem = self.po, self.marked

        def fence(tag, kinds):
            return self.only(kinds) @ po @ self.only('F', tag) @ po @ self.only(kinds)

        self.po_rel = mem @ po @ self.only('W', 'release')
        acq_po = self.only('R', 'acquire') @ po @ mem
        self.wmb = fence('wmb', 'W')
        self.rcu_gp = self.only('F', 'gp')
        self.strong = fence('mb', 'RW') | po @ self.rcu_gp @ (po | self.ident)
        self.fence = self.strong | self.po_rel | acq_po | self.wmb | fence('rmb', 'R')
        tags = [e.tag for e in self.events]
        self.rscsi = self.of((tags.index('unlock', at), at)
                             for at, tag in enumerate(tags) if tag == 'lock')

    def allowed(self, rf, co):
        po, marked, ext, opt = self.po, self.marked, self.ext, self.ident
        fr = rf.T @ co & ~self.ident
        rfe, rfi = rf & ext, rf & self.int
        if not acyclic(self.po_loc | rf | co | fr):
            return False
        if (self.rmw & (fr & ext) @ (co & ext)).any():
            return False

        overwrite = co | fr
        dep = self.addr | self.data
        to_w = (dep | self.ctrl) @ self.only('W') | overwrite & self.int
        to_r = self.addr | dep @ rfi
        ppo = to_r | to_w | self.fence
        rfe_opt = rfe | opt
        cumul = marked @ (rfe_opt @ (self.strong | self.po_rel) | self.wmb) @ marked
        prop = (marked @ (overwrite & ext | opt) @ star(cumul) @ marked @ rfe_opt @ marked)
        hb = marked @ (ppo | rfe | prop & ~self.ident & self.int) @ marked
        if not acyclic(hb):
            return False
        hbs = star(hb)
        pb = prop @ self.strong @ hbs @ marked
        return acyclic(pb) and self.rcu(prop, hbs, star(pb), po | opt)

    def rcu(self, prop, hbs, pbs, po_opt):
        gp, rscsi = self.rcu_gp, self.rscsi
        link = po_opt @ hbs @ pbs @ prop @ self.po
        fence, before = gp, None
        while before is None or (fence != before).any():
            before = fence
            fence = (gp | gp @ link @ rscsi | rscsi @ link @ gp |
                     gp @ link @ before @ link @ rscsi |
                     rscsi @ link @ before @ link @ gp | before @ link @ before)
        return irreflexive(prop @ self.po @ fence @ po_opt @ hbs @ pbs @ self.marked)


def candidates(test, run):
    """rf and co in all ways that fit the values."""
    ex = Execution(test, run)
    reads = [e for e in ex.events if e.kind == 'R']
    writes = {loc: [e for e in ex.events if e.kind == 'W' and e.loc == loc] for loc in test.init}
    sources = [[w.at for w in writes[r.loc] if w.value == r.value] for r in reads]
    orders = [[(ws[0], *rest) for rest in itertools.permutations(ws[1:])]
              for ws in writes.values()]
    for chosen in itertools.product(*sources):
        rf = ex.of(zip(chosen, (r.at for r in reads)))
        for order in itertools.product(*orders):
            co = ex.of((a.at, b.at) for ws in order for a, b in itertools.combinations(ws, 2))
            if ex.allowed(rf, co):
                yield {ws[0].loc: ws[-1].value for ws in order}


def result(test):
    yes = no = 0
    for run in itertools.product(*all_traces(test)):
        for final in candidates(test, run):
            def ends(thread, name):
                return final[name] if thread is None else run[thread].regs.get(name, Value(0)).what  # noqa: B023
            held = eval(test.condition, {'ends': ends})
            yes, no = yes + held, no + (not held)
    return ('Never' if not yes else 'Always' if not no else 'Sometimes'), yes, yes + no


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
