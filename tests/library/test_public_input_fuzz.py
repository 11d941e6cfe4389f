"""No cell, no label, no container and no number of records makes a release raise, or a study that clips.

200 examples here; ``DPML_FUZZ=10000 pytest tests/library/test_public_input_fuzz.py`` runs more.
"""

import os

import numpy as np
import pandas as pd
import pytest
from fuzz import failure
from scipy import sparse

from dpml.classifiers import BernoulliNB
from dpml.evaluation import private_cross_val_score
from dpml.mechanisms import smooth_sensitivity
from dpml.schema import Schema

EXAMPLES, PARTS = int(os.environ.get("DPML_FUZZ", "200")), 5


@pytest.mark.parametrize("part", range(PARTS))
def test_nothing_in_the_data_makes_a_public_boundary_raise(part):
    found = [text for seed in range(part, EXAMPLES, PARTS) if (text := failure(seed))]
    assert not found, "\n\n".join(found[:3])


# ---- what was found, each by itself ----------------------------------------------------------------------------------


@pytest.mark.parametrize("relation", ["add-remove", "replace-one"])
@pytest.mark.parametrize("n", [0, 2])
@pytest.mark.parametrize("kind", [np.asarray, list, pd.DataFrame, "csr", "coo", "dok"])
def test_cross_validation_of_no_records_and_with_empty_folds(kind, n, relation):
    X = np.zeros((n, 3))
    if isinstance(kind, str):
        X = sparse.coo_array(X).asformat(kind)
    else:
        X = pd.DataFrame(X, columns=["x0", "x1", "x2"]) if kind is pd.DataFrame else kind(X)
    model = BernoulliNB(1.0, schema=Schema.binary(3), relation=relation)
    result = private_cross_val_score(model, X, [0] * n, 1.0, n_folds=4, relation=relation, release=True)
    assert 0 <= result.score <= 1


@pytest.mark.parametrize("kind", [sparse.csr_array, sparse.csr_matrix])
def test_partitioned_counts_of_an_empty_sparse_table(kind):
    model = BernoulliNB(1.0, method="partitioned", random_state=0).fit(kind((0, 3)), [])
    assert model.predict(np.eye(3)).shape == (3,)


def test_a_clipped_column_has_a_smooth_sensitivity():
    odd = [0.5, "1", [2], {}, 1j, np.zeros(2), None]
    as_read = [0.5, 1.0, 1.0, 1.0, 1.0, 1.0, 1.0]  # what is no number is the middle, 1
    found = [smooth_sensitivity("median", v, 0.0, 2.0, 0.1, on_invalid="clip") for v in (odd, as_read)]
    assert found[0] == found[1] > 0
    complex_ones = np.array([0.5, 1.0, 1j])
    assert smooth_sensitivity("median", complex_ones, 0.0, 2.0, 0.1, on_invalid="clip") > 0
