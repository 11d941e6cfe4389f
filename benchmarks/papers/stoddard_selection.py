"""Stoddard, Chen and Machanavajjhala 2014, sections 3 and 5.1: selection before naive Bayes on SMS, and the scores.

Each run of an accuracy holds out its own tenth of the messages, so that the standard errors count partitions, cut
messages and noise. TWITTER and REUTERS are not available.
"""

import itertools
from collections.abc import Iterator
from typing import Any

import numpy as np
from numpy.typing import NDArray

from benchmarks.papers.measured import Experiment, Measured, exact, percent
from benchmarks.papers.splits import MODELS, Found
from benchmarks.papers.stoddard import METHODS, SAMPLED, STATED, Records, held_out
from dpml.counts import Contingency
from dpml.evaluation import selection_quality
from dpml.selection import (
    NoisyScoreSelector,
    PublishedSelector,
    scores,
    scores_from_counts,
    sensitivity,
)
from dpml.studies import majority_accuracy

SCORES = {"total_count": "TC", "difference_count": "DC", "count": "PI", "mutual_information": "IG"}
THRESHOLDS = (5, 10, 20, 50, 100, 200)
RELATIONS = ("add-remove", "replace-one")


def _accuracies(draws: int, random_state: int) -> dict[str, NDArray[np.float64]]:
    """Return the accuracies of naive Bayes at ε = 1 on each partition, without a selection and after each."""
    accuracies: dict[str, list[float]] = {}
    for k, part in enumerate(held_out(draws, random_state)):
        rng, records = np.random.default_rng([random_state, k]), Records(part, random_state)
        everything = np.ones((1, part.schema.n_features), dtype=bool)
        found = {
            label: records.naive_bayes(everything, 1.0, ones, rng)
            for label, ones in (("all words", STATED), ("all words, sampled", SAMPLED))
        }
        for method, (_, share, ones) in METHODS.items():
            found[method] = records.naive_bayes(records.select(method, share, 1, rng), 1 - share, ones, rng)
        for name, values in found.items():
            accuracies.setdefault(name, []).extend(values)
    return {name: np.array(values) for name, values in accuracies.items()}


def fig_1(draws: int, random_state: int) -> Iterator[Measured]:
    """Fig. 1 (SMS): naive Bayes at ε = 1 after each selection."""
    largest = [majority_accuracy(part) for part in held_out(draws, random_state)]
    yield percent("largest class", None, largest)
    for name, accuracies in _accuracies(draws, random_state).items():
        yield percent(name, None, accuracies)


def claim_selection(draws: int, random_state: int) -> Iterator[Measured]:
    """Gain of each selection over all words, sampled, in percentage points; the paper has 10 to 15."""
    accuracies = _accuracies(draws, random_state)
    for method in METHODS:
        yield percent(f"{method}, over all words", 10.0, accuracies[method] - accuracies["all words, sampled"])


def claim_simple_scores(draws: int, random_state: int) -> Iterator[Measured]:
    """Score perturbation by total counts against the other scores, with a hundred words at ε = 1."""
    accuracies = _accuracies(draws, random_state)
    named = {short: accuracies[f"score perturbation, {short}"] for short in ("TC", "DC", "IG")}
    for short, values in named.items():
        yield percent(short, None, values)
        if short != "TC":
            yield percent(f"TC over {short}", None, named["TC"] - values)


def fig_3(draws: int, random_state: int) -> Iterator[Measured]:
    """Fig. 3: F1 of four selections by total count at a fifth of ε = 1, against the words that reach the threshold."""
    found, words = Found(), dict.fromkeys(THRESHOLDS, 0)
    for k, part in enumerate(held_out(draws, random_state)):
        records, rng = Records(part, 1000 * random_state + k), np.random.default_rng([random_state, k])
        total = np.asarray(scores_from_counts(records.counts(None), "total_count"))
        for threshold in THRESHOLDS:
            truth = total >= threshold
            words[threshold] += int(truth.sum())
            for name, selector in _four_selectors(threshold).items():
                masks = selector.masks(records.counts(selector.row_bound), part.schema, draws=MODELS, rng=rng)
                found.add(f"τ = {threshold}, {name}", selection_quality(truth, masks)["f1"])
    for threshold, number in words.items():
        first, *others = (f"τ = {threshold}, {name}" for name in _four_selectors(threshold))
        yield exact(f"τ = {threshold}, words that reach it, mean", None, number / draws)
        yield from map(found.row, (first, *others))
        for other in others:
            yield found.gain(f"τ = {threshold}, PTT over {other.partition(', ')[2]}", first, other)


