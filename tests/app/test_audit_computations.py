"""What the Audit page computes, without a browser."""

import math

import numpy as np
import pytest
from dpml_app.pages.audit import compute
from dpml_app.pages.audit import text as texts
from dpml_app.pages.audit.compute import AuditSettings, AuditValues
from dpml_app.pages.audit.page import EXACT, SAMPLE, methods, sample_of

from dpml.audit import audit, audit_outputs
from dpml.audit.cases import AUDITED


def key(name, epsilon=1.0, relation="add-remove"):
    return name, epsilon, relation


@pytest.mark.parametrize("name", ["laplace", "private-threshold-testing", "noisy-cut", "gaussian", "nb-row-bounded"])
def test_samples_are_audited_by_the_library(name):
    seed, draws = 3, 1_600
    entry, case = AUDITED[name], AUDITED[name].case(0.7, "add-remove")
    outputs = [
        case.sample(data, draws=draws, rng=np.random.default_rng([seed, side]))
        for side, data in enumerate((case.data, case.neighbour))
    ]
    expected = audit_outputs(*outputs, 0.7, delta=entry.delta, confidence=0.95, score=case.score)
    sample = compute.sample(key(name, 0.7), seed, draws)
    assert sample["draws"] == expected.draws == draws
    assert sample["lower"] == expected.epsilon_lower


def test_the_event_in_the_picture_is_the_one_that_is_counted():
    for name in ("laplace", "mask-count", "private-threshold-testing"):
        sample = compute.sample(key(name), 0, 2_500)
        picture, event = sample["picture"], sample["event"]
        sides = [picture[side][picture["event"]].sum() for side in ("first", "second")]
        hits, misses = sides if event["for_first"] else sides[::-1]
        assert (hits, misses) == pytest.approx(sample["rates"], abs=1e-12)
        assert picture["first"].sum() == pytest.approx(1)
        assert picture["second"].sum() == pytest.approx(1)


def test_samples_accuse_an_honest_method_rarely():
    # its actual ε is 1
    bounds = [compute.sample(key("laplace"), seed, 1_000)["lower"] for seed in range(100)]
    assert max(bounds) > 0.8
    assert sum(bound > 1 for bound in bounds) <= 16  # five standard errors above 5 of 100


# their draws show less than what is enumerated, so that no output is told from its code
OTHER_FORM = ("above-threshold", "priv-local", "priv-gene", "published-roc")


def enumerated():
    for name, entry in AUDITED.items():
        if name.startswith(OTHER_FORM) or "secure" in name:
            continue
        if hasattr(entry.case(1.0, entry.relations[0]).exact, "log_probabilities"):
            yield name


@pytest.mark.parametrize("name", list(enumerated()))
def test_known_probabilities_of_the_worst_neighbours_stand_at_the_outputs_that_are_drawn(name):
    relation = AUDITED[name].relations[0]
    known = compute.exact(key(name, relation=relation))["outputs"]
    if known is None:
        many = ("mask-per-feature", "sparse-vector-selection", "top-peeling-delta", "top-limited-domain", "noisy-cut")
        assert name in many, "too many outputs for a bar each"
        return
    case, draws = AUDITED[name].case(1.0, relation), 2_000
    for side, data in enumerate((case.data, case.neighbour)):
        rows = np.asarray(case.sample(data, draws=draws, rng=np.random.default_rng(side)), float).reshape(draws, -1)
        codes, counts = np.unique(rows, axis=0, return_counts=True)
        share = dict(zip(map(tuple, codes.tolist()), counts / draws, strict=True))
        assert set(share) <= set(known)
        for code, pair in known.items():
            p = pair[side]
            assert abs(share.get(code, 0.0) - p) <= 5 * np.sqrt(p * (1 - p) / draws) + 1e-9


# ---- words and marks ------------------------------------------------------------------------------------------------


