"""The step Release: what is done here is charged to the session's one budget, and its files may leave the building.

Everything is in memory and goes with the session. All tables of a session share one budget: the same people may be in
each of them.
"""

import asyncio
import io
import json
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
from dpml.release import Plan
from dpml.release.folder import DEMONSTRATION, RELEASE
from dpml_app.core.card import WHOLE
from dpml_app.core.widgets import WIDE
from dpml_app.drawing.figure import script
from dpml_app.drawing.progress import AWAY, SHOWN, bar
from dpml_app.jobs import FORMULAS, LONG
from dpml_app.pages.mydata import compute, text
from dpml_app.pages.mydata.figures import OFFERED, READ, TABLES, BudgetBar, Context, button, pane
from dpml_app.serving import log

MODES = {
    "": "",
    "releasing": "Release: charges the privacy budget. You may publish the files.",
    "demonstrating": "Simulation: do not publish its results.",
}
# a slider that is dragged is planned for once it rests
PLAN_REST = 0.15
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


class Release:
    """The mode of one session in which it releases.

    `changed`: called when the mode begins or ends, and after each release.
    """

    def __init__(self, context: Context, changed: Callable[[], None]):
        self.context, self.changed = context, changed
        self.on, self.running, self.ended = False, False, False
        # only secure noise makes a release
        self.secure = has_noise()
        self.verb, self.noun = ("Release", "release") if self.secure else ("Simulate", "simulation")
        # what would be released at these settings, None while it is not known; and how often it was asked for
        self._ready: compute.Planned | None = None
        self._asked, self.forecasting = 0, False
        # of the release that runs: the wish to stop, and its place among those of all sessions
        self._stop = compute.CancellationToken()
        self._task: Future | None = None
        self.budget: Budget | None = None
        self.done: list[compute.Done] = []
        # the files that are offered, by name
        self.contents: dict[str, bytes] = {}
        self.mode = ColumnDataSource({"mode": [""], "says": [""]}, name="mydata-mode")
        self.mode.js_on_change("data", CustomJS(code=script("pages/mydata/mode.js")))
        look: dict[str, Any] = {"options": OFFERED, "sx": READ, **WIDE}
        self.total = pmui.DiscreteSlider(label="Privacy budget of this session (ε)", value=1.0, **look)
        self.epsilon = pmui.DiscreteSlider(label="ε of this release", value=0.5, **look)
        self.shares = BudgetBar(0.5, self.refresh)
        places = [pane("", (4, 12), TABLES) for _ in range(7)]
        self.spent, self.plan, self.facts, self.problems, self.forecast, self.said, self.ledger = places
        self.sure = pmui.Checkbox(label="This metadata is public", **WIDE)
        self.who = pmui.TextInput(label="Stated by (optional)", max_length=LONGEST_NAME, **WIDE)
        self.button = button(self.verb, self.start, variant="contained", disabled=True)
        self.bar = bar()
        self.cancel = button("Cancel", self.stop, disabled=True, styles=AWAY, width=120, sizing_mode=None)
        self.which = pmui.Select(label="Files", options=[], visible=False, **WIDE)
        self.files = pn.Row(styles={"flex-wrap": "wrap"}, **WHOLE)
        self.again = button(f"Plan another {self.noun}", lambda: self._show_part(plan=True))
        for widget in (self.total, self.epsilon):
            widget.param.watch(lambda _event: self._on_epsilon(), "value")
        self.sure.param.watch(lambda _event: self._tell(), "value")
        self.which.param.watch(lambda _event: self._show_done(), "value")
        # its room is its own from the start: the second click of two must not meet it where the first met the other
        buttons = pn.Row(self.button, self.cancel, **WHOLE)
        parts = [self.total, self.epsilon, self.shares.whole, self.plan, self.forecast, self.facts, self.sure, self.who]
        self.before = pn.Column(*parts, self.problems, buttons, self.bar, **WHOLE)
        self.after = pn.Column(self.which, self.files, self.ledger, self.again, visible=False, **WHOLE)
        head = pane(f"<h2>{self.verb}</h2>", (4, 12), TABLES)
        self.whole = pn.Column(head, self.spent, self.said, self.before, self.after, visible=False, **WHOLE)

    # ---- the mode ----------------------------------------------------------------------------------------------------

    def enter(self) -> None:
        """Begin: from now on what is done here is charged."""
        draft = self.context.draft
        if draft is not None and not self.done and not self.shares.touched:
            self.shares.begin(selection=all(column.kind == "binary" for column in draft.columns.values()))
        self.on, self.sure.value, self.said.object = True, False, ""
        self._show_part(plan=not self.done)
        self._show_mode()

    def _show_part(self, *, plan: bool) -> None:
        """Show what could be released, or the files of what was."""
        self.before.visible, self.after.visible = plan, not plan
        if plan:
            self.said.object = ""

    def leave(self) -> None:
        """End the mode; what was spent stays spent, and the files stay until the session ends."""
        self.on = False
        self._show_mode()

    def _show_mode(self) -> None:
        mode = "" if not self.on else "releasing" if self.secure else "demonstrating"
        with self.context.hold():
            self.mode.data = {"mode": [mode], "says": [MODES[mode]]}
        self.whole.visible = self.on
        if self.on:
            self.refresh()
        self.changed()

    def end(self) -> None:
        """Let all of it go with the session, without a word to a browser that may be gone."""
        self.stop()
        self.on, self.ended, self.budget = False, True, None
        self.done.clear()
        self.contents = {}

    # ---- what would be released --------------------------------------------------------------------------------------

    def _on_epsilon(self) -> None:
        self.shares.epsilon = float(self.epsilon.value)
        self.shares.show()
        self.refresh()

    def refresh(self) -> None:
        """Ask anew for the plan; until it is there, and while anything is in the way, the button does nothing."""
        self._asked += 1
        self._ready = None
        self.forecast.object, self.forecasting = "", False
        self._tell()
        draft = self.context.draft
        if self.on and draft is not None and not self.running:
            self.context.spawn(self._prepare(self._asked, draft))

    async def _prepare(self, asked: int, draft: compute.Draft) -> None:
        """Try the plan out on no records, in a thread, then forecast it, unless it is already another one."""
        await asyncio.sleep(PLAN_REST)
        if asked != self._asked or self.ended:
            return
        arguments = draft.schema, float(self.epsilon.value), self.shares.shares, self.secure
        try:
            await asyncio.wrap_future(FORMULAS.call(import_noise))
            ready = await asyncio.wrap_future(LONG.call(compute.planned, *arguments))
        except Exception as error:
            ready = compute.Planned(None, None, (error,))
        if asked != self._asked or self.ended:
            return
        can_run = ready.plan is not None and not ready.problems and not draft.open_questions
        with self.context.hold():
            self._ready, self.forecasting = ready, can_run
            self.forecast.object = "<p>Forecasting…</p>" if can_run else ""
            self._tell()
        if not can_run:
            return
        try:
            words = text.forecast_html(await asyncio.wrap_future(LONG.call(compute.forecast, ready.plan, draft)))
        except Exception as error:  # no record may stop a release, and the release says what the plan has wrong
            log.failed(error)
            words = ""
        if asked == self._asked and not self.ended:
            with self.context.hold():
                self.forecast.object, self.forecasting = words, False
                self._tell()

    def _tell(self) -> None:
        """Say what is planned, what is in the way, and what is spent."""
        draft, ready = self.context.draft, self._ready
        spent = 0.0 if self.budget is None else self.budget.spent
        total = float(self.total.value) if self.budget is None else self.budget.epsilon
        self.spent.object = text.spent(total, spent, len(self.done), self.noun)
        self.button.disabled = True
        if draft is None:
            self.plan.object = self.facts.object = ""
            self.problems.object = text.problems([("No table is in use.", "Go back and upload one.")], known=True)
            return
        if ready is None:
            self.plan.object = self.plan.object or "<p>Planning…</p>"
        else:
            self.plan.object = "" if ready.preview is None else text.plan(ready.preview)
        # what was read off the data is said with what to do about it, below
        known = [] if ready is None else [e for e in ready.problems if getattr(e, "name", "") != "data_derived"]
        sentences = list(dict.fromkeys([*map(text.against, known), *self._problems(draft)]))
        self.facts.object = f"<p>The release publishes this metadata unchanged:</p>{text.facts(draft)}"
        is_known = ready is not None and not self.forecasting
        self.problems.object = ("" if self.secure else text.NO_NOISE) + text.problems(sentences, known=is_known)
        self.button.disabled = bool(sentences) or not is_known or ready is None or ready.plan is None or self.running

    def _problems(self, draft: compute.Draft) -> list[tuple[str, str]]:
        """Return what a plan cannot know: what this session has spent, and what its person has not said."""
        problems, epsilon = [], float(self.epsilon.value)
        if epsilon > self.left * (1 + 1e-12):
            exceeds = f"ε = {epsilon:g} exceeds the remaining budget of {self.left:g}."
            problems.append((exceeds, "Choose a smaller ε for this release."))
        step = 'Go back to the table and answer "Was the file read correctly?".'
        problems += [(question.text, step) for question in draft.open_questions]
        count = len(draft.unconfirmed)
        if count and self.secure:
            entries = f"{count} metadata {'entries are' if count > 1 else 'entry is'} data-derived."
            problems.append((entries, "Go back to the table and state the source of each."))
        if not self.sure.value:
            problems.append(("", "Read the metadata, then tick the box."))
        if len(self.done) >= MOST_KEPT or sum(release.size for release in self.done) > MOST_BYTES:
            problems.append(("This session cannot store more releases.", "Save its files, then reload the page."))
        return problems

    @property
    def left(self) -> float:
        """What this session has left."""
        return float(self.total.value) if self.budget is None else self.budget.remaining

    # ---- the release -------------------------------------------------------------------------------------------------

    def start(self) -> None:
        """Release, once: a second click while it runs does nothing, and each release is confirmed anew."""
        draft, ready = self.context.draft, self._ready
        if self.running or self.button.disabled or draft is None or ready is None or ready.plan is None:
            return
        if self._problems(draft) or not draft.says(ready.plan.schema):
            # what was ticked is not what would be released
            self.sure.value = False
            self.refresh()
            return
        self.running, self.button.disabled = True, True
        budget = self.account(ready.plan.relation)
        self.bar.object = f'<progress aria-label="{self.verb}"></progress>'
        self._stop, self._task = compute.CancellationToken(), None
        self.cancel.param.update(styles=SHOWN, disabled=False, label="Cancel")
        self.context.spawn(self._run(draft, ready.plan, budget, self._stop))
        self.changed()

    def account(self, relation: str) -> Budget:
        """Return the session's budget, made at its first use."""
        self.total.disabled = True  # a total that can be raised is none
        self.budget = self.budget or Budget(float(self.total.value), relation=relation)
        return self.budget

    def stop(self) -> None:
        """Cancel what runs: at once if it has not begun, at its next draw otherwise. What is charged stays charged."""
        if self.running and not self._stop.is_set():
            self._stop.set()
            if self._task is not None:
                self._task.cancel()
            if not self.ended:
                self.cancel.param.update(disabled=True, label="Stopping…")

    async def _run(self, draft: compute.Draft, plan: Plan, budget: Budget, stop: compute.CancellationToken) -> None:
        sentence, done, before = "", False, budget.spent
        try:
            who = (self.who.value or "").strip()[:LONGEST_NAME]
            arguments = plan, draft, budget, self.secure, len(self.done) + 1, who, stop
            self._task = LONG.call(compute.run, *arguments, owner="releases")
            release = await asyncio.wrap_future(self._task)
            stop.check()
            sentence, done = f"<p>Done in {release.seconds:.1f} s. Check the files before you publish them.</p>", True
            if not self.ended:
                self.done.append(release)
        except (compute.Stopped, asyncio.CancelledError):
            sentence = f"<p>Cancelled. {text.undelivered(budget.spent - before)}</p>"
        except Exception as error:
            sentence = f"<p>Not released: {escape(text.safe(error))}. {text.undelivered(budget.spent - before)}</p>"
        finally:
            self.running, self._task = False, None
            if not self.ended:
                with self.context.hold():
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
        measured = "" if release is None or release.evaluation is None else text.evaluation(release.evaluation)
        self.ledger.object = measured + text.ledger(self.budget.ledger)
        session = {"status": RELEASE if self.secure else DEMONSTRATION, **json.loads(self.budget.to_json())}
        whole = json.dumps(session, ensure_ascii=False, indent=2).encode()
        files = {
            **(release.files if release else {}),
            f"{self.noun}-session-ledger.json": ("Session ledger (JSON)", whole),
        }
        self.contents = {name: content for name, (_title, content) in files.items()}
        self.files.objects = [
            self._save_button(name, title, "outlined" if place else "contained")
            for place, (name, (title, _content)) in enumerate(files.items())
        ]

    def _save_button(self, name: str, title: str, variant: Any) -> pmui.FileDownload:
        """Return a button that saves a file: its content comes when it is asked for."""

        def content() -> io.BytesIO:
            made.data = None  # panel-material-ui (0.16) saves a file again only if its data change
            return io.BytesIO(self.contents[name])

        made = pmui.FileDownload(callback=content, filename=name, label=title, auto=True, margin=(4, 0, 4, 12))
        made.variant = variant  # Panel (1.9.4) warns of it in the constructor
        return made
