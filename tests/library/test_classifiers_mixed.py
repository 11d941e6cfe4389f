"""MixedNB: limits, what a model holds, the boundary, what it costs."""

import gc
import itertools
import weakref

import numpy as np
import pandas as pd
import pytest
from mixed_tables import CITIES, SCHEMA, model, table
from sklearn import naive_bayes
from sklearn.base import clone

from dpml.budget import Budget
from dpml.classifiers import MixedNB
from dpml.classifiers.naive_bayes.cells import Design, default_n_bins
from dpml.classifiers.naive_bayes.mixed import METHODS
from dpml.classifiers.naive_bayes.moments import NOISES
from dpml.counts import FACTOR
from dpml.datasets import load
from dpml.exceptions import (
    InvalidData,
    InvalidParameter,
    NoSecureSampler,
    NotPrivate,
    RelationMismatch,
)
from dpml.studies.mixed import MOST_MATRICES, BinnedNBStudy, MomentsNBStudy, non_private_mixed_nb


def fittable():
    """One set of options for each method and noise."""
    yield from ({"method": m} for m in METHODS)
    for m, noise in itertools.product(("smooth", "bun-steinke"), NOISES[1:]):
        yield {"method": m, "noise": noise, **({"delta": 1e-5} if noise in ("laplace", "gaussian") else {})}


ALL = list(fittable())
NAMES = ["-".join(map(str, options.values())) for options in ALL]


# ---- limits ---------------------------------------------------------------------------------------------------------


