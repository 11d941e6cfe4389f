"""The result of a plan: released values, with their privacy report and files. Nothing in it is private."""

from __future__ import annotations

import datetime
import os
from dataclasses import dataclass
from pathlib import Path

import pandas as pd

from dpml.release.files import HeldFolder, file_contents
from dpml.release.statement import page
from dpml.release.steps import Carried
from dpml.release.values import COLUMNS, DEMONSTRATION, RELEASE, ReleasedValues, measures
from dpml.schema import Schema


@dataclass(frozen=True, eq=False)
class Released(ReleasedValues):
    """Hold the released model, table and evaluation, which may be published, and their cost.

    Attributes
    ----------
    model : estimator or Pipeline, or None
        Predicts from the raw table. It holds released values and public metadata only.
    table : DataFrame or None
        The synthetic table.
    uniform : tuple of str
        Columns that the grid of the synthetic table does not tell apart, and that are uniform draws from their public
        domain. They are left out of the table, unless the plan has ``keep_uniform=True``.
    evaluation : DataFrame or None
        One row for each measure: measure, value, and 95% confidence intervals. "majority_accuracy" is the accuracy of
        always answering the class with the largest noisy count, "recall" that of the positive class. `noise_low` to
        `noise_high` holds the measure of the held-out records: it has the noise in it. `low` to `high` also has the
        chance that drew those records, so it is for new people.
    histogram : PrivateEvaluation, PrivateConfusionMatrix or None
        The noisy counts that the measures follow from. Positions of the classes stand for the classes.
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

    @classmethod
    def of(
        cls,
        done: Carried,
        secure: bool,
        *,
        epsilon: float,
        relation: str,
        schema: Schema,
        method: str,
        test_share: float,
    ) -> Released:
        """Return the result of a task that was carried out."""
        status = RELEASE if secure else DEMONSTRATION
        if done.model is not None:
            done.model.status_ = status
        if done.table is not None and not secure:
            # a header that no schema knows, so that the table is not taken for a published one
            done.table[DEMONSTRATION] = ""
        return cls(
            done.model,
            done.table,
            None if done.histogram is None else measures(done.histogram, done.areas),
            done.histogram,
            done.areas,
            pd.DataFrame(done.charges, columns=list(COLUMNS)),
            epsilon,
            relation,
            schema,
            method,
            test_share,
            status,
            done.uniform,
        )

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
            If it cannot be written. The files are then in another folder that the message names, or the message states
            that none could be written. This object stays unchanged.

        Notes
        -----
        The files are model.joblib, table.csv, evaluation.json, ledger.json, schema.yaml and statement.html. A part that
        was not released has no file. The default classifier's model of a table is also written as model.json, with
        score.py, which predicts with it without dpml. README.md describes each file. manifest.json has their SHA-256,
        so that `dpml.release.verify` finds a changed byte.
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
        return file_contents(self, self.statement(date=date, stated_by=stated_by))
