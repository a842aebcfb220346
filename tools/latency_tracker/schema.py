# SPDX-License-Identifier: GPL-2.0-only
"""What --json prints: an object per line, with "schema" and "type". Fields may be added."""
from __future__ import annotations

from latency_tracker.output import SCHEMA, Json

# Of each type: what it is, and its fields; a "+" behind a type means that more numbers may follow.
TYPES: dict[str, tuple[str, dict[str, str]]] = {
    'tracker': ('list: a tracker, with its counters if it is loaded',
                {'tracker': 'string', 'about': 'string', 'loaded': 'boolean'}),
    'status': ('status: counters, Documentation/ABI/sysfs',
               {'tracker': 'string', 'per_second': 'number', 'cpu_percent_estimate': 'number',
                'records_lost': 'integer', 'started': 'integer', 'finished': 'integer',
                'late': 'integer', 'skipped': 'integer', 'memory_bytes': 'integer'}),
    'setting': ('set: as "set" takes it, and as the module has it',
                {'tracker': 'string', 'name': 'string', 'value': 'string', 'parameter': 'string',
                 'raw': 'string', 'fixed': 'boolean'}),
    'probe': ('mark: a probe, its places are OFFSET or BEGIN-END, as the parameter probes has them', {
        'name': 'string', 'program': 'string', 'places': 'string'}),
    'started': ('start', {'tracker': 'string', 'loaded_now': 'boolean', 'boot': 'boolean',
                          'threshold_ns': 'integer?'}),
    'stopped': ('stop', {'tracker': 'string'}),
    'report': ('watch, last, worst: a late operation; who and what are alike for alike ones, says and details in words, fields as '
               'Documentation/ABI/trace-events has them; times in ns of CLOCK_MONOTONIC, time is local',
               {'tracker': 'string', 'event': 'string', 'time': 'string', 'at_ns': 'integer',
                'start_ns': 'integer', 'delay_ns': 'integer', 'flag': 'string', 'window': 'string',
                'rank': 'integer', 'nr': 'integer', 'host': 'string', 'who': 'string', 'what': 'string',
                'says': 'string', 'details': 'array', 'idle': 'boolean',
                'cgroup': 'string',
                'fields': 'object'}),
    'path': ('path, record: what a late operation of a task was made of; delay_ns is the whole, count how many segments there are; those of '
             'hop 0 add up to it, and those whose parent is the number of another one to that', {
        'tracker': 'string', 'operation': 'string', 'op': 'integer', 'time': 'string', 'at_ns': 'integer',
        'start_ns': 'integer', 'delay_ns': 'integer', 'flag': 'string', 'host': 'string', 'comm': 'string', 'pid': 'integer',
        'what': 'string', 'says': 'string', 'idle': 'boolean', 'cgroup': 'string', 'count': 'integer', 'segments': 'array'}),
    'cause': ('top --by cause, report: of late_ns, the delays of all late operations of a kind, how much was of this cause; detail is a '
              'disk, the kind of a lock, a task, or empty; count says in how many of the operations', {
        'tracker': 'string', 'what': 'string', 'operations': 'integer', 'late_ns': 'integer', 'cause': 'string', 'detail': 'string',
        'count': 'integer', 'total_ns': 'integer', 'worst_ns': 'integer', 'share': 'number'}),
    'window': ('top --by cause, before its causes: of how much time they are; lost: events that came too fast, since it began', {
        'says': 'string', 'seconds': 'integer', 'lost': 'integer'}),
    'summary': ('watch, at its end: alike operations', {
        'tracker': 'string', 'who': 'string', 'what': 'string', 'count': 'integer', 'total_ns': 'integer',
        'worst_ns': 'integer', 'pending': 'integer', 'idle': 'boolean'}),
    'still': ('watch --still: how many were shown, and how many not that wait for something to do', {
        'shown': 'integer', 'idle': 'integer'}),
    'burst': ('on: crossings that were acted on, and the event of the first, as it prints its fields', {
        'tracker': 'string', 'time': 'string', 'crossings': 'integer', 'event': 'string', 'says': 'string',
        'fields': 'object', 'actions': 'array'}),
    'bursts': ('on, at its end', {
        'tracker': 'string', 'seen': 'integer', 'acted_on': 'integer', 'acts': 'integer', 'cooled': 'integer',
        'passed': 'integer', 'lost': 'integer'}),
    'missed': ('reports that came too fast to be shown, or paths that are not in the sums', {'count': 'integer'}),
    'threshold': ('the live view: what is late now', {'tracker': 'string', 'threshold_ns': 'integer'}),
    'histogram': ('hist, save: counts by the index of the bucket, and by its upper bound; schema_scale is '
                  'that of OpenTelemetry', {
        'tracker': 'string', 'window': 'string', 'schema_scale': 'integer', 'dimension': 'string?',
        'group': 'string?', 'group_id': 'integer?', 'buckets': 'object', 'buckets_ns': 'object', 'count': 'integer',
        'sum_ns': 'integer', 'max_ns': 'integer', 'p50_ns': 'integer', 'p90_ns': 'integer',
        'p99_ns': 'integer', 'p999_ns': 'integer', 'p9999_ns': 'integer', 'span_ns': 'integer'}),
    'recording': ('record: the first line of a file', {
        'version': 'string', 'kernel': 'string', 'time': 'string', 'command': 'array', 'trackers': 'array'}),
    'row': ('query: a row, by the names of its columns', {'values': 'object'}),
    'exporting': ('export: it answers at this port, and sends there', {
        'port': 'integer?', 'native': 'boolean', 'otlp': 'string?'}),
    'change': ('compare: a quantile that has changed, and how probable that is by chance', {
        'tracker': 'string', 'dimension': 'string?', 'group': 'string?', 'quantile': 'string',
        'before_ns': 'integer', 'after_ns': 'integer', 'ratio': 'number', 'chance': 'number'}),
    'finding': ('doctor: what is wrong, or, as a note, worth to know; name does not change', {
        'name': 'string', 'note': 'boolean', 'says': 'string', 'remedy': 'string'}),
    'top': ('top: a group of the last minute', {
        'tracker': 'string', 'dimension': 'string', 'group': 'string', 'group_id': 'integer',
        'per_second': 'number', 'count': 'integer', 'sum_ns': 'integer', 'max_ns': 'integer',
        'p50_ns': 'integer', 'p99_ns': 'integer', 'span_ns': 'integer'}),
}


def as_json_schema() -> dict[str, Json]:
    """As JSON Schema, draft 2020-12."""
    objects: list[Json] = []
    for kind, (about, fields) in TYPES.items():
        properties: dict[str, Json] = {'schema': {'const': SCHEMA}, 'type': {'const': kind}}
        for name, of in fields.items():
            properties[name] = {'type': [of[:-1], 'null'] if of.endswith('?') else of}
        objects.append({'description': about, 'type': 'object', 'properties': properties,
                        'required': [*properties], 'additionalProperties': True})
    return {'$schema': 'https://json-schema.org/draft/2020-12/schema', 'oneOf': objects}
