"""Su et al. 2018, definitions and lemmas: grids, their counts and their quality, against loops and integrals."""

import itertools
import math
import time
from collections.abc import Iterator
from functools import partial

import numpy as np
from numpy.typing import NDArray
from scipy import integrate

from benchmarks.papers.measured import Experiment, Measured, exact, measured
from benchmarks.papers.su import STRUCTURES, Methods, comparison, three_classes, two_classes
from dpml.classifiers import DiffPC45
from dpml.classifiers.grid import GridQuality
from dpml.classifiers.grid.cells import quality_range, quality_sensitivity
from dpml.classifiers.grid.counts import Records, candidate_grids, grid_counts
from dpml.datasets import taxonomies
from dpml.publishing import PPH, DiffGen, PrivBayes, PrivPfC
from dpml.schema import Taxonomy

EPSILONS, MOST = (0.1, 0.5, 1.0, 2.0), 60
MOST_CELLS, ATTRIBUTES, RECORDS = 200.0, 5, 1_000
# records, columns and classes as printed in Table 1
TABLE_1 = {
    "adult": (two_classes, (45_222, 15, 2)),
    "bank": (two_classes, (41_188, 21, 2)),
    "adult-multiclass": (three_classes, (45_222, 15, 3)),
    "bank-multiclass": (three_classes, (41_188, 21, 3)),
}


def _hierarchies() -> list[Taxonomy]:
    return [feature.taxonomy for feature in two_classes("adult").schema.features[:ATTRIBUTES]]


def grids(draws: int, random_state: int) -> Iterator[Measured]:
    """Definition 2: grids of at most 200 cells over five attributes of adult, against all products of levels."""
    hierarchies, small = _hierarchies(), 0
    for levels in itertools.product(*(range(hierarchy.n_levels) for hierarchy in hierarchies)):
        small += math.prod(h.sizes[level] for h, level in zip(hierarchies, levels, strict=True)) <= MOST_CELLS
    pool = candidate_grids(hierarchies, 10**6, MOST_CELLS)
    yield exact("different grids", small, len({pool.levels(i) for i in range(len(pool))}))


def histograms(draws: int, random_state: int) -> Iterator[Measured]:
    """Definition 3: the largest difference of a class count from a loop over 1,000 made-up records, on 20 grids."""
    rng, hierarchies, largest = np.random.default_rng(random_state), _hierarchies(), 0
    places = [rng.integers(hierarchy.sizes[-1], size=RECORDS) for hierarchy in hierarchies]
    records = Records(places, rng.integers(2, size=RECORDS), 2, tuple(hierarchies))
    pool = candidate_grids(hierarchies, 10**6, MOST_CELLS)
    for i in rng.integers(len(pool), size=20):
        levels = pool.levels(int(i))
        used = [j for j, level in enumerate(levels) if level]
        table = np.zeros((2, *(hierarchies[j].sizes[levels[j]] for j in used)), dtype=int)
        for row, code in enumerate(records.codes):
            table[(code, *(hierarchies[j].above(levels[j])[places[j][row]] for j in used))] += 1
        difference = np.abs(np.asarray(grid_counts(records, levels)) - table.reshape(2, -1))
        largest = max(largest, int(difference.max()))
    yield exact("largest difference of a count", 0.0, largest)


def hierarchies_of_two(draws: int, random_state: int) -> Iterator[Measured]:
    """Fig. 1: the levels of the two attributes below "all values together"."""
    for name in ("relationship", "education-num"):
        yield exact(f"{name}: levels of the library's taxonomy", None, len(taxonomies("adult")[name]))


def data_sets(draws: int, random_state: int) -> Iterator[Measured]:
    """Table 1: records, columns with the label, and classes of the available sets."""
    for title, (make, printed) in TABLE_1.items():
        data = make(title.partition("-")[0])
        found = len(data.label), data.frame.shape[1] + 1, len(data.schema.classes)
        for label, paper, value in zip(("records", "columns", "classes"), printed, found, strict=True):
            yield exact(f"{title}: {label}", paper, value)


# ---- quality ---------------------------------------------------------------------------------------------------------


def _difference_density(y: float, epsilon: float) -> float:
    """Return the density of Z₁ - Z₂ at y by an integral over Z₁."""
    ends = sorted({-60 / epsilon, 0.0, y, 60 / epsilon})
    values = [
        integrate.quad(lambda z: epsilon**2 / 4 * np.exp(-epsilon * (abs(z) + abs(z - y))), *pair)[0]
        for pair in itertools.pairwise(ends)
    ]
    return float(sum(values))


