"""The rows of the table of facts: what a browser shows of each column, and what it says of one.

Texts of the table stand here as they are: the browser writes them as text. What comes back is not trusted.
"""

import csv
import re
from typing import Any

from dpml.exceptions import InvalidParameter
from dpml.tables import TextFormat
from dpml.tables.cells import NumberReader
from dpml_app.pages.mydata.column import OF_KIND, Column
from dpml_app.pages.mydata.draft import GAP, Draft
from dpml_app.text.phrases import percent

LABEL = "label"
# how a fact is known; a person chooses among the others
PROPOSED, BY_NAME, PAID, STATED = "proposed", "name", "paid", ("stated", "code")
OF_TABLE_TITLES = {"n_lower": "Records, at least", "row_bound": "Ones per record, at most", "format": "File format"}
# the cell of the table that an error of the schema names first
CELLS = {"bounds": "upper", "whole": "upper", "lower": "lower", "upper": "upper", "missing": "missing"}
LONGEST_LIST, LONGEST_VALUE = 40_000, 24
# of a column's cells, those that are looked at for a few values, and of its categories those offered for a gap
LOOKED_AT, SHOWN, MOST_GAPS = 200, 3, 200
QUOTED = re.compile(r'[,"\r\n]')


class Rows:
    """The rows of one draft.

    >>> import pandas as pd
    >>> draft = Draft(pd.DataFrame({"age": [30, 40, 50], "left": ["no", "yes", "no"]}), "people.csv")
    >>> rows = Rows(draft)
    >>> row = rows.of("age")
    >>> [(fact["fact"], fact["value"], fact["source"]) for fact in row["facts"]]
    [('lower', '0', 'name'), ('upper', '120', 'name')]
    >>> rows.say({"column": "age", "fact": "upper", "value": "nine"})
    >>> rows.of("age")["facts"][1]["error"]
    'must be a number, for example 1.5'
    """

    def __init__(self, draft: Draft):
        self.draft = draft
        form = draft.reading.format or TextFormat()
        self.decimal = form.decimal
        self.numbers = NumberReader(form.decimal, form.thousands or ("." if form.decimal == "," else ","))

    # ---- what is shown ---------------------------------------------------------------------------------------------

    def every(self) -> list[dict[str, Any]]:
        """Return all rows: facts of the table, the label, and the columns in their order."""
        draft = self.draft
        of_table = [self.of_table(fact) for fact in OF_TABLE_TITLES if fact == "n_lower" or fact in draft.marks]
        return [*of_table, *(self.of(name) for name in (draft.label, *draft.columns))]

    def of_table(self, fact: str) -> dict[str, Any]:
        """Return the row of a fact of the whole table."""
        draft, values = self.draft, ""
        if fact == "format":
            value = "" if draft.reading.format is None else draft.reading.format.words
        else:
            value = self._text(getattr(draft, fact))
        if fact == "n_lower":
            values = f"{len(draft.frame):,} in the file"
        facts = [self._fact("", fact, value, self._fault_of_table(fact))]
        return {"key": f"table/{fact}", "column": "", "name": OF_TABLE_TITLES[fact], "facts": facts, "values": values}

    def of(self, name: str) -> dict[str, Any]:
        """Return the row of a column, or of the label."""
        draft, cells = self.draft, self.draft.frame[name]
        gaps, some = int(cells.isna().sum()), cells.iloc[:LOOKED_AT].dropna().unique()[:SHOWN].tolist()
        row: dict[str, Any] = {
            "key": f"column/{name}",
            "column": name,
            "name": name,
            "values": " · ".join(map(self._short, some)),
            "gaps": f"{gaps:,} ({percent(gaps / len(cells))})" if gaps else "none",
        }
        if name == draft.label:
            fault = self._fault_of_table("classes")
            facts = [self._fact("", LABEL, ""), self._fact("", "classes", _line(draft.classes), fault)]
            return row | {"column": "", "kind": LABEL, "facts": facts}
        column = draft.columns[name]
        faults, values = _faults(column, self._example), {"categories": _line(column.categories)}
        values |= {end: self._text(getattr(column, end)) for end in ("lower", "upper")}
        facts = [self._fact(name, fact, values.get(fact, ""), faults.get(fact, "")) for fact in OF_KIND[column.kind]]
        row |= {
            "kind": column.kind,
            "facts": facts,
            "note": column.note or (column.reason if column.kind == "ignored" else ""),
        }
        if column.kind != "ignored" and (gaps or column.missing is not None):
            row |= {"missing": self._text(column.missing), "missing_error": faults.get("missing", "")}
            if column.kind != "numeric":
                titles = _gap_values(column)
                row["missing"] = next(title for title, value in titles.items() if value == column.missing)
                row["choices"] = list(titles)
        return row

    def _fact(self, column: str, fact: str, value: str, error: str = "") -> dict[str, Any]:
        source = self.draft.source(column, fact)
        # a fact that was read off the data can be called proposed again
        first = source if source in (BY_NAME, PAID) else PROPOSED if self.draft.was_read_off(column, fact) else ""
        return {"fact": fact, "value": value, "source": source, "first": first, "error": error}

    def _fault_of_table(self, fact: str) -> str:
        draft = self.draft
        if fact == "classes" and 0 < len(draft.classes) < 2:
            return "must be two or more labels"
        if fact != "n_lower":
            return ""
        most = len(draft.frame)
        known = isinstance(draft.n_lower, int) and 1 <= draft.n_lower <= most
        return "" if known or draft.n_lower is None else f"must be an integer from 1 to {most:,}"

    @property
    def _example(self) -> str:
        return f"1{self.decimal}5"

    def _text(self, value: Any) -> str:
        if value is None:
            return ""
        return f"{value:.12g}".replace(".", self.decimal) if isinstance(value, (int, float)) else str(value)

    def _short(self, value: Any) -> str:
        text = self._text(value)
        return text if len(text) <= LONGEST_VALUE else text[: LONGEST_VALUE - 1] + "…"

    # ---- what a person says ----------------------------------------------------------------------------------------

    def say(self, message: Any) -> None:
        """Take what a browser says of one fact; what is no fact of a row is left alone."""
        if not isinstance(message, dict):
            return
        name, fact = message.get("column"), message.get("fact")
        if not isinstance(name, str) or not isinstance(fact, str) or (name and name not in self.draft.columns):
            # the label's own column can only become another one's
            return
        if isinstance(source := message.get("source"), str):
            facts = OF_KIND[self.draft.columns[name].kind] if name else (LABEL, "classes", *OF_TABLE_TITLES)
            if source in (PROPOSED, *STATED) and fact in facts:
                self.draft.say_source(name, fact, source)
        elif isinstance(value := message.get("value"), str):
            self._say_value(name, fact, value[:LONGEST_LIST])

    def _say_value(self, name: str, fact: str, value: str) -> None:
        draft = self.draft
        if not name:
            if fact == "classes":
                draft.say_classes(_listed(value))
            elif fact == "n_lower":
                number = self._number(value)
                whole = isinstance(number, float) and number.is_integer()
                draft.say_records(int(number) if whole else number)
        elif fact == "kind" and value == LABEL:
            draft.say_label(name)
            draft.say_source("", LABEL, "stated")
        elif fact == "kind" and value in OF_KIND:
            draft.say(name, kind=value)
        elif fact in ("lower", "upper"):
            draft.say(name, **{fact: self._number(value)})
        elif fact == "categories":
            draft.say(name, categories=_listed(value))
        elif fact == "missing":
            column = draft.columns[name]
            draft.say_gaps(name, self._number(value) if column.kind == "numeric" else _gap_values(column).get(value))

    def _number(self, text: str) -> Any:
        """Return the number that a text spells, None where it is empty, and the text itself where it spells none."""
        text = text.strip()
        number = self.numbers.read(text)
        return (text or None) if number is None or number[1] else number[0]


