"""The Audit page: an attacker against a claim, as draws accumulate, and the claims of the whole catalogue.

The first steps are computed in the server, so that there is something to see at once; longer ones in the worker
processes, one at a time, and a newer request makes the older one stop. The catalogue is checked when nothing else runs.
"""

from __future__ import annotations

import asyncio
import time
from functools import partial
from typing import Any

import panel as pn
from bokeh.models import ColumnDataSource
from panel.models.markup import HTML

from dpml.catalogue import CATALOGUE, claims
from dpml_app.audit import compute, words
from dpml_app.audit.controls import AuditControls
from dpml_app.audit.figures import AttackFigure, BoundFigure, OutputFigure
from dpml_app.audit.settings import AuditSettings
from dpml_app.audit.tables import ClaimsTable, RecordEditor, claim_key
from dpml_app.card import Slot, answer, card, grid
from dpml_app.page import BasePage
from dpml_app.work.pool import Chunk, Pool
from dpml_app.work.progress import bar, filled
from dpml_app.work.run import Run
from dpml_app.work.threads import ANSWERS, FORMULAS
from dpml_app.work.turns import Rank

__all__ = ["AuditPage"]

PENDING: dict[str, Any] = {"known": False, "pending": True}
PATIENCE = 0.15
# steps up to 1,000 draws take a few hundredths of a second
AT_ONCE = 6
# so slowly that one sees the bound move
PACE = 0.12
FLUSH_EVERY = 0.4
CHECK_SEED = 0
CHECKS = [Chunk(compute.check_exactly, claim) for claim in claims()]
CHECKS += [Chunk(compute.check_sampled, (*claim, CHECK_SEED)) for claim in claims()]


