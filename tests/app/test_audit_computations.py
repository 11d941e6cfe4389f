"""What the Audit page computes, without a browser."""

import itertools
import math

import numpy as np
import pytest
from dpml_app.core.card import DEFERRED
from dpml_app.pages.audit import compute
from dpml_app.pages.audit import text as texts
from dpml_app.pages.audit.compute import AuditSettings, AuditValues
from dpml_app.pages.audit.page import STEP, methods, steps_of

from dpml.audit import audit, audit_outputs
from dpml.audit.cases import AUDITED
from dpml.audit.cases.typed import FEATURES
from dpml.exceptions import MissingExtra

CONFIDENCE = 0.95
TABLE, RECORD = "nab.nb.yc.yac", "yab"
BY_HAND = (TABLE, RECORD, 1)
EDITABLE = [name for name, entry in AUDITED.items() if entry.typed is not None]


def key(name, epsilon=1.0, relation="add-remove", edited=None):
    return name, epsilon, relation, edited


def values(name, epsilon=1.0, relation="add-remove", neighbours="worst"):
    settings = AuditSettings(audit_method=name, audit_epsilon=epsilon, audit_relation=relation)
    settings.param.update(audit_neighbours=neighbours, audit_confidence=CONFIDENCE)
    return AuditValues.of(settings)


def draws_of(case, seed, index):
    """Return what the first steps draw, written out."""
    sizes = np.diff([0, *compute.LADDER[: index + 1]])
    return [
        np.concatenate(
            [case.sample(data, draws=int(n), rng=np.random.default_rng([seed, side, i])) for i, n in enumerate(sizes)]
        )
        for side, data in enumerate((case.data, case.neighbour))
    ]


@pytest.mark.parametrize("name", ["laplace", "private-threshold-testing", "noisy-cut", "gaussian", "nb-row-bounded"])
def test_a_step_is_an_audit_by_the_library(name):
    seed, index = 3, 6
    entry, case = AUDITED[name], AUDITED[name].case(0.7, "add-remove")
    outputs = draws_of(case, seed, index)
    expected = audit_outputs(
        *outputs, 0.7, delta=entry.delta, confidence=compute.step_confidence(CONFIDENCE), score=case.score
    )
    step = compute.step(key(name, 0.7), seed, CONFIDENCE, index)
    assert step["draws"] == expected.draws == 1_600
    assert step["lower"] == expected.epsilon_lower


def test_the_event_in_the_picture_is_the_one_that_is_counted():
    for name, edited in (("laplace", None), ("mask-count", BY_HAND), ("private-threshold-testing", None)):
        step = compute.step(key(name, edited=edited), 0, CONFIDENCE, 7)
        picture, event = step["picture"], step["event"]
        sides = [picture[side][picture["event"]].sum() for side in ("first", "second")]
        hits, misses = sides if event["for_first"] else sides[::-1]
        assert (hits, misses) == pytest.approx(step["rates"], abs=1e-12)
        assert picture["first"].sum() == pytest.approx(1)
        assert picture["second"].sum() == pytest.approx(1)


def test_all_steps_together_accuse_an_honest_method_rarely():
    # the true ε is known here; every step of a run must stay below it
    edited = ("nab.nb.yc.yac", "yab", 1)
    true = compute.exact(key("mask-count", 1.0, "replace-one", edited))["epsilon"]
    accused = 0
    for seed in range(40):
        bounds = [compute.step(key("mask-count", 1.0, "replace-one", edited), seed, 0.8, i)["lower"] for i in range(7)]
        accused += max(bounds) > true
    assert accused <= 8  # 0.2 · 40 on average at most; Bonferroni makes it far fewer


def test_more_draws_can_show_more():
    most = [compute.ceiling(n, CONFIDENCE) for n in compute.LADDER]
    assert all(a < b for a, b in itertools.pairwise(most))
    step = compute.step(key("class-sums-by-width", 1.0, "replace-one"), 0, CONFIDENCE, 5)
    # an attacker that never errs comes close to that
    assert most[5] - 0.05 < step["lower"] <= most[5]


# ---- tables edited by hand ------------------------------------------------------------------------------------------


def test_the_last_record_goes_where_the_chosen_one_has_left_the_table():
    for replaced, at in ((3, 2), (8, 3)):
        case = compute.case(key("laplace", relation="replace-one", edited=(TABLE, RECORD, replaced)))
        (X, codes), (other, other_codes) = case.data, case.neighbour
        assert len(X) == len(other) == 4
        assert np.flatnonzero((other != X).any(axis=1) | (codes != other_codes)).tolist() == [at]


@pytest.mark.parametrize("name", [name for name in EDITABLE if AUDITED[name].private])
def test_no_table_breaks_the_claim_of_a_private_method(name):
    rng = np.random.default_rng(0)

    def record():
        return "ny"[rng.integers(2)] + "".join(f for f in FEATURES if rng.random() < 0.5)

    found = []
    for _ in range(40):
        table = ".".join(record() for _ in range(rng.integers(1, 9)))
        for relation in AUDITED[name].relations:
            edited = (table, record(), int(rng.integers(1, 9)))
            found.append(compute.exact(key(name, 0.9, relation, edited))["epsilon"])
    assert max(found) <= 0.9 + 1e-9
    assert max(found) > 0.2


