"""The command ``python -m dpml sweep study.yaml --out DIR``."""

import argparse
import contextlib
from collections.abc import Callable
from typing import Any

from dpml._commands.signals import sigterm_raised

AGAIN = "After a stop, the same command continues the sweep"


def add_command(commands: Any, say: Callable[[str], None]) -> None:
    """Add the command to a parser's; `say` prints a line."""
    parser = commands.add_parser(
        "sweep",
        help="run the study in a YAML file and save its runs as Parquet",
        description="Run the study in a YAML file. dpml.sweep.sweep describes the format. The results are "
        f"Parquet files in DIR/parts, one row for each run. {AGAIN}.",
    )
    parser.add_argument("study", help="path of the YAML file")
    parser.add_argument("--out", required=True, metavar="DIR", help="folder of the results, empty or from this sweep")
    parser.add_argument(
        "--jobs", type=int, default=None, help="number of workers, or -1 for one per processor (default 1)"
    )
    parser.add_argument(
        "--engine",
        help="engine: serial, threads, processes or dask (default: processes with --jobs, dask with --scheduler)",
    )
    parser.add_argument("--scheduler", metavar="ADDRESS", help="address of a Dask cluster, for example tcp://host:8786")
    parser.add_argument("--memory", help='memory limit for runs and result, for example "1 GiB"')
    parser.add_argument("--quiet", action="store_true", help="hide the progress bar")
    parser.set_defaults(run=lambda arguments: _sweep(arguments, say))


def _sweep(arguments: argparse.Namespace, say: Callable[[str], None]) -> int:
    from dpml.exceptions import InvalidParameter
    from dpml.sweep import sweep

    if not arguments.out.strip():
        raise InvalidParameter("out", arguments.out, "the path of a folder")
    if arguments.engine == "dask" and not arguments.scheduler:
        raise InvalidParameter("engine", "dask", "given with --scheduler, the address of a cluster")
    engine = "dask" if arguments.scheduler and arguments.engine is None else arguments.engine
    with contextlib.ExitStack() as stack:
        # without this, the workers stay for minutes
        stack.enter_context(sigterm_raised())
        if arguments.scheduler:
            stack.enter_context(_client(arguments.scheduler))
        table = sweep(
            arguments.study,
            out=arguments.out,
            n_jobs=arguments.jobs,
            engine=engine,
            memory=arguments.memory,
            summaries=True,
            progress=not arguments.quiet,
        )
    constant = [name for name in ("study", "data", "relation") if table[name].nunique() == 1]
    plain = table.drop(columns=constant)
    say(plain.to_string(index=False, float_format=lambda value: f"{value:.4g}", na_rep=""))
    say(f"{len(table):,} combinations of settings and measures. Every run is in {arguments.out}/parts")
    return 0


def _client(address: str) -> Any:
    """Return a client of the cluster with a scheduler at an address."""
    from dpml.exceptions import InvalidParameter, MissingExtra

    try:
        from distributed import Client
    except ImportError as error:
        raise MissingExtra("--scheduler", "distributed", "distributed") from error
    try:
        return Client(address, timeout="10s")
    except (OSError, ValueError) as error:
        raise InvalidParameter("scheduler", address, f"the address of a running scheduler ({error})") from error
