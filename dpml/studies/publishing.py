"""Studies of synthetic and weighted tables: learners for a synthetic table, and weights of a public table.

The weighted table is that of Ji and Elkan (2013, sections 5 and 6). `split_by_sex` makes the two tables, and
`WeighingStudy` measures the answers and classifiers of the weighted one over draws. It reads the private table: a
simulation, not private.
"""

import math
import warnings
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, replace
from functools import cached_property
from typing import Any

import numpy as np
import pandas as pd
from scipy.special import softmax
from sklearn.exceptions import ConvergenceWarning
from sklearn.linear_model import LogisticRegression
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import StandardScaler
from sklearn.svm import LinearSVC
from sklearn.tree import DecisionTreeClassifier

from dpml._arrays import BoolArray, FloatArray, IntArray
from dpml._validate import check_choice, check_number, check_rng
from dpml.datasets import Dataset, taxonomies
from dpml.exceptions import InvalidData, InvalidParameter
from dpml.mechanisms import NormGamma
from dpml.publishing.density_ratio import balanced_minimiser, moment_minimiser, release_balanced_output, release_sums
from dpml.publishing.importance import public_reg_lambda
from dpml.publishing.ratio_features import RatioFeatures
from dpml.schema import Feature, Schema

# scikit-learn's tree with rpart's smallest node and leaf, pruned
CART = {"min_samples_split": 20, "min_samples_leaf": 7, "ccp_alpha": 1e-3, "random_state": 0}
LEARNERS: dict[str, Callable[[], Any]] = {
    "cart": lambda: DecisionTreeClassifier(**CART),
    "svm": lambda: make_pipeline(StandardScaler(), LinearSVC(dual=False)),
    "logistic": lambda: make_pipeline(StandardScaler(), LogisticRegression(max_iter=300)),
}


def with_levels(schema: Schema, name: str) -> Schema:
    """Return a schema whose features have the taxonomies that are stated for a data set."""
    levels: dict[str, Any] = taxonomies(name)
    return replace(schema, features=tuple(replace(f, levels=levels[f.name]) for f in schema.features))


def one_hot(frame: pd.DataFrame, schema: Schema, names: Sequence[str]) -> FloatArray:
    """Return columns as numbers, with one column for each category of a categorical feature."""
    columns = {f.name: f for f in schema.features}
    cells = {
        name: pd.Categorical(frame[name], categories=columns[name].categories)
        if columns[name].categories
        else frame[name]
        for name in names
    }
    return np.asarray(pd.get_dummies(pd.DataFrame(cells), dtype=float))


# ---- two tables of different people ----------------------------------------------------------------------------------


@dataclass(frozen=True)
class _Split:
    """Ends of intervals, columns to leave out, and the private share of each sex."""

    cuts: Mapping[str, tuple[int, ...]]
    left_out: tuple[str, ...]
    private: Mapping[str, float]


SPLITS = {
    # the intervals of the R package arules
    "adult": _Split(
        {
            "age": (26, 46, 66),
            "hours-per-week": (26, 41, 61),
            "capital-gain": (1, 7298),
            "capital-loss": (1, 1887),
        },
        ("fnlwgt", "education-num", "native-country", "sex"),
        {"Male": 0.9, "Female": 0.1},
    ),
    "census": _Split(
        {"age": (30, 45, 60), "hours": (1, 30, 45)},
        ("sex", "birthplace", "household", "industry", "investment"),
        {"male": 0.9, "female": 0.1},
    ),
}


@dataclass(frozen=True, eq=False)
class TwoTables:
    """A private table and a public one with the same schema of categorical attributes, the label last."""

    private: pd.DataFrame
    public: pd.DataFrame
    schema: Schema

    @cached_property
    def features(self) -> RatioFeatures:
        """The one-hot features of the ratio of the two tables' densities."""
        return RatioFeatures(self.schema)

    @cached_property
    def private_records(self) -> FloatArray:
        """The private records in the columns of `features`. Not private."""
        return self.matrix(self.private)

    @cached_property
    def public_records(self) -> FloatArray:
        """The public records in the columns of `features`."""
        return self.matrix(self.public)

    def matrix(self, table: pd.DataFrame) -> FloatArray:
        """Return a table with this schema in the columns of `features`."""
        return self.features.matrix(self.features.parts(self.schema.check_features(table)[0]))


