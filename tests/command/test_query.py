# SPDX-License-Identifier: GPL-2.0-only
"""SQL over recordings: DuckDB against sums that are made here, ClickHouse against DuckDB."""
from __future__ import annotations

import gzip
import json
import os
import random
import subprocess
from collections import Counter, defaultdict
from pathlib import Path
from typing import Any

import pytest

from latency_tracker.query import PREPARED, clickhouse_view

from .conftest import Shell
from .test_state import types_are_right

Row = dict[str, Any]


@pytest.fixture(autouse=True)
def duckdb(monkeypatch: pytest.MonkeyPatch) -> None:
    """It is in no package of Debian."""
    venv = os.environ.get('LT_QUERY_VENV', '')
    packages = sorted(Path(venv or '/nosuch').glob('lib/python*/site-packages'))
    if not packages:
        # No failure that a mutant could cause.
        pytest.exit('LT_QUERY_VENV names no environment: tests/command/run.sh makes one', returncode=3)
    monkeypatch.syspath_prepend(str(packages[0]))


def reports() -> list[Row]:
    """Of two machines and three hours; times are in UTC."""
    chance, found = random.Random(2), []
    for nr in range(600):
        tracker, comm = chance.choice(['syscalls', 'block']), chance.choice(['mariadbd', "a'b", 'ü\x1b'])
        what = chance.choice(['fsync()', 'read()', 'write, device'])
        found.append({
            'schema': 1, 'type': 'report', 'tracker': tracker, 'event': f'{tracker}_latency', 'nr': nr,
            'time': f'2026-11-27T{chance.randrange(3):02}:{chance.randrange(60):02}:00.{nr:06}+00:00',
            'at_ns': 10**15 + nr, 'start_ns': 10**15, 'delay_ns': chance.randrange(10**6, 5 * 10**9),
            'flag': chance.choice(['ended', 'ended', 'ended', 'pending']), 'window': 'last', 'rank': 0,
            'host': chance.choice(['db1', 'db2']), 'who': comm, 'what': what, 'says': f'{what} took long',
            'idle': chance.random() < 0.2, 'cgroup': chance.choice(['/', '/system.slice']), 'details': ['why'],
            'fields': {'comm': comm, 'pid': nr % 7, 'call': what[:-2], 'sector': 2**64 - 1, 'stack': ['a+0x1', 'b+0x2']}})
    return found


REPORTS = reports()
LATE = [of for of in REPORTS if of['flag'] == 'ended' and not of['idle']]


@pytest.fixture
def recordings(tmp_path: Path) -> list[str]:
    """A file for each machine, one of them compressed, with other lines as well."""
    names = [tmp_path / 'db1.json', tmp_path / "db2's.json.gz"]
    for name, host in zip(names, ('db1', 'db2')):
        text = '\n'.join(json.dumps(of) for of in [{'schema': 1, 'type': 'recording', 'kernel': '6.1'}, *REPORTS,
                                                   {'schema': 1, 'type': 'missed', 'count': 3}]
                         if of.get('host', host) == host) + '\n'
        name.write_bytes(gzip.compress(text.encode()) if name.suffix == '.gz' else text.encode())
    return [str(name) for name in names]


def rows(shell: Shell, *words: str) -> list[Row]:
    """Of an answer."""
    told = shell('query', '--json', *words)
    assert told.status == 0, told.err
    assert all(types_are_right(of) for of in told.objects)
    return [dict(of['values']) for of in told.objects]  # type: ignore[call-overload]


def sums(*by: str) -> dict[tuple[Any, ...], tuple[int, int, int]]:
    """Operations, their time in all, and the worst, of all that differ in that."""
    found = defaultdict(list)
    for of in LATE:
        found[tuple({**of, 'hour': of['time'][:13], 'comm': of['fields']['comm']}[name] for name in by)].append(of['delay_ns'])
    return {key: (len(delays), sum(delays), max(delays)) for key, delays in found.items()}


QUESTIONS = {'causes': ['tracker', 'who', 'what'], 'hosts': ['host', 'tracker'], 'tasks': ['comm'], 'cgroups': ['cgroup']}


@pytest.mark.parametrize('name, by', QUESTIONS.items())
def test_prepared_questions(shell: Shell, recordings: list[str], name: str, by: list[str]) -> None:
    told = rows(shell, name, *recordings)
    assert {tuple(of[column] for column in by): (of['operations'], of['total_ns'], of['worst_ns']) for of in told} == sums(*by)
    assert [of['total_ns'] for of in told] == sorted((of['total_ns'] for of in told), reverse=True)


def test_hours(shell: Shell, recordings: list[str]) -> None:
    told = rows(shell, 'hours', *recordings)
    all_of_them = sums('hour', 'tracker', 'who', 'what')
    assert Counter(of['hour'][:13] for of in told) == {f'2026-11-27T0{hour}': 5 for hour in range(3)}
    for hour in range(3):
        best = sorted((total for key, (_, total, _) in all_of_them.items() if key[0] == f'2026-11-27T0{hour}'), reverse=True)
        assert [of['total_ns'] for of in told[5 * hour:5 * hour + 5]] == best[:5]
        assert [of['rank'] for of in told[5 * hour:5 * hour + 5]] == [1, 2, 3, 4, 5]


