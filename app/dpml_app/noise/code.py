"""Code of the Noise page's picture, by the library's mechanisms."""

from __future__ import annotations

from dpml_app.card import Values
from dpml_app.code.script import Code
from dpml_app.noise.figures import FLOOR
from dpml_app.noise.models import Numbers, model

__all__ = ["histogram_code"]

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
        "from dpml_app.noise.compute import bin_edges",
    )
    return Code(imports, body, ("noise_draws", "noise_seed", "noise_reach"))
