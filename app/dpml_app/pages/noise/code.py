"""Code of two plots of the Noise page, by the library's mechanisms."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from dpml_app.code.plain import literal
from dpml_app.code.script import Code
from dpml_app.core.card import Values
from dpml_app.pages.noise.figures import FLOOR
from dpml_app.pages.noise.models import Numbers, model
from dpml_app.pages.noise.points import LOWER, UPPER
from dpml_app.pages.noise.settings import BETA_SHARES
from dpml_app.pages.noise.smooth_figures import SPREAD

__all__ = ["histogram_code", "smooth_code"]

Floats = NDArray[np.float64]

BODY = """\
noise = MECHANISM
draws = settings["noise_draws"]
sample = noise.release(AT, rng=np.random.default_rng(settings["noise_seed"]), draws=draws)

edges = bin_edges(settings["noise_reach"], whole=WHOLE)
share = np.histogram(sample, edges)[0] / draws
exact = np.clip(noise.bin_probabilities(edges), 0, 1)
# 95 % of such experiments have a share between these
low, high = stats.binom.interval(0.95, draws, exact) / np.array(draws)

# the axis is of logarithms: what is 0 is drawn at the floor
left, right, floor = edges[:-1], edges[1:], FLOOR
bars = {"left": left, "right": right, "share": np.maximum(share, floor), "exact": exact}
bars |= {"low": np.maximum(low, floor), "high": np.maximum(high, floor)}
line = {"x": np.column_stack([left, right]).ravel(), "exact": np.maximum(exact, floor).repeat(2)}
tables = {"noise-bars": pd.DataFrame(bars), "noise-exact": pd.DataFrame(line)}
"""


def histogram_code(values: Values, numbers: Numbers) -> Code:
    """Return the code of draws of one number's noise."""
    made = model(values["noise_mechanism"], *numbers)
    kind = type(made.mechanism)
    # noise by a smooth sensitivity is scaled by it
    at = "0" if made.smooth is None else f"0.0, {float(made.smooth)!r}"
    body = BODY.replace("MECHANISM", repr(made.mechanism)).replace("AT", at).replace("WHOLE", repr(made.whole))
    body = body.replace("FLOOR", repr(FLOOR))
    if made.smooth is not None:
        body = body.replace("bin_probabilities(edges)", f"bin_probabilities(edges / {float(made.smooth)!r})")
    imports = (
        "import numpy as np",
        "import pandas as pd",
        "from scipy import stats",
        f"from {kind.__module__} import {kind.__name__}",
        "from dpml_app.pages.noise.compute import bin_edges",
    )
    return Code(imports, body, ("noise_draws", "noise_seed", "noise_reach"))


SMOOTH = """\
points = np.array(POINTS)
kind, relation = settings["noise_statistic"], settings["noise_relation"]
epsilon, beta = settings["noise_epsilon"], BETA * settings["noise_epsilon"]
trim = settings["noise_trim"] if kind == "trimmed_mean" else 0
whole = global_sensitivity(kind, LOWER, UPPER, len(points), relation, trim)
smooth = smooth_sensitivity(kind, points, LOWER, UPPER, beta, relation, trim)
local = local_sensitivity(kind, points, LOWER, UPPER, relation, trim)
envelope = sensitivity_envelope(
    kind, points, LOWER, UPPER, beta, relation, trim, distances=len(points) + 1
)


def share(values):
    \"\"\"Return values as shares of the global sensitivity; a log axis has no place for 0.\"\"\"
    values = np.asarray(values, dtype=float)
    return np.where(values > 0, values / (whole if whole > 0 else 1.0), np.nan)


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
        np.tan(np.pi * held / 2) * size if row == "smooth" else -np.log(1 - held) * size
        for held in (0.5, 0.9)
    )
    rows.append([row, released - half, released + half, released - most, released + most])
columns = ["row", "half_low", "half_high", "most_low", "most_high"]
tables["noise-intervals"] = pd.DataFrame(rows, columns=columns)

# draws of either noise, and how far each dot stands from its row
rng, unit = np.random.default_rng(settings["noise_seed"]), Cauchy(1.0, 1 / 6)
drawn = {"smooth": unit.release(0.0, 1.0, rng=rng, draws=SPREAD) / unit.scale}
drawn["global"] = Laplace(1.0).release(0.0, rng=rng, draws=SPREAD)
off = rng.uniform(-0.3, 0.3, SPREAD)
dots = [
    (released + sizes[row] * z, (row, o)) for row in drawn for z, o in zip(drawn[row], off, strict=True)
]
tables["noise-releases"] = pd.DataFrame(dots, columns=["x", "row"])
"""


def smooth_code(values: Values, points: Floats) -> Code:
    """Return the code of the sensitivity of points, which the browser computes while they are dragged."""
    body = SMOOTH.replace("POINTS", literal(tuple(np.asarray(points).tolist())))
    told = {"LOWER": LOWER, "UPPER": UPPER, "BETA": BETA_SHARES[values["noise_beta"]], "SPREAD": SPREAD}
    for name, value in told.items():
        body = body.replace(name, repr(value))
    imports = (
        "import numpy as np",
        "import pandas as pd",
        "from dpml.mechanisms import Laplace",
        "from dpml.mechanisms.smooth import Cauchy, cauchy_scale, global_sensitivity, local_sensitivity",
        "from dpml.mechanisms.smooth import sensitivity_envelope, smooth_sensitivity, statistic",
        "from dpml_app.pages.noise.points import heights",
    )
    names = ("statistic", "relation", "epsilon", "trim", "seed")
    return Code(imports, body, tuple(f"noise_{name}" for name in names))