def _four_selectors(threshold: float) -> dict[str, Any]:
    at: dict[str, Any] = {"threshold": threshold}
    return {
        "PTT, as published": PublishedSelector(0.2, "threshold-testing", "total_count", **at),
        "NoisyCut, as published": PublishedSelector(0.2, "noisy-cut", "total_count", **at),
        "clusters, as published": PublishedSelector(0.2, "clusters", "total_count", row_bound=SAMPLED, **at),
        "score perturbation": NoisyScoreSelector(0.5, None, "total_count", row_bound=SAMPLED, **at),
    }


# ---- the scores ------------------------------------------------------------------------------------------------------


def _tables(n: int) -> Iterator[Contingency]:
    """Yield the counts of every table of up to n records with one feature and two classes."""
    for cells in itertools.product(range(n + 1), repeat=4):
        if sum(cells) <= n:
            on = np.array(cells[:2], dtype=float)
            yield Contingency(on[:, None], on + np.array(cells[2:], dtype=float))


def _cells(counts: Contingency) -> tuple[int, ...]:
    return (*counts.on[:, 0].astype(int).tolist(), *(counts.n - counts.on[:, 0]).astype(int).tolist())


def definition_2(draws: int, random_state: int) -> Iterator[Measured]:
    """Largest change of a score by one record, in all tables of up to six records, and the stated sensitivity."""
    for kind in ("total_count", "difference_count", "count"):
        values = {_cells(table): float(np.asarray(scores_from_counts(table, kind))[0]) for table in _tables(6)}
        for relation in RELATIONS:
            changes = [abs(values[a] - values[b]) for a, b in _neighbours(values, relation)]
            yield exact(f"{SCORES[kind]}, {relation}", sensitivity(kind, relation), max(changes))


def _neighbours(values, relation: str) -> Iterator[tuple[tuple[int, ...], tuple[int, ...]]]:
    for cells in values:
        for gone in range(4):
            if not cells[gone]:
                continue
            fewer = tuple(count - (j == gone) for j, count in enumerate(cells))
            if relation == "add-remove":
                yield cells, fewer
            else:
                for new in range(4):
                    yield cells, tuple(count + (j == new) for j, count in enumerate(fewer))


def _random_tables(draws: int, random_state: int) -> Iterator[tuple[NDArray[np.intp], NDArray[np.intp]]]:
    rng = np.random.default_rng(random_state)
    for _ in range(10 * draws):
        yield rng.integers(2, size=(40, 8)), rng.integers(2, size=40)


def definition_4(draws: int, random_state: int) -> Iterator[Measured]:
    """Information gain by the definition, in bits, against the library's mutual information."""
    largest = 0.0
    for X, y in _random_tables(draws, random_state):
        by_definition = [
            _entropy(y) - sum((x == v).mean() * _entropy(y[x == v]) for v in (0, 1) if (x == v).any()) for x in X.T
        ]
        largest = max(largest, float(np.abs(scores(X, y, "mutual_information") - by_definition).max()))
    yield exact("largest difference, bits", 0.0, largest)


def _entropy(y: NDArray[np.intp]) -> float:
    shares = np.bincount(y) / len(y)
    return float(-sum(share * np.log2(share) for share in shares if share))


def claim_footnote(draws: int, random_state: int) -> Iterator[Measured]:
    """Largest number of scores that one record changes by a new label, of 8, where a record has at most two ones."""
    changed = dict.fromkeys(SCORES, 0)
    for X, y in _random_tables(draws, random_state):
        cut = X * (X.cumsum(axis=1) <= 2)
        other = y.copy()
        other[0] = 1 - y[0]
        for kind in SCORES:
            moved = np.abs(scores(cut, y, kind) - scores(cut, other, kind)) > 1e-12
            changed[kind] = max(changed[kind], int(moved.sum()))
    for kind, number in changed.items():
        yield exact(f"{SCORES[kind]}: features whose score changes (the paper: at most 2s = 4)", 4.0, number)


EXPERIMENTS: dict[str, Experiment] = {
    "fig-1": fig_1,
    "fig-3": fig_3,
    "claim-selection": claim_selection,
    "claim-simple-scores": claim_simple_scores,
    "definition-2": definition_2,
    "definition-4": definition_4,
    "claim-footnote": claim_footnote,
}
