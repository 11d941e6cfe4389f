"""Card: the sensitivity of points that one drags, and what is released of them. The browser computes what it shows."""

from typing import Any

import numpy as np
import pandas as pd
import panel as pn
from bokeh.events import Pan, PanEnd, PanStart
from bokeh.models import ColumnDataSource, CustomJS, CustomJSTickFormatter, FactorRange, PanTool, Range1d
from bokeh.transform import factor_cmap
from panel.models.markup import HTML

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
from dpml_app.core.card import WHOLE, Card, Results, figure_pane, line
from dpml_app.data.facts import NoFacts
from dpml_app.drawing.figure import across, empty_source, hover, new_figure, script, set_ticks
from dpml_app.drawing.legend import PlotLegend, mark, stroke
from dpml_app.drawing.styles import BLUE, EXACT, GREEN, HERE, ORANGE, REFERENCE, VERMILION
from dpml_app.pages.noise import words
from dpml_app.pages.noise.controls import points_of
from dpml_app.pages.noise.points import LOWER, UPPER, decode, encode, heights, preset
from dpml_app.pages.noise.settings import BETA_SHARES, NoiseSettings, NoiseValues

SCRIPT = script("pages/noise/kernels.js", "pages/noise/page.js")
ROWS = {"smooth": "Cauchy, smooth", "global": "Laplace, global"}
SPREAD = 60  # draws shown a row


class SmoothFigures:
    """Three figures and the sources between them and the browser's script."""

    def __init__(self):
        self.points = empty_source("noise-points", "x", "y", "serial")
        self.controls = ColumnDataSource(
            {"statistic": ["median"], "relation": ["replace-one"], "trim": [5], "epsilon": [1.0], "share": [1 / 6]},
            name="noise-controls",
        )
        self.unit = empty_source("noise-unit", "smooth", "global", "off")
        self._points_figure()
        self._envelope_figure()
        self._release_figure()

    def _points_figure(self) -> None:
        margin = 0.04 * (UPPER - LOWER)
        ends = LOWER - margin, UPPER + margin
        self.line = p = new_figure(
            "noise-line",
            x_range=Range1d(start=ends[0], end=ends[1], bounds=ends),
            y_range=Range1d(start=0, end=1, bounds=(0, 1)),
            x_axis_label="value (drag a point, heights are arbitrary)",
        )
        p.height = 230
        # a pan that has nowhere to go: its only effect is that a finger drags here instead of scrolling the page
        p.toolbar.tools = [PanTool(dimensions="width")]
        p.toolbar.active_drag = p.toolbar.tools[0]
        p.toolbar_location = None
        p.yaxis.visible = False
        p.ygrid.visible = False
        look = {"fill_color": BLUE, "fill_alpha": 0.75, "line_color": "white"}
        self.dots = p.scatter("x", "y", source=self.points, size=13, **look)

    def _envelope_figure(self) -> None:
        self.envelope = p = new_figure(
            "noise-envelope",
            x_range=(-0.5, 50.5),
            y_range=(1e-4, 1.6),
            y_axis_type="log",
            x_axis_label="changed points k",
            y_axis_label="share of the global sensitivity (log scale)",
        )
        set_ticks(p.yaxis[0], [1e-4, 1e-3, 1e-2, 1e-1, 1], "`${Number((100 * tick).toPrecision(1))}%`")
        self.terms = empty_source("noise-terms", "k", "sensitivity", "term")
        self.best = empty_source("noise-best", "k", "term")
        look = {"source": self.terms}
        p.line("k", "sensitivity", color=ORANGE, line_width=2.5, line_dash="dashed", **look)
        p.line("k", "term", color=BLUE, line_width=2, **look)
        dots = p.scatter("k", "term", color=BLUE, size=5, **look)
        p.scatter("k", "term", source=self.best, size=20, fill_alpha=0, line_color=HERE, line_width=4)
        legend = PlotLegend(p)
        legend.add("A(k)", [stroke(ORANGE, "dashed")])
        legend.add("exp(−βk) · A(k)", [stroke(BLUE, width=2), mark("circle", BLUE)])
        legend.add("Largest", [mark("circle", HERE, fill_alpha=0, line_width=3)])
        self.levels: dict[str, ColumnDataSource] = {}
        for name, color, dash in (
            ("local", VERMILION, "dotted"),
            ("smooth", GREEN, "solid"),
            ("global", REFERENCE, "dotdash"),
        ):
            self.levels[name] = source = empty_source(f"noise-{name}", "x", "y", "value")
            p.line("x", "y", source=source, color=color, line_width=2.5, line_dash=dash)
            legend.add(name.capitalize(), [stroke(color, dash)])
        hover(p, [dots], ("k", "@k"), ("A(k)", "@sensitivity{0.00%} of global"), ("term", "@term{0.00%} of global"))

    def _release_figure(self) -> None:
        self.release = p = new_figure(
            "noise-release",
            x_range=(-4, 104),
            y_range=FactorRange(factors=list(ROWS)[::-1]),
            x_axis_label="released value",
        )
        p.height = 250
        words = ", ".join(f"{name}: {text!r}" for name, text in ROWS.items())
        p.yaxis.formatter = CustomJSTickFormatter(code=f"return ({{{words}}})[tick]")
        p.ygrid.visible = False
        p.toolbar_location = None
        self.intervals = empty_source("noise-intervals", "row", "half_low", "half_high", "most_low", "most_high")
        self.releases = empty_source("noise-releases", "x", "row")
        color = factor_cmap("row", [GREEN, REFERENCE], list(ROWS))
        look = {"y": "row", "source": self.intervals, "color": color}
        p.hbar(left="most_low", right="most_high", height=0.16, alpha=0.45, **look)
        p.hbar(left="half_low", right="half_high", height=0.34, alpha=0.75, **look)
        p.scatter("x", "row", source=self.releases, size=4, color=BLUE, alpha=0.55)
        look = {"line_color": EXACT, "line_width": 3, "line_dash": "dashed"}
        self.exact = across(p, "height", 50, name="noise-value", **look)

    def connect(self, readout) -> None:
        """Let the browser draw and drag; `readout` shows its sentence.

        The script knows sources and ranges but no figure: with them it would bring the figures into the document
        before their card is near the view.
        """
        script = CustomJS(
            args={
                "points": self.points,
                "controls": self.controls,
                "unit": self.unit,
                "released": self.release.x_range,
                "envelope": self.terms,
                "best": self.best,
                "local": self.levels["local"],
                "smooth": self.levels["smooth"],
                "global_": self.levels["global"],
                "intervals": self.intervals,
                "releases": self.releases,
                "exact": self.exact,
                "readout": readout,
                "lower": LOWER,
                "upper": UPPER,
            },
            code=SCRIPT,
        )
        for source in (self.points, self.controls, self.unit):
            source.js_on_change("data", script)
        for event in (PanStart, Pan, PanEnd):
            self.line.js_on_event(event, script)

    def show_points(self, x: np.ndarray) -> None:
        """Send points, unless the browser has just sent the same."""
        serial = int(self.points.data["serial"][0]) + 1 if len(self.points.data["serial"]) else 0
        n = len(x)
        self.dots.glyph.size = 13 if n <= 50 else 10
        self.envelope.x_range.update(start=-0.02 * n, end=1.02 * n)
        self.points.data = {"x": x, "y": heights(n), "serial": np.full(n, serial)}


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


