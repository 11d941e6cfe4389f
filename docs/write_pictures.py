"""Write docs/explanation/pictures.md from the app's own titles and questions: python docs/write_pictures.py.

The pictures themselves are taken by ``python docs/take_picture.py``.
"""

import re
import sys
from pathlib import Path

HERE = Path(__file__).parent
sys.path.insert(0, str(HERE.parent / "app"))

from dpml_app.page_list import PAGES  # noqa: E402

PAGE = HERE / "explanation" / "pictures.md"
HEAD = """# The app in pictures

Each section shows one page of the app, with its question and its first line of help. The pictures show default
settings and the data set Adult. *My data* has a generated table of 800 customers.

The titles and texts come from the app (`python docs/write_pictures.py`). `python docs/take_picture.py` takes the
pictures.
"""
RELEASE = (
    "My data: release",
    "Sliders split ε between the parts of the release. The plan states the ε of each.",
)
VIEWS = (("light", "laptop-light"), ("dark", "laptop-dark"), ("phone", "phone-light"))


def plain(lead: str) -> str:
    """Return a line of HTML as Markdown; only bold text has a tag."""
    return re.sub(r"</?b>", "**", lead)


def section(name: str, title: str, caption: str) -> str:
    """Return one page's section: its caption and three pictures."""
    heads = " | ".join(view for view, _ in VIEWS)
    pictures = " | ".join(f"![{title}, {view}](../images/{name}-{file}.webp)" for view, file in VIEWS)
    return f"\n## {title}\n\n{caption}\n\n| {heads} |\n|---|---|---|\n| {pictures} |\n"


def page() -> str:
    """Return the page's text."""
    parts = [section(one.page_id, one.title, f"*{one.question}* {plain(one.lead)}") for one in PAGES.values()]
    return HEAD + "".join([*parts, section("release", *RELEASE)])


if __name__ == "__main__":
    PAGE.write_text(page(), encoding="utf-8")
