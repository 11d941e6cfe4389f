"""The Explore page plots what the library computes: the tests read the data in the page, not only that it has any."""

from functools import partial

import numpy as np
import pytest

from dpml.datasets import load
from dpml.selection import MaskSelector, inclusion_probabilities
from dpml.studies.accuracy import SelectedNBStudy

pytestmark = pytest.mark.browser


# ε, its share for the choice, T and relation
CHOICES = [
    (0.1, 0.5, 20, "add-remove"),
    (10, 0.95, 1, "replace-one"),
    (2, 0.2, 83, "add-remove"),
    (1, 0.5, 84, "add-remove"),
]


def test_browser_computes_the_same_probabilities_as_the_library(app):
    data, found = load("census"), None
    for epsilon, share, n_features, relation in CHOICES:
        query = f"&epsilon={epsilon}&selection_share={share}&n_features={n_features}&relation={relation}&draws=10"
        if found is None:
            app.enter("explore", query)
        else:
            app.visit(query)
            app.wait_for_other("selection-drawn", found)
        found = app.written("selection-drawn")
        names = app.read("selection-drawn")["name"]
        places = [data.feature_names.index(name) for name in names]
        assert len(set(names)) == 20
        for kind in ("count", "mutual_information"):
            study = SelectedNBStudy(data, kind, relation=relation)
            selector = MaskSelector(epsilon * share, n_features, kind, relation=relation)
            weight = selector.weight(data.schema) if n_features < 84 else 0.0
            expected = inclusion_probabilities(weight * study.scores, n_features)
            drawn = partial(lambda kind: app.array("selection-drawn", kind).tolist(), kind)
            app.check_becomes(drawn, pytest.approx(expected[places].tolist(), abs=1e-9))
            best = np.sort(study.scores)[::-1][:n_features]
            sure = expected[study.scores > best[-1]].sum()
            tied = expected[study.scores == best[-1]]
            kept = sure + tied.sum() * (best == best[-1]).sum() / len(tied)
            app.wait_for_text(f"{kept:.1f}")


# the same script on a table that is wider
@pytest.mark.full
@pytest.mark.data
def test_browser_computes_the_same_probabilities_for_600_features(app, data_home):
    app.open("?dataset=xwindows&epsilon=10&selection_share=0.95&n_features=50&draws=10")
    data = load("xwindows")
    places = [data.feature_names.index(name) for name in app.read("selection-drawn")["name"]]
    for kind in ("count", "mutual_information"):
        study = SelectedNBStudy(data, kind)
        weight = MaskSelector(9.5, 50, kind).weight(data.schema)
        expected = inclusion_probabilities(weight * study.scores, 50)
        assert app.array("selection-drawn", kind) == pytest.approx(expected[places], abs=1e-9)
