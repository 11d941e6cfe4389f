"""What a plot over a control holds: its lines, or bars, at every value of the control."""

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from dpml_app.drawing.styles import REFERENCE, Style

Floats = NDArray[np.float64]


@dataclass(frozen=True)
class Line:
    """One curve over the control, with the ends of its band where it has one."""

    look: Style
    middle: Sequence[float]
    low: Sequence[float] = ()
    high: Sequence[float] = ()


@dataclass(frozen=True)
class Sweep:
    """A plot over a control: its values, lines, and whether they are percentages or numbers on a log axis."""

    title: str
    control: str
    values: Sequence[float]
    chosen: float
    lines: Sequence[Line]
    percent: bool
    log: bool = True


@dataclass(frozen=True)
class Bars:
    """Probabilities of outputs with two neighbours, at every claimed ε."""

    title: str
    values: Sequence[float]
    chosen: float
    outputs: Sequence[str]
    first: Sequence[Sequence[float]]
    second: Sequence[Sequence[float]]


def band(look: Style, draws: Sequence[Floats]) -> Line:
    """Return the mean of draws with the band that holds nine of ten."""
    low, high = np.quantile(draws, [0.05, 0.95], axis=1)
    return Line(look, np.mean(draws, axis=1).tolist(), low.tolist(), high.tolist())


def level(label: str, value: float, number: int, color: str = REFERENCE) -> Line:
    """Return a line at one height."""
    return Line(Style(label, color, "dot", "dashed"), [value] * number)