def in_clickhouse(directory: Path, sql: str) -> list[Row]:
    """In a process of its own: two engines do not share one."""
    view = clickhouse_view(f'{directory}/db*')
    program = ('import sys, chdb.session; session = chdb.session.Session(); session.query(sys.argv[1]); '
               'print(session.query(sys.argv[2] + " SETTINGS output_format_json_quote_64bit_integers = 0", "JSONEachRow"))')
    told = subprocess.run([f'{os.environ["LT_QUERY_VENV"]}/bin/python', '-c', program, view, sql], env={**os.environ, 'TZ': 'UTC'},
                          check=True, stdout=subprocess.PIPE, text=True).stdout
    return [json.loads(line) for line in told.splitlines() if line]


@pytest.mark.parametrize('name', PREPARED)
def test_clickhouse_says_the_same(shell: Shell, recordings: list[str], tmp_path: Path, name: str) -> None:
    ours, theirs = rows(shell, name, *recordings), in_clickhouse(tmp_path, PREPARED[name])
    assert ours and len(ours) == len(theirs)
    for one, other in zip(ours, theirs):
        assert {key: value[:13].replace('T', ' ') if key == 'hour' else value for key, value in one.items()} == \
            {key: value[:13] if key == 'hour' else value for key, value in other.items()}


def test_what_is_printed_for_clickhouse(shell: Shell) -> None:
    out = shell('query', '--clickhouse', '/data/*.json.gz').out
    assert out.startswith("CREATE VIEW reports AS SELECT ") and "file('/data/*.json.gz'" in out
    assert all(sql + ';' in out for sql in PREPARED.values())


def test_text_is_for_people(shell: Shell, recordings: list[str]) -> None:
    sql = "SELECT comm, delay_ns, pid, time FROM reports WHERE nr = 5"
    of = REPORTS[5]
    head, row = shell('query', sql, *recordings).out.splitlines()
    assert head.split() == ['comm', 'delay_ns', 'pid', 'time']
    assert row.split()[0] == of['fields']['comm'].replace('\x1b', '\\x1b') and row.split()[2] in ('ms', 's')
    assert row.endswith(of['time'][:19].replace('T', ' '))
    told = shell('query', 'SELECT r.nr FROM reports r, reports s LIMIT 1200', *recordings).out.splitlines()
    assert len(told) == 1002 and told[-1].startswith('and 200 more')


def test_raw_has_all_fields(shell: Shell, recordings: list[str]) -> None:
    told = rows(shell, "SELECT fields->>'sector' AS sector, fields->'stack'->>1 AS frame, details FROM raw LIMIT 1", *recordings)
    assert told == [{'sector': str(2**64 - 1), 'frame': 'b+0x2', 'details': ['why']}]


def test_marks_of_programs_are_a_column(shell: Shell, tmp_path: Path) -> None:
    path = tmp_path / 'db1.json'
    path.write_text(''.join(json.dumps({**of, 'fields': {**of['fields'], 'mark': of['what'][:4]}}) + '\n' for of in REPORTS[:50]))
    sql = 'SELECT mark, count(*) AS n FROM reports GROUP BY mark ORDER BY mark'
    wanted = sorted(Counter(of['what'][:4] for of in REPORTS[:50]).items())
    assert [(of['mark'], of['n']) for of in rows(shell, sql, str(path))] == wanted
    assert [(of['mark'], of['n']) for of in in_clickhouse(tmp_path, sql)] == wanted
    # Of before there were marks.
    path.write_text(json.dumps(REPORTS[0]) + '\n')
    assert rows(shell, sql, str(path)) == [{'mark': None, 'n': 1}]


def test_parquet_has_the_same(shell: Shell, recordings: list[str], tmp_path: Path) -> None:
    packed = str(tmp_path / "a'b.parquet")
    ours = rows(shell, '--parquet', packed, 'causes', *recordings)
    assert rows(shell, 'causes', packed) == ours
    told = shell('query', 'causes', packed, recordings[0])
    assert told.status == 1 and 'cannot be read together' in told.err


@pytest.mark.parametrize('damage', [lambda data: data + b'{"type": "report", "nr": \n', lambda data: data[:-300]])
def test_what_is_garbled_is_left_out_and_told(shell: Shell, recordings: list[str], damage: Any) -> None:
    path = Path(recordings[0])
    path.write_bytes(damage(path.read_bytes()))
    told = shell('query', '--json', 'SELECT count(*) AS n FROM reports', recordings[0])
    assert told.status == 0 and 'what is garbled is left out' in told.err
    whole = sum(of['host'] == 'db1' for of in REPORTS)
    values = told.objects[0]['values']
    assert isinstance(values, dict) and whole - 1 <= values['n'] <= whole


@pytest.mark.parametrize('words, says', [
    (['causes', '/nosuch.json'], 'there is no file /nosuch.json'), (['causes'], 'in which recordings'), ([], 'in which recordings'),
    (['SELECT nosuch FROM reports', 'x'], 'nosuch'), (['SELECT', 'x'], 'Parser Error')])
def test_errors(shell: Shell, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, words: list[str], says: str) -> None:
    monkeypatch.chdir(tmp_path)
    (tmp_path / 'x').write_text(json.dumps(REPORTS[0]) + '\n')
    told = shell('query', *words)
    assert told.status == 1 and says in told.err and told.err.startswith('latency-tracker: ')


def test_without_duckdb_it_says_how_to_get_it(shell: Shell, recordings: list[str], monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(__import__('sys').modules, 'duckdb', None)
    told = shell('query', 'causes', *recordings)
    assert told.status == 1 and 'pip install duckdb' in told.err
