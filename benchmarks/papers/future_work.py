"""What became of each paper's future work, as far as the library has an answer that can be measured."""

import itertools
from collections.abc import Iterator
from typing import Any

import numpy as np

from benchmarks.papers.measured import Experiment, Measured, exact, measured, percent
from benchmarks.papers.splits import MODELS, Found, runs
from benchmarks.papers.stoddard import SAMPLED, Records, held_out
from dpml.classifiers import AutoClassifier, PrivPfCClassifier
from dpml.counts import Contingency, contingency
from dpml.datasets import load
from dpml.mechanisms.columns import private_bounds
from dpml.mechanisms.smooth import smooth_sensitivity
from dpml.publishing import PrivBayes
from dpml.selection import MaskSelector, scores_from_counts, sensitivity
from dpml.studies import AutoStudy, BinnedNBStudy, MomentsNBStudy, RowBoundedNBStudy
from dpml.tuning import BestSelector

EPSILONS = (0.1, 1.0)
RELATIONS = ("add-remove", "replace-one")


# ---- Antonova (2016), chapter 5 --------------------------------------------------------------------------------------


def numeric_naive_bayes(draws: int, random_state: int) -> Iterator[Measured]:
    """Naive Bayes for numbers and categories on adult: public bins, smooth moments, and binary columns."""
    dataset = load("adult")
    studies: dict[str, Any] = {
        "binary columns": RowBoundedNBStudy(dataset),
        "numbers in public bins": BinnedNBStudy(dataset),
        "moments, smooth sensitivity": MomentsNBStudy(dataset, "smooth"),
        "moments, global sensitivity": MomentsNBStudy(dataset, "global"),
    }
    for epsilon, (name, study) in itertools.product(EPSILONS, studies.items()):
        found = study(epsilon, draws=draws, rng=np.random.default_rng(random_state))
        yield percent(f"adult, ε = {epsilon:g}, {name}", None, found["accuracy"])


def private_scaling(draws: int, random_state: int) -> Iterator[Measured]:
    """Private bounds of the numeric columns of adult for scaling: width as a multiple of the public range's."""
    dataset = load("adult")
    assert dataset.frame_schema is not None
    columns = [(f.name, f.lower, f.upper) for f in dataset.frame_schema.features if f.kind == "numeric"]
    for epsilon, (name, lower, upper) in itertools.product((0.01, 0.1, 1.0), columns):
        assert lower is not None
        assert upper is not None
        values = dataset.frame.loc["train"][name].to_numpy(dtype=float)
        widths = []
        for run in range(draws):
            bounds = private_bounds(values, epsilon, rng=np.random.default_rng([random_state, run]))
            if bounds.found:
                widths.append((bounds.upper - bounds.lower) / (upper - lower))
        if widths:
            yield measured(f"{name}, ε = {epsilon:g}: width over the public range's", None, widths)
        yield exact(f"{name}, ε = {epsilon:g}: runs that find both bounds (%)", None, 100 * len(widths) / draws)


def posterior_parameters(draws: int, random_state: int) -> Iterator[Measured]:
    """Predict with naive Bayes rates averaged over their posterior given the noisy counts, instead of noisy rates."""
    for name, epsilon in itertools.product(("newsgroup1", "mushrooms", "adult"), (0.01, 0.1)):
        found, where = Found(), f"{name}, ε = {epsilon:g}"
        kinds: dict[str, Any] = {f"{where}, noisy rates": 0.0, f"{where}, posterior": "posterior"}
        for run, (dataset, _) in enumerate(runs(name, draws, random_state)):
            study = RowBoundedNBStudy(dataset)
            for kind, shrinkage in kinds.items():
                # the same noise in both
                rng = np.random.default_rng([random_state, run])
                found.add(kind, study(epsilon, draws=MODELS, rng=rng, shrinkage=shrinkage)["accuracy"])
        yield from found.rows()
        rates, posterior = kinds
        yield found.gain(f"{where}, posterior over noisy rates", posterior, rates)


def scores_of_three_classes(draws: int, random_state: int) -> Iterator[Measured]:
    """Largest change of each score by one record of three classes, in all tables of up to four records."""
    cells = [c for c in itertools.product(range(5), repeat=6) if sum(c) <= 4]
    for kind in ("total_count", "difference_count", "count"):
        values = {}
        for c in cells:
            on, off = np.array(c[:3], dtype=float), np.array(c[3:], dtype=float)
            values[c] = float(np.asarray(scores_from_counts(Contingency(on[:, None], on + off), kind))[0])
        largest = dict.fromkeys(RELATIONS, 0.0)
        for c, gone in itertools.product(cells, range(6)):
            if c[gone]:
                fewer = tuple(count - (j == gone) for j, count in enumerate(c))
                largest["add-remove"] = max(largest["add-remove"], abs(values[c] - values[fewer]))
                for new in range(6):
                    moved = tuple(count + (j == new) for j, count in enumerate(fewer))
                    largest["replace-one"] = max(largest["replace-one"], abs(values[c] - values[moved]))
        for relation, value in largest.items():
            yield exact(f"{kind}, three classes, {relation}", sensitivity(kind, relation), value)


