"""Shared by all tests: the folder of real data, how Hypothesis searches, and what runs when."""

import gc
import os
import sys
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


@pytest.hookimpl(tryfirst=True)  # before `-m` chooses
def pytest_collection_modifyitems(config, items):
    """Mark what needs the real data files, and skip it without them; run browser tests only where `-m` names them."""
    for item in items:
        if "data_home" in getattr(item, "fixturenames", ()):
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


@pytest.fixture(autouse=True)
def seeded_noise(request, monkeypatch):
    """Give the noise of releases a seed, except in tests of the system's own."""
    if request.node.get_closest_marker("system_noise") is None:
        from seeded_noise import give_seed, seed_of

        give_seed(monkeypatch, seed_of(request.node.nodeid))


@pytest.hookimpl(wrapper=True)
def pytest_fixture_setup(fixturedef, request):
    """Give a seed also to what several tests share, which is made before the fixture above."""
    if fixturedef.scope == "function":
        return (yield)
    from seeded_noise import give_seed, seed_of

    with pytest.MonkeyPatch.context() as patch:
        give_seed(patch, seed_of(f"{fixturedef.baseid} {fixturedef.argname} {getattr(request, 'param', '')}"))
        return (yield)


# The fixtures below serve tests of the app. They import the app when they are used: it takes seconds.


@pytest.fixture(scope="session")
def start_browser(tmp_path_factory):
    """Return a function that starts a Chromium; without one the tests are skipped, but under CI they fail."""
    import shutil

    from app_in_browser import ARGUMENTS, CHROMIUM
    from playwright.sync_api import expect, sync_playwright
    from waiting import PATIENCE

    executable = next(filter(None, map(shutil.which, CHROMIUM)), None)
    if executable is None:
        message = f"no Chromium found: none of {', '.join(CHROMIUM)} is on the path"
        if os.environ.get("CI", "").lower() == "true":
            pytest.fail(message)
        pytest.skip(message)

    expect.set_options(timeout=1000 * PATIENCE)
    with sync_playwright() as playwright:

        def start():
            # one profile on disk: its pages share the cache of compiled scripts
            profile = tmp_path_factory.mktemp("profile")
            return playwright.chromium.launch_persistent_context(profile, executable_path=executable, args=ARGUMENTS)

        yield start


@pytest.fixture(scope="session")
def browser(start_browser):
    """A headless Chromium for all tests."""
    chromium = start_browser()
    yield chromium
    chromium.close()


@pytest.fixture(scope="session")
def server():
    from app_server import Server

    server = Server()
    yield server
    server.stop()


@pytest.fixture
def make_app(browser):
    """Return a function that opens a page of a server; no page may log an error or ask another host for anything."""
    from app_in_browser import ALL_CARDS, App

    pages = []

    def make(server, width=1440, height=ALL_CARDS):
        page = browser.new_page()
        # all tests have one profile, and a page keeps its theme there
        clear = {"origin": server.url.removesuffix("/app"), "storageTypes": "local_storage"}
        browser.new_cdp_session(page).send("Storage.clearDataForOrigin", clear)
        page.set_viewport_size({"width": width, "height": height})
        app = App(page, server.url, height)
        pages.append(app)
        return app

    yield make
    for app in pages:
        app.page.close()
    assert [app.errors for app in pages if app.errors and not app.forgives] == []
    assert [app.elsewhere for app in pages if app.elsewhere] == []


@pytest.fixture
def app(make_app, server):
    return make_app(server)


@pytest.fixture(scope="session")
def pool_alone():
    yield from _pools()


def _pools():
    from page_alone import pool_here

    pool = pool_here()
    yield pool
    pool.stop()


@pytest.fixture
def alone(pool_alone):
    """A page without a browser, whose results the tests of a process share."""
    yield from _pages(pool_alone)


def _pages(pool):
    from page_alone import PageAlone

    page = PageAlone(pool)
    yield page
    page.close()


@pytest.fixture
def few_fits(monkeypatch):
    """Draw the picture of Explore from two fits at each ε: there are 31, and a fit takes a hundredth of a second."""
    from dpml_app.data import default_study

    monkeypatch.setattr(default_study, "DRAWS", 2)


# what stays of the points that a curve is drawn through
FEW_POINTS = {
    "SWEEP_EPSILONS": slice(None, None, 5),
    "PERCENTILES": slice(None, None, 4),
    "LAMBDA_STEPS": slice(None, None, 4),
}


@pytest.fixture
def short_curves(monkeypatch):
    """Draw each curve through a few of its points: what a control moves, it moves there as well."""
    from dpml_app.data import measures

    drawn = ("dpml_app.pages.", "dpml_app.core.curves_card")
    for module in [module for name, module in sys.modules.items() if name.startswith(drawn)]:
        for name, some in FEW_POINTS.items():
            if isinstance(points := getattr(module, name, None), tuple):
                monkeypatch.setattr(module, name, points[some])
        if hasattr(module, "feature_ladder"):
            monkeypatch.setattr(module, "feature_ladder", lambda n_total: measures.feature_ladder(n_total)[::3])


@pytest.fixture(scope="session")
def pool_of_few_fits():
    yield from _pools()


@pytest.fixture
def alone_of_few_fits(few_fits, pool_of_few_fits):
    """Return the same, where nothing is read of Explore's picture; its results are kept apart, for they look alike."""
    yield from _pages(pool_of_few_fits)


@pytest.fixture
def start_server():
    """Return a function that starts a server of the test's own; it is stopped at the end if it still runs."""
    yield from _servers()


@pytest.fixture(scope="module")
def module_server():
    """Return the same for a server that several tests of a file use."""
    yield from _servers()


def _servers():
    from app_server import Server

    servers = []

    def start(port=None, **environment):
        servers.append(Server(port, **environment))
        return servers[-1]

    yield start
    for server in servers:
        if server.process.poll() is None:
            server.stop()


@pytest.fixture
def table():
    """An uploaded table that the process holds."""
    import uploaded_tables
    from dpml_app import uploaded_table
    from dpml_app.jobs import forget

    made = uploaded_tables.made()
    uploaded_table.attach(made)
    yield made
    forget(made.name)


@pytest.fixture
def session(monkeypatch):
    from dpml_app import shell as shells
    from own_session import Session
    from page_alone import pool_here

    pool = pool_here()
    monkeypatch.setattr(shells, "pool", lambda: pool)
    made = []

    def new(**options):
        made.append(Session(**options))
        return made[-1]

    yield new
    for each in reversed(made):
        each.close()
    pool.stop()


@pytest.fixture
def without_advice(monkeypatch):
    """My data gives no advice on a table: it takes seconds, and has tests of its own."""
    from dpml_app.pages.mydata.page import MyDataPage

    async def quiet(_page, _name):
        pass

    monkeypatch.setattr(MyDataPage, "_advise", quiet)


@pytest.fixture
def ready(session, without_advice):
    """A session with a table in use, all of whose facts are said to be public, in the release mode."""
    from own_session import csv

    def new(*, confirmed=True, seed=0):
        one = session()
        one.upload(csv(seed))
        if confirmed:
            one.confirm()
        one.use()
        one.do(one.page.release.enter)
        return one

    return new
