# SPDX-License-Identifier: GPL-2.0-only
"""The command line."""
from __future__ import annotations

import argparse
import importlib
import json
import os
import sys
from collections.abc import Callable
from typing import NoReturn

from latency_tracker import Error, version
from latency_tracker.machine import Machine
from latency_tracker.output import Output
from latency_tracker.profile import WINDOWS
from latency_tracker.query import COLUMNS, FIELDS, PREPARED
from latency_tracker.schema import as_json_schema
from latency_tracker.settings import HELP as SETTINGS
from latency_tracker.units import WINDOWS_OF_CAUSES, parse_time

PROGRAM = 'latency-tracker'
Command = Callable[[argparse.Namespace, Machine, Output], int]


def lazy(name: str) -> Command:
    """The command MODULE.FUNCTION. Its module is imported when it runs: the others need not wait for what it needs."""
    def run(args: argparse.Namespace, machine: Machine, out: Output) -> int:
        module, function = name.split('.')
        command: Command = getattr(importlib.import_module(f'latency_tracker.{module}'), function)
        return command(args, machine, out)
    return run


class Parser(argparse.ArgumentParser):
    """With the exit status 1 for what it does not understand: 2 says that something was found."""

    def error(self, message: str) -> NoReturn:
        """To standard error."""
        self.exit(1, f'{PROGRAM}: {message}: see {self.prog} --help\n')


def positive(text: str) -> int:
    """The type of an option."""
    if not text.isascii() or not text.isdigit() or not 0 < int(text) < 10**9:
        raise argparse.ArgumentTypeError(f'"{text}" is no number from 1 on')
    return int(text)


def number(text: str) -> int:
    """The type of an option that may be 0."""
    return 0 if text == '0' else positive(text)


def time_ns(text: str) -> int:
    """The type of an option: a time with its unit."""
    try:
        return parse_time(text)
    except Error as error:
        raise argparse.ArgumentTypeError(str(error)) from None


def seconds(text: str) -> float:
    """The type of an option: a time with its unit."""
    return time_ns(text) / 1e9


def _filters(parser: argparse.ArgumentParser) -> None:
    parser.add_argument('--over', type=time_ns, metavar='TIME', help='only delays of so much, such as 50ms')
    parser.add_argument('--comm', metavar='GLOB', help='only of tasks with such a name')
    parser.add_argument('--pid', type=positive, metavar='PID', help='only of this thread or process')
    parser.add_argument('--cgroup', metavar='GLOB', help='only of tasks in such a control group, "/system.slice/*"')
    parser.add_argument('--stack', type=number, default=6, metavar='N', help='frames of a stack (6); 0: none')


def _trackers(parser: argparse.ArgumentParser) -> None:
    parser.add_argument('trackers', nargs='*', metavar='TRACKER', help='such as block; without: all that work')


def _until(parser: argparse.ArgumentParser) -> None:
    parser.add_argument('--for', dest='seconds', type=seconds, metavar='TIME', help='end after, such as 30s')
    parser.add_argument('--max', type=positive, metavar='N', help='end after so many')


