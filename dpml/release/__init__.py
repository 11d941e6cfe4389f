"""The way from a table to files for publication: a plan of the release, and the release.

`Plan` shows the charges, the released values and the noise before anything is spent, and refuses a plan that is no
release. `Released` holds the model, the synthetic table, the evaluation and the ledger, and writes them with a privacy
report for a data-protection officer. `verify` checks such a folder. `Forecast` and `TableWarning` are for the table's
owner alone.
"""

from __future__ import annotations

from importlib import import_module
from typing import TYPE_CHECKING, Any

from dpml.release.verification import verify

if TYPE_CHECKING:
    from dpml.release.forecast import Forecast, TableWarning
    from dpml.release.plan import PARTS, Plan
    from dpml.release.released import Released

__all__ = ["PARTS", "Forecast", "Plan", "Released", "TableWarning", "verify"]

# imported on first use: verifying a folder needs no classifier
_PLACES = {
    "PARTS": "dpml.release.plan",
    "Forecast": "dpml.release.forecast",
    "Plan": "dpml.release.plan",
    "Released": "dpml.release.released",
    "TableWarning": "dpml.release.forecast",
}


def __getattr__(name: str) -> Any:
    if name not in _PLACES:
        raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
    value = getattr(import_module(_PLACES[name]), name)
    globals()[name] = value
    return value


def __dir__() -> list[str]:
    return sorted({*globals(), *__all__})
