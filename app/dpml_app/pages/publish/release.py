"""Cards: one release, its grid, the chances of the best candidates, and its cells."""

from collections.abc import Mapping, Sequence
from itertools import pairwise
from typing import Any

from bokeh.core.properties import value
from bokeh.models import ColumnDataSource, NumeralTickFormatter
from bokeh.plotting import figure

from dpml.schema import Taxonomy
from dpml_app.core.card import WORKER, Card, ResultKey, Results
from dpml_app.drawing.figure import Figure, empty, empty_source, fill, fix_ticks, hover, new_figure, write, write_cut
from dpml_app.drawing.legend import PlotLegend, mark
from dpml_app.drawing.styles import BLUE, ORANGE, PALETTE, REFERENCE
from dpml_app.pages.publish import words
from dpml_app.pages.publish.compute import PublishFacts
from dpml_app.pages.publish.one_release import BEST, MOST_ATTRIBUTES, MOST_CELLS_SHOWN, release_facts
from dpml_app.pages.publish.settings import PublishValues
from dpml_app.text.phrases import shortened
from dpml_app.work.pool import Task

# of an attribute's height, a level that is taken has so many parts, and any other level one
TAKEN = 3
GAP = 0.14
MOST_CLASSES = len(PALETTE)


# of a cell's name, as many as the widest card has room for
MOST_LETTERS = 78


def _name_bars(p: figure, source: ColumnDataSource, above: int) -> None:
    """Write the names of rows above their bars."""
    write_cut(p, 0, "y", "name", source=source, color=REFERENCE, y_offset=above, x_offset=3)


class GridFigure(Figure):
    """Attributes below one another, each with the levels of its taxonomy; the level that is taken is filled."""

    computed = ("taken", "others", "words")

    def __init__(self) -> None:
        self.plot = p = new_figure("publish-grid", x_range=(0, 1), y_range=(-MOST_ATTRIBUTES, 0))
        p.xaxis.visible = p.xgrid.visible = p.ygrid.visible = False
        columns = ("left", "right", "bottom", "top", "attribute", "level", "group")
        self.taken = empty_source("publish-grid-taken", *columns)
        self.others = empty_source("publish-grid-others", *columns)
        self.words = empty_source("publish-grid-words", "x", "y", "text", "part")
        edges: dict[str, Any] = {"left": "left", "right": "right", "bottom": "bottom", "top": "top"}
        others = p.quad(source=self.others, fill_color=REFERENCE, fill_alpha=0.1, line_color=REFERENCE, **edges)
        taken = p.quad(source=self.taken, fill_color=BLUE, line_color="white", **edges)
        look: dict[str, Any] = {"text_baseline": "middle", "text_color": "white"}
        write_cut(p, "x", "y", "text", source=self.words, size=12, x_offset=4, **look)
        hover(p, [taken, others], ("", "@attribute"), ("level", "@level"), ("group", "@group"))

    def show(self, taxonomies: Sequence[Taxonomy], levels: Sequence[int]) -> None:
        """Show a grid: the attributes that it tells apart, and the first of the others."""
        order = sorted(range(len(levels)), key=lambda j: (levels[j] == 0, j))[:MOST_ATTRIBUTES]
        boxes: dict[bool, list[tuple]] = {True: [], False: []}
        words: list[tuple] = []
        for row, j in enumerate(order):
            taxonomy, top = taxonomies[j], -row - GAP / 2
            heights = [TAKEN if level == levels[j] and level else 1 for level in range(taxonomy.n_levels)]
            unit = (1 - GAP) / sum(heights)
            for level, height in enumerate(heights):
                taken, bottom = height == TAKEN, top - height * unit
                ends = [first / taxonomy.n_values for first in (*taxonomy.firsts[level], taxonomy.n_values)]
                for (left, right), group in zip(pairwise(ends), taxonomy.groups(level), strict=True):
                    boxes[taken].append((left, right, bottom, top, taxonomy.name, level, group))
                    if taken:
                        words.append((left, (top + bottom) / 2, group, right - left))
                top = bottom
        for source, rows in ((self.taken, boxes[True]), (self.others, boxes[False]), (self.words, words)):
            fill(source, rows)
        ticks = {-row - 0.5: shortened(taxonomies[j].name, 16) for row, j in enumerate(order)}
        fix_ticks(self.plot.yaxis[0], list(ticks))
        self.plot.yaxis.major_label_overrides = ticks
        self.plot.y_range.start = -len(order)


class ChancesFigure(Figure):
    """The best candidate grids, each with its probability to be drawn."""

    computed = ("bars", "drawn")

    def __init__(self) -> None:
        self.plot = p = new_figure(
            "publish-chances", x_range=(0, 1), y_range=(-BEST, 0), x_axis_label="probability of selection"
        )
        p.xaxis.formatter = NumeralTickFormatter(format="0.[0]%")
        p.yaxis.visible = p.ygrid.visible = False
        self.bars = empty_source("publish-chances-bars", "y", "name", "chance", "correct")
        self.drawn = empty_source("publish-chances-drawn", "y", "chance", "text")
        bars = p.hbar("y", right="chance", height=0.4, source=self.bars, color=BLUE)
        p.scatter("chance", "y", source=self.drawn, marker="star", size=17, color=ORANGE, line_color="white")
        look: dict[str, Any] = {"text_font_size": "14px", "text_font_style": "bold", "text_baseline": "middle"}
        write(p, "chance", "y", "text", source=self.drawn, color=ORANGE, x_offset=12, **look)
        _name_bars(p, self.bars, -11)
        hover(p, [bars], ("", "@name"), ("probability", "@chance{0.00%}"), ("accuracy without noise", "@correct{0.0%}"))

    def show(self, release: Mapping[str, Any]) -> None:
        """Show the chances of one release."""
        n, chances = len(release["names"]), release["chances"].tolist()
        y = [-place - 0.7 for place in range(n)]
        fill(self.bars, zip(y, release["names"], chances, release["correct"].tolist(), strict=True))
        fill(self.drawn, [(y[place], release["chance"], "this table") for place in [release["place"]] if place < n])
        # room for what is written beside the best bar
        end = max(1.35 * max(chances), 0.001)
        self.plot.x_range.end = end
        self.plot.y_range.start = -n - 0.1


