"""The table that the checks of a fit return, and their warnings."""

import sys
import warnings
from dataclasses import dataclass
from typing import Any

import numpy as np

from dpml.exceptions import FactWarning, InvalidData, InvalidParameter, shown
from dpml.mechanisms.private import statistic
from dpml.schema import Schema


@dataclass(frozen=True)
class CheckedTable:
    """A table inside the schema's domains, and the parts that a fit needs to release it.

    `X`: the table that `Schema.check_features` returns. `codes`: the class of each record. `schema`: of the table's
    columns. `named`: whether they had names. `rng`: of the estimator's seed. A release may use it too where privacy
    does not rest on secret numbers. `noise`: `rng` or `secure`, for a function that releases. `count`: the number of
    records if it is public (`Schema.public_count`), else None.
    """

    X: Any
    codes: Any
    schema: Schema
    named: bool
    relation: str
    rng: np.random.Generator
    noise: dict[str, Any]
    count: int | None = None


@statistic
def violations_of(schema: Schema, X: Any, y: Any) -> dict[str, int]:
    """Return `Schema.violations`, or none for a table that cannot be read, for which later checks raise the error."""
    try:
        return schema.violations(X, y)
    except Exception:  # no table, or labels of another number
        return {}


def warn_violations(violations: dict[str, int]) -> None:
    """Warn, in a simulation, of the values that clipping changes."""
    if violations:
        listed = ", ".join(f"{shown(name)}: {count}" for name, count in list(violations.items())[:8])
        warn(
            f"on_invalid = 'clip' replaces values outside their domain and drops labels that are no class ({listed}): "
            "check how they are spelt in the schema"
        )


def warn_few(n: int, schema: Schema, refuse: bool) -> None:
    """Warn, in a simulation, or with `refuse` raise an error, where records are fewer than the schema states."""
    if n >= (schema.n_lower or 1):
        return
    message = f"X has {n} records: the schema's n_lower is {schema.n_lower}"
    remedy = (
        "For a training set of K-fold cross-validation, pass schema.for_folds(K). Otherwise, state a smaller n_lower"
    )
    if refuse:
        raise InvalidData(f"{message}. {remedy}")
    warn(f"{message}, and public rules take that many for granted. {remedy}")


def warn(message: str, category: type[Warning] = FactWarning) -> None:
    """Warn at the line of the user's call, outside this library and scikit-learn."""
    level, frame = 1, sys._getframe()
    inside = ("dpml.", "sklearn.", "joblib.")
    while frame.f_back is not None and frame.f_globals.get("__name__", "").startswith(inside):
        level, frame = level + 1, frame.f_back
    warnings.warn(message, category, stacklevel=level)


def check_binary(schema: Schema) -> Schema:
    """Return a schema, or raise an error that names a feature that is not binary."""
    other = next((f.name for f in schema.features if f.kind != "binary"), None)
    if other is not None:
        raise InvalidParameter("schema", f"feature {other!r} that is not binary", "binary in every feature")
    return schema
