"""From a table to something that may leave the building: a plan of what is released, and the release.

`Plan` says what will be spent, on what and by which noise, before anything is spent, and refuses what is no release.
`Released` holds the model, the published table, the evaluation and the ledger, and writes them with a statement for a
data-protection officer. `verify` checks such a folder. `Forecast` and `TableWarning` are for the table's owner alone.
"""

from dpml.release.folder import verify
from dpml.release.forecast import Forecast, TableWarning
from dpml.release.plan import PARTS, Plan
from dpml.release.released import Released

__all__ = ["PARTS", "Forecast", "Plan", "Released", "TableWarning", "verify"]
