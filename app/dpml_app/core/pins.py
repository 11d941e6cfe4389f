"""Pins: settings of a page that are kept beside the one that is shown, with the numbers that were shown then.

They live as long as the session, and no link has them: a number is kept, not computed again.
"""

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from html import escape
from typing import Any

import param

from dpml_app import uploaded_table
from dpml_app.core.card import Answer
from dpml_app.core.link import text_of
from dpml_app.data.facts import CARDS
from dpml_app.settings import PageValues, Shared

MOST = 3
NO_NUMBER = "–"


@dataclass(frozen=True)
class Pin:
    """A setting and its answer."""

    values: PageValues
    answer: Answer


class Pins:
    """The pins of a page.

    Parameters
    ----------
    settings : Shared
    values : callable
        Returns the settings that the page depends on.
    answer : callable
        Returns what the page's picture shows, None while that is not of the setting that is chosen.

    Attributes
    ----------
    kept : list of Pin
    now : Pin or None
        What is shown, without a number while there is none.
    due : bool
        Whether what is shown is to be pinned once it is answered.
    on_change : callable
        Called when there is something else to show.
    """

    def __init__(
        self,
        settings: Shared,
        values: Callable[[], PageValues],
        answer: Callable[[], Answer | None],
    ) -> None:
        self.settings, self._values, self._answer = settings, values, answer
        self.kept: list[Pin] = []
        self.now: Pin | None = None
        self.on_change: Callable[[], None] = lambda: None
        self.due = False

    def pin(self) -> str:
        """Pin the shown setting once its results are ready; return a message."""
        values = self._values()
        for place, pin in enumerate(self.kept, 1):
            if pin.values == values:
                return f"This setting is already pin {place}."
        if len(self.kept) == MOST:
            return f"You have {MOST} pins. Remove one first."
        self.due = True
        self.follow()
        return (
            "This setting will be pinned when its results are ready."
            if self.due
            else f"Pinned as pin {len(self.kept)}."
        )

    def follow(self) -> None:
        """Show the pins beside what is shown now, and pin that, if it has been asked for."""
        answer = self._answer()
        self.now = Pin(self._values(), answer or Answer(()))
        if self.due and answer is not None:
            self.due = False
            self.kept.append(self.now)
        self.on_change()

    def remove(self, place: int) -> None:
        """Take a pin away; those after it move up."""
        del self.kept[place]
        self.on_change()

    def load(self, place: int) -> None:
        """Set what was pinned."""
        values = self.kept[place].values.as_dict()
        # the parameters of several choices take lists
        self.settings.param.update(**{n: list(v) if isinstance(v, tuple) else v for n, v in values.items()})

    def table(self) -> dict[str, Any]:
        """Return what the browser shows: the pins' names, and rows of what differs and of the numbers."""
        if not self.kept:
            return {"names": [], "rows": [], "within": ""}
        columns = [*self.kept, *([] if self.now is None else [self.now])]
        rows = []
        for name in self.kept[0].values.names():
            values = [getattr(column.values, name) for column in columns]
            if any(value != values[0] for value in values):
                cells = [in_words(self.settings, name, value) for value in values]
                rows.append({"what": str(self.settings.param[name].label), "cells": cells})
        wanted = dict.fromkeys(number.what for column in columns for number in column.answer.numbers)
        for what in wanted:
            each = [{number.what: number for number in column.answer.numbers}.get(what) for column in columns]
            cells = [NO_NUMBER if n is None else f"{n.value} ({n.interval})" if n.interval else n.value for n in each]
            rows.append({"what": what, "cells": cells})
        names = [f"Pin {place}" for place in range(1, len(self.kept) + 1)]
        within = next((column.answer.within for column in columns if column.answer.within), "")
        return {"names": names, "rows": rows, "within": within}

    def html(self) -> str:
        """Return that table as HTML, each pin with its buttons; nothing without pins."""
        table = self.table()
        if not table["names"]:
            return ""
        within = f" In brackets: {escape(table['within'])}." if table["within"] else ""
        heads = []
        for place, name in enumerate(table["names"]):
            buttons = "".join(
                f'<button type="button" data-act="{act} {place}" aria-label="{title} {name.lower()}">{title}</button>'
                for act, title in (("load", "Show"), ("remove", "Remove"))
            )
            heads.append(f'<th scope="col"><span>{name}</span>{buttons}</th>')
        rows = ""
        for row in table["rows"]:
            cells = "".join(f"<td>{escape(cell)}</td>" for cell in row["cells"])
            rows += f'<tr><th scope="row">{escape(row["what"])}</th>{cells}</tr>'
        head = f'<tr><td></td>{"".join(heads)}<th scope="col">Current</th></tr>'
        return f"<table><caption>Pinned settings.{within}</caption><thead>{head}</thead><tbody>{rows}</tbody></table>"


def in_words(settings: Shared, name: str, value: Any) -> str:
    """Return a setting's value as its control calls it.

    Examples
    --------
    >>> settings = Shared()
    >>> in_words(settings, "epsilon", 0.1), in_words(settings, "relation", "add-remove")
    ('0.1', 'Add or remove one record')
    """
    parameter = settings.param[name]
    if name == "dataset":
        return uploaded_table.TITLE if uploaded_table.is_uploaded(value) else CARDS[value]["menu"]
    if isinstance(parameter, param.Selector):
        titles = {meant: title for title, meant in (parameter.names or {}).items()}
        several: Sequence[Any] = value if isinstance(value, tuple | list) else [value]
        return ", ".join(titles.get(v, f"{v:g}" if isinstance(v, float) else str(v)) for v in several) or "none"
    return text_of(parameter, value)
