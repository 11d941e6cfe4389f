"""Bounds that are paid for: what noise would find at an ε, the charge to the session's budget, and the facts."""

import asyncio
from collections.abc import Callable
from html import escape
from typing import Any

import numpy as np
import pandas as pd
import panel as pn
import panel_material_ui as pmui

from dpml.budget import Budget
from dpml.mechanisms import PrivateBounds, private_facts
from dpml.mechanisms.columns.numbers import LARGEST
from dpml.registry import claim
from dpml.release import Plan
from dpml.release.released import COLUMNS
from dpml.release.steps import noted
from dpml_app.core.card import WHOLE, line
from dpml_app.core.widgets import WIDE
from dpml_app.drawing.figure import script
from dpml_app.jobs import FORMULAS, LONG
from dpml_app.pages.mydata.bounds_card import REST
from dpml_app.pages.mydata.draft import Draft
from dpml_app.pages.mydata.release import Release, import_noise
from dpml_app.pages.mydata.words import safe, undelivered
from dpml_app.settings import EPSILONS

DRAWS, SEED, USUAL = 20, 0, 0.1
# of columns whose bounds in study runs are shown
SHOWN = 6
BEYOND = f"beyond ±{LARGEST:.0e}: state them yourself"
ABOUT = (
    "<h3>No public bounds?</h3><p>Spend part of the privacy budget on noisy bounds near the 1st and 99th percentiles. "
    "A release can use these bounds.</p>"
)
STYLE = script("pages/mydata/tables.css") + "h3 { font-size: 1.05rem; margin: 4px 0; } p { margin: 4px 0; }"


def study_runs(column: pd.Series, epsilon: float) -> list[PrivateBounds]:
    """Return the bounds of study runs, each as a payment would release them. They depend on the exact records."""
    rng = np.random.default_rng(SEED)
    runs = [private_facts({"": column}, {}, epsilon, relation=Plan.relation, rng=rng)[""] for _ in range(DRAWS)]
    return [run for run in runs if isinstance(run, PrivateBounds)]


def _cells_of_preview(runs: list[PrivateBounds]) -> str:
    """Return two table cells: the range of each bound over the runs, or why most runs find none."""
    if np.mean([run.hidden or run.only_zero for run in runs]) > 0.5:
        return "<td colspan='2'>hidden by noise: choose more ε or fewer columns</td>"
    bounded = [run for run in runs if run.found and not run.only_zero]
    if len(bounded) < len(runs) / 2:
        return f"<td colspan='2'>{BEYOND}</td>"
    ends = [np.quantile([getattr(run, end) for run in bounded], (0.1, 0.9)) for end in ("lower", "upper")]
    return "".join(f"<td>{_between(tuple(pair))}</td>" for pair in ends)


def preview(frame: pd.DataFrame, names: list[str], epsilon: float) -> str:
    """Return what study runs find at an ε for all columns together, as HTML."""
    rows = ""
    for name in names[:SHOWN]:
        cells = _cells_of_preview(study_runs(frame[name], epsilon / len(names)))
        rows += f"<tr><th scope='row'>{escape(name)}</th>{cells}</tr>"
    head = "<tr><th scope='col'>Column</th><th scope='col'>Lower bound</th><th scope='col'>Upper bound</th></tr>"
    return (
        f"<table aria-label='Simulated bounds'><caption>Range in 80% of simulations at this ε. Do not publish it"
        f"</caption>{head}{rows}</table>"
    )


def _between(ends: tuple[float, float]) -> str:
    low, high = (f"{float(f'{end:.3g}'):,.12g}" for end in ends)
    return low if low == high else f"{low} to {high}"


def pay(
    records: Callable[[], pd.DataFrame], names: list[str], epsilon: float, budget: Budget, secure: bool
) -> tuple[dict[str, PrivateBounds], dict[str, Any]]:
    """Return bounds of columns, charged to a budget, and the charge as a release states it."""
    table = records()
    rng = None if secure else np.random.default_rng(SEED)
    columns = {name: table[name] for name in names}
    with noted() as noise:
        bounds = private_facts(columns, {}, epsilon, relation=budget.relation, rng=rng, release=secure, budget=budget)
    released = f"bounds of {', '.join(names)}"
    source = claim("private-facts").citation
    charge = "facts", released, epsilon, budget.relation, ", ".join(noise), source
    return {name: each for name, each in bounds.items() if isinstance(each, PrivateBounds)}, dict(
        zip(COLUMNS, charge, strict=True)
    )


def statement(draft: Draft, names: list[str]) -> str:
    """Return what whoever pays says of the columns, as HTML: their types were read off the data."""
    whole = ", ".join(escape(name) for name in names if draft.has_whole_numbers(name))
    return f"<p>You state that these columns contain numbers{whole and f', whole numbers in {whole}'}.</p>"