def split_by_sex(dataset: Dataset, *, rng: np.random.Generator) -> TwoTables:
    """Return the training records of a data set in `SPLITS` as a random private and public table.

    Of one sex 90% of the records are private, of the other 10%; the others are public. The sex is then left out.
    Numbers are in intervals with public ends.
    """
    if dataset.name not in SPLITS or dataset.frame_schema is None:
        raise InvalidParameter("dataset", dataset.name, f"a data set with a split by sex: {', '.join(SPLITS)}")
    split, label = SPLITS[dataset.name], dataset.card["label"]["name"]
    frame = dataset.frame.loc["train"].reset_index(drop=True)
    columns, features = {}, []
    for f in dataset.frame_schema.features:
        if f.name in split.left_out:
            continue
        if f.kind == "numeric":
            cuts = split.cuts[f.name]
            columns[f.name] = np.digitize(frame[f.name], cuts)
            features.append(Feature(f.name, "categorical", tuple(range(len(cuts) + 1))))
        else:
            columns[f.name] = frame[f.name].astype(str)
            features.append(f)
    columns[label] = frame[label].astype(str)
    features.append(Feature(label, "categorical", tuple(dataset.frame_schema.classes)))
    table, private = pd.DataFrame(columns), np.zeros(len(frame), dtype=bool)
    for sex, share in split.private.items():
        at = np.flatnonzero(frame["sex"].astype(str).str.strip() == sex)
        private[rng.permutation(at)[: round(share * len(at))]] = True
    parts = (table[private].reset_index(drop=True), table[~private].reset_index(drop=True))
    return TwoTables(*parts, Schema(tuple(features)))


# ---- weights ---------------------------------------------------------------------------------------------------------


PUBLIC_TABLES = ("same", "skewed", "uniform")
WEIGHINGS = ("output", "moments")
MACHINE_PENALTY = 0.1  # Λ of mean losses, as in the paper's Fig. 3


def public_table(two: TwoTables, kind: str, *, rng: np.random.Generator) -> pd.DataFrame:
    """Return a public table of the paper's Figs. 5 and 6: the private one, the public one, or uniform records."""
    check_choice(kind, "kind", PUBLIC_TABLES)
    if kind != "uniform":
        return two.private if kind == "same" else two.public
    rng, n = check_rng(rng), len(two.public)
    columns = {}
    for f in two.schema.features:
        values = pd.Series(list(f.categories or ()), dtype=two.public[f.name].dtype)
        columns[f.name] = values.iloc[rng.integers(len(values), size=n)].to_numpy()
    return pd.DataFrame(columns)


