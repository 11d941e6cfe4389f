"""The parts of a case: exact audits of public objects, laws of their draws, and tables.

Exact audits use what the call really handed to the boundary, not a formula for the noise. `recorded` gives the cost of
a whole call as the recorder finds it. The cost is exact for noise with known densities and for choices with known
probabilities. For some mechanisms (one shot, peeling, the joint mechanism, sparse vector, perturbed objectives) the
recorder knows only the bound from a proof. For these, `Enumerated` and others enumerate the outputs or compare
densities, from the statistic and the mechanism that the call handed to the boundary.
"""

from __future__ import annotations

import warnings
from collections.abc import Callable, Sequence
from contextlib import nullcontext
from dataclasses import dataclass, replace
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from dpml._validate import check_choice, check_epsilon
from dpml.audit import AuditResult, LawResult, audit, recorded_cost, recorded_releases
from dpml.audit.cases.typed import Table, check_neighbours
from dpml.audit.exact import check_law, check_noise, needed_delta, smallest_epsilon
from dpml.audit.recorder import recorded_losses, total_epsilon
from dpml.claims import Claim
from dpml.counts import contingency
from dpml.exceptions import DpmlError, FactWarning, InvalidParameter, MissingExtra
from dpml.mechanisms import boundary
from dpml.schema import Schema

Call = Callable[[Any], Any]
CaseMaker = Callable[[float, str], "Case"]
Typed = Callable[[Table, Table, float, str], "Case"]
# with which claims of (ε, δ) are audited
DELTA = 1e-5


class RecordedLoss:
    """The recorder's cost of a public call, for δ = 0."""

    def __init__(self, call: Call, pasts: int = 2):
        self.call, self.pasts = call, pasts

    def privacy_loss(self, data: Any, neighbour: Any) -> float:
        """Return the cost of all releases of the call for these neighbours."""
        return recorded_cost(self.call, data, neighbour, pasts=self.pasts)


class RecordedProfile:
    """The recorder's cost of a public call at one δ: exact for one release and for Gaussian noise, else an upper bound.

    The profile is a step function. The ε of the call at that δ is computed once, and a search over ε finds this value.
    The δ at another ε is `needed_delta`.
    """

    def __init__(self, call: Call, delta: float, pasts: int = 2):
        self.call, self.delta, self.pasts = call, delta, pasts
        self._known: list[tuple[Any, Any, list[boundary.Loss], float]] = []

    def _epsilon(self, loss: boundary.Loss) -> float:
        return total_epsilon(loss, self.delta)

    def _losses(self, data: Any, neighbour: Any) -> tuple[list[boundary.Loss], float]:
        """Return the losses of the call for several pasts, and the ε of the dearest at δ."""
        for one, other, losses, cost in self._known:
            if one is data and other is neighbour:
                return losses, cost
        losses = recorded_losses(self.call, data, neighbour, pasts=self.pasts)
        self._known.append((data, neighbour, losses, max(map(self._epsilon, losses))))
        return self._known[-1][2:]

    def privacy_profile(self, data: Any, neighbour: Any, epsilon: float) -> float:
        """Return δ if ε is at least the cost of the call at δ, else 1."""
        return self.delta if epsilon >= self._losses(data, neighbour)[1] else 1.0

    def needed_delta(self, data: Any, neighbour: Any, epsilon: float) -> float:
        """Return the δ of the call at an ε."""
        return max(needed_delta(loss, epsilon) for loss in self._losses(data, neighbour)[0])


class EvenlyDivided(RecordedProfile):
    """The same with δ divided evenly among the releases whose likelihood ratio is unbounded.

    This is an upper bound too. It is quick where the recorder's search for the best division takes minutes.
    """

    def _epsilon(self, loss: boundary.Loss) -> float:
        if loss.gaussian or loss.sampled:
            raise NotImplementedError("Gaussian releases add up exactly: use RecordedProfile")
        share = self.delta / max(len(loss.profiles), 1)
        return loss.pure + sum(smallest_epsilon(profile, share) for profile in loss.profiles)


