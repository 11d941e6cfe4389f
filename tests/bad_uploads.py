"""Files that somebody might give, each with one fault, and what may come of it: the errors that name it, or a table."""

import bz2
import gzip
import io
import lzma
import zipfile

import numpy as np
import pandas as pd

from dpml.exceptions import TableEmpty, TableNames, TableRagged, TableTooLarge, TableUnreadable

# small, so that what is beyond them is small, too
LIMITS = {
    "bytes": 400_000,
    "rows": 3_000,
    "columns": 40,
    "cells": 30_000,
    "field": 500,
    "line": 5_000,
    "distinct": 9_000,
    "memory": 30_000_000,
}
READ = None
DELIMITERS = ",;\t|"
HIDDEN = "\u202e\u200b\x07"
SCRIPT = "<script>alert(1)</script>"


def table(rng, rows=None):
    rows = int(rng.integers(2, 60)) if rows is None else rows
    columns = {"age": rng.integers(18, 90, rows).astype(str)}
    columns["plan"] = rng.choice(["basic", "family", "business"], rows)
    for i in range(int(rng.integers(0, 4))):
        columns[f"x{i}"] = np.char.mod("%.3f", rng.normal(size=rows))
    columns["label"] = rng.choice(["stays", "leaves"], rows)
    return pd.DataFrame(columns)


def lines_of(frame, rng):
    end, mark = str(rng.choice(["\n", "\r\n"])), str(rng.choice(list(DELIMITERS)))
    rows = [mark.join(frame.columns), *(mark.join(row) for row in frame.to_numpy(dtype=str).tolist())]
    return rows, mark, end


def text(frame, rng):
    rows, _mark, end = lines_of(frame, rng)
    return end.join(rows) + end


def with_cell(rng, cell):
    frame = table(rng)
    frame.iloc[int(rng.integers(len(frame))), int(rng.integers(frame.shape[1]))] = cell
    return text(frame, rng).encode()


def with_name(rng, name):
    frame = table(rng)
    names = list(frame.columns)
    names[int(rng.integers(len(names)))] = name
    return text(frame.set_axis(names, axis=1), rng).encode()


def with_line(rng, change):
    rows, mark, end = lines_of(table(rng), rng)
    at = int(rng.integers(1, len(rows)))
    rows[at] = change(rows[at], mark)
    return end.join(rows).encode()


def parquet(frame, **options):
    written = io.BytesIO()
    frame.to_parquet(written, **options)
    return written.getvalue()


def zipped(rng):
    written = io.BytesIO()
    with zipfile.ZipFile(written, "w", zipfile.ZIP_DEFLATED) as archive:
        archive.writestr("table.csv", b"0" * int(rng.integers(10**6, 10**7)))
    return written.getvalue()


def flipped(rng):
    content = bytearray(parquet(table(rng)))
    for at in rng.integers(4, len(content) - 4, int(rng.integers(1, 20))):
        content[int(at)] = int(rng.integers(256))
    return bytes(content)


def constant(rng):
    """Little in the file, much in memory: as many records as are allowed, and more memory than is."""
    rows = int(rng.integers(3_500, 9_000_000))
    return parquet(pd.DataFrame({"a": np.zeros(rows), "b": np.zeros(rows, dtype=np.int64)}), compression="zstd")


def long_texts(rng):
    return parquet(pd.DataFrame({"a": ["x" * int(rng.integers(501, 5000))] * 100}))


def nested(rng):
    return parquet(pd.DataFrame({"a": [[1, 2]] * 5, "b": range(5)}))


def missing(rng, columns):
    frame = table(rng).astype(object)
    frame[frame.columns[:columns]] = str(rng.choice(["", "NA", "NaN", "?", "null"]))
    return text(frame, rng).encode()


