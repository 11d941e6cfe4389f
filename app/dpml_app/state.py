"""Every setting of the app in one object, made of its pages' own: what one session shows, and what a link can name."""

from types import new_class
from typing import Any

from dpml_app.page_list import PAGES
from dpml_app.settings import Shared, choice


class State(Shared):
    """The settings of all pages, and which page is shown."""

    page: Any = choice(next(iter(PAGES)), list(PAGES), "Page")

    @classmethod
    def names(cls) -> list[str]:
        """Return the names of all settings but the page's."""
        return [name for name in cls.param if name not in ("name", "page")]

    @staticmethod
    def page_names(page: str) -> list[str]:
        """Return the names of the settings that a page uses."""
        return list(PAGES[page].values_kind.names())


# the settings of each page are a class that `Shared` is the base of
Settings: type[State] = new_class("Settings", (State, *(page.settings_kind for page in PAGES.values())))
