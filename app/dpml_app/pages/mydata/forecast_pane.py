"""The forecast of a plan on the exact records, and its warnings: shown before a charge, to the table's owner alone."""

import asyncio
import math
import re
from collections.abc import Callable
from html import escape
from typing import Any

import panel as pn

from dpml.release import Plan
from dpml.release.forecast import Forecast, percent
from dpml_app.jobs import LONG
from dpml_app.pages.mydata.draft import Draft
from dpml_app.serving import log

WAITING = "<p>Forecasting…</p>"


class ForecastPane:
    """The forecast of one session's plan. `hold`: of the page, sends changes as one message."""

    def __init__(self, pane: pn.pane.HTML, hold: Callable[[], Any]):
        self.pane, self.hold = pane, hold
        self.is_waiting = False

    def clear(self) -> None:
        """Show nothing."""
        self.pane.object, self.is_waiting = "", False

    async def show(self, plan: Plan, draft: Draft, is_wanted: Callable[[], bool]) -> None:
        """Compute the forecast in a thread and show it, unless the plan has changed meanwhile."""
        self.pane.object, self.is_waiting = WAITING, True
        try:
            words = forecast_html(await asyncio.wrap_future(LONG.call(_forecast, plan, draft)))
        except asyncio.CancelledError:
            return
        except Exception as error:  # no record may stop a release, and the release says what the plan has wrong
            log.failed(error)
            words = ""
        if is_wanted():
            with self.hold():
                self.pane.object, self.is_waiting = words, False


def _forecast(plan: Plan, draft: Draft) -> Forecast:
    table = draft.records(plan.schema)[[*plan.schema.feature_names, draft.label]]
    return plan.forecast(table, draft.label)


def forecast_html(forecast: Forecast) -> str:
    """Return a forecast and its warnings in words; the warnings alone where no model is planned.

    >>> forecast_html(Forecast(0.8, 0.7, 0.75, 0.6, 100)).startswith("<p>Forecast: accuracy <b>80")
    True
    """
    measures = (
        f"<p>Forecast: accuracy <b>{percent(forecast.accuracy)}</b> (majority-class baseline "
        f"{percent(forecast.majority)}), AUC <b>{forecast.auc:.2f}</b>. It uses your exact records. Do not publish it."
        "</p>"
    )
    sentences = (each.text[:1].upper() + each.text[1:] for each in forecast.warnings)
    items = "".join(f"<li><b>Warning.</b> {_code(escape(each))}</li>" for each in sentences)
    warnings = f"<ul class='problems'>{items}</ul>" if items else ""
    return warnings if math.isnan(forecast.accuracy) else measures + warnings


def _code(text: str) -> str:
    """Return HTML in which what is in backticks is code."""
    return re.sub("`([^`]*)`", r"<code>\1</code>", text)