class CellsFigure(Figure):
    """The largest cells, with the true and the noisy number of each class."""

    computed = ("rows", "classes")

    def __init__(self) -> None:
        self.plot = p = new_figure(
            "publish-cells", x_range=(0, 1), y_range=(-MOST_CELLS_SHOWN, 0), x_axis_label="records per class"
        )
        p.height = 640
        p.xaxis.formatter = NumeralTickFormatter(format="0,0.[0]")
        p.yaxis.visible = p.ygrid.visible = False
        self.rows = empty_source("publish-cells-rows", "y", "name")
        _name_bars(p, self.rows, -9)
        legend = PlotLegend(p, 2, hides=True, location=(0, 0))
        columns = ("y", "true", "noisy", "name", "of")
        self.classes, self.items = [], []
        every: dict[str, list[Any]] = {"true": [], "noisy": []}
        for place, color in enumerate(PALETTE):
            source = empty_source(f"publish-cells-{place}", *columns)
            line = p.segment("true", "y", "noisy", "y", source=source, color=color, line_width=2)
            true = p.scatter("true", "y", source=source, size=15, fill_color=None, line_color=color, line_width=2)
            noisy = p.scatter("noisy", "y", source=source, size=8, color=color)
            every["true"].append(true)
            every["noisy"].append(noisy)
            self.classes.append(source)
            shown = [line, true, noisy]
            self.items.append(legend.item(f"class {place + 1}", [mark("circle", color, size=11)], shown))
        tips = ("", "@name"), ("class", "@of"), ("exact", "@true{0,0}"), ("noisy", "@noisy{0,0.0}")
        hover(p, every["noisy"] + every["true"], *tips)
        hollow = mark("circle", REFERENCE, size=13, fill_alpha=0.0, line_width=2)
        marks = [
            legend.item("exact", [hollow], every["true"]),
            legend.item("noisy", [mark("circle", REFERENCE, size=8)], every["noisy"]),
        ]
        legend.place([*marks, *self.items])

    def lay_out(self, classes: Sequence[str]) -> None:
        """Name the classes."""
        for place, item in enumerate(self.items):
            there = place < len(classes)
            item.update(visible=there, label=value(str(classes[place]) if there else f"class {place + 1}"))

    def show(self, release: Mapping[str, Any], classes: Sequence[str]) -> None:
        """Show the cells of one release."""
        n = len(release["cells"])
        y = [-place - 0.7 for place in range(n)]
        names = list(release["cells"])
        # the pointer has the whole name
        self.rows.data = {"y": y, "name": [shortened(name, MOST_LETTERS) for name in names]}
        for place, source in enumerate(self.classes):
            if place < len(classes):
                true, noisy = release["true"][:, place].tolist(), release["noisy"][:, place].tolist()
                source.data = {"y": y, "true": true, "noisy": noisy, "name": names, "of": [str(classes[place])] * n}
            else:
                empty(source)
        low, high = min(release["noisy"].min(), 0.0), max(release["noisy"].max(), release["true"].max(), 1.0)
        self.plot.x_range.update(start=low - 0.03 * (high - low), end=high + 0.05 * (high - low))
        self.plot.y_range.start = -n - 0.1


HERE = ("release", WORKER)


class _ReleaseCard(Card[PublishValues, PublishFacts]):
    """A card that shows the release of the table that is shown."""

    def work(self, values: PublishValues, facts: PublishFacts) -> dict[ResultKey, Task]:
        return {HERE: Task(release_facts, values.drawn_key())}

    def prepare(self, values: PublishValues, facts: PublishFacts, now: Results) -> None:
        self._classes = facts.classes
        self.show(now, {})

    def show(self, results: Results, wanted: Mapping[ResultKey, Task]) -> None:
        if HERE in results:
            self.reveal(results[HERE])

    def reveal(self, release: Mapping) -> None:
        """Show a release."""
        self.figure.show(release)

    def readout(self, values: PublishValues, facts: PublishFacts, results: Results) -> str:
        return words.release(self.name, results[HERE]) if HERE in results else "Computing…"


class GridCard(_ReleaseCard):
    """The chosen grid on its taxonomies."""

    draw = GridFigure
    name, title, caption = "grid", "Grid of the table", words.CAPTIONS["grid"]

    def reveal(self, release: Mapping) -> None:
        self.figure.show(release["taxonomies"], release["levels"])


class ChancesCard(_ReleaseCard):
    """The exponential mechanism's exact probabilities."""

    draw = ChancesFigure
    name, title, caption = "chances", "Selection of the grid", words.CAPTIONS["chances"]


class CellsCard(_ReleaseCard):
    """True and noisy counts of the largest cells."""

    draw = CellsFigure
    name, title, caption = "cells", "Noise in the cells", words.CAPTIONS["cells"]

    def lay_out(self, facts: PublishFacts) -> None:
        self.figure.lay_out(facts.classes)

    def reveal(self, release: Mapping) -> None:
        self.figure.show(release, self._classes)