class AuditPage(BasePage):
    """The page of one session.

    Parameters
    ----------
    settings : AuditSettings
    pool : Pool
    """

    question = "Is the claim true?"
    lead = "Drag the claimed <b>ε</b>: left promises more. An attacker above the shaded region breaks it."
    settings: AuditSettings

    def __init__(self, settings: AuditSettings, pool: Pool):
        super().__init__(settings, pool)
        self.attack, self.bound, self.output = AttackFigure(), BoundFigure(), OutputFigure()
        self._serial = 0
        self._checks: Run | None = None
        self._paused = self._running = False
        self._steps: list[dict[str, Any]] = []
        self._exact: dict[str, Any] = PENDING
        self._marks: dict[str, list] = {}
        sentences = settings.fit_audit()  # before the widgets, which can only offer what there is
        self.controls = AuditControls(settings, self.report)
        self.controls.start.on_click(self._on_start)
        self._build()
        self._tell_changes(sentences)
        settings.param.watch(self._on_change, AuditSettings.audit_names())

    # ---- layout -------------------------------------------------------------------------------------------------

    def _build(self) -> None:
        self.verdict = pn.pane.HTML("", sizing_mode="stretch_width", margin=(4, 16), stylesheets=[VERDICT_STYLE])
        self.status = pn.pane.HTML("", margin=(4, 16), stylesheets=[STATUS_STYLE], sizing_mode="stretch_width")
        self.progress = bar()
        self.readouts = {
            name: HTML(text="", name=f"audit-{name}-readout", sizing_mode="stretch_width")
            for name in ("attack", "bound", "output", "neighbours", "claims")
        }
        self.state = ColumnDataSource({"runs": [0], "running": [False], "checked": [0]}, name="audit-state")
        self.attack.plot.tags = [self.state]
        s = self.settings
        self.editor = RecordEditor(
            table=s.audit_table, record=s.audit_record, replaced=s.audit_replaced, relation=s.audit_relation,
            sizing_mode="stretch_width", margin=(4, 12), visible=False,
        )  # fmt: skip
        self.editor.param.watch(self._on_edit, ["table", "record", "replaced"])
        self.claims = ClaimsTable(self._choose, sizing_mode="stretch_width", margin=(0, 12, 12, 12))
        captions, slots = words.AUDIT_CAPTIONS, {}
        for title, content, name, half in (
            ("Outputs, and where the attacker bets", self.output.plot, "output", True),
            ("Two neighbours, D and D′", self.editor, "neighbours", True),
            ("What the draws have shown", self.bound.plot, "bound", True),
            ("All claims of the catalogue", self.claims, "claims", False),
        ):
            aside = name == "output"
            make = partial(card, title, self.readouts[name], content, captions[name], aside=aside)
            slots[name] = Slot(f"audit-{name}", make, wide=not half)
        slots["claims"].on_mount = self._check_all
        self.slots = list(slots.values())
        control = self.controls.widgets["audit_epsilon"]
        title, told = "The attacker's ROC curve", self.readouts["attack"]
        top = answer(title, captions["attack"], [self.attack.plot], control, self.verdict, readout=told)
        self.places["top"].append(top)
        self.places["side"].extend([self.controls.side, self.status, self.progress])
        self.places["advanced"].extend([self.risk, self.controls.advanced])
        self.places["why"].append(grid(self.slots[:2]))
        self.places["more"].append(grid(self.slots[2:]))

    # ---- settings ------------------------------------------------------------------------------------------------

    async def start(self) -> None:
        """Begin to answer; called once the page is shown."""
        if self._doc is not None:
            return
        self._doc = pn.state.curdoc
        self.pool.start()
        self._on_change()
        if self._checks is not None:
            self._spawn(self._check_claims(self._checks))

    def _check_all(self) -> None:
        """Check the whole catalogue, once its card is there."""
        self._checks = Run(self.pool, CHECKS, rank=Rank.IDLE)
        if self._doc is not None:
            self._spawn(self._check_claims(self._checks))

    def stop(self) -> None:
        """Stop computing for a page that has been closed."""
        self._serial += 1
        if self._checks is not None:
            self._checks.cancel()
        super().stop()

    def _on_change(self, *_events) -> None:
        self._tell_changes(self.settings.fit_audit())
        self.controls.offer()
        if self._doc is not None:
            self._serial += 1
            self._set_paused(False)
            self._spawn(self._audit(self._serial, self.settings.audit_values()))

    def _tell_changes(self, sentences: list[str]) -> None:
        if sentences:
            self.report("fit", " ".join(sentences), "info")

    def _on_edit(self, event) -> None:
        problems = self.settings.assign({f"audit_{event.name}": event.new})
        if problems:
            self.report("table", problems[0])
            setattr(self.editor, event.name, getattr(self.settings, f"audit_{event.name}"))

    def _choose(self, method: str, relation: str) -> None:
        self.settings.param.update(audit_method=method, audit_relation=relation, audit_neighbours="worst")

    def _on_start(self, _event) -> None:
        """Pause a run, take a paused one up again, or show one that is done once more."""
        if self._paused:
            self._set_paused(False)
        elif self._running:
            self._set_paused(True)
        else:
            self._on_change()

    def _set_paused(self, paused: bool) -> None:
        self._paused = paused
        self._show_button()

    def _show_button(self) -> None:
        if self._paused:
            look = {"label": "Go on", "icon": "play_arrow"}
        elif self._running:
            look = {"label": "Pause", "icon": "pause"}
        else:
            look = {"label": "Start again", "icon": "replay"}
        self.controls.start.param.update(**look)

    # ---- one audit ------------------------------------------------------------------------------------------------

    def _outdated(self, serial: int) -> bool:
        return serial != self._serial or self._doc is None

    async def _audit(self, serial: int, values: dict[str, Any]) -> None:
        """Audit one setting, step by step, until it is done or outdated."""
        key = AuditSettings.audit_key(values)
        formula = asyncio.ensure_future(self._in_thread(FORMULAS, self.pool.cache.call, compute.exact, key))
        try:
            # most formulas are there at once; the draws do not wait for one that is not
            await asyncio.wait({formula}, timeout=PATIENCE)
            if self._outdated(serial):
                return
            total = compute.LADDER.index(values["audit_draws"]) + 1
            with pn.io.hold(self._doc):
                self._begin(values, formula.result() if formula.done() else PENDING, total)
            for index in range(total):
                begun = time.monotonic()
                step = await self._step(key, values, index)
                while self._paused and not self._outdated(serial):
                    await asyncio.sleep(0.1)
                if self._outdated(serial):
                    return
                with pn.io.hold(self._doc):
                    if "problem" in step:
                        self.report("draws", f"No draws of {CATALOGUE[key[0]].title}: {step['problem']}", "warning")
                        break
                    if self._exact is PENDING and formula.done():
                        self._show_exact(values, formula.result())
                    self._show_step(values, step, total)
                await asyncio.sleep(max(0.0, PACE - (time.monotonic() - begun)))
            if self._exact is PENDING:
                exact = await formula
                if not self._outdated(serial):
                    with pn.io.hold(self._doc):
                        self._show_exact(values, exact)
                        self._show_verdict(values, self._steps[-1] if self._steps else None)
        except Exception as error:
            if not self._outdated(serial):
                with pn.io.hold(self._doc):
                    self._failed("This audit", error)
        finally:
            formula.cancel()
        if not self._outdated(serial):
            with pn.io.hold(self._doc):
                self._end()

    async def _step(self, key: tuple, values: dict[str, Any], index: int) -> dict[str, Any]:
        chunk = Chunk(compute.step, (key, values["audit_seed"], values["audit_confidence"], index))
        if index < AT_ONCE or not self.pool.warm:
            return await self._in_thread(ANSWERS, self.pool.cache.call, chunk.function, *chunk.arguments)
        # a long run of draws has its turn among the curves
        return await self.pool.result(chunk, rank=Rank.CURVES)

    def _show_exact(self, values: dict[str, Any], exact: dict[str, Any]) -> None:
        self._exact = exact
        claim, delta = values["audit_epsilon"], CATALOGUE[values["audit_method"]].delta
        self.bound.claim(claim, delta, values["audit_confidence"], exact.get("epsilon"))

    def _begin(self, values: dict[str, Any], exact: dict[str, Any], total: int) -> None:
        entry = CATALOGUE[values["audit_method"]]
        self._steps, self._running = [], True
        self.clear("This audit")
        self.clear("draws")
        self.attack.claim(values["audit_epsilon"], entry.delta)
        self.show_risk("audit_epsilon", "audit_relation")
        self._show_exact(values, exact)
        by_hand = values["audit_neighbours"] == "table"
        self.editor.visible = by_hand
        relation = values["audit_relation"]
        self.editor.param.update(
            table=values["audit_table"],
            record=values["audit_record"],
            replaced=values["audit_replaced"],
            relation=relation,
        )
        case = compute.case(AuditSettings.audit_key(values))
        self._read_out("neighbours", words.neighbours_words(entry, values, case))
        self.claims.selected = "" if by_hand else claim_key(values["audit_method"], relation)
        self._show_verdict(values, None)
        self.progress.object = filled("Draws", 0, total)
        self._show_button()
        self._tell(running=True)

    def _show_step(self, values: dict[str, Any], step: dict[str, Any], total: int) -> None:
        entry = CATALOGUE[values["audit_method"]]
        self._steps.append(step)
        self.attack.show(step)
        self.bound.show(self._steps)
        shown, labels, axis, known = words.picture_labels(entry, step, self._exact)
        self.output.show(shown, labels, axis, known)
        self._read_out("attack", words.attack_readout(step))
        self._read_out("bound", words.bound_readout(self._steps, values, self._exact))
        self._read_out("output", words.output_readout(shown, labels, axis))
        self._show_verdict(values, step)
        self.progress.object = filled("Draws", len(self._steps), total)
        self.status.object = f"{step['draws']:,} of {compute.LADDER[total - 1]:,} draws each"

    def _show_verdict(self, values: dict[str, Any], step: dict[str, Any] | None) -> None:
        state, text = words.verdict(CATALOGUE[values["audit_method"]], values, self._exact, step)
        self.verdict.object = f'<div class="{state}">{text}</div>'

    def _end(self) -> None:
        self._running = False
        if not self._steps:
            self.attack.clear()
            self.output.clear()
            self.bound.show([])
            self.status.object = "No draws"
            for name in ("attack", "bound", "output"):
                self._read_out(name, "")
        self._show_button()
        self._tell(running=False)

    def _tell(self, running: bool) -> None:
        data = {name: list(column) for name, column in self.state.data.items()}
        data["running"] = [running]
        data["runs"] = [data["runs"][0] + (not running)]
        self.state.data = data

    # ---- the catalogue ---------------------------------------------------------------------------------------------

    async def _check_claims(self, run: Run) -> None:
        """Check every claim, by formula at once and from draws when the page has nothing else to do."""
        shown = 0.0
        try:
            await self._idle()
            async for chunk, check in run.results():
                name, relation = chunk.arguments[:2]
                column = int(chunk.function is compute.check_sampled)
                entry, key = CATALOGUE[name], claim_key(name, relation)
                marks = self._marks.setdefault(key, [words.mark(entry, None, sampled=bool(c)) for c in (0, 1)])
                marks[column] = words.mark(entry, check, sampled=bool(column))
                if time.monotonic() - shown > FLUSH_EVERY or run.done == len(run.chunks):
                    self._show_marks(run.done)
                    shown = time.monotonic()
                await self._idle()
        except Exception as error:
            if self._doc is not None:
                with pn.io.hold(self._doc):
                    self._failed("The catalogue's claims", error)

    async def _idle(self) -> None:
        """Wait while the page computes or is hidden: what is being looked at comes first."""
        while self._doc is not None and ((self._running and not self._paused) or not self.shown):
            await asyncio.sleep(0.2)

    def _show_marks(self, done: int) -> None:
        if self._doc is None:
            return
        with pn.io.hold(self._doc):
            self.claims.marks = {key: list(pair) for key, pair in self._marks.items()}
            self._read_out("claims", words.claims_readout(self._marks))
            self.state.data = {**self.state.data, "checked": [done]}


VERDICT_STYLE = """
:host { font-size: 1.08rem; line-height: 1.45; }
h2 { font-size: 1.35rem; line-height: 1.25; margin: 0.2em 0; padding-left: 12px; border-left: 6px solid #808080; }
.broken h2 { border-color: #D55E00; }
.stands h2 { border-color: #009E73; }
p { margin: 0.3em 0; }
.catalogue { font-size: 0.95rem; opacity: 0.85; }
"""
STATUS_STYLE = ":host { font-size: 0.9rem; opacity: 0.85; }"
