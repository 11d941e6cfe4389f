"""What the Noise page plots, as arrays. No data set is involved, and nothing takes longer than a few milliseconds."""

import math
from functools import lru_cache
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray
from scipy import stats

from dpml.mechanisms import Gaussian, Laplace, NormGamma
from dpml.mechanisms.smooth.admissible import cauchy_scale
from dpml.registry import method, of_family
from dpml_app.pages.noise.models import Numbers, has_scale, model, vector_draws, vector_log_density
from dpml_app.pages.noise.settings import NOISE_EPSILONS

Floats = NDArray[np.float64]
RIVALS = ("laplace", "geometric", "staircase", "gaussian")
CHOICES = tuple(each.key for each in of_family("noise", "choice"))
CANDIDATES = 5
CELLS = 80
# releases that are drawn of a count, and in how many stacks
DROPS, STACKS = 150, 40
HELD = (0.5, 0.9, 0.99)
# largest errors, in units of Δ/ε
ERRORS = np.linspace(0, 25, 501)


class Histogram(NamedTuple):
    """Shares of draws by bin, beside what they should be; `low` and `high` hold 95 % of such experiments."""

    edges: Floats
    share: Floats
    exact: Floats
    low: Floats
    high: Floats
    beyond: float


def bin_edges(reach: float, whole: bool) -> Floats:
    """Return the edges of about 60 bins on ±`reach`, each around as many whole numbers as any other if `whole`.

    >>> bin_edges(2, True).tolist()
    [-2.5, -1.5, -0.5, 0.5, 1.5, 2.5]
    >>> len(bin_edges(10, False))
    62
    """
    if not whole:
        return np.linspace(-reach, reach, 62)
    width = 2 * math.ceil((2 * reach / 61 - 1) / 2) + 1 if 2 * reach > 61 else 1
    steps = math.floor((reach - (width - 1) / 2) / width)
    return np.asarray((np.arange(-steps, steps + 2) - 0.5) * width)


def histogram(name: str, settings: Numbers, reach: float, draws: int, seed: int) -> Histogram:
    """Return how draws of one number's noise fall into bins, and how they should."""
    noise = model(name, *settings)
    sample = noise.draw(draws, np.random.default_rng(seed))
    edges = bin_edges(reach, noise.whole)
    share = np.histogram(sample, edges)[0] / draws
    exact = np.clip(noise.shares(edges), 0, 1)
    low, high = stats.binom.interval(0.95, draws, exact)
    beyond = float(np.mean((sample < edges[0]) | (sample > edges[-1])))
    return Histogram(edges, share, exact, low / draws, high / draws, beyond)


class Pair(NamedTuple):
    """The densities of a release with a person and without, over what holds 95 % of either, and releases with it.

    `x` and what is released are counted from the number without the person; `places` and `heights` are those of the
    releases as dots, `log_ratios` how much likelier each is with the person, `overlap` the probability that both share.
    `near` is what four fifths of the noise is beyond, and `at_near` its density there, where the curves' names stand.
    """

    x: Floats
    without: Floats
    with_you: Floats
    ends: tuple[float, float]
    overlap: float
    releases: Floats
    places: Floats
    heights: Floats
    log_ratios: Floats
    near: float
    at_near: float


