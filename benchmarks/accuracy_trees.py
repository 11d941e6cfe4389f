"""Random decision trees beside a tree with private splits, the default classifier and a private boosting machine.

python benchmarks/accuracy_trees.py [--draws 20] [--peer-draws 20] [--sets telco ...] [--results]

Accuracy in %. The real files are needed (DPML_DATA, with its folder `more`). interpret's explainable boosting machine
with private bins (`pip install interpret-core`) uses δ = 1e-5, and is left out where it is not installed.
"""

from __future__ import annotations

import argparse

import pandas as pd
from accuracy_auto import LEADER, METHODS, measured, on_table
from auto_peers import compare
from auto_sets import judged_set
from result_files import write_results

from dpml.classifiers import DiffPC45, RandomTrees

SETS = ("telco", "nursery", "dutch", "mushrooms", "adult", "bank")
EPSILONS = (0.05, 0.1, 0.5, 1.0, 3.0)
FITS = {
    "RandomTrees": on_table(RandomTrees),
    "RandomTrees, 30 trees": on_table(RandomTrees, n_trees=30),
    "DiffPC45": on_table(DiffPC45),
    LEADER: METHODS[LEADER],
}
BOOSTING = "interpret, private EBM"


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--draws", type=int, default=20)
    parser.add_argument("--peer-draws", type=int, default=20)
    parser.add_argument("--sets", nargs="*", choices=SETS, default=SETS)
    parser.add_argument("--results", action="store_true")
    options = parser.parse_args()
    rows = []
    for name in options.sets:
        data = judged_set(name)
        for method, fit in FITS.items():
            own = []
            for epsilon in EPSILONS:
                facts = {"set": name, "epsilon": epsilon, "method": method, "majority": 100 * data.majority}
                own.append(facts | measured(data, fit, epsilon, options.draws) | {"delta": 0.0, "draws": options.draws})
            cells = [f"{row['accuracy']:5.1f} ({row['standard_error']:.1f})" for row in own]
            print(f"{name:12s}{method:26s}" + "  ".join(cells) + f"   {own[-1]['seconds']:.2f} s", flush=True)
            rows += own
    peers = compare(options.sets, EPSILONS, options.peer_draws, (BOOSTING,)) if options.peer_draws else pd.DataFrame()
    if options.results:
        peers["draws"] = options.peer_draws
        write_results("accuracy_trees", pd.concat([pd.DataFrame(rows), peers]).round(3))


if __name__ == "__main__":
    main()
