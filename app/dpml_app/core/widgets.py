"""Widgets tied to one setting each, both ways, and those that all pages about a data set share."""

from collections.abc import Callable, Sequence
from contextlib import AbstractContextManager, nullcontext
from typing import Any, ClassVar

import panel as pn
import panel_material_ui as pmui
import param
from bokeh.models import ColumnDataSource

from dpml.datasets import Dataset
from dpml_app import uploaded_table
from dpml_app.compat import answer_soon
from dpml_app.core.card import WHOLE, Card
from dpml_app.data.facts import OF_TWO_CLASSES
from dpml_app.data.real_data import Offer, titled
from dpml_app.kit.widgets import in_notebook, make_widget
from dpml_app.settings import EPSILONS, MOST_FEATURES, Shared
from dpml_app.text.phrases import listed

# of boxes to tick, as many columns as fit
COLUMNS = {"display": "grid", "gridTemplateColumns": "repeat(auto-fill, minmax(250px, 1fr))"}
WIDE: dict[str, Any] = {"sizing_mode": "stretch_width", "margin": (6, 12)}


def note(text: str) -> pn.pane.HTML:
    """Return a line in small print under a control."""
    return pn.pane.HTML(text, margin=(-4, 12, 6, 12), sizing_mode="stretch_width", stylesheets=[NOTE_STYLE])


def divider() -> Any:
    """Return a line between groups of controls."""
    return make_widget(pmui.Divider, margin=(4, 12), sizing_mode="stretch_width")


# drawn here: a name would load a font of all icons, 129 kB
DIE = (
    '<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 24 24"><path fill-rule="evenodd" d="M5 3h14a2 2 0 0 1 2 2v14'
    "a2 2 0 0 1-2 2H5a2 2 0 0 1-2-2V5a2 2 0 0 1 2-2ZM8 6.5a1.5 1.5 0 1 0 0 3 1.5 1.5 0 0 0 0-3Zm4 4a1.5 1.5 0 1 0 0 3 "
    '1.5 1.5 0 0 0 0-3Zm4 4a1.5 1.5 0 1 0 0 3 1.5 1.5 0 0 0 0-3Z"/></svg>'
)
NOTE_STYLE = """
:host { font-size: 0.82rem; opacity: 0.8; line-height: 1.35; }
"""


