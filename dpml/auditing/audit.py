"""Audits: the true privacy cost of a mechanism on two neighbours, exact where it is known and otherwise from draws.

For neighbours D and D', an (ε, δ)-differentially private mechanism satisfies P(E | D) <= e^ε P(E | D') + δ for every
event E, in both directions (Antonova 2016, eq. 2.1 and 2.5). An exact audit computes the largest ratio over outputs. A
sampled audit plays the attacker. It chooses an event on one half of the draws, counts it on the other half, and turns
the two counts into a lower bound on ε by Clopper-Pearson intervals. It therefore refutes a true claim with probability
at most 1 - confidence.
"""

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import Any, Protocol, runtime_checkable

import numpy as np

from dpml._arrays import FloatArray
from dpml._validate import check_epsilon, check_integer, check_number, check_rng
from dpml.auditing.attack import attack_outputs
from dpml.auditing.attacker import Score
from dpml.exceptions import InvalidParameter

# An exact audit tolerates rounding errors of this size.
TOLERANCE = 1e-9


@runtime_checkable
class HasPrivacyLoss(Protocol):
    """Interface of a mechanism that computes the largest log density ratio between two data sets.

    See Also
    --------
    HasPrivacyProfile : Computes δ at every ε.
    HasProbabilities : Computes the probability of every output.
    audit : Uses these interfaces for an exact audit.
    """

    def privacy_loss(self, data: Any, neighbour: Any) -> float:
        """Return the supremum over outputs of the absolute log density ratio.

        Parameters
        ----------
        data, neighbour : object
            Two neighbouring data sets.

        Returns
        -------
        float
            Supremum of |log p(output | data) - log p(output | neighbour)|.
        """
        ...


@runtime_checkable
class HasProbabilities(Protocol):
    """Interface of a mechanism with finitely many outputs whose probabilities are known.

    See Also
    --------
    HasPrivacyLoss : Computes the largest log density ratio.
    HasPrivacyProfile : Computes δ at every ε.
    audit : Uses these interfaces for an exact audit.
    """

    def log_probabilities(self, data: Any) -> Mapping[Any, float] | FloatArray:
        """Return the log probability of each output.

        Parameters
        ----------
        data : object
            A data set.

        Returns
        -------
        mapping or ndarray
            Log probability by output, or in a fixed order of outputs.
        """
        ...


@runtime_checkable
class HasPrivacyProfile(Protocol):
    """Interface of a mechanism that computes its δ at every ε.

    See Also
    --------
    HasPrivacyLoss : Computes the largest log density ratio.
    HasProbabilities : Computes the probability of every output.
    audit : Uses these interfaces for an exact audit.
    """

    def privacy_profile(self, data: Any, neighbour: Any, epsilon: float) -> float:
        """Return the smallest δ for which the two data sets are (ε, δ)-indistinguishable, in both directions.

        A profile that is exact at one δ alone may add ``needed_delta(data, neighbour, epsilon)``, the δ at any ε.

        Parameters
        ----------
        data, neighbour : object
            Two neighbouring data sets.
        epsilon : float
            The ε at which δ is computed.

        Returns
        -------
        float
            The smallest δ.
        """
        ...


@dataclass(frozen=True)
class AuditResult:
    """Result of an audit.

    Attributes
    ----------
    epsilon : float
        The claimed ε.
    delta : float
        The claimed δ.
    epsilon_lower : float
        The actual ε of these neighbours if `exact`, else a lower bound on it.
    exact : bool
        Whether `epsilon_lower` was computed from the distributions and not from sampled outputs.
    passed : bool
        Whether the claim holds on these neighbours: `epsilon_lower` does not exceed `epsilon`.
    confidence : float
        Probability with which a sampled bound is a correct lower bound. It is 1 if exact.
    draws : int
        Number of outputs of each of the two data sets. It is 0 if exact.
    event : str
        Description of the event that separates the two data sets best.
    delta_lower : float or None
        The δ that these neighbours need at the claimed ε if `exact`, else a lower bound on it. None where only the
        largest log ratio is known. The claim holds where it does not exceed `delta`.
    fpr, tpr : ndarray or None
        The attacker's ROC curve on the held-out outputs: the probability of the verdict "data" if the output came from
        the neighbour (fpr) and from the data (tpr). A claim of ε bounds it by tpr <= e^ε fpr + δ and
        1 - fpr <= e^ε (1 - tpr) + δ.

    See Also
    --------
    audit : Audits a mechanism on two neighbours.
    audit_outputs : Audits given outputs.

    Notes
    -----
    Privacy: ε = none, the result is not private. δ = 0. Relation: that of the claim. Sensitivity: not bounded.

    The result is computed from known data. It is not a release.
    """

    epsilon: float
    delta: float
    epsilon_lower: float
    exact: bool
    passed: bool
    confidence: float = 1.0
    draws: int = 0
    event: str = ""
    fpr: FloatArray | None = None
    tpr: FloatArray | None = None
    delta_lower: float | None = None

    def __repr__(self) -> str:
        how = "exactly" if self.exact else f"at least, {self.confidence:.0%} confidence, {self.draws:,} draws"
        verdict = "passed" if self.passed else "FAILED"
        claim, needed = f"ε = {self.epsilon:g}", ""
        if self.delta:
            claim += f" and δ = {self.delta:g}"
            needed = "" if self.delta_lower is None else f", δ = {self.delta_lower:.3g} at the claimed ε"
        return f"<audit {verdict}: claim {claim}, true ε = {self.epsilon_lower:.6g}{needed} ({how})>"


