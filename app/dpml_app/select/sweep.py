"""The curves of the Select page that the pool computes: F1 against the threshold, accuracy against T."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Any

from dpml_app.data import accuracy as data_accuracy
from dpml_app.select import compute as own
from dpml_app.select.figures import AccuracyFigure, BandsFigure, F1Figure
from dpml_app.select.settings import THRESHOLDS, SelectSettings
from dpml_app.work.pool import Chunk, Pool
from dpml_app.work.sweep import Sweep

__all__ = ["SelectSweep"]


class SelectSweep(Sweep):
    """The work of the pool for one Select page.

    Parameters
    ----------
    f1, accuracy : figures
    pool : Pool
    on_show : callable
        Called after curves have changed, with the name of the plot.
    **options
        As for `Sweep`.
    """

    def __init__(
        self, f1: F1Figure, accuracy: AccuracyFigure, pool: Pool, *, on_show: Callable[[str], None], **options: Any
    ):
        super().__init__(pool, what="F1 and accuracy", name="select-sweep-state", **options)
        self.figures: dict[str, BandsFigure] = {"f1": f1, "accuracy": accuracy}
        self._on_show = on_show
        self._n_lower, self._score = 1, ""

    def request_setting(self, values: Mapping[str, Any], facts: Mapping[str, Any]) -> None:
        """Ask for every curve at a setting, what is chosen first."""
        self._n_lower, self._score = facts["n_lower"], values["select_score"]
        chosen = values["select_threshold"]
        shares = sorted(THRESHOLDS, key=lambda share: abs(THRESHOLDS.index(share) - THRESHOLDS.index(chosen)))
        wanted: dict[str, dict[Any, Chunk]] = {
            f"f1 {rule}": {s: Chunk(own.f1, SelectSettings.f1_key(values, rule, s)) for s in shares}
            for rule in own.rules_of(values["select_score"])
        }
        names = ("dataset", "relation", "epsilon", "draws", "seed")
        dataset, relation, epsilon, *drawn = (values[n] for n in names)
        wanted["accuracy all"] = {
            0: Chunk(data_accuracy, (dataset, "row-bounded", relation, epsilon, (0,), *drawn)),
        }
        wanted["accuracy best"] = {0: Chunk(own.best, (dataset, relation, epsilon, *drawn))}
        for method in values["select_methods"]:
            wanted[f"accuracy {method}"] = {
                T: Chunk(own.accuracy, SelectSettings.accuracy_key_of(values, method, T))
                for T in own.selector_ladder(facts["n_features"])
            }
        self.request(wanted)

    def found(self, plot: str) -> dict[str, dict]:
        """Return what is there of a plot's curves."""
        return {name.split()[1]: points for name, points in self._results.items() if name.startswith(f"{plot} ")}

    def show(self, name: str, results: dict[Any, Any], complete: bool) -> None:
        """Show what is there of a curve."""
        plot, method = name.split()
        if plot == "f1":
            results = {own.threshold_of(self._n_lower, self._score, share): v for share, v in results.items()}
        self.figures[plot].show(method, results, complete)
        self._on_show(plot)

    def outdate(self, name: str) -> None:
        """Fade a curve, or take it away if it is not wanted any more."""
        plot, method = name.split()
        band = self.figures[plot].bands[method]
        if name in self._wanted:
            band.outdate()
        else:
            band.clear()
        self._on_show(plot)
