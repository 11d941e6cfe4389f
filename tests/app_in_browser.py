"""A page of the app in a Chromium, for the browser tests and for pictures: it knows how to read what is plotted."""

import numpy as np
from dpml_app.core import link
from dpml_app.page_list import PAGES
from dpml_app.state import Settings
from waiting import PATIENCE, check_becomes, wait

CHROMIUM = ("chromium", "chromium-browser", "google-chrome", "google-chrome-stable")
ARGUMENTS = [
    "--no-sandbox",
    "--disable-gpu",
    "--disable-quic",
    "--no-first-run",
    "--disable-background-networking",
    "--disable-component-update",
    "--disable-sync",
]
# so high that every card is near the view
ALL_CARDS = 6000


# of each page, the sources that count its answers and tell of its work, and what else must be there
PAGE_SOURCES = {
    "explore": ("explore-state", "explore-work", "true"),
    "audit": ("audit-state", "audit-work", "true"),
    "noise": ("noise-state", "noise-work", "named('noise-envelope-terms')?.k.length > 0"),
    "select": (
        "select-state",
        "select-work",
        "named('select-rows')?.row.length > 0",
    ),
    "train": ("train-state", "train-work", "true"),
    "publish": ("publish-state", "publish-work", "true"),
    "evaluate": ("evaluate-state", "evaluate-work", "true"),
    "mydata": ("mydata-state", "mydata-work", "true"),
}
# what stands behind "More" and "Advanced" is a part of the page, and is made when it is opened
OPEN_ALL = """() => {
  for (const rest of document.querySelectorAll("section.shown > * > details")) { rest.open = true }
}"""
# the names of cards that wait for being near the view; undefined before the page is there
WAITING = """() => {
  const messages = globalThis.Bokeh?.documents?.[0]?.get_model_by_name("messages")
  return messages && JSON.parse(messages.waiting)
}"""
READY = """(before) => {
  const named = (name) => globalThis.Bokeh?.documents?.[0]?.get_model_by_name(name)?.data
  const work = named("WORK"), state = named("STATE")
  if (!CARDS) { (OPEN_ALL)() }
  const answered = state?.answers[0] > before && !(WORKING && work?.running[0]) && !state.due?.[0]
  return answered && ALSO && (CARDS || (WAITING)()?.length === 0)
}"""
# the server is where the last link led, and the address says what it has told the browser to write into it
WRITTEN = """() => {
  const {address, visited} = Bokeh.documents[0].get_model_by_name("messages")
  const {query, at} = JSON.parse(address)
  return at === JSON.parse(visited).at && location.search === (query === "?" ? "" : query)
}"""
# every plot that is shown is drawn, and its own tools are out of the tab order
DRAWN = """() => {
  let [tools, plots] = [0, 0]
  const walk = (root) => {
    for (const part of root.querySelectorAll("*")) {
      tools += part.tabIndex >= 0
      if (part.shadowRoot) { walk(part.shadowRoot) }
    }
  }
  for (const model of globalThis.Bokeh?.documents?.[0]?._all_models.values() ?? []) {
    const view = model.type === "Figure" && Bokeh.index.find_one_by_id(model.id)
    if (!view?.el?.checkVisibility()) { continue }
    if (!view.el.shadowRoot?.querySelector("canvas, .bk-Canvas, .bk-CanvasPanel")) { return false }
    plots += 1
    walk(view.el.shadowRoot)
  }
  return plots > 0 && tools === 0
}"""
# a NaN is null on its way out of the page
READ = """(name) => {
  const data = Bokeh.documents[0].get_model_by_name(name).data
  return Object.fromEntries(Object.entries(data).map(([k, v]) => [k, Array.from(v)]))
}"""
# the link says another value of a setting; one that it does not name is at its default
MOVED = """([setting, before, usual]) =>
  (new URLSearchParams(location.search).get(setting) ?? usual) !== before"""
