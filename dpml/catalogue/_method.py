"""An entry of the catalogue: the claim of one method, and its audit."""

from __future__ import annotations

import warnings
from collections.abc import Callable
from dataclasses import dataclass, field, replace
from typing import Any

import numpy as np
from numpy.typing import NDArray

from dpml._validate import check_choice, check_epsilon
from dpml.auditing import AuditResult, LawResult, audit
from dpml.catalogue._recorded import recorded
from dpml.catalogue._references import named
from dpml.catalogue.editable import Table, check_neighbours
from dpml.exceptions import FactWarning, InvalidParameter


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
        Computes the cost of `call` from the releases at the boundary: see `dpml.catalogue._recorded`.
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
        `dpml.auditing.LawResult`. An exact audit relies on that statement.

    See Also
    --------
    Method : Makes cases and audits them.
    dpml.auditing.audit : Audits a mechanism on two neighbours.
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
class Method:
    """One method with one claim.

    Attributes
    ----------
    name : str
        Key in the catalogue.
    title : str
        Title for display.
    family : {"mechanism", "selection", "classifier", "evaluation", "publishing"}
        Family of the method.
    covers : tuple of str
        The public objects that this claim is about, as ``module.name`` or ``module.name[option]``.
    source : str
        The paper and the place in it, or the basis of the derivation. A paper is a key in brackets:
        "[stoddard2014], Algorithm 2". `citation` replaces the key by the paper's name.
    claim : str
        The claim of the source.
    relations : tuple of str
        Neighbouring relations for which the claim is made.
    delta : float
        The δ with which `case` sets up the method, 0 for pure differential privacy.
    case : callable
        ``case(epsilon, relation)`` returns a `Case` for a claim of ε.
    private : bool
        Whether the cost that `true_epsilon` returns holds for every data set.
    cost : str
        Description of the actual ε.
    true_epsilon : callable
        ``true_epsilon(epsilon)`` returns the actual ε of a claim of ε, infinity if there is none.
    editable : callable, optional
        ``editable(data, neighbour, epsilon, relation)`` returns a `Case` of the method on two small binary tables that
        you typed (see `read_neighbours`). None for a method that does not run on such tables. `case_on` also checks the
        tables.

    See Also
    --------
    Case : Stores the neighbours of an audit.
    method : Returns the entry of a name.
    register : Adds an entry.
    """

    name: str
    title: str
    family: str
    covers: tuple[str, ...]
    source: str
    claim: str
    case: Callable[[float, str], Case]
    private: bool = True
    cost: str = "as claimed"
    true_epsilon: Callable[[float], float] = field(default=float)
    relations: tuple[str, ...] = ("add-remove", "replace-one")
    delta: float = 0.0
    editable: Callable[[Table, Table, float, str], Case] | None = None

    @property
    def citation(self) -> str:
        """The source with the name of each paper instead of its key."""
        return named(self.source)

    def holds(self, epsilon: float = 1.0) -> bool:
        """Return True if the actual ε of a claim is at most the claimed ε, according to the catalogue.

        Parameters
        ----------
        epsilon : float, default=1.0
            The claimed ε.

        Returns
        -------
        bool
            Whether the claim holds.

        Examples
        --------
        >>> from dpml.catalogue import method
        >>> method("laplace").holds(), method("noisy-cut").holds()
        (True, False)
        """
        return self.private and self.true_epsilon(epsilon) <= epsilon

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
        >>> from dpml.catalogue import method, read_neighbours
        >>> method("mask-count").case_on(*read_neighbours("nab.nb.yc", "yab")).seen
        'two features, chosen by the count heuristic'
        """
        epsilon = check_epsilon(epsilon)
        check_choice(relation, "relation", self.relations)
        if self.editable is None:
            raise InvalidParameter("name", self.name, "a method that runs on small binary tables: `editable` is set")
        return self.editable(*check_neighbours(data, neighbour, relation), epsilon, relation)

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
        >>> from dpml.catalogue import method, read_neighbours
        >>> method("private-threshold-testing").audit(1.0, tables=read_neighbours("nab.nb.yc.yac", "yab"))
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
        >>> from dpml.catalogue import method
        >>> [law.passed for law in method("laplace").check_laws(rng=np.random.default_rng(0))]
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
