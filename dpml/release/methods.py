"""The classifier of a plan, given by name, class or estimator, and its entries in the catalogue."""

import inspect
from typing import Any

from sklearn.base import BaseEstimator, clone

import dpml.classifiers
from dpml.claims import Claim, claims_of
from dpml.estimators import spending_steps
from dpml.exceptions import DpmlError, InvalidParameter, NoSecureSampler, NotPrivate, RelationMismatch
from dpml.registry import METHODS, claim, claims, of_family, standing


def offered() -> tuple[str, ...]:
    """Return the keys of the registered classifiers whose claims hold."""
    return tuple(entry.key for entry in of_family("classifier") if entry.target and standing(entry.key).holds)


def method_named(method: Any) -> tuple[str, BaseEstimator | None]:
    """Return the name and an estimator of a method, or None in its place for an entry that is not private.

    A method is a key of `dpml.registry`, a class of `dpml.classifiers` or its name, a name in the catalogue, or an
    estimator that is not fitted.
    """
    if isinstance(method, str):
        own = METHODS["classifier"].get(method)
        if own is not None and own.target:
            wrong = [name for name in (*own.claims, *own.numeric_claims) if not claim(name).private]
            # `method_problems` states the objection
            return (wrong[0], None) if wrong else (own.kind.__name__, own.make(1.0))
        if method in dpml.classifiers.__all__:
            return method, getattr(dpml.classifiers, method)(1.0)
        if method in claims():
            return method, _of_entry(claim(method))
        raise InvalidParameter(
            "method",
            method,
            f"one of {', '.join(offered())}, one of {', '.join(dpml.classifiers.__all__)}, or a classifier in the "
            "catalogue",
        )
    if inspect.isclass(method) and issubclass(method, BaseEstimator):
        parameters = inspect.signature(method).parameters
        if "epsilon" not in parameters:
            raise NotPrivate(f"{method.__name__} has no parameter epsilon, so its privacy loss is unbounded")
        kind: Any = method
        try:
            return kind.__name__, kind(epsilon=1.0)
        except TypeError:
            allowed = "a class whose only required parameter is epsilon. Pass an estimator instead"
            raise InvalidParameter("method", kind.__name__, allowed) from None
    if isinstance(method, BaseEstimator):
        if "epsilon" not in method.get_params(deep=False):
            raise NotPrivate(f"{type(method).__name__} has no parameter epsilon, so its privacy loss is unbounded")
        return type(method).__name__, clone(method)
    raise InvalidParameter("method", method, "'auto', the name of a classifier, its class or an estimator")


def _of_entry(entry: Claim) -> BaseEstimator | None:
    """Return the classifier of an entry, or None if it is marked as not private."""
    if not entry.private:
        return None
    estimator = _classifier_of(entry)
    if estimator is None:
        raise InvalidParameter("method", entry.name, "a classifier of the catalogue")
    alike = [other for other in claims().values() if other.private and _classifier_of(other) == estimator]
    # variants such as -clip and -release are the same classifier; any others differ in options that no entry states
    if any(not other.name.startswith(entry.name) and not entry.name.startswith(other.name) for other in alike):
        raise InvalidParameter("method", entry.name, f"passed as an estimator, {estimator[0]}(...), with its options")
    kind, options = estimator
    return getattr(dpml.classifiers, kind)(1.0, **dict(options))


def _classifier_of(entry: Claim) -> tuple[str, tuple[tuple[str, Any], ...]] | None:
    """Return the class and the options that a claim is about, or None if it is about no public classifier."""
    kind = entry.target.rpartition(".")[2]
    if not entry.target.startswith("dpml.classifiers.") or kind not in dpml.classifiers.__all__:
        return None
    return kind, tuple(sorted(entry.options.items()))


def source_of(kind: type) -> str:
    """Return the source of a class as the catalogue cites it."""
    own = claims_of(kind)
    return own[0].citation if own else "not in the catalogue"


def method_problems(name: str, model: BaseEstimator | None, relation: str, secure: bool) -> list[DpmlError]:
    """Return the objections of the catalogue to a method."""
    choose = "Choose a method whose claim holds, for example 'auto'"
    if model is None:
        entry = claim(name)
        return [NotPrivate(f"{name} ({entry.title}) is marked private = False in the catalogue. {choose}")]
    if getattr(model, "private", True) is False:
        return [NotPrivate(f"{name} is marked private = False. {choose}")]
    try:
        spending_steps(model)
    except DpmlError as error:
        return [NotPrivate(f"{error}. {choose}")]
    own = claims_of(type(model))
    held = [value for value in model.get_params(deep=True).values() if isinstance(value, BaseEstimator)]
    unknown = [type(part).__name__ for part in (model, *held) if not claims_of(type(part))]
    if secure and unknown:
        return [NotPrivate(f"{unknown[0]} is not in the catalogue, so its ε is not verified. {choose}")]
    if own and not any(relation in entry.relations for entry in own if entry.private):
        offered = ", ".join(sorted({each for entry in own for each in entry.relations}))
        return [RelationMismatch(f"{name} has no claim under {relation}. Choose the relation {offered}")]
    return []


def set_up(model: Any, **facts: Any) -> Any:
    """Return a copy of an estimator with those of the facts that are its parameters."""
    copy = clone(model)
    known = copy.get_params(deep=False)
    return copy.set_params(**{name: value for name, value in facts.items() if name in known})


def advised(error: DpmlError, method: str) -> DpmlError:
    """Return the error of a method, with a recommended action if it has no secure sampler."""
    if isinstance(error, NoSecureSampler):
        return NoSecureSampler(
            f"{method}: {error}. Choose a method that has one, for example 'auto', or simulate: secure=False"
        )
    return error
