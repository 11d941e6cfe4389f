"""The small pictures of the glossary: a handful of drawing functions, and what each picture draws with them.

Every picture shows a computed thing: densities are densities, bars are probabilities, a bound is the bound. Colours are
classes of `glossary.css`, so that they follow light and dark.
"""

import math
from collections.abc import Callable, Sequence
from functools import lru_cache
from statistics import NormalDist

WIDE, HIGH, EDGE = 280, 96, 6
BASE = HIGH - 16
Curve = Callable[[float], float]


# ---- drawing -------------------------------------------------------------------------------------------------------


def _svg(label: str, *parts: str) -> str:
    head = f'<svg viewBox="0 0 {WIDE} {HIGH}" role="img" aria-label="{label}">'
    return head + "".join(parts) + "</svg>"


def _words(x: float, y: float, text: str, anchor: str = "middle") -> str:
    return f'<text x="{x:.0f}" y="{y:.0f}" text-anchor="{anchor}">{text}</text>'


def _line(points: Sequence[tuple[float, float]], look: str) -> str:
    return f'<polyline class="{look}" points="{" ".join(f"{x:.1f},{y:.1f}" for x, y in points)}"/>'


def _box(x: float, y: float, wide: float, high: float, look: str) -> str:
    return f'<rect class="{look}" x="{x:.1f}" y="{y:.1f}" width="{wide:.1f}" height="{high:.1f}" rx="1.5"/>'


def _axis() -> str:
    return _line([(EDGE, BASE), (WIDE - EDGE, BASE)], "axis")


def _curves(functions: Sequence[tuple[Curve, str]], low: float, high: float, top: float) -> str:
    """Return functions over [low, high] as lines; `top` is the value at the upper edge."""
    drawn = []
    for function, look in functions:
        xs = [low + (high - low) * i / 80 for i in range(81)]
        drawn.append(
            _line(
                [
                    (EDGE + (x - low) / (high - low) * (WIDE - 2 * EDGE), BASE - function(x) / top * (BASE - EDGE))
                    for x in xs
                ],
                look,
            )
        )
    return _axis() + "".join(drawn)


def _bars(groups: Sequence[Sequence[tuple[float, str]]], top: float, names: Sequence[str] = ()) -> str:
    """Return groups of bars side by side, each bar a height and a look."""
    wide = (WIDE - 2 * EDGE) / len(groups)
    drawn = []
    for i, group in enumerate(groups):
        each = min(0.7 * wide / len(group), 34.0)
        start = EDGE + (i + 0.5) * wide - each * len(group) / 2
        for j, (value, look) in enumerate(group):
            high = value / top * (BASE - 2 * EDGE)
            drawn.append(_box(start + j * each, BASE - high, each - 2, max(high, 0.8), look))
    words = [_words(EDGE + (i + 0.5) * wide, HIGH - 3, name) for i, name in enumerate(names)]
    return _axis() + "".join(drawn + words)


def _cells(rows: Sequence[str], gaps: Sequence[int] = ()) -> str:
    """Return rows of cells: ``1`` full, ``0`` empty, ``x`` crossed out, ``n`` of the second colour."""
    most = max(len(row) for row in rows)
    size = min(22.0, (HIGH - 12) / len(rows) - 4)
    left = (WIDE - most * (size + 4) - 10 * len(gaps)) / 2
    top = (HIGH - len(rows) * (size + 4)) / 2
    looks = {"1": "first fill", "0": "empty", "x": "first faint", "n": "second fill"}
    drawn = []
    for i, row in enumerate(rows):
        y = top + i * (size + 4)
        for j, cell in enumerate(row):
            x = left + j * (size + 4) + 10 * sum(gap <= j for gap in gaps)
            drawn.append(_box(x, y, size, size, looks[cell]))
        if set(row) == {"x"}:
            drawn.append(
                _line([(left - 6, y + size / 2), (left + most * (size + 4) + 2, y + size / 2)], "second thick")
            )
    return "".join(drawn)


