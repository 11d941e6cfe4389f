"""The answers of a page of cards to changes that come in any order, and to computations that fail."""

import asyncio
import gc
import logging
import threading

import pytest
from dpml_app.core.card import CHOSEN, DEFERRED, IMMEDIATE, WORKER
from dpml_app.jobs import Task
from panel.io.state import set_curdoc

CURVE = "curve"


def no_memory(_task):
    raise MemoryError("none is left")


@pytest.fixture
def page(alone):
    """The page Privacy cost, with two of its cards and all results of its setting."""
    return alone.enter("explore", "&dataset=toy&draws=10", only=("cost", "roc")).page


def fail_at(place, page, monkeypatch, fail=no_memory):
    """Have all tasks at a place fail until the patch is undone."""
    tasks_of = page.cards.tasks_of

    def changed(key, task):
        at = key[1] if key[1] in CHOSEN else CURVE
        return Task(fail, (task,)) if at == place else task

    def failing(values, facts):
        tasks = tasks_of(values, facts)
        return {name: {key: changed(key, task) for key, task in work.items()} for name, work in tasks.items()}

    monkeypatch.setattr(page.cards, "tasks_of", failing)


def shown(page):
    """Return the status of the page's work, and how its cards wait."""
    waiting = {name: slot.css_classes for name, slot in page.cards.slots.items() if slot.css_classes}
    return page.progress.status.object, bool(page.progress.bar.object), waiting


@pytest.mark.parametrize(
    ("place", "what"), [(IMMEDIATE, "Seed, ε"), (DEFERRED, "Curves"), (WORKER, "Curves"), (CURVE, "Curves")]
)
def test_failure_is_reported_until_the_next_answer(alone, page, monkeypatch, place, what):
    with monkeypatch.context() as patch:
        fail_at(place, page, patch)
        alone.act(epsilon=0.5, seed=1)
        assert alone.alerts == [f"{what}: MemoryError: none is left"]
        assert shown(page)[:2] == ("Stopped by an error", False)
        assert all("computing" not in classes for classes in shown(page)[2].values())
    alone.act(epsilon=1.0)
    assert alone.alerts == []
    assert shown(page) == ("", False, {})


def run(alone, script):
    """Run a script in the context of the page's document."""

    async def inside():
        with set_curdoc(alone.doc):
            await script()

    alone.loop.run_until_complete(asyncio.wait_for(inside(), 120))


async def until(condition):
    while not condition():
        await asyncio.sleep(0.01)


def test_failure_stops_the_curves_of_the_setting_before(alone, page, monkeypatch):
    async def script():
        page.settings.seed = 7
        await until(lambda: page.work.running)
        fail_at(IMMEDIATE, page, monkeypatch)
        page.settings.epsilon = 0.5
        await until(lambda: alone.alerts)

    run(alone, script)
    assert alone.alerts == ["ε: MemoryError: none is left"]
    assert shown(page) == ("Stopped by an error", False, {"cost": ["waiting"]})


def test_data_set_chosen_while_another_fails_to_load_is_shown(alone, page, monkeypatch):
    facts, begun, may = page.facts_of, threading.Event(), threading.Event()

    def load(name):
        if name == "mushrooms":
            begun.set()
            may.wait(60)
            raise OSError("the file is damaged")
        return facts(name)

    monkeypatch.setattr(type(page), "facts_of", staticmethod(load))

    async def script():
        page.settings.dataset = "mushrooms"
        await until(begun.is_set)
        page.settings.dataset = "census"
        may.set()
        await until(lambda: not alone._busy)

    run(alone, script)
    assert page.settings.dataset == "census"
    assert page.controls.dataset_note.object == page.note(facts("census"))
    assert alone.alerts == []


@pytest.mark.parametrize("place", ["load", IMMEDIATE, DEFERRED, WORKER])
def test_failure_after_a_page_is_closed_is_not_logged(alone, page, monkeypatch, caplog, place):
    begun, may, failed = threading.Event(), threading.Event(), threading.Event()

    def fail(_argument):
        begun.set()
        may.wait(60)
        failed.set()
        raise MemoryError

    if place == "load":
        monkeypatch.setattr(type(page), "facts_of", staticmethod(fail))
    else:
        fail_at(place, page, monkeypatch, fail)

    async def script():
        page.settings.param.update(dataset="census", seed=11)
        await until(begun.is_set)
        tasks = set(page.sender.tasks)
        page.stop()
        may.set()
        await until(lambda: failed.is_set() and all(task.done() for task in tasks))
        await asyncio.sleep(0.05)

    with caplog.at_level(logging.INFO):
        run(alone, script)
        gc.collect()
    assert [record for record in caplog.records if record.msg == "error" or record.levelno > logging.INFO] == []


def test_hidden_page_answers_no_change(alone, page, monkeypatch):
    begun, may, notes = threading.Event(), threading.Event(), []

    def wait(_task):
        begun.set()
        may.wait(60)

    async def script():
        with monkeypatch.context() as patch:
            fail_at(IMMEDIATE, page, patch, wait)
            page.settings.epsilon = 0.5
            await until(begun.is_set)
        page.shown = False
        page.settings.dataset = "glass"  # the page shown instead supports six classes
        may.set()
        for _ in range(2):
            await until(lambda: not alone._busy)
            notes.append(page.controls.dataset_note.object)
            page.settings.dataset, page.shown = "census", True
            page.resume()

    run(alone, script)
    facts = page.facts_of
    assert notes == [page.note(facts(name)) for name in ("toy", "census")]
    assert alone.alerts == []
