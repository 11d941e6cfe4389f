"""The study of private tuning: the search in batches."""

import numpy as np
import pytest
from sklearn.base import clone

from dpml.classifiers import BernoulliNB
from dpml.datasets import load
from dpml.exceptions import InvalidParameter
from dpml.studies.tuning import SCHEMES, TuningStudy
from dpml.tuning import PrivateSearch


def test_the_study_is_the_search_in_batches():
    """Mean accuracies of 25 searches and of 25 draws of the study agree to 5 standard errors."""
    data = load("toy")
    study = TuningStudy(data, {"row_bound": (1, 4)}, splits=25)
    cases = {
        "shared, retrained": {},
        "disjoint": {"training": "disjoint", "retrain_share": 0.0},
        "random stopping 1": {"method": "random-stopping", "eta": 1.0, "retrain_share": 0.0},
    }
    drawn = study(0.3, draws=25, rng=np.random.default_rng(0), schemes=tuple(cases))
    for name, options in cases.items():
        nb = BernoulliNB(1.0, selection="none")
        search = PrivateSearch(nb, {"row_bound": [1, 4]}, 0.3, schema=data.schema, **options)
        found = [
            clone(search).set_params(random_state=seed).fit(data.X_train, data.y_train).score(data.X_test, data.y_test)
            for seed in range(25)
        ]
        spread = np.sqrt((np.var(found) + drawn[name].var()) / 24)
        assert abs(np.mean(found) - drawn[name].mean()) < 5 * spread, name


@pytest.mark.parametrize("candidates", [{"row_bound": (1, 8)}, {"reg_lambda": (1.0, 1e7)}])
def test_with_much_epsilon_every_scheme_is_near_the_best(candidates):
    study = TuningStudy(load("toy"), candidates, splits=2)
    result = study(300.0, draws=4, rng=np.random.default_rng(0))
    assert set(result) == set(study.schemes) == {s for s in SCHEMES if "reg_lambda" in candidates or s != "stability"}
    best = result["best in hindsight"].mean()
    for name, accuracy in result.items():
        assert accuracy.shape == (4,)
        assert accuracy.mean() > best - 0.08, name


def test_unknown_candidates_and_schemes_are_named():
    data = load("toy")
    for bad in ({"pseudocount": (1,)}, {}, {"row_bound": (1,), "reg_lambda": (1,)}):
        with pytest.raises(InvalidParameter, match="candidates"):
            TuningStudy(data, bad)
    study = TuningStudy(data, {"row_bound": (1, 2)}, splits=1)
    with pytest.raises(InvalidParameter, match=r"`schemes` must be .*Got 'stability'"):
        study(1.0, draws=2, rng=np.random.default_rng(0), schemes=("stability",))
    with pytest.raises(InvalidParameter, match="row_bound"):
        TuningStudy(data, {"row_bound": (0,)})
