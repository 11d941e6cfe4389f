"""What the Train page computes of linear models, as plain functions of values, like `dpml_app.pages.train.compute`.

All are trained on the binary columns, cut by the library's public bound where they may have more ones (text), and
scaled into the unit ball by it. One cut serves all draws.
"""

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray
from scipy import sparse

from dpml.classifiers.linear import (
    LOGISTIC,
    HuberHinge,
    default_reg_lambda,
    linear_models,
    minimiser,
    release_output,
    release_weights,
    squared_norm_bound,
)
from dpml.classifiers.linear.functional import (
    TaylorCoefficients,
    polynomial_minimisers,
    release_coefficients,
    taylor_coefficients,
)
from dpml.classifiers.linear_classifier import HUBER, LinearClassifier, default_linear_method, default_norm
from dpml.classifiers.linear_models import LinearModels
from dpml.classifiers.local_search.estimators import (
    FIRST_STEP,
    PrivGene,
    Records,
    default_decay,
    default_iterations,
    release_genetic_search,
    release_local_search,
)
from dpml.encoding import cut_rows, unit_scale
from dpml.registry import of_family
from dpml.schema import Schema
from dpml_app.pages.train.compute import EXACT, data_of
from dpml_app.pages.train.methods import DELTA, LINEAR
from dpml_app.pages.train.settings import RULE
from dpml_app.work.cache import kept

FloatArray = NDArray[np.float64]
MOST_WEIGHTS = 12
# of the level line: little regularised, and still the same on every computer
PLAIN_LAMBDA = 1.0
# the library's method, its norm and the loss
FORMS: dict[str, tuple[str, str, Any]] = {
    each.key: (each.options["method"], each.options.get("norm", "l2"), HuberHinge() if each.key == "svm" else LOGISTIC)
    for each in of_family("classifier", "linear")
    if "method" in each.options
}
# of the library's estimator
GENETIC: dict[str, Any] = {name: getattr(PrivGene(1.0), name) for name in ("n_candidates", "n_selected")}
SEARCHES: dict[str, tuple[Callable, dict[str, Any]]] = {
    "local": (release_local_search, {}),
    "genetic": (release_genetic_search, GENETIC),
}


# ---- data and exact statistics --------------------------------------------------------------------------------------


@dataclass(frozen=True)
class Scaled:
    """Training records in the unit ball, and what is known of them publicly."""

    X: Any
    codes: NDArray[np.intp]
    schema: Schema
    bound: int

    @property
    def positives(self) -> list[int]:
        """The classes that have a classifier."""
        C = self.schema.n_classes
        return [1] if C == 2 else list(range(C))

    @property
    def signs(self) -> list[FloatArray]:
        """Of each classifier."""
        return [np.where(self.codes == c, 1.0, -1.0) for c in self.positives]

    @property
    def nonzero(self) -> int:
        """The most coordinates of a record that are not 0."""
        return self.bound + 1

    @property
    def dimension(self) -> int:
        """The number of weights, the intercept's included."""
        return self.X.shape[1]


# the page needs at most nine sizes
@kept(12)
def scaled(name: str, n: int | None = None) -> Scaled:
    """Return a data set's training records in the unit ball."""
    data = data_of(name, n)
    bound = squared_norm_bound(data.schema)
    cut = cut_rows(data.X_train, bound, rng=np.random.default_rng([0, bound]))
    return Scaled(unit_scale(cut, bound), data.y_train, data.schema, bound)


@kept(12)
def searched(name: str, n: int | None = None) -> list[Records]:
    """Return the records as the local searches take them, for each classifier."""
    table, X = scaled(name, n), data_of(name, n).X_train
    most = min(X.shape[1], table.schema.row_bound or X.shape[1])
    return [Records(X, signs, n_ones=most) for signs in table.signs]


@kept(256)
def exact_weights(name: str, reg_lambda: float, n: int | None = None) -> FloatArray:
    """Return the weights without noise, shape (K, D')."""
    table = scaled(name, n)
    return np.array([minimiser(table.X, signs, reg_lambda) for signs in table.signs])


@kept(12)
def exact_coefficients(name: str, n: int | None = None) -> TaylorCoefficients:
    """Return the coefficients of the functional mechanism's polynomial."""
    table = scaled(name, n)
    return taylor_coefficients(table.X, table.codes, table.schema.n_classes, n_nonzero=table.nonzero)


