"""The result of a plan: released values, with a statement of them and files. Nothing in it is private."""

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
    """The released model, table and evaluation, which may leave the building, and their cost.

    Attributes
    ----------
    model : estimator or Pipeline, or None
        Predicts from the raw table. It holds released values and public facts only.
    table : DataFrame or None
        The synthetic table.
    uniform : tuple of str
        Columns that the grid of the synthetic table does not tell apart, and that are uniform draws from their public
        domain: left out of the table, unless the plan has ``keep_uniform=True``.
    evaluation : DataFrame or None
        One row a measure: measure, value, and 95 % intervals. "majority_accuracy" is that of always answering the class
        that the noisy counts have most of, "recall" that of the second of two classes. `noise_low` to `noise_high`
        holds the measure of the held-out records: it has the noise in it. `low` to `high` also has the chance that drew
        those records, so it is for new people.
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
    status : {"release", "simulation, not a release"}
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
        """Return one page of HTML that says what was released, to a reader who knows no mathematics.

        Parameters
        ----------
        date : datetime.date, optional
            The date on the page. Default: today.
        stated_by : str, optional
            Who says that the facts of the schema are public.
        """
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
        OSError
            If it cannot be written. The files are then in another folder that the message names, unless it says that
            none could be written; this object stays as it is.
        """
        with HeldFolder(folder) as held:
            return held.write(self.files(date=date, stated_by=stated_by))

    def files(self, *, date: datetime.date | None = None, stated_by: str | None = None) -> dict[str, bytes]:
        """Return every file of `save` by its name, in memory.

        Parameters
        ----------
        date : datetime.date, optional
            The date on the statement. Default: today.
        stated_by : str, optional
            Who says that the facts of the schema are public.

        Returns
        -------
        dict of str to bytes
        """
        return file_contents(self, self.statement(date=date, stated_by=stated_by))
