"""Calls as a person would write them: by the names of arguments and settings, repeated ones in a loop."""

from __future__ import annotations

import inspect
from collections import Counter
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from dpml_app.code.plain import WIDTH, literal
from dpml_app.core.card import Place
from dpml_app.work.pool import Chunk

__all__ = ["called", "imported", "written", "written_call"]

# what a data set is called as an argument
NAMES = ("name", "dataset")


def called(functions: Iterable[Callable[..., Any]]) -> dict[Callable[..., Any], str]:
    """Return what each function is called in a script: by its own name, after its module's where two have the same.

    Examples
    --------
    >>> from dpml_app.data.measures import accuracy, facts
    >>> from dpml_app.pages.select import compute
    >>> list(called([accuracy, compute.accuracy, facts]).values())
    ['data_accuracy', 'compute_accuracy', 'facts']
    """
    every = list(dict.fromkeys(functions))
    shared = Counter(f.__name__ for f in every)
    return {
        f: f.__name__ if shared[f.__name__] == 1 else f"{f.__module__.rpartition('.')[2]}_{f.__name__}" for f in every
    }


def imported(names: Mapping[Callable[..., Any], str]) -> set[str]:
    """Return the lines that import functions under these names."""
    renamed = {f: "" if f.__name__ == name else f" as {name}" for f, name in names.items()}
    return {f"from {f.__module__} import {f.__name__}{more}" for f, more in renamed.items()}


def written_call(
    function: Callable[..., Any], arguments: Sequence[str], start: str = "", indent: int = 0, name: str = ""
) -> list[str]:
    """Return the lines of a call with arguments that are written already, after `start`."""
    known = inspect.signature(function).parameters.values()
    plain = all(p.kind is p.POSITIONAL_OR_KEYWORD for p in known)
    names = [f"{p.name}=" for p in known] if plain else [""] * len(arguments)
    parts = [f"{name}{text}" for name, text in zip(names, arguments, strict=False)]
    before = " " * indent
    one = f"{before}{start}{name or function.__name__}({', '.join(parts)})"
    if len(one) <= WIDTH:
        return [one]
    return [f"{before}{start}{name or function.__name__}(", *(f"{before}    {part}," for part in parts), f"{before})"]


@dataclass(frozen=True)
class _Run:
    """The calls of one series that differ in its place alone, and in what goes with it."""

    series: str
    chunks: tuple[tuple[Any, Chunk], ...]

    @property
    def first(self) -> Chunk:
        """One of them."""
        return self.chunks[0][1]

    @property
    def places(self) -> tuple:
        """Where they stand on the axis."""
        return tuple(at for at, _chunk in self.chunks)

    @property
    def moved(self) -> tuple[int, ...]:
        """Which arguments are not the same in all of them."""
        every = range(len(self.first.arguments))
        return tuple(i for i in every if any(c.arguments[i] != self.first.arguments[i] for _at, c in self.chunks))

    @property
    def rows(self) -> tuple:
        """The places, each with the arguments that move, where those are not the place itself."""
        rest = self.rest
        return tuple((at, *(c.arguments[i] for i in rest)) if rest else at for at, c in self.chunks)

    @property
    def itself(self) -> tuple[int, ...]:
        """Which of the arguments that move are the place on the axis."""
        return tuple(i for i in self.moved if all(_same(c.arguments[i], at) for at, c in self.chunks))

    @property
    def rest(self) -> tuple[int, ...]:
        """Which are not."""
        return tuple(i for i in self.moved if i not in self.itself)

    @property
    def shape(self) -> tuple:
        """What runs have in common that one loop can make."""
        return self.first.function, len(self.first.arguments), self.rows, self.moved, self.itself


def _same(one: Any, other: Any) -> bool:
    return type(one) is type(other) and bool(one == other)


def written(
    work: Mapping[Place, Chunk], values: Mapping[str, Any], room: str, names: Mapping[Callable[..., Any], str]
) -> list[str]:
    """Return lines that fill `results`, from each place to the result of its chunk.

    Chunks that differ in some arguments alone are a loop over those, and series that differ so are one around it.
    """
    grouped: dict[tuple, list[tuple[Any, Chunk]]] = {}
    for (series, at), chunk in work.items():
        # what is chosen stands alone, so that the loop is over the axis
        alone = at if isinstance(at, str) else None
        grouped.setdefault((series, chunk.function, len(chunk.arguments), alone), []).append((at, chunk))
    alike: dict[tuple, list[_Run]] = {}
    for (series, *_kind), chunks in grouped.items():
        run = _Run(series, tuple(chunks))
        alike.setdefault(run.shape, []).append(run)
    lines: list[str] = []
    axes: dict[str, str] = {}
    for runs in alike.values():
        lines += _loops(runs, values, room, names, axes)
    return lines


