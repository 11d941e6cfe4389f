"""What the plot of an exported lesson's step on this page holds."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace

from dpml_app.data import measures
from dpml_app.drawing.styles import style_of
from dpml_app.drawing.sweep import Line, Sweep, band
from dpml_app.pages.select import compute
from dpml_app.pages.select.settings import SelectSettings, SelectValues
from dpml_app.settings import EPSILONS


def lesson_plot(settings: SelectSettings, card: str, named: Sequence[str]) -> Sweep:
    """Return what a private choice of features finds, or how well it classifies."""
    kinds = {"mask-count": "count", "mask-mi": "mutual_information"}
    if card == "accuracy":
        values = tuple(sorted({*EPSILONS[::3], settings.epsilon}))
        lines = []
        for selector in kinds:
            draws = []
            for epsilon in values:
                key = replace(SelectValues.of(settings), epsilon=epsilon).accuracy_key(selector, settings.n_features)
                draws.append(100 * compute.accuracy(*key))
            lines.append(band(style_of(selector, "selector"), draws))
        title = f"Percent classified rightly with {settings.n_features} features that are chosen privately"
        return Sweep(title, "ε", values, settings.epsilon, lines, percent=True)
    best = measures.facts(settings.dataset).scores["mutual_information"]
    lines = []
    for selector, kind in kinds.items():
        shares = []
        for epsilon in EPSILONS:
            paid = epsilon * settings.selection_share
            key = settings.dataset, kind, settings.select_calibration, settings.relation, paid, settings.n_features
            shares.append(100 * compute.expected_best(best, compute.inclusion(*key), settings.n_features))
        lines.append(Line(style_of(selector, "selector"), [v / settings.n_features for v in shares]))
    title = f"Percent of the {settings.n_features} best features by mutual information that are chosen"
    return Sweep(title, "ε", EPSILONS, settings.epsilon, lines, percent=True)
