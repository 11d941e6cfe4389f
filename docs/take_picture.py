"""Take the picture of the page Explore for README and the site: python docs/take_picture.py.

It needs what the browser tests need: Debian's chromium and the extra `test`.
"""

import importlib.util
import io
import shutil
from pathlib import Path

from PIL import Image
from playwright.sync_api import sync_playwright

ROOT = Path(__file__).parents[1]
PICTURE = ROOT / "docs" / "images" / "explore.png"

spec = importlib.util.spec_from_file_location("app_conftest", ROOT / "tests" / "app" / "conftest.py")
app_tests = importlib.util.module_from_spec(spec)
spec.loader.exec_module(app_tests)


def taken():
    """Return a picture of the page once it has answered and its curves are there."""
    executable = next(filter(None, map(shutil.which, app_tests.CHROMIUM)))
    server = app_tests.Server()
    try:
        with sync_playwright() as playwright:
            browser = playwright.chromium.launch(executable_path=executable, args=app_tests.ARGUMENTS)
            page = browser.new_page(viewport={"width": 1440, "height": 900})
            app_tests.App(page, server.url).open()
            page.wait_for_timeout(3000)  # the last frame is drawn
            picture = page.screenshot()
            browser.close()
    finally:
        server.stop()
    return Image.open(io.BytesIO(picture)).convert("RGB")


if __name__ == "__main__":
    # few colours, so that the file stays small; by coverage, so that no thin line loses its own
    few = taken().quantize(256, method=Image.Quantize.MAXCOVERAGE, dither=Image.Dither.NONE)
    few.save(PICTURE, optimize=True)
    print(f"{PICTURE}: {PICTURE.stat().st_size / 1000:.0f} kB")
