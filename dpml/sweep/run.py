"""Run a study over a grid of settings, on one of four engines, and return one tidy table.

All engines give the same numbers. Each cell has a generator of its own, and linear algebra runs in one thread, because
the sums of a product may depend on the number of threads in their last digit.
"""

import contextlib
import itertools
import os
import re
import threading
import warnings
from collections import OrderedDict
from collections.abc import Callable, Generator, Mapping, Sequence
from typing import Any

import joblib
import numpy as np
import pandas as pd
from threadpoolctl import threadpool_limits

from dpml._validate import check_choice, check_integer
from dpml.classifiers.linear_models import BLOCK_CELLS
from dpml.datasets import load
from dpml.exceptions import InvalidParameter, MissingExtra, SweepCancelled
from dpml.sweep.declaration import DRAWS, Cell, Declaration, Point, batches, cells_of, declared, generator
from dpml.sweep.store import Store
from dpml.sweep.table import joined, rows_of, settings_of, summary_of

ENGINES = {"serial": "threading", "threads": "threading", "processes": "loky", "dask": "dask"}
# studies that a process keeps: their exact statistics and test records are shared by all cells that need them
MOST_STUDIES = 2
UNITS = {"": 1, "B": 1, "KIB": 2**10, "MIB": 2**20, "GIB": 2**30, "KB": 10**3, "MB": 10**6, "GB": 10**9}
# arrays of (draws, C, D) that a release, its threshold, its logarithms and the models hold at the same time
ARRAYS_OF_COUNTS = 12
# arrays of (draws, test records) for an AUC: decisions, their ranks, and space to sort them
ARRAYS_OF_RECORDS = 8
NUMBER, BYTES_OF_PLAN = 8, 400  # bytes of a number, and of a cell that waits

Study = Callable[..., Mapping[str, Any]]
Builds = Callable[..., Any] | Mapping[str, Callable[..., Any]]
Results = list[dict[str, np.ndarray]]

_studies: OrderedDict[tuple, Any] = OrderedDict()
_lock = threading.Lock()
_single = False


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

    Declare the sweep by a mapping or a YAML file, or pass a callable and a grid. A declaration has the keys ``study``
    (a name of `dpml.studies.STUDIES`, or a list of names and of mappings with a ``name`` and parameters of its own),
    ``data`` (a name, a mapping of ``name`` and options of `dpml.datasets.load`, or a list of them), and parameters of
    the studies, each a value or a list: ``epsilon``, ``relation``, ``n_features`` and so on. ``draws`` (50), ``seed``
    (0), ``block`` (100: draws of one call) and ``paired`` (true) are single values.

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
        Of a declaration: a folder that keeps the results as Parquet (extra ``large``). The same call resumes a sweep
        that was killed.
    memory : int or str, optional
        Of a declaration: bytes, or a text such as "1 GiB". It bounds the memory of the draws and of the result, in
        addition to the data; on a cluster, for each thread of a worker.
    summaries : bool
        Of a declaration: return a row for each point and measure, as `summarise` does, instead of a row for each draw.
    progress : bool or callable, optional
        True: a bar with the time left, in a terminal or a notebook. A callable is called with (cells done, cells in
        all); for a callable study a cell is a point.
    cancel : threading.Event or callable, optional
        Once it is set or returns true, no further cell is started, and `SweepCancelled` is raised.

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
        If the folder holds another sweep, was damaged, or is in use.
    SweepCancelled, MissingExtra
        If `cancel` ends the sweep, or an engine or a folder needs a package that is not installed.

    See Also
    --------
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
    stop = (lambda: False) if cancel is None else getattr(cancel, "is_set", cancel)
    if not callable(stop):
        raise InvalidParameter("cancel", cancel, "a threading.Event or a callable without arguments")
    engine, n_jobs = _check_engine(engine, n_jobs)
    if isinstance(study, (Mapping, str, os.PathLike)):
        _refuse({"grid": grid, "draws": draws, "seed": seed}, "left out: the declaration states it")
        return _declared(declared(study), engine, n_jobs, out, _check_memory(memory), summaries, progress, stop)
    if not callable(study):
        raise InvalidParameter("study", study, "a callable, a mapping, or the path of a YAML file")
    allowed = "left out for a callable. To declare the study by name, call dpml.studies.register"
    _refuse({"out": out, "memory": memory, "summaries": summaries or None}, allowed)
    draws = check_integer(DRAWS if draws is None else draws, "draws", 1)
    seed = check_integer(0 if seed is None else seed, "seed", 0)
    cells = [Cell(Point("", {}, "", {}, point), 0, 0, draws, seed) for point in _points(grid)]
    results = _computed([[cell] for cell in cells], study, engine, n_jobs, _Progress(progress, len(cells)), stop)
    return rows_of(cells, [results[index][0] for index in range(len(cells))])


