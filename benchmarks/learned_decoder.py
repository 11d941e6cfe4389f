"""A learned decoder of the released weights of the default classifier, beside its public formulas.

python benchmarks/learned_decoder.py [--tables 4000] [--draws 20]

A small network reads the released weights of each attribute of a table of two classes, with summaries of all
attributes, n, ε and the shape of the schema. It returns factors of three parts of each weight: itself, its mean over
neighbouring groups of a number, and its square with its sign. Training starts at the factors 1, 0 and 0, the default
classifier. The network learns from generated tables, by log loss or by pairs of records of different classes. It is
judged on generated tables that it never saw, and on the sets of `decoder_oracles` (DPML_DATA, with its folder `more`).
It is post-processing: it reads released values and public facts only.
"""

from __future__ import annotations

import argparse
import itertools
import warnings
from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from typing import Any

import numpy as np
import pandas as pd
from auto_sets import judged_set
from decoder_oracles import JUDGED
from numpy.typing import NDArray
from random_tables import HELD_OUT, random_table
from scipy.special import expit
from sklearn.metrics import roc_auc_score

from dpml.classifiers import AutoClassifier
from dpml.classifiers.automatic.tables import LOSS, TableModel, grid_margin, ordered_attributes
from dpml.classifiers.grid import cell_probabilities
from dpml.classifiers.linear import Prior
from dpml.exceptions import FactWarning
from dpml.mechanisms.norms import contrasts

HIDDEN, BATCH, EPOCHS, EPSILON = (32, 32), 8, 20, 0.1
MEASURES = ["auc", "accuracy", "log_loss"]


@dataclass(frozen=True)
class Example:
    """A released model: `inputs` (rows, k) of attributes, grid and constant, and `parts` (records, rows, 3)."""

    inputs: NDArray
    parts: NDArray
    y: NDArray
    slope: float


def example(fitted: AutoClassifier, X: Any, y: NDArray, epsilon: float) -> Example | None:
    """Return the input of the decoder, or None if the plan has no weights."""
    if fitted.plan_.addition != "weights":
        return None
    model: TableModel = fitted._model_of_table
    layout, plan, additive = model.layout, fitted.plan_, model.additive
    offset, cells, weights = grid_margin(cell_probabilities(model.grid)[1]), additive.cells[0], additive.groups[0]
    of_grid = np.polyfit(offset, cells, 1)[0] if np.ptp(offset) > 0 else 0.0
    constant = float(np.mean(cells - of_grid * offset))
    cell, groups = model.located(X)
    sizes, ordered = tuple(layout.sizes[a] for a in layout.divided), ordered_attributes(layout)
    prior, q = Prior(sizes, 2, ordered, by_size=True), sum(1 - 1 / d for d in sizes) + 2
    in_grid = {layout.everything[a].columns for a in model.grid.attributes}
    rows, parts, row = [], [], 0
    for a, d, in_order in zip(layout.divided, sizes, ordered, strict=True):
        own, at = weights[layout.starts[a] : layout.starts[a] + d], slice(row, row + d - 1)
        # weights in units of the prior and of the noise of a weight that no record has a part in
        unit = np.linalg.solve(prior.root[at, at], contrasts(d).T @ own) * np.sqrt(q) * plan.reg_factor
        near = np.exp(-np.abs(np.subtract.outer(np.arange(d), np.arange(d)))) if in_order else np.zeros((d, d))
        smooth = near @ own / np.maximum(near.sum(axis=1), 1)
        values = np.stack([own, smooth, own * np.abs(own) * 5], axis=1)
        size, rough = np.sqrt((unit**2).mean()), np.square(np.diff(own)).sum() / max(np.square(own).sum(), 1e-12)
        known = [size, np.log(size + 0.05), np.abs(unit).max(), d / 8, in_order, rough, np.abs(own).max()]
        rows.append([*known, layout.attributes[a].columns in in_grid, 0, 0])
        parts.append(values[groups[:, a].astype(int) - int(layout.starts[a])])
        row += d - 1
    for k, value in enumerate((of_grid * offset[cell], np.full(len(cell), constant))):
        rows.append([0] * 8 + [k == 0, k == 1])
        parts.append(np.stack([value, 0 * value, 0 * value], axis=1))
    table = np.array(rows, dtype=float)
    size, records = table[:-2, 0], epsilon * layout.schema.n_lower
    shared = [np.log(records / max(row, 1)) - 3, np.log(len(sizes)) - 2.5, np.log(records) - 7, plan.trust]
    shared += [size.mean(), size.max(), size.std(), of_grid / 4 / plan.trust, constant, np.ptp(offset), q / 20]
    relative = np.append(size / max(size.mean(), 1e-9), [0, 0])
    inputs = np.column_stack([table, relative, np.tile(shared, (len(table), 1))])
    return Example(inputs, np.stack(parts, axis=1).astype(np.float32), y, additive.slope)