def recorded(call: Call, delta: float = 0.0, pasts: int = 2) -> RecordedLoss | RecordedProfile:
    """Return an object for `Case.exact`, which gives the recorder's cost of a public call that has to run."""

    def runs(data: Any) -> Any:
        try:
            return call(data)
        except MissingExtra:
            raise
        except DpmlError as error:  # to the recorder equal refusals are equal results, which cost nothing
            raise RuntimeError(f"the case does not run: {error}") from error

    return RecordedProfile(runs, delta, pasts) if delta else RecordedLoss(runs, pasts)


def drawn(call: Call, data: Any) -> list[tuple[Any, Any]]:
    """Return each (mechanism, exact statistic) that a call hands to the boundary."""
    return [(release.mechanism, release.statistic) for release in recorded_releases(call, data, data)]


class _Found(BaseException):
    """Ends a call at its first release and carries it out. As it is no Exception, no handler on the way catches it."""


class _First:
    """An observer that ends a call at its first release, so that nothing is drawn."""

    def release(self, mechanism: Any, statistic: Any, rng: Any) -> Any:
        raise _Found(mechanism, statistic)

    def public_randomness(self, rng: Any, draw: str, arguments: tuple, size: Any) -> Any:
        return boundary.drawn_by(rng, draw, arguments, size)

    def best_of_runs(self, factor: float) -> Any:
        return nullcontext(nullcontext)


def first_drawn(call: Call, data: Any) -> tuple[Any, Any]:
    """Return the (mechanism, exact statistic) of a call's first release, without drawing noise."""
    try:
        with boundary.observe(_First()):
            call(data)
    except _Found as draw:
        mechanism, statistic = draw.args
        return mechanism, statistic
    raise LookupError("the call released nothing")


class Compared:
    """The cost of a call's only release. Nothing is drawn, so that no sampler has to be installed."""

    def __init__(self, call: Call):
        self.call = call

    def _loss(self, data: Any, neighbour: Any) -> boundary.Loss:
        (one, statistic), (other, other_statistic) = (first_drawn(self.call, side) for side in (data, neighbour))
        return one._compare(statistic, other, other_statistic) if one == other else boundary.EVERYTHING


class ComparedLoss(Compared):
    """The same for δ = 0."""

    def privacy_loss(self, data: Any, neighbour: Any) -> float:
        """Return the largest log ratio."""
        return self._loss(data, neighbour).pure


class ComparedProfile(Compared):
    """The same for the release of one number with δ > 0."""

    def privacy_profile(self, data: Any, neighbour: Any, epsilon: float) -> float:
        """Return the δ of the release at this ε."""
        [profile] = self._loss(data, neighbour).profiles
        return profile(epsilon)


class Enumerated:
    """The probabilities of all outputs, from the statistic and the mechanism of a call's only choice.

    `call`: ``call(data)`` runs the public object. It may draw at random, and then makes one release. `probabilities`:
    ``probabilities(mechanism, statistic)`` returns log probabilities, as an array or as a dict with a key for each
    output. `outputs`: what the places of that array stand for.
    """

    def __init__(self, call: Call, probabilities: Callable[[Any, Any], Any], outputs: Sequence[Any] | None = None):
        self.call, self.probabilities, self.outputs = call, probabilities, outputs

    def log_probabilities(self, data: Any) -> Any:
        """Return the log probability of each output."""
        values = self.probabilities(*first_drawn(self.call, data))
        return values if self.outputs is None else dict(zip(self.outputs, map(float, values), strict=True))


def of_choice(mechanism: Any, statistic: Any) -> Any:
    """Return the log probabilities of one choice by scores. The scores at the boundary are in units of the noise."""
    scores = np.asarray(statistic, dtype=float).reshape(-1)
    # `probabilities` takes scores in their own units, for both kinds of mechanism
    units = mechanism.scale if hasattr(mechanism, "scale") else 1 / mechanism.weight
    with np.errstate(divide="ignore"):
        return np.log(mechanism.probabilities(scores * units))


