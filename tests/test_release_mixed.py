"""Release mode of MixedNB: what is released, and data that cannot make it fail."""

import math
from decimal import Decimal
from fractions import Fraction

import numpy as np
import pandas as pd
import pytest
from hypothesis import given
from hypothesis import strategies as st
from mixed_tables import SCHEMA, model, table
from private_values import Hostile

import dpml.counts
from dpml.classifiers.naive_bayes.cells import cell_counts, entry_bounds, models_from_cells
from dpml.classifiers.naive_bayes.columns import Design
from dpml.classifiers.naive_bayes.mixed import METHODS
from dpml.counts import FACTOR, NoisyCounts
from dpml.encoding import SHARE_GRID
from dpml.exceptions import (
    InvalidParameter,
    NoSecureSampler,
    NotPrivate,
)
from dpml.mechanisms.private import opened
from dpml.mechanisms.secure import integer_laplace

# ---- release mode ---------------------------------------------------------------------------------------------------


def test_only_the_default_method_can_be_released():
    for options in ({"method": method} for method in METHODS[1:]):
        error = NotPrivate if options["method"] in ("published", "vaidya") else NoSecureSampler
        with pytest.raises(error, match="method = "):
            model(random_state=None, release=True, **options).fit(*table())
    with pytest.raises(InvalidParameter, match="random_state = 0"):
        model(release=True).fit(*table())


@pytest.mark.parametrize("relation", ["add-remove", "replace-one"])
def test_a_released_model_is_a_function_of_noisy_counts_on_a_grid(relation, monkeypatch):
    calls = []

    def recorded(values, scale, **options):
        calls.append((opened(values), scale, integer_laplace(values, scale, **options)))
        return calls[-1][2]

    monkeypatch.setattr(dpml.counts, "integer_laplace", recorded)
    X, y = table()
    fitted = model(0.5, random_state=None, release=True, relation=relation).fit(X, y)
    (n, class_scale, noisy_n), (on, scale, noisy_on) = calls
    bounds = entry_bounds(SCHEMA, 0.5)
    design = Design(SCHEMA, fitted.n_bins_)
    exact = cell_counts(design, SCHEMA.check_features(X)[0], (y == "yes").astype(np.intp), bounds)
    np.testing.assert_array_equal(n, exact.n[None])
    np.testing.assert_array_equal(on, exact.on[None] * SHARE_GRID)
    factor = FACTOR[relation]
    cost = Fraction(factor) / Fraction(class_scale) + Fraction(factor * sum(bounds) * SHARE_GRID) / Fraction(scale)
    assert cost <= Fraction(0.5)
    assert float(cost) == pytest.approx(0.5, rel=1e-12)
    noisy = NoisyCounts(noisy_on / SHARE_GRID, n=noisy_n.astype(float))
    expected = models_from_cells(noisy, design, 0.5, bounds, relation=relation)
    np.testing.assert_allclose(fitted.class_log_prior_, expected.log_prior[0], rtol=1e-12)
    np.testing.assert_allclose(
        np.hstack([fitted.feature_log_prob_[name] for name in ("age", "city", "height")]), expected.log_cells[0]
    )


cells = st.one_of(
    st.sampled_from([0, 1.5, 55, True, "Bern", "Oslo", "", b"Rome", "50", None, pd.NA, pd.NaT, math.nan, math.inf]),
    st.sampled_from([10**400, -(10**400), np.float16(7), Decimal("sNaN"), Fraction(1, 3), 1j, (), (1, []), {}, []]),
    st.builds(Hostile),
    st.builds(lambda: np.zeros(2)),
)


@pytest.mark.filterwarnings("error")
@given(
    st.integers(0, 5).flatmap(lambda n: st.tuples(*(st.lists(cells, min_size=k * n, max_size=k * n) for k in (4, 1)))),
    st.sampled_from(["objects", "rows", "frame"]),
    st.sampled_from(["raise", "clip"]),
)
def test_no_cell_and_no_label_makes_a_release_raise(data, kind, on_invalid):
    flat, labels = data
    X = np.empty(len(flat), dtype=object)
    for i, cell in enumerate(flat):
        X[i] = cell
    X = X.reshape(-1, 4)
    if kind == "rows":
        X = [list(row) for row in X]
    elif kind == "frame":
        X = pd.DataFrame(X, columns=SCHEMA.feature_names, dtype=object)
    fitted = model(random_state=None, release=True, on_invalid=on_invalid).fit(X, list(labels))
    assert np.isfinite(fitted.predict_proba(X)).all()


@pytest.mark.parametrize("cell", [10**400, Hostile()], ids=["a huge integer", "hostile"])
def test_a_column_of_one_odd_cell_is_released(cell):
    """pandas before 3.1 raises where it is given such a column and looks for times in it."""
    X = np.empty((1, 4), dtype=object)
    X[0, :3] = 0, "Bern", 0
    X[0, 3] = cell
    fitted = model(random_state=None, release=True).fit(X, ["yes"])
    assert np.isfinite(fitted.predict_proba(X)).all()


@pytest.mark.parametrize("y", [["yes"] * 9, ["neither"] * 9, [None] * 9, []])
def test_one_class_no_class_and_no_record_are_released(y):
    X = table(n=len(y))[0]
    fitted = model(random_state=None, release=True).fit(X, y)
    assert np.isfinite(fitted.predict_proba(table(n=5)[0])).all()
