"""The step Release: what is done here is charged to the session's one budget, and its files may leave the building.

Everything is in memory and goes with the session. All tables of a session share one budget: the same people may be in
each of them.
"""

import asyncio
from collections.abc import Callable
from concurrent.futures import Future
from html import escape
from importlib import import_module
from importlib.util import find_spec
from typing import Any

import panel as pn
import panel_material_ui as pmui
from bokeh.models import ColumnDataSource, CustomJS

from dpml.budget import Budget
from dpml.exceptions import DpmlError
from dpml.schema import Schema
from dpml_app.core.card import WHOLE
from dpml_app.core.widgets import WIDE
from dpml_app.drawing.figure import script
from dpml_app.drawing.progress import AWAY, SHOWN, bar
from dpml_app.jobs import FORMULAS, LONG
from dpml_app.pages.mydata import words
from dpml_app.pages.mydata.bought import Bought
from dpml_app.pages.mydata.budget_bar import READ, BudgetBar
from dpml_app.pages.mydata.draft import Draft
from dpml_app.pages.mydata.facts_table import TABLE_STYLE
from dpml_app.pages.mydata.files import Save
from dpml_app.pages.mydata.forecast_pane import ForecastPane
from dpml_app.pages.mydata.questions import open_questions
from dpml_app.pages.mydata.releasing import Done, Planned, planned, run, session_ledger
from dpml_app.pages.mydata.stopping import CancellationToken, Stopped
from dpml_app.serving import log
from dpml_app.settings import EPSILONS

MODES = {
    "": "",
    "releasing": "Release: charges the privacy budget. You may publish the files.",
    "demonstrating": "Simulation: do not publish its results.",
}
SHOW_MODE = script("pages/mydata/mode.js")
STYLE = (
    TABLE_STYLE
    + """
h2 { font-size: 1.15rem; margin: 0; }
ul.problems { margin: 4px 0; padding-left: 20px; }
details summary { cursor: pointer; }
td { font-variant-numeric: tabular-nums; }
div { max-height: none; }
div[role="region"] { max-height: 300px; }
"""
)
TOTAL, USUAL = 1.0, 0.5
# a slider that is dragged is planned for once it rests
REST = 0.15
# of a session, so that its memory has an end
LONGEST_NAME = 100
MOST_KEPT, MOST_BYTES = 10, 100_000_000


def has_noise() -> bool:
    """Return whether noise can be drawn that is safe to publish. OpenDP itself is imported when it is needed."""
    return find_spec("opendp") is not None


def import_noise() -> None:
    """Import OpenDP where models are fitted: it imports polars, which scikit-learn must not meet half imported."""
    if has_noise():
        import_module("opendp.prelude")


def pane(text: str = "", **options: Any) -> pn.pane.HTML:
    """Return the place of some words or a table."""
    return pn.pane.HTML(text, sizing_mode="stretch_width", margin=(4, 12), stylesheets=[STYLE], **options)


