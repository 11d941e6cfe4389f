"""The Audit page plots what the library computes: what its data sources hold, read without a browser."""

import math

import numpy as np
import pytest
from dpml_app.pages.audit import compute

from dpml.audit import audit_outputs
from dpml.audit.cases import AUDITED

FEW = "&audit_draws=1000"


@pytest.mark.parametrize(("method", "relation"), [("laplace", "replace-one"), ("noisy-cut", "add-remove")])
def test_curve_and_bounds_are_those_of_the_library(alone, method, relation):
    epsilon, seed, confidence = 0.7, 5, 0.9
    alone.enter(
        "audit",
        FEW + f"&audit_method={method}&audit_relation={relation}&audit_epsilon={epsilon}&audit_seed={seed}"
        f"&audit_confidence={confidence}",
    )
    entry = AUDITED[method]
    case = entry.case(epsilon, relation)
    sizes = np.diff([0, *compute.LADDER[:6]])
    outputs = [
        np.concatenate(
            [case.sample(d, draws=int(n), rng=np.random.default_rng([seed, s, i])) for i, n in enumerate(sizes)]
        )
        for s, d in enumerate((case.data, case.neighbour))
    ]
    options = {"confidence": 1 - (1 - confidence) / len(compute.LADDER), "score": case.score}
    bounds = []
    for n in compute.LADDER[:6]:
        found = audit_outputs(*(side[:n] for side in outputs), epsilon, **options)
        bounds.append(found.epsilon_lower)
    assert alone.read("audit-bound-bounds")["draws"] == list(compute.LADDER[:6])
    assert alone.array("audit-bound-bounds", "mean") == pytest.approx(bounds, abs=1e-12)
    assert alone.array("audit-output-first", "share").sum() == pytest.approx(1)
    assert alone.read("audit-bound-claim")["y"] == [epsilon] * 2
    if method == "laplace":
        assert alone.read("audit-bound-exact")["y"] == pytest.approx([epsilon] * 2)
        assert "Claim holds on these neighbours" in alone.text
        assert max(bounds) <= epsilon


def test_link_opens_the_page_with_threshold_testing_caught(alone):
    alone.enter("audit", FEW + "&audit_method=private-threshold-testing")
    for said in ("Claim violated: not private at any ε.", "Catalogue: not private", "2014, Algorithm 2"):
        assert said in alone.text
    assert alone.read("audit-bound-exact")["y"] == []
    # the attacker leaves the region: some output is impossible with D'
    assert alone.array("audit-bound-bounds", "mean")[-1] > 1


def test_what_a_method_does_not_have_is_said(alone):
    alone.enter("audit", FEW + "&audit_method=class-sums-by-width&audit_neighbours=table")
    assert "claims privacy only for “replace one record”" in " ".join(alone.alerts)
    assert (alone.settings["audit_relation"], alone.settings["audit_neighbours"]) == ("replace-one", "worst")
    assert math.isfinite(alone.array("audit-bound-bounds", "mean")[-1])
