"""The curves and the map of the Explore page, computed by the pool."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from dpml_app import data
from dpml_app.explore import compute
from dpml_app.explore.figures import AccuracyFigure, MapFigure
from dpml_app.explore.settings import ExploreSettings
from dpml_app.settings import EPSILONS, SWEEP_EPSILONS
from dpml_app.work.pool import Chunk, Pool
from dpml_app.work.sweep import Sweep

__all__ = ["Curves", "statistic_key"]


def statistic_key(values: dict[str, Any], method: str, epsilon: float) -> tuple | None:
    """Return the arguments of the slow statistic that a method needs at this setting and ε, if any."""
    options = ExploreSettings.options(values, method)
    return data.statistic_key(values["dataset"], method, epsilon, options)


class Curves(Sweep):
    """The work of the pool for one Explore page.

    Parameters
    ----------
    accuracy, map_figure : figures
    pool : Pool
    on_map : callable
        Called after the map has changed.
    **options
        As for `Sweep`.
    """

    def __init__(
        self, accuracy: AccuracyFigure, map_figure: MapFigure, pool: Pool, *, on_map: Callable[[], None], **options: Any
    ):
        super().__init__(pool, what="curves and map", name="sweep-state", **options)
        self.accuracy, self.map, self._on_map = accuracy, map_figure, on_map
        self._values: dict[str, Any] = {}

    def request_setting(self, values: dict[str, Any], ladder: tuple[int, ...]) -> None:
        """Ask for every curve and the map at a setting."""
        self._values = values
        wanted: dict[str, dict[Any, Chunk]] = {
            m: {e: Chunk(data.accuracy, ExploreSettings.accuracy_key(values, m, e)) for e in SWEEP_EPSILONS}
            for m in data.METHODS
        }
        wanted["map"] = {t: Chunk(compute.map_row, ExploreSettings.map_key(values, t)) for t in ladder}
        self.request(wanted)

    def places(self) -> dict[Chunk, tuple[str, Any]]:
        """Return the missing chunks; first what the answers at other ε will need in the server, too."""
        keys = [statistic_key(self._values, m, e) for m in data.METHODS for e in EPSILONS]
        missing = [key for key in keys if key is not None and not data.is_here(key)]
        statistics = {Chunk(data.statistic, key): ("statistic", key) for key in missing}
        return {**statistics, **super().places()}

    def take(self, name: str, point: Any, result: Any) -> None:
        """Keep a result."""
        if name == "statistic":
            data.adopt(point, result)
        else:
            super().take(name, point, result)

    def show(self, name: str, results: dict[Any, Any], complete: bool) -> None:
        """Show what is there of a curve or the map."""
        if name == "map":
            self.map.show_rows(results, complete)
            self._on_map()
        else:
            self.accuracy.bands[name].show(results, complete)

    def outdate(self, name: str) -> None:
        """Fade a curve or the map."""
        if name == "map":
            self.map.outdate()
            self._on_map()
        else:
            self.accuracy.bands[name].outdate()
