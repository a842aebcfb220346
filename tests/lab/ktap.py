# SPDX-License-Identifier: GPL-2.0-only
"""KTAP of pytest, whose own output is switched off:

    PYTHONPATH=tests python3 -P -m pytest -p lab.ktap -p no:cacheprovider -p no:terminal tests/lab
"""

from pathlib import Path
from typing import Any

_ended: list[str] = []


def pytest_configure(config: Any) -> None:
    """An option of that output, which pytest looks at to explain an assertion."""
    config.option.verbose = getattr(config.option, "verbose", 0)


def pytest_collection_modifyitems(items: list[Any]) -> None:
    """They have been found."""
    print(f"KTAP version 1\n1..{len(items)}", flush=True)


def pytest_collectreport(report: Any) -> None:
    """A file that cannot be read has no tests that could fail."""
    if report.failed:
        print(f"Bail out! {report.nodeid}: {report.longreprtext.splitlines()[-1]}", flush=True)


def pytest_runtest_logreport(report: Any) -> None:
    """A test ends with "call", unless it has failed to begin or to clean up."""
    if report.when != "call" and not report.failed:
        return
    _ended.append(report.nodeid)
    file, _, name = report.nodeid.partition("::")
    for line in report.longreprtext.splitlines()[-30:]:
        print(f"# {line}")
    text = f"{Path(file).stem.removeprefix('test_')}: {name.removeprefix('test_')}"
    result = f"{'not ' * report.failed}ok {len(_ended)}"
    print(f"{result} - {text.replace('_', ' ')}", flush=True)
