"""Run a study over a grid of settings and return one tidy table."""

import contextlib
import itertools
import os
from collections.abc import Callable, Mapping, Sequence
from typing import Any

import pandas as pd

from dpml._validate import check_integer
from dpml.datasets import load
from dpml.exceptions import InvalidParameter, SweepCancelled
from dpml.sweep.declaration import DRAWS, Declaration, declared
from dpml.sweep.engine import check_engine, run
from dpml.sweep.memory import bytes_of_cell, check_memory, check_rows, workers_within
from dpml.sweep.plan import Cell, Point, batches, cells_of
from dpml.sweep.progress import Progress
from dpml.sweep.store import Store
from dpml.sweep.summary import summary_of
from dpml.sweep.table import joined, rows_of, settings_of

Study = Callable[..., Mapping[str, Any]]


def sweep(
    study: Study | Mapping[str, Any] | str | os.PathLike,
    grid: Mapping[str, Sequence] | None = None,
    *,
    draws: int | None = None,
    seed: int | None = None,
    n_jobs: int | None = None,
    engine: str | None = None,
    out: str | os.PathLike | None = None,
    memory: int | str | None = None,
    summaries: bool = False,
    progress: Any = None,
    cancel: Any = None,
) -> pd.DataFrame:
    """Run a study at every point of a grid of settings.

    The sweep is declared by a mapping or a YAML file, or it is a callable and a grid. A declaration has the keys
    ``study`` (a name of `dpml.studies.STUDIES`, or a list of names and of mappings with a ``name`` and parameters of
    its own), ``data`` (a name, a mapping of ``name`` and options of `dpml.datasets.load`, or a list of them), and
    parameters of the studies, each a value or a list: ``epsilon``, ``relation``, ``n_features`` and so on. ``draws``
    (50), ``seed`` (0), ``block`` (100: draws of one call) and ``paired`` (true) are single values.

    Every block of draws has a generator of its own, which follows from the seed and the number of the block. So a
    result depends neither on the order of cells nor on workers or engines. All points draw from the same streams
    (common random numbers): draw i of one point is paired with draw i of another, curves over the grid are smooth, and
    differences between points, methods or studies have small standard errors. ``paired: false`` gives each point
    streams of its own. The first block has the generator ``default_rng(seed)``.

    Parameters
    ----------
    study : callable, mapping or path
        A callable ``study(**point, draws=..., rng=...)`` returns a mapping of names to arrays of shape (draws,), or to
        one number for all draws. One call makes all draws of a point.
    grid : mapping of str to sequence
        Of a callable: values of each setting. The grid is their Cartesian product.
    draws, seed : int, optional
        Of a callable: draws at each point (50), and the seed (0). A declaration states its own.
    n_jobs : int, optional
        Number of workers, or -1 for one for each processor. Processes need a study that can be pickled.
    engine : {"serial", "threads", "processes", "dask"}, optional
        Default: processes if there is more than one worker. "dask" uses the open ``distributed.Client`` (extra
        ``distributed``). All give the same numbers, bit for bit.
    out : path, optional
        Of a declaration: a folder that keeps the results as Parquet (extra ``large``). A sweep that was killed goes on
        from there.
    memory : int or str, optional
        Bytes, or a text such as "1 GiB": the most that draws take while they are computed, and the result, beside the
        data themselves; on a cluster, of each thread of a worker. Of a declaration.
    summaries : bool
        Of a declaration: return a row for each point and measure, as `summarise` does, instead of a row for each draw.
    progress : bool or callable, optional
        True: a bar with the time left, in a terminal or a notebook. A callable is called with (cells done, cells in
        all); for a callable study a cell is a point.
    cancel : threading.Event or callable, optional
        Set, or returning true: no further cell is started, and `SweepCancelled` is raised.

    Returns
    -------
    DataFrame
        One row for each point and draw, with the settings, ``draw``, and the study's columns. A declaration's rows
        begin with ``study``, ``data`` and ``relation``. A parameter that a study does not have is missing there.

    Raises
    ------
    InvalidParameter
        If a key or a value is not allowed. It is raised before any computation.
    StoreChanged, StoreDamaged, StoreBusy
        The folder holds another sweep, was damaged, or is in use.
    SweepCancelled, MissingExtra

    See Also
    --------
    declared : Check a declaration.
    summarise : Summarise the table.
    stored : Read the table of a finished sweep.

    Examples
    --------
    >>> import numpy as np
    >>> def study(epsilon, *, draws, rng):
    ...     return {"error": np.abs(rng.laplace(scale=1 / epsilon, size=draws))}
    >>> sweep(study, {"epsilon": [0.1, 1.0]}, draws=100).groupby("epsilon")["error"].mean().round(2).tolist()
    [11.61, 1.16]
    >>> asked = {"study": "naive-bayes", "data": {"name": "toy", "n": 500}, "epsilon": [0.1, 1], "draws": 20}
    >>> table = sweep(asked)
    >>> table.columns.tolist(), len(table)
    (['study', 'data', 'relation', 'epsilon', 'draw', 'accuracy'], 40)
    """
    stop = _stop(cancel)
    engine, n_jobs = check_engine(engine, n_jobs)
    if isinstance(study, (Mapping, str, os.PathLike)):
        stated: dict[str, Any] = {"grid": grid, "draws": draws, "seed": seed}
        for name, value in stated.items():
            if value is not None:
                raise InvalidParameter(name, value, "left out: the declaration states it")
        return _declared(declared(study), engine, n_jobs, out, check_memory(memory), summaries, progress, stop)
    if not callable(study):
        raise InvalidParameter("study", study, "a callable, a mapping, or the path of a YAML file")
    declared_only: dict[str, Any] = {"out": out, "memory": memory, "summaries": summaries or None}
    for name, value in declared_only.items():
        if value is not None:
            allowed = "left out for a callable. To declare the study by name, call dpml.studies.register"
            raise InvalidParameter(name, value, allowed)
    draws = check_integer(DRAWS if draws is None else draws, "draws", 1)
    seed = check_integer(0 if seed is None else seed, "seed", 0)
    cells = [Cell(Point("", {}, "", {}, point), 0, 0, draws, seed) for point in _points(grid)]
    results = _computed([[cell] for cell in cells], study, engine, n_jobs, Progress(progress, len(cells)), stop)
    return pd.concat([_of_callable(cell, results[index][0]) for index, cell in enumerate(cells)], ignore_index=True)


