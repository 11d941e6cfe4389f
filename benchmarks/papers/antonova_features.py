"""Antonova (2016), chapter 3 and Appendix A: scores of features and the probabilities that they get, and the data."""

import math
from collections.abc import Iterator
from functools import partial

import numpy as np
from numpy.typing import NDArray
from scipy.stats import spearmanr

from benchmarks.papers.antonova_information import information_of_best
from benchmarks.papers.antonova_naive_bayes import SCORES, SETS, after_selection, best_size
from benchmarks.papers.measured import Experiment, Measured, exact, percent
from benchmarks.papers.splits import MODELS, Found, runs
from benchmarks.papers.stoddard_selection import definition_4
from dpml.classifiers.naive_bayes.bernoulli import published_threshold
from dpml.counts import contingency, release_published
from dpml.datasets import load
from dpml.datasets._readers import separation
from dpml.selection import inclusion_probabilities, mask_weight, scores_from_counts, sensitivity
from dpml.selection.scores import scores_from_tables
from dpml.studies import RowBoundedNBStudy, majority_accuracy, non_private_nb

FloatArray = NDArray[np.float64]
# Table A.1: records for training and test, features, and the majority share (%)
TABLE_A_1 = {
    "xwindows": (900, 900, 600, 50.0),
    "mushrooms": (5687, 2437, 112, 52.0),
    "adult": (32561, 16281, 123, 76.0),
    "newsgroup1": (5687, 2437, 100, 57.0),
    "newsgroup2": (4663, 1998, 100, 81.0),
    "newsgroup3": (4663, 1998, 100, 82.0),
}
# Table B.1: the maximum a posteriori accuracy for each number of features
TABLE_B_1 = {1: 88.0, 2: 91.9, 5: 89.9, 10: 89.1, 20: 90.0, 50: 89.9, 100: 90.0, 1000: 90.0}
# Tables A.2 and A.3: mutual information in bits, and the texts of each class with the word
WORDS = {
    "windows": (0.215, 56, 288),
    "microsoft": (0.095, 6, 107),
    "dos": (0.092, 10, 115),
    "motif": (0.078, 80, 2),
    "window": (0.067, 137, 32),
    "sun": (0.045, 65, 7),
    "code": (0.044, 82, 15),
    "win": (0.044, 5, 95),
    "xterm": (0.040, 40, 0),
    "server": (0.040, 74, 13),
}


def _scores(name: str, kind: str) -> tuple[FloatArray, int]:
    """Return the scores of a set's features, and its number of training records."""
    dataset = load(name)
    counts = contingency(dataset.X_train, dataset.y_train, dataset.schema.n_classes)
    return np.asarray(scores_from_counts(counts, kind)), len(dataset.y_train)


def fig_3_5(draws: int, random_state: int) -> Iterator[Measured]:
    """Fig. 3.5: features whose on-counts Algorithm 1 silences in both classes, at ε = 0.1 and the 65th percentile."""
    for name in ("xwindows", "mushrooms", "newsgroup1"):
        found = Found()
        for dataset, rng in runs(name, draws, random_state):
            counts = contingency(dataset.X_train, dataset.y_train, 2)
            information = np.asarray(scores_from_counts(counts, "mutual_information"))
            best = np.argsort(-information, kind="stable")[:20]
            noisy = release_published(counts, 0.1, draws=MODELS, rng=rng)
            threshold = published_threshold(0.1, dataset.schema.n_features, 65.0)
            silenced = np.all(np.asarray(noisy.on) <= threshold, axis=1)
            found.add(f"{name}: features silenced", silenced)
            found.add(f"{name}: of the 20 most informative, silenced", silenced[:, best])
            shares = silenced @ information / information.sum()
            found.add(f"{name}: share of all mutual information in silenced features", shares)
        yield from found.rows()


# ---- probabilities of features ---------------------------------------------------------------------------------------

T = 10


