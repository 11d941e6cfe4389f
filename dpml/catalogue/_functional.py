"""Claims of the functional mechanism, and of the linear classifier that chooses its method by public rules."""

from typing import Any

import numpy as np

from dpml.catalogue._linear import fit
from dpml.catalogue._method import Case, Method
from dpml.catalogue._recorded import recorded
from dpml.classifiers import LinearClassifier
from dpml.classifiers.linear.functional import SENSITIVITIES, release_coefficients, taylor_coefficients
from dpml.schema import Schema

FLAT = np.full((1, 4), 0.5)


def _functional(sensitivity: str):
    def case(epsilon: float, relation: str) -> Case:
        options: dict[str, Any] = {"relation": relation, "sensitivity": sensitivity}
        X, codes = np.array([[0.6, 0.8, 0.0, 0.0], [0.0, 0.0, 0.5, 0.5]]), np.array([0, 1])
        if relation == "add-remove":
            pair = (X, codes), (np.vstack([X, FLAT]), np.append(codes, 1))
        else:
            # the worst pair that a numerical search found: nearly orthogonal, all products of coordinates far apart
            a = np.array([[0.653, 0.653, -0.271, -0.271]])
            b = np.array([[0.271, 0.271, 0.653, 0.653]])
            pair = (np.vstack([X, a]), np.append(codes, 1)), (np.vstack([X, b]), np.append(codes, 1))

        def sample(data, draws, rng):
            exact = taylor_coefficients(*data)
            return release_coefficients(exact, epsilon, draws=draws, rng=rng, **options).packed()

        words = "a record of equal coordinates is added, or replaces one that is orthogonal to it"
        return Case.of_release(*pair, sample, one=1, pasts=1, words=words)

    return case


def _functional_fit(epsilon: float, relation: str) -> Case:
    # columns in [-1, 1]; the fit divides them by 2, so that records are in the unit ball
    X, signs = np.array([[1.0, 0.0, 0.0, 0.0], [0.0, 0.0, 1.0, 1.0]]), np.array([-1.0, 1.0])
    end, other = np.ones((1, 4)), np.array([[1.0, 1.0, -1.0, -1.0]])
    before = (X, signs) if relation == "add-remove" else (np.vstack([X, other]), np.append(signs, 1.0))

    def sample(data, draws, rng):
        X, signs = data
        exact = taylor_coefficients(X / 2, (signs > 0).astype(int), n_nonzero=4)
        return release_coefficients(exact, epsilon, relation=relation, n_nonzero=4, draws=draws, rng=rng).packed()

    call = fit("logistic", epsilon, relation, columns=4, method="functional")
    words = "a record of equal coordinates is added, or replaces one that is orthogonal to it"
    pair = before, (np.vstack([X, end]), np.append(signs, 1.0))
    return Case(*pair, call, sample, recorded(call, pasts=1), words=words)


def _leader(method: str):
    def case(epsilon: float, relation: str) -> Case:
        schema = Schema.binary(3, n_lower=1_000)
        X = np.array([[1.0, 0.0, 0.0], [0.0, 1.0, 1.0], [1.0, 1.0, 1.0]])
        data, neighbour = (X[:2], np.array([0, 1])), (X, np.array([0, 1, 1]))
        if relation == "replace-one":
            data = (X, np.array([0, 1, 0]))

        def make(seed):
            facts: dict[str, Any] = {"relation": relation, "schema": schema, "random_state": seed}
            return LinearClassifier(epsilon, method=method, **facts)

        def call(data):
            return make(0).fit(*data)

        def sample(data, draws, rng):
            fits = [make(int(seed)).fit(*data) for seed in rng.integers(2**31, size=draws)]
            return np.array([fit.decision_function(np.eye(3)) for fit in fits])

        words = "a record of all ones is added, or changes its class"
        return Case(data, neighbour, call, sample, recorded(call), draws=200, words=words)

    return case


OURS = "dpml.classifiers.LinearClassifier"
FUNCTIONAL = {"exact": "", "improved": "-improved", "original": "-original"}

METHODS = (
    *(
        Method(
            f"functional{FUNCTIONAL[sensitivity]}",
            "Functional mechanism" + ("" if sensitivity == "exact" else f", {sensitivity} sensitivity"),
            "classifier",
            (
                "dpml.classifiers.linear.functional.release_coefficients",
                "dpml.classifiers.linear.functional.release_integer_coefficients",
                "dpml.classifiers.LogisticRegression[functional]",
            ),
            source,
            "ε for records in the unit ball",
            _functional(sensitivity),
            cost="as claimed" if sensitivity == "exact" else "less than ε: a third or less, for many columns",
        )
        for sensitivity, source in zip(
            SENSITIVITIES,
            (
                "[antonova2016], Appendix B.1 (constants derived here)",
                "[antonova2016], eq. B.7 (FMsens2)",
                "[zhang2012] and [antonova2016], eq. B.2",
            ),
            strict=True,
        )
    ),
    Method(
        "functional-fit",
        "Functional mechanism, fitted to columns with public bounds",
        "classifier",
        ("dpml.classifiers.LogisticRegression[functional]",),
        "[antonova2016], Appendix B.1 (constants derived here)",
        "ε",
        _functional_fit,
    ),
    *(
        Method(
            f"linear-classifier-{method}",
            f"Linear classifier by public rules, {title}",
            "classifier",
            (OURS, f"{OURS}[{method}]"),
            "derived here: public metadata alone chooses the method",
            "ε",
            _leader(method),
        )
        for method, title in (
            ("auto", "which also choose the method"),
            ("naive-bayes", "naive Bayes"),
            ("objective", "objective perturbation"),
        )
    ),
)