Law = Callable[[np.random.Generator], LawResult]
# of noise that NumPy draws, of which a million takes some hundredths of a second, and of choices
NOISES, CHOICES = 1_000_000, 100_000


def noise_law(noise: Any, release: Callable[[Any, int, Any], Any], statistic: Any, draws: int = NOISES) -> Law:
    """Return the law of noise on each coordinate of a statistic, and of the same statistic with 0 everywhere.

    ``release(statistic, draws, rng)`` returns that many noisy statistics.
    """

    def law(rng: np.random.Generator) -> LawResult:
        exact = np.asarray(statistic)
        n = draws // (2 * max(exact.size, 1))
        sides = [np.asarray(release(value, n, rng)) - value for value in (exact, np.zeros_like(exact))]
        return check_noise(noise, np.concatenate([side.ravel() for side in sides]))

    return law


def choice_law(draw: Callable[[int, Any], Any], log_probabilities: Callable[[], Any], draws: int = CHOICES) -> Law:
    """Return the law of a choice: ``draw(draws, rng)`` returns outputs, `log_probabilities` a mapping of them all.

    An output is a number or a row of numbers, and a key of the mapping the same as a number or a tuple.
    """

    def law(rng: np.random.Generator) -> LawResult:
        known = {_key(output): float(np.exp(log)) for output, log in log_probabilities().items()}
        seen = dict.fromkeys(known, 0)
        rows, numbers = np.unique(np.asarray(draw(draws, rng)), axis=0, return_counts=True)
        for row, number in zip(rows, numbers, strict=True):
            key = _key(row)
            known.setdefault(key, 0.0)
            seen[key] = int(number)
        return check_law(list(seen.values()), [known[key] for key in seen], draws, list(seen))

    return law


def _key(output: Any) -> tuple[int, ...]:
    return tuple(int(part) for part in np.ravel(output))