def test_exact_is_the_catalogues_audit():
    for name, relation in (
        ("laplace", "replace-one"),
        ("gaussian", "add-remove"),
        ("private-threshold-testing", "add-remove"),
    ):
        case = AUDITED[name].case(0.5, relation)
        expected = audit(case.exact, case.data, case.neighbour, 0.5, delta=AUDITED[name].delta)
        found = compute.exact(key(name, 0.5, relation))
        assert (found["epsilon"], found["passed"]) == (expected.epsilon_lower, expected.passed)
    assert "epsilon" not in compute.exact(key("iterative-sampling"))


@pytest.mark.parametrize("name", ["laplace", "exponential", "nb-row-bounded", "gaussian"])
def test_no_output_of_an_honest_method_is_beyond_its_claim(name):
    entry = AUDITED[name]
    relation = entry.relations[0]
    for seed in range(5):
        sample = compute.sample(key(name, relation=relation), seed, 6_300)
        assert not compute.allowed(sample, 1.0, entry.delta)["broken"].any()


def test_an_output_beyond_the_claim_is_told_by_samples():
    sample = compute.sample(key("private-threshold-testing"), 0, 6_300)
    picture, limits = sample["picture"], compute.allowed(sample, 1.0, 0.0)
    labels, _axis = texts.picture_labels("selection", sample)
    # only one feature passes: impossible with D
    impossible = np.array(labels) == "first"
    assert picture["first"][impossible].tolist() == [0]
    assert limits["broken"][1].tolist() == impossible.tolist()
    assert not limits["broken"][0].any()
    # a maximum is e^ε times the upper end of the interval on the other side
    assert limits["most"][1] == pytest.approx(np.minimum(math.e * limits["high"][0], 1))


def verdict_of(name, exact, sample):
    return texts.verdict(AUDITED[name], AuditValues.of(AuditSettings(audit_method=name)), exact, sample)


def test_verdicts():
    unknown, drawn = {"outputs": None, "words": "tables <1> and 2"}, {"draws": 1_000, "lower": 0.4}
    state, text = verdict_of("laplace", compute.exact(key("laplace")), drawn)
    assert state == "stands"
    assert "the actual ε is 1." in text
    assert "can refute a claim, not prove it" in text
    rounded = {"epsilon": 1 + 1e-12, "passed": True}, {"draws": 1_000, "lower": 1 + 1e-12}
    assert verdict_of("laplace", *rounded)[0] == "stands"
    state, text = verdict_of("private-threshold-testing", compute.exact(key("private-threshold-testing")), drawn)
    assert state == "broken"
    assert "not private" in text
    assert "No number of samples can show infinity" in text
    state, text = verdict_of("noisy-cut", unknown, drawn)
    assert state == "open"
    assert "Not refuted" in text
    assert "Increase the number of samples" in text
    assert "Worst known neighbours: tables &lt;1&gt; and 2." in text
    state, text = verdict_of("noisy-cut", unknown, {"draws": 10_000, "lower": 2.3})
    assert state == "broken"
    assert "the actual ε is at least 2.3" in text
    state, text = verdict_of("resampled-count", compute.exact(key("resampled-count")), drawn)
    assert state == "broken"
    assert "the actual ε on these neighbours is 1.49" in text


def test_every_method_is_in_the_list_once_with_its_sign():
    listed = methods()
    assert sorted(listed.values()) == sorted(AUDITED)
    fails = {key for title, key in listed.items() if title.startswith("✗")}
    assert fails == {name for name, entry in AUDITED.items() if not entry.holds(compute.CHECKED_AT)}


def test_no_sampled_bound_exceeds_the_exact_epsilon():
    sampled = {SAMPLE: {"draws": 10, "lower": 1.2}}
    assert sample_of({}) is None
    assert sample_of(sampled)["lower"] == 1.2
    assert sample_of({**sampled, EXACT: {"epsilon": 1.0}})["lower"] == 1.0
