#!/bin/bash
# SPDX-License-Identifier: GPL-2.0-only
# Runs pytest on the tests of the command, with the Prometheus of Debian 12 as a judge.
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

dir=$(cache_dir)/prometheus
[ -x "$dir/usr/bin/prometheus" ] || progress "getting Prometheus (once)" get_prometheus ||
	die "Prometheus could not be got: see above, and check the network"
export LT_PROMETHEUS=$dir/usr/bin/prometheus
exec "$@"