# ---- what is drawn -------------------------------------------------------------------------------------------------


def _laplace(epsilon: float, at: float = 0.0) -> Curve:
    return lambda x: epsilon / 2 * math.exp(-epsilon * abs(x - at))


def _against_laplace(label: str, density: Curve, top: float = 0.52, reach: float = 7) -> str:
    both = [(_laplace(1.0), "muted"), (density, "first")]
    return _svg(label, _curves(both, -reach, reach, top), _words(WIDE / 2, HIGH - 3, "0"))


def _densities() -> str:
    both = [(_laplace(1.0, -0.5), "first"), (_laplace(1.0, 0.5), "second")]
    words = _words(
        WIDE / 2, HIGH - 3, "at each place at most e<tspan dy='-3'>ε</tspan><tspan dy='3'> times the other</tspan>"
    )
    return _svg("Two Laplace densities, one step apart", _curves(both, -5, 5, 0.52), words)


def _failing() -> str:
    normal = NormalDist(0, 1.5)
    both = [(lambda x: normal.pdf(x + 0.5), "first"), (lambda x: normal.pdf(x - 0.5), "second")]
    words = _words(WIDE - EDGE, HIGH - 3, "far out the ratio grows: δ", "end")
    return _svg("Two normal densities whose ratio grows far out", _curves(both, -6, 6, 0.3), words)


def _staircase() -> str:
    epsilon = 2.0
    first = 1 / (1 + math.exp(epsilon / 2))  # the first step's width, Geng and Viswanath's best for the mean size
    level = (1 - math.exp(-epsilon)) / (2 * (first + math.exp(-epsilon) * (1 - first)))

    def density(x: float) -> float:
        step, rest = divmod(abs(x), 1.0)
        return level * math.exp(-epsilon * (step + (rest >= first)))

    both = [(_laplace(epsilon), "muted"), (density, "first")]
    return _svg("The staircase density beside Laplace's", _curves(both, -3.5, 3.5, 1.3))


def _geometric() -> str:
    share = math.exp(-0.6)
    heights = [[((1 - share) / (1 + share) * share ** abs(k), "first fill")] for k in range(-7, 8)]
    return _svg("Probabilities of whole numbers", _bars(heights, 0.32, [str(k) for k in range(-7, 8)]))


def _envelope() -> str:
    local = [1, 1, 1, 4, 1, 0.5, 0.5, 0.5, 0.5, 2, 7, 7, 2, 0.5, 0.5, 0.5, 1, 1, 1, 1, 1]
    beta, wide = 0.35, (WIDE - 2 * EDGE) / len(local)
    smooth = [max(v * math.exp(-beta * abs(i - j)) for j, v in enumerate(local)) for i in range(len(local))]

    def stairs(values: Sequence[float]) -> list[tuple[float, float]]:
        heights = [BASE - v / 7.5 * (BASE - EDGE) for v in values]
        return [(EDGE + (i + end) * wide, y) for i, y in enumerate(heights) for end in (0, 1)]

    words = _words(WIDE / 2, HIGH - 3, "data sets, each a neighbour of the next")
    lines = _line(stairs(local), "first"), _line(stairs(smooth), "second")
    return _svg("The smooth bound above the local sensitivity", _axis(), *lines, words)


def _noisy() -> str:
    exact, spread = (34.0, 21.0, 12.0, 27.0, 5.0), math.log(10) / 0.5  # 90 % of Laplace noise at ε = 0.5
    wide = (WIDE - 2 * EDGE) / len(exact)
    scale = (BASE - 2 * EDGE) / 40
    bars = []
    for i, v in enumerate(exact):
        x, top, bottom = EDGE + (i + 0.5) * wide - 1, BASE - (v + spread) * scale, BASE - max(v - spread, 0) * scale
        bars.append(_line([(x, top), (x, bottom)], "second thick"))
    words = _words(WIDE / 2, HIGH - 3, "exact counts, and the range of 90% of noisy ones")
    return _svg("Counts with the spread of their noise", _bars([[(v, "first faint")] for v in exact], 40), *bars, words)