def _refuse(options: Mapping[str, Any], allowed: str) -> None:
    for name, value in options.items():
        if value is not None:
            raise InvalidParameter(name, value, allowed)


def _points(grid: Any) -> list[dict[str, Any]]:
    """Return the points of a callable's grid."""
    if not isinstance(grid, Mapping) or not grid:
        raise InvalidParameter("grid", grid, "a mapping of each setting to its values")
    for name, values in grid.items():
        if isinstance(values, str) or not len(values):
            raise InvalidParameter(f"grid[{name!r}]", values, "a sequence of at least one value")
    return [dict(zip(grid, values, strict=True)) for values in itertools.product(*grid.values())]


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
    """Return the table of a declaration, or its summaries."""
    cells = list(cells_of(declaration))
    jobs, settings = batches(cells), settings_of(declaration)
    within = _workers_within(memory, declaration, cells, n_jobs)
    n_jobs = n_jobs if engine == "dask" else within
    _check_result(memory, cells, len(settings) + 2, summaries, out is not None)
    builds = {name: named.build for name, named in declaration.studies.items()}
    finish = summary_of if summaries else joined
    if out is None:
        results = _computed(jobs, builds, engine, n_jobs, _Progress(show, len(cells)), stop)
        return finish((rows_of(job, results.pop(index)) for index, job in enumerate(jobs)), settings)
    with Store(out, declaration, jobs) as store:
        before = sum(len(job) for index, job in enumerate(jobs) if store.has(index))
        _computed(jobs, builds, engine, n_jobs, _Progress(show, len(cells), before), stop, store)
        return finish((store.read(index) for index in range(len(jobs))), settings)


def _computed(
    jobs: Sequence[Sequence[Cell]],
    builds: Builds,
    engine: str,
    n_jobs: int,
    progress: "_Progress",
    stop: Callable[[], bool],
    store: Store | None = None,
) -> dict[int, Results]:
    """Compute batches of cells and return their results, or write them to the store."""
    outcomes: dict[int, Results] = {}
    waiting = [(index, cells) for index, cells in enumerate(jobs) if store is None or not store.has(index)]
    with contextlib.closing(run(waiting, builds, engine, n_jobs)) as results, contextlib.closing(progress):
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


class _Progress:
    """The number of cells that are done, shown on a bar (True), by ``callback(done, total)``, or not (None, False)."""

    def __init__(self, show: Any, total: int, before: int = 0):
        self.total, self.done = total, before
        self._call, self._bar = show if callable(show) else None, None
        if show is True:
            from tqdm.auto import tqdm

            self._bar = tqdm(total=total, initial=before, unit="cell", mininterval=0.5)
        elif show is not None and show is not False and self._call is None:
            raise InvalidParameter("progress", show, "True, None or a callable of (cells done, cells in all)")

    def add(self, cells: int) -> None:
        """Count cells that are done."""
        for _ in range(cells):
            self.done += 1
            if self._call is not None:
                self._call(self.done, self.total)
        if self._bar is not None:
            self._bar.update(cells)

    def close(self) -> None:
        """Leave the bar as it is."""
        if self._bar is not None:
            self._bar.close()


# ---- engines --------------------------------------------------------------------------------------------------------


def _check_engine(engine: str | None, n_jobs: int | None) -> tuple[str, int]:
    """Return the engine's name and its number of workers; without an engine, more than one worker means processes."""
    number = 1 if n_jobs is None else n_jobs
    if isinstance(number, bool) or not isinstance(number, int) or number == 0:
        raise InvalidParameter("n_jobs", n_jobs, "a whole number of workers, or -1 for one on each processor")
    if engine is None:
        engine = "serial" if number == 1 else "processes"
    check_choice(engine, "engine", tuple(ENGINES))
    number = max(1, joblib.cpu_count() + 1 + number) if number < 0 else number
    if engine == "dask":
        try:
            import distributed
        except ImportError as error:
            raise MissingExtra("engine='dask'", "distributed", "distributed") from error
        try:
            number = max(1, sum(distributed.get_client().nthreads().values()))
        except ValueError as error:
            raise InvalidParameter("engine", engine, "used while a distributed.Client is open") from error
    return engine, 1 if engine == "serial" else number


def run(
    jobs: Sequence[tuple[int, Sequence[Cell]]], builds: Builds, engine: str, n_jobs: int
) -> Generator[tuple[int, Results], None, None]:
    """Compute batches (number, cells) and yield (number, results) in any order; closing drops what has not started."""
    if not jobs:
        return
    remote = engine in ("processes", "dask")
    with contextlib.ExitStack() as stack:
        if not remote:
            stack.enter_context(threadpool_limits(1, user_api="blas"))
        if engine == "serial":
            batches: Any = (_compute(*job, builds, False) for job in jobs)
        else:
            stack.enter_context(joblib.parallel_config(backend=ENGINES[engine], n_jobs=n_jobs))
            # one batch a message: a worker that ends takes one batch with it
            parallel = joblib.Parallel(return_as="generator_unordered", batch_size=1, pre_dispatch=2 * n_jobs)
            batches = parallel(joblib.delayed(_compute)(*job, builds, remote) for job in jobs)
        try:
            for index, results in batches:
                if isinstance(results, _Failed):
                    raise results.error
                yield index, results
        finally:
            with warnings.catch_warnings():
                # joblib warns of dropped tasks, which is what closing asks for
                warnings.filterwarnings("ignore", message=".*tasks", category=UserWarning)
                batches.close()