class Decoder:
    """Two hidden layers for each row; the last layer starts at 0, and its output is added to the factors (1, 0, 0)."""

    def __init__(self, examples: list[Example], rng: np.random.Generator):
        inputs = np.concatenate([each.inputs for each in examples])
        self.mean, self.scale = inputs.mean(axis=0), inputs.std(axis=0) + 1e-6
        pairs = itertools.pairwise((inputs.shape[1], *HIDDEN, 3))
        self.layers = [[rng.normal(size=pair) / np.sqrt(pair[0]), np.zeros(pair[1])] for pair in pairs]
        self.layers[-1][0] *= 0

    def factors(self, inputs: NDArray) -> list[NDArray]:
        """Return the values of all layers; the last are the factors."""
        values = [np.clip((inputs - self.mean) / self.scale, -5, 5)]
        for matrix, constant in self.layers[:-1]:
            values.append(np.tanh(values[-1] @ matrix + constant))
        return [*values, values[-1] @ self.layers[-1][0] + self.layers[-1][1] + np.eye(3)[0]]

    def scores(self, each: Example) -> NDArray:
        """Return log odds of records."""
        return each.slope * LOSS.log_odds(np.tensordot(each.parts, self.factors(each.inputs)[-1], 2))

    def gradients(self, each: Example, rng: np.random.Generator, ranking: bool) -> list[NDArray]:
        """Return the gradients of the log loss, or of the logistic loss of pairs of records of different classes."""
        values = self.factors(each.inputs)
        margin = np.tensordot(each.parts, values[-1], 2)
        score, n = each.slope * LOSS.log_odds(margin), len(each.y)
        pull = (expit(score) - each.y) / n
        if ranking:
            one, other = (rng.choice(np.flatnonzero(each.y == c), n) for c in (1, 0))
            wrong = expit(score[other] - score[one]) / n
            pull = np.bincount(other, wrong, n) - np.bincount(one, wrong, n)
        back = np.tensordot(pull * each.slope * expit(np.abs(margin)), each.parts, 1)
        found: list[NDArray] = []
        for k in reversed(range(len(self.layers))):
            found = [values[k].T @ back, back.sum(axis=0), *found]
            back = (back @ self.layers[k][0].T) * (1 - values[k] ** 2)
        return found

    def train(self, examples: list[Example], rng: np.random.Generator, ranking: bool) -> Decoder:
        """Descend by Adam, with steps that fall to 0."""
        weights = [array for layer in self.layers for array in layer]
        moments = [(np.zeros_like(w), np.zeros_like(w)) for w in weights]
        orders = (rng.permutation(len(examples)) for _ in range(EPOCHS))
        batches = [some for order in orders for some in np.array_split(order, len(order) // BATCH)]
        for step, batch in enumerate(batches, start=1):
            found = [self.gradients(examples[i], rng, ranking) for i in batch]
            rate = 0.003 * (1 - step / (len(batches) + 1)) * np.sqrt(1 - 0.999**step) / (1 - 0.9**step)
            for w, (first, second), *each in zip(weights, moments, *found, strict=True):
                mean = np.mean(each, axis=0) + 1e-4 * w
                first += 0.1 * (mean - first)
                second += 0.001 * (mean**2 - second)
                w -= rate * first / (np.sqrt(second) + 1e-8)
        return self


def figures(y: NDArray, log_odds: NDArray) -> tuple[float, float, float]:
    """Return AUC, accuracy in % and log loss."""
    loss = np.logaddexp(0, np.where(y == 1, -log_odds, log_odds))
    return float(roc_auc_score(y, log_odds)), float(100 * ((log_odds > 0) == y).mean()), float(loss.mean())


def examples_of(seeds: Iterable[int]) -> Iterator[Example]:
    """Yield the examples of random tables with weights and with enough held-out records of each class."""
    for seed in seeds:
        table, y, schema, epsilon = random_table(np.random.default_rng(seed))
        fitted = AutoClassifier(epsilon, schema=schema, on_invalid="clip", random_state=seed)
        fitted.fit(table[:-HELD_OUT], y[:-HELD_OUT])
        each = example(fitted, table[-HELD_OUT:], y[-HELD_OUT:], epsilon)
        if each is not None and 5 < each.y.sum() < HELD_OUT - 5:
            yield each


def judged(decoders: dict[str, Decoder], draws: int) -> Iterator[tuple[Any, ...]]:
    """Yield figures of the decoders and of the default classifier on the sets."""
    for name in JUDGED:
        data = judged_set(name)
        y = data.schema.check_labels(data.y_test)
        for seed in range(draws):
            model = AutoClassifier(EPSILON, schema=data.schema, on_invalid="clip", random_state=seed)
            log_p = model.fit(data.train, data.y_train).predict_log_proba(data.test)
            each = example(model, data.test, y, EPSILON)
            for which, decoder in {"default": None, **decoders}.items():
                scores = log_p[:, 1] - log_p[:, 0] if decoder is None or each is None else decoder.scores(each)
                yield name, seed, which, *figures(y, scores)


def show(rows: Iterable[tuple[Any, ...]]) -> None:
    """Print means, and the standard errors of the paired differences to the default."""
    table = pd.DataFrame(rows, columns=["set", "run", "decoder", *MEASURES])
    for measure in MEASURES:
        wide = table.pivot(index=["set", "run"], columns="decoder", values=measure)
        gains = wide.sub(wide["default"], axis=0).groupby("set")
        parts = {"mean": wide.groupby("set").mean(), "error of gain": gains.sem()}
        parts["mean"].loc["all"] = parts["mean"].mean()
        parts["error of gain"].loc["all"] = np.sqrt((gains.sem() ** 2).sum()) / gains.ngroups
        print(f"\n{measure}\n{pd.concat(parts, axis=1).round(4).to_string()}", flush=True)


def main() -> None:
    parser = argparse.ArgumentParser()
    parser.add_argument("--tables", type=int, default=4000)
    parser.add_argument("--draws", type=int, default=20)
    args = parser.parse_args()
    warnings.simplefilter("ignore", FactWarning)
    found = list(examples_of(range(args.tables)))
    train, unseen = found[: -(len(found) // 6)], found[-(len(found) // 6) :]
    rngs = {"log loss": np.random.default_rng(0), "ranking": np.random.default_rng(0)}
    decoders = {}
    for loss, rng in rngs.items():
        decoders[loss] = Decoder(train, rng).train(train, rng, loss == "ranking")
    print(len(train), "generated tables to learn from,", len(unseen), "to judge")
    named = {**decoders, "default": Decoder(train, np.random.default_rng(0))}.items()
    show(("unseen", k, which, *figures(e.y, d.scores(e))) for k, e in enumerate(unseen) for which, d in named)
    show(judged(decoders, args.draws))


if __name__ == "__main__":
    main()
