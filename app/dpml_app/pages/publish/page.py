"""The Synthetic data page: the utility of a synthetic table, beside that of models at the same ε.

What ships is in the document when it opens. Workers compute the rest, the chosen ε first.
"""

from collections.abc import Mapping

from dpml_app.core.card import Results, here
from dpml_app.core.page import CardPage
from dpml_app.core.widgets import Controls, divider, note
from dpml_app.data.facts import FirstFacts
from dpml_app.pages.publish import compute, text
from dpml_app.pages.publish.compute import PublishFacts, PublishSettings, PublishValues
from dpml_app.pages.publish.figures import AccuracyCard, ChancesCard, ModelsCard, TablesCard
from dpml_app.pages.publish.lesson import FIGURES


class PublishControls(Controls):
    """All widgets, for beside the picture."""

    settings: PublishSettings
    datasets = compute.PUBLISH_DATASETS
    most_classes = 100
    draws = "publish_draws"
    left_out = "which are text"

    def beside(self) -> list:
        return [self.add("publish_classifier")]

    def middle(self) -> list:
        return [
            divider(),
            self.add("publish_grids"),
            self.add("publish_share", format="0 %"),
            note("The number of records gets 3% of ε, the counts get the rest."),
        ]


class PublishPage(CardPage[PublishValues, PublishFacts]):
    """The page of one session."""

    page_id = "publish"
    title = "Synthetic data"
    settings_kind, values_kind = PublishSettings, PublishValues
    lesson_figures = FIGURES
    question = "How useful is a synthetic table at this ε?"
    lead = "Drag <b>ε</b>. The solid level is trained on the non-private table."
    settings: PublishSettings
    facts_of, note = staticmethod(compute.facts), staticmethod(text.dataset_note)
    shipped_facts, shipped_results = staticmethod(compute.shipped_facts), staticmethod(compute.shipped_results)
    unsupported_reason = "is text, and this page needs a table"
    kinds = (AccuracyCard, TablesCard, ChancesCard, ModelsCard)
    what = "tables"
    controls_kind = PublishControls
    main_card = "accuracy"
    details = ("tables",)

    def words(self, values: PublishValues, facts: FirstFacts, results: Mapping[str, Results]) -> str:
        said = text.headline(values, *(here(results[self.main_card], name) for name in ("table", "true")))
        drawn = here(results.get("tables", {}), "drawn")
        return said if drawn is None else f"{said}<p>{text.kept(drawn)}</p>"
