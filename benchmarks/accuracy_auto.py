"""The default classifier against every single method, and its public rules on sets that had no part in them.

python benchmarks/accuracy_auto.py [--draws 20] [--rule-draws 6] [--sets telco ...] [--methods AutoClassifier ...]
    [--results] [--peers 5] [--peer-names DP-SGD interpret]

The real files are needed (DPML_DATA, with its folder `more`). Four tables are printed, in %:

1. accuracy and AUC of `AutoClassifier` and of each single method, which gets the public cut points of a set;
2. regret: how far each is below the best single method in hindsight, per set and ε;
3. what each constant of the public rules is worth: how much less accurate the classifier is without it;
4. leave one set out: the constants of the public rules are chosen on all sets but one, by the mean regret against the
   best of them, and judged on the set that is left out. They are chosen among `RULES`.

With `--results` the rows of these sets and methods replace those that were written before, and the third table is
written. With `--peers` also logistic
regression by DP-SGD, and interpret's and diffprivlib's models where they are installed (`auto_peers.py`).
"""

from __future__ import annotations

import argparse
import math
import time
import warnings
from collections.abc import Callable, Iterator
from contextlib import ExitStack, contextmanager
from typing import Any
from unittest import mock

import numpy as np
import pandas as pd
from auto_sets import SETS, JudgedSet, judged_set
from result_files import FOLDER, write_results
from sklearn.metrics import balanced_accuracy_score, roc_auc_score

from dpml.classifiers import AutoClassifier, BernoulliNB, LinearClassifier, MixedNB, PrivPfCClassifier
from dpml.classifiers.automatic import layout, plan, tables
from dpml.exceptions import FactWarning

EPSILONS = (0.1, 0.5, 1.0, 3.0)
LEADER, WITH_DELTA, SECURE = "AutoClassifier", "AutoClassifier, δ = 1/n²", "AutoClassifier, release"
# (rows of) constants that a public rule could have; the first is the one that is used, and "without" one says what a
# constant is worth
RULES: dict[str, dict[tuple[Any, str], Any]] = {
    "as it is": {},
    "without MOST_BINARY": {(plan, "MOST_BINARY"): math.inf},
    "without MANY_WORDS": {(plan, "MANY_WORDS"): 0},
    "without RECORDS_PER_WORD": {(plan, "RECORDS_PER_WORD"): 0},
    "without DENSE": {(plan, "DENSE"): math.inf},
    "without BINS_SHARE": {(plan, "BINS_SHARE"): 0.0},
    "without ENOUGH": {(plan, "ENOUGH"): 1e-9, (plan, "ENOUGH_FOR_PUBLIC"): 1e-9},
    "weights later": {(plan, "ENOUGH"): 20, (plan, "ENOUGH_FOR_PUBLIC"): 20},
    "without ENOUGH_FOR_LARGE": {(plan, "ENOUGH_FOR_LARGE"): 0},
    "without FEWEST_GROUPS": {(layout, "FEWEST_GROUPS"): math.inf},
    "without SMALL_SHARE": {(plan, "SMALL_SHARE"): 0.0},
    "twice SMALL_SHARE": {(plan, "SMALL_SHARE"): 0.4},
    "without MOST_FOR_GRID": {(plan, "MOST_FOR_GRID"): math.inf},
    "without FEW_RECORDS": {(plan, "FEW_RECORDS"): 0},
    "without counts": {(plan, "FEW_RECORDS"): math.inf},
    "without ENOUGH_FOR_CLASSES": {(plan, "ENOUGH_FOR_CLASSES"): math.inf},
    "half of ENOUGH_FOR_CLASSES": {(plan, "ENOUGH_FOR_CLASSES"): 40},
    "without MANY_ATTRIBUTES": {(part, "MANY_ATTRIBUTES"): math.inf for part in (layout, plan)},
    "half of RECORDS_PER_WEIGHT": {(plan, "RECORDS_PER_WEIGHT"): 15},
    "without SHARE_FOR_CLASSES": {(plan, "SHARE_FOR_CLASSES"): 0.0},
    "more for SHARE_FOR_CLASSES": {(plan, "SHARE_FOR_CLASSES"): 0.8},
    "without MOST_MARGIN": {(tables, "MOST_MARGIN"): 20.0},
    "looser weights": {(tables, "REGULARISED"): 0.5},
    "tighter weights": {(tables, "REGULARISED"): 2.0},
}
# what a constant of the additive part acts on; those of the plan act where they change it
ACTS_ON = {"MOST_MARGIN": "weights", "REGULARISED": "weights"}

