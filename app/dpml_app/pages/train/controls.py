"""The widgets of the Train page."""

import panel as pn
import panel_material_ui as pmui

from dpml.datasets import NAMES
from dpml_app.core.card import WHOLE
from dpml_app.core.widgets import WIDE, Controls, divider, note, words_of
from dpml_app.pages.train.facts import TrainFacts
from dpml_app.pages.train.methods import feature_names
from dpml_app.pages.train.settings import MOST_FEATURES, RULE, TRAIN_LAMBDAS, TrainSettings, TrainValues


class TrainControls(Controls):
    """All widgets: `side` and `advanced` are for beside the picture, `widgets` holds those of cards, too."""

    settings: TrainSettings
    datasets = NAMES
    most_classes = 100

    def middle(self) -> list:
        """Return what stands under "Advanced" between relation and draws: peers, the family, its controls."""
        rule = words_of("return tick == 0 ? 'public rule' : String(tick)")
        naive = (
            self.add("train_methods"),
            note("✗: claim violated. Row-bounded, Algorithm 1 (Antonova 2016) and partitioned use binary columns."),
            divider(),
            self.add("train_bins", format=rule),
            note("For binned counts. More bins fit better but leave fewer records per bin."),
            self.add("train_noise"),
            self.add("train_trim", format=rule),
            note("Removed from each class before its mean (smooth sensitivity)."),
            self.add("train_likelihood"),
        )
        lambdas = {"public rule": RULE, **{f"{v:,g}": v for v in TRAIN_LAMBDAS}}
        linear = (
            self.add("train_linear"),
            note("All use binary columns. (ε, δ): a weaker guarantee, which may fail with probability δ."),
            divider(),
            self.add("train_lambda", options=lambdas),
            note("Weight of the penalty. Larger: less noise, simpler model. The public rule does not use the records."),
            self.add("train_functional"),
        )
        begin = (
            self.add("train_begin"),
            note("Other libraries: precomputed on some data sets, at four values of ε."),
        )
        family = self.add("train_family", pmui.RadioBoxGroup, inline=True)
        self.columns = {"naive-bayes": pn.Column(*naive, **WHOLE), "linear": pn.Column(*linear, **WHOLE)}
        self._show_family()
        self.settings.param.watch(self._show_family, "train_family")
        return [*begin, family, *self.columns.values()]

    def _show_family(self, *_events) -> None:
        shown = TrainValues.of(self.settings).families
        for family, column in self.columns.items():
            column.visible = family in shown

    def in_cards(self) -> None:
        for name in ("train_tune", "train_measure"):
            self.add(name, pmui.RadioBoxGroup, inline=True)
        self.add("train_wanted")
        self.add("train_weight", pmui.DiscreteSlider)
        for name in ("train_shown", "train_model", "threshold_percentile"):
            self.add(name)
        # not tied: it can only hold what the data set has, and a link may say more
        self.feature = pmui.Select(options={}, label=self.settings.param.train_feature.label, **WIDE)
        self.widgets["train_feature"] = self.feature
        self._offering = False
        self.feature.param.watch(self._choose_feature, "value")
        self.settings.param.watch(lambda _event: self._show_feature(), "train_feature")

    def _choose_feature(self, event) -> None:
        if event.new is not None and not self._offering:
            self.settings.train_feature = event.new

    def _show_feature(self) -> None:
        if self.settings.train_feature in self.feature.options.values():
            self.feature.value = self.settings.train_feature

    def fit(self, facts: TrainFacts) -> str:
        """Offer the features that the data set has; return a sentence if the chosen one is not among them."""
        names = feature_names(self.settings.train_model, facts)[:MOST_FEATURES]
        feature, message = self.settings.train_feature, ""
        if feature > max(len(names), 1):
            message = (
                f"Feature {feature} does not exist: {facts.name} has {len(names)} features here. Feature 1 is shown."
            )
            feature = self.settings.train_feature = 1
        self._offering = True
        try:
            self.feature.value = None  # the browser keeps the name of a value that stays
            self.feature.param.update(options={f"{i}: {name}": i for i, name in enumerate(names, 1)}, value=feature)
        finally:
            self._offering = False
        return message