def synthetic_selection(draws: int, random_state: int) -> Iterator[Measured]:
    """Section 3.5.6: the ten most informative features, found in a synthetic table (PrivBayes) or by Algorithm 5."""
    for name, epsilon in itertools.product(("mushrooms", "adult"), (0.1, 1.0, 10.0)):
        dataset, kind = load(name), "mutual_information"
        assert dataset.frame_schema is not None
        assert dataset.encoding is not None
        label, (_, positive) = dataset.card["label"]["name"], dataset.frame_schema.classes
        train = dataset.frame.loc["train"]
        counts = contingency(dataset.X_train, dataset.y_train, 2)
        best = np.argsort(-np.asarray(scores_from_counts(counts, kind)), kind="stable")[:10]
        found = []
        for seed in range(random_state, random_state + draws):
            model = PrivBayes(epsilon, schema=dataset.frame_schema, random_state=seed).fit(train, label)
            table = model.sample(len(train))
            X, codes = dataset.encoding.transform(table.drop(columns=label)), (table[label] == positive).to_numpy()
            synthetic = np.asarray(scores_from_counts(contingency(X, codes.astype(int), 2), kind))
            found.append(np.isin(np.argsort(-synthetic, kind="stable")[:10], best).mean())
        yield percent(f"{name}, ε = {epsilon:g}, in PrivBayes' table: of the ten best features", None, found)
        for score in ("mutual_information", "count"):
            selector = MaskSelector(epsilon, 10, score)
            masks = selector.masks(counts, dataset.schema, draws=draws, rng=np.random.default_rng(random_state))
            setting = (
                f"{name}, ε = {epsilon:g}, by Algorithm 5 with {score.replace('_', ' ')}: of the ten best features"
            )
            yield percent(setting, None, masks[:, best].mean(axis=1))


# ---- Stoddard et al. 2014, section 5.1.4 -----------------------------------------------------------------------------


def automatic_tuning(draws: int, random_state: int) -> Iterator[Measured]:
    """Classifiers that choose their own settings, on another tenth of SMS in each run, at ε = 1 and 0.1."""
    for epsilon in (1.0, 0.1):
        found: dict[str, list[float]] = {"largest class": [], "their naive Bayes, all words sampled": []}
        for run, part in enumerate(held_out(draws, random_state)):
            rng, largest = np.random.default_rng([random_state, run]), np.bincount(part.y_train).argmax()
            found["largest class"].append(float(np.mean(part.y_test == largest)))
            everything = np.ones((1, part.schema.n_features), dtype=bool)
            theirs = Records(part, run).naive_bayes(everything, epsilon, SAMPLED, rng)
            found["their naive Bayes, all words sampled"] += theirs
            for name, kind in (("BestSelector", BestSelector), ("AutoClassifier", AutoClassifier)):
                model = kind(epsilon, schema=part.schema, random_state=rng).fit(part.X_train, part.y_train)
                found.setdefault(name, []).append(model.score(part.X_test, part.y_test))
        for name, values in found.items():
            yield percent(f"ε = {epsilon:g}, {name}", None, values)


# ---- Zafarani and Clifton 2021, section 8 ----------------------------------------------------------------------------


def smooth_leaves(draws: int, random_state: int) -> Iterator[Measured]:
    """Smooth sensitivity of two statistics of a tree's leaf as a share of the global one, β = ε/6 at ε = 1.

    One more record always changes the count of one class by 1, so that a count gains nothing.
    """
    rng, counts, medians = np.random.default_rng(random_state), [], []
    for _ in range(10 * draws):
        classes = np.bincount(rng.integers(3, size=200), minlength=3)
        changes = [np.abs(np.bincount([label], minlength=3) + classes - classes).max() for label in range(3)]
        counts.append(float(max(changes)))
        medians.append(float(smooth_sensitivity("median", np.sort(rng.beta(2, 2, size=200)), 0, 1, 1 / 6)))
    yield measured("counts of the classes of 200 records", None, counts)
    yield measured("median of 200 numbers", None, medians)


# ---- Su et al. 2018, section 6 ---------------------------------------------------------------------------------------


def single_steps(draws: int, random_state: int) -> Iterator[Measured]:
    """Classifiers of adult with one private choice (the grid of PrivPfC), and with as few steps as a linear model."""
    dataset = load("adult")
    assert dataset.frame_schema is not None
    label = dataset.card["label"]["name"]
    train, test = (dataset.frame.loc[part] for part in ("train", "test"))
    for epsilon in (0.05, 0.1, 1.0):
        grids = []
        for seed in range(random_state, random_state + draws):
            model = PrivPfCClassifier(epsilon, schema=dataset.frame_schema, random_state=seed)
            model.fit(train.drop(columns=label), train[label])
            grids.append(model.score(test.drop(columns=label), test[label]))
        yield percent(f"ε = {epsilon:g}, cells of one grid", None, grids)
        found = AutoStudy(dataset)(epsilon, draws=draws, rng=np.random.default_rng(random_state))
        yield percent(f"ε = {epsilon:g}, the default classifier", None, found["accuracy"])


ANTONOVA: dict[str, Experiment] = {
    "claim-future-numbers": numeric_naive_bayes,
    "claim-future-scaling": private_scaling,
    "claim-future-posterior": posterior_parameters,
    "claim-future-classes": scores_of_three_classes,
    "claim-future-synthetic": synthetic_selection,
}
STODDARD: dict[str, Experiment] = {"claim-future-tuning": automatic_tuning}
ZAFARANI: dict[str, Experiment] = {"claim-future-trees": smooth_leaves}
SU: dict[str, Experiment] = {"claim-future-single-steps": single_steps}