def audit(
    mechanism: Any,
    data: Any,
    neighbour: Any,
    epsilon: float,
    *,
    delta: float = 0.0,
    draws: int = 20_000,
    confidence: float = 0.95,
    rng: np.random.Generator | None = None,
    score: Score | None = None,
) -> AuditResult:
    """Measure the privacy cost of a mechanism on two neighbouring data sets, and compare it with the claim.

    Parameters
    ----------
    mechanism : object or callable
        An object with a method ``privacy_loss(data, neighbour)``, ``privacy_profile(data, neighbour, epsilon)`` or
        ``log_probabilities(data)``, from which the actual ε is computed. Otherwise a callable: ``mechanism(data,
        draws=..., rng=...)`` returns that many outputs, and ε is bounded from them.
    data, neighbour : object
        Two data sets that differ by one record, in the form that the mechanism takes.
    epsilon : float
        The claimed ε, finite and > 0.
    delta : float, default=0.0
        The claimed δ, in [0, 1).
    draws : int, default=20000
        Number of outputs of each data set. Half of them choose the event and half test it. An exact audit ignores it.
    confidence : float, default=0.95
        Probability, in (0, 1), with which the lower bound holds.
    rng : numpy.random.Generator, optional
        Source of the noise. A sampled audit needs it.
    score : callable, optional
        The attacker's score of an array of outputs, larger where `data` is likelier. By default, several scores are
        tried on the first half of the outputs.

    Returns
    -------
    AuditResult
        The actual ε, or a lower bound on it, beside the claim.

    Raises
    ------
    InvalidParameter
        If the claim is not valid, or a sampled audit has no `rng`.

    See Also
    --------
    audit_outputs : Audits given outputs.
    search : Searches for neighbours that violate a claim.
    recorded_cost : Computes the privacy loss of a whole call.

    Notes
    -----
    Privacy: ε = none, the result is not private. δ = 0. Relation: that of the claim. Sensitivity: not bounded.

    The result is computed from known data. It is not a release.

    See Antonova (2016), section 2.1 (eq. 2.3 to 2.7: the bound on an attacker's errors). One pair of neighbours can
    refute a claim, but cannot prove one.

    Examples
    --------
    >>> from dpml.mechanisms import ExponentialMechanism
    >>> class Choice(ExponentialMechanism):
    ...     def log_probabilities(self, data):
    ...         return np.log(self.probabilities(data))
    >>> audit(Choice(1.0, change_range=1.0), [0, 5], [1, 5], epsilon=1.0).passed
    True
    """
    epsilon = check_epsilon(epsilon)
    delta = check_number(delta, "delta", 0.0, 1.0, open_upper=True)
    needed = None
    if isinstance(mechanism, HasPrivacyLoss):
        if delta:
            raise InvalidParameter("delta", delta, "0 for a mechanism that gives its largest log ratio")
        worst, event = float(mechanism.privacy_loss(data, neighbour)), "largest log density ratio"
    elif isinstance(mechanism, HasPrivacyProfile):
        event = f"smallest ε at δ = {delta:g}"
        worst = smallest_epsilon(lambda e: mechanism.privacy_profile(data, neighbour, e), delta)
        needed = getattr(mechanism, "needed_delta", mechanism.privacy_profile)(data, neighbour, epsilon)
    elif isinstance(mechanism, HasProbabilities):
        sides = mechanism.log_probabilities(data), mechanism.log_probabilities(neighbour)
        worst, event = exact_epsilon(*sides, delta=delta)
        needed = hockey_stick(*sides, epsilon)
    else:
        draws = check_integer(draws, "draws", 4)
        rng = check_rng(rng)
        first = mechanism(data, draws=draws, rng=rng)
        second = mechanism(neighbour, draws=draws, rng=rng)
        return audit_outputs(first, second, epsilon, delta=delta, confidence=confidence, score=score)
    return AuditResult(epsilon, delta, worst, True, worst <= epsilon + TOLERANCE, event=event, delta_lower=needed)


def log_probability_pairs(first: Any, second: Any) -> tuple[FloatArray, FloatArray, list]:
    """Return both sides' log probabilities as arrays over the same outputs, and the outputs."""
    if isinstance(first, Mapping):
        keys = list(dict.fromkeys([*first, *second]))
        sides = [np.array([side.get(k, -np.inf) for k in keys], dtype=float) for side in (first, second)]
        return sides[0], sides[1], keys
    p, q = np.asarray(first, float).ravel(), np.asarray(second, float).ravel()
    if p.shape != q.shape:
        raise InvalidParameter("log_probabilities", f"{p.size} and {q.size} outputs", "the same outputs for both")
    return p, q, list(range(p.size))


