"""What the pool computes for the Evaluate page: Stoddard et al.'s curves, errors, comparisons and attacks."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Any

from dpml_app.evaluate import attack as evaluate_attack
from dpml_app.evaluate import compute as own
from dpml_app.evaluate.figures import BandsFigure, RocFigure
from dpml_app.evaluate.settings import SIZES, EvaluateSettings
from dpml_app.settings import SWEEP_EPSILONS
from dpml_app.work.pool import Chunk, Pool
from dpml_app.work.sweep import Sweep

__all__ = ["NOW", "EvaluateSweep"]

# in place of a point of a curve: the setting that is chosen
NOW = "now"


class EvaluateSweep(Sweep):
    """The work of the pool for one Evaluate page.

    Curves are named ``plot series``: "roc m" and "now compare" have the one point `NOW`, "errors m", "compare all" and
    "success v" one for each ε, "sizes m" one for each number of bins.

    Parameters
    ----------
    roc, errors, sizes, gap, sure, success : figures
    pool : Pool
    on_show : callable
        Called after curves have changed, with the name of the plot.
    **options
        As for `Sweep`.
    """

    def __init__(
        self,
        roc: RocFigure,
        errors: BandsFigure,
        sizes: BandsFigure,
        gap: BandsFigure,
        sure: BandsFigure,
        success: BandsFigure,
        pool: Pool,
        *,
        on_show: Callable[[str], None],
        **options: Any,
    ):
        super().__init__(pool, what="curves and errors", name="evaluate-sweep-state", **options)
        self.roc, self.gap, self.sure = roc, gap, sure
        self.figures = {"errors": errors, "sizes": sizes, "success": success}
        self._on_show = on_show

    def request_setting(self, values: Mapping[str, Any]) -> None:
        """Ask for every curve at a setting; what is seen first, first."""
        key, epsilon = EvaluateSettings.curve_key, values["epsilon"]
        methods = values["evaluate_methods"]
        wanted: dict[str, dict[Any, Chunk]] = {
            f"roc {m}": {NOW: Chunk(own.curves, key(values, m, own.draws_of(m, values["draws"]), epsilon))}
            for m in methods
        }
        compared = EvaluateSettings.comparison_key
        if epsilon not in SWEEP_EPSILONS:
            # a chunk is for one place
            wanted["now compare"] = {NOW: Chunk(own.comparison, compared(values, epsilon))}
        for m in methods:
            draws = own.draws_of(m, values["draws"])
            wanted[f"errors {m}"] = {e: Chunk(own.errors, key(values, m, draws, e)) for e in SWEEP_EPSILONS}
        wanted["compare all"] = {e: Chunk(own.comparison, compared(values, e)) for e in SWEEP_EPSILONS}
        for view in evaluate_attack.VIEWS:
            wanted[f"success {view}"] = {
                e: Chunk(evaluate_attack.attack, EvaluateSettings.attack_key(values, view, e)) for e in SWEEP_EPSILONS
            }
        for m in methods:
            draws = own.draws_of(m, values["draws"])
            wanted[f"sizes {m}"] = {s: Chunk(own.errors, key(values, m, draws, epsilon, s)) for s in SIZES}
        self.request(wanted)

    def places(self) -> dict[Chunk, tuple[str, Any]]:
        """Return the missing chunks; slow methods last, so that they hold up nothing."""
        missing = super().places()
        return dict(sorted(missing.items(), key=lambda item: item[1][0].split()[1] in own.SLOW))

    def found(self, plot: str) -> dict[str, dict]:
        """Return what is there of a plot's curves."""
        return {name.split()[1]: points for name, points in self._results.items() if name.split()[0] == plot}

    def compared(self, epsilon: float) -> dict[str, Any] | None:
        """Return the comparison at the ε that is chosen, once it is there."""
        return self.found("compare").get("all", {}).get(epsilon) or self.now("now").get("compare")

    def now(self, plot: str) -> dict[str, Any]:
        """Return what is there at the setting that is chosen."""
        return {series: points[NOW] for series, points in self.found(plot).items() if NOW in points}

    def show(self, name: str, results: dict[Any, Any], complete: bool) -> None:
        """Show what is there of a curve."""
        plot, series = name.split()
        if plot == "roc":
            # the browser draws those of the default bins
            if series != "histogram" and NOW in results:
                self.roc.show(series, results[NOW], own.GRID)
        elif plot == "compare":
            for figure, part in ((self.gap, "difference"), (self.sure, "probability")):
                figure.show(part, {e: found[part] for e, found in results.items()}, complete)
        elif plot != "now":
            self.figures[plot].show(series, results, complete)
        self._on_show(plot)

    def outdate(self, name: str) -> None:
        """Fade a curve, or take it away if it is not wanted any more."""
        plot, series = name.split()
        wanted = name in self._wanted
        if plot == "roc":
            if series != "histogram":
                self.roc.outdate(series) if wanted else self.roc.clear(series)
        elif plot == "compare":
            self.gap.bands["difference"].outdate()
            self.sure.bands["probability"].outdate()
        elif plot != "now":
            band = self.figures[plot].bands[series]
            band.outdate() if wanted else band.clear()
        self._on_show(plot)