OTHER = f"([name, before]) => JSON.stringify(({READ})(name)) !== before"
# what is written on the page, inside shadow roots as well
TEXT = """() => {
  const words = []
  const walk = (node) => {
    if (node.nodeType === Node.TEXT_NODE) { words.push(node.data) }
    if (["SCRIPT", "STYLE"].includes(node.nodeName)) { return }
    for (const child of [...(node.shadowRoot?.childNodes ?? []), ...node.childNodes]) { walk(child) }
  }
  walk(document.body)
  return words.join("").replace(/\\s+/g, " ")
}"""
# half a screen further down, and from the top again, until no card waits any more
SCROLL_ON = """() => {
  const names = (WAITING)()
  if (!names?.length) { return names !== undefined }
  const main = document.querySelector("main")
  const end = main.scrollTop + main.clientHeight >= main.scrollHeight - 1
  main.scrollTop = end ? 0 : main.scrollTop + main.clientHeight / 2
  return false
}"""
# the width of the widest thing that could be scrolled sideways
SCROLL = """() => {
  let widest = document.documentElement.scrollWidth
  const walk = (node) => {
    if (node.nodeName === "MAIN") { widest = Math.max(widest, node.scrollWidth) }
    for (const child of [...(node.shadowRoot?.children ?? []), ...node.children]) { walk(child) }
  }
  walk(document.body)
  return widest
}"""


def written(value):
    """Return a setting as a link has it."""
    return ".".join(value) if isinstance(value, list) else f"{value:.12g}" if isinstance(value, float) else str(value)


DEFAULTS = {name: written(Settings.param[name].default) for name in ("page", *Settings.names())}