def difference_of_laplace(draws: int, random_state: int) -> Iterator[Measured]:
    """Lemma 3: the largest difference of the density and of eq. 8 from integrals."""
    for epsilon in EPSILONS:
        density, tail = 0.0, 0.0
        for y in (0.0, 0.5, 1.0, 3.0, 10.0):
            stated = epsilon / 4 * np.exp(-epsilon * y) * (1 + epsilon * y)
            density = max(density, abs(_difference_density(y, epsilon) - stated))
            beyond = integrate.quad(partial(_difference_density, epsilon=epsilon), y, y + 40 / epsilon)[0]
            tail = max(tail, abs(beyond - np.exp(-epsilon * y) / 2 * (1 + epsilon * y / 2)))
        yield exact(f"ε = {epsilon:g}: largest difference of the density", 0.0, density)
        yield exact(f"ε = {epsilon:g}: largest difference of the distribution function", 0.0, tail)


def quality(draws: int, random_state: int, n_classes: int = 2) -> Iterator[Measured]:
    """Definitions 4 and 5: the largest share by which a quality differs from the expected number, by integrals."""
    rng = np.random.default_rng(random_state)
    for epsilon in EPSILONS:
        largest = 0.0
        for _ in range(5 * draws):
            counts = rng.integers(12, size=(n_classes, 4))
            first, second = -np.sort(-counts, axis=0)[:2]
            behind = [
                integrate.quad(partial(_difference_density, epsilon=epsilon), d, d + 40 / epsilon)[0]
                for d in map(float, first - second)
            ]
            expected = float((first - (first - second) * behind).sum())
            largest = max(largest, abs(GridQuality(epsilon, int(counts.sum())).of_grid(counts) / expected - 1))
        yield exact(f"ε = {epsilon:g}: largest relative difference", 0.0, largest)


def _changes(epsilon: float, n_classes: int) -> NDArray[np.float64]:
    """Return the change of a cell's quality by one more record of the first class, over all counts up to 60."""
    counts = np.stack(np.meshgrid(*[np.arange(MOST + 1)] * n_classes, indexing="ij")).reshape(n_classes, 1, -1)
    more = counts.copy()
    more[0] += 1
    starts, of = np.arange(counts.shape[2]), GridQuality(epsilon, n_classes * MOST + 1)
    return of.of_grids(more.astype(np.int32), starts) - of.of_grids(counts.astype(np.int32), starts)


def sensitivity(draws: int, random_state: int, n_classes: int = 2) -> Iterator[Measured]:
    """Lemmas 1 and 2, Fig. 2: the largest change of the quality by one record, and its range, over counts up to 60."""
    for epsilon in EPSILONS:
        found = _changes(epsilon, n_classes)
        yield exact(f"ε = {epsilon:g}: largest change", 1.1, float(np.abs(found).max()))
        yield exact(f"ε = {epsilon:g}: the same by its formula", 1.1, quality_sensitivity(epsilon))
        yield exact(f"ε = {epsilon:g}: range of the change", None, float(np.ptp(found)))
        yield exact(f"ε = {epsilon:g}: the same by its formula, range", None, quality_range(epsilon))


# ---- methods ---------------------------------------------------------------------------------------------------------


def running_times(draws: int, random_state: int) -> Iterator[Measured]:
    """Fig. 13: seconds of a processor for one fit to adult at ε = 1; the paper has US."""
    data = two_classes("adult")
    kinds: Methods = {
        "PrivPfC": PrivPfC,
        "PrivBayes, as many parents as are useful": PrivBayes,
        "PrivBayes, three parents": partial(PrivBayes, degree=3),
        "PPH": PPH,
        "DiffGen": DiffGen,
        "DiffP-C4.5": DiffPC45,
    }
    for name, kind in kinds.items():
        times = []
        for run in range(draws):
            model = kind(1.0, schema=data.schema, random_state=random_state + run)
            start = time.process_time()
            model.fit(data.frame, data.label)
            times.append(time.process_time() - start)
        yield measured(f"adult, {name}: s", None, times)


STEPS = {name: STRUCTURES[name] for name in ("PrivPfC", "DiffGen", "DiffGen-Struct-NF")}
EXPERIMENTS: dict[str, Experiment] = {
    "definition-2": grids,
    "definition-3": histograms,
    "definition-4": quality,
    "definition-5": partial(quality, n_classes=3),
    "lemma-1": sensitivity,
    "lemma-2": partial(sensitivity, n_classes=3),
    "lemma-3": difference_of_laplace,
    "fig-1": hierarchies_of_two,
    "fig-2": sensitivity,
    "fig-13": running_times,
    "table-1": data_sets,
    "claim-single-step": partial(comparison, methods=STEPS, epsilons=(0.1, 1.0)),
}
