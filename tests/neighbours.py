"""Neighbouring tables for the tests of wholes, and the loop that looks for the dearest of them.

A seeded generator makes sixteen for each, and six where a call takes long; with ``DPML_NEIGHBOURS=10000`` that many.
With ``DPML_WORST=FILE`` the largest ratio of each test is added to a file.
"""

import csv
import io
import os
import zlib

import numpy as np
import pandas as pd
from scipy import sparse

from dpml.schema import Feature, Schema

EXAMPLES, OF_LONG = (int(os.environ.get("DPML_NEIGHBOURS", usual)) for usual in ("16", "6"))
EPSILONS = (1.0, 0.1, 4.0)
RELATIONS = ("add-remove", "replace-one")
CLASSES = ("a", "b", "c")
ODD_CELLS = (np.nan, 2, -1, 0.5)
ODD_LABELS = ("d", None, 7, np.nan)


class Rolled:
    """Choices by a seeded generator."""

    def __init__(self, seed):
        self.rng = np.random.default_rng(seed)

    def among(self, options):
        return options[self.rng.integers(len(options))]


def worst_ratio(name, ratio_of, examples=EXAMPLES):
    """Return the largest ``ratio_of(pick)`` of recorded cost over charge, which must be at most 1."""
    worst = 0.0
    for example in range(examples):
        ratio = ratio_of(Rolled([zlib.crc32(name.encode()), example]))
        assert ratio <= 1 + 1e-9, f"example {example} of {name}: {ratio}"
        worst = max(worst, ratio)
    if path := os.environ.get("DPML_WORST"):
        with open(path, "a", encoding="utf-8") as file:
            file.write(f'"{name}",{examples},{worst:.12g}\n')
    return worst


def two_sides(pick, relation, n, record):
    """Return two lists of records that differ in the last one."""
    common = [record() for _ in range(n)]
    sides = [common + ([record()] if relation == "replace-one" else []), [*common, record()]]
    return sides[::-1] if pick.among((False, True)) else sides


def tables(pick, kind, classes=(2, 2, 3), containers=("dense", "sparse", "frame"), sizes=range(8)):
    """Return two tables that differ in the last record, with the options they are fitted under."""
    C, D = pick.among(classes), pick.among((2, 3, 4))
    relation, clip = pick.among(RELATIONS), pick.among((False, True))
    n = pick.among(sizes)
    public = {"n_lower": pick.among((1, 2, 6))}
    if not clip:
        n = max(n, public["n_lower"])  # a table that contradicts its schema is an error where nothing is clipped
    if relation == "replace-one" and pick.among((False, True)):
        public["n_rows"] = max(n + 1, public["n_lower"])
    row_bound = pick.among((None, 2)) if kind == "binary" else None
    schema = Schema(_features(kind, D), CLASSES[:C], row_bound, **public)

    def record():
        cells = [_cell(pick, f, clip) for f in schema.features]
        if not clip and row_bound:
            for i in [i for i, cell in enumerate(cells) if cell][row_bound:]:
                cells[i] = 0.0
        odd = clip and pick.among(range(6)) == 5
        return cells, pick.among(ODD_LABELS if odd else schema.classes)

    sides = two_sides(pick, relation, n, record)
    container = pick.among(containers if kind == "binary" else ("dense", "frame"))
    shared = {"schema": schema, "relation": relation, "on_invalid": "clip" if clip else "raise"}
    return *(_table(rows, schema, container) for rows in sides), shared


def _features(kind, D):
    if kind == "binary":
        return tuple(Feature(f"x{i}") for i in range(D))
    numbers = [Feature(f"x{i}", "numeric", lower=lower, upper=upper) for i, lower, upper in ((0, -1, 3), (2, 0, 1))]
    words = [Feature("x3", "categorical", categories=("u", "v", "w"))] if kind == "mixed" else []
    return (numbers[0], Feature("x1"), numbers[1], *words)


def _cell(pick, feature, clip):
    if clip and pick.among(range(12)) == 11:
        return pick.among(ODD_CELLS)
    return pick.among(ends_of(feature) if feature.kind != "numeric" else (*ends_of(feature), 0.0, 0.25))


def ends_of(feature):
    """Return values of a feature from one end of its domain to the other."""
    if feature.kind == "categorical":
        return feature.categories
    return (feature.lower, feature.upper) if feature.kind == "numeric" else (0.0, 1.0)


