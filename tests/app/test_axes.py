"""A picture shows what differs: no axis is above three times the range of what is compared on it."""

import numpy as np
import pytest
from bokeh.models import GlyphRenderer, LogScale, Range1d
from dpml_app.page_list import PAGES

MOST = 3
# characters in a line of an axis' name on a phone
LONGEST = 46
VISITS = {
    "explore": "&draws=10",
    "noise": "",
    "select": "&draws=10",
    "train": "&draws=10&dataset=toy",
    "publish": "&dataset=toy&publish_draws=5&publish_grids=100",
    "evaluate": "&draws=10",
    "audit": "",
}
# what compares; an area in the ground of a plot fills it
MARKS = {"Line", "Scatter", "Segment", "VArea", "VBar", "Quad"}
# why an axis may be longer
LONGER = {
    "select-chosen": "the browser draws the probabilities",
}
ENDS = {"x": ("x", "x0", "x1", "left", "right"), "y": ("y", "y0", "y1", "y2", "top", "bottom")}


def compared(plot, axis):
    """Return the numbers at which the marks of a plot stand on an axis."""
    marks = [
        r for r in plot.renderers if isinstance(r, GlyphRenderer) and r.visible and type(r.glyph).__name__ in MARKS
    ]
    columns = [(r.data_source.data, getattr(r.glyph, end, None)) for r in marks for end in ENDS[axis]]
    values = [value for data, name in columns for value in data.get(getattr(name, "field", name), ())]
    numbers = np.array([float(value) for value in values if isinstance(value, int | float | np.number)])
    return numbers[np.isfinite(numbers)]


def stretch(plot, axis):
    """Return how many times the range of what is compared an axis is; None where it has no numbers."""
    ends, values = getattr(plot, f"{axis}_range"), compared(plot, axis)
    if not isinstance(ends, Range1d) or not len(values):
        return None
    start, end = sorted((ends.start, ends.end))
    seen = values[(values >= start) & (values <= end)]
    if isinstance(getattr(plot, f"{axis}_scale"), LogScale):
        start, end, seen = np.log(start), np.log(end), np.log(seen)
    return (end - start) / max(np.ptp(seen), 1e-9)


@pytest.mark.parametrize("all_cards", [False, pytest.param(True, marks=pytest.mark.full)])
@pytest.mark.parametrize("page_id", VISITS)
def test_no_axis_is_above_three_times_what_is_compared(alone, page_id, all_cards):
    page = alone.enter(page_id, VISITS[page_id], only=() if all_cards else ("none",)).page
    cards = page.cards.values() if all_cards else [page.cards[page.main_card]]
    plots = [plot for card in cards for plot in card.plots if plot.visible]
    ratios = {(plot.name, axis): stretch(plot, axis) for plot in plots for axis in "xy"}
    names = [line for plot in plots for axis in plot.axis for line in (axis.axis_label or "").split("\n")]
    assert [name for name in names if len(name) > LONGEST] == []
    known = {place: ratio for place, ratio in ratios.items() if ratio is not None}
    assert known
    assert {place for place, ratio in known.items() if ratio > MOST and place[0] not in LONGER} == set()


def test_every_page_with_a_picture_is_visited():
    assert set(VISITS) == {name for name, page in PAGES.items() if page.main_card}