# what is wrong: how such a file is made, and what may come of it
FAULTS = {
    "empty": (lambda rng: b" \n" * int(rng.integers(0, 9)), {TableEmpty}),
    "names alone": (lambda rng: text(table(rng).iloc[:0], rng).encode(), {TableEmpty}),
    "no names": (lambda rng: b"1,2,3\n" * int(rng.integers(2, 20)), {READ}),
    "another encoding": (lambda rng: with_cell(rng, "Zoë").decode().encode("cp1252"), {READ}),
    "half a character": (lambda rng: with_cell(rng, "x").strip() + "é".encode()[:1], {TableUnreadable}),
    "cut UTF-16": (lambda rng: text(table(rng), rng).encode("utf-16")[:-1], {TableUnreadable}),
    "UTF-16": (lambda rng: text(table(rng), rng).encode("utf-16"), {READ}),
    "mark of UTF-8": (lambda rng: text(table(rng), rng).encode("utf-8-sig"), {READ}),
    "NUL": (lambda rng: with_cell(rng, "a\0b"), {TableUnreadable}),
    "noise": (lambda rng: rng.bytes(int(rng.integers(10, 3000))) + b"\xff\0", {TableUnreadable}),
    "a field too many": (lambda rng: with_line(rng, lambda line, mark: f"{line}{mark}1"), {TableRagged}),
    "a field too few": (lambda rng: with_line(rng, lambda line, mark: line.rpartition(mark)[0]), {TableRagged}),
    "an open quotation": (lambda rng: with_cell(rng, '"open'), {TableUnreadable, TableTooLarge}),
    "text behind a quotation": (lambda rng: with_cell(rng, '"a"b'), {TableUnreadable}),
    "a huge field": (lambda rng: with_cell(rng, "x" * int(rng.integers(501, 4000))), {TableTooLarge}),
    "a huge line": (lambda rng: with_cell(rng, "x" * int(rng.integers(6000, 200_000))), {TableTooLarge}),
    "a huge file": (lambda rng: text(table(rng, 3000), rng).encode() * 20, {TableTooLarge}),
    "many records": (lambda rng: b"a,b\n" + b"1,2\n" * int(rng.integers(3001, 9000)), {TableTooLarge}),
    "many columns": (lambda rng: ",".join(f"c{i}" for i in range(60)).encode() + b"\n", {TableTooLarge}),
    "many cells": (lambda rng: (",".join("abcdefghijklmnopqrst") + "\n").encode() + b"1" + b",1" * 19 + b"\n"
                   + (b"1" + b",1" * 19 + b"\n") * int(rng.integers(1600, 2900)), {TableTooLarge}),
    "many texts": (lambda rng: ("a,b,c,d\n" + "".join(f"w{i},x{i},y{i},z{i}\n" for i in range(2900))).encode(),
                   {TableTooLarge}),
    "commas alone": (lambda rng: b"," * int(rng.integers(60, 4000)), {TableTooLarge}),
    "a name twice": (lambda rng: text(pd.concat([table(rng), table(rng)[["age"]]], axis=1).dropna(), rng).encode(),
                     {READ, TableEmpty}),
    "a name twice but for spaces": (lambda rng: with_name(rng, "x9").replace(b"x9", b" age ") + b"",
                                    {TableNames, READ}),
    "no name": (lambda rng: with_name(rng, ""), {READ}),
    "markup in a name": (lambda rng: with_name(rng, str(rng.choice([SCRIPT, "<img src=x onerror=y>", "</p>"]))),
                         {TableNames, TableUnreadable}),
    "a hidden sign in a name": (lambda rng: with_name(rng, "a" + HIDDEN[int(rng.integers(3))] + "b"), {TableNames}),
    "a huge name": (lambda rng: with_name(rng, "n" * int(rng.integers(201, 900))), {TableNames}),
    "markup in a cell": (lambda rng: with_cell(rng, SCRIPT), {READ}),
    "a formula in a cell": (lambda rng: with_cell(rng, str(rng.choice(["=1+1", "+cmd|' /C calc'!A0", "@SUM(1)"]))),
                            {READ, TableRagged}),
    "a formula as a name": (lambda rng: with_name(rng, "=1+1"), {READ}),
    "a number too large": (lambda rng: with_cell(rng, f"{rng.choice(['', '-'])}1e999"), {READ}),
    "infinity": (lambda rng: with_cell(rng, str(rng.choice(["inf", "-Infinity", "1_000", "٣"]))), {READ}),
    "nothing but missing values": (lambda rng: missing(rng, 99), {TableEmpty}),
    "a column of missing values": (lambda rng: missing(rng, 1), {READ}),
    "one class": (lambda rng: text(table(rng).assign(label="stays"), rng).encode(), {READ}),
    "blank lines": (lambda rng: with_line(rng, lambda line, mark: f"\n{line}\n\n"), {READ}),
    "a zip bomb": (zipped, {TableUnreadable}),
    "gzip": (lambda rng: gzip.compress(b"0" * 10**6), {TableUnreadable}),
    "bzip2": (lambda rng: bz2.compress(b"0" * 10**6), {TableUnreadable}),
    "xz": (lambda rng: lzma.compress(b"0" * 10**6), {TableUnreadable}),
    "a page": (lambda rng: f"<!doctype html><p>{rng.integers(99)}".encode(), {TableUnreadable}),
    "JSON": (lambda rng: table(rng).to_json(orient="records").encode(), {TableUnreadable}),
    "Parquet": (lambda rng: parquet(table(rng)), {READ}),
    "cut Parquet": (lambda rng: (lambda c: c[: int(rng.integers(4, len(c)))])(parquet(table(rng))), {TableUnreadable}),
    "Parquet with other bytes": (flipped, {READ, TableUnreadable, TableTooLarge, TableNames, TableEmpty}),
    "Parquet that says it is a billion": (constant, {TableTooLarge}),
    "Parquet of long texts": (long_texts, {TableTooLarge}),
    "Parquet of lists": (nested, {TableUnreadable}),
    "Parquet without a value": (lambda rng: parquet(pd.DataFrame({"a": [None] * 3, "b": [np.nan] * 3})), {TableEmpty}),
    "Parquet with markup in a name": (lambda rng: parquet(table(rng).rename(columns={"age": SCRIPT})), {TableNames}),
}  # fmt: skip


def upload(number):
    """Return the fault, the bytes and what may come of it, of one of as many files as are wanted."""
    kind = list(FAULTS)[number % len(FAULTS)]
    make, expected = FAULTS[kind]
    return kind, make(np.random.default_rng(number)), expected
