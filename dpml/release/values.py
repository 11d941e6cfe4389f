"""The values of a release: a model, a table, an evaluation, the ledger, and their texts. Nothing in it is private."""

import json
import math
from dataclasses import dataclass, replace
from typing import Any, Self

import numpy as np
import pandas as pd

from dpml.evaluation import MulticlassEvaluation, PrivateConfusionMatrix, PrivateEvaluation
from dpml.schema import Schema

COLUMNS = ("part", "released", "epsilon", "relation", "noise", "source")
RELEASE, DEMONSTRATION = "release", "simulation, not a release"
LEVEL = 0.95


@dataclass(frozen=True, eq=False)
class ReleasedValues:
    """The values that `Released` describes, without its privacy report and files."""

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
    uniform: tuple[str, ...] = ()

    @property
    def spent(self) -> float:
        """ε of all charges."""
        return math.fsum(self.ledger["epsilon"])

    def after(self, charges: list[dict[str, Any]]) -> Self:
        """Return the same with charges that were made before it, each with `COLUMNS`, such as for private bounds."""
        rows = [*charges, *self.ledger.to_dict(orient="records")]
        epsilon = math.fsum([self.epsilon, *(row["epsilon"] for row in charges)])
        return replace(self, ledger=pd.DataFrame(rows, columns=list(COLUMNS)), epsilon=epsilon)

    def ledger_json(self) -> str:
        """Return the ledger as JSON: the status, ε allowed and spent, and every charge."""
        facts = {"status": self.status, "epsilon": self.epsilon, "spent": self.spent, "relation": self.relation}
        return _json({**facts, "delta": 0.0, "charges": self.ledger.to_dict(orient="records")})

    def schema_yaml(self) -> str:
        """Return the metadata that was stated to be public as YAML. The first line marks a simulation."""
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


def measures(histogram: PrivateEvaluation | PrivateConfusionMatrix, areas: MulticlassEvaluation | None) -> pd.DataFrame:
    """Return the measures that follow from the noisy counts. Post-processing."""
    classes = [histogram] if areas is None else list(areas.evaluations)
    largest: Any = max(classes, key=lambda holder: holder.prevalence())
    # of two classes only the second has a histogram of its own
    rare = areas is None and largest.prevalence() < 0.5
    holders: dict[str, tuple[Any, str]] = {
        "accuracy": (histogram, "accuracy"),
        "majority_accuracy": (largest, "prevalence"),
    }
    if areas is None:
        holders |= {"recall": (histogram, "true_positive_rate"), "roc_auc": (histogram, "roc_auc")}
    else:
        holders |= {"macro_auc": (areas, "macro_auc")}
    rows = []
    for measure, (holder, name) in holders.items():
        noise_low, noise_high = holder.interval(name, LEVEL)
        low, high = holder.interval(name, LEVEL, sampling=True)
        value = getattr(holder, name)()
        # the simulated interval with more chance in it can end a hair inside the other
        row = [value, min(low, noise_low), max(high, noise_high), noise_low, noise_high]
        if measure == "majority_accuracy" and rare:
            row = [1 - each for each in (row[0], row[2], row[1], row[4], row[3])]
        rows.append((measure, *row))
    names = ["measure", "value", "low", "high", "noise_low", "noise_high"]
    return pd.DataFrame(rows, columns=names).astype(dict.fromkeys(names[1:], float))


def _counts(bins: PrivateEvaluation | PrivateConfusionMatrix) -> dict[str, Any]:
    counts: dict[str, Any] = {"counts": bins.counts.tolist(), "noise_scale": bins.noise_scale, "epsilon": bins.epsilon}
    if isinstance(bins, PrivateConfusionMatrix) and bins.totals is not None:
        counts |= {"correct_and_wrong": bins.totals.tolist(), "correct_and_wrong_noise_scale": bins.totals_scale}
    if isinstance(bins, PrivateEvaluation):
        counts["thresholds"] = [f"{value:g}" if math.isinf(value) else value for value in bins.thresholds.tolist()]
    return counts


def _json(facts: dict[str, Any]) -> str:
    return json.dumps(facts, ensure_ascii=False, indent=2, allow_nan=False, default=_plain)


def _plain(value: Any) -> Any:
    return value.item() if isinstance(value, np.generic) else str(value)