def _table(rows, schema, container):
    labels = np.empty(len(rows), dtype=object)
    labels[:] = [label for _, label in rows]
    cells = [cells for cells, _ in rows]
    if container == "frame":
        return pd.DataFrame(cells, columns=schema.feature_names), labels
    array = np.array(cells, dtype=float if schema.is_binary else object).reshape(len(rows), schema.n_features)
    return (sparse.csr_array(array) if container == "sparse" else array), labels


# ---- two lists of records, rebuilt as pandas or NumPy makes them -----------------------------------------------------

DOMAINS = ((0, 1, 2), ("u", "v", "w"), ("0", "1", "2"), (0.5, 1, 2), ("é", "b 1", "True"))
LABELS = ((0, 1), (0, 1, 2), ("a", "b"), ("0", "1"), (False, True), ("1", "b", "c"))
PAIRS = [labels for labels in LABELS if len(labels) == 2]
# what one more cell of a file or of a list may be: it changes the type of its column
IN_FILES = ("x", "", "True", "0.5", "1", " 1", "1e400", "9007199254740993", "18446744073709551616", "é", "NA", "nan")
IN_FILES += ("inf", "1_0", "(1+0j)", "2020-01-01", "-", "e\u0301 ", "0" * 30 + "1", "1" * 25)
IN_LISTS = ("x", b"x", b"1", 1j, 1 + 0j, True, None, np.nan, 0.5, 2**60, 2**63, 10**30, "nan", np.int8(1), "1", "é")
IN_LISTS += (np.str_("0"), np.bool_(False), np.timedelta64(1, "D"), np.datetime64("2020-01-01"), [1], "")


def rebuilt_tables(pick, kind, labels=LABELS):
    """Return two tables (X, y) that one odd record tells apart, as `rebuilt` makes them, with the fit's options."""
    names = [f"x{i}" for i in range(pick.among((2, 3)))]
    features = [Feature(name) for name in names]
    if kind != "binary":
        features[0] = Feature("x0", "numeric", lower=-1, upper=3, missing=pick.among((None, 0.25)))
    if kind == "mixed":
        domain = pick.among(DOMAINS)
        features.append(Feature("x3", "categorical", domain, missing=pick.among((None, domain[-1]))))
    relation, n, null, whole = map(pick.among, (RELATIONS, (1, 3, 6, 15), (None, np.nan), (False, True)))
    public = {"n_rows": n + 1} if relation == "replace-one" else {}
    schema = Schema(features, pick.among(labels), **public)

    def record():
        ends = [(0, 1) if whole and f.kind == "binary" else ends_of(f) for f in schema.features]
        return [
            *(pick.among(two if pick.among(range(9)) else (*two, null)) for two in ends),
            pick.among(schema.classes),
        ]

    sides, width = rebuilt(pick, relation, n, record, schema.feature_names), len(schema.features)
    if isinstance(sides[0], pd.DataFrame):
        two = [(side[schema.feature_names], side["label"]) for side in sides]
    else:
        two = [(side[:, :width], side[:, width]) for side in sides]
    return *two, {"schema": schema, "relation": relation, "on_invalid": "clip"}


def any_tables(pick, kind, classes=(2, 2, 3), containers=("dense", "sparse", "frame"), sizes=range(8)):
    """Return two neighbouring tables with the options they are fitted under; one time in three they are rebuilt."""
    if pick.among((False, False, True)):
        return rebuilt_tables(pick, kind, LABELS if 3 in classes else PAIRS)
    return tables(pick, kind, classes, containers, sizes)


def rebuilt(pick, relation, n, record, names, ends=("label",)):
    """Return two tables that pandas read from a file or NumPy made of a list, which differ in one record of odd cells.

    The record is the first, the middle or the last one.
    """
    rows, at, in_file = [record() for _ in range(n)], pick.among((0, n // 2, n)), pick.among((False, True))
    cells = record()
    odd = [pick.among(IN_FILES if in_file else IN_LISTS) if pick.among((True, True, False)) else cell for cell in cells]
    sides = [[*rows[:at], *middle, *rows[at:]] for middle in ([cells] if relation == "replace-one" else [], [odd])]
    header = [*names, *ends]
    try:
        tables = [_read(side, header) if in_file else np.array(side) for side in sides]
    except (ValueError, OverflowError):  # NumPy makes no table of these
        tables = [_objects(side, len(header)) for side in sides]
    return tables[::-1] if pick.among((False, True)) else tables


def _read(rows, header):
    file = io.StringIO(newline="")
    csv.writer(file).writerows([header, *rows])
    file.seek(0)
    return pd.read_csv(file)


def _objects(rows, width):
    table = np.empty((len(rows), width), dtype=object)
    for i, row in enumerate(rows):
        for j, cell in enumerate(row):
            table[i, j] = cell
    return table
