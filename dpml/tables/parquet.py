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
from dpml.exceptions import InvalidTable, MissingExtra, TableEmpty, TableTooLarge, TableUnreadable
from dpml.tables.text_format import Limits, check_names, check_size

# ---- the caller ----------------------------------------------------------------------------------------------------

# how the process ends when it has said what is wrong
FAULT = 3
PROCESS = "import sys; from dpml.tables.parquet import main; sys.exit(main())"


def read_parquet(content: bytes, name: str, limits: Limits, *, release: bool = False) -> pd.DataFrame:
    """Return the table in the bytes of a Parquet file, or raise the error of the file.

    For a release no cell makes an error, and the type of a column is that of the file's schema, for all cells.
    """
    if importlib.util.find_spec("pyarrow") is None:
        raise MissingExtra("Reading a Parquet file", "pyarrow", "large")
    asked = json.dumps({"name": name, "release": release, **asdict(limits)})
    command = [sys.executable, "-c", PROCESS, asked]
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


# ---- the process ---------------------------------------------------------------------------------------------------


def _bounded(memory: int) -> None:
    """Let the process have no more memory than this; where the system cannot bound it, only statements are checked."""
    try:
        import resource
    except ImportError:
        return
    with open("/proc/self/statm", encoding="ascii") if os.path.exists("/proc/self/statm") else open(os.devnull) as file:
        pages = file.read().split()
    now = int(pages[5]) * resource.getpagesize() if len(pages) > 5 else 1 << 29
    try:
        resource.setrlimit(resource.RLIMIT_DATA, (now + memory, now + memory))
    except (OSError, ValueError):  # a system that has no such limit
        return


def read(content: bytes, name: str, limits: Limits, release: bool = False) -> Any:
    """Return the table as Arrow columns of numbers and dictionaries of texts, or raise the error of the file."""
    import pyarrow as pa
    from pyarrow import parquet

    source = pa.BufferReader(content)
    try:
        file = parquet.ParquetFile(source)
        facts, fields = file.metadata, file.schema_arrow
    except (pa.ArrowException, OSError, ValueError) as error:
        raise TableUnreadable(name, "it begins as a Parquet file and is none: it is damaged or cut") from error
    check_size(name, facts.num_rows, len(fields), limits)
    names = check_names(name, fields.names, limits)
    groups = [facts.row_group(i) for i in range(facts.num_row_groups)]
    if sum(group.total_byte_size for group in groups) > limits.memory:
        raise TableTooLarge(name, f"it says that it takes more than {limits.memory:,} bytes, the most that is read")
    if not facts.num_rows and not release:
        raise TableEmpty(name, "it has columns, and no records")
    for called, field in zip(names, fields, strict=True):
        if pa.types.is_nested(field.type) or _is_binary(pa, field.type):
            cause = f"its cells are of the type {str(field.type)[:60]}: a table has numbers and texts"
            raise TableUnreadable(name, cause, column=called)
    kinds = {f.name: f.type.value_type if pa.types.is_dictionary(f.type) else f.type for f in fields}
    texts = [called for called, kind in kinds.items() if _is_text(pa, kind)]
    try:
        # a text that is written once for a million records is then read once
        file = parquet.ParquetFile(pa.BufferReader(content), read_dictionary=texts)
        columns = [file.read(columns=[field.name], use_threads=False).column(0) for field in fields]
    except (pa.ArrowException, OSError, ValueError, IndexError) as error:
        _out_of_memory(error, name, limits)
        raise TableUnreadable(name, "it is damaged: its columns cannot be read") from error
    plain_columns, distinct, there = [], 0, 0
    for called, column in zip(names, columns, strict=True):
        try:
            plain = _readable(pa, column) if release else _plain(pa, column)
            if release and (pa.types.is_integer(plain.type) or pa.types.is_boolean(plain.type)):
                # as it is where one of its cells is missing
                plain = _plain(pa, pa.chunked_array([plain]).cast(pa.int64()).cast(pa.float64(), safe=False))
        except (pa.ArrowException, ValueError) as error:
            _out_of_memory(error, name, limits)
            raise TableUnreadable(name, "its cells cannot be read as numbers or texts", column=called) from error
        if pa.types.is_dictionary(plain.type) and not release:
            distinct += len(plain.dictionary)
            _check_texts(pa, plain.dictionary, called, name, limits, distinct)
        there += len(plain) - plain.null_count
        plain_columns.append(plain)
    if not there and not release:
        raise TableEmpty(name, f"it has {facts.num_rows:,} records, and not one value in them")
    return pa.table([_without_nulls(pa, column) for column in plain_columns], names=names)


def _out_of_memory(error: Exception, name: str, limits: Limits) -> None:
    if isinstance(error, MemoryError):
        raise TableTooLarge(name, f"it takes more than {limits.memory:,} bytes to read") from error


