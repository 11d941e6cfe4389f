"""The step Release: what is done here is charged to the session's one budget, and its files may leave the building.

Everything is in memory and goes with the session. All tables of a session share one budget: the same people may be in
each of them.
"""

import asyncio
import io
from collections.abc import Callable
from concurrent.futures import Future
from functools import partial
from html import escape
from importlib import import_module
from importlib.util import find_spec
from typing import Any

import panel as pn
import panel_material_ui as pmui

from dpml.budget import Budget
from dpml.release import Plan
from dpml_app.core.card import WHOLE
from dpml_app.core.widgets import WIDE
from dpml_app.drawing.progress import AWAY, SHOWN, bar
from dpml_app.jobs import FORMULAS, LONG
from dpml_app.pages.mydata import compute, text
from dpml_app.pages.mydata.figures import OFFERED, READ, TABLES, Context, ShareSliders, button, pane
from dpml_app.serving import log

# a slider that is dragged is planned for once it rests
PLAN_REST = 0.15
LONGEST_NAME = 100


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
        # the last release, whose files are offered, and the number of releases
        self.done: compute.Done | None = None
        self.count = 0
        look: dict[str, Any] = {"options": OFFERED, "sx": READ, **WIDE}
        self.total = pmui.DiscreteSlider(label="Privacy budget of this session (ε)", value=1.0, **look)
        self.epsilon = pmui.DiscreteSlider(label="ε of this release", value=0.5, **look)
        self.shares = ShareSliders(self.refresh)
        places = [pane("", (4, 12), TABLES) for _ in range(7)]
        self.spent, self.plan, self.facts, self.problems, self.forecast, self.said, self.ledger = places
        self.sure = pmui.Checkbox(label="This metadata is public", **WIDE)
        self.who = pmui.TextInput(label="Stated by (optional)", max_length=LONGEST_NAME, **WIDE)
        self.button = button(self.verb, self.start, variant="contained", disabled=True)
        self.bar = bar()
        self.cancel = button("Cancel", self.stop, disabled=True, styles=AWAY, width=120, sizing_mode=None)
        self.files = pn.Row(**WHOLE)
        for widget in (self.total, self.epsilon):
            widget.param.watch(lambda _event: self.refresh(), "value")
        self.sure.param.watch(lambda _event: self._tell(), "value")
        # its room is its own from the start: the second click of two must not meet it where the first met the other
        buttons = pn.Row(self.button, self.cancel, **WHOLE)
        about = "A release charges the privacy budget. You may publish its files."
        about = about if self.secure else "Do not publish the results of a simulation."
        head = pane(f"<h2>{self.verb}</h2><p>{about}</p>", (4, 12), TABLES)
        parts = [self.spent, self.total, self.epsilon, self.shares.whole, self.plan, self.forecast, self.facts]
        parts += [self.sure, self.who, self.problems, buttons, self.bar, self.said, self.files, self.ledger]
        self.whole = pn.Column(head, *parts, visible=False, **WHOLE)

    # ---- the mode ----------------------------------------------------------------------------------------------------

    def enter(self) -> None:
        """Begin: from now on what is done here is charged."""
        draft = self.context.draft
        if draft is not None:
            self.shares.offer(selection=all(column.kind == "binary" for column in draft.columns.values()))
        self.on, self.sure.value, self.said.object = True, False, ""
        self.whole.visible = True
        self.refresh()
        self.changed()

    def leave(self) -> None:
        """End the mode; what was spent stays spent, and the files stay until the session ends."""
        self.on = self.whole.visible = False
        self.changed()

    def end(self) -> None:
        """Let all of it go with the session, without a word to a browser that may be gone."""
        self.stop()
        self.on, self.ended, self.budget, self.done = False, True, None, None

    # ---- what would be released --------------------------------------------------------------------------------------

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
        long = partial(LONG.call, owner=self.context.settings)
        try:
            await asyncio.wrap_future(FORMULAS.call(import_noise))
            ready = await asyncio.wrap_future(long(compute.planned, *arguments))
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
            words = text.forecast_html(await asyncio.wrap_future(long(compute.forecast, ready.plan, draft)))
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
        self.spent.object = text.spent(total, spent, self.count, self.noun)
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
        self.total.disabled = True  # a total that can be raised is none
        budget = self.budget = self.budget or Budget(float(self.total.value), relation=ready.plan.relation)
        self.bar.object = f'<progress aria-label="{self.verb}"></progress>'
        self._stop, self._task = compute.CancellationToken(), None
        self.cancel.param.update(styles=SHOWN, disabled=False, label="Cancel")
        self.context.spawn(self._run(draft, ready.plan, budget, self._stop))
        self.changed()

    def stop(self) -> None:
        """Cancel what runs: at once if it has not begun, at its next draw otherwise. What is charged stays charged."""
        if self.running and not self._stop.is_set():
            self._stop.set()
            if self._task is not None:
                self._task.cancel()
            if not self.ended:
                self.cancel.param.update(disabled=True, label="Stopping…")

    async def _run(self, draft: compute.Draft, plan: Plan, budget: Budget, stop: compute.CancellationToken) -> None:
        sentence, before = "", budget.spent
        try:
            who = (self.who.value or "").strip()[:LONGEST_NAME]
            arguments = plan, draft, budget, self.secure, self.count + 1, who, stop
            self._task = LONG.call(compute.run, *arguments, owner="releases")
            release = await asyncio.wrap_future(self._task)
            stop.check()
            sentence = f"<p>Done in {release.seconds:.1f} s. Check the files before you publish them.</p>"
            if not self.ended:
                self.done, self.count = release, self.count + 1
        except (compute.Stopped, asyncio.CancelledError):
            sentence = f"<p>Cancelled. {text.undelivered(budget.spent - before)}</p>"
        except Exception as error:
            sentence = f"<p>Not released: {escape(text.safe(error))}. {text.undelivered(budget.spent - before)}</p>"
        finally:
            self.running, self._task = False, None
            if not self.ended:
                with self.context.hold():
                    self._rest(sentence)

    def _rest(self, sentence: str) -> None:
        """Show what has come of it: the files of the last release, and the ledger of the session."""
        self.bar.object, self.said.object, self.sure.value = "", sentence, False
        self.cancel.param.update(styles=AWAY, disabled=True)
        if self.budget is not None and not self.budget.spent:
            self.budget, self.total.disabled = None, False
        if self.budget is not None:
            measures = None if self.done is None else self.done.evaluation
            self.ledger.object = text.evaluation(measures) + text.ledger(self.budget.ledger)
        self.files.objects = [] if self.done is None else [self._save_button(self.done)]
        self.refresh()
        self.changed()

    def _save_button(self, done: compute.Done) -> pmui.FileDownload:
        """Return a button that saves the files of a release: their content comes when it is asked for."""

        def content() -> io.BytesIO:
            made.data = None  # panel-material-ui (0.16) saves a file again only if its data change
            return io.BytesIO(done.content)

        label = f"Save all files of {done.name} (zip)"
        made = pmui.FileDownload(callback=content, filename=f"{done.name}.zip", label=label, auto=True, margin=(4, 12))
        made.variant = "contained"  # Panel (1.9.4) warns of it in the constructor
        return made
