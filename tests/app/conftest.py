"""One server and one Chromium for all browser tests, pages alone, sessions of a person's own table."""

import os
import shutil
import sys

import pytest
import uploaded_tables
from app_in_browser import ALL_CARDS, ARGUMENTS, CHROMIUM, App
from app_server import Server
from dpml_app import shell as shells
from dpml_app import uploaded_table
from dpml_app.data import measures
from dpml_app.pages.explore import cost
from dpml_app.pages.mydata import bought
from dpml_app.pages.mydata.page import MyDataPage
from dpml_app.pages.publish import curves
from own_session import Session, csv
from page_alone import PageAlone, pool_here
from waiting import PATIENCE


@pytest.fixture(scope="session")
def start_browser(tmp_path_factory):
    """Return a function that starts a Chromium; without one the tests are skipped, but under CI they fail."""
    executable = next(filter(None, map(shutil.which, CHROMIUM)), None)
    if executable is None:
        message = f"no Chromium found: none of {', '.join(CHROMIUM)} is on the path"
        if os.environ.get("CI", "").lower() == "true":
            pytest.fail(message)
        pytest.skip(message)
    from playwright.sync_api import expect, sync_playwright

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
    server = Server()
    yield server
    server.stop()


@pytest.fixture
def make_app(browser):
    """Return a function that opens a page of a server; no page may log an error or ask another host for anything."""
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
    pool = pool_here()
    yield pool
    pool.stop()


@pytest.fixture
def alone(pool_alone):
    """A page without a browser, whose results the tests of a process share."""
    yield from _pages(pool_alone)


def _pages(pool):
    page = PageAlone(pool)
    yield page
    page.close()


@pytest.fixture
def few_fits(monkeypatch):
    """Draw the picture of Explore from two fits at each ε: there are 31, and a fit takes a hundredth of a second."""
    monkeypatch.setattr(cost, "DRAWS", 2)


# what stays of the points that a curve is drawn through
FEW_POINTS = {
    "SWEEP_EPSILONS": slice(None, None, 5),
    "PERCENTILES": slice(None, None, 4),
    "LAMBDA_STEPS": slice(None, None, 4),
    "SHARE_LADDER": slice(None, None, 4),
    "RIVAL_EPSILONS": slice(None, None, 2),
    "GRIDS": slice(4),
}


@pytest.fixture
def short_curves(monkeypatch):
    """Draw each curve through a few of its points: what a control moves, it moves there as well."""
    for module in [module for name, module in sys.modules.items() if name.startswith("dpml_app.pages.")]:
        for name, some in FEW_POINTS.items():
            if isinstance(points := getattr(module, name, None), tuple):
                monkeypatch.setattr(module, name, points[some])
        if hasattr(module, "feature_ladder"):
            monkeypatch.setattr(module, "feature_ladder", lambda n_total: measures.feature_ladder(n_total)[::3])
    monkeypatch.setattr(curves.GridsCard, "steps", curves.GRIDS)
    monkeypatch.setattr(curves.SharesCard, "steps", curves.SHARE_LADDER)


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
    made = uploaded_tables.made()
    uploaded_table.attach(made)
    yield made
    measures.detach(made.name)


@pytest.fixture
def session(monkeypatch):
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
def ready(session, monkeypatch):
    """A session with a table in use, all of whose facts are said to be public, in the release mode."""

    async def quiet(_page, _name):
        """Advice and study runs take seconds, and are not what is tested here."""

    monkeypatch.setattr(MyDataPage, "_advise", quiet)
    monkeypatch.setattr(bought, "asked", lambda _settings, _pool: {})

    def new(*, confirmed=True, seed=0):
        one = session()
        one.upload(csv(seed))
        if confirmed:
            one.confirm()
        one.use()
        one.do(one.page.release.enter)
        return one

    return new