def _is_text(pa: Any, kind: Any) -> bool:
    return bool(pa.types.is_string(kind) or pa.types.is_large_string(kind) or pa.types.is_string_view(kind))


def _is_binary(pa: Any, kind: Any) -> bool:
    return str(kind).startswith(("binary", "large_binary", "fixed_size_binary", "extension"))


def _readable(pa: Any, column: Any) -> Any:
    """Return a column as `_plain` does, with a null for each cell that cannot be read, as bytes that are no text."""
    try:
        return _plain(pa, column)
    except (pa.ArrowException, ValueError) as error:
        if isinstance(error, MemoryError):
            raise
    if not pa.types.is_dictionary(column.type):
        return _plain(pa, _without_unreadable(pa, column))
    column = column.unify_dictionaries()
    texts = _without_unreadable(pa, pa.chunked_array([column.chunk(0).dictionary])).combine_chunks()
    parts = [pa.DictionaryArray.from_arrays(part.indices, texts) for part in column.chunks]
    return _plain(pa, pa.chunked_array(parts))


def _without_unreadable(pa: Any, column: Any) -> Any:
    def places(start: int, length: int) -> list[int]:
        try:
            _plain(pa, column.slice(start, length))
        except (pa.ArrowException, ValueError):
            half = length // 2
            return places(start, half) + places(start + half, length - half) if half else [start]
        return []

    unreadable = np.zeros(len(column), dtype=bool)
    unreadable[places(0, len(column))] = True
    return pa.compute.if_else(pa.array(unreadable), pa.scalar(None, column.type), column)


def _plain(pa: Any, column: Any) -> Any:
    """Return a column as one array of numbers, of truth values, or of texts in a dictionary without repetitions."""
    column.validate(full=True)
    kind = column.type
    if pa.types.is_dictionary(kind):
        column = column.unify_dictionaries().combine_chunks() if column.num_chunks != 1 else column.chunk(0)
        column = pa.concat_arrays([column]) if not isinstance(column, pa.ChunkedArray) else column.chunk(0)
        if not _is_text(pa, column.type.value_type):  # categories that are numbers
            return _plain(pa, pa.chunked_array([column.dictionary_decode()]))
        values = column.dictionary.cast(pa.string())
        once = values.unique().drop_null()
        order = once.take(pa.compute.sort_indices(once))
        return pa.DictionaryArray.from_arrays(pa.compute.index_in(values, order).take(column.indices), order)
    if pa.types.is_null(kind):
        return column.cast(pa.float64()).combine_chunks()
    if pa.types.is_boolean(kind):
        return column.combine_chunks() if not column.null_count else column.cast(pa.int8()).cast(pa.float64())
    if pa.types.is_integer(kind) and not column.null_count and kind != pa.uint64():
        return column.cast(pa.int64()).combine_chunks()
    if pa.types.is_integer(kind) or pa.types.is_floating(kind) or pa.types.is_decimal(kind):
        numbers = column.cast(pa.float64(), safe=False)
        return pa.compute.if_else(pa.compute.is_finite(numbers), numbers, pa.scalar(None, pa.float64()))
    return _plain(pa, column.cast(pa.string()).dictionary_encode())


def _without_nulls(pa: Any, column: Any) -> Any:
    """Return numbers with NaN where there is none; a dictionary keeps its nulls."""
    if pa.types.is_dictionary(column.type) or not column.null_count:
        return column
    return pa.compute.fill_null(column, float("nan"))


def _check_texts(pa: Any, texts: Any, column: str, name: str, limits: Limits, distinct: int) -> None:
    if distinct > limits.distinct:
        cause = f"with it the table has more than {limits.distinct:,} different texts: leave the column out"
        raise TableTooLarge(name, cause, column=column)
    longest = pa.compute.max(pa.compute.utf8_length(texts)).as_py() or 0
    if longest > limits.field:
        cause = f"a field has {longest:,} characters: at most {limits.field:,} are allowed"
        raise TableTooLarge(name, cause, column=column)


def main() -> int:
    """Read the file from the input, write its columns to the output, and return the exit code."""
    os.environ["ARROW_DEFAULT_MEMORY_POOL"] = "system"  # the others set memory aside that is never used
    request = json.loads(sys.argv[1])
    name, release = request.pop("name"), request.pop("release")
    limits = Limits(**request)
    content = sys.stdin.buffer.read(limits.bytes + 1)
    import pyarrow as pa
    import pyarrow.compute

    _bounded(limits.memory)
    try:
        try:
            table = read(content, name, limits, release)
            with pa.ipc.new_stream(sys.stdout.buffer, table.schema) as stream:
                stream.write_table(table)
        except MemoryError as error:
            raise TableTooLarge(name, f"it takes more than {limits.memory:,} bytes to read") from error
    except InvalidTable as fault:
        answer = {"kind": type(fault).__name__, "cause": fault.cause, "line": fault.line, "column": fault.column}
        sys.stdout.buffer.write(json.dumps(answer).encode())
        return FAULT
    return 0
