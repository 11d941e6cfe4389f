"""The result of a plan: a model, a table, an evaluation, and the ledger. Nothing in it is private."""

from __future__ import annotations

import datetime
import json
import math
import os
import warnings
from dataclasses import dataclass, replace
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np
import pandas as pd

from dpml.evaluation import MulticlassEvaluation, PrivateConfusionMatrix, PrivateEvaluation
from dpml.exceptions import FactWarning, shown
from dpml.mechanisms.private import for_study
from dpml.schema import Schema

if TYPE_CHECKING:
    from dpml.release.plan import Plan
    from dpml.release.records import Records
    from dpml.release.steps import Carried

COLUMNS = ("part", "released", "epsilon", "relation", "noise", "source")
RELEASE, DEMONSTRATION = "release", "demonstration run, not a release"
LEVEL = 0.95


@dataclass(frozen=True, eq=False)
class Released:
    """The released model, table and evaluation, which may leave the building, and their cost.

    Attributes
    ----------
    model : estimator or Pipeline, or None
        Predicts from the raw table. It holds released values and public facts only.
    table : DataFrame or None
        The synthetic table.
    evaluation : DataFrame or None
        One row a measure: measure, value, and 95 % intervals. `noise_low` to `noise_high` holds the measure of the
        held-out records: it has the noise in it. `low` to `high` also has the chance that drew those records, so it is
        for new people.
    histogram : PrivateEvaluation, PrivateConfusionMatrix or None
        The noisy counts that the measures follow from; positions of the classes stand for them.
    areas : MulticlassEvaluation or None
        With several classes: the noisy counts that the mean area under their curves follows from.
    ledger : DataFrame
        One row a charge: part, released, epsilon, relation, noise, source.
    epsilon : float
        ε that the plan was allowed.
    relation : str
    schema : Schema
        The facts that were said to be public.
    status : {"release", "demonstration run, not a release"}
    """

    model: Any
    table: pd.DataFrame | None
    evaluation: pd.DataFrame | None
    histogram: Any
    areas: Any
    ledger: pd.DataFrame
    epsilon: float
    relation: str
    schema: Schema
    method: str
    test_share: float
    status: str

    @classmethod
    def of(cls, plan: Plan, done: Carried, secure: bool) -> Released:
        """Return what a plan has carried out."""
        status = RELEASE if secure else DEMONSTRATION
        if done.model is not None:
            done.model.status_ = status
        if done.table is not None and not secure:
            # a header that no schema knows, so that the table is not taken for a published one
            done.table[DEMONSTRATION] = ""
        return cls(
            done.model,
            done.table,
            None if done.histogram is None else _measures(done.histogram, done.areas),
            done.histogram,
            done.areas,
            pd.DataFrame(done.charges, columns=list(COLUMNS)),
            plan.epsilon,
            plan.relation,
            plan.schema,
            plan._method[0],
            plan.test_share,
            status,
        )

    @property
    def spent(self) -> float:
        """ε of all charges."""
        return math.fsum(self.ledger["epsilon"])

    def after(self, charges: list[dict[str, Any]]) -> Released:
        """Return the same with charges that were made before it, each with `COLUMNS`: those of bounds paid for."""
        rows = [*charges, *self.ledger.to_dict(orient="records")]
        epsilon = math.fsum([self.epsilon, *(row["epsilon"] for row in charges)])
        return replace(self, ledger=pd.DataFrame(rows, columns=list(COLUMNS)), epsilon=epsilon)

    def ledger_json(self) -> str:
        """Return the ledger as JSON: the status, ε allowed and spent, and every charge."""
        facts = {"status": self.status, "epsilon": self.epsilon, "spent": self.spent, "relation": self.relation}
        return _json({**facts, "delta": 0.0, "charges": self.ledger.to_dict(orient="records")})

    def schema_yaml(self) -> str:
        """Return the facts that were said to be public as YAML; a demonstration run says so in its first line."""
        text = self.schema.to_yaml()
        return f"# {DEMONSTRATION}\n{text}" if self.status == DEMONSTRATION else text

    def evaluation_json(self) -> str:
        """Return the measures and the noisy counts as JSON."""
        facts: dict[str, Any] = {"status": self.status, "relation": self.relation, "classes": list(self.schema.classes)}
        bins = self.histogram
        if bins is None or self.evaluation is None:
            return _json({**facts, "measures": []})
        facts |= {"level": LEVEL, "test_share": self.test_share, "noisy_counts": _counts(bins)}
        if self.areas is not None:
            facts["noisy_counts_of_scores"] = [_counts(one) for one in self.areas.evaluations]
        return _json({**facts, "measures": self.evaluation.to_dict(orient="records")})

    def statement(self, *, date: datetime.date | None = None, stated_by: str | None = None) -> str:
        """Return one page of HTML that says what was released, to a reader who knows no mathematics.

        Parameters
        ----------
        date : datetime.date, optional
            The date on the page. Default: today.
        stated_by : str, optional
            Who says that the facts of the schema are public.
        """
        from dpml.release.statement import page

        return page(self, datetime.date.today() if date is None else date, stated_by)

    def save(
        self, folder: str | os.PathLike, *, date: datetime.date | None = None, stated_by: str | None = None
    ) -> Path:
        """Write everything into a new folder, all of it or nothing.

        The files are model.joblib, table.csv, evaluation.json, ledger.json, schema.yaml and statement.html; what was
        not released has no file. The default classifier's model of a table is also written as model.json, with
        score.py, which predicts with it without dpml. README.md says what each file is, and manifest.json has their
        SHA-256, so that `dpml.release.verify` finds a changed byte.

        Parameters
        ----------
        folder : path-like
            A folder that does not exist, or is empty.
        date, stated_by
            As for `statement`.

        Returns
        -------
        Path
            The folder.

        Raises
        ------
        InvalidParameter
            If the folder has content, or is a file.
        """
        from dpml.release.files import write

        return write(self, folder, self.statement(date=date, stated_by=stated_by))