def exact_models(name: str, reg_lambda: float) -> LinearModels:
    """Return logistic regression without noise."""
    return linear_models(exact_weights(name, reg_lambda)[None], scaled(name).bound)


def linear_facts(name: str) -> dict[str, dict[str, float]]:
    """Return the levels of logistic regression without privacy, to be added to those of `nb_facts`."""
    data, table = data_of(name), scaled(name)
    whole = data.schema.row_bound  # nobody's record need be cut without privacy; λ is of the same records
    X, reg_lambda = unit_scale(data.X_train, whole), PLAIN_LAMBDA * table.nonzero / (whole + 1)
    models = linear_models(np.array([minimiser(X, signs, reg_lambda) for signs in table.signs])[None], whole)
    levels = {"accuracy": {"logistic": float(models.accuracy(data.X_test, data.y_test)[0])}, "auc": {}}
    if data.schema.n_classes == 2:
        levels["auc"]["logistic"] = float(models.auc(data.X_test, data.y_test)[0])
    return levels


# ---- models ---------------------------------------------------------------------------------------------------------


def form_of(name: str, method: str, n: int | None = None) -> tuple[str, str, Any]:
    """Return the library's method, its norm and the loss; the public rule's norm depends on the schema."""
    if method == "rule":
        return "objective", default_norm(scaled(name, n).schema), HuberHinge(HUBER)
    return FORMS[method]


def public_lambda(
    name: str, method: str, epsilon: float, relation: str, n: int | None = None, sensitivity: str = "exact"
) -> float:
    """Return the λ that the library's public rule takes for a method; it does not look at the records.

    All λ here are of the sum of the losses over records in the L2 unit ball. For noise in L1 the library scales records
    by 1/√S once more, S the most coordinates that are not 0; there the same λ is S times smaller.
    """
    table, (of_library, norm, _loss) = scaled(name, n), form_of(name, method, n)
    value = default_reg_lambda(
        epsilon,
        table.dimension,
        method=of_library,
        delta=DELTA,
        relation=relation,
        norm=norm,
        n_classes=table.schema.n_classes,
        sensitivity=sensitivity,
        n_nonzero=table.nonzero,
    )
    return value * table.nonzero if norm == "l1" else value


def rule_takes(name: str, epsilon: float, n: int | None = None) -> str:
    """Return what the public rule of `LinearClassifier` takes: "naive-bayes" or "objective"."""
    return default_linear_method(scaled(name, n).schema, epsilon)


def released(
    name: str, method: str, relation: str, epsilon: float, options: dict, draws: int, seed: int, n: int | None = None
) -> LinearModels:
    """Return private models of one method; λ = 0 stands for the public rule."""
    if method == "rule":
        if rule_takes(name, epsilon, n) == "naive-bayes":
            return _naive_bayes(name, n, epsilon, relation, draws, np.random.default_rng(seed))
        options = {"train_lambda": RULE}
    table, rng = scaled(name, n), np.random.default_rng(seed)
    shared: dict[str, Any] = {"relation": relation, "draws": draws, "rng": rng}
    if method in SEARCHES:
        return _search(name, n, method, epsilon, **shared)
    sensitivity = options.get("train_functional", "exact")
    reg_lambda = options["train_lambda"]
    if reg_lambda == RULE:
        reg_lambda = public_lambda(name, method, epsilon, relation, n, sensitivity)
    if method == "functional":
        kind: dict[str, Any] = {"sensitivity": sensitivity, "n_nonzero": table.nonzero}
        noisy = release_coefficients(exact_coefficients(name, n), epsilon, **kind, **shared)
        return linear_models(polynomial_minimisers(noisy, reg_lambda), table.bound)
    if method == "output":
        each = epsilon / len(table.positives)  # one record is in the training of all of them
        exact = exact_weights(name, reg_lambda, n)
        theta = np.stack([release_output(w, each, reg_lambda, **shared) for w in exact], axis=1)
        return linear_models(theta, table.bound)
    of_library, norm, loss = form_of(name, method, n)
    X = table.X
    if norm == "l1":
        X, reg_lambda = X / np.sqrt(table.nonzero), reg_lambda / table.nonzero
    theta = release_weights(
        X,
        table.codes,
        table.schema.n_classes,
        epsilon,
        reg_lambda,
        method=of_library,
        norm=norm,
        n_nonzero=table.nonzero,
        n_records=table.schema.n_rows,
        delta=DELTA,
        loss=loss,
        **shared,
    )
    return linear_models(theta, table.bound, True, norm)