def _sub(subs: argparse._SubParsersAction[Parser], name: str, run: Command, about: str, example: str,
         more: str = '') -> Parser:
    parser = subs.add_parser(
        name, help=about, description=about[0].upper() + about[1:] + '.', allow_abbrev=False,
        epilog=f'{more}\n\nexample:\n  {PROGRAM} {example}'.lstrip(),
        formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument('--json', action='store_true', help='an object per line, as "schema" says')
    parser.set_defaults(run=run)
    return parser


def _add_state(subs: argparse._SubParsersAction[Parser]) -> None:
    _sub(subs, 'list', lazy('cmd_state.list_trackers'), 'the trackers, and whether they are loaded', 'list')
    _sub(subs, 'doctor', lazy('doctor.doctor'), 'why does it not work here, and what to do', 'doctor',
         'The exit status is 2 if something is wrong.')
    parser = _sub(subs, 'status', lazy('cmd_state.status'), 'counters, losses, memory and cost of the trackers', 'status block')
    parser.add_argument('--for', dest='seconds', type=seconds, default=1, metavar='TIME',
                        help='measure the rate for so long (1s)')
    _trackers(parser)
    parser = _sub(subs, 'set', lazy('cmd_state.set_settings'), 'change settings, all of them or none; without any, show them',
                  'set block over=50ms dev=sda', SETTINGS)
    parser.add_argument('--boot', action='store_true', help='also at each boot')
    parser.add_argument('words', nargs='*', metavar='TRACKER|NAME=VALUE', help='"all": all that work')
    parser = _sub(subs, 'start', lazy('cmd_state.start'), 'load trackers, with settings; without names, all of them',
                  'start syscalls over=100ms cgroup=/system.slice/mariadb.service', SETTINGS)
    parser.add_argument('--boot', action='store_true', help='now, and at each boot')
    parser.add_argument('words', nargs='*', metavar='TRACKER|NAME=VALUE')
    parser = _sub(subs, 'stop', lazy('cmd_state.stop'), 'unload trackers; without names, all of them', 'stop block')
    parser.add_argument('--boot', action='store_true', help='now, and at each boot')
    parser.add_argument('trackers', nargs='*', metavar='TRACKER')


def _watch(args: argparse.Namespace, machine: Machine, out: Output) -> int:
    if args.all and not args.still:
        raise Error('--all is for --still: without it all are shown')
    return lazy('still.still' if args.still else 'cmd_reports.watch')(args, machine, out)


def _add_reports(subs: argparse._SubParsersAction[Parser]) -> None:
    parser = _sub(subs, 'watch', _watch, 'late operations as they happen: who, what, how long, why',
                  'watch syscalls block --over 100ms', 'The exit status is 2 if --max ended it; with --still, if '
                  'something is pending.')
    _filters(parser)
    _until(parser)
    parser.add_argument('--still', action='store_true', help='once: what is pending now, for longer than the threshold '
                        'or 1s, or --over')
    parser.add_argument('--all', action='store_true', help='with --still: also what waits for something to do')
    _trackers(parser)
    parser = _sub(subs, 'path', lazy('cmd_paths.path'), 'what late operations of tasks were made of, as they happen', 'path syscalls --over 100ms',
                  'It needs the module critical_path: latency-tracker start critical_path. The exit status is 2 if --max ended it.')
    _filters(parser)
    _until(parser)
    parser.set_defaults(buffer=0)
    _trackers(parser)
    parser = _sub(subs, 'last', lazy('cmd_reports.last'), 'the last reports of the trackers, although nobody has watched',
                  'last offcpu --comm "mariadbd*"')
    _filters(parser)
    parser.add_argument('-n', dest='number', type=positive, default=20, metavar='N', help='so many (20)')
    _trackers(parser)
    parser = _sub(subs, 'worst', lazy('cmd_reports.worst'), 'the slowest operations of a window, although nobody has watched',
                  'worst syscalls --window 1h')
    _filters(parser)
    parser.add_argument('--window', choices=WINDOWS, default='1h', help='(1h)')
    parser.add_argument('-n', dest='number', type=positive, default=5, metavar='N', help='of each tracker (5)')
    _trackers(parser)


def _top(args: argparse.Namespace, machine: Machine, out: Output) -> int:
    if args.window and args.by != 'cause':
        raise Error('--window is for --by cause, all else is of the last minute: add --by cause, or leave --window out')
    return lazy('cmd_paths.top_causes' if args.by == 'cause' else 'cmd_hist.top')(args, machine, out)


def _add_profiles(subs: argparse._SubParsersAction[Parser]) -> None:
    parser = _sub(subs, 'hist', lazy('cmd_hist.hist'), 'the distribution of the delays of all operations, late or not',
                  'hist block --window 1m,1h', 'With --by or --group: of groups, once "set TRACKER '
                  'groups=on" was said.')
    parser.add_argument('--window', metavar='NAMES', help=f'some of {",".join(WINDOWS)} (1m,total)')
    parser.add_argument('--by', metavar='DIMENSION', help='call, disk, interrupt, device, class or cgroup')
    parser.add_argument('--group', default='*', metavar='GLOB', help='only groups with such a name')
    parser.add_argument('-n', dest='number', type=positive, default=20, metavar='N', help='rows (20)')
    _trackers(parser)
    parser = _sub(subs, 'top', _top, 'what takes the most time: calls, disks, cgroups of the last minute',
                  'top --by cgroup', 'Groups that were not counted are counted while it runs. With "--by cause": what late operations of tasks\n'
                  'were made of, with the module critical_path.')
    parser.add_argument('--by', default='any', metavar='DIMENSION', help='one of those of "hist" (any), or cause')
    parser.add_argument('--window', choices=WINDOWS_OF_CAUSES, help='with --by cause (1m); it begins when this does')
    # Of what is late, all is counted.
    parser.set_defaults(buffer=0, over=None, comm=None, pid=None, cgroup=None)
    parser.add_argument('--every', dest='seconds', type=seconds, default=2, metavar='TIME', help='(2s)')
    parser.add_argument('--turns', type=positive, metavar='N', help='end after so many')
    parser.add_argument('-n', dest='number', type=positive, default=20, metavar='N', help='rows (20)')
    _trackers(parser)


def _add_report(subs: argparse._SubParsersAction[Parser]) -> None:
    parser = _sub(subs, 'record', lazy('record.record'), 'late operations to a file, while a command runs, or for a time',
                  'record -o build.json.gz syscalls block -- make -j8', 'The exit status is 1 if the command failed.')
    parser.set_defaults(takes_command=True)
    parser.add_argument('-o', dest='output', metavar='FILE',
                        help='the file; with .gz at its end it is compressed (latency-tracker-TIME.json.gz)')
    parser.add_argument('--for', dest='seconds', type=seconds, metavar='TIME', help='end after, such as 30s')
    parser.add_argument('--buffer', type=positive, default=0, metavar='KIB', help='of each CPU (4096; on large machines less, 256 MiB in all)')
    _filters(parser)
    _trackers(parser)
    parser = _sub(subs, 'report', lazy('report.report_file'), 'what a recording has: the sum, the slowest, pictures',
                  'report --html -o page.html build.json.gz',
                  'A recording is a file of "record", or what "watch --json" has printed, compressed with gzip\n'
                  'or not; "-" is standard input.')
    parser.add_argument('file', metavar='FILE')
    forms = parser.add_mutually_exclusive_group()
    forms.add_argument('--folded', action='store_true', help='stacks with their delays in us, for flame graphs')
    forms.add_argument('--trace', action='store_true', help='JSON for Perfetto and chrome://tracing')
    forms.add_argument('--html', action='store_true', help='one page with pictures, that needs no network')
    forms.add_argument('--svg', action='store_true', help='a flame graph of where they were blocked')
    forms.add_argument('--each', action='store_true', help='the text, with a section for each tracker')
    parser.add_argument('--paths', action='store_true', help='with --folded and --svg: chains of causes, with ns, of what the module\n'
                        'critical_path has told, instead of stacks')
    parser.add_argument('-o', dest='output', metavar='FILE', help='where --html and --svg write')
    parser.add_argument('--stack', type=number, default=6, metavar='N', help='frames of a stack (6); 0: none')
    parser.add_argument('-n', dest='number', type=positive, default=5, metavar='N', help='the slowest (5)')


def _add_query(subs: argparse._SubParsersAction[Parser]) -> None:
    parser = _sub(subs, 'query', lazy('query.query'), 'SQL over recordings, of many machines, too: needs DuckDB', 'query hours *.json.gz',
                  f'SQL, or one of: {", ".join(PREPARED)}. The table "reports" has the columns\n'
                  f'  {" ".join(COLUMNS)}\n  {" ".join(FIELDS)} filename\n'
                  'and "raw" has all fields, as JSON. Files are recordings, or of Parquet.')
    parser.add_argument('--parquet', metavar='FILE', help='put all reports there, which is read much faster')
    parser.add_argument('--clickhouse', metavar='GLOB', help='print what makes the same table in ClickHouse, of files '
                        'with such names, and the prepared questions')
    parser.add_argument('sql', nargs='?', metavar='SQL')
    parser.add_argument('files', nargs='*', metavar='FILE')


def _add_compare(subs: argparse._SubParsersAction[Parser]) -> None:
    parser = _sub(subs, 'compare', lazy('compare.compare'), 'which delays have changed, and not by chance', 'compare 1h 1m',
                  'The exit status is 2 if something has changed. Of a file, all time is taken.')
    parser.add_argument('before', metavar='BEFORE', help=f'a file of "save", or a window: {", ".join(WINDOWS)}')
    parser.add_argument('after', metavar='AFTER', help='likewise')
    parser.add_argument('--least', type=positive, default=5, metavar='PERCENT', help='change that counts (5)')
    parser.add_argument('-n', dest='number', type=positive, default=20, metavar='N', help='rows (20)')
    _trackers(parser)
    parser = _sub(subs, 'save', lazy('compare.save'), 'all profiles of this moment to a file, for "compare"', 'save before.json')
    parser.add_argument('file', metavar='FILE', help='is overwritten')
    _trackers(parser)


def _add_export(subs: argparse._SubParsersAction[Parser]) -> None:
    parser = _sub(subs, 'export', lazy('export.export'), 'metrics for Prometheus; metrics and late operations for OpenTelemetry',
                  'export --otlp http://collector:4318', 'Headers for the collector, such as a password, are read from '
                  'OTEL_EXPORTER_OTLP_HEADERS.')
    parser.add_argument('--listen', default='127.0.0.1:9905', metavar='ADDRESS:PORT',
                        help='where to answer /metrics, or "none" (127.0.0.1:9905)')
    parser.add_argument('--otlp', metavar='URL', help='where to send to, such as http://localhost:4318')
    parser.add_argument('--every', dest='seconds', type=seconds, default=10, metavar='TIME', help='send each (10s)')
    parser.add_argument('--groups', type=number, default=100, metavar='N',
                        help='groups with series of their own, where groups are on; the rest is "other" (100)')
    parser.add_argument('--once', action='store_true', help='print the metrics as text, and end')
    _trackers(parser)


def _mark(args: argparse.Namespace, machine: Machine, out: Output) -> int:
    if sum((bool(args.program), args.list, bool(args.remove))) != 1:
        raise Error('one of PROGRAM, --list and --remove')
    return lazy('cmd_mark.mark')(args, machine, out)


def _add_mark(subs: argparse._SubParsersAction[Parser]) -> None:
    parser = _sub(subs, 'mark', _mark, 'operations of programs that do not mark them: functions, and pairs of USDT probes',
                  'mark /usr/sbin/mariadbd --usdt mysql:query__start,mysql:query__done --name query',
                  'It needs the module mark: latency-tracker start mark. Probes of the same name are replaced. It stops a program for\n'
                  'some microseconds at each begin and end: see applications.md of the documentation.')
    parser.add_argument('program', nargs='?', metavar='PROGRAM', help='its file, or that of a library')
    parser.add_argument('functions', nargs='*', metavar='FUNCTION', help='from its call to its return; NAME=FUNCTION gives another name')
    parser.add_argument('--usdt', metavar='BEGIN,END', help='from one probe to another one, as PROVIDER:PROBE,PROVIDER:PROBE')
    parser.add_argument('--name', metavar='NAME', help='of what is between the two')
    parser.add_argument('--list', action='store_true', help='all that there are')
    parser.add_argument('--remove', metavar='NAME', help='those of this name')


def schema(_args: argparse.Namespace, _machine: Machine, out: Output) -> int:
    """The JSON schema of what --json prints."""
    out.raw(json.dumps(as_json_schema(), indent=1))
    return 0


def make_parser(with_commands: bool = True) -> Parser:
    """Of everything but "on", whose options are its own. Without commands, options that stand before one
    are not taken for those of the live view."""
    parser = Parser(
        prog=PROGRAM, allow_abbrev=False, formatter_class=argparse.RawDescriptionHelpFormatter,
        description='What is slow on this machine right now, and why: loads the trackers, finds '
        'thresholds, shows each late operation in words, and leaves things as they were.',
        epilog=f'Options of a command stand behind it.\n\nexample:\n  {PROGRAM} --for 30s\n\n{PROGRAM} COMMAND --help tells more; man {PROGRAM}.')
    parser.add_argument('--version', action='version', version=f'{PROGRAM} {version()}')
    parser.add_argument('--json', action='store_true', help='an object per line')
    _filters(parser)
    _until(parser)
    parser.set_defaults(run=lazy('live.live'), takes_command=False)
    if not with_commands:
        return parser
    subs = parser.add_subparsers(title='commands', metavar='COMMAND', parser_class=Parser)
    _add_reports(subs)
    _add_profiles(subs)
    _add_report(subs)
    _add_compare(subs)
    _add_state(subs)
    _add_mark(subs)
    _add_query(subs)
    _add_export(subs)
    subs.add_parser('on', help='act on a crossing: keep the trace, run a command', add_help=False)
    _sub(subs, 'schema', schema, 'the JSON schema of what --json prints', 'schema')
    return parser


def main(argv: list[str], machine: Machine | None = None) -> int:
    """The exit status: 0 it ended normally, 1 an error, 2 what was asked for was found."""
    try:
        if argv[:1] == ['on']:
            from latency_tracker.on import on  # pylint: disable=import-outside-toplevel
            return on(argv[1:], machine or Machine())
        options_first = bool(argv) and argv[0].startswith('-') and argv[0] not in ('-h', '--help')
        at = argv.index('--') if '--' in argv else len(argv)
        args = make_parser(not options_first).parse_args(argv[:at])
        args.command = argv[at + 1:]
        if at < len(argv) and not (args.takes_command and args.command):
            raise Error('behind -- stands the command of "record"')
        run: Command = args.run
        return run(args, machine or Machine(), Output(args.json))
    except Error as error:
        print(f'{PROGRAM}: {error}', file=sys.stderr)
    except BrokenPipeError:
        # The reader has seen enough.
        os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())
        return 0
    except KeyboardInterrupt:
        return 130
    except OSError as error:
        print(f'{PROGRAM}: {error.filename or ""}: {error.strerror}', file=sys.stderr)
    return 1