def probabilities(
    kinds: tuple[str, ...], names: tuple[str, ...], epsilon: float, draws: int, random_state: int
) -> Iterator[Measured]:
    """Figs 3.11, 3.12 and 3.18: probabilities of the best and of a middle feature in a mask of ten, exactly.

    The weights are ε/(2Δ) of one feature, as plotted. The ε of the set is by the range of a mask's score.
    """
    for name in names:
        for kind in kinds:
            scores, n = _scores(name, kind)
            delta = sensitivity(kind, "add-remove", n_rows=n)
            order = np.argsort(-scores, kind="stable")
            found = inclusion_probabilities(epsilon / (2 * delta) * scores, T)
            for place, label in ((0, "best"), (T - 1, "tenth"), (len(order) // 2, "middle")):
                yield exact(
                    f"{name}, {SCORES[kind]}, ε = {epsilon:g} a feature: probability of the {label} (%)",
                    None,
                    100 * found[order[place]],
                )
            used = epsilon / (2 * delta) / mask_weight(kind, "add-remove", 1.0, T, len(scores), n_rows=n)
            yield exact(f"{name}, {SCORES[kind]}: ε of the set", epsilon, used)


def fig_3_16(draws: int, random_state: int) -> Iterator[Measured]:
    """Fig. 3.16: both scores over the features of adult and newsgroup1. Nothing is drawn."""
    for name in ("adult", "newsgroup1"):
        both = [_scores(name, kind)[0] for kind in SCORES]
        yield exact(f"{name}: rank correlation of the scores", None, float(spearmanr(*both).statistic))
        firsts = [set(np.argsort(-scores, kind="stable")[:20].tolist()) for scores in both]
        yield exact(f"{name}: features among the 20 best of both", None, len(firsts[0] & firsts[1]))


# ---- accuracy after selection ----------------------------------------------------------------------------------------


def best_of_both_scores(draws: int, random_state: int) -> Iterator[Measured]:
    """Chapter 3 at ε = 0.1: the best T of each score, by weights of the range, and the gain of counts."""
    for name in SETS:
        found = after_selection(name, 0.1, draws, random_state)
        best = [best_size(found, f"{name}, ε = 0.1", score, "range") for score in SCORES]
        yield from map(found.row, best)
        yield found.gain(f"{name}: counts over mutual information", best[0], best[1])


def selection_helps(draws: int, random_state: int) -> Iterator[Measured]:
    """Algorithm 1 with all features and after selection by counts, and row-bounded counts of all features, ε = 0.1."""
    for name in SETS:
        found, where = after_selection(name, 0.1, draws, random_state), f"{name}, ε = 0.1"
        bounded = f"{name}, row-bounded counts of all features"
        for dataset, rng in runs(name, draws, random_state):
            found.add(bounded, RowBoundedNBStudy(dataset)(0.1, draws=MODELS, rng=rng)["accuracy"])
        whole, best = f"{where}, all features", best_size(found, where, "count", "range")
        yield from map(found.row, (whole, best, bounded))
        yield found.gain(f"{name}: gain of the selection", best, whole)
        yield found.gain(f"{name}: row-bounded counts over the best T", bounded, best)


# ---- data ------------------------------------------------------------------------------------------------------------


def fig_a_1(draws: int, random_state: int) -> Iterator[Measured]:
    """Fig. A.1: share of ones in the training records."""
    for name in ("mushrooms", "adult", "newsgroup2"):
        yield exact(f"{name}: share of ones (%)", None, 100 * float(load(name).X_train.mean()))


def table_b_1(draws: int, random_state: int) -> Iterator[Measured]:
    """Table B.1: accuracy of the best rule on the generated classes N(0, I) and N(a·1, I)."""
    rng = np.random.default_rng(random_state)
    for dimension, paper in TABLE_B_1.items():
        a, codes = separation(dimension), rng.integers(2, size=1_000 * draws)
        X = rng.normal(size=(len(codes), dimension)) + a * codes[:, None]
        right = (X.sum(axis=1) > dimension * a / 2) == codes
        yield percent(f"D = {dimension}", paper, right)


def sizes(draws: int, random_state: int, names: tuple[str, ...] = SETS) -> Iterator[Measured]:
    """Tables 3.1 and A.1: sizes, majority shares, and on xwindows accuracies without privacy."""
    for name in names:
        dataset, (n, n_test, features, majority) = load(name), TABLE_A_1[name]
        yield exact(f"{name}: training records", n, len(dataset.y_train))
        yield exact(f"{name}: test records", n_test, len(dataset.y_test))
        yield exact(f"{name}: features", features, dataset.schema.n_features)
        yield exact(f"{name}: larger class of the test records (%)", majority, 100 * majority_accuracy(dataset))
        if name == "xwindows":
            models = non_private_nb(dataset)
            for part, paper in (("train", 92.0), ("test", 81.0)):
                X, y = getattr(dataset, f"X_{part}"), getattr(dataset, f"y_{part}")
                yield exact(f"{name}: accuracy without privacy, {part} (%)", paper, 100 * models.accuracy(X, y)[0])


def table_3_2(draws: int, random_state: int) -> Iterator[Measured]:
    """Table 3.2: the largest change of mutual information by a replaced record, by enumeration, and eq. 3.20."""
    for n in (2, 5, 10, 15):
        cells = [(a, b, c, n - a - b - c) for a in range(n + 1) for b in range(n + 1 - a) for c in range(n + 1 - a - b)]
        tables = np.array(cells, dtype=float)
        information = np.asarray(scores_from_tables(tables[:, :2, None], tables[:, 2:, None], "mutual_information"))
        values: dict[tuple[int, ...], float] = dict(zip(cells, information[:, 0].tolist(), strict=True))
        largest = 0.0
        for cell, value in values.items():
            for gone in range(4):
                for new in range(4):
                    if cell[gone] and gone != new:
                        moved = tuple(x - (j == gone) + (j == new) for j, x in enumerate(cell))
                        largest = max(largest, abs(value - values[moved]))
        stated = math.log2(n) / n + (n - 1) / n * math.log2(n / (n - 1))
        yield exact(f"N = {n}, largest change in bits", stated, largest)


def table_a_2(draws: int, random_state: int) -> Iterator[Measured]:
    """Table A.2: mutual information of ten words, from the counts and from add-one-smoothed rates, in bits."""
    dataset = load("xwindows")
    on = np.asarray(contingency(dataset.X_train, dataset.y_train, 2).on)
    exactly, n = _scores("xwindows", "mutual_information")
    for word, (paper, *_) in WORDS.items():
        j = dataset.feature_names.index(word)
        rates = (on[:, j] + 1) / (n / 2 + 2)
        mean = float(rates.mean())
        smoothed = _entropy(mean) - np.mean([_entropy(float(rate)) for rate in rates])
        yield exact(f"{word}, from the counts", paper, exactly[j])
        yield exact(f"{word}, from smoothed rates", paper, float(smoothed))


def _entropy(q: float) -> float:
    return -q * math.log2(q) - (1 - q) * math.log2(1 - q)


def table_a_3(draws: int, random_state: int) -> Iterator[Measured]:
    """Table A.3: texts of each class with the word. Antonova's first class is the second one of the file."""
    dataset = load("xwindows")
    on = np.asarray(contingency(dataset.X_train, dataset.y_train, 2).on)[::-1]
    for word, (_, *printed) in WORDS.items():
        for label, paper, found in zip("01", printed, on[:, dataset.feature_names.index(word)], strict=True):
            yield exact(f"{word}, class {label}", paper, found)


EXPERIMENTS: dict[str, Experiment] = {
    "definition-2.6.1": definition_4,
    "fig-3.5": fig_3_5,
    "fig-3.11": partial(probabilities, ("mutual_information",), ("xwindows", "newsgroup2"), 0.005),
    "fig-3.12": partial(probabilities, ("count",), ("xwindows", "newsgroup2"), 0.005),
    "fig-3.13": partial(information_of_best, SETS),
    "fig-3.16": fig_3_16,
    "fig-3.18": partial(probabilities, tuple(SCORES), ("xwindows", "mushrooms", "adult"), 0.05),
    "fig-a.1": fig_a_1,
    "table-3.1": partial(sizes, names=SETS[:5]),
    "table-3.2": table_3_2,
    "table-a.1": sizes,
    "table-a.2": table_a_2,
    "table-a.3": table_a_3,
    "table-b.1": table_b_1,
    "claim-heuristic": best_of_both_scores,
    "claim-selection-helps": selection_helps,
}
