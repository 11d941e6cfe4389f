"""How the file was read, in words, and what a person may say of it instead."""

from collections.abc import Callable
from typing import Any

import panel as pn
import panel_material_ui as pmui

from dpml.tables.text_format import DELIMITERS, SPACE
from dpml_app.core.card import WHOLE, line
from dpml_app.core.widgets import WIDE
from dpml_app.pages.mydata.draft import Draft
from dpml_app.pages.mydata.words import reading_words

CHOICES: dict[str, dict[str, str]] = {
    "decimal": {"Point: 1.5": ".", "Comma: 1,5": ","},
    "thousands": {"None": "", "Comma": ",", "Point": ".", "Apostrophe": "'", "Space": " "},
    "delimiter": dict(zip(("Comma", "Semicolon", "Tab", "Bar", "Spaces"), (*DELIMITERS, SPACE), strict=True)),
}
TITLES = {
    "decimal": "Decimal separator",
    "thousands": "Thousands separator",
    "delimiter": "Delimiter",
    "encoding": "Encoding",
    "missing": "Missing values",
}
CODECS = "A Python codec, for example utf-8, cp1252 or shift_jis."
MISSING = "Codes for missing values, separated by commas. They replace the default codes in every column."
Read = Callable[[dict[str, Any], dict[str, str]], None]
SPACES = ("\u00a0", "\u202f")


class FileFormat:
    """The words, and the choices under them.

    `read`: reads the file again; takes what is stated of its format, and the kinds of columns.
    """

    def __init__(self, draft: Draft, read: Read):
        self.draft, self.read = draft, read
        form = draft.reading.format
        self.words = pn.pane.HTML(reading_words(draft), sizing_mode="stretch_width", margin=(4, 12))
        self.choices: dict[str, Any] = {}
        self.dates = {each.name: each.formats[0] for each in draft.reading.columns if len(each.formats) == 1}
        if form is not None:
            for name, options in CHOICES.items():
                value = getattr(form, name)
                value = " " if value in SPACES else value
                widget = pmui.Select(label=TITLES[name], options=options, value=value, **WIDE)
                widget.param.watch(self._say, "value")
                self.choices[name] = widget
            encoding = pmui.TextInput(label=TITLES["encoding"], value=form.encoding, description=CODECS, **WIDE)
            stated = form.missing if isinstance(form.missing, tuple) else ()
            missing = pmui.TextInput(
                label=TITLES["missing"], value=", ".join(stated), placeholder="NA, -999", description=MISSING, **WIDE
            )
            encoding.param.watch(self._say, "value")
            missing.param.watch(self._say, "value")
            self.choices |= {"encoding": encoding, "missing": missing}
        self.parts = pmui.Button(label="Split dates into year, month and weekday", variant="outlined", **WIDE)
        self.parts.visible = bool(self.dates)
        self.parts.on_click(lambda _event: self.read(draft.stated, {**draft.kinds, **self.dates}))
        self.change = pmui.Button(label="Change the format", variant="text", margin=(-8, 4, 0, 4))
        self.change.visible = bool(self.choices)
        self.change.on_click(self._open)
        self.form = pn.Column(line(*self.choices.values(), least=180), visible=False, **WHOLE)
        self.whole = pn.Column(self.words, self.parts, self.change, self.form, **WHOLE)

    def _open(self, _event: Any) -> None:
        self.form.visible = not self.form.visible

    def _say(self, event: Any) -> None:
        name = next(name for name, widget in self.choices.items() if widget is event.obj)
        value = event.new
        if name == "missing":
            value = tuple(text.strip() for text in value.split(",") if text.strip())
        elif name == "encoding":
            value = value.strip()
        stated = {**self.draft.stated, name: value}
        self.read({option: value for option, value in stated.items() if value != ()}, self.draft.kinds)
