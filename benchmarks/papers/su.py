"""Su, Cao, Li and Lyu 2018: classifiers on synthetic tables beside private classifiers, on the same folds.

adult has the 45,222 complete records. Methods that publish see the raw table and its taxonomies, private linear
classifiers the binary encoding. The datasets US and BR are extracts that cannot be had here.
"""

import itertools
from collections.abc import Callable, Iterator
from dataclasses import replace
from functools import partial
from itertools import islice
from typing import Any, NamedTuple

import numpy as np
import pandas as pd
from numpy.typing import NDArray
from sklearn.datasets import make_classification
from sklearn.model_selection import RepeatedStratifiedKFold, train_test_split
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import StandardScaler
from sklearn.svm import SVC

from benchmarks.papers.measured import Experiment, Measured, exact, measured, percent
from dpml.classifiers import DiffPC45, LinearSVC, LogisticRegression, PrivGene, PrivLocal, PrivPfCClassifier
from dpml.classifiers.grid import GridQuality, Records, candidate_grids, grid_counts, places_of
from dpml.datasets import load
from dpml.publishing import PPH, DiffGen, DiffGenStructNF, PrivBayesStructNF, PrivPfC, PrivPfCSelNF
from dpml.registry import method
from dpml.schema import Feature, Schema
from dpml.studies.publishing import LEARNERS, one_hot, with_levels

EPSILONS = (0.05, 0.1, 0.2, 0.5, 1.0)
# a machine with RBF kernel is fitted to at most so many records, because its time grows with their square
MACHINE_RECORDS = 3_000
CLASSIFIERS: dict[str, Callable[[], Any]] = {
    "CART": LEARNERS["cart"],
    "SVM with RBF kernel": lambda: make_pipeline(StandardScaler(), SVC()),
    "logistic": LEARNERS["logistic"],
}
Methods = dict[str, Callable[..., Any]]
Errors = Iterator[tuple[str, float]]
PUBLISHERS: Methods = {"PrivPfC": PrivPfC, "DiffGen": DiffGen, "PPH": PPH}
# what the paper compares in Fig. 5 (support vector machines) and in Fig. 6 (logistic regression)
DIRECT: dict[str, Methods] = {
    "SVM with RBF kernel": {
        "PrivateERM": partial(LinearSVC, method="objective"),
        "PrivGene": partial(PrivGene, loss="hinge"),
        "PrivLocal": partial(PrivLocal, loss="hinge"),
    },
    "logistic": {
        "FunctionalMechanism": partial(LogisticRegression, method="functional", sensitivity="improved"),
        "FunctionalMechanism, repaired": partial(LogisticRegression, method="functional"),
        "PrivGene": PrivGene,
        "PrivLocal": PrivLocal,
        "PrivateERM": partial(LogisticRegression, method="objective"),
    },
    "CART": {"PrivPfC's own classifier": PrivPfCClassifier},
}
POOLS: Methods = {f"Θ = {most:,}": partial(PrivPfC, max_grids=most) for most in (100, 10_000, 200_000)}
SHARES: Methods = {
    "DiffGen": DiffGen,
    "PrivPfC, 3 : 37 : 60": PrivPfC,
    "PrivPfC, 3 : 10 : 87": partial(PrivPfC, shares=(0.03, 0.1, 0.87)),
}
STRUCTURES: Methods = {
    "PrivPfC": PrivPfC,
    "PrivPfC-SelNF": PrivPfCSelNF,
    "DiffGen": DiffGen,
    "DiffGen-Struct-NF": DiffGenStructNF,
    "PrivBayes-Struct-NF": PrivBayesStructNF,
}
MARITAL = {"Married-civ-spouse": "married", "Married-AF-spouse": "married", "Never-married": "never married"}
# classes, records and Θ of Fig. 12 and Fig. 3; 20 numbers, 5 of which tell the classes apart
SIZES = (5_000, 10_000, 20_000, 50_000, 100_000)
INFORMATIVE, BINS = 5, 8


class Table(NamedTuple):
    """A raw table with its public metadata, and its binary encoding."""

    name: str
    frame: pd.DataFrame
    label: NDArray
    schema: Schema
    X: NDArray
    codes: NDArray
    binary: Schema