def pair(name: str, settings: Numbers, seed: int) -> Pair:
    """Return how a number that one person moves by Δ is released, with the person and without."""
    noise, moved = model(name, *settings), float(settings[1])
    reach, near = noise.quantile(0.05), noise.quantile(0.8)
    # whole numbers have steps of their own
    x = np.arange(-max(reach, 1), moved + max(reach, 1) + 1) if noise.whole else np.linspace(-reach, moved + reach, 801)
    without, with_you = (np.exp(noise.log_density(x - m)) for m in (0.0, moved))
    # both fall with the distance from their middle, so they cross half-way
    overlap = float(noise.tail(moved / 2))
    if noise.whole:
        overlap += float(np.exp(noise.log_density(moved / 2))) if moved % 2 == 0 else 0.0
        x, without, with_you = (
            np.column_stack([x - 0.5, x + 0.5]).ravel(),
            np.repeat(without, 2),
            np.repeat(with_you, 2),
        )
    releases = moved + noise.draw(DROPS, np.random.default_rng(seed))
    releases = releases[(releases >= x[0]) & (releases <= x[-1])]
    width = (x[-1] - x[0]) / STACKS
    width = max(round(width), 1) if noise.whole else width
    stack = np.floor((releases - x[0]) / width)
    below = np.array([np.sum(stack[:i] == one) for i, one in enumerate(stack)], dtype=float)
    log_ratios = noise.log_density(releases - moved) - noise.log_density(releases)
    return Pair(
        x,
        without,
        with_you,
        (float(x[0]), float(x[-1])),
        overlap,
        releases,
        x[0] + (stack + 0.5) * width,
        (below + 0.5) / (DROPS * width),
        log_ratios,
        near,
        float(np.exp(noise.log_density(near))),
    )


class Plane(NamedTuple):
    """Draws of a pair, the log10 density on a grid relative to its largest value, and contour levels by share held."""

    x: Floats
    y: Floats
    grid: Floats
    axis: Floats
    levels: tuple[float, ...]


@lru_cache(maxsize=64)
def _levels(name: str, settings: Numbers) -> tuple[float, ...]:
    """Return the log densities above which the stated shares of 40,000 draws lie."""
    pair = vector_draws(name, settings, 40_000, np.random.default_rng(12345))
    logs = vector_log_density(name, settings, pair[:, 0], pair[:, 1])
    return tuple(float(v) for v in np.quantile(logs, [1 - h for h in HELD]))


def plane(name: str, settings: Numbers, reach: float, draws: int, seed: int) -> Plane:
    """Return draws of two numbers' noise with their density; `settings` are ε, Δ, δ and β's share."""
    pair = vector_draws(name, settings, draws, np.random.default_rng(seed))
    axis = (np.arange(CELLS) + 0.5) / CELLS * 2 * reach - reach
    logs = vector_log_density(name, settings, axis[None, :], axis[:, None])
    peak = float(vector_log_density(name, settings, np.zeros(1), np.zeros(1))[0])
    scale = math.log(10)
    levels = tuple((level - peak) / scale for level in _levels(name, settings))
    return Plane(pair[:, 0], pair[:, 1], (logs - peak) / scale, axis, levels)


def largest_tail(name: str, settings: Numbers, queries: int, t: Floats) -> Floats | None:
    """Return P(largest of `queries` noises > t); one person counts in one query. None: no closed form is known."""
    epsilon, sensitivity = settings[:2]
    if name == "norm-inf":
        # the largest coordinate is the norm itself, a gamma variable
        return stats.gamma(queries, scale=NormGamma(epsilon, sensitivity, queries, math.inf).scale).sf(t)
    if name in ("norm-2", "norm-10"):
        return None
    with np.errstate(divide="ignore"):
        return -np.expm1(queries * np.log1p(-model(name, *settings).tail(t)))


def tails(name: str, settings: Numbers, queries: int) -> dict[str, Floats]:
    """Return P(largest error > t) over t = `ERRORS`·Δ/ε: Laplace noise's, its bound, and the chosen one's if known."""
    t = ERRORS * settings[1] / settings[0]
    exact = largest_tail("laplace", settings, queries, t)
    assert exact is not None
    curves = {"exact": exact, "bound": np.minimum(queries * np.exp(-ERRORS), 1.0)}
    if name not in ("laplace", "norm-1") and has_scale(name, settings[3]):
        own = largest_tail(name, settings, queries, t)
        if own is not None:
            curves["own"] = own
    return curves


