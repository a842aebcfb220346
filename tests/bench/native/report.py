#!/usr/bin/env python3
# SPDX-License-Identifier: GPL-2.0-only
"""Tables of what lt_bench has measured, and pictures.

report.py FILE.json            prints tables
report.py FILE.json FILE.svg   draws what "scripts/bench scale" has measured
"""
import json
import statistics
import sys
from collections import defaultdict

BURST = 64  # pairs per iteration, BENCH_BURST
WORKS = ("private keys", "shared keys", "hand-over")


def read(path):
    """What is known of the machine, and for each benchmark the medians of its rounds; ns is
    the CPU time of a pair, that of the helpers included."""
    with open(path, encoding="utf-8") as file:
        data = json.load(file)
    rounds = defaultdict(list)
    for run in data["benchmarks"]:
        if run["run_type"] == "iteration":
            rounds[run["family_index"]].append(run)
    cells = []
    for _, runs in sorted(rounds.items()):
        name, work, *_ = runs[0]["name"].split("/")
        ns = [(run["cpu_time"] + run["helpers"]) / BURST for run in runs]
        # The spread is that of the middle half.
        low, _, high = statistics.quantiles(ns, n=4) if len(ns) > 1 else (0, 0, 0)
        cells.append({
            "name": name, "work": work.split(":")[0], "ns": statistics.median(ns),
            "pending": int(work.split(":")[1]) if ":" in work else 0,
            "spread": (high - low) / statistics.median(ns),
            "helpers": statistics.median(run["helpers"] / BURST for run in runs),
            "waits": sum(run["waits"] for run in runs),
            **{key: runs[0][key] for key in ("threads", "bytes")},
        })
    return data["context"], cells


def pair_table(cells):
    print("\na begin with its end            ns   spread without clocks  helpers  bytes/event")
    for cell in cells:
        print("{name:26} {ns:7.1f} {spread:8.1%} {:14.1f} {helpers:8.1f} {bytes:12.0f}".format(
            cell["ns"] - cells[0]["ns"], **cell))


def scale_table(title, cells, key, show):
    """A row per value of key, a column per contestant."""
    print(f"\n{title}\n{key:8}" + "".join(
        f" {cell['name']:>24}" for cell in cells if cell[key] == cells[0][key]))
    for value in sorted({cell[key] for cell in cells}):
        row = [cell for cell in cells if cell[key] == value]
        print(f"{value:<8}" + "".join(f" {show(cell, row):>24}" for cell in row))


def scale_tables(cells):
    def speed_up(cell):
        return next(cell["threads"] * one["ns"] / cell["ns"] for one in cells if one["threads"] == 1
                    and (one["name"], one["work"]) == (cell["name"], cell["work"]))

    def threads(cell, row):
        control = next(speed_up(other) for other in row if other["name"] == "slot")
        return (f"{cell['threads'] * 1e3 / cell['ns']:9.1f} ({speed_up(cell):5.2f}, "
                f"{speed_up(cell) / control:5.2f})")

    for work in WORKS:
        scale_table(f"{work}: million pairs per second (speed-up over one thread, of the control's)",
                    [cell for cell in cells if cell["work"] == work], "threads", threads)
    scale_table("ns per pair (spread)", [cell for cell in cells if cell["work"] == "pending"],
                "pending", lambda cell, _: f"{cell['ns']:9.1f} ({cell['spread']:6.1%})")
    if waits := sum(cell["waits"] for cell in cells):
        print(f"{waits:.0f} times a thread had to wait for memory.")


def tables(path):
    about, cells = read(path)
    print(f"{about['cpu']}, {about['num_cpus']} CPUs, Linux {about['kernel']}, "
          f"load {about['load_avg'][0]:.1f}, cds_lfht of liburcu {about['liburcu']}, QSBR")
    (pair_table if cells[0]["name"] == "two clock reads" else scale_tables)(cells)


def curves(axes, ticker, cells, x, y):
    # Each contestant has the same colour in all of them.
    for at, name in enumerate(dict.fromkeys(cell["name"] for cell in cells)):
        points = sorted((cell[x], y(cell), cell["spread"]) for cell in cells if cell["name"] == name)
        xs, ys, spread = zip(*points)
        axes.errorbar(xs, ys, yerr=[value * part / 2 for value, part in zip(ys, spread)],
                      color=f"C{at}", label=name, marker="o", markersize=3.5, linewidth=1.4, capsize=2)
    axes.set_xscale("log", base=2 if x == "threads" else 10)
    axes.set_xticks(sorted({cell[x] for cell in cells}))
    axes.get_xaxis().set_major_formatter(ticker.FuncFormatter(lambda v, _: f"{v:,.0f}"))
    axes.get_xaxis().set_minor_locator(ticker.NullLocator())
    axes.set_ylim(bottom=0)
    axes.grid(True, color="#e5e5e5")
    axes.set_axisbelow(True)


def draw(source, target):
    import matplotlib
    matplotlib.use("svg")
    from matplotlib import pyplot, ticker

    # The same figures make the same file.
    pyplot.rcParams["svg.hashsalt"] = "latency-tracker"
    pyplot.rcParams["font.size"] = 9
    about, cells = read(source)
    figure, grid = pyplot.subplots(2, 2, figsize=(9, 6.6))
    *threads, pending = grid.flat
    for axes, work in zip(threads, WORKS):
        curves(axes, ticker, [cell for cell in cells if cell["work"] == work], "threads",
               lambda cell: cell["threads"] * 1e3 / cell["ns"])
        axes.set(title=work, xlabel="CPUs", ylabel="million pairs per second")
    curves(pending, ticker, [cell for cell in cells if cell["work"] == "pending"], "pending",
           lambda cell: cell["ns"])
    pending.set(title="Events pending", xlabel="pending events", ylabel="ns per pair")
    threads[0].legend(fontsize=8)
    figure.suptitle(f"{about['cpu']}, {about['num_cpus']} CPUs: begin + end, two clock reads included",
                    fontsize=10)
    figure.tight_layout()
    figure.savefig(target, metadata={"Date": None, "Creator": None})


if __name__ == "__main__":
    if len(sys.argv) == 2:
        tables(sys.argv[1])
    elif len(sys.argv) == 3:
        draw(*sys.argv[1:])
    else:
        sys.exit(__doc__)