def test_a_table_shows_what_is_wrong_with_threshold_testing():
    assert compute.exact(key("private-threshold-testing", edited=BY_HAND))["epsilon"] == math.inf
    # all counts rise together: nothing to be seen
    assert compute.exact(key("private-threshold-testing", edited=("nab", "nab", 1)))["epsilon"] < 2


@pytest.mark.parametrize("name", [n for n in EDITABLE if n.startswith(("mask", "private", "cluster"))])
def test_known_probabilities_are_those_of_the_draws(name):
    edited = BY_HAND
    exact = compute.exact(key(name, edited=edited))
    for side in (0, 1):
        assert sum(p[side] for p in exact["outputs"].values()) == pytest.approx(1)
    step, labels, _, known = texts.picture_labels(
        AUDITED[name], compute.step(key(name, edited=edited), 0, 0.95, 9), exact
    )
    picture = step["picture"]
    assert len(labels) == len(known) == len(picture["first"])
    n = 3_150
    for side, place in (("first", 0), ("second", 1)):
        p = np.array([pair[place] for pair in known])
        assert (np.abs(picture[side] - p) <= 5 * np.sqrt(p * (1 - p) / n) + 1e-9).all()


# their draws show less than what is enumerated, so that the page shows no probabilities beside them
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
    assert not compute.exact(key("iterative-sampling"))["known"]


@pytest.mark.parametrize("name", ["laplace", "exponential", "nb-row-bounded", "gaussian"])
def test_no_output_of_an_honest_method_is_beyond_its_claim(name):
    """Also where its exact probabilities are not known: what draws leave open must not be told as a fault."""
    entry = AUDITED[name]
    relation = entry.relations[0]
    for seed in range(5):
        step = compute.step(key(name, relation=relation), seed, CONFIDENCE, 9)
        assert not compute.allowed(step, None, 1.0, entry.delta, CONFIDENCE)["broken"].any()


def test_an_output_beyond_the_claim_is_told_by_its_exact_probability_and_by_draws():
    entry, exact = AUDITED["private-threshold-testing"], compute.exact(key("private-threshold-testing"))
    step, _labels, _axis, known = texts.picture_labels(
        entry, compute.step(key("private-threshold-testing"), 0, CONFIDENCE, 9), exact
    )
    for probabilities in (known, None):
        limits = compute.allowed(step, probabilities, 1.0, 0.0, CONFIDENCE)
        # only one feature passes: impossible with D
        impossible = step["picture"]["first"] == 0
        assert limits["broken"][1].tolist() == (impossible & (step["picture"]["second"] > 0)).tolist()
        assert not limits["broken"][0].any()
    exactly = compute.allowed(step, known, 1.0, 0.0, CONFIDENCE)
    first = np.array([pair[0] for pair in known])
    assert exactly["most"][1] == pytest.approx(np.minimum(math.e * first, 1))
    # a claim that is large enough allows what is possible on both sides
    assert not compute.allowed(step, [(0.1, 0.9)] * len(known), math.log(9.1), 0.0, CONFIDENCE)["broken"].any()


def verdict_of(name, exact, step, **changes):
    return texts.verdict(AUDITED[name], values(name, **changes), exact, step)


def test_verdicts():
    unknown, drawn = {"known": False, "outputs": None}, {"draws": 1_000, "lower": 0.4}
    state, text = verdict_of("laplace", compute.exact(key("laplace")), drawn)
    assert state == "stands"
    assert "the actual ε is 1." in text
    assert "can refute a claim, not prove it" in text
    state, text = verdict_of("private-threshold-testing", compute.exact(key("private-threshold-testing")), drawn)
    assert state == "broken"
    assert "not private" in text
    assert "No number of samples can show infinity" in text
    state, text = verdict_of("noisy-cut", unknown, drawn)
    assert state == "open"
    assert "Not refuted" in text
    assert "Increase the number of samples" in text
    state, text = verdict_of("noisy-cut", unknown, {"draws": 10_000, "lower": 2.3})
    assert state == "broken"
    assert "the actual ε is at least 2.3" in text
    state, text = verdict_of("resampled-count", compute.exact(key("resampled-count")), drawn)
    assert state == "broken"
    assert "the actual ε on these neighbours is 1.49" in text


def test_what_cannot_be_drawn_is_said(monkeypatch):
    import dpml.mechanisms.secure as secure

    def missing():
        raise MissingExtra("Secure noise", "OpenDP", "release")

    monkeypatch.setattr(secure, "_opendp", missing)
    compute.block.cache_clear()
    assert compute.step(key("secure-integer-laplace"), 0, CONFIDENCE, 0) == {
        "problem": str(MissingExtra("Secure noise", "OpenDP", "release"))
    }
    assert compute.exact(key("secure-integer-laplace"))["passed"]


def test_every_method_is_in_the_list_once_with_its_sign():
    listed = methods()
    assert sorted(listed.values()) == sorted(AUDITED)
    fails = {key for title, key in listed.items() if title.startswith("✗")}
    assert fails == {name for name, entry in AUDITED.items() if not entry.holds(compute.CHECKED_AT)}


def test_no_sampled_bound_exceeds_the_exact_epsilon():
    sampled = {(STEP, k): {"draws": 10 * k, "lower": lower} for k, lower in ((2, 1.2), (1, 0.5))}
    sampled[STEP, 3] = {"problem": "it has no samples"}
    assert [step["lower"] for step in steps_of(sampled)] == [0.5, 1.2]
    assert [step["lower"] for step in steps_of({**sampled, ("exact", DEFERRED): {"epsilon": 1.0}})] == [0.5, 1.0]
