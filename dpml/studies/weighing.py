"""The answers and classifiers of a weighted public table, over draws of the private one (Ji and Elkan 2013, section 6).

Two things are asked of a weighted table: the share of records with the label's last class, and a linear support vector
machine that tells this class from the other attributes. Each draw takes another private table, a bootstrap of the
first, and other noise. For study: it reads the private table.
"""

import math
import warnings
from collections.abc import Callable
from dataclasses import dataclass
from functools import cached_property

import numpy as np
import pandas as pd
from scipy.special import softmax
from sklearn.exceptions import ConvergenceWarning
from sklearn.svm import LinearSVC

from dpml._arrays import BoolArray, FloatArray, IntArray
from dpml._validate import check_choice, check_number, check_rng
from dpml.exceptions import InvalidData
from dpml.mechanisms import NormGamma
from dpml.publishing.density_ratio import balanced_minimiser, moment_minimiser, release_balanced_output, release_sums
from dpml.publishing.importance import public_reg_lambda
from dpml.studies.two_tables import TwoTables

PUBLIC_TABLES = ("same", "skewed", "uniform")
WEIGHINGS = ("output", "moments")
MACHINE_PENALTY = 0.1  # Λ of mean losses, as in the paper's Fig. 3


def public_table(two: TwoTables, kind: str, *, rng: np.random.Generator) -> pd.DataFrame:
    """Return one of the public tables of the paper's Figs. 5 and 6.

    "same" is the private table itself, "skewed" the public one, and "uniform" as many records as that has, drawn from
    all possible ones.
    """
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
    """A public table, weighted for bootstraps of a private one. Not private.

    Attributes
    ----------
    two : TwoTables
    public : DataFrame
        With the schema of `two`.
    machine_penalty : float
        Λ of the machine, which minimises mean hinge loss + Λ/2·‖w‖² over the one-hot columns of all attributes but the
        label. It has no intercept: the columns of an attribute add up to 1.

    Examples
    --------
    >>> from dpml.datasets import load
    >>> from dpml.studies.two_tables import split_by_sex
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

    # ---- the tables -------------------------------------------------------------------------------------------------

    @property
    def n(self) -> int:
        """N."""
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

    # ---- weights ----------------------------------------------------------------------------------------------------

    def weigh(
        self, method: str, epsilon: float | None, reg_lambda: float | None, *, rng: np.random.Generator
    ) -> FloatArray:
        """Return β of one draw: a bootstrap of the private table, and noise; no noise without ε."""
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
        """Return the weights that β gives the public records, which add up to 1; all equal without one."""
        X = self.public_records
        return np.full(len(X), 1 / len(X)) if beta is None else softmax(X @ beta)

    def answer(self, beta: FloatArray | None = None) -> float:
        """Return the share of records with the label's last class, by the weights."""
        return float(self.shares(beta) @ self._of_class(self.public_records))

    # ---- the machine ------------------------------------------------------------------------------------------------

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
            # of a few very large weights; the machine is far off then, and more steps do not change that
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
        """Return how far the machine of the weighted public table is from that of the private one."""
        return self._distance(self._machine(self.public_records, self.shares(beta)))

    def distance_of_bootstrap(self, *, rng: np.random.Generator) -> float:
        """Return how far the machine of a bootstrap of the private table is: that of other people like them."""
        return self._distance(self._machine(self.two.private_records[self.bootstrap(rng=rng)]))

    def distance_of_private_machine(self, epsilon: float, *, rng: np.random.Generator) -> float:
        """Return how far a machine of a bootstrap with noise of its own is (Chaudhuri et al. 2011, Algorithm 1).

        Privacy of what it draws: ε for replace-one, at the exact minimiser. The hinge is 1-Lipschitz and a record has
        one 1 for each of A attributes, so one replaced record changes the sum of gradients by at most 2√A. With
        Λ-strongly convex mean losses the minimiser moves by at most 2√A/(NΛ). (The paper takes 2√d/(NΛ).)
        """
        rng = check_rng(rng)
        attributes = len(self.two.schema.features) - 1
        reach = 2 * math.sqrt(attributes) / (self.n * self.machine_penalty)
        exact = self._machine(self.two.private_records[self.bootstrap(rng=rng)])
        return self._distance(NormGamma(epsilon, reach, len(exact)).release(exact, rng=rng))

    def over(self, draw: Callable[[np.random.Generator], float], draws: int, *, seed: int) -> FloatArray:
        """Return what a function gives for each draw, with a generator for each."""
        return np.array([draw(np.random.default_rng([seed, k])) for k in range(draws)])
