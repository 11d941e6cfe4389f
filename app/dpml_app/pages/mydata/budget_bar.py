"""One ε and its parts: a bar, and under it a slider and a lock for each part."""

import math
from collections.abc import Callable, Collection, Mapping
from typing import Any

import panel as pn
import panel_material_ui as pmui

from dpml_app.compat import answer_soon
from dpml_app.core.card import WHOLE, line
from dpml_app.core.widgets import WIDE, words_of
from dpml_app.drawing.figure import script
from dpml_app.pages.mydata.bought import Bought
from dpml_app.pages.mydata.shares import PARTS, START, moved
from dpml_app.text.phrases import number

TITLES = {part: part.capitalize() for part in PARTS}
# white is read on each of them (at least 4.9 to 1), and each is seen on a light and on a dark page (at least 3 to 1)
COLOURS = {"selection": "#0b6fb8", "training": "#8a4bc0", "evaluation": "#b45309", "publishing": "#0f766e"}
BAR_STYLE = script("pages/mydata/budget_bar.css")
EMPTY: Mapping[str, str] = {}
FOR_WHOM = "<p>Estimates from your exact records. Do not publish them.</p>"
# in hundredths of the whole: the keys PageUp and PageDown move a slider by ten of its units
WHOLE_BAR, PERCENT = 100.0, "return Math.round(tick) + '%'"
# what a slider that is switched off is called must be read too
READ = {"& .MuiFormLabel-root.Mui-disabled": {"color": "text.secondary"}}


def drawn(
    epsilon: float, shares: Mapping[str, float], locked: Collection[str] = (), buys: Mapping[str, str] = EMPTY
) -> str:
    """Return the bar of one ε as HTML, and what each part has of it and buys with that.

    Examples
    --------
    >>> "Training <b>0.25</b>" in drawn(0.5, {"training": 0.5, "publishing": 0.5})
    True
    """
    parts = "".join(
        f'<span style="width:{100 * share:.3f}%;background:{COLOURS[part]}"><b>{TITLES[part]}</b></span>'
        for part, share in shares.items()
    )
    has = {part: f"<b>{number(epsilon * share)}</b>" if share else "left out" for part, share in shares.items()}
    items = "".join(
        f'<li style="--part:{COLOURS[part]}">{TITLES[part]} {words}{" (locked)" if part in locked else ""}'
        f"{': ' + buys[part] if part in buys else ''}</li>"
        for part, words in has.items()
    )
    listed = f'<div class="bar" aria-hidden="true">{parts}</div><ul aria-label="Parts of ε = {epsilon:g}">{items}</ul>'
    return f"{listed}{FOR_WHOM if buys else ''}"


class BudgetBar:
    """The shares of one ε, as widgets that move each other.

    `changed`: called after each change of the shares.
    """

    def __init__(self, epsilon: float, changed: Callable[[], None]):
        self.epsilon, self.changed = epsilon, changed
        # what the parts buy on the table in use, None where there is none
        self.bought: Bought | None = None
        self.shares = dict(START)
        self._showing, self.touched = False, False
        self.picture = pn.pane.HTML("", sizing_mode="stretch_width", margin=(6, 12), stylesheets=[BAR_STYLE])
        look: dict[str, Any] = {"start": 0.0, "end": WHOLE_BAR, "step": 1.0, "show_value": False, "sx": READ}
        look["min_width"] = 130
        self.sliders: dict[str, Any] = {
            part: pmui.FloatSlider(label=title, bar_color=COLOURS[part], format=words_of(PERCENT), **look, **WIDE)
            for part, title in TITLES.items()
        }
        self.locks = {part: pmui.Checkbox(label=f"Lock {part}", margin=(14, 12, 0, 4)) for part in PARTS}
        for part, slider in self.sliders.items():
            answer_soon(slider)
            slider.param.watch(lambda event, part=part: self._move(part, event.new), "value")
        for lock in self.locks.values():
            lock.param.watch(lambda _event: self.show(), "value")
        # a lock goes below its slider where both have no room
        wrap: dict[str, Any] = {"sizing_mode": "stretch_width", "margin": 0, "styles": {"flex-wrap": "wrap"}}
        rows = [pn.Row(self.sliders[part], self.locks[part], **wrap) for part in PARTS]
        self.whole = pn.Column(self.picture, line(*rows, least=360), **WHOLE)
        self.show()

    def begin(self, *, selection: bool) -> None:
        """Begin anew; a table whose columns cannot be selected has no share for that."""
        self.shares = dict(START) if selection else moved(START, "selection", 0.0)
        self._showing = True
        for part, lock in self.locks.items():
            lock.value = part == "selection" and not selection
        self.show()

    @property
    def locked(self) -> set[str]:
        """The parts that keep their shares."""
        return {part for part, lock in self.locks.items() if lock.value}

    def _move(self, part: str, to: float | None) -> None:
        # what comes from a browser is not trusted
        if self._showing or to is None or math.isnan(to):
            return
        self.touched = True
        self.shares = moved(self.shares, part, min(max(float(to) / WHOLE_BAR, 0.0), 1.0), self.locked)
        self.show()
        self.changed()

    def say(self, epsilon: float) -> None:
        """Show the parts of another ε."""
        self.epsilon = epsilon
        self.show()

    def show(self) -> None:
        """Show the shares in all widgets; a slider that could not move is switched off."""
        locked, self._showing = self.locked, True
        try:
            for part, slider in self.sliders.items():
                fixed = part in locked or len(locked - {part}) == len(PARTS) - 1
                slider.param.update(value=WHOLE_BAR * self.shares[part], disabled=fixed)
            self.draw()
        finally:
            self._showing = False

    def draw(self) -> None:
        """Draw the bar, and say what its parts buy."""
        epsilons = {part: self.epsilon * share for part, share in self.shares.items()}
        buys = EMPTY if self.bought is None else self.bought.lines(self.epsilon, epsilons)
        self.picture.object = drawn(self.epsilon, self.shares, self.locked, buys)