OURS = (LEADER, WITH_DELTA, SECURE)
Fit = Callable[[JudgedSet, float, int], tuple[Any, Any]]


def encoded(data: JudgedSet) -> tuple[Any, Any, Any]:
    """Return binary records of training and test, and their schema."""
    if data.encoding is None:
        return data.train, data.test, data.schema
    X = [data.encoding.transform(part) for part in (data.train, data.test)]
    binary = data.encoding.encoded_schema
    facts = {"classes": data.schema.classes, "n_lower": data.schema.n_lower, "row_bound": binary.row_bound}
    return X[0], X[1], type(binary)(binary.features, **facts)


def on_table(kind: Any, **options: Any) -> Fit:
    def fit(data, epsilon, seed):
        model = kind(epsilon, schema=data.schema, on_invalid="clip", random_state=seed, **options)
        return model.fit(data.train, data.y_train), data.test

    return fit


def on_columns(kind: Any, **options: Any) -> Fit:
    def fit(data, epsilon, seed):
        if data.name not in CACHE:
            CACHE.clear()
            CACHE[data.name] = encoded(data)
        train, test, schema = CACHE[data.name]
        return kind(epsilon, schema=schema, random_state=seed, **options).fit(train, data.y_train), test

    return fit


def with_delta(data: JudgedSet, epsilon: float, seed: int) -> tuple[Any, Any]:
    return on_table(AutoClassifier, delta=(data.schema.n_lower or 2) ** -2)(data, epsilon, seed)


def secure(data: JudgedSet, epsilon: float, seed: int) -> tuple[Any, Any]:
    """Fit with secure noise, which takes no seed."""
    return AutoClassifier(epsilon, schema=data.schema, release=True).fit(data.train, data.y_train), data.test


CACHE: dict[str, tuple[Any, Any, Any]] = {}
METHODS: dict[str, Fit] = {
    LEADER: on_table(AutoClassifier),
    WITH_DELTA: with_delta,
    SECURE: secure,
    "LinearClassifier": on_columns(LinearClassifier),
    "BernoulliNB": on_columns(BernoulliNB),
    "BernoulliNB, all columns": on_columns(BernoulliNB, selection="none"),
    "MixedNB": on_table(MixedNB),
    "PrivPfCClassifier": on_table(PrivPfCClassifier),
}


def measured(data: JudgedSet, fit: Fit, epsilon: float, draws: int) -> dict[str, float]:
    """Return means over draws and the standard error of the accuracy, in %."""
    y = data.schema.check_labels(data.y_test)
    found, seconds = [], []
    for seed in range(draws):
        begun = time.perf_counter()
        model, test = fit(data, epsilon, seed)
        seconds.append(time.perf_counter() - begun)
        p = model.predict_proba(test)
        auc = roc_auc_score(y, p[:, 1]) if p.shape[1] == 2 else np.nan
        guess = p.argmax(axis=1)
        loss = -np.log(np.maximum(p[np.arange(len(y)), y], 1e-6)).mean()
        found.append(((guess == y).mean(), auc, balanced_accuracy_score(y, guess), loss, calibration_error(p, y)))
    table = np.array(found)
    return {
        "accuracy": 100 * table[:, 0].mean(),
        "standard_error": 100 * table[:, 0].std(ddof=1) / np.sqrt(draws) if draws > 1 else np.nan,
        "auc": table[:, 1].mean(),
        "balanced_accuracy": 100 * table[:, 2].mean(),
        "log_loss": table[:, 3].mean(),
        "calibration_error": 100 * table[:, 4].mean(),
        "seconds": float(np.median(seconds)),
    }


def calibration_error(p: np.ndarray, y: np.ndarray) -> float:
    """Return the expected calibration error of the predicted classes, in ten bins of equal width."""
    stated, correct = p.max(axis=1), p.argmax(axis=1) == y
    place = np.minimum((10 * stated).astype(int), 9)
    return float(np.abs(np.bincount(place, stated - correct)).sum() / len(y))