def accuracy_bounds(epsilon: float, sensitivity: float, queries: int, failure: float) -> tuple[float, float]:
    """Return the error of Antonova's Theorem 2.2.2 for Laplace noise, log(D/p)·Δ/ε, and the exact one.

    Exact: the t with (1 - exp(-tε/Δ))^D = 1 - p.

    >>> [round(t, 4) for t in accuracy_bounds(1, 1, 1000, 0.05)]
    [9.9035, 9.878]
    """
    scale = Laplace(epsilon, sensitivity).scale
    exact = -math.log(-math.expm1(math.log1p(-failure) / queries))
    return math.log(queries / failure) * scale, exact * scale


@lru_cache(maxsize=512)
def _gaussian_size(epsilon: float, delta: float, measure: str) -> float:
    """Return the size of Gaussian noise for one unit of sensitivity, for which σ is looked for once."""
    noise = Gaussian(epsilon, delta)
    return noise.mean_size if measure == "mean" else noise.tail_size(0.05)


def rival_sizes(sensitivity: int, delta: float, touched: int, measure: str) -> dict[str, Floats]:
    """Return, by mechanism and over `NOISE_EPSILONS`, the mean or the 95 % quantile of one number's error.

    One person moves `touched` numbers by `sensitivity` each. NaN stands where the quantile is 0: more than 95 % of
    whole numbers are then exactly right.
    """
    by_name = {}
    for name in RIVALS:
        sizes = []
        for epsilon in NOISE_EPSILONS:
            if name == "gaussian":
                sizes.append(_gaussian_size(epsilon, delta, measure) * sensitivity * math.sqrt(touched))
                continue
            noise = model(name, epsilon, sensitivity, delta, 1 / 6, touched)
            sizes.append(noise.mean_size if measure == "mean" else noise.quantile(0.05))
        by_name[name] = np.array(sizes)
    return by_name


@lru_cache(maxsize=4096)
def _choice_loss(name: str, ratio: float) -> float:
    """Return the expected loss, in gaps, of candidates that lie 0, 1, 2, ... gaps below the best; ratio = gap·ε/Δ."""
    losses = np.arange(CANDIDATES, dtype=float)
    mechanism = method(name, "noise")
    return float(mechanism.kind(ratio, 1.0, **mechanism.options).probabilities(-losses) @ losses)


def choice_losses(gap: float, sensitivity: float) -> dict[str, Floats]:
    """Return the expected loss of each private choice over `NOISE_EPSILONS`, in units of the score.

    Five candidates, each `gap` below the one before; a record moves scores one way, by up to `sensitivity` (votes
    under add/remove), so that every mechanism's range of the change is `sensitivity`.
    """
    ratios = [float(f"{gap * e / sensitivity:.12g}") for e in NOISE_EPSILONS]
    return {name: gap * np.array([_choice_loss(name, r) for r in ratios]) for name in CHOICES}


def true_cost(scale: Floats, beta: Floats) -> Floats:
    """Return the ε that Cauchy noise of this scale per unit of β-smooth sensitivity costs.

    The larger, over λ = 0 and λ = β, of arccosh(cosh λ + e^-λ/(2c²)) (derived in `dpml.mechanisms.smooth.admissible`).

    Examples
    --------
    >>> true_cost(np.array([6.0, 2**0.5]), np.array([1 / 6, 1 / 6])).round(3).tolist()
    [0.226, 0.693]
    """
    scale, beta = np.asarray(scale, dtype=float), np.asarray(beta, dtype=float)
    # arccosh(1 + 2w) = 2 arsinh(√w), which stays exact for small w
    at = [np.sinh(step / 2) ** 2 + np.exp(-step) / (4 * scale**2) for step in (np.zeros_like(beta), beta)]
    return 2 * np.arcsinh(np.sqrt(np.maximum(*at)))


def calibrations(share: float) -> dict[str, tuple[Floats, Floats]]:
    """Return, for each Cauchy calibration and over `NOISE_EPSILONS`, the scale and the ε that it truly costs."""
    epsilons = np.array(NOISE_EPSILONS)
    by_name = {}
    for name in (each.key for each in of_family("noise", "cauchy")):
        scale = np.array([cauchy_scale(e, share * e, name) for e in epsilons])
        by_name[name] = scale, true_cost(scale, share * epsilons)
    return by_name
