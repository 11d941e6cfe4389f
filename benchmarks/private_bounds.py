"""How often private bounds are near the 1 % and 99 % points, beside other ways, and how often any way can be.

    python benchmarks/private_bounds.py [--draws 400] [--results]
    python benchmarks/private_bounds.py --scales [--draws 20]

A bound is near where it is within a factor of 2 of the point of the distribution (of 0: where it is 0). The ways:

- `bounds`: `private_bounds`, with the cells beside those that stand out;
- `second`: the same with a second look for an eighth of ε, as `private_facts` calls it;
- `clear`: the outermost edges of the cells that stand out of the noise, and no others (Wilson et al. 2020);
- `edges`: the edges that the exponential mechanism chooses for the two quantiles, half of ε for each (Smith 2011);
- `two`: `private_bounds` at half of ε, and `private_quantiles` within them for the other half.

`limit` is the largest probability that a method can have on this data set and on one that is k records away and has its
point more than four times as far out or in (`most_certain`); k is for the expected numbers of records.

With ``--scales`` the numbers of each distribution are multiplied by 10^-12, 10^-9, ..., 10^15. Printed are the share of
runs that find both bounds, the mean and the least share of the records inside them, and the median width.
"""

from __future__ import annotations

import argparse
from collections.abc import Callable
from typing import Any

import numpy as np
import pandas as pd
from numpy.typing import NDArray
from result_files import write_results

from dpml.mechanisms import ExponentialMechanism, private_bounds, private_quantiles
from dpml.mechanisms.columns.numbers import (
    EDGES,
    ENDS,
    POWERS,
    SECOND_LOOK,
    clear_of,
    most_certain,
    quantile_range,
    quantile_scores,
)

SHARES = (0.01, 0.99)
SETTINGS = [(1_000, 0.1), (1_000, 0.3), (1_000, 1.0), (10_000, 0.1)]
POPULATION = 2_000_000
Sampler = Callable[[np.random.Generator, int], NDArray[np.float64]]
DISTRIBUTIONS: dict[str, Sampler] = {
    "normal": lambda rng, n: rng.normal(size=n),
    "exponential": lambda rng, n: rng.exponential(size=n),
    "lognormal": lambda rng, n: rng.lognormal(size=n),
    "half zero, half lognormal": lambda rng, n: np.where(rng.random(n) < 0.5, 0.0, rng.lognormal(3.0, 1.0, n)),
    "normal, 100 ± 15": lambda rng, n: rng.normal(100.0, 15.0, n),
    "normal, 1970 ± 20": lambda rng, n: rng.normal(1970.0, 20.0, n),
}
Ends = tuple[float, float]


def of_clear(values: NDArray[np.float64], epsilon: float, rng: np.random.Generator) -> Ends:
    """Return the outermost edges of the cells that stand out."""
    released = private_bounds(values, epsilon, rng=rng)
    clear = np.flatnonzero(released.counts > clear_of(released.scale))
    clear = clear if len(clear) else released.counts.argmax(keepdims=True)
    return float(ENDS[clear[0], 0]), float(ENDS[clear[-1], 1])


def of_edges(values: NDArray[np.float64], epsilon: float, rng: np.random.Generator) -> Ends:
    """Return the two edges that are chosen by their rank."""
    points = np.sort(np.append(EDGES, 0.0))
    lower, upper = (
        points[
            ExponentialMechanism(epsilon / 2, quantile_range(q, "add-remove")).release(
                quantile_scores(values, points, q), rng=rng
            )
        ]
        for q in SHARES
    )
    return float(lower), float(upper)


def of_two(values: NDArray[np.float64], epsilon: float, rng: np.random.Generator) -> Ends:
    """Return quantiles within bounds of half of ε."""
    first = private_bounds(values, epsilon / 2, rng=rng)
    lower, upper = private_quantiles(values, SHARES, epsilon / 2, lower=first.lower, upper=first.upper, rng=rng)
    return float(lower), float(upper)


def of_bounds(values: NDArray[np.float64], epsilon: float, rng: np.random.Generator) -> Ends:
    """Return the bounds of `private_bounds`."""
    released = private_bounds(values, epsilon, rng=rng)
    return released.lower, released.upper


def of_second(values: NDArray[np.float64], epsilon: float, rng: np.random.Generator) -> Ends:
    """Return the bounds of `private_bounds` with a second look."""
    released = private_bounds(values, epsilon, second_look=SECOND_LOOK, rng=rng)
    return released.lower, released.upper


WAYS = {"bounds": of_bounds, "second": of_second, "clear": of_clear, "edges": of_edges, "two": of_two}


