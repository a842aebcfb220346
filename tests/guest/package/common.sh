# SPDX-License-Identifier: GPL-2.0-only
# shellcheck shell=bash disable=SC2034,SC2154
#
# For the test of the package, and for what installs it. Where the checkout is, is in $top.

# What the checkout has sources of.
all=$(cd "$top" && sed -n '/LT_TESTS/q; s/^obj-.* += \(latency_tracker.*\)\.o$/\1/p' Kbuild &&
	sed -n 's/^obj-.* += \(latency_tracker.*\)\.o$/\1/p' examples/Kbuild examples/api/Kbuild)
all=$(sort <<<"$all")
# Where the newer packages are, which install makes.
newer=/var/lib/lt-newer