class Controls:
    """The controls of a page about a data set, each a widget tied to its setting.

    `side` and `advanced` are for beside the picture; `widgets` also holds those that stand in cards.

    A widget's label, ends and options are its setting's own: see `add`.

    Parameters
    ----------
    settings : Shared
    report : callable
        Takes the name of a control and a sentence for the page.
    kinds : sequence of classes of Card
        The cards of the page, which name the settings whose widgets are in them.
    """

    datasets: ClassVar[tuple[str, ...]] = OF_TWO_CLASSES
    # a notebook sends as one message what a moved widget changes
    hold: Callable[[], AbstractContextManager[None]] = staticmethod(nullcontext)
    # the setting whose control stands under the page's picture, and the one that "Resample" increases
    in_top: ClassVar[str] = "epsilon"
    seed: ClassVar[str] = "seed"
    side: pn.Column
    advanced: pn.Column
    # the setting of how often is drawn
    draws: ClassVar[str] = "draws"
    # what the data sets have that are not offered
    left_out: ClassVar[str] = "which have more than two classes"
    # the most classes of a session's own table that the page can show; 0: it shows none
    most_classes: ClassVar[int] = 0

    def __init__(self, settings: Shared, report: Callable[[str, str], None], kinds: Sequence[type[Card]] = ()):
        self.settings, self.report = settings, report
        self.widgets: dict[str, Any] = {}
        self._told: list[ColumnDataSource] = []
        self._in_notebook = in_notebook()
        self.dataset_note = note("")
        self.redraw = make_widget(pmui.Button, label="Resample", icon=DIE, variant="contained", **WIDE)
        self.redraw.on_click(self._redraw)
        self.lay_out()
        self.in_cards()
        for name in (self.in_top, *(name for kind in kinds for name in kind.controls)):
            if name not in self.widgets:
                self.add(name)

    def lay_out(self) -> None:
        """Make `side` and `advanced`; a page without a data set has others."""
        every = [name for name in self.settings.param.dataset.objects if not uploaded_table.is_uploaded(name)]
        left_out = [name for name in every if name not in self.datasets]
        chosen = self.add("dataset", options=self.offered())
        self.settings.uploaded.param.watch(self._mark_datasets, "table")
        self.data_offer = Offer(self.settings, self.datasets)
        self.settings.param.watch(self._mark_datasets, "dataset")
        self.side = pn.Column(chosen, self.dataset_note, self.data_offer.column, **WHOLE)
        epsilon = self.add("epsilon")
        if self.in_top != "epsilon":
            self.side.append(epsilon)
        self.side.extend(self.beside())
        self.advanced = pn.Column(
            self.add("relation", pmui.RadioBoxGroup),
            *self.middle(),
            divider(),
            self.add(self.draws),
            self.add("seed", pmui.IntInput),
            self.redraw,
            *([note(f"Not offered: {listed(left_out)}, {self.left_out}.")] if left_out else []),
            **WHOLE,
        )

    def add(
        self, name: str, kind: type | None = None, before: Callable[[Any], None] | None = None, **options: Any
    ) -> Any:
        """Return the widget of a setting, of the kind that its values ask for where none is given.

        `before` is called with a change of the widget before its setting changes.
        """
        parameter = self.settings.param[name]
        if isinstance(parameter, param.Selector):
            values = list(parameter.objects)
            numbers, several = isinstance(values[0], int | float), isinstance(parameter, param.ListSelector)
            offered = parameter.names or {f"{v:,g}" if numbers else v: v for v in values}
            kind = kind or (pmui.CheckBoxGroup if several else pmui.DiscreteSlider if numbers else pmui.Select)
            options = {"options": offered, **options}
        else:
            start, end = parameter.bounds
            kind = kind or (pmui.IntSlider if isinstance(parameter, param.Integer) else pmui.FloatSlider)
            options = {"start": start, "end": end, "step": parameter.step or 1, **options}
        self.widgets[name] = widget = make_widget(kind, label=parameter.label, **{**WIDE, **options})
        if before is not None:
            widget.param.watch(before, "value")
        self._tie(name, widget)
        return widget

    def _tie(self, name: str, widget: Any) -> None:
        """Tie a widget to a setting both ways; a value that is not allowed is reported and taken back."""
        settings = self.settings
        if not (name == "dataset" and settings.dataset not in widget.options.values()):
            widget.value = getattr(settings, name)
        answer_soon(widget)
        # the browser puts its help beside it
        widget.css_classes = [*widget.css_classes, f"setting-{name}"]

        def to_setting(event: Any) -> None:
            if event.new is None or event.new == getattr(settings, name):
                return
            with self.hold():
                problems = settings.assign({name: event.new})
            if problems:
                # data that are not here are offered under their control
                if not (name == "dataset" and settings.missing_dataset.dataset):
                    self.report(name, problems[0])
                widget.value = getattr(settings, name)

        def to_widget(event: Any) -> None:
            offered = getattr(widget, "options", None)
            # another page may offer more
            if not isinstance(offered, dict) or event.new in offered.values() or isinstance(event.new, list):
                widget.value = event.new

        widget.param.watch(to_setting, "value")
        settings.param.watch(to_widget, name)

    def beside(self) -> list:
        """Return the components beside the plot, next to the data set."""
        return []

    def middle(self) -> list:
        """Return the components of "Advanced" between relation and draws."""
        return []

    def in_cards(self) -> None:
        """Make the widgets of cards that need options; others that cards name as `controls` are made without."""

    @classmethod
    def unsupported_table_reason(cls, data: Dataset) -> str:
        """Return in words why the page cannot show a session's own table; empty if it can."""
        if data.schema.n_classes > cls.most_classes:
            most = {0: "this page does not support uploaded tables", 2: "this page needs two"}
            allowed = most.get(cls.most_classes, f"this page shows at most {cls.most_classes}")
            return f"has {data.schema.n_classes} classes, and {allowed}"
        return ""

    def offered(self) -> dict[str, str]:
        """Return the data sets by their titles, the session's own table first."""
        table = self.settings.uploaded.table
        mine = (
            {uploaded_table.TITLE: table.name}
            if table is not None and not self.unsupported_table_reason(table.data)
            else {}
        )
        return {**mine, **titled(self.datasets)}

    def _mark_datasets(self, _event: Any) -> None:
        """Mark the data sets anew: files may have come."""
        options = self.offered()
        if options != self.widgets["dataset"].options:
            self.widgets["dataset"].options = options
            if self.settings.dataset in options.values():
                self.widgets["dataset"].value = self.settings.dataset

    def _redraw(self, _event) -> None:
        setattr(self.settings, self.seed, (getattr(self.settings, self.seed) + 1) % 2**31)

    def tell_browser(self, source_name: str, *names: str) -> ColumnDataSource:
        """Return a source of one row of settings, into which their sliders write without asking the server."""
        columns = {name: [getattr(self.settings, name)] for name in names}
        source = ColumnDataSource({**columns, "serial": [0]}, name=source_name)
        self._told.append(source)
        if self._in_notebook:  # whose slider of ε says nothing to the browser
            self.settings.param.watch(lambda *_events: self.remind(), names)
            return source
        for name in names:
            value = f"{list(EPSILONS)}[cb_obj.value]" if name == "epsilon" else "cb_obj.value"
            code = f"controls.setv({{data: {{...controls.data, {name}: [{value}]}}}}, {{sync: false}})"
            self.widgets[name].jscallback(value=code, args={"controls": source})
        return source

    def fit(self, facts: Any) -> str:
        """Fit the number of features to a data set, and the end of its slider; return a sentence if it was lowered."""
        lowered = ""
        if "n_features" in self.widgets:
            lowered = self.settings.fit(facts.n_features)
            self.widgets["n_features"].param.update(end=min(facts.n_features, MOST_FEATURES))
        self.remind()
        return lowered

    def remind(self) -> None:
        """Have the browser's script run again: what it draws may have come since.

        The settings stay those of the browser: a slider may have been moved that the server has not heard of.
        """
        for source in self._told:
            serial = source.data["serial"][0] + 1
            if self._in_notebook:
                columns = {name: [getattr(self.settings, name)] for name in source.data if name != "serial"}
                source.data = {**columns, "serial": [serial]}
            else:
                source.patch({"serial": [(0, serial)]})
