"""Every public function with cells, labels and containers of any kind.

An exception may depend on what is public: the settings, the kind of container, the number of columns. So every example
here is one that must not raise, whatever the cells are and however many records there are.
"""

import math
import traceback
import warnings

import numpy as np
import polars as pl
from fuzz_cells import FRAMES, LISTS, kind_of_labels, kind_of_table, labels, pick, table
from public_estimators import KINDS, PUBLISHING, RELEASED, made, released

from dpml import evaluation
from dpml.classifiers import BernoulliNB
from dpml.encoding import BinaryEncoding
from dpml.exceptions import FactWarning
from dpml.mechanisms import smooth_sensitivity
from dpml.schema import Feature, Schema

# ---- entry points ----------------------------------------------------------------------------------------------------

BINARY = Schema.binary(3)
BINARIES = [
    BINARY,
    Schema.binary(3, classes=("yes", "no"), row_bound=1, n_lower=50),
    Schema.binary(3, classes=(0, 1, "no")),
    Schema([*(Feature(name, block="g", exhaustive=True) for name in "ab"), Feature("c", missing=1)]),
]
NUMERIC = Schema([Feature("n", "numeric", lower=-2, upper=7), Feature("b"), Feature("c")], n_lower=20)
MIXED = Schema(
    [
        Feature("n", "numeric", lower=0, upper=1e6, missing=3),
        Feature("t", "categorical", ("x", "yes", 1, 0.5, "?"), missing="?"),
        Feature("b", missing=0),
        Feature("i", "categorical", (0, 1)),
    ],
    classes=(0, 1, "yes"),
)
KINDS_OF_TABLE = {
    "MixedNB": [NUMERIC, MIXED],
    "PrivatePredictionNB": [NUMERIC, MIXED],
    "PrivatePredictionLR": [NUMERIC],
    "LogisticRegression": [NUMERIC],
    "LinearSVC": [NUMERIC],
    "PrivLocal": [NUMERIC],
    "PrivGene": [NUMERIC],
    "PrivPfCClassifier": [NUMERIC, MIXED],
    **{name: [NUMERIC, MIXED] for name in (*PUBLISHING, "DiffPID3", "DiffPC45")},
}
METHODS = {
    "BernoulliNB": ["row-bounded", "published", "partitioned"],
    "MixedNB": ["binned", "global", "smooth", "bun-steinke", "vaidya", "published"],
    "LogisticRegression": ["output", "objective", "functional", "approximate-minima", "noisy-descent"],
    "LinearSVC": ["output", "objective", "approximate-minima", "noisy-descent"],
}
SECURE_METHODS = {"BernoulliNB": METHODS["BernoulliNB"]}


def size(rng):
    return int(pick(rng, [0, 0, 1, 2, 3, 6, 12, 40]))


def noise(rng, secure):
    """Return where an evaluation takes its noise from, and that it clips."""
    return {"release": True} if secure else {"rng": np.random.default_rng(rng.integers(99)), "on_invalid": "clip"}


def an_estimator(rng, secure):
    name = pick(rng, list(RELEASED if secure else KINDS))
    schema = pick(rng, [None, *BINARIES, *KINDS_OF_TABLE.get(name, []) * 2])
    methods = (SECURE_METHODS if secure else METHODS).get(name)
    options = {"method": pick(rng, methods)} if methods else {}
    if not (secure and name == "NoisyClusterSelector"):
        options["relation"] = pick(rng, ["add-remove", "replace-one"])
    known = made(name).get_params(deep=False)
    if "score" in known and name not in PUBLISHING:
        options["score"] = pick(rng, ["count", "total_count", "difference_count", "mutual_information"][: 4 - secure])
    if "row_bound" in known and name != "MixedNB":
        options["row_bound"] = pick(rng, [None, 1, 2])
    if "selection" in known:
        options["selection"] = pick(rng, ["auto", "none"])
    if options.get("method") in ("smooth", "bun-steinke"):
        options["noise"] = pick(rng, ["cauchy", "student-t", "laplace-log-normal", "arsinh-normal"])
    if secure:
        model = released(name, schema=schema, on_invalid=pick(rng, ["raise", "clip"]), **options)
    else:
        model = made(name, schema=schema, on_invalid="clip", random_state=int(rng.integers(99)), **options)
    names = (schema or BINARY).feature_names
    n, kind = size(rng), kind_of_table(rng)
    if schema is None and kind in LISTS:
        if secure:  # a record may not tell how many columns a list has
            model.set_params(schema=BINARY)
        else:
            n += 1
    X = table(rng, kind, n, names)
    again = table(rng, kind_of_table(rng), size(rng), names)
    y = labels(rng, kind_of_labels(rng), n)

    def call():
        model.fit(X, y)
        if hasattr(model, "sample"):
            drawn = model.sample(7, random_state=0)
            (schema or BINARY).check_table(drawn[names], drawn[model.label_name_])  # raises where it is outside
            return
        if not hasattr(model, "predict"):
            assert model.get_support().shape == (len(names),)
            return
        for asked in (again, X):
            m = asked.shape[0] if hasattr(asked, "shape") else len(asked)
            found = model.predict(asked)
            assert found.shape == (m,)
            if hasattr(model, "predict_proba"):
                p = model.predict_proba(asked)
                assert p.shape == (m, len(model.classes_))
                assert np.isfinite(p).all()
            if hasattr(model, "decision_function"):
                assert np.isfinite(model.decision_function(asked)).all()

    return f"{model!r} on {type(X).__name__} of {n} with {type(y).__name__}", call