def _loops(
    runs: list[_Run],
    values: Mapping[str, Any],
    room: str,
    functions: Mapping[Callable[..., Any], str],
    axes: dict[str, str],
) -> list[str]:
    """Return the calls of series of the same shape; `axes` are the rows that have a name already."""
    one, parameters = runs[0], _parameters(runs[0].first)
    moved, itself, rest = one.moved, one.itself, one.rest
    differs = [
        i
        for i in range(len(parameters))
        if i not in moved and any(not _same(r.first.arguments[i], one.first.arguments[i]) for r in runs)
    ]
    # where an argument is the series' own name, one is enough
    told = [i for i in differs if all(_same(r.first.arguments[i], r.series) for r in runs)]
    others = [i for i in differs if i not in told]
    several = len(runs) > 1
    series = parameters[told[0]] if told else "series"
    place = parameters[itself[0]] if itself else "x"
    arguments = []
    for i, value in enumerate(one.first.arguments):
        if i in itself:
            arguments.append(place)
        elif i in rest or i in others:
            arguments.append(parameters[i])
        else:
            arguments.append(series if i in told else _named(parameters[i], value, values, room))
    lines: list[str] = []
    indent = 0
    looped = len(one.chunks) > 1
    axis = ""
    if looped:
        axis = _axis(one.rows, place, axes, lines)
    if several:
        rows = tuple((r.series, *(r.first.arguments[i] for i in others)) if others else r.series for r in runs)
        names = ", ".join([series, *(parameters[i] for i in others)])
        lines += _head(f"for {names} in ", rows, 0)
        indent = 4
    if looped:
        names = ", ".join([place, *(parameters[i] for i in rest)])
        lines.append(f"{' ' * indent}for {names} in {axis}:")
        indent += 4
    key = f"{series if several else literal(one.series)}, {place if looped else literal(one.places[0])}"
    return [
        *lines,
        *written_call(one.first.function, arguments, f"results[{key}] = ", indent, functions[one.first.function]),
    ]


def _axis(rows: tuple, place: str, axes: dict[str, str], lines: list[str]) -> str:
    """Return what to loop over: short values themselves, long ones under a name that is given once."""
    text = literal(rows)
    if len(text) < 60:
        return text
    if text not in axes:
        name = f"{place}_steps" if place != "x" else "steps"
        known = sum(each.startswith(name) for each in axes.values())
        axes[text] = name + (str(known + 1) if known else "")
        lines += [f"{axes[text]} = (", *_filled(rows), ")"]
    return axes[text]


def _head(start: str, rows: tuple, indent: int) -> list[str]:
    one = f"{' ' * indent}{start}{literal(rows)}:"
    if len(one) <= WIDTH:
        return [one]
    return [f"{' ' * indent}{start}(", *_filled(rows), "):"]


def _named(parameter: str, value: Any, values: Mapping[str, Any], room: str) -> str:
    """Return an argument by the setting that it is, or as a literal."""
    wanted = ("dataset",) if parameter in NAMES else (parameter, f"{room}_{parameter}")
    for setting in wanted:
        if setting in values and _same(values[setting], value):
            return f'settings["{setting}"]'
    return literal(value)


def _filled(rows: Sequence[Any]) -> list[str]:
    """Return values in lines of a width, four spaces in."""
    lines, line = [], "   "
    for row in rows:
        text = f" {literal(row)},"
        if len(line) + len(text) > WIDTH and line.strip():
            lines.append(line)
            line = "   "
        line += text
    return [*lines, line]


def _parameters(chunk: Chunk) -> list[str]:
    known = list(inspect.signature(chunk.function).parameters.values())
    if all(p.kind is p.POSITIONAL_OR_KEYWORD for p in known):
        return [p.name for p in known][: len(chunk.arguments)]
    return [f"argument_{i}" for i in range(len(chunk.arguments))]
