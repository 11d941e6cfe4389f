"""The options with which a command reads a table, and the command ``python -m dpml examine TABLE``."""

import argparse
from collections.abc import Callable
from typing import Any

FINE = 0
# what a shell makes hard to type
SIGNS = {"tab": "\t", "\\t": "\t", "space": " "}


def add_reading_options(parser: argparse.ArgumentParser) -> None:
    """Add the options of `dpml.tables.read_table` to a command."""
    reading = parser.add_argument_group("format of a CSV file, as `dpml.tables.read_table` has it")
    reading.add_argument("--encoding", metavar="CODEC", help="a codec of Python, as cp1251 (a release: default utf-8)")
    reading.add_argument("--delimiter", metavar="SIGN", help="comma, semicolon, tab, bar, or a space for any number")
    reading.add_argument("--decimal", choices=(".", ","), help="sign before a number's fraction (a release: point)")
    reading.add_argument("--thousands", metavar="SIGN", help="sign between groups of three digits (a release: none)")
    reading.add_argument("--header", type=int, metavar="LINE", help="line with the names of the columns; 0: none has")
    reading.add_argument(
        "--names",
        action="append",
        metavar="NAME",
        help="numbered: number empty and repeated names; two-lines: take empty ones from the next line; or the names "
        "of all columns, each with a --names of its own",
    )
    reading.add_argument(
        "--missing",
        action="append",
        metavar="[COLUMN=]TEXT",
        help="text that stands for a missing value, of all columns or of one; COLUMN= for none but empty cells; may be "
        "given for each (default: NA, N/A, NaN, null, None and ?, where SCHEMA states no such category)",
    )
    reading.add_argument(
        "--column",
        action="append",
        metavar="COLUMN=KIND",
        help="kind of a column: number, share, text, lower, ignore, or the format of its dates; may be given for each",
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
        help="print how a table would be read, and what can be read in two ways",
        description="Print the format of a table, its columns with a surprise, the texts that are read as missing, and "
        "a question for each part that can be read in two ways, with the options that answer it. The output has cells "
        "of the table: it is for the table's owner alone.",
    )
    parser.add_argument("table", metavar="TABLE", help="CSV or Parquet")
    parser.add_argument("--schema", metavar="SCHEMA", help="the public facts as YAML, of Schema.to_yaml")
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
            say(f"    {'read so' if not number else 'or'}: {each.words}: {' '.join(each.arguments)}")
    return FINE


def read_schema(path: str) -> Any:
    """Return the schema in a file, or raise where there is none."""
    from pathlib import Path

    from dpml.exceptions import DataNotFound, InvalidParameter
    from dpml.schema import Schema

    try:
        return Schema.from_yaml(Path(path).read_text(encoding="utf-8"))
    except OSError as error:
        raise DataNotFound(f"there is no file at {path!r} that can be read") from error
    except UnicodeDecodeError as error:
        raise InvalidParameter("SCHEMA", path, "a text in UTF-8") from error
