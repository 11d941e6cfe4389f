"""The forecast before a release: a worthless model and a leaking column are named before anything is charged."""

import threading

import numpy as np
import pandas as pd
import pytest
from dpml_app.pages.mydata import forecast_pane
from dpml_app.pages.mydata.page import MyDataPage

RECORDS = 1200


def table(*, leak):
    """Return a table of which 5% of the labels are yes; with `leak` a column tells them."""
    rng = np.random.default_rng(0)
    label = np.where(rng.random(RECORDS) < 0.05, "yes", "no")
    code = np.where(label == "yes", "closed", "open") if leak else rng.choice(["open", "closed"], RECORDS)
    return pd.DataFrame({"age": rng.integers(18, 90, RECORDS), "state": code, "label": label}).to_csv(index=False)


@pytest.fixture
def entered(session, monkeypatch):
    async def quiet(_page, _name):
        """Advice takes seconds, and is not what is tested here."""

    monkeypatch.setattr(MyDataPage, "_advise", quiet)

    def new(content):
        one = session()
        one.upload(content.encode())
        one.confirm()
        one.do(one.page.release.enter)
        return one

    return new


def test_worthless_model_is_named_before_the_charge(entered):
    step = entered(table(leak=False)).page.release
    words = step.forecast.pane.object
    assert "no better than the majority-class baseline" in words
    assert "majority-class baseline" in words
    assert "AUC" in words
    assert step.budget is None
    # a warning does not stop the owner: only what was not confirmed does
    assert "tick the box" in step.problems.object


def test_leaking_column_is_named_before_the_charge(entered):
    step = entered(table(leak=True)).page.release
    assert "state" in step.forecast.pane.object
    assert "Warning." in step.forecast.pane.object
    assert step.budget is None


def test_button_waits_for_the_forecast(entered, monkeypatch):
    seen, go_on = [], threading.Event()
    one = entered(table(leak=False))
    step = one.page.release
    forecast = forecast_pane._forecast

    def slow(plan, draft):
        go_on.wait(60)
        return forecast(plan, draft)

    monkeypatch.setattr(forecast_pane, "_forecast", slow)

    async def look():
        import asyncio

        step.sure.value = True
        step.refresh()
        while not step.forecast.is_waiting:
            await asyncio.sleep(0.01)
        seen.append((step.button.disabled, "Ready." in step.problems.object))
        go_on.set()

    one.run(look)
    assert seen == [(True, False)]
    assert not step.button.disabled


def test_failed_forecast_does_not_stop_a_release(entered, monkeypatch):
    def fail(_plan, _draft):
        raise ValueError("a record")

    monkeypatch.setattr(forecast_pane, "_forecast", fail)
    one = entered(table(leak=False))
    step = one.page.release
    one.do(lambda: setattr(step.sure, "value", True))
    assert step.forecast.pane.object == ""
    assert not step.button.disabled