class PaidBounds:
    """The columns without public bounds, an ε, what it would find, and a button that pays it.

    `draft`: returns the session's draft, None while it has no table.
    `release`: holds the session's budget.
    `spawn`, `hold`: of the page: run a coroutine, and send changes as one message.
    `changed`: called when facts were paid for.
    """

    def __init__(
        self,
        draft: Callable[[], Draft | None],
        release: Release,
        spawn: Callable[[Any], None],
        hold: Callable[[], Any],
        changed: Callable[[], None],
    ):
        self.draft, self.release, self.spawn, self.hold, self.changed = draft, release, spawn, hold, changed
        self.running, self._asked = False, 0
        # the draft, the columns and the ε of which study runs are shown
        self._last: tuple[Any, ...] = ()
        offered = {f"{epsilon:g}": epsilon for epsilon in EPSILONS}
        self.which = pmui.Select(label="Columns", options=[], **WIDE)
        self.epsilon = pmui.DiscreteSlider(label="ε for these bounds", options=offered, value=USUAL, **WIDE)
        self.button = pmui.Button(label="Release bounds", variant="outlined", **WIDE)
        self.about, self.text, self.said = (self._pane("") for _ in range(3))
        controls = line(self.which, self.epsilon, least=220)
        self.inside = pn.Column(self.about, controls, self.text, self.button, visible=False, **WHOLE)
        self.whole = pn.Column(self.inside, self.said, **WHOLE)
        for widget in (self.which, self.epsilon):
            widget.param.watch(lambda _event: self.refresh(), "value")
        self.button.on_click(lambda _event: self.start())

    @staticmethod
    def _pane(text: str) -> pn.pane.HTML:
        return pn.pane.HTML(text, sizing_mode="stretch_width", margin=(4, 12), stylesheets=[STYLE])

    @property
    def names(self) -> list[str]:
        """The columns that are asked for."""
        return list(self.which.value or ())

    def refresh(self) -> None:
        """Offer the numbers without public bounds, and what the ε would find."""
        draft = self.draft()
        names = [] if draft is None else draft.without_bounds()
        offered: dict[str, Any] = {f"all {len(names)} columns without public bounds": tuple(names)}
        offered = (offered if len(names) > 1 else {}) | {name: (name,) for name in names}
        if self.which.options != offered:
            value = self.which.value if self.which.value in offered.values() else next(iter(offered.values()), None)
            self.which.param.update(options=offered, value=value)
        epsilon, left = float(self.epsilon.value), self.release.left
        enough = epsilon <= left * (1 + 1e-12)
        label = (
            f"{self.release.verb} bounds: ε = {epsilon:g} of the {left:.3g} left"
            if enough
            else f"Only ε = {left:.3g} is left"
        )
        self.button.param.update(label=label, disabled=self.running or not enough or not names)
        self.inside.visible = bool(names)
        self.about.object = ABOUT + (statement(draft, self.names) if draft is not None else "")
        if draft is None:
            self.said.object = ""
        asked = (id(draft), self.which.value, epsilon)
        if draft is None or not names:
            self.text.object, self._last = "", ()
        elif asked != self._last:
            self._asked, self._last = self._asked + 1, asked
            self.text.object = "<p>Computing…</p>"
            self.spawn(self._preview(self._asked, draft, self.names, epsilon))

    async def _preview(self, asked: int, draft: Draft, names: list[str], epsilon: float) -> None:
        await asyncio.sleep(REST)
        if asked != self._asked:
            return
        try:
            words = await asyncio.wrap_future(LONG.call(preview, draft.frame, names, epsilon))
        except Exception as error:
            words = f"<p>{escape(safe(error))}</p>"
        if asked == self._asked and self.draft() is draft:
            with self.hold():
                self.text.object = words

    def start(self) -> None:
        """Pay, once: a second click while it runs does nothing."""
        draft = self.draft()
        if draft is not None and not self.running and not self.button.disabled:
            self.running, self.button.disabled = True, True
            self.spawn(self._pay(draft, self.names, float(self.epsilon.value)))

    async def _pay(self, draft: Draft, names: list[str], epsilon: float) -> None:
        budget, secure = self.release.account(Plan.relation), self.release.secure
        before = budget.spent
        try:
            await asyncio.wrap_future(FORMULAS.call(import_noise))
            task = LONG.call(pay, draft.records, names, epsilon, budget, secure, owner="releases")
            paid, charge = await asyncio.wrap_future(task)
            known = [name for name, bounds in paid.items() if bounds.found and not bounds.only_zero]
            draft.take_bounds({name: paid[name] for name in known}, charge, public=secure)
            hidden = [name for name, bounds in paid.items() if bounds.hidden or bounds.only_zero]
            beyond = [name for name in names if name not in known and name not in hidden]
            sentence = f"Charged ε = {epsilon:g}: bounds for {len(known)} of {len(names)} columns."
            sentence += f" Noise hides {', '.join(hidden)}." if hidden else ""
            sentence += f" Not found: {', '.join(beyond)} ({BEYOND})." if beyond else ""
            sentence += "" if secure else " Simulation: the bounds stay data-derived. Do not publish them."
        except Exception as error:
            sentence = f"No bounds: {safe(error)}. {undelivered(budget.spent - before)}"
        finally:
            self.running = False
        if not self.release.ended:
            with self.hold():
                self.said.object = f"<p role='status'>{escape(sentence)}</p>"
                self.changed()
