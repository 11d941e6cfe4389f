"""How many records private logistic regression needs as the dimension grows: Antonova's Appendix B and our figures.

    python -m benchmarks.scaling_study [--dimensions 1 2 5 ...] [--epsilon 0.1 0.01] [--methods erm fm ...]
        [--runs 10] [--seed 0] [--workers 2] [--resume FILE] [--figure FILE.html]

The data are toy Gaussians (Antonova 2016, A.7), with ten runs for each cell. N goes through powers of two until the
mean accuracy is within 2 points of the best fit without privacy (`toy_scaling.py`). The default run has D up to 100 at
ε = 0.1, and D up to 20 at ε = 0.01 and with the second type of scaling. With --resume every finished cell is appended
to FILE as a line of JSON, and a later run with the same file continues there. A run that is killed loses the unfinished
cells, one for each worker.

The script prints Tables B.1 to B.8 with Antonova's figures. "at its N" is our accuracy at the N that Antonova (2016)
reports. If no N came close, the largest N that was tried is printed, marked ">".
"""

from __future__ import annotations

import os

for name in ("OMP_NUM_THREADS", "OPENBLAS_NUM_THREADS", "MKL_NUM_THREADS"):
    os.environ[name] = "1"  # numpy reads these when it is imported; the workers already run in parallel

import argparse  # noqa: E402
import json  # noqa: E402
import threading  # noqa: E402
import time  # noqa: E402
from concurrent.futures import FIRST_COMPLETED, ProcessPoolExecutor, wait  # noqa: E402
from pathlib import Path  # noqa: E402
from typing import Any  # noqa: E402

import pandas as pd  # noqa: E402
from tqdm import tqdm  # noqa: E402

from benchmarks.toy_scaling import SCALING_METHODS, Cell, least_records, most_records, next_cell, run_cell  # noqa: E402

DIMENSIONS = (1, 2, 5, 10, 20, 50, 100)
MOST_MAP = 1 << 15
SMALL = 20  # largest dimension at ε = 0.01 and with the second scaling, by default
TOLERANCE = 0.02
Walk = tuple[str, int, float, str]

# Antonova's tables: D -> (N, accuracy in %, standard error or None)
TRUTH = {1: (1024, 88.0), 2: (4096, 91.9), 5: (4096, 89.9), 10: (4096, 89.1), 20: (8192, 90.0), 50: (1048576, 89.9),
         100: (524288, 90.0), 1000: (1048576, 90.0), 1500: (1048576, 90.0)}  # fmt: skip
ANTONOVA: dict[str, tuple[str, float, str, dict[int, tuple[int, float]]]] = {
    "B.2": ("map", 0.0, "record", {1: (16, 88.0), 2: (16, 91.9), 5: (16, 88.3), 10: (32, 87.6), 20: (128, 88.6),
            50: (256, 88.0), 100: (512, 88.3), 1000: (16384, 88.1), 1500: (32768, 88.0)}),
    "B.3": ("erm-published-cv", 0.1, "record", {1: (256, 88.0), 2: (512, 90.8), 5: (1024, 88.3), 10: (2048, 87.3),
            20: (8192, 87.9), 50: (131072, 88.0), 100: (65536, 88.1), 1000: (1048576, 79.1), 1500: (1048576, 70.5)}),
    "B.4": ("fmsens1", 0.1, "record", {1: (256, 88.0), 2: (1024, 90.7), 5: (4096, 85.9), 10: (4096, 61.6),
            20: (8192, 55.8), 50: (1048576, 66.9), 100: (524288, 50.7), 1000: (1048576, 49.6), 1500: (1048576, 50.1)}),
    "B.5": ("fmsens2", 0.1, "record", {1: (128, 88.0), 2: (512, 89.9), 5: (4096, 86.9), 10: (4096, 82.4),
            20: (8192, 68.4), 50: (1048576, 75.2), 100: (524288, 68.1), 1000: (1048576, 50.9), 1500: (1048576, 50.6)}),
    "B.6": ("erm-published-cv", 0.01, "record", {1: (4096, 89.9), 2: (8192, 88.2), 5: (16384, 88.3), 10: (32768, 88.3),
            20: (131072, 88.6)}),
    "B.7": ("fmsens2", 0.01, "record", {1: (4096, 89.9), 2: (8192, 88.1), 5: (65536, 88.3), 10: (131072, 88.2),
            20: (262144, 77.5)}),
    "B.8": ("erm-published-cv", 0.1, "dataset", {1: (512, 88.1), 2: (2048, 91.0), 5: (2048, 88.0), 10: (4096, 84.2),
            20: (8192, 82.7)}),
}  # fmt: skip
TITLES = {
    "map": "logistic regression without privacy, λ by validation",
    "erm-published-cv": "PrivateERM as printed, λ by validation (not private)",
    "erm-cv": "objective perturbation, our constants, λ by validation (not private)",
    "erm": "objective perturbation, our constants, λ by the public rule",
    "fmsens1": "FMsens1",
    "fmsens2": "FMsens2",
    "fmsens3": "FMsens3",
    "fm": "FMsens3, λ by our public rule",
}


