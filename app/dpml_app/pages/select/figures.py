"""The figures of the Select page: made once a page, then changed through their data sources alone."""

from collections.abc import Collection, Mapping, Sequence
from dataclasses import replace
from typing import Any

import numpy as np
from bokeh.models import FactorRange, FixedTicker, LogAxis, NumeralTickFormatter

from dpml_app.drawing.band import BandFigure
from dpml_app.drawing.figure import (
    FONT,
    PLAIN_DIGITS,
    Figure,
    empty_source,
    fill,
    hover,
    new_figure,
    p_range,
    percent_axis,
    set_ticks,
    write,
)
from dpml_app.drawing.styles import ORANGE, REFERENCE, SKY, style_of, styles_of
from dpml_app.pages.select.compute import SelectFacts
from dpml_app.pages.select.settings import SELECTOR_STYLES

RULE_STYLES = styles_of("selector", "threshold")
OWN_STYLES = {
    "all": replace(style_of("row-bounded"), label="All features, private"),
    "best": style_of("best-selector", "selector"),
}
# room for a legend of one column, which a phone needs
TALL = 640


def one_three(axis, low: int, high: int) -> None:
    """Label 1 and 3 times powers of ten in plain digits."""
    ticks = [float(f"{s}e{k}") for k in range(low, high) for s in (1, 3)]
    set_ticks(axis[0], ticks, f"tick >= 1000 ? {PLAIN_DIGITS} : String(tick)")


class F1Figure(BandFigure):
    """F1 against the threshold, with the number of features that truly reach it above."""

    def __init__(self):
        p = new_figure(
            "select-f1",
            x_axis_type="log",
            x_range=(1, 1000),
            y_range=(-0.02, 1.02),
            x_axis_label="threshold τ, in records (log scale)",
            y_axis_label="F1 score",
        )
        p.height = TALL
        one_three(p.xaxis, -3, 6)
        percent_axis(p.yaxis)
        self.above = LogAxis(
            axis_label="exact number of features that reach τ (private)",
            ticker=FixedTicker(ticks=[]),
            minor_tick_line_color=None,
            axis_label_text_font_style="normal",
            axis_label_text_font_size="15px",
            major_label_text_font_size="14px",
        )
        p.add_layout(self.above, "above")
        super().__init__(p, RULE_STYLES, "threshold")

    def show_axis(self, thresholds: Sequence[float], true: Sequence[int], unit: str) -> None:
        """Set the axis for a data set and a score."""
        self.plot.x_range.update(start=thresholds[0] / 1.1, end=thresholds[-1] * 1.1)
        self.plot.xaxis[-1].axis_label = f"threshold τ, in {unit} (log scale)"
        self.above.update(
            # every second one: their numbers need room on a phone
            ticker=FixedTicker(ticks=list(thresholds[::2])),
            major_label_overrides={t: f"{k:,}" for t, k in zip(thresholds, true, strict=True)},
        )


class AccuracyFigure(BandFigure):
    """Accuracy against the number of features, between lines that do not depend on it."""

    def __init__(self):
        p = new_figure(
            "select-accuracy",
            x_axis_type="log",
            x_range=(0.8, 100),
            y_range=(0.4, 1.0),
            x_axis_label="number of features T (log scale)",
            y_axis_label="test accuracy",
        )
        p.height = TALL
        one_three(p.xaxis, 0, 4)
        percent_axis(p.yaxis)
        super().__init__(p, {**SELECTOR_STYLES, **OWN_STYLES}, "n_features")
        self.reference("non_private", "All features, non-private", "solid")
        self.reference("majority", "Majority class", "dotted")
        self._levels: dict[str, float] = {}

    def show_references(self, facts: SelectFacts, most: int) -> None:
        """Draw the lines of a data set."""
        self.plot.x_range.update(start=0.9, end=1.1 * most)
        low, high = sorted((facts.majority, facts.non_private))
        self.plot.y_range.update(start=max(0.0, low - 0.12), end=min(1.0, high + 0.05))
        self._levels = {"majority": facts.majority}
        self.show_exact(None)

    def show_exact(self, accuracy: float | None) -> None:
        """Draw what the model of the curves reaches on all features without noise, once it is known."""
        self.place_levels(self._levels if accuracy is None else {**self._levels, "non_private": accuracy})

    def name_methods(self, methods: Collection[str]) -> None:
        """Have only the methods that are chosen in the legend, beside those that always are."""
        super().name_methods([*OWN_STYLES, *methods])

    def show(self, series: str, points: Mapping[Any, np.ndarray], complete: bool) -> None:
        """Show a curve; what does not depend on T is a level line."""
        if series in OWN_STYLES:
            points = {x: draws for x in p_range(self.plot) for draws in points.values()}
        super().show(series, points, complete)


class FeatureFigure(Figure):
    """The counts of one feature."""

    computed = ("bars",)

    def __init__(self):
        self.plot = p = new_figure(
            "select-feature", x_range=(0, 1), y_range=FactorRange(factors=["a", "b"]), x_axis_label="training records"
        )
        p.height = 320
        p.xaxis.formatter = NumeralTickFormatter(format="0,0.[0]")
        p.yaxis.major_label_text_font_size = "15px"
        p.yaxis.group_text_font_size, p.yaxis.group_text_font = "15px", FONT
        p.ygrid.visible = False
        self.bars = empty_source("select-bars", "row", "records", "label", "color", "name")
        bars = p.hbar("row", height=0.8, right="records", source=self.bars, color="color")
        hover(p, [bars], ("feature", "@name"), ("records", "@label"))
        beside: dict[str, Any] = {"x_offset": 6, "text_baseline": "middle"}
        write(p, "records", "row", "label", source=self.bars, color=REFERENCE, **beside)

    def show(self, name: str, classes: Sequence[str], counts: Mapping[str, Any]) -> None:
        """Show a feature's counts."""
        looks = ("on", ORANGE), ("off", SKY)
        each = [((str(c), state), counts[state][i], color) for i, c in enumerate(classes) for state, color in looks]
        fill(self.bars, [(row, records, f"{int(records):,}", color, name) for row, records, color in each])

    def show_dataset(self, classes: Sequence[str], largest: float) -> None:
        """Lay the rows out for a data set."""
        self.plot.y_range.factors = [(str(c), state) for c in classes for state in ("on", "off")][::-1]
        # room for the number beside the longest bar, on a phone, too
        self.plot.x_range.end = 1.35 * largest
