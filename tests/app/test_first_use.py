"""A new user's path by script: from a CSV file to an ε, a release, and its model in another process."""

import asyncio
import subprocess
import sys

import joblib
import numpy as np
import own_tables
import pandas as pd
from dpml_app import own
from dpml_app.explore import cost
from dpml_app.mydata.page import MyDataPage
from panel.io.state import set_curdoc

from dpml.tables import safe_csv

MOST_ACTIONS = 25
# each is a fit of its own, and twenty at each ε are what the page shows
FEW = 3
ELSEWHERE = """
import sys
import joblib, pandas as pd
model, table, predicted = sys.argv[1:]
pd.Series(joblib.load(model).predict(pd.read_csv(table))).to_csv(predicted, index=False)
"""


def with_gaps(seed=0):
    """Numbers, categories and gaps."""
    frame = own_tables.customers(seed=seed)
    frame["age"] = frame["age"].astype(float)
    frame.loc[::10, "age"] = np.nan
    frame.loc[3::10, "plan"] = None
    return frame


class Person:
    """Who has a session, and how often they do something."""

    def __init__(self, session):
        self.session, self.actions = session, 0

    def act(self, change):
        """Do one thing and wait until the page that is shown rests."""
        self.actions += 1
        shell = self.session.shell

        async def until_it_rests():
            change()
            while True:
                await asyncio.sleep(0.02)
                page = shell.shown
                busy = getattr(page, "_changed", ()) and page._doc is not None
                if not (busy or getattr(page, "_answering", False) or page._tasks or self.starting(shell)):
                    work = getattr(page, "work", None)
                    if work is None or not work.running:
                        return

        async def in_document():
            with set_curdoc(self.session.doc):
                await asyncio.wait_for(until_it_rests(), 280)

        self.session.loop.run_until_complete(in_document())

    @staticmethod
    def starting(shell):
        return shell._starting is not None and not shell._starting.done()


def test_from_a_file_to_a_model_elsewhere_in_few_actions(session, tmp_path, monkeypatch):
    async def quiet(_page, _name):
        """Advice takes seconds and has tests of its own."""

    monkeypatch.setattr(MyDataPage, "_advise", quiet)
    monkeypatch.setattr(cost, "DRAWS", FEW)
    one = session()
    me, page = Person(one), one.page
    me.actions += 1  # the address
    one.upload(safe_csv(with_gaps()).encode())
    me.actions += 1
    me.act(lambda: page.wizard.go(1))
    me.act(lambda: page.wizard.go(2))
    # what everybody knows: bounds, what stands for a gap, and that the rest of the proposal is public
    draft = page.draft
    for fact in ({"lower": 18.0}, {"upper": 98.0}, {"missing": 40.0}):
        me.act(lambda fact=fact: draft.say("age", **fact))
    me.act(draft.confirm)
    me.act(page._on_use)
    assert own.is_own(one.shell.settings.dataset), one.said
    # the ε for a target
    me.act(lambda: page._go("explore", None))
    shown = one.shell.shown
    me.act(lambda: setattr(shown.controls.widgets["wanted"], "value", 60.0))
    said = shown.controls.needed.object
    assert said.startswith("<b>ε = ")
    epsilon = float(said.removeprefix("<b>ε = ").split("</b>")[0])
    assert 0.01 <= epsilon <= 10
    # a release
    me.act(lambda: one.shell.settings.assign({"page": "mydata"}))
    step = page.release
    me.act(step.enter)
    me.act(lambda: setattr(step.sure, "value", True))
    me.act(step.start)
    assert "Done in" in step.said.object, step.said.object
    [made] = step.done
    me.actions += 1  # its model is saved
    assert me.actions <= MOST_ACTIONS
    model = tmp_path / "model.joblib"
    model.write_bytes(made.files["release-1-model.joblib"][1])
    # elsewhere: a process that knows nothing of the session
    fresh, predicted = tmp_path / "fresh.csv", tmp_path / "predicted.csv"
    with_gaps(seed=7).drop(columns="label").to_csv(fresh, index=False)
    subprocess.run([sys.executable, "-W", "ignore", "-c", ELSEWHERE, model, fresh, predicted], check=True, timeout=120)
    here = joblib.load(model).predict(pd.read_csv(fresh))
    there = pd.read_csv(predicted).iloc[:, 0].to_numpy()
    assert list(here) == list(there)
    assert len(set(here)) == 2
