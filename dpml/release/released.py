"""The result of a plan: released values, with their privacy report and files. Nothing in it is private."""

from __future__ import annotations

import datetime
import io
import json
import math
import os
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import joblib
import numpy as np
import pandas as pd

from dpml.evaluation import MulticlassEvaluation, PrivateConfusionMatrix, PrivateEvaluation
from dpml.release.folder import (
    DEMONSTRATION,
    MANIFEST,
    README,
    RELEASE,
    HeldFolder,
    baseline_note,
    manifest,
    readme,
    uniform_note,
)
from dpml.release.plain_model import SCORE, plain_model
from dpml.release.statement import page
from dpml.schema import Schema
from dpml.tables import safe_csv

COLUMNS = ("part", "released", "epsilon", "relation", "noise", "source")
LEVEL = 0.95


@dataclass(frozen=True, eq=False)
class Released:
    """Hold the released model, table and evaluation, which may be published, and their cost.

    Attributes
    ----------
    model : estimator or Pipeline, or None
        Predicts from the raw table. It holds released values and public metadata only.
    table : DataFrame or None
        The synthetic table.
    evaluation : DataFrame or None
        One row for each measure: measure, value, and 95% confidence intervals. "majority_accuracy" is the accuracy of
        always predicting the class with the largest noisy count, "recall" that of the positive class. The interval from
        `noise_low` to `noise_high` covers the noise, and is for the held-out records. That from `low` to `high` also
        covers the sampling of these records, and is for the population.
    histogram : PrivateEvaluation, PrivateConfusionMatrix or None
        The noisy counts that the measures follow from, by the positions of the classes.
    areas : MulticlassEvaluation or None
        With several classes: the noisy counts that the mean AUC follows from.
    ledger : DataFrame
        One row for each charge: part, released, epsilon, relation, noise, source.
    epsilon : float
        The total ε of the plan.
    relation : {"add-remove", "replace-one"}
        The neighbouring relation of the privacy guarantee.
    schema : Schema
        The metadata that was stated to be public.
    method : str
        Name of the classifier.
    test_share : float
        Probability with which each record was held out for the evaluation.
    status : str
        A text that marks the values as a release, or as a simulation that must not be published.
    uniform : tuple of str
        Columns that the grid of the synthetic table does not distinguish. Their values are uniform in their public
        domain. They are left out of the table, unless the plan has ``keep_uniform=True``.

    See Also
    --------
    Plan : Plans and makes a release.
    verify : Checks the folder of a release.

    Notes
    -----
    Privacy: ε = epsilon for all values together. δ = 0. Relation: `relation`. Sensitivity: that of each part's
    mechanism.

    A simulation has no privacy guarantee, because its noise is seeded.
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
    uniform: tuple[str, ...] = ()

    @property
    def spent(self) -> float:
        """ε of all charges."""
        return math.fsum(self.ledger["epsilon"])

    def statement(self, *, date: datetime.date | None = None, stated_by: str | None = None) -> str:
        """Return the privacy report: one page of HTML for a reader without mathematics.

        Parameters
        ----------
        date : datetime.date, optional
            The date on the page. By default it is today.
        stated_by : str, optional
            Name of the person who states that the metadata of the schema is public.

        Returns
        -------
        str
            The HTML text.
        """
        return page(self, datetime.date.today() if date is None else date, stated_by)

    def save(
        self, folder: str | os.PathLike, *, date: datetime.date | None = None, stated_by: str | None = None
    ) -> Path:
        """Write all files into a new folder, or none of them.

        Parameters
        ----------
        folder : path-like
            A folder that does not exist, or is empty.
        date : datetime.date, optional
            The date on the privacy report. By default it is today.
        stated_by : str, optional
            Name of the person who states that the metadata of the schema is public.

        Returns
        -------
        Path
            The folder.

        Raises
        ------
        InvalidParameter
            If the folder has content, or is a file.
        OSError
            If it cannot be written. The message names another folder with the files, if one could be written.

        Notes
        -----
        The files are model.joblib, table.csv, evaluation.json, ledger.json, schema.yaml and statement.html, without
        those of parts that were not released. The default classifier's model of a table is also written as model.json,
        with score.py, which predicts with it without dpml. README.md describes each file. manifest.json has their
        SHA-256, so that `dpml.release.verify` finds a changed byte.
        """
        with HeldFolder(folder) as held:
            return held.write(self.files(date=date, stated_by=stated_by))

    def files(self, *, date: datetime.date | None = None, stated_by: str | None = None) -> dict[str, bytes]:
        """Return every file of `save` by its name, in memory.

        Parameters
        ----------
        date : datetime.date, optional
            The date on the privacy report. By default it is today.
        stated_by : str, optional
            Name of the person who states that the metadata of the schema is public.

        Returns
        -------
        dict of str to bytes
            Content of each file.
        """
        schema = self.schema.to_yaml()
        texts = {
            "ledger.json": self._ledger_json(),
            "statement.html": self.statement(date=date, stated_by=stated_by),
            "schema.yaml": schema if self.status == RELEASE else f"# {DEMONSTRATION}\n{schema}",
        }
        notes = []
        if self.evaluation is not None:
            texts["evaluation.json"] = self._evaluation_json()
            notes.append(baseline_note(self.evaluation))
        if self.table is not None:
            texts["table.csv"] = safe_csv(self.table)
            notes.append(uniform_note(self.uniform, self.table))
        contents = {name: text.encode("utf-8") for name, text in texts.items()}
        facts: dict[str, Any] = {"epsilon": self.spent, "relation": self.relation, "status": self.status}
        if self.model is not None:
            written = io.BytesIO()
            joblib.dump(self.model, written)
            contents["model.joblib"] = written.getvalue()
            plain = plain_model(self.model, **facts)
            if plain is not None:
                script = SCORE.read_text(encoding="utf-8")
                contents |= {"model.json": plain.encode("utf-8"), SCORE.name: script.encode("utf-8")}
        contents[README] = readme(list(contents), notes=notes, **facts).encode("utf-8")
        contents[MANIFEST] = manifest(contents, **facts).encode("utf-8")
        return contents

    def _ledger_json(self) -> str:
        """Return the ledger as JSON: the status, ε allowed and spent, and every charge."""
        facts = {"status": self.status, "epsilon": self.epsilon, "spent": self.spent, "relation": self.relation}
        return _json({**facts, "delta": 0.0, "charges": self.ledger.to_dict(orient="records")})

    def _evaluation_json(self) -> str:
        """Return the measures and the noisy counts as JSON."""
        assert self.evaluation is not None
        facts: dict[str, Any] = {"status": self.status, "relation": self.relation, "classes": list(self.schema.classes)}
        facts |= {"level": LEVEL, "test_share": self.test_share, "noisy_counts": _counts(self.histogram)}
        if self.areas is not None:
            facts["noisy_counts_of_scores"] = [_counts(one) for one in self.areas.evaluations]
        return _json({**facts, "measures": self.evaluation.to_dict(orient="records")})


def measures(histogram: PrivateEvaluation | PrivateConfusionMatrix, areas: MulticlassEvaluation | None) -> pd.DataFrame:
    """Return the measures that follow from the noisy counts. Post-processing."""
    classes = [histogram] if areas is None else list(areas.evaluations)
    largest: Any = max(classes, key=lambda evaluation: evaluation.prevalence())
    # of two classes, only the second has a histogram of its own
    first_is_larger = areas is None and largest.prevalence() < 0.5
    sources: dict[str, tuple[Any, str]] = {
        "accuracy": (histogram, "accuracy"),
        "majority_accuracy": (largest, "prevalence"),
    }
    if areas is None:
        sources |= {"recall": (histogram, "true_positive_rate"), "roc_auc": (histogram, "roc_auc")}
    else:
        sources |= {"macro_auc": (areas, "macro_auc")}
    rows = []
    for measure, (source, name) in sources.items():
        noise_low, noise_high = source.interval(name, LEVEL)
        low, high = source.interval(name, LEVEL, sampling=True)
        # by simulation, the wider interval can end slightly inside the other one
        row = [getattr(source, name)(), min(low, noise_low), max(high, noise_high), noise_low, noise_high]
        if measure == "majority_accuracy" and first_is_larger:
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
    def plain(value: Any) -> Any:
        return value.item() if isinstance(value, np.generic) else str(value)

    return json.dumps(facts, ensure_ascii=False, indent=2, allow_nan=False, default=plain)
