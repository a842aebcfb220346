# SPDX-License-Identifier: GPL-2.0-only
"""query: SQL over recordings, by DuckDB; the same SQL for ClickHouse."""
from __future__ import annotations

import argparse
import importlib
import itertools
import sys
from collections.abc import Sequence
from pathlib import Path
from typing import Any

from latency_tracker import Error
from latency_tracker.machine import Machine
from latency_tracker.output import Json, Output
from latency_tracker.units import human

HOW_TO = ('query needs DuckDB, which Debian does not have: python3 -m venv ~/duckdb && ~/duckdb/bin/pip install '
          'duckdb, then run it as ~/duckdb/bin/python {program} query ...')
# Of a report: the columns of the table, with their types in DuckDB and in ClickHouse.
COLUMNS = {'time': ('TIMESTAMPTZ', 'String'), 'host': ('VARCHAR', 'String'), 'tracker': ('VARCHAR', 'String'),
           'event': ('VARCHAR', 'String'), 'flag': ('VARCHAR', 'String'), 'delay_ns': ('UBIGINT', 'UInt64'),
           'start_ns': ('UBIGINT', 'UInt64'), 'at_ns': ('UBIGINT', 'UInt64'), 'nr': ('UBIGINT', 'UInt64'),
           'who': ('VARCHAR', 'String'), 'what': ('VARCHAR', 'String'), 'says': ('VARCHAR', 'String'),
           'idle': ('BOOLEAN', 'Bool'), 'cgroup': ('VARCHAR', 'String')}
# Fields of events that are columns, too; NULL, in ClickHouse 0 or empty, where the event has none of that name.
FIELDS = {'comm': 'VARCHAR', 'pid': 'BIGINT', 'tgid': 'BIGINT', 'call': 'VARCHAR', 'mark': 'VARCHAR', 'disk': 'VARCHAR',
          'dev': 'VARCHAR', 'stage': 'VARCHAR', 'state': 'VARCHAR', 'cause': 'VARCHAR', 'holder_comm': 'VARCHAR',
          'waker_comm': 'VARCHAR'}
WORST = ('SELECT * FROM (SELECT *, row_number() OVER (PARTITION BY {by} ORDER BY total_ns DESC) AS rank FROM ('
         'SELECT {by}, {of}, count(*) AS operations, sum(delay_ns) AS total_ns, max(delay_ns) AS worst_ns '
         "FROM reports WHERE flag = 'ended' AND NOT idle GROUP BY {by}, {of}) AS sums) AS ranked "
         'WHERE rank <= 5 ORDER BY {by}, rank')
SIMPLE = ("SELECT {by}, count(*) AS operations, sum(delay_ns) AS total_ns, max(delay_ns) AS worst_ns FROM reports "
          "WHERE flag = 'ended' AND NOT idle GROUP BY {by} ORDER BY total_ns DESC LIMIT 20")
# These run in both. What waits for something to do is left out.
PREPARED = {
    'hours': WORST.format(by='hour', of='tracker, who, what').replace(
        'SELECT hour, tracker', "SELECT date_trunc('hour', time) AS hour, tracker"),
    'causes': SIMPLE.format(by='tracker, who, what'), 'hosts': SIMPLE.format(by='host, tracker'),
    'tasks': SIMPLE.format(by='comm'), 'cgroups': SIMPLE.format(by='cgroup')}
TEXT_ROWS = 1000


def quoted(text: str) -> str:
    """A string of SQL."""
    return "'" + text.replace("'", "''") + "'"


def _struct(columns: dict[str, str]) -> str:
    return '{' + ', '.join(f'{quoted(name)}: {quoted(of)}' for name, of in columns.items()) + '}'


def _source(names: Sequence[str], columns: dict[str, str], tolerant: bool) -> str:
    """Of recordings."""
    files = ', '.join(map(quoted, names))
    return f"read_ndjson([{files}], columns={_struct(columns)}, filename=true, ignore_errors={tolerant}) " \
        "WHERE type = 'report'"


def duckdb_views(names: Sequence[str], tolerant: bool) -> list[str]:
    """What makes the table reports, and raw, which has all fields as JSON. The files are all recordings, or
    all Parquet, of reports alone."""
    parquet = [name for name in names if name.endswith('.parquet')]
    if parquet:
        if len(parquet) < len(names):
            raise Error('files of Parquet and recordings cannot be read together')
        return [f'CREATE VIEW reports AS SELECT * FROM read_parquet([{", ".join(map(quoted, names))}])']
    plain = {name: kind for name, (kind, _) in COLUMNS.items()}
    fields = ', '.join(f'{name} {kind}' for name, kind in FIELDS.items())
    chosen = ', '.join([*COLUMNS, *(f'fields.{name} AS {name}' for name in FIELDS)])
    return [f'CREATE VIEW reports AS SELECT {chosen}, filename FROM ' + _source(
                names, {'type': 'VARCHAR', **plain, 'fields': f'STRUCT({fields}, stack VARCHAR[])'}, tolerant),
            f'CREATE VIEW raw AS SELECT {", ".join(COLUMNS)}, details, fields, filename FROM ' + _source(
                names, {'type': 'VARCHAR', **plain, 'details': 'VARCHAR[]', 'fields': 'JSON'}, tolerant)]