class Release:
    """The mode of one session in which it releases.

    Parameters
    ----------
    draft : callable
        Returns the session's draft, None while it has no table.
    spawn, hold : callable
        Of the page: run a coroutine, and send changes as one message.
    changed : callable
        Called when the mode begins or ends, and after each release.
    runs : callable
        Asks for the study runs of the table in use (`bought.asked`), and returns them by their ε.
    """

    def __init__(
        self,
        draft: Callable[[], Draft | None],
        spawn: Callable[[Any], None],
        hold: Callable[[], Any],
        changed: Callable[[], None],
        runs: Callable[[], dict[float, Future]],
    ):
        self.draft, self.spawn, self.hold, self.changed, self.runs = draft, spawn, hold, changed, runs
        self.on, self.running, self.ended = False, False, False
        self.secure = has_noise()
        # what would be released at these settings, None while it is not known; and how often it was asked for
        self._ready: Planned | None = None
        self._asked = 0
        # the study runs that are on their way
        self._studying: dict[float, Future] = {}
        # of the release that runs: the wish to stop, and its place among those of all sessions
        self._stop = CancellationToken()
        self._task: Future | None = None
        self.budget: Budget | None = None
        self.done: list[Done] = []
        self.mode = ColumnDataSource({"mode": [""], "says": [""]}, name="mydata-mode")
        self.mode.js_on_change("data", CustomJS(code=SHOW_MODE))
        offered = {f"{epsilon:g}": epsilon for epsilon in EPSILONS}
        # the label of a control that is switched off is read all the same
        look: dict[str, Any] = {"options": offered, "sx": READ, **WIDE}
        self.total = pmui.DiscreteSlider(label="Privacy budget of this session (ε)", value=TOTAL, **look)
        self.epsilon = pmui.DiscreteSlider(label="ε of this release", value=USUAL, **look)
        self.shares = BudgetBar(USUAL, self.refresh)
        self.spent, self.plan, self.facts, self.problems = pane(), pane(), pane(), pane()
        self.forecast = ForecastPane(pane(), hold)
        self.sure = pmui.Checkbox(label="This metadata is public", **WIDE)
        self.who = pmui.TextInput(label="Stated by (optional)", max_length=LONGEST_NAME, **WIDE)
        self.button = pmui.Button(label=self.verb, variant="contained", disabled=True, **WIDE)
        self.bar = bar()
        self.cancel = pmui.Button(
            label="Cancel", variant="outlined", disabled=True, styles=AWAY, width=120, margin=WIDE["margin"]
        )
        self.cancel.on_click(lambda _event: self.stop())
        self.said = pane()
        self.which = pmui.Select(label="Files", options=[], visible=False, **WIDE)
        self.ledger = pane()
        self.files = Save(sizing_mode="stretch_width", margin=(6, 12))
        for widget in (self.total, self.epsilon):
            widget.param.watch(self._on_epsilon, "value")
        self.sure.param.watch(lambda _event: self._tell(), "value")
        self.which.param.watch(lambda _event: self._show_done(), "value")
        self.button.on_click(lambda _event: self.start())
        self.again = pmui.Button(label=f"Plan another {self.noun}", variant="outlined", **WIDE)
        self.again.on_click(lambda _event: self._show_part(plan=True))
        parts = [self.total, self.epsilon, self.shares.whole, self.plan, self.forecast.pane, self.facts, self.sure]
        parts += [self.who, self.problems]
        # its room is its own from the start: the second click of two must not meet it where the first met the other
        buttons = pn.Row(self.button, self.cancel, **WHOLE)
        self.before = pn.Column(*parts, buttons, self.bar, **WHOLE)
        self.after = pn.Column(self.which, self.files, self.ledger, self.again, visible=False, **WHOLE)
        head = pane(f"<h2>{self.verb}</h2>")
        self.whole = pn.Column(head, self.spent, self.said, self.before, self.after, visible=False, **WHOLE)

    @property
    def verb(self) -> str:
        """Return the verb of the button: only secure noise makes a release."""
        return "Release" if self.secure else "Simulate"

    @property
    def noun(self) -> str:
        """Return the name of a run: only secure noise makes a release."""
        return "release" if self.secure else "simulation"

    # ---- the mode ----------------------------------------------------------------------------------------------------

    def enter(self) -> None:
        """Begin: from now on what is done here is charged."""
        draft = self.draft()
        if draft is not None and not self.done and not self.shares.touched:
            self.shares.begin(selection=all(column.kind == "binary" for column in draft.columns.values()))
        self.on, self.sure.value, self.said.object = True, False, ""
        self._show_part(plan=not self.done)
        self._show_mode()
        if draft is not None:
            self._studying = self.runs()
            self.spawn(self._study(draft, self._studying))

    async def _study(self, draft: Draft, studying: dict[float, Future]) -> None:
        """Say what the shares buy, better with each study run that comes back."""
        try:
            self.shares.bought = bought = Bought(draft.schema(), len(draft.frame))
        except DpmlError:  # the plan says what is wrong with the facts
            return
        for epsilon, future in studying.items():
            try:
                runs = await asyncio.wrap_future(future)
            except asyncio.CancelledError:  # the mode has ended, or the table is gone
                return
            except Exception as error:
                log.failed(error)
                continue
            if self._studying is not studying or self.ended:
                return
            bought.known[epsilon] = runs
            with self.hold():
                self.shares.draw()
        bought.waiting = False
        with self.hold():
            self.shares.draw()

    def _show_part(self, *, plan: bool) -> None:
        """Show what could be released, or the files of what was."""
        self.before.visible, self.after.visible = plan, not plan
        if plan:
            self.said.object = ""

    def leave(self) -> None:
        """End the mode; what was spent stays spent, and the files stay until the session ends."""
        self.on = False
        self._end_study()
        self._show_mode()

    def _show_mode(self) -> None:
        mode = "" if not self.on else "releasing" if self.secure else "demonstrating"
        with self.hold():
            self.mode.data = {"mode": [mode], "says": [MODES[mode]]}
        self.whole.visible = self.on
        if self.on:
            self.refresh()
        self.changed()

    def _end_study(self) -> None:
        for future in self._studying.values():
            future.cancel()
        self._studying, self.shares.bought = {}, None

    def end(self) -> None:
        """Let all of it go with the session."""
        self.stop()
        self._end_study()
        self.on, self.ended, self.budget = False, True, None
        self.done.clear()
        self.files.forget()

    # ---- what would be released ------------------------------------------------------------------------------------

    def _on_epsilon(self, _event: Any) -> None:
        self.shares.say(float(self.epsilon.value))
        self.refresh()

    def refresh(self) -> None:
        """Ask anew for the plan; until it is there, and while anything is in the way, the button does nothing."""
        self._asked += 1
        self._ready = None
        self.forecast.clear()
        self._tell()
        draft = self.draft()
        if self.on and draft is not None and not self.running:
            self.spawn(self._think(self._asked, draft))

    async def _think(self, asked: int, draft: Draft) -> None:
        """Try the plan out on no records, in a thread, unless it is already another one."""
        await asyncio.sleep(REST)
        if asked != self._asked or self.ended:
            return
        arguments = draft.schema, float(self.epsilon.value), dict(self.shares.shares), self.secure
        try:
            await asyncio.wrap_future(FORMULAS.call(import_noise))
            ready = await asyncio.wrap_future(LONG.call(planned, *arguments))
        except Exception as error:
            ready = Planned(None, None, (error,))
        if asked == self._asked and not self.ended:
            can_run = ready.plan is not None and not ready.problems and not open_questions(draft)
            with self.hold():
                self._ready = ready
                self.forecast.is_waiting = can_run
                self._tell()
            if can_run:
                await self.forecast.show(ready.plan, draft, lambda: asked == self._asked and not self.ended)
                if asked == self._asked and not self.ended:
                    with self.hold():
                        self._tell()

    def _tell(self) -> None:
        """Say what is planned, what is in the way, and what is spent."""
        draft, ready = self.draft(), self._ready
        spent = 0.0 if self.budget is None else self.budget.spent
        total = float(self.total.value) if self.budget is None else self.budget.epsilon
        self.spent.object = words.spent(total, spent, len(self.done), simulated=not self.secure)
        self.button.disabled = True
        if draft is None:
            self.plan.object = self.facts.object = ""
            self.problems.object = words.problems([("No table is in use.", "Go back and upload one.")], known=True)
            return
        if ready is None:
            self.plan.object = self.plan.object or "<p>Planning…</p>"
        else:
            self.plan.object = "" if ready.preview is None else words.plan(ready.preview)
        # what was read off the data is said with what to do about it, below
        known = [] if ready is None else [e for e in ready.problems if getattr(e, "name", "") != "data_derived"]
        sentences = list(dict.fromkeys([*map(words.against, known), *self._upload_problems(draft)]))
        self.facts.object = words.facts(draft)
        noise = "" if self.secure else words.NO_NOISE
        waiting = self.forecast.is_waiting
        self.problems.object = noise + words.problems(sentences, known=ready is not None and not waiting)
        self.button.disabled = bool(sentences) or waiting or ready is None or ready.plan is None or self.running

    def _upload_problems(self, draft: Draft) -> list[tuple[str, str]]:
        """Return what a plan cannot know: what this session has spent, and what its person has not said."""
        problems, epsilon, left = [], float(self.epsilon.value), self.left
        if epsilon > left * (1 + 1e-12):
            problems.append(
                (f"ε = {epsilon:g} exceeds the remaining budget of {left:g}.", "Choose a smaller ε for this release.")
            )
        step = 'Go back to the table and answer "Was the file read correctly?".'
        problems += [(question.text, step) for question in open_questions(draft)]
        if draft.unconfirmed and self.secure:
            count = len(draft.unconfirmed)
            facts = f"{count} metadata {'entries are' if count > 1 else 'entry is'} data-derived."
            problems.append((facts, "Go back to the table and state the source of each."))
        if not self.sure.value:
            problems.append(("", "Read the metadata, then tick the box."))
        if len(self.done) >= MOST_KEPT or sum(release.size for release in self.done) > MOST_BYTES:
            problems.append(("This session cannot store more releases.", "Save its files, then reload the page."))
        return problems

    @property
    def left(self) -> float:
        """What this session has left."""
        return float(self.total.value) if self.budget is None else self.budget.remaining

    # ---- the release -----------------------------------------------------------------------------------------------

    def start(self) -> None:
        """Release, once: a second click while it runs does nothing, and each release is confirmed anew."""
        draft, ready = self.draft(), self._ready
        if self.running or self.button.disabled or draft is None or ready is None or ready.plan is None:
            return
        if self._upload_problems(draft) or not _states(draft, ready.plan.schema):
            # what was ticked is not what would be released
            self.sure.value = False
            self.refresh()
            return
        self.running, self.button.disabled = True, True
        budget = self.account(ready.plan.relation)
        self.bar.object = f'<progress aria-label="{self.verb}"></progress>'
        self._stop, self._task = CancellationToken(), None
        self.cancel.param.update(styles=SHOWN, disabled=False, label="Cancel")
        self.spawn(self._run(draft, ready.plan, budget, self._stop))
        self.changed()

    def account(self, relation: str) -> Budget:
        """Return the session's budget, made at its first use."""
        self.total.disabled = True  # a total that can be raised is none
        self.budget = self.budget or Budget(float(self.total.value), relation=relation)
        return self.budget

    def stop(self) -> None:
        """Cancel what runs: at once if it has not begun, at its next draw otherwise. What is charged stays charged."""
        if self.running and not self._stop.asked:
            self._stop.ask()
            if self._task is not None:
                self._task.cancel()
            if not self.ended:
                self.cancel.param.update(disabled=True, label="Stopping…")

    async def _run(self, draft: Draft, plan: Any, budget: Budget, stop: CancellationToken) -> None:
        sentence, done, before = "", False, budget.spent
        try:
            who = (self.who.value or "").strip()[:LONGEST_NAME]
            arguments = plan, draft, budget, self.secure, len(self.done) + 1, who, stop
            self._task = LONG.call(run, *arguments, owner="releases")
            release = await asyncio.wrap_future(self._task)
            stop.check()
            sentence, done = f"<p>Done in {release.seconds:.1f} s. Check the files before you publish them.</p>", True
            if not self.ended:
                self.done.append(release)
        except (Stopped, asyncio.CancelledError):
            sentence = words.cancelled(budget.spent - before)
        except Exception as error:
            cost = words.undelivered(budget.spent - before)
            sentence = f"<p>Not released: {escape(words.safe(error))}. {cost}</p>"
        finally:
            self.running, self._task = False, None
            if not self.ended:
                with self.hold():
                    self._rest(sentence, done=done, spent=budget.spent > before)

    def _rest(self, sentence: str, *, done: bool, spent: bool) -> None:
        """Show what has come of it; where nothing has but a charge, the ledger that has it."""
        self.bar.object, self.said.object, self.sure.value = "", sentence, False
        self.cancel.param.update(styles=AWAY, disabled=True)
        if self.budget is not None and not self.budget.spent:
            self.budget, self.total.disabled = None, False
        titles = [release.title for release in self.done]
        self.which.param.update(options=titles, visible=len(titles) > (1 if done else 0))
        self.which.value = titles[-1] if titles else None
        self._show_done()
        if done or spent:
            self._show_part(plan=False)
        self.refresh()
        self.changed()

    def _show_done(self) -> None:
        """Show what was spent, and the release that is chosen."""
        if self.budget is None:
            return
        release = next((one for one in self.done if one.title == self.which.value), None)
        measured = "" if release is None or release.evaluation is None else words.evaluation(release.evaluation)
        self.ledger.object = measured + words.ledger(self.budget.ledger)
        kind = self.noun
        whole = {f"{kind}-session-ledger.json": ("Session ledger (JSON)", session_ledger(self.budget, self.secure))}
        self.files.offer(whole if release is None else {**release.files, **whole})


def _states(draft: Draft, schema: Schema) -> bool:
    """Return whether a draft still says what a schema does."""
    try:
        return draft.schema() == schema
    except DpmlError:
        return False
