#!/usr/bin/python3
# SPDX-License-Identifier: GPL-2.0-only
"""Draw what "scripts/bench scale" has measured: draw.py FILE.json FILE.svg"""

import json
import sys

import matplotlib

matplotlib.use("svg")
import matplotlib.pyplot as plt

# The same figures make the same file.
plt.rcParams["svg.hashsalt"] = "latency-tracker"
plt.rcParams["font.size"] = 9

COLORS = {
    "slot": "#888888",
    "tracker": "#c0392b",
    "trackers, one each": "#e6a19a",
    "cds_lfht": "#2471a3",
    "spinlocked table": "#b9770e",
}
LABELS = {"slot": "one slot each (control)", "cds_lfht": "liburcu's cds_lfht"}
TITLES = {
    "private keys": "Keys of their own",
    "shared keys": "16 keys for all",
    "hand-over": "Begun here, ended on the next CPU",
}


def curves(axes, cells, x, y):
    for name, color in COLORS.items():
        points = sorted((cell[x], y(cell), cell["spread"]) for cell in cells if cell["name"] == name)
        if not points:
            continue
        xs, ys, spread = zip(*points)
        error = [value * part / 2 for value, part in zip(ys, spread)]
        axes.errorbar(xs, ys, yerr=error, color=color, label=LABELS.get(name, name),
                      marker="o", markersize=3.5, linewidth=1.4, capsize=2)
    axes.set_xscale("log", base=2 if x == "threads" else 10)
    axes.set_xticks(sorted({cell[x] for cell in cells}))
    axes.get_xaxis().set_major_formatter(matplotlib.ticker.FuncFormatter(lambda v, _: f"{v:,.0f}"))
    axes.get_xaxis().set_minor_locator(matplotlib.ticker.NullLocator())
    axes.grid(True, color="#e5e5e5")
    axes.set_axisbelow(True)


def main(source, target):
    with open(source, encoding="utf-8") as file:
        data = json.load(file)
    figure, grid = plt.subplots(2, 2, figsize=(9, 6.6))
    panels = list(grid.flat)
    for axes, (work, title) in zip(panels, TITLES.items()):
        cells = [cell for cell in data["cells"] if cell["work"] == work]
        curves(axes, cells, "threads", lambda cell: cell["threads"] * 1e3 / cell["ns"])
        axes.set_title(title)
        axes.set_xlabel("CPUs")
        axes.set_ylabel("million pairs per second")
        axes.set_ylim(bottom=0)
    cells = [cell for cell in data["cells"] if cell["work"] == "pending"]
    curves(panels[3], cells, "pending", lambda cell: cell["ns"])
    panels[3].set_title("Events pending")
    panels[3].set_xlabel("pending events")
    panels[3].set_ylabel("ns per pair")
    panels[3].set_ylim(bottom=0)
    panels[0].legend(fontsize=8)
    figure.suptitle(f"{data['cpu']}, {data['cpus']} CPUs: begin + end, two clock reads included", fontsize=10)
    figure.tight_layout()
    figure.savefig(target, metadata={"Date": None, "Creator": None})


if __name__ == "__main__":
    if len(sys.argv) != 3:
        sys.exit(__doc__)
    main(*sys.argv[1:])
