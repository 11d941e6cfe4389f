"""Studies by name, for files that declare a sweep, with the allowed values of their settings.

A named study is built once for each data set, relation and combination of its *fixed* parameters, for these change the
exact statistics. Its *settings* change the release only, so all of their values are drawn from the same statistics.
"""

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import Any

from dpml._validate import check_choice, check_epsilon, check_flag, check_integer, check_number
from dpml.classifiers.naive_bayes.posterior import check_shrinkage
from dpml.datasets import Dataset
from dpml.exceptions import InvalidParameter
from dpml.registry import method, methods_of, of_family, study_by_name
from dpml.selection.scores import KINDS
from dpml.studies.accuracy import SelectedNBStudy
from dpml.studies.mixed import AutoStudy

Check = Callable[[Any, str], Any]
RESERVED = ("study", "data", "relation", "draws", "draw", "seed", "block", "paired")


@dataclass(frozen=True)
class NamedStudy:
    """A study that a file can name.

    Attributes
    ----------
    build : callable
        ``build(dataset, relation=..., **fixed)`` returns a callable study for `dpml.sweep.sweep`. It is a function or
        class of a module, so that another process can import it.
    fixed : mapping of str to callable
        Other parameters of `build`, each with ``check(value, name)``, which returns the value or raises
        `InvalidParameter`.
    settings : mapping of str to callable
        Settings of one call of the study, with their checks. "epsilon" is among them.
    binary : bool
        Whether it reads the binary columns of a data set. Otherwise it reads the raw table.

    See Also
    --------
    register : Add a study.
    every_study : All studies by name.
    """

    build: Callable[..., Any]
    fixed: Mapping[str, Check]
    settings: Mapping[str, Check]
    binary: bool = True

    def fits(self, dataset: Dataset, settings: Mapping[str, Any]) -> None:
        """Check the settings that depend on the data set.

        Parameters
        ----------
        dataset : Dataset
            Data set of the sweep.
        settings : mapping
            Settings of the study by name.

        Raises
        ------
        InvalidParameter
            If a raw table is needed and missing, or `n_features` is too large.
        """
        if not self.binary and dataset.frame_schema is None and self.build is not AutoStudy:
            raise InvalidParameter("data", dataset.name, "a data set whose raw table has features")
        if settings.get("n_features") is not None:
            check_integer(settings["n_features"], "n_features", 1, dataset.schema.n_features)


def _number(lower: float, upper: float = float("inf"), *, open_lower: bool = False, open_upper: bool = False) -> Check:
    return lambda value, name: check_number(value, name, lower, upper, open_lower=open_lower, open_upper=open_upper)


def _choice(*allowed: str) -> Check:
    return lambda value, name: check_choice(value, name, allowed)


def _integer(lower: int) -> Check:
    return lambda value, name: check_integer(value, name, lower)


def _or_none(check: Check) -> Check:
    """Return a check that also accepts None, for the public rule or for all features."""
    return lambda value, name: None if value is None else check(value, name)


_POSITIVE = _number(0.0, open_lower=True)
_SHARE = _number(0.0, 1.0, open_lower=True, open_upper=True)
_PERCENTILE = _number(50.0, 100.0, open_upper=True)
_EPSILON: dict[str, Check] = {"epsilon": check_epsilon}
_AUC: dict[str, Check] = {"auc": check_flag}
_ALGORITHM_1: dict[str, Check] = {"threshold_percentile": _PERCENTILE, "pseudocount": _POSITIVE}


class _NaiveBayes(SelectedNBStudy):
    """Algorithm 1 on T selected features; without `n_features`, on all."""

    def _models(self, epsilon, *, n_features=None, **options):
        return super()._models(epsilon, n_features=n_features or self.schema.n_features, **options)


def _named(key: str, fixed: dict[str, Check], settings: dict[str, Check], **more: Any) -> tuple[str, NamedStudy]:
    """Return the name of a method's study in a sweep, and the study, which several methods may share."""
    entry = method(key)
    own = methods_of(entry.sweep)
    facts = {"build": study_by_name(entry.study), "binary": not entry.table, **more}
    fixed = {**({"method": _choice(*own)} if own else {}), **fixed}
    return entry.sweep, NamedStudy(fixed=fixed, settings={**_EPSILON, **settings, **_AUC}, **facts)


_ROW_BOUND: dict[str, Check] = {"row_bound": _or_none(_integer(1))}
STUDIES: dict[str, NamedStudy] = dict(
    (
        _named(
            "algorithm-1",
            {"score": _choice(*KINDS)},
            {"n_features": _or_none(_integer(1)), "selection_share": _SHARE, **_ALGORITHM_1},
            build=_NaiveBayes,
        ),
        _named(
            "row-bounded",
            _ROW_BOUND,
            {"class_share": _or_none(_SHARE), "pseudocount": _POSITIVE, "shrinkage": _or_none(check_shrinkage)},
        ),
        _named("partitioned", {"deals": _integer(1)}, _ALGORITHM_1),
        _named("objective", _ROW_BOUND, {"reg_lambda": _POSITIVE}),
        _named(
            "binned",
            _ROW_BOUND,
            {
                "n_bins": _or_none(_integer(1)),
                "class_share": _SHARE,
                "pseudocount": _POSITIVE,
                "shrinkage": check_shrinkage,
            },
        ),
        _named("global", {}, {"trim": _or_none(_integer(0)), "pseudocount": _POSITIVE}),
        _named("auto", {}, {"grids": _integer(1)}, binary=False),
    )
)


def every_study() -> dict[str, NamedStudy]:
    """Return every study that a file can name.

    The studies are `STUDIES` and those of registered methods, which have ε as their only setting.

    Returns
    -------
    dict of str to NamedStudy
        Studies by name.

    See Also
    --------
    register : Add a study.
    NamedStudy : Description of a study.
    """
    own = {
        entry.sweep: NamedStudy(study_by_name(entry.study), {}, _EPSILON, binary=not entry.table)
        for entry in of_family()
        if entry.study and entry.sweep not in STUDIES
    }
    return {**own, **STUDIES}


def register(name: str, study: NamedStudy) -> None:
    """Add a study of your own to `STUDIES`.

    Parameters
    ----------
    name : str
        Name after ``study:`` in a file. It must not be taken.
    study : NamedStudy
        Study to add.

    Raises
    ------
    InvalidParameter
        If the name is taken or empty, a setting has a reserved name, or "epsilon" is no setting.

    See Also
    --------
    every_study : All studies by name.
    NamedStudy : Description of a study.

    Examples
    --------
    >>> register("naive-bayes", STUDIES["naive-bayes"])
    Traceback (most recent call last):
    dpml.exceptions.InvalidParameter: `name` must be ... Got 'naive-bayes'.
    """
    if not isinstance(name, str) or not name.strip() or name in every_study():
        raise InvalidParameter("name", name, f"a new name, other than {', '.join(every_study())}")
    taken = [each for each in (*study.fixed, *study.settings) if each in RESERVED]
    if taken:
        raise InvalidParameter("study", taken[0], f"one without a parameter named {', '.join(RESERVED)}")
    if "epsilon" not in study.settings or set(study.fixed) & set(study.settings):
        raise InvalidParameter("study", sorted(study.settings), "one with a setting 'epsilon', and each name once")
    STUDIES[name] = study