def test_without_noise_the_binned_model_is_scikit_learns_of_categories():
    X, y = table()
    ours = model(1e9, n_bins=5, row_bound=4).fit(X, y)
    cells = np.column_stack(
        [
            np.minimum(X["age"] // 20, 4),
            X["city"].map(CITIES.index),
            X["smokes"],
            np.minimum((X["height"] - 140) // 14, 4),
        ]
    ).astype(int)
    theirs = naive_bayes.CategoricalNB(alpha=1.0, min_categories=[5, 3, 2, 5]).fit(cells, y)
    for name, log_prob in zip(X.columns, theirs.feature_log_prob_, strict=True):
        np.testing.assert_allclose(ours.feature_log_prob_[name], log_prob, atol=1e-6)
    # ours adds the pseudo-count to the class counts too
    assert np.abs(ours.predict_proba(X) - theirs.predict_proba(cells)).max() < 0.01


@pytest.mark.parametrize("options", [o for o in ALL if o["method"] not in ("binned", "bun-steinke")], ids=str)
def test_without_noise_the_moments_are_scikit_learns_gaussian(options):
    X, y = table()
    if options["method"] == "published":
        options = {**options, "trim": 0}
    ours = model(1e7, likelihood="gaussian", pseudocount=1e-9, **options).fit(X, y)
    rtol = 5e-3 if "delta" in options else 1e-3  # the exact calibration of approximate noise ends at ε = 600
    numbers = X[["age", "height"]]
    theirs = naive_bayes.GaussianNB(var_smoothing=0).fit(numbers, y)
    for j, name in enumerate(numbers):
        np.testing.assert_allclose(ours.theta_[name], theirs.theta_[:, j], rtol=rtol)
        np.testing.assert_allclose(ours.var_[name], theirs.var_[:, j], rtol=3 * rtol)
    # the noise on class counts of "vaidya" has scale 1, whatever ε is
    atol = 0.05 if options["method"] == "vaidya" else 1e-4
    np.testing.assert_allclose(np.exp(ours.class_log_prior_), theirs.class_prior_, atol=atol)


def test_a_truncated_normal_is_a_density_on_its_domain():
    X, y = table()
    schema = SCHEMA.subset(["age"])
    options = {"schema": schema, "method": "global", "random_state": 0}
    plain, truncated = (
        MixedNB(1e7, likelihood=kind, **options).fit(X[["age"]], y) for kind in ("gaussian", "truncated-normal")
    )
    from scipy.stats import norm, truncnorm

    at = pd.DataFrame({"age": np.linspace(0, 100, 9)})
    for fitted, density in ((plain, norm.pdf), (truncated, None)):
        mean, deviation = fitted.theta_["age"], np.sqrt(fitted.var_["age"])
        if density is None:
            ends = (0 - mean) / deviation, (100 - mean) / deviation
            joint = truncnorm.pdf(at.to_numpy(), *ends, loc=mean, scale=deviation)
        else:
            joint = density(at.to_numpy(), mean, deviation)
        joint = joint * np.exp(fitted.class_log_prior_)
        np.testing.assert_allclose(fitted.predict_proba(at), joint / joint.sum(axis=1, keepdims=True), atol=1e-9)


@pytest.mark.parametrize("options", ALL, ids=NAMES)
def test_batch_and_estimator_agree(options):
    data = load("census", n=300, seed=1)
    frame = data.frame[data.frame_schema.feature_names]
    test = frame.loc["test"]
    labels = np.asarray(data.frame_schema.classes)[data.y_train]
    fitted = MixedNB(1.0, schema=data.frame_schema, random_state=3, **options).fit(frame.loc["train"], labels)
    setting = {k: v for k, v in options.items() if k != "method"}
    binned = options["method"] == "binned"
    study = BinnedNBStudy(data) if binned else MomentsNBStudy(data, options["method"])
    accuracy = study(1.0, draws=1, rng=np.random.default_rng(3), **setting)["accuracy"][0]
    predicted = fitted.predict(test) == np.asarray(data.frame_schema.classes)[data.y_test]
    assert predicted.mean() == pytest.approx(accuracy, abs=1e-12)


def test_a_study_without_noise_is_the_non_private_one():
    data = load("census", n=300, seed=1)
    for study, options in ((BinnedNBStudy(data), {"n_bins": 8}), (MomentsNBStudy(data, "global"), {})):
        exact = non_private_mixed_nb(data, **options)["accuracy"]
        likelihood = {} if options else {"likelihood": "gaussian"}
        result = study(1e9, draws=3, rng=np.random.default_rng(0), auc=True, **options, **likelihood)
        # the census rule keeps fewer ones than there are only where a feature is binary
        np.testing.assert_allclose(result["accuracy"], exact, atol=0.03)
        assert (result["auc"] > 0.5).all()


def test_studies_of_one_data_set_check_its_table_once_and_let_it_go_with_the_data_set():
    data = load("census", n=300, seed=1)
    one, other = MomentsNBStudy(data, "global"), MomentsNBStudy(data, "vaidya", relation="replace-one")
    assert one.statistics is other.statistics
    few = BinnedNBStudy(data, columns=data.frame_schema.feature_names[:2])
    assert few._table is not one._table
    # methods with other columns of the same table have matrices of their own
    binned = BinnedNBStudy(data)
    binned(1.0, draws=1, rng=np.random.default_rng(0), n_bins=4)
    for design in (one.design, Design(data.frame_schema, 4), Design(data.frame_schema, 4, binary_cells=True)):
        assert (binned._table.test_matrix(design) != design.matrix(one._table.test)).nnz == 0
    # the matrices of the last few numbers of bins are kept, and those that are used stay
    for n_bins in range(2, 30):
        kept = binned._table.test_matrix(one.design)
        binned._table.test_matrix(Design(data.frame_schema, n_bins))
        assert binned._table.test_matrix(one.design) is kept
    assert len(binned._table._matrices) == MOST_MATRICES
    assert (29, False) in binned._table._matrices
    assert (2, False) not in binned._table._matrices
    table, of = weakref.ref(one._table), weakref.ref(data)
    del data, one, other, few, binned, kept
    gc.collect()
    assert of() is None
    assert table() is None


# ---- what the model holds -------------------------------------------------------------------------------------------


def test_another_fit_leaves_nothing_of_the_first():
    fitted = model(1.0).fit(*table())
    assert fitted.n_bins_ == default_n_bins(SCHEMA, 1.0)
    fitted.set_params(method="global").fit(*table())
    assert not hasattr(fitted, "n_bins_")
    fitted.set_params(method="binned").fit(*table())
    assert not hasattr(fitted, "theta_")


# ---- tables of every kind, odd data ---------------------------------------------------------------------------------


def test_missing_values_are_what_the_schema_says():
    X, y = table()
    holes = X.astype({"city": object}).copy()
    holes.loc[3, "age"], holes.loc[5, "city"] = np.nan, None
    filled = X.copy()
    filled.loc[3, "age"], filled.loc[5, "city"] = 50.0, "Rome"
    with_holes, without = (model().fit(frame, y) for frame in (holes, filled))
    for name, log_prob in without.feature_log_prob_.items():
        np.testing.assert_array_equal(with_holes.feature_log_prob_[name], log_prob)
    holes.loc[7, "height"] = np.nan
    with pytest.raises(InvalidData, match="'height' has the value nan"):
        model().fit(holes, y)


# ---- what it costs --------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("relation", ["add-remove", "replace-one"])
@pytest.mark.parametrize("options", ALL, ids=NAMES)
def test_every_fit_is_charged_what_it_costs(options, relation):
    X, y = table()
    budget = Budget(50.0, 1e-3, relation)
    fitted = model(0.6, budget=budget, relation=relation, **options)
    numeric = options["method"] == "vaidya"
    if options["method"] == "published" or numeric:
        with pytest.raises(NotPrivate, match="docs/explanation/errata"):
            fitted.fit(X, y)
        assert budget.spent == 0
        if not numeric:
            return
        X = X[["city", "smokes"]]
        fitted.set_params(schema=SCHEMA.subset(["city", "smokes"]))
    fitted.fit(X, y)
    [row] = budget.ledger.to_dict("records")
    factor = FACTOR[relation]
    concentrated = options.get("noise", "").endswith("normal")
    expected = factor * (2 * 0.6 + 1) if numeric else 0.0 if concentrated else 0.6
    assert row["epsilon"] == pytest.approx(expected)
    assert row["rho"] == pytest.approx(0.18 if concentrated else 0.0)
    assert row["delta"] == options.get("delta", 0.0)
    other = "replace-one" if relation == "add-remove" else "add-remove"
    with pytest.raises(RelationMismatch):
        clone(fitted).set_params(relation=other).fit(X, y)


def test_only_the_default_method_can_be_released():
    for options in ({"method": method} for method in METHODS[1:]):
        error = NotPrivate if options["method"] in ("published", "vaidya") else NoSecureSampler
        with pytest.raises(error, match="method = "):
            model(random_state=None, release=True, **options).fit(*table())
    with pytest.raises(InvalidParameter, match=r"`random_state` must be .*Got 0"):
        model(release=True).fit(*table())
