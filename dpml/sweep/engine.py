"""Where cells are computed: here, in threads, in processes, or on a Dask cluster. The numbers are the same everywhere.

Each cell has a generator of its own, and linear algebra runs in one thread, because the sums of a product may depend on
the number of threads in their last digit.
"""

import contextlib
import threading
import warnings
from collections import OrderedDict
from collections.abc import Callable, Generator, Mapping, Sequence
from typing import Any

import joblib
import numpy as np
from threadpoolctl import threadpool_limits

from dpml._validate import check_choice
from dpml.exceptions import InvalidParameter, MissingExtra
from dpml.sweep.plan import Cell, generator

ENGINES = ("serial", "threads", "processes", "dask")
# studies that a process keeps: their exact statistics and test records are shared by all cells that need them
MOST_STUDIES = 2
Results = list[dict[str, np.ndarray]]
Builds = Callable[..., Any] | Mapping[str, Callable[..., Any]]

_studies: OrderedDict[tuple, Any] = OrderedDict()
_lock = threading.Lock()
_single = False


class Failed:
    """An error of a worker, sent back as a value: joblib's Dask backend does not report one that is raised."""

    def __init__(self, error: BaseException):
        self.error = error


def study_of(build: Callable[..., Any], cell: Cell) -> Any:
    """Return the study of a cell, with its exact statistics computed once in this process."""
    from dpml.datasets import load

    point = cell.point
    key = (build, point.built_from())
    with _lock:
        if key not in _studies:
            _studies[key] = build(load(**point.data), relation=point.relation, **point.fixed)
            while len(_studies) > MOST_STUDIES:
                _studies.popitem(last=False)
        _studies.move_to_end(key)
        return _studies[key]


def measure(study: Callable[..., Mapping[str, Any]], cell: Cell) -> dict[str, np.ndarray]:
    """Return the measures of one cell, each an array of its draws."""
    rng = generator(cell.seed, cell.block, cell.spawn)
    values = study(**cell.point.settings, draws=cell.draws, rng=rng)
    # of a callable the settings are all that its table has besides
    taken = {*(cell.point.row() if cell.point.study else cell.point.settings), "draw"}
    for name in values:
        if name in taken:
            raise InvalidParameter("measure", name, "a name that is not one of the settings' or 'draw'")
    return {name: np.broadcast_to(np.asarray(v, dtype=float), (cell.draws,)) for name, v in values.items()}


def compute(index: int, cells: Sequence[Cell], builds: Builds, alone: bool) -> tuple[int, Results | Failed]:
    """Return a batch's number and its results. It is what an engine sends to its workers.

    `builds` is a callable study, or what makes each named one.
    """
    global _single
    try:
        if alone and not _single:  # a worker process; in this one `run` has set it
            threadpool_limits(1, user_api="blas")
            _single = True
        return index, [
            measure(builds if callable(builds) else study_of(builds[cell.point.study], cell), cell) for cell in cells
        ]
    except Exception as error:
        return index, Failed(error)


def check_engine(engine: str | None, n_jobs: int | None) -> tuple[str, int]:
    """Return the engine's name and its number of workers; without an engine, more than one worker means processes."""
    number = 1 if n_jobs is None else n_jobs
    if isinstance(number, bool) or not isinstance(number, int) or number == 0:
        raise InvalidParameter("n_jobs", n_jobs, "a whole number of workers, or -1 for one on each processor")
    if engine is None:
        engine = "serial" if number == 1 else "processes"
    check_choice(engine, "engine", ENGINES)
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
    """Compute batches (number, cells) and yield (number, results) as they come, in any order.

    Closing the iterator drops what has not been started.
    """
    if not jobs:
        return
    backend = {"serial": "threading", "threads": "threading", "processes": "loky", "dask": "dask"}[engine]
    apart = engine in ("processes", "dask")
    with contextlib.ExitStack() as stack:
        if not apart:
            stack.enter_context(threadpool_limits(1, user_api="blas"))
        if engine == "serial":
            batches: Any = (compute(*job, builds, False) for job in jobs)
        else:
            stack.enter_context(joblib.parallel_config(backend=backend, n_jobs=n_jobs))
            # one batch a message: a worker that ends takes one batch with it
            parallel = joblib.Parallel(return_as="generator_unordered", batch_size=1, pre_dispatch=2 * n_jobs)
            batches = parallel(joblib.delayed(compute)(*job, builds, apart) for job in jobs)
        try:
            for index, results in batches:
                if isinstance(results, Failed):
                    raise results.error
                yield index, results
        finally:
            with warnings.catch_warnings():
                # joblib counts what is dropped; who stops a sweep knows it
                warnings.filterwarnings("ignore", message=".*tasks", category=UserWarning)
                batches.close()