def clickhouse_view(pattern: str) -> str:
    """What makes the same table reports in ClickHouse, of files on its own machine."""
    structure = ', '.join(['type String', *(f'{name} {kind}' for name, (_, kind) in COLUMNS.items()), 'fields String'])
    chosen = ['parseDateTime64BestEffort(time, 6) AS time' if name == 'time' else name for name in COLUMNS]
    chosen += [f'JSONExtract{"String" if kind == "VARCHAR" else "Int"}(fields, {quoted(name)}) AS {name}'
               for name, kind in FIELDS.items()]
    return (f'CREATE VIEW reports AS SELECT {", ".join(chosen)}, _file AS filename FROM '
            f"file({quoted(pattern)}, JSONEachRow, {quoted(structure)}) WHERE type = 'report' "
            'SETTINGS input_format_json_read_objects_as_strings = 1')


def library() -> Any:
    """DuckDB."""
    try:
        return importlib.import_module('duckdb')
    except ImportError:
        raise Error(HOW_TO.format(program=sys.argv[0])) from None


class Base:
    """The views over some files, in memory. A line that is garbled is an error first, and then left out."""

    def __init__(self, names: Sequence[str]) -> None:
        for name in names:
            if not Path(name).is_file():
                raise Error(f'there is no file {name}')
        self.duckdb, self.names = library(), names
        self.base = self._open(False)

    def _open(self, tolerant: bool) -> Any:
        base = self.duckdb.connect()
        for view in duckdb_views(self.names, tolerant):
            base.execute(view)
        return base

    def run(self, sql: str) -> tuple[list[str], list[tuple[Any, ...]]]:
        """The names of the columns, and the rows."""
        try:
            try:
                return self._run(sql)
            except self.duckdb.InvalidInputException as error:
                self.base = self._open(True)
                found = self._run(sql)
                print(f'latency-tracker: what is garbled is left out: {str(error).splitlines()[0]}', file=sys.stderr)
                return found
        except self.duckdb.Error as error:
            raise Error(str(error)) from None

    def _run(self, sql: str) -> tuple[list[str], list[tuple[Any, ...]]]:
        cursor = self.base.execute(sql)
        if not cursor.description:
            return [], []
        return [column[0] for column in cursor.description], cursor.fetchall()


def as_json(value: Any) -> Json:
    """A value of SQL."""
    if isinstance(value, (list, tuple)):
        return [as_json(entry) for entry in value]
    if isinstance(value, dict):
        return {str(name): as_json(entry) for name, entry in value.items()}
    if value is None or isinstance(value, (bool, int, float, str)):
        return value
    return value.isoformat() if hasattr(value, 'isoformat') else str(value)


def as_text(name: str, value: Any) -> str:
    """A cell: what is called _ns, in the unit of a person."""
    if value is None:
        return '-'
    if name.endswith('_ns') and isinstance(value, (int, float)) and name not in ('at_ns', 'start_ns'):
        return human(value)
    if hasattr(value, 'strftime'):
        return str(value.strftime('%Y-%m-%d %H:%M:%S'))
    return ' '.join(map(str, value)) if isinstance(value, list) else f'{value:,}' if isinstance(value, int) and \
        not isinstance(value, bool) and name not in ('pid', 'tgid', 'nr') else str(value)


def show(out: Output, names: list[str], rows: list[tuple[Any, ...]]) -> None:
    """A table, or an object per row."""
    for row in rows if out.as_json else ():
        out.object('row', values={name: as_json(value) for name, value in zip(names, row)})
    if not names:
        return
    few = list(itertools.islice(rows, TEXT_ROWS))
    numbers = [all(isinstance(row[i], (int, float, type(None))) and not isinstance(row[i], bool) for row in few)
               for i in range(len(names))]
    out.table([('>' if number else '') + name for name, number in zip(names, numbers)],
              [[as_text(name, value) for name, value in zip(names, row)] for row in few])
    if len(rows) > TEXT_ROWS:
        out.line(f'and {len(rows) - TEXT_ROWS:,} more: add a LIMIT, or --json')


def query(args: argparse.Namespace, _machine: Machine, out: Output) -> int:
    """Of recordings: what is asked for, in SQL or by the name of a prepared question."""
    if args.clickhouse:
        out.raw(clickhouse_view(args.clickhouse) + ';')
        for name, sql in PREPARED.items():
            out.raw(f'-- {name}\n{sql};')
        return 0
    if not args.files:
        raise Error('say what to ask, and in which recordings to look: query SQL FILE...')
    base = Base(args.files)
    if args.parquet:
        base.run(f'COPY (SELECT * FROM reports) TO {quoted(args.parquet)} (FORMAT parquet, COMPRESSION zstd)')
    show(out, *base.run(PREPARED.get(args.sql, args.sql)))
    return 0
