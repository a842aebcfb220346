#!/bin/bash
# SPDX-License-Identifier: GPL-2.0-only
# Runs pytest on the tests of the command, with the Prometheus of Debian 12 as a judge, and with the
# engines of "query".
# Usage: run.sh PYTEST...
set -euo pipefail
# shellcheck source=scripts/lib.sh
. "$(dirname "${BASH_SOURCE[0]}")/../../scripts/lib.sh"

# Unpacked, not installed: it would be started.
get_prometheus()
{
	rm -rf "$dir.tmp"
	apt_download "$dir.tmp" bookworm prometheus &&
	dpkg -x "$dir.tmp"/prometheus_*.deb "$dir.tmp" &&
	"$dir.tmp/usr/bin/prometheus" --version &&
	mv "$dir.tmp" "$dir"
}

# One at a time gets what is missing: the tests and their mutants may run side by side.
exec {lock}>"$(cache_dir)/command.lock"
flock "$lock"
dir=$(cache_dir)/prometheus
[ -x "$dir/usr/bin/prometheus" ] || progress "getting Prometheus (once)" get_prometheus ||
	die "Prometheus could not be got: see above, and check the network"
# DuckDB, and the engine of ClickHouse: in no package of Debian. The versions that were tried.
get_engines()
{
	rm -rf "$venv" "$venv.tmp"
	# It is not moved: its programs know where they are.
	/usr/bin/python3 -m venv "$venv" &&
	"$venv/bin/pip" -q --disable-pip-version-check install duckdb==2.0.1 chdb==4.4.0 &&
	touch "$venv/complete"
}

venv=$(cache_dir)/engines
[ -e "$venv/complete" ] || progress "getting DuckDB and ClickHouse's engine (once)" get_engines ||
	die "DuckDB and chdb could not be got: see above, and check the network"
# The page of a report is looked at.
"$(dirname "${BASH_SOURCE[0]}")/../../scripts/setup" --packages chromium-headless-shell fonts-dejavu-core
exec {lock}>&-
export LT_QUERY_VENV=$venv
export LT_PROMETHEUS=$dir/usr/bin/prometheus
exec "$@"