def _step() -> str:
    pairs = [[(v, "first fill"), (v + (i == 1) * 3, "second fill")] for i, v in enumerate((14.0, 9.0, 18.0))]
    words = _words(WIDE / 2, HIGH - 3, "without one record, with it")
    return _svg("One count changes by one step", _bars(pairs, 22), words)


def _threshold() -> str:
    counts = (9.0, -1.5, 3.2, 0.4, -0.6, 6.1, 1.1)
    level = -2 * math.log(2 * (1 - 0.9))  # the 90th percentile of Laplace noise of scale 2
    groups = [[(max(v, level), "first fill" if v > level else "first faint")] for v in counts]
    y = BASE - level / 10 * (BASE - 2 * EDGE)
    line = _line([(EDGE, y), (WIDE - EDGE, y)], "second")
    return _svg("What is below the line is raised to it", _bars(groups, 10), line)


def _choice() -> str:
    scores, epsilon = (5.0, 4.0, 3.0, 1.0, 0.0), 1.0
    weights = [math.exp(epsilon * s) for s in scores]
    groups = [[(w / sum(weights), "first fill")] for w in weights]
    names = [f"{100 * w / sum(weights):.1f} %" for w in weights]
    return _svg("Probabilities of five candidates", _bars(groups, 0.72, names))


def _coin() -> str:
    groups = [
        [(0.5, "first faint")],
        [(1 / (1 + math.exp(-0.1)), "first fill")],
        [(1 / (1 + math.exp(-1)), "second fill")],
    ]
    names = ["chance: 50%", "ε = 0.1: 52.5%", "ε = 1: 73.2%"]
    return _svg("How sure an attacker can be", _bars(groups, 1.0, names))


def _impossible() -> str:
    passed = 0.5 * math.exp(
        -0.5
    )  # P(threshold of 1.5 plus Laplace noise is at most 1), the counts are (1, 1) or (2, 1)
    first, second = (1 - passed, 0.0, passed), (passed, 1 - 2 * passed, passed)
    groups = [[(a, "first fill"), (b, "second fill")] for a, b in zip(first, second, strict=True)]
    return _svg("One output is impossible on one side", _bars(groups, 0.75, ["neither", "only one", "both"]))


def _split() -> str:
    share, wide = 0.4, WIDE - 4 * EDGE
    left = _box(2 * EDGE, 34, share * wide - 2, 26, "first fill")
    right = _box(2 * EDGE + share * wide, 34, (1 - share) * wide, 26, "second fill")
    words = _words(2 * EDGE, 26, "ε₁", "start"), _words(2 * EDGE + share * wide, 26, "ε₂", "start")
    return _svg("A budget in two parts", left, right, *words, _words(WIDE / 2, HIGH - 12, "ε = ε₁ + ε₂"))


def _steps() -> str:
    rulers = []
    for y, count, look in ((14, 12, "second"), (54, 68, "first")):
        ends = [2 * EDGE + (WIDE - 4 * EDGE) * i / count for i in range(count + 1)]
        rulers += [_line([(x, y), (x, y + 20)], look) for x in ends]
        rulers.append(_line([(ends[0], y + 20), (ends[-1], y + 20)], look))
    words = _words(WIDE / 2, 50, "one record, one step: few steps, or many")
    return _svg("A ruler of few steps and one of many", *rulers, words)


