"""The options with which a command reads a table, and the command ``python -m dpml examine TABLE``."""

import argparse
from collections.abc import Callable
from typing import Any

FINE = 0
# what a shell makes hard to type
SIGNS = {"tab": "\t", "\\t": "\t", "space": " "}


def add_reading_options(parser: argparse.ArgumentParser) -> None:
    """Add the options of `dpml.tables.read_table` to a command."""
    reading = parser.add_argument_group("format of a CSV file, as in `dpml.tables.read_table`")
    reading.add_argument(
        "--encoding", metavar="CODEC", help="Python codec, for example cp1251 (default in a release: utf-8)"
    )
    reading.add_argument(
        "--delimiter",
        metavar="CHARACTER",
        help="field separator: comma, semicolon, tab, bar, or space for any number of spaces",
    )
    reading.add_argument("--decimal", choices=(".", ","), help="decimal separator (default in a release: point)")
    reading.add_argument("--thousands", metavar="CHARACTER", help="thousands separator (default in a release: none)")
    reading.add_argument("--header", type=int, metavar="LINE", help="line with the column names, or 0 for none")
    reading.add_argument(
        "--names",
        action="append",
        metavar="NAME",
        help="'numbered' to number empty and repeated names, 'two-lines' to take empty names from the next line, or "
        "one --names for each column",
    )
    reading.add_argument(
        "--missing",
        action="append",
        metavar="[COLUMN=]TEXT",
        help="text of a missing value, in all columns or in one. COLUMN= means empty cells only. Repeatable "
        "(default: NA, N/A, #N/A, NaN, null, None and ?, except categories of SCHEMA)",
    )
    reading.add_argument(
        "--column",
        action="append",
        metavar="COLUMN=KIND",
        help="kind of a column: number, share, text, lower, ignore, or a date format. Repeatable",
    )


def reading_options(arguments: argparse.Namespace) -> dict[str, Any]:
    """Return what the options state, as `dpml.tables.read_table` takes it."""
    names = ("encoding", "delimiter", "decimal", "thousands", "header")
    options = {name: getattr(arguments, name) for name in names}
    options["delimiter"] = SIGNS.get(options["delimiter"], options["delimiter"])
    if arguments.names is not None:
        rules = len(arguments.names) == 1 and arguments.names[0] in ("numbered", "two-lines")
        options["names"] = arguments.names[0] if rules else tuple(arguments.names)
    if arguments.missing is not None:
        options["missing"] = _codes(arguments.missing)
    if arguments.column is not None:
        options["columns"] = dict(_pair("--column", text) for text in arguments.column)
    return options


def _codes(given: list[str]) -> Any:
    """Return missing-value codes: of all columns, or of each that is named."""
    from dpml.exceptions import InvalidParameter

    if not any("=" in text for text in given):
        return tuple(given)
    codes: dict[str, tuple[str, ...]] = {}
    for text in given:
        if "=" not in text:
            raise InvalidParameter("--missing", text, "COLUMN=TEXT where another --missing names a column")
        column, code = _pair("--missing", text)
        codes[column] = (*codes.get(column, ()), *([code] if code else []))
    return codes


def _pair(option: str, text: str) -> tuple[str, str]:
    from dpml.exceptions import InvalidParameter

    # a column's name may hold the sign
    column, sign, value = text.rpartition("=")
    if not sign or not column:
        raise InvalidParameter(option, text, "COLUMN=VALUE")
    return column, value


def add_command(commands: Any, say: Callable[[str], None]) -> None:
    """Add the command to a parser's; `say` prints a line."""
    parser = commands.add_parser(
        "examine",
        help="print how a table is read, with questions about ambiguous parts",
        description="Print the format of a table, its unusual columns, and the texts that are read as missing "
        "values. Print "
        "a question for each ambiguous part, with the options that answer it. The output shows cells of the table: "
        "keep it private.",
    )
    parser.add_argument("table", metavar="TABLE", help="CSV or Parquet file")
    parser.add_argument("--schema", metavar="SCHEMA", help="public metadata as YAML, from Schema.to_yaml")
    add_reading_options(parser)
    parser.set_defaults(run=lambda arguments: _examine(arguments, say))


def _examine(arguments: argparse.Namespace, say: Callable[[str], None]) -> int:
    from dpml.tables import examine_table

    schema = None if arguments.schema is None else read_schema(arguments.schema)
    reading = examine_table(arguments.table, **reading_options(arguments), schema=schema)
    rows, columns = reading.frame.shape
    say(f"{rows:,} records, {columns:,} columns: {', '.join(map(str, reading.frame.columns))}")
    for line in reading.words:
        say(line)
    for question in reading.questions:
        say(f"? {question.text}")
        for number, each in enumerate(question.readings):
            say(f"    {'read as' if not number else 'or'}: {each.words}: {' '.join(each.arguments)}")
    return FINE


def read_schema(path: str) -> Any:
    """Return the schema in a file, or raise where there is none."""
    from pathlib import Path

    from dpml.exceptions import DataNotFound, InvalidParameter
    from dpml.schema import Schema

    try:
        return Schema.from_yaml(Path(path).read_text(encoding="utf-8"))
    except OSError as error:
        raise DataNotFound(f"cannot read the file {path!r}") from error
    except UnicodeDecodeError as error:
        raise InvalidParameter("SCHEMA", path, "a text in UTF-8") from error
