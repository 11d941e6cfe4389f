"""The Audit page plots what the library computes: what its data sources hold, read without a browser."""

import numpy as np
import pytest

from dpml.audit import audit_outputs
from dpml.audit.cases import AUDITED
from dpml.exceptions import MissingExtra
from dpml.mechanisms import secure

FEW = "&audit_draws=1000"


@pytest.mark.parametrize(("method", "relation"), [("laplace", "replace-one"), ("noisy-cut", "add-remove")])
def test_bars_and_bound_are_those_of_the_library(alone, method, relation):
    epsilon, seed = 0.7, 5
    alone.enter(
        "audit", FEW + f"&audit_method={method}&audit_relation={relation}&audit_epsilon={epsilon}&audit_seed={seed}"
    )
    entry = AUDITED[method]
    case = entry.case(epsilon, relation)
    outputs = [
        case.sample(data, draws=1_000, rng=np.random.default_rng([seed, side]))
        for side, data in enumerate((case.data, case.neighbour))
    ]
    bound = audit_outputs(*outputs, epsilon, confidence=0.95, score=case.score).epsilon_lower
    assert bound > 0
    assert f"1,000 samples per side show, with 95% confidence, that the actual ε is at least {bound:.3g}" in alone.text
    assert alone.array("audit-output-first", "share").sum() == pytest.approx(1)
    if method == "laplace":
        assert alone.read("audit-chosen")["y"] == pytest.approx([epsilon])
        assert "Claim holds on these neighbours" in alone.text


def test_link_opens_the_page_with_threshold_testing_caught(alone):
    alone.enter("audit", FEW + "&audit_method=private-threshold-testing")
    for said in ("Claim violated: not private at any ε.", "Catalogue: not private", "2014, Algorithm 2"):
        assert said in alone.text
    # an output is impossible with D
    assert 0 in alone.array("audit-output-first", "share")
    assert len(alone.read("audit-output-beyond")["left"]) == 1


def test_a_relation_that_a_method_does_not_have_is_said(alone):
    alone.enter("audit", FEW + "&audit_method=class-sums-by-width")
    assert "claims privacy only for “replace one record”" in " ".join(alone.alerts)
    assert alone.settings["audit_relation"] == "replace-one"
    assert "Claim violated" in alone.text


def test_samples_that_a_method_refuses_are_said(alone, monkeypatch):
    def missing():
        raise MissingExtra("Secure noise", "OpenDP", "release")

    monkeypatch.setattr(secure, "_opendp", missing)
    alone.enter("audit", FEW + "&audit_method=secure-integer-laplace")
    assert "This audit: Secure noise needs OpenDP" in " ".join(alone.alerts)
    assert "Claim holds on these neighbours" in alone.text, "its formula needs no samples"
    alone.act(audit_method="laplace")
    assert not alone.alerts
