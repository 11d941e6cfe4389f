"""Predict with model.json: python score.py new.csv prints each record's label and the probabilities of the classes."""

import csv
import json
import math
import sys
from bisect import bisect_right
from typing import Any


def number(cell: Any) -> float:
    """Return a cell's number, NaN where it is none."""
    try:
        return float(cell)
    except (TypeError, ValueError):
        return math.nan


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
        if str(value) == cells[0] or (not isinstance(value, str) and number(cells[0]) == value):
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
    exponentials = [math.exp(score) for score in scores]
    return [each / sum(exponentials) for each in exponentials]


if __name__ == "__main__":
    with open("model.json", encoding="utf-8") as file:
        model = json.load(file)
    with open(sys.argv[1], encoding="utf-8", newline="") as file:
        for record in csv.DictReader(file):
            shares = probabilities(model, record)
            print(model["classes"][shares.index(max(shares))], *(f"{share:.6f}" for share in shares))
