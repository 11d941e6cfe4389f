"""What the browser draws of points that are dragged: their sensitivity, and what is released, by the library."""

from __future__ import annotations

from typing import Any

import numpy as np
import pandas as pd

from dpml.mechanisms import Laplace
from dpml.mechanisms.smooth import (
    Cauchy,
    cauchy_scale,
    global_sensitivity,
    local_sensitivity,
    sensitivity_envelope,
    smooth_sensitivity,
    statistic,
)
from dpml_app.pages.noise.points import LOWER, UPPER, decode, heights, preset
from dpml_app.pages.noise.settings import BETA_SHARES, NoiseValues
from dpml_app.pages.noise.smooth_figures import SPREAD


def smooth_tables(values: NoiseValues) -> dict[str, pd.DataFrame]:
    """Return the tables of the points at these settings."""
    given = values.noise_points
    points = decode(given) if given else preset(values.noise_preset, values.noise_size)
    kind, relation = values.noise_statistic, values.noise_relation
    epsilon, beta = values.noise_epsilon, BETA_SHARES[values.noise_beta] * values.noise_epsilon
    trim = values.noise_trim if kind == "trimmed_mean" else 0
    whole = global_sensitivity(kind, LOWER, UPPER, len(points), relation, trim)
    smooth = smooth_sensitivity(kind, points, LOWER, UPPER, beta, relation, trim)
    local = local_sensitivity(kind, points, LOWER, UPPER, relation, trim)
    distances = len(points) + 1
    envelope = sensitivity_envelope(kind, points, LOWER, UPPER, beta, relation, trim, distances=distances)

    def share(sizes: Any) -> Any:
        """Return sizes as shares of the global sensitivity; a log axis has no place for 0."""
        sizes = np.asarray(sizes, dtype=float)
        return np.where(sizes > 0, sizes / (whole if whole > 0 else 1.0), np.nan)

    k, best = np.arange(len(envelope.terms)), int(np.argmax(envelope.terms))
    terms = {"k": k, "sensitivity": share(envelope.sensitivity), "term": share(envelope.terms)}
    tables = {"noise-points": pd.DataFrame({"x": points, "y": heights(len(points))})}
    tables["noise-terms"] = pd.DataFrame(terms)
    tables["noise-best"] = pd.DataFrame({"k": [best], "term": share(envelope.terms[[best]])})
    for name, value in (("local", local), ("smooth", smooth), ("global", whole)):
        level = {"x": [0, 1000], "y": share([value, value]), "value": [value, value]}
        tables[f"noise-{name}"] = pd.DataFrame(level)

    # what is released: Cauchy noise by the smooth sensitivity, Laplace noise by the global one
    released = statistic(kind, points, LOWER, UPPER, trim)
    sizes = {"smooth": cauchy_scale(epsilon, beta) * smooth, "global": whole / epsilon}
    rows = []
    for row, size in sizes.items():
        half, most = (
            np.tan(np.pi * held / 2) * size if row == "smooth" else -np.log(1 - held) * size for held in (0.5, 0.9)
        )
        rows.append([row, released - half, released + half, released - most, released + most])
    columns = ["row", "half_low", "half_high", "most_low", "most_high"]
    tables["noise-intervals"] = pd.DataFrame(rows, columns=columns)

    # draws of either noise, and how far each dot stands from its row
    rng, unit = np.random.default_rng(values.noise_seed), Cauchy(1.0, 1 / 6)
    drawn = {"smooth": unit.release(0.0, 1.0, rng=rng, draws=SPREAD) / unit.scale}
    drawn["global"] = Laplace(1.0).release(0.0, rng=rng, draws=SPREAD)
    off = rng.uniform(-0.3, 0.3, SPREAD)
    dots = [(released + sizes[row] * z, (row, o)) for row in drawn for z, o in zip(drawn[row], off, strict=True)]
    tables["noise-releases"] = pd.DataFrame(dots, columns=["x", "row"])
    return tables
