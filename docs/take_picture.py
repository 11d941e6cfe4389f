"""Take the pictures of the app for README and the site.

``python docs/take_picture.py`` takes each page on a laptop, light and dark, and on a phone, for
`docs/explanation/pictures.md`, and the one of README; with names of pages, those only. ``--folder FOLDER`` takes them
at three sizes, light and dark, as PNG into a folder. My data is taken with a table of 800 made-up customers, once when
it has been taken over and once ("release") when something of it is about to be released. It needs what the browser
tests need: Debian's chromium and the extra `test`.
"""

import argparse
import io
import shutil
import sys
from contextlib import contextmanager
from pathlib import Path

import numpy as np
import pandas as pd
from PIL import Image
from playwright.sync_api import sync_playwright

ROOT = Path(__file__).parents[1]
IMAGES = ROOT / "docs" / "images"
SIZES = {"laptop": (1440, 900), "screen": (1920, 1080), "phone": (390, 844)}
KEPT = (("laptop", "light"), ("laptop", "dark"), ("phone", "light"))
RELEASE = "release"
# a page has answered and works no more; what stands behind "More" is not on the picture, and is not waited for
DONE = """([state, work]) => {
  const named = (name) => globalThis.Bokeh?.documents?.[0]?.get_model_by_name(name)?.data
  return named(state)?.answers[0] > 0 && !named(state).due?.[0] && !named(work)?.running?.[0]
}"""

# where pytest finds what the tests of the app share
sys.path.append(str(ROOT / "tests"))
import app_in_browser  # noqa: E402
import app_server  # noqa: E402
import write_pictures  # noqa: E402

PAGES = (*app_in_browser.PAGE_SOURCES, RELEASE)


@contextmanager
def running():
    """Start the app and a browser, and yield the address of the one and the other."""
    executable = next(filter(None, map(shutil.which, app_in_browser.CHROMIUM)))
    server = app_server.Server()
    try:
        with sync_playwright() as playwright:
            browser = playwright.chromium.launch(executable_path=executable, args=app_in_browser.ARGUMENTS)
            yield server.url, browser
            browser.close()
    finally:
        server.stop()


def pictures(wanted, rooms):
    """Give (page, size, theme, picture) of what is wanted, each page once it has answered and its work is done."""
    with running() as (url, browser):
        for room in rooms:
            for size, (width, height) in SIZES.items():
                themes = [theme for of, theme in wanted if of == size]
                if not themes:
                    continue
                page = browser.new_page(viewport={"width": width, "height": height})
                app = app_in_browser.App(page, url, height)
                page.set_default_timeout(600_000)  # a busy machine needs minutes for all curves
                if room in ("mydata", RELEASE):
                    take_over(app, release=room == RELEASE)
                else:
                    app.enter(room, wait=False)
                    for _twice in range(2):  # what is near is made, and begins to work, after the first answer
                        page.wait_for_function(DONE, arg=list(app_in_browser.PAGE_SOURCES[room][:2]))
                        page.wait_for_timeout(3000)
                for theme in themes:
                    if theme == "dark":
                        page.get_by_label("Toggle theme").click()
                    page.mouse.move(0, height - 1)
                    page.wait_for_timeout(3000)  # the last frame is drawn
                    yield room, size, theme, Image.open(io.BytesIO(page.screenshot())).convert("RGB")
                page.close()


def customers(n=800):
    """Return a table of customers that nobody has, as CSV: the young stay, the old leave, most of them."""
    rng = np.random.default_rng(0)
    age, plan = rng.integers(18, 99, n), rng.choice(["basic", "plus", "student"], n)
    leaves = rng.random(n) < np.where(age < 50, 0.15, 0.85)
    frame = pd.DataFrame({"age": age, "visits": rng.integers(0, 10, n), "plan": plan})
    return frame.assign(label=np.where(leaves, "leaves", "stays")).to_csv(index=False).encode()


def take_over(app, *, release):
    """Upload a table and say what is public of it, as a person does; begin a release of it if that is wanted."""
    page = app.page
    app.enter("mydata", wait=False)
    table = {"name": "customers.csv", "mimeType": "text/csv", "buffer": customers()}
    page.locator("section.shown input[type=file]").first.set_input_files(table)
    use = page.get_by_role("button", name="Use this table")
    use.wait_for()
    if release:
        page.get_by_role("checkbox", name="From a public source: labels, number of records").check()
        step = page.get_by_role("button", name="Next column to check")
        while step.is_enabled():
            step.click()
            page.wait_for_timeout(1000)  # the form shows the next column
            page.get_by_role("checkbox").last.check()
            page.wait_for_timeout(1000)
    use.click()
    page.get_by_text("Pages with a data set list it as").wait_for()
    if release:
        page.get_by_role("button", name="Plan a release").click()
        page.get_by_text("Forecast: accuracy").filter(visible=True).first.wait_for()
    else:
        page.get_by_text("Start with").filter(visible=True).first.wait_for()
    page.locator("main").evaluate("(main) => { main.scrollTop = 0 }")


def keep(rooms):
    """Keep the pictures of the site, and that of README, with few colours so that the file stays small."""
    for room, size, theme, picture in pictures(KEPT, rooms):
        path = IMAGES / f"{room}-{size}-{theme}.webp"
        picture.save(path, quality=80, method=6)
        print(f"{path}: {path.stat().st_size / 1000:.0f} kB", flush=True)
        if (room, size, theme) == ("explore", "laptop", "light"):
            few = picture.quantize(256, method=Image.Quantize.MAXCOVERAGE, dither=Image.Dither.NONE)
            few.save(IMAGES / "explore.png", optimize=True)
    write_pictures.PAGE.write_text(write_pictures.page(), encoding="utf-8")


if __name__ == "__main__":
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("pages", nargs="*", choices=[*PAGES, []], default=[])
    parser.add_argument("--folder", type=Path)
    asked = parser.parse_args()
    pages = asked.pages or list(PAGES)
    if asked.folder is None:
        keep(pages)
    else:
        asked.folder.mkdir(parents=True, exist_ok=True)
        every = [(size, theme) for size in SIZES for theme in ("light", "dark")]
        for room, size, theme, picture in pictures(every, pages):
            picture.save(asked.folder / f"{room}-{size}-{theme}.png")
