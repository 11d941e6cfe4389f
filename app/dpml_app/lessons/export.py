"""A lesson as one file that opens from a disk: ``python -m dpml_app.lessons.export NAME FILE``.

It needs no server and no network. Each step has a plot of its own, computed here over the control that the step is
about, and a slider that moves through it in the browser.
"""

import argparse
import json
import re
import sys
from collections.abc import Sequence
from html import escape
from pathlib import Path
from string import Template
from typing import Any

from bokeh.embed import components
from bokeh.models import ColumnDataSource, CustomJSTickFormatter, FixedTicker, Range1d
from bokeh.plotting import figure
from bokeh.resources import Resources
from bokeh.transform import dodge

from dpml.datasets import card, missing
from dpml.exceptions import InvalidParameter
from dpml_app.drawing.figure import EPSILON_TICKS, across, new_figure
from dpml_app.drawing.styles import HERE, VERMILION, style_of
from dpml_app.drawing.sweep import Bars, Sweep
from dpml_app.lessons import panel
from dpml_app.lessons.figures import settings_of
from dpml_app.lessons.read import InvalidLesson, Lesson, lessons
from dpml_app.page_list import PAGES

FOLDER = Path(__file__).parent
# of the ends of a log axis
MOST_RATIO = 1e7
NO_PLOT = "No plot: the files of the data set {} were not on the machine that exported this lesson."


def drawn(shown: Sweep | Bars, name: str) -> tuple[figure, str]:
    """Return a plot, and the HTML of its slider and its sentence, which the browser moves by itself.

    `name`: of what moves in the plot.
    """
    plot, control, data = _bars(shown, name) if isinstance(shown, Bars) else _curves(shown, name)
    data["names"] = [f"{v:,g}" for v in shown.values]
    place = f'max="{len(shown.values) - 1}" value="{list(shown.values).index(shown.chosen)}"'
    kind = f'type="range" {place} aria-label="{escape(control)}" data-shown="{escape(json.dumps(data))}"'
    return plot, f'<label>{escape(control)}: <output></output><input id="{name}" {kind}></label><p></p>'


def _curves(shown: Sweep, name: str) -> tuple[figure, str, dict[str, Any]]:
    x = list(shown.values)
    axes = {"x_axis_type": "log" if shown.log else "linear", "y_axis_type": "linear" if shown.percent else "log"}
    p = new_figure(f"{name}-plot", **axes)
    p.xaxis.axis_label = shown.control
    if shown.log and max(x) <= max(EPSILON_TICKS):
        p.xaxis.ticker = FixedTicker(ticks=EPSILON_TICKS)
    p.xaxis.formatter = CustomJSTickFormatter(code="return tick.toLocaleString('en')")
    if shown.percent:
        p.yaxis.formatter = CustomJSTickFormatter(code="return `${tick}%`")
    else:
        p.yaxis.formatter = CustomJSTickFormatter(
            code="return tick < 0.001 ? tick.toExponential(0) : tick.toLocaleString('en')"
        )
        # a width that falls without end would flatten all the rest
        most = max(max(line.middle) for line in shown.lines)
        least = min(min(line.low or line.middle) for line in shown.lines)
        p.y_range = Range1d(start=max(least, most / MOST_RATIO) / 1.5, end=most * 1.5)
    for line in shown.lines:
        if line.low:
            p.varea(x, list(line.low), list(line.high), **line.look.band)
        p.line(x, line.middle, legend_label=line.look.label, **line.look.line)
    across(p, "height", shown.chosen, name=name, line_color=HERE)
    p.add_layout(p.legend[0], "below")
    p.legend.location, p.legend.label_text_font_size = "left", "14px"
    p.legend.ncols, p.legend.border_line_alpha, p.legend.background_fill_alpha = 2, 0, 0
    lines = [
        {"label": line.look.label, "middle": list(line.middle), "low": list(line.low), "high": list(line.high)}
        for line in shown.lines
    ]
    return p, shown.control, {"x": x, "lines": lines, "unit": "%" if shown.percent else ""}