def _naive_bayes(
    name: str, n: int | None, epsilon: float, relation: str, draws: int, rng: np.random.Generator
) -> LinearModels:
    """Return naive Bayes as the public rule's estimator fits it: it may choose features first."""
    data, D = data_of(name, n), scaled(name, n).schema.n_features
    model = LinearClassifier(epsilon, method="naive-bayes", relation=relation, schema=data.schema, random_state=rng)
    # it is linear, so its weights are what a single one adds to the score of a record of zeros
    units = sparse.vstack([sparse.csr_array((1, D), dtype=int), sparse.eye_array(D, dtype=int, format="csr")])
    units = units if sparse.issparse(data.X_train) else units.toarray()
    scores = []
    for _ in range(draws):
        score = model.fit(data.X_train, np.asarray(data.schema.classes)[data.y_train]).decision_function(units)
        scores.append(score[:, None] if score.ndim == 1 else score)
    of_zeros, of_units = np.array(scores)[:, :1], np.array(scores)[:, 1:]
    return LinearModels((of_units - of_zeros).transpose(0, 2, 1), of_zeros[:, 0])


def _search(name: str, n: int | None, method: str, epsilon: float, **shared: Any) -> LinearModels:
    release, options = SEARCHES[method]
    sides, schema = searched(name, n), scaled(name, n).schema
    each = epsilon / len(sides)
    rule: dict[str, Any] = {"relation": shared["relation"], "n_selected": options.get("n_selected", 1)}
    T = default_iterations(each, schema.n_lower, sides[0].dimension, **rule)
    plan: dict[str, Any] = {"n_iterations": T, "step": FIRST_STEP, "decay": default_decay(T)}
    theta = np.stack([release(records, each, **plan, **options, **shared) for records in sides], axis=1)
    return LinearModels(theta[..., :-1], theta[..., -1])


# ---- what is plotted ------------------------------------------------------------------------------------------------


def lambda_without_noise(name: str, reg_lambda: float) -> dict[str, FloatArray]:
    """Return the test accuracy of logistic regression without noise at λ, shape (1,)."""
    data = data_of(name)
    return {"accuracy": exact_models(name, reg_lambda).accuracy(data.X_test, data.y_test)}


def linear_weights(
    name: str, method: str, relation: str, epsilon: float, options: tuple, draws: int, seed: int
) -> dict[str, Any]:
    """Return the weights of the columns that weigh most without noise: exact (T,), released (draws, T), and names.

    Exact is what the same method would give without noise, at the same λ; for the local searches it is logistic
    regression at λ = 1, which they look for too. With more than two classes: of the first one against the rest.
    """
    settings = dict(options)
    models = released(name, method, relation, epsilon, settings, LINEAR[method].draws(draws), seed)
    exact = _without_noise(name, method, relation, epsilon, settings)
    most = np.argsort(-np.abs(exact), kind="stable")[:MOST_WEIGHTS]
    return {
        "names": [data_of(name).feature_names[j] for j in most],
        "exact": exact[most],
        "draws": _of_first(models)[:, most],
    }


def _of_first(models: LinearModels) -> FloatArray:
    """Return the weights (draws, D) of the first classifier; naive Bayes of C classes scores each of them."""
    return models.coef[:, 0]


def _without_noise(name: str, method: str, relation: str, epsilon: float, settings: dict) -> FloatArray:
    if method == "rule" and rule_takes(name, epsilon) == "naive-bayes":
        return _of_first(released(name, method, relation, EXACT, settings, 1, 0))[0]
    if method in SEARCHES:
        return _of_first(exact_models(name, PLAIN_LAMBDA))[0]
    settings = {"train_lambda": RULE} if method == "rule" else settings
    reg_lambda = settings["train_lambda"]
    if reg_lambda == RULE:
        sensitivity = settings.get("train_functional", "exact")
        reg_lambda = public_lambda(name, method, epsilon, relation, None, sensitivity)
    table = scaled(name)
    if method == "functional":
        exact = exact_coefficients(name)
        batch = TaylorCoefficients(exact.linear[None], exact.quadratic[None])
        return _of_first(linear_models(polynomial_minimisers(batch, reg_lambda), table.bound))[0]
    _of_library, _norm, loss = form_of(name, method)
    if loss != LOGISTIC:
        theta = minimiser(table.X, table.signs[0], reg_lambda, loss=loss)
        return _of_first(linear_models(theta[None], table.bound))[0]
    return _of_first(exact_models(name, reg_lambda))[0]
