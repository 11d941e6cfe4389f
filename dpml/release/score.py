"""Predict with model.json: python score.py new.csv prints each record's label and the probabilities of the classes."""

import csv
import json
import math
import sys
import unicodedata
from bisect import bisect_right
from typing import Any

# NUL, the soft hyphen, joiners, directional and byte order marks, and variation selectors
HIDDEN = (0, 0xAD, 0x34F, 0x61C, 0x180E, 0xFE0E, 0xFE0F, 0xFEFF)
INVISIBLE = dict.fromkeys((*HIDDEN, *range(0x200B, 0x2010), *range(0x202A, 0x202F), *range(0x2060, 0x2070)))


def key(cell: Any) -> float | str | None:
    """Return the value of a cell, equal for all spellings of it, and None for a missing one."""
    text = "" if cell is None else unicodedata.normalize("NFC", str(cell).translate(INVISIBLE)).strip()
    try:
        value = float({"true": "1", "false": "0"}.get(text.lower(), text))
    except ValueError:
        return text or None
    if math.isnan(value):
        return None if text == "nan" else text
    return text if "_" in text else value


def number(cell: Any) -> float:
    """Return a cell's number, NaN where it is none."""
    value = key(cell)
    return value if isinstance(value, float) else math.nan


def group(part: dict[str, Any], record: dict[str, Any]) -> int:
    """Return the group of a record in one attribute."""
    cells = [record.get(name) for name in part["columns"]]
    if part["kind"] == "one-hot":
        return max(range(len(cells)), key=lambda i: number(cells[i]))
    if part["kind"] == "number":
        value = part["gap"] if math.isnan(number(cells[0])) else number(cells[0])
        return bisect_right(part["cuts"], min(max(value, part["lower"]), part["upper"]))
    if part["kind"] == "binary":
        value = part["gap"] if math.isnan(number(cells[0])) else int(number(cells[0]) > 0.5)
        return part["groups"][part["values"].index(value)]
    for value, place in zip(part["values"], part["groups"], strict=True):
        if key(value) == key(cells[0]):
            return place
    return part["groups"][part["values"].index(part["gap"])]


def log_odds(score: float) -> float:
    """Return the log odds that a margin states."""
    return math.copysign(math.log1p(math.exp(-abs(score))) + abs(score) - math.log(2), score)


def probabilities(model: dict[str, Any], record: dict[str, Any]) -> list[float]:
    """Return the probability of each class."""
    cell = 0
    for part in model["grid"]:
        cell = cell * part["size"] + part["group_of"][group(part, record)]
    rows = [model["cells"][cell], *(part["scores"][group(part, record)] for part in model["attributes"])]
    scores = [sum(column) for column in zip(*rows, strict=True)]
    if model["link"] == "margin":
        share = 1 / (1 + math.exp(-model["slope"] * log_odds(scores[0])))
        return [1 - share, share]
    scores = [score - max(scores) for score in scores]
    if model["link"] == "margins":
        scores = [log_odds(score) for score in scores]
    exponentials = [math.exp(model["slope"] * score) for score in scores]
    return [each / sum(exponentials) for each in exponentials]


if __name__ == "__main__":
    with open("model.json", encoding="utf-8") as file:
        model = json.load(file)
    with open(sys.argv[1], encoding="utf-8", newline="") as file:
        for record in csv.DictReader(file):
            shares = probabilities(model, record)
            print(model["classes"][shares.index(max(shares))], *(f"{share:.6f}" for share in shares))