def _bars(shown: Bars, name: str) -> tuple[figure, str, dict[str, Any]]:
    at, places = list(shown.values).index(shown.chosen), range(len(shown.outputs))
    p = new_figure(f"{name}-plot", y_range=(0, 100))
    p.xaxis.ticker = FixedTicker(ticks=list(places))
    p.xaxis.major_label_overrides = dict(zip(places, shown.outputs, strict=True))
    p.yaxis.formatter = CustomJSTickFormatter(code="return `${tick}%`")
    # one source, for the browser finds it by its name
    source = ColumnDataSource({"x": list(places), "first": shown.first[at], "second": shown.second[at]}, name=name)
    for column, side, color, label in (
        ("first", -0.2, style_of("algorithm-1").color, "from D"),
        ("second", 0.2, VERMILION, "from D′"),
    ):
        p.vbar(dodge("x", side), 0.38, column, source=source, color=color, legend_label=label)
    data = {"heights": {"first": shown.first, "second": shown.second}, "outputs": list(shown.outputs)}
    return p, "Claimed ε", data


def exported(lesson: Lesson) -> str:
    """Return a lesson as one HTML page. A step whose data are not on this machine has a note in place of its plot."""
    plots: list[figure] = []
    sections: list[str] = []
    for number, step in enumerate(lesson.steps, 1):
        plot = PAGES[step.page].lesson_plot
        if plot is None:
            shown = ", ".join(name for name, page in PAGES.items() if page.lesson_plot is not None)
            allowed = f"a link of a page that an export can show: {shown}"
            raise InvalidLesson(f"{lesson.name}.yaml", number, "link", f"page={step.page}", allowed)
        settings = settings_of(step.state)
        if missing(settings.dataset):
            sections.append(f'<p class="no-plot">{escape(NO_PLOT.format(card(settings.dataset)["title"]))}</p>')
            continue
        sweep = plot(settings, step.card, list(step.state))
        made, control = drawn(sweep, f"step-{number}")
        sections.append(f"<h2>{escape(sweep.title)}</h2>PLOT{control}")
        plots.append(made)
    script, places = components(plots, wrap_script=False) if plots else ("", ())
    plotted = iter(places)
    sections = [re.sub("PLOT", lambda _: next(plotted), section, count=1) for section in sections]
    resources = Resources(mode="inline", components=["bokeh"])
    # not `render`, into which Panel puts scripts of its own server
    library = "\n".join(f"<script>{code}</script>" for code in resources.js_raw)
    shown = "\n".join(f'<section class="of-step" hidden>{section}</section>' for section in sections)
    code = f"{{\n{(FOLDER / 'export.js').read_text(encoding='utf-8')}\n{panel.ALONE}\n}}"
    styles = (FOLDER / "export.css").read_text(encoding="utf-8")
    parts = {"title": escape(lesson.title), "library": library, "styles": styles, "shown": shown, "script": script}
    parts |= {"panel": f"{panel.html()}\n{panel.texts([lesson])}", "name": escape(lesson.name), "code": code}
    return Template((FOLDER / "export.html").read_text(encoding="utf-8")).substitute(parts)


def main(arguments: Sequence[str] | None = None) -> int:
    """Write a lesson into a file."""
    parser = argparse.ArgumentParser(prog="python -m dpml_app.lessons.export", description=main.__doc__)
    parser.add_argument("name", help=f"one of {', '.join(lessons())}")
    parser.add_argument("file", type=Path)
    given = parser.parse_args(arguments)
    try:
        if given.name not in lessons():
            raise InvalidParameter("name", given.name, f"one of {', '.join(lessons())}")
        text = exported(lessons()[given.name])
        given.file.write_text(text, encoding="utf-8")
    except (InvalidParameter, InvalidLesson, OSError) as error:
        print(f"error: {error}", file=sys.stderr)
        return 2
    print(f"{given.file}: {len(text) / 1e6:.1f} MB")
    if lacking := text.count('class="no-plot"'):
        print(f"{lacking} steps have no plot: their data sets are not on this machine. dpml.datasets.fetch gets one")
    return 0


if __name__ == "__main__":
    sys.exit(main())