def plan(dimensions: list[int], epsilons: list[float], methods: list[str]) -> list[Walk]:
    """Return the walks; those without privacy come first, because they give the target."""
    walks: list[Walk] = [("map", D, 0.0, scaling) for scaling in ("record", "dataset") for D in dimensions]
    for D in dimensions:
        for method in methods:
            walks += [(method, D, e, "record") for e in epsilons if e >= 0.1 or D <= SMALL]
            if D <= SMALL and method.startswith("erm"):
                walks += [(method, D, e, "dataset") for e in epsilons if e >= 0.1]
    used = {(D, scaling) for method, D, _, scaling in walks if method != "map"}
    return [walk for walk in walks if walk[0] != "map" or (walk[1], walk[3]) in used or walk[3] == "record"]


def most_of(walk: Walk) -> int:
    return min(MOST_MAP, most_records(*walk[:2])) if walk[0] == "map" else most_records(*walk[:2])


def thesis_cells(walks: list[Walk]) -> dict[Walk, Cell]:
    """Return the cells at Antonova's own N, for the walks that have one and can reach it."""
    cells = {}
    for method, epsilon, scaling, rows in ANTONOVA.values():
        for D, (records, _) in rows.items():
            walk = (method, D, epsilon, scaling)
            if walk in walks and records <= most_of(walk):
                cells[walk] = Cell(method, D, records, epsilon, scaling)
    return cells


class Results:
    """Finished cells: in memory and, with a path, also as lines of JSON in a file."""

    def __init__(self, path: Path | None, runs: int, seed: int):
        self.path, self.rows = path, []
        if path is not None and path.exists():
            text = path.read_bytes()
            whole = text[: text.rfind(b"\n") + 1]  # an incomplete line of a killed run is dropped
            if whole != text:
                os.truncate(path, len(whole))
            rows = [json.loads(line) for line in whole.decode().splitlines()]
            self.rows = [row for row in rows if row["runs"] == runs and row["seed"] == seed]

    def add(self, row: dict[str, Any]) -> None:
        """Keep a row. It is on disk when this returns."""
        self.rows.append(row)
        if self.path is not None:
            handle = os.open(self.path, os.O_WRONLY | os.O_APPEND | os.O_CREAT, 0o644)
            try:
                os.write(handle, (json.dumps(row) + "\n").encode())
                os.fsync(handle)
            finally:
                os.close(handle)

    def target(self, walk: Walk) -> float | None:
        """Return the accuracy that ends a walk; None for one without privacy."""
        if walk[0] == "map":
            return None
        same = [r for r in self.rows if (r["method"], r["dimension"], r["scaling"]) == ("map", walk[1], walk[3])]
        return max(r["accuracy"] for r in same) - TOLERANCE

    def next(self, walk: Walk, extra: Cell | None) -> Cell | None:
        """Return the walk's next cell. The cell at Antonova's N comes last."""
        cell = next_cell(walk, self.rows, self.target(walk), most_of(walk))
        if cell is None and extra is not None:
            seen = {(r["method"], r["dimension"], r["epsilon"], r["scaling"], r["records"]) for r in self.rows}
            return None if (*walk, extra.records) in seen else extra
        return cell