def hockey_stick(first: Any, second: Any, epsilon: float) -> float:
    """Return the smallest δ for which two output distributions are indistinguishable at an ε.

    The δ holds in both directions.

    Parameters
    ----------
    first, second : mapping of output to log probability, or array-like
        Log probabilities of the outputs from either data set. A missing output cannot occur. The positions of an array
        are the outputs 0, 1, 2, ...
    epsilon : float
        The ε at which δ is computed.

    Returns
    -------
    float
        The hockey-stick divergence, the larger one of the two directions.

    See Also
    --------
    exact_epsilon : Computes the smallest ε at a δ.
    outcome_probabilities : Lists the probabilities of each output.

    Notes
    -----
    Privacy: no data is read.
    """
    p, q, _ = log_probability_pairs(first, second)
    p, q = np.exp(p), np.exp(q)
    bound = np.exp(epsilon)
    return float(max(np.maximum(p - bound * q, 0).sum(), np.maximum(q - bound * p, 0).sum()))


def exact_epsilon(first: Any, second: Any, *, delta: float = 0.0) -> tuple[float, str]:
    """Return the smallest ε of two known output distributions, and the output that attains it.

    Parameters
    ----------
    first, second : mapping of output to log probability, or array-like
        Log probabilities of the outputs from either data set. A missing output cannot occur. The positions of an array
        are the outputs 0, 1, 2, ...
    delta : float, default=0.0
        The δ at which ε is computed. With 0, the result is the largest log ratio, which is infinite if an output is
        possible on one side only.

    Returns
    -------
    epsilon : float
        The smallest ε.
    event : str
        Description of the output with the largest log ratio.

    See Also
    --------
    hockey_stick : Computes the smallest δ at an ε.
    outcome_probabilities : Lists the probabilities of each output.

    Examples
    --------
    >>> exact_epsilon({"a": np.log(0.5), "b": np.log(0.5)}, {"a": 0.0})
    (inf, "output 'b'")
    """
    p, q, outputs = log_probability_pairs(first, second)
    with np.errstate(invalid="ignore"):
        loss = np.where((p == -np.inf) & (q == -np.inf), 0.0, np.abs(p - q))
    worst = int(loss.argmax())
    event = f"output {outputs[worst]!r}"
    if delta == 0.0:
        return float(loss[worst]), event
    return smallest_epsilon(lambda e: hockey_stick(p, q, e), delta), event


def smallest_epsilon(profile: Callable[[float], float], delta: float) -> float:
    """Return the smallest ε >= 0 at which a falling privacy profile is at most δ, infinity if it exceeds 700."""
    if profile(0.0) <= delta:
        return 0.0
    if profile(700.0) > delta:
        return np.inf
    low, high = 0.0, 700.0
    while high - low > 1e-12 * max(high, 1.0):
        middle = (low + high) / 2
        low, high = (middle, high) if profile(middle) > delta else (low, middle)
    return high


def audit_outputs(
    outputs: Any,
    neighbour_outputs: Any,
    epsilon: float,
    *,
    delta: float = 0.0,
    confidence: float = 0.95,
    score: Score | None = None,
) -> AuditResult:
    """Bound ε from given outputs, the same number from the data and from the neighbour.

    The first half of each set of outputs chooses the attacker's score and event. The second half counts the event
    once, so the bound needs no correction for the search.

    Parameters
    ----------
    outputs, neighbour_outputs : array-like
        Outputs of a mechanism from the data and from the neighbour. Both have the same length, at least 4.
    epsilon : float
        The claimed ε, finite and > 0.
    delta : float, default=0.0
        The claimed δ, in [0, 1).
    confidence : float, default=0.95
        Probability, in (0, 1), with which the lower bound holds.
    score : callable, optional
        The attacker's score of an array of outputs, larger where the data are likelier. By default, several scores are
        tried on the first half.

    Returns
    -------
    AuditResult
        The lower bound on ε beside the claim.

    See Also
    --------
    audit : Draws the outputs itself.
    attack_outputs : Returns the attack without a claim.

    Notes
    -----
    Privacy: ε = none, the result is not private. δ = 0. Relation: that of the claim. Sensitivity: not bounded.

    The result is computed from known data. It is not a release.
    """
    epsilon = check_epsilon(epsilon)
    attack = attack_outputs(outputs, neighbour_outputs, delta=delta, confidence=confidence, score=score)
    lower, (fpr, tpr), needed = attack.epsilon_lower, attack.roc, attack.delta_lower(epsilon)
    return AuditResult(
        epsilon,
        attack.delta,
        lower,
        False,
        lower <= epsilon,
        attack.confidence,
        len(np.asarray(outputs)),
        str(attack),
        fpr,
        tpr,
        needed,
    )
