"""The Noise page draws the noise and the points of a link, and says what it cannot draw: read without a browser."""

import pytest
from dpml_app.pages.noise.compute import plane


def test_noise_in_the_plane_and_points_of_a_link_are_drawn(alone):
    query = "&noise_mechanism=norm-10&noise_dimension=2&noise_epsilon=2&noise_sensitivity=3&noise_delta=0.001"
    query += "&noise_beta=1/4&noise_draws=1500&noise_seed=9&noise_reach=20&noise_size=20&noise_points=p0010rs5050"
    alone.enter("noise", query)
    assert alone.array("noise-points", "x") == pytest.approx([0, 3.6, 100, 18, 18])
    found = plane("norm-10", (2.0, 3, 0.001, 0.25), 20, 1500, 9)
    assert alone.array("noise-dots", "x") == pytest.approx(found.x)
    assert alone.array("noise-dots", "y") == pytest.approx(found.y)
    assert alone.read("noise-contours")["held"] == ["50%", "90%", "99%"]


def test_what_is_wrong_or_cannot_be_drawn_is_said(alone):
    alone.enter("noise", "&noise_points=pzz00&noise_epsilon=7&noise_gap=50&noise_size=20")
    said = " ".join([*alone.faults, *alone.alerts])
    for wrong in ("noise_points = pzz00", "noise_epsilon = 7", "noise_gap = 50"):
        assert f"{wrong} is not allowed" in said
    assert len(alone.array("noise-points", "x")) == 20
    trimmed = "&noise_statistic=trimmed_mean&noise_trim=30&noise_size=50"
    alone.enter("noise", f"&noise_mechanism=student&noise_beta=1/2{trimmed}")
    assert "needs β below ε/3" in alone.text
    assert len(alone.array("noise-bars", "share")) == len(alone.array("noise-drops", "x")) == 0
    alone.act(noise_beta="1/4")
    assert len(alone.array("noise-bars", "share")) > 0
    assert "Student's t" in alone.text