def _points(grid: Any) -> list[dict[str, Any]]:
    if not isinstance(grid, Mapping) or not grid:
        raise InvalidParameter("grid", grid, "a mapping of each setting to its values")
    for name, values in grid.items():
        if isinstance(values, str) or not len(values):
            raise InvalidParameter(f"grid[{name!r}]", values, "a sequence of at least one value")
    return [dict(zip(grid, values, strict=True)) for values in itertools.product(*grid.values())]


def _of_callable(cell: Cell, measures: dict[str, Any]) -> pd.DataFrame:
    # a setting may be a tuple, which is one value
    point = {name: [value] * cell.draws for name, value in cell.point.settings.items()}
    return pd.DataFrame({**point, "draw": range(cell.draws), **measures})


def _stop(cancel: Any) -> Callable[[], bool]:
    if cancel is None:
        return lambda: False
    if callable(getattr(cancel, "is_set", None)):
        return cancel.is_set
    if callable(cancel):
        return cancel
    raise InvalidParameter("cancel", cancel, "a threading.Event or a callable without arguments")


def _computed(
    jobs: Sequence[Sequence[Cell]],
    builds: Any,
    engine: str,
    n_jobs: int,
    progress: Progress,
    stop: Callable[[], bool],
    store: Store | None = None,
) -> dict[int, Any]:
    """Compute batches of cells; return their results, or leave them to the store."""
    outcomes: dict[int, Any] = {}
    asked = [(index, cells) for index, cells in enumerate(jobs) if store is None or not store.has(index)]
    with contextlib.closing(run(asked, builds, engine, n_jobs)) as results, contextlib.closing(progress):
        while progress.done < progress.total:
            if stop():
                raise SweepCancelled(progress.done, progress.total)
            index, values = next(results)
            if store is None:
                outcomes[index] = values
            else:
                store.put(index, values)
            progress.add(len(values))
    return outcomes


def _declared(
    declaration: Declaration,
    engine: str,
    n_jobs: int,
    out: str | os.PathLike | None,
    memory: int | None,
    summaries: bool,
    show: Any,
    stop: Callable[[], bool],
) -> pd.DataFrame:
    cells = list(cells_of(declaration))
    jobs, settings = batches(cells), settings_of(declaration)
    within = _workers(declaration, cells, memory, n_jobs)
    n_jobs = n_jobs if engine == "dask" else within
    rows = sum(cell.draws for cell in cells)
    check_rows(memory, len(cells), rows, len(settings) + 2, summaries, out is not None)
    builds = {name: named.build for name, named in declaration.studies.items()}
    finish = summary_of if summaries else joined
    if out is None:
        results = _computed(jobs, builds, engine, n_jobs, Progress(show, len(cells)), stop)
        return finish((rows_of(job, results.pop(index)) for index, job in enumerate(jobs)), settings)
    with Store(out, declaration, jobs) as store:
        before = sum(len(job) for index, job in enumerate(jobs) if store.has(index))
        _computed(jobs, builds, engine, n_jobs, Progress(show, len(cells), before), stop, store)
        return finish((store.read(index) for index in range(len(jobs))), settings)


def _workers(declaration: Declaration, cells: Sequence[Cell], memory: int | None, n_jobs: int) -> int:
    """Check the declaration against its data sets, one at a time; return how many cells the memory allows at a time."""
    for data in declaration.data:
        dataset = load(**data)
        for cell in cells:
            if cell.block == 0 and cell.point.data == data:
                declaration.studies[cell.point.study].fits(dataset, cell.point.settings)
                n_jobs = workers_within(memory, bytes_of_cell(cell.point, dataset, cell.draws), n_jobs)
    return n_jobs