def takes(name: str, data: JudgedSet) -> bool:
    """Whether a method is run on a set: those for tables only where there is one."""
    return data.encoding is not None or name not in ("MixedNB", "PrivPfCClassifier")


@contextmanager
def ruled(constants: dict[tuple[Any, str], Any]) -> Iterator[None]:
    """Other constants of the public rules."""
    with ExitStack() as stack:
        for (module, name), value in constants.items():
            stack.enter_context(mock.patch.object(module, name, value))
        yield


def plans(data: JudgedSet, epsilon: float) -> tuple[Any, ...]:
    """Return what the public rule says of a set, whether or not a look finds it dense."""
    facts = data.schema, epsilon, float(data.schema.n_lower or 1)
    return plan.asks_density(*facts), *(plan.default_plan(*facts, dense=dense) for dense in (False, True))


def acts(constants: dict[tuple[Any, str], Any], data: JudgedSet, epsilon: float) -> bool:
    """Return whether other constants change anything of a fit."""
    before = plans(data, epsilon)
    if any(ACTS_ON.get(name) in {p.addition for p in before[1:] if p.kind == "table"} for _, name in constants):
        return True
    with ruled(constants):
        return plans(data, epsilon) != before


def run(names: list[str], methods: list[str], draws: int, rule_draws: int) -> tuple[pd.DataFrame, pd.DataFrame]:
    rows, ruled_rows = [], []
    for name in names:
        data = judged_set(name)
        for epsilon in EPSILONS:
            for method in methods:
                if takes(method, data):
                    fit = METHODS[method]
                    n = draws if method in (*OURS, "LinearClassifier") else max(draws // 2, 2)
                    facts = {"set": name, "epsilon": epsilon, "method": method, "majority": 100 * data.majority}
                    delta = (data.schema.n_lower or 2) ** -2 if method == WITH_DELTA else 0.0
                    rows.append(facts | measured(data, fit, epsilon, n) | {"delta": delta})
            found: dict[str, float] = {}
            for rule, constants in RULES.items() if rule_draws else ():
                # the first rule is the one that is used; where another changes nothing, it gives the same draws
                if not found or acts(constants, data, epsilon):
                    with ruled(constants):
                        own = measured(data, METHODS[LEADER], epsilon, rule_draws)
                    found = found or own
                else:
                    own = found
                ruled_rows.append({"set": name, "epsilon": epsilon, "rule": rule, **own})
        if methods:
            show(pd.DataFrame(rows), name)
    return pd.DataFrame(rows), pd.DataFrame(ruled_rows)


def show(table: pd.DataFrame, name: str) -> None:
    mine = table[table["set"] == name]
    print(f"\n{name}: majority {mine['majority'].iloc[0]:.1f}; accuracy (standard error), AUC at ε = {EPSILONS}")
    for method, rows in mine.groupby("method", sort=False):
        cells = [f"{r.accuracy:5.1f} ({r.standard_error:.1f}) {r.auc:.3f}" for r in rows.itertuples()]
        print(f"  {method:26s}" + "  ".join(cells) + f"   {rows['seconds'].max():.2f} s", flush=True)


def regrets(table: pd.DataFrame) -> pd.DataFrame:
    """Return how far each method is below the best single method, per set and ε."""
    wide = table.pivot_table(index=["set", "epsilon"], columns="method", values="accuracy", sort=False)
    best = wide.drop(columns=list(OURS), errors="ignore").max(axis=1)
    return wide.rsub(best, axis=0)


def leave_one_out(table: pd.DataFrame) -> pd.DataFrame:
    """Return, for each set, the rule that the other sets choose, and its regret there against the best rule."""
    wide = table.pivot_table(index=["set", "epsilon"], columns="rule", values="accuracy", sort=False)
    regret = wide.rsub(wide.max(axis=1), axis=0)
    rows = []
    for name in regret.index.unique("set"):
        others = regret.drop(index=name, level="set")
        chosen = others.mean().idxmin()
        own = regret.loc[name]
        rows.append(
            {"left out": name, "chosen": chosen, "regret": own[chosen].mean(), "as it is": own["as it is"].mean()}
        )
    return pd.DataFrame(rows)


def with_others(table: pd.DataFrame) -> pd.DataFrame:
    """Return the rows of this run, and those that were written before of other sets and methods."""
    path = FOLDER / "accuracy_auto.csv"
    if not path.exists():
        return table
    before = pd.read_csv(path, comment="#")
    keys = list(zip(table["set"], table["method"], strict=True))
    again = pd.MultiIndex.from_frame(before[["set", "method"]]).isin(keys)
    both = pd.concat([table, before[~again]], ignore_index=True)
    return both.sort_values("set", key=lambda names: names.map(SETS.index), kind="stable")


def worth(rules: pd.DataFrame) -> pd.DataFrame:
    """Return how much better the rule as it is is than each other: accuracy by ε and in the mean, and mean AUC."""
    gains = {}
    for measure, factor in (("accuracy", 1), ("auc", 100)):
        wide = factor * rules.pivot_table(index=["set", "epsilon"], columns="rule", values=measure, sort=False)
        gains[measure] = wide.rsub(wide["as it is"], axis=0)
    table = gains["accuracy"].groupby("epsilon").mean().T.assign(mean=gains["accuracy"].mean())
    table["AUC"], table["sets and ε that differ"] = gains["auc"].mean(), (gains["accuracy"] != 0).sum()
    return table.reindex([rule for rule in RULES if rule in table.index])


def show_rules(rules: pd.DataFrame) -> None:
    print("\nwhat the rule as it is has more than each other, mean over sets, in points")
    print(worth(rules).round(2).to_string())
    print("\nregret of each rule against the best of them, mean over ε, in points")
    wide = rules.pivot_table(index=["set", "epsilon"], columns="rule", values="accuracy", sort=False)
    print(wide.rsub(wide.max(axis=1), axis=0).groupby("set", sort=False).mean().round(2).T.to_string())
    if rules["set"].nunique() > 1:
        print("\nleave one set out")
        print(leave_one_out(rules).round(2).to_string(index=False))


def main() -> None:
    parser = argparse.ArgumentParser()
    parser.add_argument("--draws", type=int, default=20)
    parser.add_argument("--rule-draws", type=int, default=6, help="0: without the rules")
    parser.add_argument("--sets", nargs="+", default=list(SETS), choices=SETS)
    parser.add_argument("--methods", nargs="*", default=list(METHODS), choices=METHODS, help="of the library")
    parser.add_argument("--results", action="store_true", help="write the rows of these sets and methods to results/")
    parser.add_argument("--peers", type=int, default=0, metavar="DRAWS", help="draws of each peer that is installed")
    parser.add_argument("--peer-names", nargs="+", default=[""], help="the beginnings of their names; default: all")
    args = parser.parse_args()
    warnings.simplefilter("ignore", FactWarning)
    table, rules = run(args.sets, args.methods, args.draws, args.rule_draws)
    if args.peers:
        from auto_peers import PEERS, compare

        peers = [name for name in PEERS if name.startswith(tuple(args.peer_names))]
        table = pd.concat([table, compare(args.sets, EPSILONS, args.peers, peers)], ignore_index=True)
    if len(rules):
        show_rules(rules)
        if args.results:
            rows = worth(rules).round(2).rename_axis("rule").reset_index()
            write_results("accuracy_auto_constants", rows, "accuracy_auto")
    if table.empty:
        return
    table["delta"] = table["delta"].fillna(0.0) if "delta" in table else 0.0
    everything = with_others(table)
    ours = everything[everything["method"].isin(list(METHODS)) & everything["set"].isin(args.sets)]
    if LEADER in set(ours["method"]):
        print("\nregret against the best single method in hindsight, in points; rows written before are used")
        print(regrets(ours).round(1).to_string(na_rep=""))
    if args.results:
        digits = {"accuracy": 2, "standard_error": 2, "auc": 4, "balanced_accuracy": 2, "log_loss": 4}
        rounded = table.round({**digits, "calibration_error": 2})
        write_results("accuracy_auto", with_others(rounded.drop(columns=["seconds", "majority"])))


if __name__ == "__main__":
    main()
