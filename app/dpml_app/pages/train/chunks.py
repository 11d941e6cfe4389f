"""The chunk that measures a method of the Train page, of any family."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from dpml_app.pages.train.begin import auto_measure, study_measure
from dpml_app.pages.train.compute import nb_measure
from dpml_app.pages.train.linear_compute import linear_measure
from dpml_app.pages.train.methods import DEFAULTS, LINEAR, options_of
from dpml_app.work.pool import Chunk

__all__ = ["measured"]


def measured(
    method: str, values: Mapping[str, Any], epsilon: float, *, auc: bool = False, n: int | None = None
) -> Chunk:
    """Return the chunk of a method's accuracies at ε, with the settings in `values`."""
    common = values["dataset"], method, values["relation"], epsilon, options_of(method, values)
    if method in LINEAR:
        return Chunk(linear_measure, (*common, LINEAR[method].draws(values["draws"]), values["seed"], auc, n))
    if method == "auto":
        return Chunk(auto_measure, (*common[:4], DEFAULTS[method].draws(values["draws"]), values["seed"], auc, n))
    if method in DEFAULTS:
        entry = DEFAULTS[method].entry
        own = entry.study, tuple(entry.study_options.items())
        return Chunk(
            study_measure,
            (common[0], own, *common[2:4], DEFAULTS[method].draws(values["draws"]), values["seed"], auc, n),
        )
    size = () if n is None else (n,)
    return Chunk(nb_measure, (*common, values["draws"], values["seed"], auc, *size))