def _measures(
    histogram: PrivateEvaluation | PrivateConfusionMatrix, areas: MulticlassEvaluation | None
) -> pd.DataFrame:
    """Return the measures that follow from the noisy counts. Post-processing."""
    holders: dict[str, Any] = {"accuracy": histogram}
    holders |= {"roc_auc": histogram} if areas is None else {"macro_auc": areas}
    rows = []
    for measure, holder in holders.items():
        noise_low, noise_high = holder.interval(measure, LEVEL)
        low, high = holder.interval(measure, LEVEL, sampling=True)
        value = getattr(holder, measure)()
        # the simulated interval with more chance in it can end a hair inside the other
        rows.append((measure, value, min(low, noise_low), max(high, noise_high), noise_low, noise_high))
    names = ["measure", "value", "low", "high", "noise_low", "noise_high"]
    return pd.DataFrame(rows, columns=names).astype(dict.fromkeys(names[1:], float))


def _counts(bins: PrivateEvaluation | PrivateConfusionMatrix) -> dict[str, Any]:
    counts = {"counts": bins.counts.tolist(), "noise_scale": bins.noise_scale, "epsilon": bins.epsilon}
    if isinstance(bins, PrivateEvaluation):
        counts["thresholds"] = [f"{value:g}" if math.isinf(value) else value for value in bins.thresholds.tolist()]
    return counts


def _json(facts: dict[str, Any]) -> str:
    return json.dumps(facts, ensure_ascii=False, indent=2, allow_nan=False, default=_plain)


def _plain(value: Any) -> Any:
    return value.item() if isinstance(value, np.generic) else str(value)


def warn_violations(schema: Schema, records: Records) -> None:
    """Warn, in a demonstration run, of what the schema clips and drops: a release says nothing of it."""
    try:
        X, y = for_study((records.X, records.y), False, "what the schema clips")
        counts = schema.violations(X, y)
    except Exception:  # records that cannot be counted are clipped all the same
        return
    if counts:
        cells = ", ".join(f"{shown(name)}: {count}" for name, count in list(counts.items())[:8])
        warnings.warn(
            f"cells outside their domain are clipped, and records whose label is no class are dropped ({cells}): check "
            "how they are spelt in the schema. A release does the same without a word",
            FactWarning,
            stacklevel=3,
        )