def in_the_middle(first: Any, second: Any) -> tuple[Any, Any]:
    """Return two tables (X, y) with their last, differing records moved to the middle of the records in common."""
    common = min(len(first[1]), len(second[1])) - (len(first[1]) == len(second[1]))

    def moved(table: Any) -> Any:
        order = np.arange(len(table[1]))
        order = np.concatenate([order[: common // 2], order[common:], order[common // 2 : common]])
        return tuple(part[order] for part in table)

    return moved(first), moved(second)


@dataclass(frozen=True)
class Case:
    """Two neighbours and a method that runs on them, ready for `audit`.

    The neighbours are the worst ones known, or tables that you typed.

    Attributes
    ----------
    data, neighbour : object
        Two data sets that differ by one record. It is the last record if the method draws public randomness per record.
    call : callable
        ``call(data)`` runs the public object once, including all preprocessing of records before the release.
    sample : callable
        ``sample(data, draws=..., rng=...)`` returns outputs of many runs. It draws them as one batch where the release
        supports batches. One draw of it has the same distribution as a release of `call`.
    exact : object, optional
        Computes the cost of `call` from the releases at the boundary, as `recorded` or `Enumerated` do.
    score : callable, optional
        The attacker's score for these neighbours.
    draws : int
        Number of draws that suffices for the verdict of a sampled audit.
    words : str
        Description of the neighbours.
    seen : str
        Description of the attacker's view, shown for typed neighbours.
    others : tuple of (data, neighbour)
        More neighbours, on which other parts of the claim spend their share of ε. An exact audit returns the largest ε.
    further : tuple of Case
        The same claim with other parameters, such as more columns or quantiles. An exact audit returns the largest ε of
        all cases.
    law : callable, optional
        ``law(rng)`` draws many outputs and tests them against the distribution that the mechanism states. It returns a
        `dpml.audit.LawResult`. An exact audit relies on that statement.

    See Also
    --------
    AuditedClaim : Makes cases and audits them.
    dpml.audit.audit : Audits a mechanism on two neighbours.
    """

    data: Any
    neighbour: Any
    call: Callable[[Any], Any]
    sample: Callable[..., Any]
    exact: Any = None
    score: Callable[[Any], Any] | None = None
    draws: int = 20_000
    words: str = ""
    seen: str = ""
    others: tuple[tuple[Any, Any], ...] = ()
    further: tuple[Case, ...] = ()
    law: Callable[[np.random.Generator], LawResult] | None = None

    @classmethod
    def of_release(
        cls,
        data: Any,
        neighbour: Any,
        release: Callable[..., Any],
        *,
        one: int | None = None,
        exact: Callable[[Any], Any] | None = None,
        delta: float = 0.0,
        pasts: int = 2,
        **more: Any,
    ) -> Case:
        """Return the case of ``release(data, draws, rng)``, which the call runs too, with `one` for the draws.

        ``exact(call)`` is the case's `exact`. With None, it is the recorder's cost of the call at δ.
        """

        def call(data):
            return release(data, one, np.random.default_rng(0))

        return cls(data, neighbour, call, release, exact(call) if exact else recorded(call, delta, pasts), **more)

    @property
    def pairs(self) -> tuple[tuple[Any, Any], ...]:
        """All neighbours of the case."""
        return ((self.data, self.neighbour), *self.others)

    @property
    def all_cases(self) -> tuple[Case, ...]:
        """The case and its further ones."""
        return (self, *self.further)


@dataclass(frozen=True)
class AuditedClaim(Claim):
    """A claim with the neighbours on which it is checked: a `Claim` with two more fields.

    Attributes
    ----------
    case : callable
        ``case(epsilon, relation)`` returns a `Case` for a claim of ε.
    typed : callable, optional
        ``typed(data, neighbour, epsilon, relation)`` returns a `Case` of the method on two small binary tables that you
        typed (see `read_neighbours`). None for a method that does not run on such tables. `case_on` also checks the
        tables.

    See Also
    --------
    Case : Stores the neighbours of an audit.
    dpml.claims.Claim : Lists the other fields.
    """

    case: Callable[[float, str], Case] = None  # type: ignore[assignment]
    typed: Typed | None = None

    def case_on(self, data: Any, neighbour: Any, epsilon: float = 1.0, relation: str = "add-remove") -> Case:
        """Return the case of the method on two small tables of your own.

        Parameters
        ----------
        data, neighbour : tuple of (X, codes)
            Binary tables of two classes, neighbours under the relation.
        epsilon : float, default=1.0
            The claimed ε.
        relation : str, default="add-remove"
            One of `relations`.

        Returns
        -------
        Case
            The neighbours and the method.

        Raises
        ------
        InvalidParameter
            If the tables are not neighbours, or the method does not run on such tables.

        Examples
        --------
        >>> from dpml.audit.cases import AUDITED, read_neighbours
        >>> AUDITED["mask-count"].case_on(*read_neighbours("nab.nb.yc", "yab")).seen
        'two features, chosen by the count heuristic'
        """
        epsilon = check_epsilon(epsilon)
        check_choice(relation, "relation", self.relations)
        if self.typed is None:
            raise InvalidParameter("name", self.name, "a claim that is audited on small binary tables: `typed` is set")
        return self.typed(*check_neighbours(data, neighbour, relation), epsilon, relation)

    def audit(
        self,
        epsilon: float = 1.0,
        relation: str = "add-remove",
        *,
        tables: tuple[Table, Table] | None = None,
        sampled: bool = False,
        draws: int | None = None,
        rng: np.random.Generator | None = None,
        confidence: float = 0.95,
    ) -> AuditResult:
        """Audit the claim of ε on two neighbours, exactly where that is possible and otherwise from samples.

        Parameters
        ----------
        epsilon : float, default=1.0
            The claimed ε.
        relation : str, default="add-remove"
            One of `relations`.
        tables : tuple of two (X, codes), optional
            The neighbours, in the form of `case_on`. By default, the worst known neighbours.
        sampled : bool, default=False
            Whether to audit from samples even where an exact audit is possible.
        draws : int, optional
            Number of samples. By default, the number that the case states.
        rng : numpy.random.Generator, optional
            Source of the noise. An audit from samples needs it.
        confidence : float, default=0.95
            Probability, in (0, 1), with which a sampled bound holds.

        Returns
        -------
        AuditResult
            The result against the claim, not against `true_epsilon`. An entry that is marked as not private should fail
            on its worst neighbours.

        Raises
        ------
        InvalidParameter
            If an audit from samples has no `rng`.

        Examples
        --------
        >>> from dpml.audit.cases import AUDITED, read_neighbours
        >>> AUDITED["private-threshold-testing"].audit(1.0, tables=read_neighbours("nab.nb.yc.yac", "yab"))
        <audit FAILED: claim ε = 1, true ε = inf (exactly)>
        """
        epsilon = check_epsilon(epsilon)
        check_choice(relation, "relation", self.relations)
        with warnings.catch_warnings():
            # neighbours to audit with are few records, and some of them are odd on purpose
            warnings.simplefilter("ignore", FactWarning)
            case = self.case(epsilon, relation) if tables is None else self.case_on(*tables, epsilon, relation)
            if case.exact is not None and not sampled:
                results = [
                    audit(one.exact, *pair, epsilon, delta=self.delta) for one in case.all_cases for pair in one.pairs
                ]
                dearest = max(results, key=lambda result: result.epsilon_lower)
                needed = [result.delta_lower for result in results if result.delta_lower is not None]
                return replace(dearest, delta_lower=max(needed, default=None))
            if rng is None:
                raise InvalidParameter("rng", rng, "a numpy.random.Generator for an audit from draws")
            return audit(
                case.sample,
                case.data,
                case.neighbour,
                epsilon,
                delta=self.delta,
                draws=draws or case.draws,
                rng=rng,
                score=case.score,
                confidence=confidence,
            )

    def check_laws(
        self, epsilon: float = 1.0, relation: str = "add-remove", *, rng: np.random.Generator
    ) -> tuple[LawResult, ...]:
        """Test noise samples against the distributions that the exact audit of a claim relies on.

        Parameters
        ----------
        epsilon : float, default=1.0
            The claimed ε.
        relation : str, default="add-remove"
            One of `relations`.
        rng : numpy.random.Generator
            Source of the noise in a simulation. Secure noise has no seed.

        Returns
        -------
        tuple of LawResult
            One result for each case that has a law. Empty if none has.

        Examples
        --------
        >>> from dpml.audit.cases import AUDITED
        >>> [law.passed for law in AUDITED["laplace"].check_laws(rng=np.random.default_rng(0))]
        [True]
        """
        epsilon = check_epsilon(epsilon)
        check_choice(relation, "relation", self.relations)
        with warnings.catch_warnings():
            warnings.simplefilter("ignore", FactWarning)
            return tuple(one.law(rng) for one in self.case(epsilon, relation).all_cases if one.law is not None)


def table_from_rows(rows: list[tuple[list[int], int]], D: int) -> tuple[NDArray[np.float64], NDArray[np.intp]]:
    """Return (X, codes) from a list of records, each given as (positions of its ones, class)."""
    X = np.zeros((len(rows), D))
    for i, (ones, _) in enumerate(rows):
        X[i, ones] = 1.0
    return X, np.array([c for _, c in rows], dtype=np.intp)


def neighbouring_tables(kind: str, relation: str, weight: float) -> tuple[Any, Any]:
    """Return neighbouring tables of four features where the set {2, 3} has all but e^-40 of the probability.

    One record then changes the probability of the set {0, 1} as much as it can, while the normalising sum hardly
    changes. `weight` is the log weight of one unit of score.
    """
    many = int(np.ceil(60.0 / weight)) if kind != "mutual_information" else 200
    base = [([2, 3], 1)] * many + ([([], 0)] * many if kind != "total_count" else [])
    if kind == "difference_count":
        # the record raises the difference counts of features 0 and 1, and lowers those of 2 and 3
        base += [([0, 1], 0)] * 4
        before, after = [], [([0, 1, 2, 3], 0)]
        if relation == "replace-one":
            before, after = [([0, 1, 2, 3], 1)], [([0, 1, 2, 3], 0)]
    elif kind == "total_count":
        before, after = [], [([0, 1], 1)]
        if relation == "replace-one":
            before, after = [([2, 3], 1)], [([0, 1], 1)]
    else:
        # the record follows the trend of features 0 and 1, and contradicts that of 2 and 3
        base += [([0, 1], 0)] * 4 + [([2, 3], 1)] * 4
        before, after = [], [([0, 1, 2, 3], 0)]
        if relation == "replace-one":
            before, after = [([0, 1, 2, 3], 1)], [([0, 1, 2, 3], 0)]
    return table_from_rows(base + before, 4), table_from_rows(base + after, 4)


def balanced_tables(relation: str) -> tuple[Any, Any]:
    """Return neighbouring tables of four features with equal counts, two of which one record raises and two lowers."""
    base = [([0, 1], 0)] * 4 + [([2, 3], 1)] * 4
    before = [([0, 1, 2, 3], 1)] if relation == "replace-one" else []
    return table_from_rows(base + before, 4), table_from_rows([*base, ([0, 1, 2, 3], 0)], 4)


# so many sets of features are counted one by one
FEW = 100


def fitted(make: Any, schema: Schema, probabilities: Any = None, masks: Any = None) -> tuple[Any, Any, Any]:
    """Return call, sample and exact of a selector. ``make(seed)`` makes it.

    `sample` draws from one table's counts, as a fit does once; `exact` enumerates what the fit handed to the boundary,
    `masks` in the order of their `probabilities`.
    """

    def call(data):
        return make(0).fit(*data).get_support()

    def sample(data, draws, rng):
        drawn = make(None).masks(contingency(*data, 2), schema, draws=draws, rng=rng)
        return drawn @ (1 << np.arange(schema.n_features))

    return call, sample, Enumerated(call, probabilities, masks) if probabilities else recorded(call)


def spread_table(unit: float, n_features: int) -> Any:
    """Return a table whose features have 0, 1, 2, ... times so many ones: each set may be chosen."""
    ones = np.ceil(0.8 * unit * np.minimum(np.arange(n_features), 4))
    X = (np.arange(ones.max())[:, None] < ones).astype(float)
    return X, np.zeros(len(X), dtype=int)


def mask_law(sides: tuple[Any, Any, Any], data: Any) -> Any:
    """Return the law of the features that a selector keeps, which the exact audit enumerates: how often each is kept.

    Of few sets each one is counted too.
    """
    _, sample, exact = sides

    def law(rng: np.random.Generator) -> LawResult:
        chances = {mask: float(np.exp(log)) for mask, log in exact.log_probabilities(data).items()}
        masks = np.array(list(chances))
        powers = 1 << np.arange(masks.shape[1])
        kept = sample(data, CHOICES, rng)
        counts = [int((kept & power > 0).sum()) for power in powers]
        each = masks.T @ np.array(list(chances.values()))
        names = [f"feature {i} is kept" for i in range(len(powers))]
        if len(masks) <= FEW:
            codes = masks @ powers
            counts += [int((kept == code).sum()) for code in codes]
            each, names = np.append(each, list(chances.values())), names + [f"the set {code:b}" for code in codes]
        return check_law(counts, each, CHOICES, names)

    return law


# ---- cases on two small tables that a person typed -------------------------------------------------------------------

Sides = tuple[Callable[[Table], Any], Callable[..., Any], Any]


class Public(NamedTuple):
    """Facts that two typed neighbours share: ε, the relation, features, and a lower bound on the number of records."""

    epsilon: float
    relation: str
    d: int
    n: int


def typed_case(sides: Callable[[Public], Sides], seen: str) -> Typed:
    """Return a maker of cases from ``sides(public)``, the call, the batch path and the exact audit of a method."""

    def case(data: Table, neighbour: Table, epsilon: float, relation: str) -> Case:
        public = Public(epsilon, relation, data[0].shape[1], min(len(data[1]), len(neighbour[1])))
        return Case(data, neighbour, *sides(public), words="typed records", seen=seen)

    return case
