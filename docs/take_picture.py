"""Take the pictures of the app for README and the site.

``python docs/take_picture.py`` takes each page on a laptop, light and dark, and on a phone, for `docs/pictures.md`, and
the one of README; with names of pages, those only. ``--folder FOLDER`` takes them at three sizes, light and dark, as
PNG into a folder. It needs what the browser tests need: Debian's chromium and the extra `test`.
"""

import argparse
import importlib.util
import io
import shutil
from pathlib import Path

from PIL import Image
from playwright.sync_api import sync_playwright

ROOT = Path(__file__).parents[1]
IMAGES = ROOT / "docs" / "images"
SIZES = {"laptop": (1440, 900), "screen": (1920, 1080), "phone": (390, 844)}
KEPT = (("laptop", "light"), ("laptop", "dark"), ("phone", "light"))

spec = importlib.util.spec_from_file_location("app_conftest", ROOT / "tests" / "app" / "conftest.py")
app_tests = importlib.util.module_from_spec(spec)
spec.loader.exec_module(app_tests)


def pictures(wanted, rooms):
    """Give (page, size, theme, picture) of what is wanted, each page once it has answered and its work is done."""
    executable = next(filter(None, map(shutil.which, app_tests.CHROMIUM)))
    server = app_tests.Server()
    try:
        with sync_playwright() as playwright:
            browser = playwright.chromium.launch(executable_path=executable, args=app_tests.ARGUMENTS)
            for room in rooms:
                for size, (width, height) in SIZES.items():
                    themes = [theme for of, theme in wanted if of == size]
                    if not themes:
                        continue
                    page = browser.new_page(viewport={"width": width, "height": height})
                    app = app_tests.App(page, server.url, height)
                    page.set_default_timeout(600_000)  # a busy machine needs minutes for all curves
                    app.enter(room)
                    for theme in themes:
                        if theme == "dark":
                            page.get_by_label("Toggle theme").click()
                        page.mouse.move(0, height - 1)
                        page.wait_for_timeout(3000)  # the last frame is drawn
                        yield room, size, theme, Image.open(io.BytesIO(page.screenshot())).convert("RGB")
                    page.close()
            browser.close()
    finally:
        server.stop()


def keep(rooms):
    """Keep the pictures of the site, and that of README, with few colours so that the file stays small."""
    for room, size, theme, picture in pictures(KEPT, rooms):
        path = IMAGES / f"{room}-{size}-{theme}.webp"
        picture.save(path, quality=80, method=6)
        print(f"{path}: {path.stat().st_size / 1000:.0f} kB", flush=True)
        if (room, size, theme) == ("explore", "laptop", "light"):
            few = picture.quantize(256, method=Image.Quantize.MAXCOVERAGE, dither=Image.Dither.NONE)
            few.save(IMAGES / "explore.png", optimize=True)


if __name__ == "__main__":
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("pages", nargs="*", choices=[*app_tests.ROOMS, []], default=[])
    parser.add_argument("--folder", type=Path)
    asked = parser.parse_args()
    pages = asked.pages or list(app_tests.ROOMS)
    if asked.folder is None:
        keep(pages)
    else:
        asked.folder.mkdir(parents=True, exist_ok=True)
        every = [(size, theme) for size in SIZES for theme in ("light", "dark")]
        for room, size, theme, picture in pictures(every, pages):
            picture.save(asked.folder / f"{room}-{size}-{theme}.png")