def end_with(parent: int) -> None:
    """End this worker when its parent has ended, because a killed parent cannot stop it."""

    def watch() -> None:
        while os.getppid() == parent:
            time.sleep(1.0)
        os._exit(1)

    threading.Thread(target=watch, daemon=True).start()


def timed(cell: Cell, runs: int, seed: int) -> dict[str, Any]:
    start = time.process_time()
    return {**run_cell(cell, runs=runs, seed=seed), "seconds": round(time.process_time() - start, 3)}


def run(walks: list[Walk], results: Results, runs: int, seed: int, workers: int) -> None:
    """Run the missing cells. A walk begins when the walk without privacy that gives its target has ended."""
    extra = thesis_cells(walks)
    waiting, working = list(walks), {}
    bar = tqdm(total=len(walks), unit="walk")
    with ProcessPoolExecutor(workers, initializer=end_with, initargs=(os.getpid(),)) as pool:
        while waiting or working:
            open_maps = {w[1::2] for w in [*waiting, *working.values()] if w[0] == "map"}
            for walk in list(waiting):
                if len(working) >= workers:
                    break
                if walk[0] != "map" and walk[1::2] in open_maps:
                    continue
                cell = results.next(walk, extra.get(walk))
                waiting.remove(walk)
                if cell is None:
                    bar.update()
                    open_maps = {w[1::2] for w in [*waiting, *working.values()] if w[0] == "map"}
                    continue
                bar.set_postfix_str(f"{cell.method} D={cell.dimension} N={cell.records} ε={cell.epsilon:g}")
                working[pool.submit(timed, cell, runs, seed)] = walk
            if not working:
                continue
            done, _ = wait(working, return_when=FIRST_COMPLETED)
            for future in done:
                walk = working.pop(future)
                results.add(future.result())
                waiting.insert(0, walk)
    bar.close()


# ---- what is printed ------------------------------------------------------------------------------------------------


def show(rows: list[dict[str, Any]], walks: list[Walk]) -> None:
    table = least_records(rows, tolerance=TOLERANCE)
    ours = {(r.method, r.dimension, r.epsilon, r.scaling): r for r in table.itertuples()}
    at = {(r["method"], r["dimension"], r["epsilon"], r["scaling"], r["records"]): r for r in rows}
    print("\nTable B.1  best accuracy without privacy, %          published     ours")
    for D in sorted({walk[1] for walk in walks}):
        theirs = f"{TRUTH[D][1]:.1f}" if D in TRUTH else "-"
        print(f"  D = {D:<6d} {theirs:>45s} {100 * ours['map', D, 0.0, 'record'].best:8.1f}")
    shown = set()
    for number, (method, epsilon, scaling, published) in ANTONOVA.items():
        head = f"Table {number}  {TITLES[method]}" + (f", ε = {epsilon:g}" if epsilon else "")
        shown |= print_table(head + scaling_words(scaling), method, epsilon, scaling, published, ours, at)
    rest = dict.fromkeys((w[0], w[2], w[3]) for w in walks if w not in shown and w[0] != "map")
    for method, epsilon, scaling in rest:
        head = f"Ours        {TITLES[method]}, ε = {epsilon:g}" + scaling_words(scaling)
        print_table(head, method, epsilon, scaling, {}, ours, at)


def scaling_words(scaling: str) -> str:
    return "" if scaling == "record" else ", second scaling"


def print_table(head, method, epsilon, scaling, published, ours, at) -> set[Walk]:
    mine = {walk[1]: row for walk, row in ours.items() if walk[0] == method and walk[2:] == (epsilon, scaling)}
    if not mine:
        return set()
    print(f"\n{head}")
    left = f"{'published N':>9s} {'acc.':>6s} {'ours at its N':>14s} " if published else ""
    print(f"  {'D':>5s} {left}{'our N':>9s} {'acc. (s.e.)':>12s} {'λ':>8s} {'multiplier':>10s}")
    for D, row in sorted(mine.items()):
        line = f"  {D:5d} "
        if published:
            N, accuracy = published.get(D, (None, None))
            same = at.get((method, D, epsilon, scaling, N))
            line += f"{N or '-':>9} {accuracy or '-':>6} "
            line += f"{percent(same['accuracy'], same['standard_error']):>14s} " if same else f"{'-':>14s} "
        N = f"{'' if row.converged else '> '}{row.records}"
        accuracy = percent(row.accuracy, row.standard_error)
        line += f"{N:>9s} {accuracy:>12s} {row.reg_lambda:8.3g} {row.multiplier:10.0f}"
        print(line)
    return {(method, D, epsilon, scaling) for D in mine}