def two_classes(name: str) -> Table:
    """Return the complete records of adult, or bank, with its two classes."""
    dataset = load(name)
    assert dataset.frame_schema is not None
    frame = dataset.frame.reset_index(drop=True)
    complete = np.flatnonzero(~(frame == "?").any(axis=1).to_numpy()) if name == "adult" else np.arange(len(frame))
    frame = frame.iloc[complete].reset_index(drop=True)
    target = dataset.frame.columns[-1]
    X = np.vstack([np.asarray(dataset.X_train), np.asarray(dataset.X_test)])[complete]
    codes = np.concatenate([dataset.y_train, dataset.y_test])[complete]
    facts = with_levels(replace(dataset.frame_schema, n_rows=None, n_lower=1), name)
    # a public bound on the records of a fold, by which PrivLocal and PrivGene choose how often they look
    binary = replace(dataset.schema, n_rows=None, n_lower=len(complete) * 8 // 10)
    return Table(name, frame.drop(columns=target), frame[target].to_numpy(), facts, X, codes, binary)


def _error(classifier: str, table, label, test, truth, schema, names, seed: int) -> float:
    """Return the error on test records of a classifier that learned from a table."""
    if classifier.startswith("SVM") and len(label) > MACHINE_RECORDS:
        kept = np.random.default_rng(seed).choice(len(label), MACHINE_RECORDS, replace=False)
        table, label = table.iloc[kept], label[kept]
    if len(set(label)) < 2:
        return float((truth != (label[0] if len(label) else schema.classes[0])).mean())
    model = CLASSIFIERS[classifier]().fit(one_hot(table, schema, names), label)
    return float((model.predict(one_hot(test, schema, names)) != truth).mean())


def _published(model: Any, classifier: str, test, truth, schema, seed: int) -> float:
    """Return the error of a classifier on a published table: on the columns that the release tells apart."""
    if not hasattr(model, "sample"):
        return float((model.predict(test) != truth).mean())
    table = model.sample(min(int(model.cell_counts_.sum()), len(test) * 9) if isinstance(model, PPH) else None)
    names = list(getattr(model, "levels_", ())) or schema.feature_names
    label = table[model.label_name_].to_numpy(dtype=object)
    return _error(classifier, table, label, test, truth, schema, names, seed)


def fold_errors(
    classifier: str, data: Table, methods: Methods, train, test, seed: int, epsilons: tuple[float, ...] = EPSILONS
) -> Errors:
    """Yield the errors on one fold of the baselines and of a classifier on synthetic tables."""
    known, held, truth = (data.frame.iloc[train], data.label[train]), data.frame.iloc[test], data.label[test]
    common, counts = np.unique(data.label[train], return_counts=True)
    yield "majority", float((truth != common[counts.argmax()]).mean())
    names = data.schema.feature_names
    yield "without noise", _error(classifier, *known, held, truth, data.schema, names, seed)
    for (title, publish), epsilon in itertools.product(methods.items(), epsilons):
        model = publish(epsilon, schema=data.schema, random_state=seed).fit(*known)
        yield f"ε = {epsilon:g}, {title}", _published(model, classifier, held, truth, data.schema, seed)


def over_folds(data: Table, draws: int, random_state: int, errors: Callable[..., Errors]) -> Iterator[Measured]:
    """Yield the means of the errors over `draws` folds of repeated ten-fold cross-validation."""
    folds = RepeatedStratifiedKFold(n_splits=10, n_repeats=-(-draws // 10), random_state=random_state)
    values: dict[str, list[float]] = {}
    for number, fold in enumerate(islice(folds.split(data.frame, data.label), draws)):
        for setting, error in errors(data, *fold, random_state + number):
            values.setdefault(f"{data.name}, {setting}", []).append(error)
    for setting, errors_of in values.items():
        yield percent(setting, None, errors_of)


def comparison(
    draws: int,
    random_state: int,
    *,
    methods: Methods,
    direct: Methods | None = None,
    classifier: str = "CART",
    make: Callable[[str], Table] = two_classes,
    names: tuple[str, ...] = ("adult", "bank"),
    epsilons: tuple[float, ...] = EPSILONS,
) -> Iterator[Measured]:
    """Yield the errors of Figs. 4 to 10: of a classifier on the tables of some methods, and of private classifiers."""

    def errors(data: Table, train, test, seed: int) -> Errors:
        yield from fold_errors(classifier, data, methods, train, test, seed, epsilons)
        for (title, method_of), epsilon in itertools.product((direct or {}).items(), epsilons):
            yield f"ε = {epsilon:g}, {title}", _direct(method_of, epsilon, data, train, test, seed)

    for name in names:
        yield from over_folds(make(name), draws, random_state, errors)


def _beside(classifier: str) -> Experiment:
    """Return the experiment of Fig. 4, 5 or 6."""
    tables = {f"{title} and {classifier}": publish for title, publish in PUBLISHERS.items()}
    return partial(comparison, methods=tables, direct=DIRECT[classifier], classifier=classifier)


def _direct(make: Callable[..., Any], epsilon: float, data: Table, train, test, seed: int) -> float:
    """Return the error of a private classifier."""
    if make is PrivPfCClassifier:
        model = make(epsilon, schema=data.schema, random_state=seed).fit(data.frame.iloc[train], data.label[train])
        return float((model.predict(data.frame.iloc[test]) != data.label[test]).mean())
    model = make(epsilon, schema=data.binary, random_state=seed).fit(data.X[train], data.codes[train])
    return float((model.predict(data.X[test]) != data.codes[test]).mean())


def three_classes(name: str) -> Table:
    """Return adult with three marital states as classes, or bank with the three outcomes of the last campaign."""
    data, target = two_classes(name), {"adult": "marital-status", "bank": "poutcome"}[name]
    was = {"adult": "income", "bank": "y"}[name]
    label = data.frame[target].to_numpy(dtype=object)
    classes = next(f for f in data.schema.features if f.name == target).categories or ()
    if name == "adult":
        label = np.array([MARITAL.get(state, "once married") for state in label], dtype=object)
        classes = ("married", "never married", "once married")
    features = [replace(f, levels=None) for f in data.schema.features if f.name != target]
    features.append(Feature(was, "categorical", data.schema.classes))
    schema = replace(data.schema, features=tuple(features), classes=classes)
    frame = data.frame.drop(columns=target).assign(**{was: data.label})
    stated = {"adult": "adult-marital", "bank": "bank-poutcome"}[name]
    # in the binary encoding, too, the two classes of before take the place of the target
    kept = [j for j, f in enumerate(data.binary.features) if f.block != target]
    first = data.binary.features[kept[0]]
    columns = [replace(first, name=f"{was}={c}", block=was) for c in data.schema.classes]
    binary = replace(
        data.binary,
        features=(*(data.binary.features[j] for j in kept), *columns),
        classes=tuple(range(len(classes))),
    )
    X = np.column_stack([data.X[:, kept], data.codes == 0, data.codes == 1])
    codes = (label[:, None] == np.array(classes, dtype=object)).argmax(axis=1)
    return Table(f"{name}, three classes", frame, label, with_levels(schema, stated), X, codes, binary)


def expected_correct(counts: NDArray, epsilon: float) -> float:
    """Return eq. 1: the expected number of records in the class of the largest noisy count of their cell.

    P(n_c + Z_c is the largest) is the integral of the density of n_c + Z_c times the other distribution functions.

    >>> round(expected_correct(np.array([[5], [5], [5]]), 1.0), 6)
    5.0
    """
    # a class that lags by 40 scales never wins
    top = counts.max(axis=0)
    lag = np.minimum(top - counts, np.ceil(40 / epsilon))
    kinds, inverse = np.unique(lag, axis=1, return_inverse=True)
    z = np.arange(-20, 20, 0.02)
    x = (z[:, None, None] / epsilon + kinds) * epsilon  # the noise that class c needs to be at z
    below = np.where(x < 0, 0.5 * np.exp(np.minimum(x, 0)), 1 - 0.5 * np.exp(-np.maximum(x, 0)))
    density = 0.5 * np.exp(-np.abs(x))
    wins = density * np.stack([np.delete(below, c, axis=1).prod(axis=1) for c in range(len(counts))], axis=1)
    share = wins.sum(axis=0)
    share /= share.sum(axis=0)
    return float((counts * share[:, inverse.ravel()]).sum())


def fig_3(draws: int, random_state: int) -> Iterator[Measured]:
    """Fig. 3: correlation of eq. 1 and eq. 5 over candidate grids of three classes, with 10 grids for each draw."""
    correlations = []
    for name in ("adult", "bank"):
        data = three_classes(name)
        X, codes, schema = data.schema.check_table(data.frame, data.label)
        levels = tuple(f.taxonomy for f in schema.features)
        records = Records(places_of(X, schema, levels), codes, 3, levels)
        for epsilon in EPSILONS:
            pool = candidate_grids(levels, 10_000, 0.2 * len(codes) * 0.6 * epsilon)
            quality = GridQuality(0.6 * epsilon, len(codes))
            some = np.random.default_rng(random_state).choice(len(pool), min(10 * draws, len(pool)), replace=False)
            tables = [np.asarray(grid_counts(records, pool.levels(i))) for i in some.tolist()]
            ours = [[expected_correct(t, 0.6 * epsilon), quality.of_grid(t)] for t in tables]
            correlations.append(float(np.corrcoef(np.array(ours).T)[0, 1]))
            yield exact(f"{name}, ε = {epsilon:g}, {len(some)} grids", None, correlations[-1])
    yield measured("mean over sets and ε", 0.936, correlations)


def generated(n: int, n_classes: int, seed: int) -> tuple[pd.DataFrame, NDArray, Schema]:
    """Draw n records of 20 numbers in [-8, 8]; the paper does not say how its own were made."""
    X, codes = make_classification(
        n, 20, n_informative=INFORMATIVE, n_redundant=5, n_classes=n_classes, random_state=seed
    )
    cuts = tuple(np.linspace(-4, 4, BINS - 1).tolist())
    features = [Feature(f"x{i}", "numeric", lower=-8.0, upper=8.0, cuts=cuts) for i in range(20)]
    classes = tuple(str(c) for c in range(n_classes))
    frame = pd.DataFrame(np.clip(X, -8, 8), columns=[f.name for f in features])
    return frame, np.array(classes, dtype=object)[codes], Schema(tuple(features), classes)


def generated_errors(n: int, n_classes: int, seed: int) -> Errors:
    """Yield the errors of CART on generated records, and on their synthetic tables at ε = 0.1."""
    frame, label, schema = generated(n, n_classes, seed)
    train, test, y, truth = train_test_split(frame, label, test_size=0.1, random_state=seed, stratify=label)
    yield "without noise", _error("CART", train, y, test, truth, schema, schema.feature_names, seed)
    for title, publish in PUBLISHERS.items():
        model = publish(0.1, schema=schema, random_state=seed).fit(train, y)
        yield title, _published(model, "CART", test, truth, schema, seed)


def fig_12(draws: int, random_state: int) -> Iterator[Measured]:
    """Fig. 12: CART on synthetic tables of generated records, two and five classes, ε = 0.1."""
    for n_classes, n in itertools.product((2, 5), SIZES):
        errors: dict[str, list[float]] = {}
        for seed in range(random_state, random_state + draws):
            for title, error in generated_errors(n, n_classes, seed):
                errors.setdefault(title, []).append(error)
        for title, values in errors.items():
            yield percent(f"{n_classes} classes, {n:,} records, {title}", None, values)


EXPERIMENTS: dict[str, Experiment] = {
    "fig-3": fig_3,
    "fig-4": _beside("CART"),
    "fig-5": _beside("SVM with RBF kernel"),
    "fig-6": _beside("logistic"),
    "fig-7": partial(
        comparison,
        methods=PUBLISHERS | {method("diffpc45", "publisher").title: DiffPC45},
        # one machine a class against the rest, with a third of ε each
        direct={"PrivGene": PrivGene, "PrivLocal": PrivLocal},
        make=three_classes,
    ),
    # the paper has BR, an extract that cannot be had here
    "fig-8": partial(comparison, methods=POOLS, names=("adult",), epsilons=(0.05, 0.5)),
    "fig-9": partial(comparison, methods=SHARES, names=("adult",)),
    "fig-10": partial(comparison, methods=STRUCTURES),
    "fig-12": fig_12,
}