@dataclass(frozen=True, eq=False)
class WeighingStudy:
    """A public table, weighted for bootstraps of a private one. It is not private.

    Its linear support vector machine predicts the label's last class from the one-hot columns of the other attributes.
    It minimises mean hinge loss + Λ/2·‖w‖² without an intercept, because the columns of an attribute add up to 1.

    >>> from dpml.datasets import load
    >>> from dpml.studies.publishing import split_by_sex
    >>> two = split_by_sex(load("census"), rng=np.random.default_rng(0))
    >>> study = WeighingStudy(two, two.public)
    >>> beta = study.weigh("moments", 1.0, 0.001, rng=np.random.default_rng(0))
    >>> round(study.truth, 2), round(study.answer(), 2), round(study.answer(beta), 2)
    (0.26, 0.22, 0.26)
    """

    two: TwoTables
    public: pd.DataFrame
    machine_penalty: float = MACHINE_PENALTY

    def __post_init__(self):
        check_number(self.machine_penalty, "machine_penalty", 0.0, open_lower=True)
        if not len(self.public):
            raise InvalidData("public has 0 records: it must have at least 1")

    @property
    def n(self) -> int:
        """Number N of private records."""
        return len(self.two.private)

    @cached_property
    def public_records(self) -> FloatArray:
        """The public records in one-hot columns."""
        if self.public is self.two.private:
            return self.two.private_records
        return self.two.public_records if self.public is self.two.public else self.two.matrix(self.public)

    @property
    def _classes(self) -> int:
        return len(self.two.schema.features[-1].categories or ())

    def _of_class(self, X: FloatArray) -> BoolArray:
        return X[:, -1] == 1

    @property
    def truth(self) -> float:
        """The share of private records with the label's last class."""
        return float(self._of_class(self.two.private_records).mean())

    def bootstrap(self, *, rng: np.random.Generator) -> IntArray:
        """Return the positions of N private records, drawn with replacement."""
        return check_rng(rng).integers(self.n, size=self.n)

    def weigh(
        self, method: str, epsilon: float | None, reg_lambda: float | None, *, rng: np.random.Generator
    ) -> FloatArray:
        """Return β of one draw, from a bootstrap of the private table and noise (none without ε)."""
        check_choice(method, "method", WEIGHINGS)
        features, X = self.two.features, self.public_records
        calibration = "published" if method == "output" else "tight"
        if reg_lambda is None:
            if epsilon is None:
                raise InvalidData("reg_lambda is None: the public rule needs an ε. Give reg_lambda or epsilon")
            reg_lambda = public_reg_lambda(X, features, epsilon, self.n, method, calibration)
        drawn = self.two.private_records[self.bootstrap(rng=rng)]
        if method == "output":
            exact = balanced_minimiser(drawn, X, reg_lambda)
            if epsilon is None:
                return exact
            options = {"calibration": calibration, "rng": rng}
            return release_balanced_output(exact, epsilon, reg_lambda, features, self.n, **options)  # type: ignore[arg-type]
        sums = drawn.sum(axis=0)
        noisy = sums if epsilon is None else release_sums(sums, epsilon, features, rng=rng)
        return moment_minimiser(X, noisy / self.n, reg_lambda)

    def shares(self, beta: FloatArray | None = None) -> FloatArray:
        """Return the weights of the public records by β, with sum 1; without β they are equal."""
        X = self.public_records
        return np.full(len(X), 1 / len(X)) if beta is None else softmax(X @ beta)

    def answer(self, beta: FloatArray | None = None) -> float:
        """Return the share of records with the label's last class, by the weights."""
        return float(self.shares(beta) @ self._of_class(self.public_records))

    def _machine(self, X: FloatArray, shares: FloatArray | None = None) -> FloatArray:
        y = self._of_class(X)
        if y.all() or not y.any():
            return np.zeros(X.shape[1] - self._classes)  # one class alone: no machine can be learned
        weights = np.ones(len(X)) if shares is None else shares * self.n
        model = LinearSVC(
            loss="hinge",
            C=1 / (self.machine_penalty * self.n),
            fit_intercept=False,
            dual=True,
            max_iter=3000,
            random_state=0,
        )
        with warnings.catch_warnings():
            # with a few very large weights the machine is far off, and more steps do not change that
            warnings.simplefilter("ignore", ConvergenceWarning)
            model.fit(X[:, : -self._classes], y, sample_weight=weights)
        return np.asarray(model.coef_[0], dtype=float)

    @cached_property
    def machine(self) -> FloatArray:
        """The machine of the private table."""
        return self._machine(self.two.private_records)

    @property
    def norm(self) -> float:
        """The norm of the private table's machine."""
        return float(np.linalg.norm(self.machine))

    def _distance(self, machine: FloatArray) -> float:
        return float(np.linalg.norm(machine - self.machine))

    def distance(self, beta: FloatArray | None = None) -> float:
        """Return the distance of the weighted public table's machine to that of the private table."""
        return self._distance(self._machine(self.public_records, self.shares(beta)))

    def distance_of_bootstrap(self, *, rng: np.random.Generator) -> float:
        """Return the distance of the machine of a bootstrap of the private table."""
        return self._distance(self._machine(self.two.private_records[self.bootstrap(rng=rng)]))

    def distance_of_private_machine(self, epsilon: float, *, rng: np.random.Generator) -> float:
        """Return the distance of a bootstrap's machine with output perturbation (Chaudhuri et al. 2011, Algorithm 1).

        Privacy of the machine: ε for replace-one, at the exact minimiser. The hinge is 1-Lipschitz and a record has
        one 1 for each of A attributes, so one replaced record changes the sum of gradients by at most 2√A. With
        Λ-strongly convex mean losses the minimiser moves by at most 2√A/(NΛ). (The paper takes 2√d/(NΛ).)
        """
        rng = check_rng(rng)
        attributes = len(self.two.schema.features) - 1
        reach = 2 * math.sqrt(attributes) / (self.n * self.machine_penalty)
        exact = self._machine(self.two.private_records[self.bootstrap(rng=rng)])
        return self._distance(NormGamma(epsilon, reach, len(exact)).release(exact, rng=rng))

    def over(self, draw: Callable[[np.random.Generator], float], draws: int, *, seed: int) -> FloatArray:
        """Return the result of each draw, with a generator of its own."""
        return np.array([draw(np.random.default_rng([seed, k])) for k in range(draws)])
