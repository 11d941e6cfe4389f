"""What the Train page computes, as plain functions of plain values: the server and its workers call the same ones.

Every result depends on its arguments alone (seeds included), so it can be kept under them.
"""

from dataclasses import replace
from typing import Any

import numpy as np
from numpy.typing import NDArray

from dpml.classifiers.naive_bayes.as_published import vaidya_cost
from dpml.classifiers.naive_bayes.bernoulli import models_from_published, published_threshold
from dpml.counts import contingency, release_published
from dpml.datasets import Dataset
from dpml.schema import Schema
from dpml.selection import scores_from_counts
from dpml.studies.accuracy import PublishedNBStudy, majority_accuracy, non_private_nb
from dpml.studies.mixed import MomentsNBStudy, non_private_mixed_nb
from dpml_app.data.measures import dataset
from dpml_app.pages.train.facts import TrainFacts
from dpml_app.pages.train.methods import EVERY
from dpml_app.pages.train.settings import WEIGHTS
from dpml_app.work.cache import kept

FloatArray = NDArray[np.float64]
# an ε at which the noise is below what can be seen: what a method reaches without noise
EXACT = 1e9
PERCENTILES = (50, 55, 60, 65, 70, 75, 80, 85, 90, 95, 97, 99)


# ---- data ---------------------------------------------------------------------------------------------------------


@kept(4)
def data_of(name: str, n: int | None = None, features: int | None = None) -> Dataset:
    """Return a data set with its first `n` training records in a fixed order, and its `features` best binary columns.

    The order is a permutation that does not depend on the records. The best columns have the largest exact mutual
    information with the class, as in Fig. 3.8 of Antonova (2016). The selection is not private, so use it in
    simulations only.
    """
    data = dataset(name)
    if features is not None:
        exact = contingency(data.X_train, data.y_train, data.schema.n_classes)
        best = np.sort(np.argsort(-scores_from_counts(exact, "mutual_information"), kind="stable")[:features])
        data = replace(
            data, X_train=data.X_train[:, best], X_test=data.X_test[:, best], schema=data.schema.subset(best)
        )
    total = len(data.y_train)
    if n is None or n >= total:
        return data
    rows = np.random.default_rng(0).permutation(total)[:n]
    frame = data.frame_schema
    return replace(
        data,
        X_train=data.X_train[rows],
        y_train=data.y_train[rows],
        schema=_of_size(data.schema, n),
        frame_schema=None if frame is None else _of_size(frame, n),
        _raw=replace(data._raw, train=data._raw.train[rows]),
    )


