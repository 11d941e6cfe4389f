"""Record the README's animation: the page Privacy cost while ε is dragged.

``python docs/take_animation.py`` starts the app, drags the slider of ε with the mouse and writes
`docs/images/epsilon.webp`. ``--output FILE`` writes another file. The script needs Debian's chromium and the extra
`test`, as the browser tests do, and the real file of Adult (DPML_DATA).
"""

import argparse
import io
import sys
from pathlib import Path

from PIL import Image

ROOT = Path(__file__).parents[1]
OUTPUT = ROOT / "docs" / "images" / "epsilon.webp"
VIEW = (1280, 800)
SIZE = (960, 600)
MOST_BYTES = 1_000_000
# positions of the thumb, as shares of the track's length, from 0.01 on the left to 10 on the right
START, LEFT, RIGHT = 1 / 3, 0.0, 1.0
STEPS_LEFT, STEPS_RIGHT = 6, 18
FRAME_MS, HOLD_MS = 160, 1200

# the tests' helpers for the app in a browser
sys.path.append(str(ROOT / "tests"))
import app_in_browser  # noqa: E402
from take_picture import DONE, running  # noqa: E402


def positions():
    """Return the thumb's positions: from 0.1 to 0.01, to 10 and back to 0.1."""
    to_left = [START + (LEFT - START) * k / STEPS_LEFT for k in range(STEPS_LEFT + 1)]
    to_right = [LEFT + (RIGHT - LEFT) * k / STEPS_RIGHT for k in range(1, STEPS_RIGHT + 1)]
    back = [RIGHT + (START - RIGHT) * k / STEPS_LEFT for k in range(1, STEPS_LEFT)]
    return to_left + to_right + back


def track(app):
    """Return the left end, the length and the height on the screen of the slider's track, in px."""
    box = app.slider("ε").evaluate(
        "(input) => { const r = input.closest('.MuiSlider-root').getBoundingClientRect();"
        " return [r.left, r.width, r.top + r.height / 2] }"
    )
    return tuple(box)


def frames(url, browser):
    """Yield (picture, duration in ms) for each position of the thumb."""
    width, height = VIEW
    page = browser.new_page(viewport={"width": width, "height": height})
    app = app_in_browser.App(page, url, height)
    page.set_default_timeout(600_000)  # a busy machine needs minutes for all curves
    app.enter("explore", wait=False)
    sources = list(app_in_browser.PAGE_SOURCES["explore"][:2])

    def settle():
        page.wait_for_function(DONE, arg=sources)
        page.wait_for_timeout(400)

    for _ in range(2):  # the neighbouring curves begin after the first answer
        settle()
        page.wait_for_timeout(3000)
    left, length, middle = track(app)
    page.mouse.move(left + START * length, middle)
    page.mouse.down()
    for position in positions():
        page.mouse.move(left + position * length, middle)
        page.wait_for_timeout(100)
        settle()
        picture = Image.open(io.BytesIO(page.screenshot())).convert("RGB").resize(SIZE, Image.Resampling.LANCZOS)
        yield picture, HOLD_MS if position in (START, LEFT, RIGHT) else FRAME_MS
    page.mouse.up()
    page.close()


def record(output):
    """Write the animation and return its size in bytes."""
    with running() as (url, browser):
        taken = list(frames(url, browser))
    pictures, durations = zip(*taken, strict=True)
    pictures[0].save(
        output,
        save_all=True,
        append_images=pictures[1:],
        duration=durations,
        loop=0,
        quality=70,
        method=6,
        minimize_size=True,
    )
    return output.stat().st_size


def main():
    """Record the animation, and fail if it is too large for the repository."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--output", type=Path, default=OUTPUT)
    output = parser.parse_args().output
    size = record(output)
    print(f"{output}: {size / 1000:.0f} kB, {len(positions())} frames")
    if size > MOST_BYTES:
        output.unlink()
        sys.exit(f"the animation has {size} bytes, at most {MOST_BYTES} are allowed: lower `quality` or `SIZE`")


if __name__ == "__main__":
    main()
