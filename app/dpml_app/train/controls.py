"""The widgets of the Train page, each tied to one setting both ways."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Any

import panel as pn
import panel_material_ui as pmui
from bokeh.models import CustomJSTickFormatter

from dpml_app.settings import EPSILONS
from dpml_app.train.methods import FAMILIES, LINEAR, METHODS, Method, feature_names
from dpml_app.train.settings import (
    FUNCTIONAL,
    LIKELIHOODS,
    MEASURES,
    MOST_FEATURES,
    NOISES,
    RULE,
    TRAIN_DATASETS,
    TRAIN_LAMBDAS,
    TUNED,
    WEIGHTS,
    TrainSettings,
)
from dpml_app.widgets import note, tie

__all__ = ["TrainControls"]

WIDE: dict[str, Any] = {"sizing_mode": "stretch_width", "margin": (6, 12)}
RELATIONS = {"Add or remove one record": "add-remove", "Replace one record": "replace-one"}


def _titles(methods: Mapping[str, Method]) -> dict[str, str]:
    marks = {name: "" if m.claim_holds and m.pure else " ✗" if m.pure else " (ε, δ)" for name, m in methods.items()}
    return {m.title + marks[name]: name for name, m in methods.items()}


def _flip(options: Mapping[str, str]) -> dict[str, str]:
    return {label: value for value, label in options.items()}


class TrainControls:
    """All widgets: `column` is for the drawer, `widgets` also holds those that stand in a card.

    Parameters
    ----------
    settings : TrainSettings
    report : callable
        Takes the name of a control and a sentence for the page.
    """

    def __init__(self, settings: TrainSettings, report: Callable[[str, str], None]):
        self.settings = settings
        rule = CustomJSTickFormatter(code="return tick == 0 ? 'by the public rule' : String(tick)")
        self.widgets: dict[str, Any] = {
            "dataset": pmui.Select(options=_flip(TRAIN_DATASETS), **self._named("dataset")),
            "epsilon": pmui.DiscreteSlider(options={f"{e:g}": e for e in EPSILONS}, **self._named("epsilon")),
            "relation": pmui.RadioBoxGroup(options=RELATIONS, **self._named("relation")),
            "train_family": pmui.RadioBoxGroup(options=_flip(FAMILIES), inline=True, **self._named("train_family")),
            "train_methods": pmui.CheckBoxGroup(options=_titles(METHODS), **self._named("train_methods")),
            "train_linear": pmui.CheckBoxGroup(options=_titles(LINEAR), **self._named("train_linear")),
            "train_lambda": pmui.DiscreteSlider(
                options={"by the public rule": RULE, **{f"{v:,g}": v for v in TRAIN_LAMBDAS}},
                **self._named("train_lambda"),
            ),
            "train_functional": pmui.Select(options=_flip(FUNCTIONAL), **self._named("train_functional")),
            "train_shown": pmui.Select(
                options={m.title: name for name, m in LINEAR.items()}, **self._named("train_shown")
            ),
            "train_tune": pmui.RadioBoxGroup(options=_flip(TUNED), inline=True, **self._named("train_tune")),
            "train_measure": pmui.RadioBoxGroup(options=_flip(MEASURES), inline=True, **self._named("train_measure")),
            "train_weight": pmui.DiscreteSlider(options=list(WEIGHTS), **self._named("train_weight")),
            "train_noise": pmui.Select(options=_flip(NOISES), **self._named("train_noise")),
            "train_trim": pmui.IntSlider(start=0, end=50, step=1, format=rule, **self._named("train_trim")),
            "train_likelihood": pmui.Select(options=_flip(LIKELIHOODS), **self._named("train_likelihood")),
            "train_bins": pmui.IntSlider(start=0, end=64, step=1, format=rule, **self._named("train_bins")),
            "threshold_percentile": pmui.IntSlider(start=50, end=99, step=1, **self._named("threshold_percentile")),
            "train_model": pmui.Select(
                options={m.title: name for name, m in METHODS.items()}, **self._named("train_model")
            ),
            "draws": pmui.IntSlider(start=10, end=200, step=10, **self._named("draws")),
            "seed": pmui.IntInput(start=0, end=2**31 - 1, step=1, **self._named("seed")),
        }
        for name, widget in self.widgets.items():
            tie(settings, name, widget, report)
        # not tied: it can only hold what the data set has, and a link may say more
        self.feature = self.widgets["train_feature"] = pmui.Select(options={}, **self._named("train_feature"))
        self._offering = False
        self.feature.param.watch(self._choose_feature, "value")
        settings.param.watch(lambda _event: self._show_feature(), "train_feature")
        self.redraw = pmui.Button(label="Redraw", icon="casino", variant="contained", **WIDE)
        self.redraw.on_click(self._redraw)
        self.dataset_note = note("")
        self._lay_out()

    def _named(self, name: str) -> dict[str, Any]:
        return {"label": self.settings.param[name].label, **WIDE}

    def _redraw(self, _event) -> None:
        self.settings.seed = (self.settings.seed + 1) % 2**31

    def _lay_out(self) -> None:
        w = self.widgets
        whole: dict[str, Any] = {"sizing_mode": "stretch_width", "margin": 0}
        naive = (
            w["train_methods"],
            note("✗: its claim is wrong. Binary columns: row-bounded, Algorithm 1 of the thesis and partitioned."),
            pmui.Divider(margin=(4, 12), sizing_mode="stretch_width"),
            w["train_bins"],
            note("Of the method with binned counts: more bins fit better and share the records among more counts."),
            w["train_noise"],
            w["train_trim"],
            note("Values left out at each end of a class before the mean, for smooth sensitivity."),
            w["train_likelihood"],
        )
        linear = (
            w["train_linear"],
            note("All on binary columns. (ε, δ): a weaker promise, which fails with probability δ; for reference."),
            pmui.Divider(margin=(4, 12), sizing_mode="stretch_width"),
            w["train_lambda"],
            note("Of the sum of the losses. Larger: less noise, simpler model. The public rule does not see the data."),
            w["train_functional"],
        )
        self.columns = {"naive-bayes": pn.Column(*naive, **whole), "linear": pn.Column(*linear, **whole)}
        self.column = pn.Column(
            w["dataset"],
            self.dataset_note,
            w["epsilon"],
            note('<div class="ends"><span>← more private</span><span>less private →</span></div>'),
            w["relation"],
            w["train_family"],
            self.columns["naive-bayes"],
            self.columns["linear"],
            pmui.Divider(margin=(4, 12), sizing_mode="stretch_width"),
            w["draws"],
            w["seed"],
            self.redraw,
            sizing_mode="stretch_width",
            margin=(8, 0),
        )

    def show(self, families: tuple[str, ...]) -> None:
        """Show the controls of these families of methods."""
        for family, column in self.columns.items():
            column.visible = family in families

    def _choose_feature(self, event) -> None:
        if event.new is not None and not self._offering:
            self.settings.train_feature = event.new

    def _show_feature(self) -> None:
        if self.settings.train_feature in self.feature.options.values():
            self.feature.value = self.settings.train_feature

    def fit(self, facts: Mapping[str, Any]) -> str:
        """Offer the features that the data set has; return a sentence if the chosen one is not among them."""
        names = feature_names(self.settings.train_model, facts)[:MOST_FEATURES]
        feature, message = self.settings.train_feature, ""
        if feature > max(len(names), 1):
            message = f"train_feature = {feature} set to 1: {facts['name']} offers {len(names)} features here."
            feature = self.settings.train_feature = 1
        self._offering = True
        try:
            self.feature.value = None  # the browser keeps the name of a value that stays
            self.feature.param.update(options={f"{i}: {name}": i for i, name in enumerate(names, 1)}, value=feature)
        finally:
            self._offering = False
        return message
