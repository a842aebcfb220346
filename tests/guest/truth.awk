# SPDX-License-Identifier: GPL-2.0-only
#
# The truth table of scripts/check, from lines
#   KERNEL|TRACKER|CASE|INJECTED_NS|REPORTED_NS|OBSERVED|LATE|REPORTED|MISSED|INVENTED|SKIPPED
# of which each has either a delay or the figures of an observer. With -v expect="NAMES"
# each kernel must have both for each of these trackers. Exit status: 1 if something was
# invented, or missed without having been skipped, or is not there.

function ms(ns)
{
	return sprintf("%.1f", ns / 1000000)
}

function wrong(text)
{
	problems = problems "  " text "\n"
}

BEGIN {
	FS = "|"
	line = "%-15s %-9s %-34s %9s %9s %7s %9s %7s %9s %7s %9s %8s\n"
	printf line, "kernel", "tracker", "case", "injected", "reported", "error", "observed",
		"late", "reported", "missed", "invented", "skipped"
	printf line, "", "", "", "ms", "ms", "ms", "", "", "", "", "", ""
	print "late: longer than the threshold by a margin, for sure; reported: also those near it"
	print ""
}

{
	where = $1 ": " $2 ", " $3
	if (!($1 in kernels))
		kernels[$1]
	if ($4 != "") {
		delays[$1, $2]
		printf line, $1, $2, $3, ms($4), ms($5), ms($5 - $4), "", "", "", "", "", ""
		if ($5 <= 0)
			wrong(where ": not reported")
	} else {
		counts[$1, $2]
		printf line, $1, $2, $3, "", "", "", $6, $7, $8, $9, $10, $11
		if ($10 != 0)
			wrong(where ": " $10 " invented")
		if ($9 > $11)
			wrong(where ": " $9 " missed, but only " $11 " skipped")
	}
}

END {
	n = split(expect, names, " ")
	for (kernel in kernels)
		for (i = 1; i <= n; i++) {
			if (!((kernel, names[i]) in delays))
				wrong(kernel ": " names[i] ": no delay was injected")
			if (!((kernel, names[i]) in counts))
				wrong(kernel ": " names[i] ": no observer has counted")
		}
	if (problems != "") {
		printf "\nNot the truth:\n%s", problems
		exit 1
	}
}