def percent(accuracy: float, error: float) -> str:
    return f"{100 * accuracy:.1f} ({100 * error:.1f})"


def draw(rows: list[dict[str, Any]], path: Path) -> None:
    """Write the figure: needed records against dimension. A marker is hollow if no N came close."""
    from bokeh.io import save
    from bokeh.layouts import row as beside
    from bokeh.palettes import Colorblind8
    from bokeh.plotting import figure
    from bokeh.resources import INLINE

    table = least_records(rows, tolerance=TOLERANCE)
    colours = dict(zip(SCALING_METHODS, Colorblind8, strict=True))
    panels = []
    pairs = table.loc[table["method"] != "map", ["epsilon", "scaling"]].drop_duplicates()
    for epsilon, scaling in pairs.itertuples(index=False):
        plot = figure(
            width=520, height=460, x_axis_type="log", y_axis_type="log", x_axis_label="features D",
            y_axis_label="records N within 2 points of the best", title=f"ε = {epsilon:g}" + scaling_words(scaling),
        )  # fmt: skip
        these: pd.DataFrame = table[
            (table["scaling"] == scaling) & (table["epsilon"].isin([epsilon, 0.0]))
        ].sort_values("dimension")
        for method, mine in these.groupby("method"):
            x, y = mine["dimension"].to_numpy(), mine["records"].to_numpy()
            options: dict[str, Any] = {"color": colours[str(method)], "legend_label": TITLES[str(method)]}
            plot.line(x, y, line_width=2, **options)
            fill = [options["color"] if done else "white" for done in mine["converged"]]
            plot.scatter(x, y, size=8, line_color=options["color"], fill_color=fill)
        plot.legend.location, plot.legend.label_text_font_size = "bottom_right", "8pt"
        panels.append(plot)
    save(beside(panels), filename=path, resources=INLINE, title="Records needed")


def main() -> None:
    parser = argparse.ArgumentParser(description=(__doc__ or "").split("\n")[0])
    parser.add_argument("--dimensions", type=int, nargs="+", default=list(DIMENSIONS))
    parser.add_argument("--epsilon", type=float, nargs="+", default=[0.1, 0.01])
    choices = [m for m in SCALING_METHODS if m != "map"]
    parser.add_argument("--methods", nargs="+", choices=choices, default=choices)
    parser.add_argument("--runs", type=int, default=10)
    parser.add_argument("--seed", type=int, default=0)
    parser.add_argument("--workers", type=int, default=2)
    parser.add_argument("--resume", type=Path, help="file of finished cells, made if it is not there")
    parser.add_argument("--figure", type=Path, help="an .html file")
    given = parser.parse_args()
    if given.figure is not None and given.figure.suffix != ".html":
        parser.error("--figure: the figure is interactive, a file that ends in .html")
    walks = plan(sorted(set(given.dimensions)), given.epsilon, given.methods)
    results = Results(given.resume, given.runs, given.seed)
    found, start = len(results.rows), time.perf_counter()
    run(walks, results, given.runs, given.seed, given.workers)
    asked = set(walks)
    rows = [r for r in results.rows if (r["method"], r["dimension"], r["epsilon"], r["scaling"]) in asked]
    show(rows, walks)
    seconds = sum(r["seconds"] for r in results.rows[found:])
    print(f"\n{len(results.rows) - found} cells run, {found} found; {seconds:.0f} s of processor time, "
          f"{time.perf_counter() - start:.0f} s in all, {given.workers} workers")  # fmt: skip
    if given.figure is not None:
        draw(rows, given.figure)


if __name__ == "__main__":
    main()
