"""A lesson as one file that opens from a disk: ``python -m dpml_app.lessons.export NAME FILE``.

It needs no server and no network. Each step has a plot of its own, computed here over the control that the step is
about, and a slider that moves through it in the browser.
"""

import argparse
import sys
from collections.abc import Sequence
from html import escape
from pathlib import Path
from string import Template
from typing import Any

from bokeh.embed import components
from bokeh.models import Column as BokehColumn
from bokeh.models import (
    ColumnDataSource,
    CustomJS,
    CustomJSTickFormatter,
    Div,
    FixedTicker,
    LayoutDOM,
    Range1d,
    Slider,
    Span,
)
from bokeh.plotting import figure
from bokeh.resources import Resources

from dpml.datasets import card, missing
from dpml.exceptions import InvalidParameter
from dpml_app.drawing.figure import EPSILON_TICKS
from dpml_app.drawing.styles import HERE, VERMILION, style_of
from dpml_app.drawing.sweep import Bars, Sweep
from dpml_app.lessons import panel
from dpml_app.lessons.figures import settings_of
from dpml_app.lessons.read import InvalidLesson, Lesson, lessons
from dpml_app.page_list import PAGES

FOLDER = Path(__file__).parent
# of the ends of a log axis
MOST_RATIO = 1e7
WIDE: dict[str, Any] = {"sizing_mode": "stretch_width"}
NO_PLOT = "No plot: the files of the data set {} were not on the machine that exported this lesson."


def drawn(shown: Sweep | Bars) -> LayoutDOM:
    """Return a plot with its slider and its sentence, which the browser moves by itself."""
    return _bars(shown) if isinstance(shown, Bars) else _curves(shown)


def _control(label: str, values: Sequence[float], chosen: float, callback: CustomJS) -> Slider:
    names = [f"{v:,g}" for v in values]
    slider = Slider(
        start=0,
        end=len(values) - 1,
        step=1,
        value=list(values).index(chosen),
        title=label,
        format=CustomJSTickFormatter(args={"names": names}, code="return names[tick]"),
        name="control",
        stylesheets=[".bk-slider-title { font-size: 1rem; margin-bottom: 6px; }"],
        **WIDE,
    )
    callback.args["slider"] = slider
    slider.js_on_change("value", callback)
    return slider


def _plot(**options: Any) -> figure:
    p = figure(height=440, tools="", toolbar_location=None, min_border_left=60, min_border_right=20, **WIDE, **options)
    p.outline_line_color = None
    p.grid.grid_line_alpha = 0.4
    for axis in p.axis:
        axis.axis_label_text_font_style = "normal"
        axis.axis_label_text_font_size, axis.major_label_text_font_size = "15px", "14px"
    return p


def _curves(shown: Sweep) -> LayoutDOM:
    x = list(shown.values)
    p = _plot(x_axis_type="log" if shown.log else "linear", y_axis_type="linear" if shown.percent else "log")
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
    here = Span(location=shown.chosen, dimension="height", line_color=HERE, line_width=2)
    p.add_layout(here)
    p.add_layout(p.legend[0], "below")
    p.legend.location, p.legend.label_text_font_size = "left", "14px"
    p.legend.ncols, p.legend.border_line_alpha, p.legend.background_fill_alpha = 2, 0, 0
    sentence = Div(text="", styles={"font-size": "1.05rem", "line-height": "1.45"}, **WIDE)
    lines = [
        {"label": line.look.label, "middle": list(line.middle), "low": list(line.low), "high": list(line.high)}
        for line in shown.lines
    ]
    callback = CustomJS(
        args={"here": here, "sentence": sentence, "x": x, "lines": lines, "unit": "%" if shown.percent else ""},
        code=(FOLDER / "export_curves.js").read_text(encoding="utf-8"),
    )
    return _column(shown.title, p, _control(shown.control, x, shown.chosen, callback), sentence)


def _bars(shown: Bars) -> LayoutDOM:
    at = list(shown.values).index(shown.chosen)
    places = range(len(shown.outputs))
    p = _plot(y_range=(0, 100))
    p.xaxis.ticker = FixedTicker(ticks=list(places))
    p.xaxis.major_label_overrides = dict(zip(places, shown.outputs, strict=True))
    p.yaxis.formatter = CustomJSTickFormatter(code="return `${tick}%`")
    sources = []
    for side, (heights, color, label) in enumerate(
        ((shown.first, style_of("algorithm-1").color, "from D"), (shown.second, VERMILION, "from D′"))
    ):
        source = ColumnDataSource({"x": [i + 0.4 * (side - 0.5) for i in places], "top": heights[at]})
        p.vbar("x", 0.38, "top", source=source, color=color, legend_label=label)
        sources.append(source)
    sentence = Div(text="", styles={"font-size": "1.05rem", "line-height": "1.45"}, **WIDE)
    callback = CustomJS(
        args={
            "sources": sources,
            "heights": [shown.first, shown.second],
            "outputs": list(shown.outputs),
            "sentence": sentence,
        },
        code=(FOLDER / "export_bars.js").read_text(encoding="utf-8"),
    )
    return _column(shown.title, p, _control("Claimed ε", shown.values, shown.chosen, callback), sentence)


def _column(title: str, p: figure, slider: Slider, sentence: Div) -> LayoutDOM:
    heading = Div(text=f"<h2>{escape(title)}</h2>", **WIDE)
    return BokehColumn(heading, p, slider, sentence, **WIDE)


def exported(lesson: Lesson) -> str:
    """Return a lesson as one HTML page. A step whose data are not on this machine has a note in place of its plot."""
    steps: list[LayoutDOM | str] = []
    for number, step in enumerate(lesson.steps, 1):
        plot = PAGES[step.page].lesson_plot
        if plot is None:
            shown = ", ".join(name for name, page in PAGES.items() if page.lesson_plot is not None)
            allowed = f"a link of a page that an export can show: {shown}"
            raise InvalidLesson(f"{lesson.name}.yaml", number, "link", f"page={step.page}", allowed)
        settings = settings_of(step.state)
        if missing(settings.dataset):
            steps.append(f'<p class="no-plot">{escape(NO_PLOT.format(card(settings.dataset)["title"]))}</p>')
        else:
            steps.append(drawn(plot(settings, step.card, list(step.state))))
    plots = tuple(step for step in steps if not isinstance(step, str))
    script, places = components(plots, wrap_script=False) if plots else ("", ())
    plotted = iter(places)
    sections = [step if isinstance(step, str) else next(plotted) for step in steps]
    resources = Resources(mode="inline", components=["bokeh", "bokeh-widgets"])
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