def _faults(column: Column, example: str) -> dict[str, str]:
    """Return what is wrong, by the cell that it stands at; what is not stated yet is not wrong."""
    faults = {
        fact: f"must be a number, for example {example}"
        for fact in ("lower", "upper", "missing")
        if column.kind == "numeric" and isinstance(getattr(column, fact), str)
    }
    missing = column.kind == "numeric" and None in (column.lower, column.upper)
    if not faults and not missing and (column.kind != "categorical" or column.categories):
        try:
            _ = column.feature
        except InvalidParameter as error:
            cell = CELLS.get(
                str(error.name).partition(" ")[0], "categories" if column.kind == "categorical" else "upper"
            )
            faults[cell] = f"must be {error.allowed}"
    return faults


def _gap_values(column: Column) -> dict[str, Any]:
    """Return, by their titles, what a gap of a column that is no number can count as."""
    if column.kind == "binary":
        return {"0 (none expected)": None, "0": 0, "1": 1}
    own = {} if GAP in column.categories else {"separate category": GAP}
    categories = column.categories[:MOST_GAPS]
    chosen = () if column.missing is None or column.missing in categories else (column.missing,)
    return {"first category": None, **own, **{f"“{category}”": category for category in (*categories, *chosen)}}


def _line(values: tuple) -> str:
    """Return values as one line, which `_listed` takes apart."""
    texts = map(str, values)
    return ", ".join(f'"{text.replace(chr(34), 2 * chr(34))}"' if QUOTED.search(text) else text for text in texts)


def _listed(text: str) -> tuple[str, ...]:
    r"""Return the values of a text, each once: commas or lines stand between them, quotes around one that has either.

    >>> _listed('cat,  dog, "fish, large"\n\ncat')
    ('cat', 'dog', 'fish, large')
    """
    lines = csv.reader(text.splitlines(keepends=True), skipinitialspace=True)
    values = (value.strip() for line in lines for value in line)
    return tuple(dict.fromkeys(value for value in values if value))
