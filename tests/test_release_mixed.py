"""Release mode of MixedNB: what is released, and data that cannot make it fail."""

from fractions import Fraction

import numpy as np
import pytest
from mixed_tables import SCHEMA, model, table

import dpml.mechanisms.source
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

    monkeypatch.setattr(dpml.mechanisms.source, "integer_laplace", recorded)
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