def near(bound: float, point: float) -> bool:
    """Return whether a bound is within a factor of 2 of a point."""
    return abs(bound) <= POWERS[0] if point == 0.0 else 0.5 <= bound / point <= 2.0


def n_changed(population: NDArray[np.float64], point: float, n: int, upper: bool) -> int:
    """Return k: how many records, added or taken away, move the point by more than a factor of 4 at least expense."""
    share, sign = SHARES[0], 1 if upper else -1
    ends = np.sort([4.0 * point, point / 4.0]) * sign
    inner, outer = (np.min(ends), np.max(ends)) if point else (0.0, 0.0)
    beyond, kept = float((sign * population > outer).mean()), float((sign * population >= inner).mean())
    # k added beyond: beyond + k/n = share·(1 + k/n); k taken away from what is kept: kept - k/n = share·(1 - k/n)
    added, removed = (share - beyond) / (1 - share), (kept - share) / (1 - share)
    return int(np.ceil(n * min(added, removed)))


def rows(draws: int) -> list[dict[str, Any]]:
    """Return a row for each distribution, setting and way."""
    table = []
    for name, sample in DISTRIBUTIONS.items():
        population = sample(np.random.default_rng(1), POPULATION)
        points = [float(point) for point in np.quantile(population, SHARES)]
        for n, epsilon in SETTINGS:
            changed = [n_changed(population, points[0], n, False), n_changed(population, points[1], n, True)]
            limits = [most_certain(epsilon, k) for k in changed]
            for way, ends_of in WAYS.items():
                rng = np.random.default_rng(2)
                ends = np.array([ends_of(sample(rng, n), epsilon, rng) for _ in range(draws)])
                hits = np.array([[near(*pair) for pair in zip(row, points, strict=True)] for row in ends])
                width = np.median(np.diff(ends)) / (points[1] - points[0])
                lower, upper = hits.mean(axis=0)
                table.append(
                    {
                        "distribution": name,
                        "n": n,
                        "epsilon": epsilon,
                        "way": way,
                        "lower": lower,
                        "upper": upper,
                        "both": hits.all(axis=1).mean(),
                        "limit_lower": round(limits[0], 3),
                        "limit_upper": round(limits[1], 3),
                        "width": float(f"{width:.3g}"),
                    }
                )
    return table


SCALED: dict[str, Sampler] = {
    "normal": DISTRIBUTIONS["normal"],
    "lognormal": DISTRIBUTIONS["lognormal"],
    "half zero": lambda rng, n: np.where(rng.random(n) < 0.5, 0.0, rng.lognormal(size=n)),
    "1.97 ± 0.02": lambda rng, n: rng.normal(1.97, 0.02, n),
    "1.70 to 1.73": lambda rng, n: rng.uniform(1.70, 1.73, n),
    "1 to 2": lambda rng, n: rng.uniform(1.0, 2.0, n),
}


def scaled_rows(draws: int) -> list[dict[str, Any]]:
    """Return a row for each distribution, setting and number of looks: records inside the bounds at all scales."""
    table = []
    for name, sample in SCALED.items():
        for n, epsilon in SETTINGS:
            for look in (0.0, SECOND_LOOK):
                held, widths, runs = [], [], 0
                rng = np.random.default_rng(3)
                for exponent in range(-12, 16, 3):
                    for _ in range(draws):
                        values = sample(rng, n) * 10.0**exponent
                        released = private_bounds(values, epsilon, second_look=look, rng=rng)
                        runs += 1
                        if released.found:
                            held.append(np.mean((released.lower <= values) & (values <= released.upper)))
                            widths.append((released.upper - released.lower) / np.ptp(np.quantile(values, SHARES)))
                # no run may find bounds
                inside = [round(float(f(held)), 3) if held else np.nan for f in (np.mean, np.min)]
                width = float(f"{np.median(widths):.3g}") if held else np.nan
                setting = {"numbers": name, "n": n, "epsilon": epsilon, "second_look": look}
                found = {"found": round(len(held) / runs, 3), "mean_inside": inside[0], "least_inside": inside[1]}
                table.append({**setting, **found, "width": width})
    return table


def main() -> None:
    """Print the table, and with ``--results`` write it."""
    parser = argparse.ArgumentParser(description=__doc__.split("\n")[0])
    parser.add_argument("--draws", type=int)
    parser.add_argument("--scales", action="store_true")
    parser.add_argument("--results", action="store_true")
    arguments = parser.parse_args()
    if arguments.scales:
        print(pd.DataFrame(scaled_rows(arguments.draws or 20)).to_string(index=False))
        return
    table = pd.DataFrame(rows(arguments.draws or 400))
    print(table.to_string(index=False))
    if arguments.results:
        write_results("private_bounds", table)


if __name__ == "__main__":
    main()
