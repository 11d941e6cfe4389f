"""One column of an uploaded table: what is said of it, and which of that was read off the data."""

from contextlib import suppress
from dataclasses import dataclass, replace
from typing import Any, NamedTuple

from dpml.exceptions import DpmlError, InvalidSchema
from dpml.schema import Feature

# what can be read off the data of a column, by its kind: what is left out is so by its kind
OF_KIND = {"numeric": ("lower", "upper"), "categorical": ("categories",), "binary": ("kind",), "ignored": ("kind",)}


class Proposed(NamedTuple):
    """A fact that was read off the data, in words; `column` is empty where it is one of the table."""

    column: str
    fact: str
    words: str
    confirmed: bool


@dataclass(frozen=True)
class Column:
    """What a column is; of a kind's facts, those of the others are kept for whoever changes their mind."""

    name: str
    kind: str
    lower: Any = None
    upper: Any = None
    categories: tuple = ()
    missing: Any = None
    levels: tuple | None = None
    data_derived: tuple[str, ...] = ()
    confirmed: tuple[str, ...] = ()
    whole_numbers: bool = False
    # why it is proposed to be left out; and what became gaps when a person called it one of numbers
    reason: str = ""
    note: str = ""
    # bounds that were paid for
    paid: tuple[str, ...] = ()

    @property
    def marks(self) -> dict[str, tuple[str, ...]]:
        """The marks of the facts that a column of this kind has."""
        facts = OF_KIND[self.kind]
        every = {name: getattr(self, name) for name in ("data_derived", "confirmed", "paid")}
        return {name: tuple(fact for fact in facts if fact in marked) for name, marked in every.items()}

    @property
    def proposed(self) -> list[Proposed]:
        """The facts of it that were read off the data."""
        marks = self.marks
        both = (*marks["data_derived"], *marks["confirmed"])
        facts = [fact for fact in OF_KIND[self.kind] if fact in both]
        return [Proposed(self.name, fact, self._words(fact), fact in marks["confirmed"]) for fact in facts]

    def _words(self, fact: str) -> str:
        if fact == "kind":
            return f"{self.name} is {'left out' if self.kind == 'ignored' else '0 or 1'}"
        if fact == "categories":
            return f"{self.name} is one of {', '.join(map(str, self.categories))}"
        words = {"lower": "at least", "upper": f"{'a whole number of ' if self.whole_numbers else ''}at most"}[fact]
        return f"{self.name} is {words} {getattr(self, fact):.12g}"

    @property
    def feature(self) -> Feature:
        """The feature; `InvalidSchema` where a fact is missing or wrong."""
        if self.kind == "numeric" and None in (self.lower, self.upper):
            raise InvalidSchema(
                f"bounds of {self.name!r}", "missing", "two numbers. State both, or leave the column out"
            )
        more: dict[str, Any] = {"missing": self.missing, "levels": self.levels, **self.marks}
        if self.kind == "numeric":
            return Feature(self.name, "numeric", lower=self.lower, upper=self.upper, whole=self.whole_numbers, **more)
        if self.kind == "categorical":
            return Feature(self.name, "categorical", self.categories, **more)
        return Feature(self.name, **more)

    @property
    def description(self) -> str:
        """Its domain in words, or what is missing."""
        if self.kind == "ignored":
            return f"left out: {self.reason}" if self.reason else "left out"
        try:
            return self.feature.domain
        except DpmlError:
            if self.kind == "numeric" and None not in (self.lower, self.upper) and self.missing is not None:
                return "the value for missing cells is out of bounds"
            return "bounds are missing" if self.kind == "numeric" else "categories are missing"

    @property
    def whole(self) -> str:
        """All that a release would publish of its domain, or what is missing."""
        description = self.description
        if self.kind in ("numeric", "categorical"):
            with suppress(DpmlError):  # the page names what is missing instead
                description = self.feature.facts(OF_KIND[self.kind])
        return description if self.missing is None else f"{description}, missing values are replaced by {self.missing}"


def unmarked(column: Column, *facts: str) -> Column:
    """Return a column with facts that a person has stated."""
    every = {name: getattr(column, name) for name in ("data_derived", "confirmed", "paid")}
    left: dict[str, Any] = {name: tuple(fact for fact in one if fact not in facts) for name, one in every.items()}
    return replace(column, **left)


def marked(column: Column, *facts: str, sure: bool = False) -> Column:
    """Return a column with facts that were read off the data; `sure`: and that a person has confirmed."""
    left, name = unmarked(column, *facts), "confirmed" if sure else "data_derived"
    return replace(left, **{name: (*getattr(left, name), *facts)})  # type: ignore[arg-type]  # both are tuples