def _band() -> str:
    def place(epsilon: float, error: float) -> tuple[float, float]:
        return EDGE + (math.log10(epsilon) + 1) / 2 * (WIDE - 2 * EDGE), HIGH / 2 - error * 1.7

    epsilons = [10 ** (-1 + i / 30) for i in range(61)]
    spread = [math.log(10) / e for e in epsilons]  # holds 90 % of Laplace noise of scale 1/ε
    ends = [place(e, s) for e, s in zip(epsilons, spread, strict=True)]
    ends += [place(e, -s) for e, s in zip(epsilons[::-1], spread[::-1], strict=True)]
    area = f'<polygon class="first area" points="{" ".join(f"{x:.1f},{y:.1f}" for x, y in ends)}"/>'
    line = _line([place(0.1, 0), place(10, 0)], "first")
    return _svg("A band that narrows as ε grows", area, line, _words(WIDE - EDGE, HIGH - 3, "ε →", "end"))


def _roc() -> str:
    labels = "1110110100101000"  # records in the order of their scores, highest first
    ones, size = labels.count("1"), BASE - EDGE
    x = y = 0.0
    points = [(x, y)]
    for label in labels:
        x, y = (x, y + 1 / ones) if label == "1" else (x + 1 / (len(labels) - ones), y)
        points.append((x, y))
    left = (WIDE - size) / 2
    drawn = _line([(left + a * size, BASE - b * size) for a, b in points], "first thick")
    frame = _box(left, EDGE, size, size, "frame") + _line([(left, BASE), (left + size, EDGE)], "muted")
    return _svg(
        "A ROC curve made of one step for each record", frame, drawn, _words(WIDE / 2, HIGH - 3, "false positives →")
    )


def _bias() -> str:
    n = 1.0  # the mean of n values, shrunk: bias λ/(n + λ), noise 1/(n + λ)
    both: list[tuple[Curve, str]] = [(lambda v: v / (n + v), "second"), (lambda v: 1 / (n + v), "first")]
    words = _words(EDGE, HIGH - 3, "noise falls", "start"), _words(WIDE - EDGE, HIGH - 3, "bias grows: λ →", "end")
    return _svg("Bias grows with the regulariser, noise falls", _curves(both, 0, 8, 1.05), *words)


DRAWN: dict[str, Callable[[], str]] = {
    "densities": _densities,
    "failing": _failing,
    "laplace": lambda: _svg("The Laplace density", _curves([(_laplace(1.0), "first")], -7, 7, 0.52)),
    "gaussian": lambda: _against_laplace("The normal density beside Laplace's", NormalDist(0, math.sqrt(2)).pdf),
    "cauchy": lambda: _against_laplace("Cauchy's density beside Laplace's", lambda x: 1 / (math.pi * (1 + x * x))),
    "student": lambda: _against_laplace(
        "Student's t density, 3 degrees, beside Laplace's",
        lambda x: 2 / (math.pi * math.sqrt(3) * (1 + x * x / 3) ** 2),
    ),
    "staircase": _staircase,
    "geometric": _geometric,
    "envelope": _envelope,
    "removed": lambda: _svg("Five records, one crossed out", _cells(["01101", "10010", "xxxxx", "11000", "00101"])),
    "replaced": lambda: _svg("Five records, one another", _cells(["01101", "10010", "nnnnn", "11000", "00101"])),
    "onehot": lambda: _svg("One 1 in each block", _cells(["0100010", "1000001", "0010100"], gaps=(3,))),
    "cut": lambda: _svg("Of five ones two are kept", _cells(["1101011", "1x0x0x1"])),
    "mask": lambda: _svg("Three of ten features", _cells(["0010010100"])),
    "noisy": _noisy,
    "step": _step,
    "threshold": _threshold,
    "choice": _choice,
    "coin": _coin,
    "impossible": _impossible,
    "split": _split,
    "steps": _steps,
    "band": _band,
    "roc": _roc,
    "bias": _bias,
}
PICTURES = tuple(DRAWN)


@lru_cache(maxsize=len(DRAWN))
def picture(kind: str) -> str:
    """Return a small picture as inline SVG; `kind` is one of `PICTURES`.

    >>> picture("densities")[:4], picture("densities").count("polyline")
    ('<svg', 3)
    """
    return DRAWN[kind]()
