# SPDX-License-Identifier: GPL-2.0-only
"""What scripts/check does: sets up, builds, runs all tests and counts.

One noun per file, from the bottom up:

    options   the command line
    output    lines with the time, and steps that take long
    lines     what a line of a suite's output says: python3-tap reads it
    tally     a plan and as many results, and what was counted
    children  the processes that were started, and their end
    suite     one command, whose results must agree with how it ends
    kernel    the entries of tests/vm/kernels
    setup     what must be there first: packages, root file systems, modules
    beside    jobs side by side
    judges    programs that judge files of a guest, run outside of it
    guest     the tests of tests/guest
    truth     what was injected, observed and reported
    mutants   which of the mutants and of the twins, and their command
    host      the suites that need no kernel
    lane      the suites of one kernel; the brief ones of a kernel besides
    main      all of it
"""
