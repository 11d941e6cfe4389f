"""Every setting of the app in one object: what one session shows, and what a link can name."""

from __future__ import annotations

from dpml_app.pages.audit.settings import AuditSettings
from dpml_app.pages.evaluate.settings import EvaluateSettings
from dpml_app.pages.explore.settings import ExploreSettings
from dpml_app.pages.mydata.settings import MyDataSettings
from dpml_app.pages.noise.settings import NoiseSettings
from dpml_app.pages.publish.settings import PublishSettings
from dpml_app.pages.select.settings import SelectSettings
from dpml_app.pages.train.settings import TrainSettings

__all__ = ["Settings"]


class Settings(
    ExploreSettings,
    AuditSettings,
    NoiseSettings,
    SelectSettings,
    TrainSettings,
    PublishSettings,
    EvaluateSettings,
    MyDataSettings,
):
    """All settings of the app."""

    @classmethod
    def names(cls) -> list[str]:
        """Return the names of all settings but the page's."""
        return [name for name in cls.param if name not in ("name", "page")]

    def page_names(self, page: str) -> list[str]:
        """Return the names of the settings that a page uses."""
        used: list[str] = getattr(self, f"{page}_names")()
        return used
