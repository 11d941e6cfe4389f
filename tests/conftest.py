"""Shared by all tests: the folder of real data, how Hypothesis searches, and what runs when."""

import gc
import os
from pathlib import Path

# before NumPy: as many workers as cores, so one thread each
os.environ.setdefault("OMP_NUM_THREADS", "1")
os.environ.setdefault("OPENBLAS_NUM_THREADS", "1")

import pytest
from hypothesis import settings

settings.register_profile("dpml", deadline=None)
settings.register_profile("dpml-ci", deadline=None, derandomize=True)
settings.load_profile("dpml-ci" if os.environ.get("CI", "").lower() == "true" else "dpml")


@pytest.hookimpl(wrapper=True)
def pytest_collection():
    """What is collected stays to the end: looking for garbage among it takes seconds and finds none."""
    gc.disable()
    try:
        return (yield)
    finally:
        gc.freeze()
        gc.enable()


def pytest_collection_modifyitems(config, items):
    """Mark what needs the real data files, and skip it without them; run browser tests only where `-m` names them."""
    for item in items:
        if "data_home" in item.fixturenames:
            item.add_marker("data")
    if not os.environ.get("DPML_DATA"):
        without = pytest.mark.skip(reason="needs the real data files: set DPML_DATA to the folder that holds them")
        for item in items:
            if item.get_closest_marker("data"):
                item.add_marker(without)
    if "browser" in (config.getoption("markexpr") or ""):
        return
    reason = pytest.mark.skip(reason="browser tests run one by one: pytest -m browser -n 0")
    for item in items:
        if item.get_closest_marker("browser"):
            item.add_marker(reason)


@pytest.fixture(scope="session")
def data_home():
    """The folder that DPML_DATA names; the test is skipped where it names none."""
    folder = os.environ.get("DPML_DATA")
    if not folder:
        pytest.skip("needs the real data files: set DPML_DATA to the folder that holds them")
    path = Path(folder).resolve()
    assert path.is_dir(), f"DPML_DATA = {folder!r} is not a folder"
    return path


@pytest.fixture
def offline(monkeypatch):
    """Every download fails as it does without a network; the addresses that were tried."""
    from dpml.datasets import _files

    tried = []

    def fail(url, path):
        tried.append(url)
        path.write_bytes(b"half of the fi")
        raise ConnectionError(f"no network for {url}")

    monkeypatch.setattr(_files, "_download", fail)
    return tried
