"""Every setting of the app in one object: what one session shows, and what a link can name."""

from __future__ import annotations

from dpml_app.pages.audit.settings import AuditSettings, AuditValues
from dpml_app.pages.evaluate.settings import EvaluateSettings, EvaluateValues
from dpml_app.pages.explore.settings import ExploreSettings, ExploreValues
from dpml_app.pages.noise.settings import NoiseSettings, NoiseValues
from dpml_app.pages.publish.settings import PublishSettings, PublishValues
from dpml_app.pages.select.settings import SelectSettings, SelectValues
from dpml_app.pages.train.settings import TrainSettings, TrainValues
from dpml_app.values import PageValues

__all__ = ["VALUES", "Settings"]

# what each page depends on; nothing of a session's own table may be in a link
VALUES: dict[str, type[PageValues]] = {
    "explore": ExploreValues,
    "noise": NoiseValues,
    "select": SelectValues,
    "train": TrainValues,
    "publish": PublishValues,
    "evaluate": EvaluateValues,
    "audit": AuditValues,
    "mydata": PageValues,
}


class Settings(
    ExploreSettings,
    AuditSettings,
    NoiseSettings,
    SelectSettings,
    TrainSettings,
    PublishSettings,
    EvaluateSettings,
):
    """All settings of the app."""

    @classmethod
    def names(cls) -> list[str]:
        """Return the names of all settings but the page's."""
        return [name for name in cls.param if name not in ("name", "page")]

    @staticmethod
    def page_names(page: str) -> list[str]:
        """Return the names of the settings that a page uses."""
        return list(VALUES[page].names())
