"""Card: the ε that one run certifies, without a trade-off curve and with one, beside the claim; its results ship."""

import math

from dpml_app.core.card import Card, Results
from dpml_app.data.facts import NoFacts
from dpml_app.drawing.figure import across, empty_source, fill, hover, new_figure, write_cut
from dpml_app.drawing.legend import PlotLegend, mark, stroke
from dpml_app.drawing.styles import BLUE, GREEN, ORANGE, REFERENCE
from dpml_app.pages.audit import shipped, words
from dpml_app.pages.audit.settings import AuditValues


class OneRunFigure:
    """A row a method: the median of what one run certifies by either form, and the quartiles."""

    def __init__(self):
        rows = len(shipped.METHODS)
        self.plot = p = new_figure("audit-one-run", x_range=(0, 1.1), y_range=(-0.5, rows - 0.2))
        p.xaxis.axis_label = "ε certified by one run (median of 100 runs)"
        p.yaxis.visible = False
        p.ygrid.visible = False
        columns = ("method", "y", "name_y", "plain", "low", "high", "curve", "guesses", "accused")
        self.rows = empty_source("audit-one-run", *columns)
        p.segment("low", "y", "high", "y", source=self.rows, color=BLUE, line_width=4, line_alpha=0.5)
        look = {"source": self.rows, "line_color": "white"}
        curve = p.scatter("curve", "y", marker="diamond", size=16, color=ORANGE, **look)
        plain = p.scatter("plain", "y", size=10, color=BLUE, **look)
        name = {"x_offset": 6, "text_baseline": "bottom"}
        write_cut(p, 0, "name_y", "method", color=REFERENCE, source=self.rows, size=14, **name)
        self.claimed = across(p, "height", line_color=GREEN, line_width=3, name="audit-one-run-claim")
        legend = PlotLegend(p, location=(0, 0))  # no axis stands left of the plot
        legend.add("Any noise", [mark("circle", BLUE)], [plain])
        legend.add("Known noise (f-DP)", [mark("diamond", ORANGE)], [curve])
        legend.add("Claim", [stroke(GREEN, width=3)], [self.claimed])
        tips = [("", "@method"), ("ε, any noise", "@plain{0.00}"), ("ε, known noise", "@curve{0.00}")]
        tips += [("guesses", "@guesses"), ("wrong refutations", "@accused{0%}")]
        hover(p, [plain, curve], *tips)

    def show(self, lines: list[shipped.OneRun]) -> None:
        """Show a line a method, all at one claim."""
        rows = []
        for y, (method, _epsilon, guesses, plain, low, high, curve, accused) in enumerate(lines[::-1]):
            apart = curve if curve > plain else math.nan
            rows.append((shipped.METHODS[method], y, y + 0.14, plain, low, high, apart, guesses, accused))
        fill(self.rows, rows[::-1])
        claimed = self.claimed.location = lines[0].epsilon
        # a mark at 0 is drawn whole
        self.plot.x_range.update(start=-0.02 * claimed, end=1.1 * claimed)

    def clear(self) -> None:
        """Keep the rows: they need no draws."""


class OneRunCard(Card[AuditValues, NoFacts]):
    """What one run certifies at the recorded ε that is nearest to the claimed one."""

    draw = OneRunFigure
    name, title, caption = "one-run", "Audit with one run", words.AUDIT_CAPTIONS["one_run"]
    no_script = "its results are precomputed by python benchmarks/audit_one_run.py --results"

    def prepare(self, values: AuditValues, facts: NoFacts, now: Results) -> None:
        self.figure.show(shipped.one_run(values.audit_epsilon))

    def readout(self, values: AuditValues, facts: NoFacts, results: Results) -> str:
        return words.one_run_readout(shipped.one_run(values.audit_epsilon))