class SmoothCard(Card[NoiseValues, NoFacts]):
    """The points, the envelope of their sensitivities, and draws of two releases.

    `settings`: into which dragged points go, and so into the link.
    `readout`: its line, which the browser writes.
    """

    name, title, caption = "smooth", "Smooth sensitivity of your points", words.CAPTIONS["smooth"]
    wide = True
    in_browser = True
    controls = (
        "noise_preset",
        "noise_size",
        "noise_statistic",
        "noise_trim",
        "noise_relation",
        "point",
        "value",
        "back",
    )
    depends = frozenset({"noise_epsilon", "noise_beta", "noise_seed", "noise_points", *controls[:5]})

    def __init__(self, settings: NoiseSettings, readout: HTML):
        self.settings, self.smooth = settings, SmoothFigures()
        self.plots = [self.smooth.line, self.smooth.envelope, self.smooth.release]
        self.smooth.connect(readout)
        self.smooth.points.on_change("data", self._dragged)

    def content(self) -> list[Any]:
        points, envelope, release = map(figure_pane, self.plots)
        return [line(pn.Column(points, release, **WHOLE), envelope, least=480)]

    def prepare(self, values: NoiseValues, facts: NoFacts, now: Results) -> None:
        rng = np.random.default_rng(values.noise_seed)
        unit = Cauchy(1.0, 1 / 6)
        self.smooth.unit.data = {
            "smooth": unit.release(0.0, 1.0, rng=rng, draws=SPREAD) / unit.scale,
            "global": Laplace(1.0).release(0.0, rng=rng, draws=SPREAD),
            "off": rng.uniform(-0.3, 0.3, SPREAD),
        }
        controls = {name: [getattr(values, f"noise_{name}")] for name in ("statistic", "relation", "trim", "epsilon")}
        self.smooth.controls.data = {**controls, "share": [BETA_SHARES[values.noise_beta]]}
        if not np.array_equal(points_of(self.settings), self._points):
            self.smooth.show_points(points_of(self.settings))

    @classmethod
    def browser_tables(cls, values: NoiseValues) -> dict[str, pd.DataFrame]:
        return smooth_tables(values)

    @property
    def _points(self) -> np.ndarray:
        return np.asarray(self.smooth.points.data["x"], dtype=float)

    def _dragged(self, _attribute: str, _old: Any, _new: dict[str, Any]) -> None:
        if not np.array_equal(self._points, points_of(self.settings)):
            self.settings.noise_points = encode(self._points)