class App:
    """A page of the app, and what it has complained about."""

    def __init__(self, page, url, height):
        self.page, self.url, self.height = page, url, height
        page.set_default_timeout(1000 * PATIENCE)
        self.page_id = "explore"
        # a test that kills the server expects complaints
        self.forgives = False
        self.errors, self.elsewhere = [], []
        page.on("console", lambda m: self.errors.append(m.text) if m.type in ("error", "warning") else None)
        page.on("pageerror", lambda e: self.errors.append(str(e)))
        page.on("request", self._on_request)

    def _on_request(self, request):
        if not request.url.startswith(("http://localhost:", "ws://localhost:", "data:", "blob:")):
            self.elsewhere.append(request.url)

    def open(self, query="", wait=True):
        self.page.goto(self.url + query)
        if wait:
            self.settle(0)
        return self

    def enter(self, page_id, query="", wait=True):
        """Open a page by its name, and wait until all that it shows is there."""
        self.page_id = page_id
        return self.open(f"?page={page_id}{query}", wait)

    def settle(self, before, working=True):
        """Wait until the page has answered more than `before` times and its work is done, if that is asked for."""
        state, work, also = PAGE_SOURCES[self.page_id]
        words = {"STATE": state, "WORKING": str(working).lower(), "WORK": work, "ALSO": also}
        # on a small screen some cards wait for being near
        words["CARDS"] = "false" if self.height >= ALL_CARDS else "true"
        ready = READY.replace("OPEN_ALL", OPEN_ALL).replace("WAITING", WAITING, 1)
        for word, meant in words.items():
            ready = ready.replace(word, meant)
        self.page.wait_for_function(ready, arg=before)

    @property
    def answers(self):
        return self.read(PAGE_SOURCES[self.page_id][0])["answers"][0]

    def open_all(self):
        """Open what stands behind "More" and "Advanced" on the page that is shown."""
        self.page.evaluate(OPEN_ALL)

    def turn(self, page_id):
        """Go to a page by its link in the navigation, and wait for nothing."""
        self.page.locator("#top nav").get_by_role("link", name=PAGES[page_id].title, exact=True).click()
        self.page_id = page_id

    def act(self, do):
        """Do something that the server answers, and wait until it has, curves included."""
        before = self.answers
        do(self)
        self.settle(before)

    def push(self, label, key="ArrowRight"):
        """Press a key on a slider."""
        self.slider(label).focus()
        self.page.keyboard.press(key)

    def hit(self, role, name):
        """Click on a control."""
        self.page.get_by_role(role, name=name, exact=True).click()

    def pick(self, label, option):
        """Choose from a list."""
        self.page.get_by_role("combobox", name=label, exact=True).click()
        # a menu of panel-material-ui has items, others have options
        found = self.page.get_by_role("option", name=option, exact=True)
        found.or_(self.page.get_by_role("menuitem", name=option, exact=True)).first.click()

    def read(self, name):
        return self.page.evaluate(READ, name)

    def visit(self, query):
        """Go to a state of the page that is open, as Back and Forward do; wait for its answer, but for no curve."""
        before = self.answers
        state = "(q) => { history.pushState(null, '', q); dispatchEvent(new PopStateEvent('popstate')) }"
        self.page.evaluate(state, f"?page={self.page_id}{query}")
        self.wait_for_answer(before)

    def wait_for_answer(self, before):
        """Wait until the page has answered more than `before` times, but for no curve."""
        state = "globalThis.Bokeh?.documents?.[0]?.get_model_by_name(name)?.data"
        answered = f"([name, before]) => {state}?.answers[0] > before"
        self.page.wait_for_function(answered, arg=[PAGE_SOURCES[self.page_id][0], before])

    def wait_for_link(self, setting, before):
        """Wait until the link says another value of a setting."""
        self.page.wait_for_function(MOVED, arg=[setting, before, DEFAULTS[setting]])

    def written(self, name):
        """Return what a source holds as a text, to be compared."""
        return self.page.evaluate(f"(name) => JSON.stringify(({READ})(name))", name)

    def wait_for_other(self, name, before):
        """Wait until a source holds something else."""
        self.page.wait_for_function(OTHER, arg=[name, before])

    def array(self, name, column):
        return np.array([np.nan if v is None else v for v in self.read(name)[column]], dtype=float)

    @property
    def query(self):
        """What the link says of every setting; what it does not say is at its default."""
        return {**DEFAULTS, **link.parse(self.search)}

    @property
    def search(self):
        """What the address says, once the server has told it and it is written."""
        self.page.wait_for_function(WRITTEN)
        return self.page.evaluate("location.search")

    def slider(self, label):
        return self.page.get_by_role("slider", name=label, exact=True)

    def press(self, label, *keys):
        """Press keys on a slider and wait for the answer to each."""
        self.slider(label).focus()
        for key in keys:
            before = self.answers
            self.page.keyboard.press(key)
            self.settle(before)

    def choose(self, title, wait=True):
        """Choose a data set by its title."""
        before = self.answers
        self.page.get_by_role("combobox", name="Data set").click()
        self.page.get_by_role("menuitem", name=title, exact=True).click()
        if wait:
            self.settle(before)

    @property
    def text(self):
        return self.page.evaluate(TEXT)

    def check_becomes(self, read, wanted):
        """Wait until what is read is what is wanted."""
        check_becomes(self.page, read, wanted)

    def steady(self, script, argument):
        """Return what a script gives once it gives it again a moment later: nothing moves any more."""
        seen = [self.page.evaluate(script, argument)]

        def rests():
            self.page.wait_for_timeout(200)
            seen.append(self.page.evaluate(script, argument))
            return seen[-1] == seen[-2]

        wait(self.page, rests)
        return seen[-1]

    def wait_for_drawn(self):
        """Wait until every plot that is shown is drawn, and has been taken out of the tab order."""
        self.page.wait_for_function(DRAWN)

    def wait_for_alerts(self, *texts):
        """Wait until each of these is said in an alert."""
        for text in texts:
            self.page.get_by_role("alert").filter(has_text=text).first.wait_for()

    def wait_for_text(self, text, times=1):
        """Wait until a text stands on the page that many times."""
        self.page.wait_for_function(f"([text, times]) => ({TEXT})().split(text).length > times", arg=[text, times])

    @property
    def widest(self):
        return self.page.evaluate(SCROLL)

    def scroll(self):
        """Scroll until every card has been near the view."""
        self.open_all()
        self.page.wait_for_function(SCROLL_ON.replace("WAITING", WAITING), polling=300)

    def turn_dark(self, figure):
        """Change to the dark theme and wait until a figure has it."""
        self.page.get_by_label("Toggle theme").click()
        dark = "(name) => Bokeh.documents[0].get_model_by_name(name).background_fill_color.toLowerCase() !== '#fff'"
        self.page.wait_for_function(dark, arg=figure)

    @property
    def alerts(self):
        return [a.inner_text() for a in self.page.get_by_role("alert").all()]