def _of_size(schema: Schema, n: int) -> Schema:
    """Return the public facts of a smaller table; its number of records is rounded down to one digit."""
    unit = 10 ** (len(str(n)) - 1)
    return Schema(schema.features, schema.classes, schema.row_bound, n, n // unit * unit)


def sizes(total: int) -> tuple[int, ...]:
    """Return training sizes: all records, and half as many again and again, down to 20.

    >>> sizes(1000)
    (31, 62, 125, 250, 500, 1000)
    """
    steps = [total]
    while steps[-1] // 2 >= 20 and len(steps) < 9:
        steps.append(steps[-1] // 2)
    return tuple(steps[::-1])


def feature_steps(total: int) -> tuple[int, ...]:
    """Return numbers of features to try, up to 300.

    >>> feature_steps(24)
    (1, 2, 5, 10, 20, 24)
    """
    most = min(total, 300)
    return (*(t for t in (1, 2, 5, 10, 20, 50, 100, 200) if t < most), most)


def nb_facts(name: str) -> TrainFacts:
    """Return what the page shows of a data set at every setting."""
    data = dataset(name)
    C, table = data.schema.n_classes, data.frame_schema
    kinds = [] if table is None else [f.kind for f in table.features]
    binary = non_private_nb(data)
    two = C == 2
    accuracy = {
        "majority": majority_accuracy(data),
        "binary": float(binary.accuracy(data.X_test, data.y_test)[0]),
    }
    auc = {"majority": 0.5, "binary": float(binary.auc(data.X_test, data.y_test)[0])} if two else {}
    numeric = kinds.count("numeric")
    if table is not None and numeric:
        accuracy["table"] = float(non_private_mixed_nb(data)["accuracy"])
        if two:
            auc["table"] = float(_exact_gaussian(data)["auc"][0])
    return TrainFacts(
        title=data.card.get("title", name),
        n_train=len(data.y_train),
        n_test=len(data.y_test),
        classes=data.class_names,
        name=name,
        table=table is not None,
        numeric=numeric,
        categorical=len(kinds) - numeric,
        columns=[] if table is None else table.feature_names,
        binary_columns=data.feature_names,
        majority=accuracy["majority"],
        accuracy=accuracy,
        auc=auc,
    )


def _exact_gaussian(data: Dataset) -> dict[str, FloatArray]:
    study = MomentsNBStudy(data, "global")
    return study(EXACT, draws=1, rng=np.random.default_rng(0), auc=True, likelihood="gaussian")


# ---- accuracy -----------------------------------------------------------------------------------------------------


# all that one setting of the page needs: 9 sizes and as many numbers of columns, for up to 9 methods
@kept(160)
def nb_study(name: str, method: str, relation: str, n: int | None = None, features: int | None = None) -> Any:
    """Return the library's study of a method, its exact statistics made once."""
    return EVERY[method].entry.study_of(data_of(name, n, features), relation=relation)


def study_settings(options: tuple, schema: Schema) -> dict[str, Any]:
    """Return the page's options of a method under the library's names; 0 stands for the library's public rule.

    δ is 1/n or 1/n² for the schema's public bound on the number of records, n.
    """
    values = dict(options)
    noise, _, power = values.get("train_noise", "").partition("gaussian-")
    given = {
        "allocation": WEIGHTS[values["train_weight"]] if "train_weight" in values else None,
        "noise": "gaussian" if power else noise or None,
        "delta": schema.n_lower ** -int(power) if power else None,
        "trim": values.get("train_trim") or None,
        "likelihood": values.get("train_likelihood"),
        "n_bins": max(values["train_bins"], 2) if values.get("train_bins") else None,
        "threshold_percentile": values.get("threshold_percentile"),
    }
    return {name: value for name, value in given.items() if value is not None}


def nb_silenced(
    name: str, relation: str, epsilon: float, percentile: float, draws: int, seed: int
) -> dict[str, FloatArray]:
    """Return the accuracies of Antonova's Algorithm 1 and the share of features that the threshold raises: (draws,).

    ``some``: the on-count of some class is raised. ``on``: those of all classes, so that they are equal. ``all``: the
    off-counts, too; such a feature says nothing.
    """
    study: PublishedNBStudy = nb_study(name, "algorithm-1", relation)
    rng = np.random.default_rng(seed)
    noisy = release_published(study.counts, epsilon, relation=relation, draws=draws, rng=rng)
    threshold = published_threshold(epsilon, study.schema.n_features, percentile, relation)
    assert noisy.off is not None
    on, off = (counts <= threshold for counts in (noisy.on, noisy.off))
    return {
        "accuracy": models_from_published(noisy, threshold).accuracy(study.X_test, study.y_test),
        "some": on.any(axis=1).mean(axis=1),
        "on": on.all(axis=1).mean(axis=1),
        "all": (on & off).all(axis=1).mean(axis=1),
    }


def true_epsilon(method: str, epsilon: float, facts: TrainFacts, relation: str) -> float | None:
    """Return the ε that a method truly costs under the relation, None if there is none.

    Examples
    --------
    >>> from types import SimpleNamespace
    >>> true_epsilon("vaidya", 0.1, SimpleNamespace(numeric=0, categorical=20), "replace-one")
    6.0
    """
    if EVERY[method].claim_holds:
        return epsilon
    if method == "vaidya" and not facts.numeric:
        return vaidya_cost(epsilon, facts.categorical, relation)
    return None