def a_selection_transforms(rng, secure):
    name = pick(rng, [n for n in (RELEASED if secure else KINDS) if hasattr(KINDS[n], "transform")])
    model = released(name, schema=BINARY) if secure else made(name, schema=BINARY, random_state=0, on_invalid="clip")
    n = size(rng)
    X, y = table(rng, "array f8", n, BINARY.feature_names), labels(rng, kind_of_labels(rng), n)

    def call():
        model.fit(X, y)
        chosen = model.get_support().sum()
        assert model.transform(np.zeros((2, 3))).shape == (2, chosen) if chosen else True

    return f"{name} transforms", call


def an_encoding(rng, secure):
    schema = pick(rng, [MIXED, NUMERIC])
    encoding = BinaryEncoding(schema, {"n": (0.5, 3)}, on_invalid="clip")
    n = size(rng)
    X = table(rng, pick(rng, FRAMES), n, schema.feature_names)

    def call():
        found = encoding.transform(X)
        assert found.shape == (n, encoding.encoded_schema.n_features)
        assert set(found.ravel()) <= {0.0, 1.0}

    return f"BinaryEncoding of {type(X).__name__} of {n}", call


def an_evaluation(rng, secure):
    source = noise(rng, secure)
    source |= {"relation": pick(rng, ["add-remove", "replace-one"])}
    n = size(rng)
    y, scores, others = (labels(rng, kind_of_labels(rng), n) for _ in range(3))
    scale = {"score_scale": pick(rng, ["probability", "log-odds"])}
    three = {"classes": (0, 1, "yes")}
    columns = table(rng, kind_of_table(rng), n, ["p", "q", "r"])
    calls = {
        "release_evaluation": lambda: evaluation.release_evaluation(y, scores, 1.0, **source, **scale).roc_auc(),
        "weights": lambda: evaluation.release_evaluation(
            y, scores, 1.0, sample_weight=others, weight_bound=2.0, **source, **scale
        ),
        "compare_classifiers": lambda: evaluation.compare_classifiers(y, scores, others, 1.0, **source, **scale),
        "private_confusion_matrix": lambda: evaluation.private_confusion_matrix(y, others, 1.0, **three, **source),
        "release_multiclass_evaluation": lambda: evaluation.release_multiclass_evaluation(
            y, columns, 1.0, **three, **source, **scale
        ).macro_auc(),
    }
    if not secure:
        options = {"rng": source["rng"], "on_invalid": "clip", "relation": source["relation"], **scale}
        calls |= {
            "private_roc_curve": lambda: evaluation.private_roc_curve(y, scores, 1.0, **options),
            "private_roc_auc": lambda: evaluation.private_roc_auc(y, scores, 1.0, **options),
            "published_roc_curve": lambda: evaluation.published_roc_curve(y, scores, 1.0, k=2, **options),
            "recursive_medians": lambda: evaluation.recursive_medians(scores, 1.0, 2, **options),
            "quantile_thresholds": lambda: evaluation.quantile_thresholds(scores, 1.0, 4, **options),
        }
    name = pick(rng, list(calls))
    return f"{name} of {n}: {type(y).__name__}, {type(scores).__name__}, {type(columns).__name__}", calls[name]


def a_cross_validation(rng, secure):
    relation = pick(rng, ["add-remove", "replace-one"])
    schema = pick(rng, [None, BINARY, Schema.binary(3, n_lower=10)])
    model = BernoulliNB(1.0, schema=schema, relation=relation)
    n = size(rng)
    kind = kind_of_table(rng, lists=schema is not None)
    X, y = table(rng, kind, n, BINARY.feature_names), labels(rng, kind_of_labels(rng), n)
    source = noise(rng, secure)
    options = {
        "n_folds": int(pick(rng, [2, 3, 7])),
        "metric": pick(rng, ["roc_auc", "accuracy", "balanced_accuracy", "average_precision", "log_loss"]),
    }

    def call():
        result = evaluation.private_cross_val_score(model, X, y, 1.0, relation=relation, **source, **options)
        assert np.isfinite(result.score)

    return f"private_cross_val_score {options} of {type(X).__name__} of {n} with {type(y).__name__}, {schema}", call


def a_smooth_sensitivity(rng, secure):
    kind = pick(rng, ["mean", "trimmed_mean", "variance", "trimmed_variance", "median"])
    n = size(rng)
    values, trim = labels(rng, kind_of_labels(rng), n), 0 if kind in ("mean", "variance", "median") else 1
    relation = pick(rng, ["add-remove", "replace-one"])

    def call():
        found = smooth_sensitivity(kind, values, -1.0, 3.0, 0.1, relation, trim=trim, on_invalid="clip")
        assert 0 <= found < math.inf

    return f"smooth_sensitivity {kind} {relation} of {n}: {type(values).__name__}", call


ENTRY_POINTS = [an_estimator] * 6 + [an_evaluation] * 2
ENTRY_POINTS += [a_cross_validation, an_encoding, a_selection_transforms, a_smooth_sensitivity]


def example(seed):
    """Return the words and the call of one example; the same each time."""
    rng = np.random.default_rng([20, seed])
    while True:
        entry_point, secure = pick(rng, ENTRY_POINTS), rng.random() < 0.5
        try:
            with warnings.catch_warnings():
                warnings.simplefilter("ignore")
                return entry_point(rng, secure)
        except (RuntimeError, TypeError, ValueError, OverflowError, pl.exceptions.PolarsError):
            continue  # the container itself cannot hold these cells


def failure(seed):
    """Return None, or what went wrong in an example."""
    words, call = example(seed)
    try:
        with warnings.catch_warnings():
            warnings.simplefilter("error")
            warnings.simplefilter("ignore", FactWarning)  # of the schema, not of the records
            call()
    except Exception:
        return f"example {seed}: {words[:400]}\n{traceback.format_exc()[-2500:]}"
    return None