class _Failed:
    """An error of a worker, returned as a value, because joblib's Dask backend does not report one that is raised."""

    def __init__(self, error: BaseException):
        self.error = error


def _compute(index: int, cells: Sequence[Cell], builds: Builds, remote: bool) -> tuple[int, Results | _Failed]:
    """Return a batch's number and its results, in a worker; `builds` is a callable study, or builds each named one."""
    global _single
    try:
        if remote and not _single:
            threadpool_limits(1, user_api="blas")
            _single = True
        return index, [
            measure(builds if callable(builds) else _study_of(builds[cell.point.study], cell.point), cell)
            for cell in cells
        ]
    except Exception as error:
        return index, _Failed(error)


def _study_of(build: Callable[..., Any], point: Point) -> Any:
    """Return the study of a point, with its exact statistics computed once in this process."""
    key = (build, point.built_from())
    with _lock:
        if key not in _studies:
            _studies[key] = build(load(**point.data), relation=point.relation, **point.fixed)
            while len(_studies) > MOST_STUDIES:
                _studies.popitem(last=False)
        _studies.move_to_end(key)
        return _studies[key]


def measure(study: Study, cell: Cell) -> dict[str, np.ndarray]:
    """Return the measures of one cell, each an array of its draws."""
    rng = generator(cell.seed, cell.block, cell.spawn)
    values = study(**cell.point.settings, draws=cell.draws, rng=rng)
    for name in values:
        if name in (*cell.point.row(), "draw"):
            raise InvalidParameter("measure", name, "a name that is not one of the settings' or 'draw'")
    return {name: np.broadcast_to(np.asarray(v, dtype=float), (cell.draws,)) for name, v in values.items()}


# ---- memory ---------------------------------------------------------------------------------------------------------


def _check_memory(memory: Any) -> int | None:
    """Return a limit in bytes, from a number of bytes or a text such as "1.5 GiB"."""
    if memory is None:
        return None
    if isinstance(memory, str):
        match = re.fullmatch(r"\s*([0-9]{1,12}(?:\.[0-9]{1,6})?)\s*([A-Za-z]*)\s*", memory)
        if not match or match[2].upper() not in UNITS:
            raise InvalidParameter("memory", memory, 'a number of bytes, or a text such as "512 MiB" or "1 GiB"')
        memory = int(float(match[1]) * UNITS[match[2].upper()])
    return check_integer(memory, "memory", 1)


def _workers_within(memory: int | None, declaration: Declaration, cells: Sequence[Cell], n_jobs: int) -> int:
    """Check the declaration against its data sets, and return how many cells the memory allows at a time.

    A cell holds the models of naive Bayes on D binary columns and C classes. A raw table counts as its binary columns.
    """
    for data in declaration.data:
        dataset = load(**data)
        C, D, tested = dataset.schema.n_classes, dataset.schema.n_features, len(dataset.y_test)
        for cell in cells:
            if cell.block == 0 and cell.point.data == data:
                settings, draws = cell.point.settings, cell.draws
                declaration.studies[cell.point.study].fits(dataset, settings)
                scored = 3 * max(BLOCK_CELLS, 64 * draws * C)
                ranked = ARRAYS_OF_RECORDS * draws * tested * max(C - 1, 1) if settings.get("auc") else 0
                needed = NUMBER * (ARRAYS_OF_COUNTS * draws * C * D + scored + ranked)
                if memory is not None:
                    if needed > memory:
                        allowed = f"at least {needed:,} bytes for one block of draws, or a smaller block"
                        raise InvalidParameter("memory", memory, allowed)
                    n_jobs = min(n_jobs, memory // needed)
    return n_jobs


def _check_result(memory: int | None, cells: Sequence[Cell], columns: int, summaries: bool, stored: bool) -> None:
    """Check that the memory holds the result: the tidy table, or the measures that its summaries wait for."""
    rows = sum(cell.draws for cell in cells)
    # a table takes its memory twice while its columns get their types
    needed = NUMBER * rows * (2 * columns if not summaries else 0 if stored else 2) + BYTES_OF_PLAN * len(cells)
    if memory is not None and needed > memory:
        remedy = "summaries" if not summaries else "a folder (out)"
        raise InvalidParameter("memory", memory, f"at least {needed:,} bytes for {rows:,} rows, or ask for {remedy}")
