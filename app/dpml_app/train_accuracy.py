"""Panel: accuracy, or the area under the ROC curve, against ε."""

from __future__ import annotations

from dataclasses import replace

from bokeh.models import Range1d

from dpml_app.jobs import Chunk
from dpml_app.plotting import Style, epsilon_axis
from dpml_app.settings import EPSILONS, SWEEP_EPSILONS
from dpml_app.train_compute import nb_measure, true_epsilon
from dpml_app.train_figures import BandFigure
from dpml_app.train_frame import NOW, BandPanel, Place, Results, Values, chosen, method_styles
from dpml_app.train_methods import METHODS, options_of, private, styles, why_not

__all__ = ["AccuracyPanel"]

TRUE = "vaidya-true"
REFERENCES = {
    "table": ("No privacy, table", "solid"),
    "binary": ("No privacy, binary", "dotdash"),
    "majority": ("A guess", "dotted"),
}


class AccuracyPanel(BandPanel):
    """Every chosen method over all ε."""

    name, title = "accuracy", "Accuracy against ε"
    above, wide = ("train_measure",), True
    caption = (
        "Lines are means over draws of the noise, bands hold 90 % of them; dots and whiskers show the ε that is "
        "chosen, side by side. Dashed: the claim is wrong, so the ε on the axis is what is stated, not what is paid. "
        "Faded lines belong to the previous setting. Click a name to hide it."
    )

    def __init__(self):
        looks = method_styles()
        looks[TRUE] = replace(looks["vaidya"], marker="asterisk")
        figure = BandFigure(
            "train-accuracy",
            looks,
            "share of test records classified correctly",
            REFERENCES,
            x_axis_type="log",
            x_range=Range1d(start=EPSILONS[0] / 1.15, end=EPSILONS[-1] * 1.15),
        )
        epsilon_axis(figure.plot)
        super().__init__(figure)

    def styles(self, values: Values, facts: Values) -> dict[str, Style]:
        looks = styles(chosen(values, facts), facts)
        if "vaidya" in looks and private("vaidya", facts):
            looks[TRUE] = Style("Vaidya, ε it pays", METHODS["vaidya"].color, "asterisk", "solid")
        return looks

    def measure(self, values: Values) -> str:
        return values["train_measure"]

    def levels(self, values: Values, facts: Values) -> Values:
        return facts[values["train_measure"]]

    def at(self, values: Values, facts: Values) -> float:
        return values["epsilon"]

    def refusal(self, values: Values, facts: Values) -> str:
        if values["train_measure"] == "auc" and len(facts["classes"]) > 2:
            return f"A ROC curve is about two classes, and these data have {len(facts['classes'])}: choose accuracy."
        return ""

    def work(self, values: Values, facts: Values) -> dict[Place, Chunk]:
        found: dict[Place, Chunk] = {}
        auc = values["train_measure"] == "auc"
        for method in chosen(values, facts):

            def chunk(epsilon: float, method: str = method) -> Chunk:
                common = values["train_dataset"], method, values["relation"], epsilon, options_of(method, values)
                return Chunk(nb_measure, (*common, values["draws"], values["seed"], auc))

            found[method, NOW] = chunk(values["epsilon"])
            for epsilon in SWEEP_EPSILONS:
                found[method, epsilon] = chunk(epsilon)
                paid = true_epsilon(method, epsilon, facts, values["relation"])
                if method == "vaidya" and paid is not None and paid <= EPSILONS[-1]:
                    found[TRUE, paid] = chunk(epsilon)
        return found

    def prepare(self, values: Values, facts: Values, now: Results) -> None:
        super().prepare(values, facts, now)
        label = "share of test records classified correctly"
        if values["train_measure"] == "auc":
            label = "area under the ROC curve (50 %: a guess)"
        if self.figures[0].plot.yaxis[0].axis_label != label:
            self.figures[0].plot.yaxis[0].axis_label = label

    def readout(self, values: Values, facts: Values, results: Results) -> str:
        text = f"At ε = {values['epsilon']:g}, mean and 90 % of draws: {super().readout(values, facts, results)}."
        paid = true_epsilon("vaidya", values["epsilon"], facts, values["relation"])
        if ("vaidya", NOW) in results and paid is not None:
            text += f" Vaidya et al. state ε = {values['epsilon']:g} for each count and pay <b>{paid:g}</b> in all."
        broken = [METHODS[m].title for m in chosen(values, facts) if not private(m, facts)]
        if broken:
            text += f" <b>Not private</b>, whatever ε is stated: {', '.join(broken)}."
        left_out = [why for m in values["train_methods"] if (why := why_not(m, facts))]
        if left_out:
            text += f" Not drawn: {'; '.join(left_out)}."
        return text if results else ""
