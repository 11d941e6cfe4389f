"""An unchecked Parquet file, read in a process of its own that has little memory and little time.

The statements of a Parquet file about its size need not be true, and its reader is a large program in C++. So the
statements are checked first. Then the file is read where a lie, or a fault of the reader, ends only that process.
"""

import importlib.util
import json
import os
import subprocess
import sys
from dataclasses import asdict
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd

import dpml.exceptions
from dpml.exceptions import MissingExtra, TableTooLarge, TableUnreadable
from dpml.tables.limits import Limits

# how the process ends when it has said what is wrong
FAULT = 3


def read_parquet(content: bytes, name: str, limits: Limits, *, release: bool = False) -> pd.DataFrame:
    """Return the table in the bytes of a Parquet file, or raise the error of the file.

    For a release no cell makes an error, and the type of a column is that of the file's schema, for all cells.
    """
    if importlib.util.find_spec("pyarrow") is None:
        raise MissingExtra("Reading a Parquet file", "pyarrow", "large")
    asked = json.dumps({"name": name, "release": release, **asdict(limits)})
    command = [sys.executable, "-m", "dpml.tables.parquet_process", asked]
    # the same library as here, wherever it was found
    paths = [str(Path(__file__).parents[2]), os.environ.get("PYTHONPATH", "")]
    options: dict[str, Any] = {"env": {**os.environ, "PYTHONPATH": os.pathsep.join(filter(None, paths))}}
    try:
        ended = subprocess.run(command, input=content, capture_output=True, timeout=limits.seconds, **options)
    except subprocess.TimeoutExpired as error:
        raise TableTooLarge(name, f"it takes more than {limits.seconds:g} seconds to read") from error
    if ended.returncode == FAULT:
        fault = json.loads(ended.stdout)
        raise getattr(dpml.exceptions, fault.pop("kind"))(name, **fault)
    if ended.returncode:
        raise TableUnreadable(name, "it is damaged, or no Parquet file: the program that read it has ended")
    frame = _frame(ended.stdout)
    return _without_long(frame, limits) if release else frame


def _without_long(frame: pd.DataFrame, limits: Limits) -> pd.DataFrame:
    """Return the records of a release, texts as objects; one with a text that is too long is without any value."""
    long = np.zeros(len(frame), dtype=bool)
    for name in frame:
        if isinstance(frame[name].dtype, pd.CategoricalDtype):
            texts = frame[name].cat.categories
            codes = frame[name].cat.codes.to_numpy()
            long |= np.append([len(text) > limits.field for text in texts], False)[codes].astype(bool)
            frame[name] = frame[name].astype(object)
    for name in frame if long.any() else ():
        frame.loc[long, name] = np.nan
    return frame


def _frame(stream: bytes) -> pd.DataFrame:
    import pyarrow

    table = pyarrow.ipc.open_stream(stream).read_all().unify_dictionaries()
    columns: dict[str, Any] = {}
    for name, column in zip(table.column_names, table.columns, strict=True):
        if pyarrow.types.is_dictionary(column.type):
            array = column.combine_chunks()
            codes = array.indices.fill_null(-1).to_numpy(zero_copy_only=False)
            texts = pd.Index(array.dictionary.to_pylist(), dtype=object)
            columns[name] = pd.Categorical.from_codes(codes, categories=texts)
        else:
            columns[name] = column.to_numpy()
    return pd.DataFrame(columns)
