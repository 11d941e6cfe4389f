"""A release in a thread: planned on no records, carried out on a session's table, and packed as files in memory."""

import io
import json
import time
import warnings
import zipfile
from dataclasses import dataclass
from typing import Any

import pandas as pd

from dpml.budget import Budget
from dpml.exceptions import FactWarning
from dpml.release import Plan, Released
from dpml.release.folder import DEMONSTRATION, RELEASE
from dpml.schema import Schema
from dpml_app.pages.mydata.draft import Draft
from dpml_app.pages.mydata.stopping import CancellationToken

# the files of a release that are offered one by one, in this order
TITLES = {
    "model.joblib": "Model (joblib)",
    "model.json": "Model (JSON)",
    "table.csv": "Synthetic table (CSV)",
    "evaluation.json": "Evaluation (JSON)",
    "ledger.json": "Ledger (JSON)",
    "statement.html": "Privacy report (HTML)",
    "schema.yaml": "Schema (YAML)",
}


@dataclass(frozen=True)
class Planned:
    """A plan, the charges that it will make, and what stands against it."""

    plan: Plan | None
    preview: pd.DataFrame | None
    problems: tuple[BaseException, ...]


@dataclass(frozen=True, eq=False)
class Done:
    """A release that was made, with its files, each a title and its content by its name."""

    title: str
    seconds: float
    evaluation: pd.DataFrame | None
    files: dict[str, tuple[str, bytes]]

    @property
    def size(self) -> int:
        """The bytes of its files."""
        return sum(len(content) for _title, content in self.files.values())

    def __repr__(self) -> str:
        return "<a release of a session>"


def planned(schema: Any, epsilon: float, shares: dict[str, float], secure: bool) -> Planned:
    """Return the plan of a release, tried out on no records. `schema` makes the schema, or raises what is wrong."""
    facts: Schema = schema()
    plan = Plan(facts, epsilon, shares=shares)
    return Planned(plan, plan.preview(secure), plan.problems(secure))


def run(
    plan: Plan,
    draft: Draft,
    budget: Budget,
    secure: bool,
    number: int,
    who: str,
    stop: CancellationToken,
) -> Done:
    """Carry out a plan on a table, charged to the session's budget, and return its files; `Stopped` if it is cancelled.

    What was paid for the draft's facts is part of its ledger. `who` says that the facts are public, and is named in the
    statement alone.
    """
    begun = time.monotonic()
    table = draft.records(plan.schema)[[*plan.schema.feature_names, draft.label]]
    with stop.cancellable(), warnings.catch_warnings():
        # how many cells do not fit is a number from the data, and warnings end in the server's log
        warnings.simplefilter("ignore", FactWarning)
        released = plan.run(table, draft.label, secure=secure, budget=budget).after(draft.charges)
    kind = "Release" if secure else "Simulation"
    files = packed(released, f"{kind.lower()}-{number}", who)
    return Done(f"{kind} {number}", time.monotonic() - begun, released.evaluation, files)


def packed(released: Released, name: str, who: str) -> dict[str, tuple[str, bytes]]:
    """Return all files of a release, and first one that holds them all. No disk is needed, so none can be full."""
    contents = dict(sorted(released.files(stated_by=who or None).items()))
    every = io.BytesIO()
    with zipfile.ZipFile(every, "w", zipfile.ZIP_DEFLATED) as file:
        for each, content in contents.items():
            file.writestr(f"{name}/{each}", content)
    files = {f"{name}.zip": ("All files (zip)", every.getvalue())}
    for each, title in TITLES.items():
        if each in contents:
            files[f"{name}-{each}"] = (title, contents[each])
    return files


def session_ledger(budget: Budget, secure: bool) -> bytes:
    """Return as JSON all that a session has spent."""
    status = RELEASE if secure else DEMONSTRATION
    return json.dumps({"status": status, **json.loads(budget.to_json())}, ensure_ascii=False, indent=2).encode()
