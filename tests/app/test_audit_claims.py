"""All claims: the results that ship are those computed, and a click on a dot opens its verdict."""

import json
import math

import numpy as np
import pytest
from dpml_app.drawing.styles import GREEN, VERMILION
from dpml_app.pages.audit import compute
from dpml_app.pages.audit.compute import AUDIT_EPSILONS
from dpml_app.pages.audit.figures import NO_EPSILON

from benchmarks.shipped import as_text
from dpml.audit.cases import AUDITED, audited_pairs

FEW = "&audit_draws=1000"
# by formula: as claimed, less, more and no ε at all; by draws alone: noisy-cut
MADE_AGAIN = ["laplace", "cauchy-theorem-2", "resampled-count", "private-threshold-testing", "noisy-cut"]


def place_of(method):
    return [claim.method for claim in compute.claims()].index(method)


def test_what_ships_is_what_is_computed(monkeypatch):
    places = [k for k, (method, _relation) in enumerate(audited_pairs()) if method in MADE_AGAIN]
    assert len(places) >= len(MADE_AGAIN)
    text = (compute.SHIPPED / "claims.json").read_text()
    kept = json.loads(text)
    assert as_text(kept) == text
    some = audited_pairs()

    def only_some(name, relation, epsilon):
        return computed(name, relation, epsilon) if name in MADE_AGAIN else (epsilon, 0.0, False)

    computed = compute.check
    monkeypatch.setattr(compute, "check", only_some)
    made = compute.make()["claims"]
    assert [row[:2] for row in made] == [list(claim) for claim in some]
    for place in places:
        [(*who_kept, shown_kept, drawn_kept)] = [row for row in kept["claims"] if row[:2] == made[place][:2]]
        *who, shown, drawn = made[place]
        assert (who, drawn) == (who_kept, drawn_kept)
        assert shown == (shown_kept if shown is None else pytest.approx(shown_kept, rel=1e-6)), (
            "python -m benchmarks.shipped claims"
        )


def test_a_claim_that_does_not_ship_is_computed(monkeypatch):
    kept = json.loads((compute.SHIPPED / "claims.json").read_text())["claims"]
    monkeypatch.setattr(
        compute, "read_shipped", lambda *_: {"claims": [row for row in kept if row[0] != "cauchy-theorem-2"]}
    )
    made, shown = compute.claims.__wrapped__(), compute.claims()
    assert [one[:2] for one in made] == [one[:2] for one in shown]
    new = [one for one in made if one.method == "cauchy-theorem-2"]
    assert new
    for one in new:
        assert not one.drawn
        assert one.shown < one.claimed


def test_every_claim_is_drawn_once_and_broken_as_the_catalogue_says():
    claims = compute.claims()
    assert [claim[:2] for claim in claims] == audited_pairs()
    assert {claim.claimed for claim in claims} <= set(AUDIT_EPSILONS)
    for claim in claims:
        assert claim.broken == (not AUDITED[claim.method].holds(claim.claimed)), claim


def test_dots_are_at_their_actual_epsilon_and_apart(alone):
    alone.enter("audit", FEW, only=("claims",))
    dots = alone.sources["audit-wall"].data
    x, y = np.array(dots["x"]), np.array(dots["y"])
    assert len({(a, b) for a, b in zip(x.round(9), y.round(9), strict=True)}) == len(audited_pairs())
    broken = np.array([claim.broken for claim in compute.claims()])
    assert (y[broken] > np.array(dots["claimed"])[broken]).all()
    assert (y[~broken] <= np.maximum(np.array(dots["claimed"])[~broken] * 1.000001, 0.005)).all()
    assert set(np.array(dots["color"])[broken]) == {VERMILION}
    assert set(np.array(dots["color"])[~broken]) == {GREEN}
    assert set(np.array(dots["marker"])[broken]) == {"x"}
    # those of one ε stand side by side, nearer to it than to the next one
    assert np.abs(np.log(x / np.array(dots["claimed"]))).max() < 0.06
    assert f"{(~broken).sum()} hold, {broken.sum()} are violated" in alone.text


@pytest.mark.parametrize("method", ["private-threshold-testing", "mask-per-feature", "noisy-cut"])
def test_a_click_on_a_dot_opens_its_verdict(alone, method):
    alone.enter("audit", FEW + "&audit_method=mask-count", only=("output",))
    place = place_of(method)
    claim, selected = compute.claims()[place], alone.sources["audit-wall"].selected

    async def click():
        selected.indices = [place]

    alone._run(click)
    assert [alone.settings[f"audit_{name}"] for name in ("method", "relation", "epsilon")] == [*claim[:3]]
    assert selected.indices == []
    ring = alone.read("audit-chosen")
    assert (ring["claimed"], ring["method"]) == ([claim.claimed], [AUDITED[method].title])
    if not claim.drawn:
        assert ring["y"] == [NO_EPSILON if math.isinf(claim.shown) else pytest.approx(claim.shown)]
        assert "Claim violated" in alone.text
    # and the slider moves it on
    alone.act(audit_epsilon=2.0)
    assert alone.read("audit-chosen")["x"] == [2.0]
