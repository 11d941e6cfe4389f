"""The declaration of a sweep, a dict or a YAML file, and its check: faults are named before anything is computed."""

import difflib
import itertools
import os
from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from dpml._validate import RELATIONS, check_choice, check_flag, check_integer, check_relation
from dpml._yaml import read_values
from dpml.datasets import NAMES
from dpml.exceptions import InvalidParameter
from dpml.studies.named import NamedStudy, every_study

DRAWS = 50
BLOCK = 100
MOST_ROWS = 1_000_000_000
MOST_POINTS = 1_000_000
MOST_BYTES = 1_000_000
SINGLE = ("draws", "seed", "block", "paired")
TOP = ("study", "data", "relation", *SINGLE)
PARTS = ("fixed", "settings")
# asks for one more measure, whose column has the same name: it tells no point from another
ASKS = ("auc",)


@dataclass(frozen=True)
class Family:
    """Hold one named study with the values of its parameters.

    The points are the Cartesian product of the values. `fixed` and `settings` list them in the order of the
    study's table.
    """

    name: str
    fixed: Mapping[str, tuple]
    settings: Mapping[str, tuple]


@dataclass(frozen=True)
class Declaration:
    """Describe a sweep that has been checked.

    Parameters
    ----------
    families : tuple of Family
        Named studies with the values of their parameters.
    data : tuple of dict
        For each data set, its ``name`` and the options of `dpml.datasets.load`.
    relations : tuple of str, default=("add-remove",)
        Neighbouring relations under which each ε holds.
    draws : int, default=50
        Number of draws at each point.
    seed : int, default=0
        Seed of all streams of noise.
    block : int, default=100
        Number of draws of one call of a study.
    paired : bool, default=True
        If True, all points draw from the same streams.
    studies : mapping of str to NamedStudy
        Studies that the names refer to.

    See Also
    --------
    declared : Check a declaration.
    sweep : Run a declaration.
    """

    families: tuple[Family, ...]
    data: tuple[Mapping[str, Any], ...]
    relations: tuple[str, ...] = ("add-remove",)
    draws: int = DRAWS
    seed: int = 0
    block: int = BLOCK
    paired: bool = True
    studies: Mapping[str, NamedStudy] = field(default_factory=dict, compare=False, repr=False)

    def facts(self) -> dict[str, Any]:
        """Return all facts that decide the results.

        Returns
        -------
        dict
            Plain values that JSON can represent.
        """
        families = [{"name": f.name, "fixed": dict(f.fixed), "settings": dict(f.settings)} for f in self.families]
        return {
            "study": families,
            "data": [dict(each) for each in self.data],
            "relation": list(self.relations),
            **{name: getattr(self, name) for name in SINGLE},
        }


def declared(study: Mapping[str, Any] | str | os.PathLike) -> Declaration:
    """Check the declaration of a sweep.

    Parameters
    ----------
    study : mapping, str or path
        The declaration, or the path of its YAML file.

    Returns
    -------
    Declaration
        The checked declaration.

    Raises
    ------
    InvalidParameter
        If a key or a value is not allowed. The message names it.

    See Also
    --------
    sweep : Run a declaration.
    Declaration : The checked form.

    Examples
    --------
    >>> declared({"study": "naive-bayes", "data": "census", "epsilon": [0.1, 1]}).families[0].settings
    {'epsilon': (0.1, 1.0)}
    """
    given = study if isinstance(study, Mapping) else read_yaml(study)
    studies = every_study()
    _check_names(given, (*TOP, *_all_parameters(studies)), "a key of the sweep")
    for name in ("study", "data"):
        if name not in given:
            raise InvalidParameter(name, None, "stated")
    families = tuple(_family(each, given, studies) for each in _entries(given["study"], "study"))
    _check_shared(given, families, studies)
    draws = check_integer(given.get("draws", DRAWS), "draws", 1, MOST_ROWS)
    result = Declaration(
        families=families,
        data=tuple(_data(each) for each in _entries(given["data"], "data")),
        relations=_values(given.get("relation", "add-remove"), "relation", check_relation, RELATIONS),
        draws=draws,
        seed=check_integer(given.get("seed", 0), "seed", 0),
        block=min(check_integer(given.get("block", BLOCK), "block", 1), draws),
        paired=check_flag(given.get("paired", True), "paired"),
        studies={family.name: studies[family.name] for family in families},
    )
    _check_once(result.data, "data")
    points = len(result.data) * len(result.relations) * sum(map(_size, families))
    if points > MOST_POINTS:
        raise InvalidParameter("points", points, f"at most {MOST_POINTS:,} combinations of settings")
    if points * draws > MOST_ROWS:
        raise InvalidParameter("draws", draws, f"at most {MOST_ROWS // points:,}, for {points:,} combinations")
    if points * -(-draws // result.block) > MOST_POINTS:
        raise InvalidParameter("block", result.block, f"so large that there are at most {MOST_POINTS:,} blocks in all")
    _check_apart(families)
    return result


def of_facts(facts: Mapping[str, Any]) -> Declaration:
    """Return the declaration of which `Declaration.facts` were kept; its studies need not be known here.

    >>> asked = declared({"study": "naive-bayes", "data": "census", "epsilon": 1})
    >>> of_facts(asked.facts()) == asked
    True
    """
    families = tuple(
        Family(each["name"], *({key: tuple(values) for key, values in each[part].items()} for part in PARTS))
        for each in facts["study"]
    )
    data, relations = tuple(dict(each) for each in facts["data"]), tuple(facts["relation"])
    return Declaration(families, data, relations, *(facts[name] for name in SINGLE))


# ---- the parts --------------------------------------------------------------------------------------------------


def _size(family: Family) -> int:
    size = 1
    for values in (*family.fixed.values(), *family.settings.values()):
        size *= len(values)
    return size


def _check_apart(families: tuple[Family, ...]) -> None:
    """Refuse a point that two entries of one study have in common: its rows would stand in the table twice."""
    seen: set[str] = set()
    for family in families:
        if sum(each.name == family.name for each in families) > 1:
            values = {key: given for key, given in {**family.fixed, **family.settings}.items() if key not in ASKS}
            for point in itertools.product(*values.values()):
                text = repr((family.name, dict(zip(values, point, strict=True))))
                if text in seen:
                    raise InvalidParameter("study", text, "asked for once")
                seen.add(text)


def _all_parameters(studies: Mapping[str, NamedStudy]) -> list[str]:
    return list(dict.fromkeys(name for s in studies.values() for name in (*s.fixed, *s.settings)))


def _entries(value: Any, name: str) -> list:
    """Return one entry or a list of entries as a list."""
    entries = list(value) if isinstance(value, (list, tuple)) else [value]
    if not entries:
        raise InvalidParameter(name, value, "a name or a list of at least one")
    return entries


def _family(entry: Any, given: Mapping[str, Any], studies: Mapping[str, NamedStudy]) -> Family:
    """Return a study's parameters: its own, and those that all studies share."""
    own = dict(entry) if isinstance(entry, Mapping) else {"name": entry}
    name = check_choice(own.pop("name", None), "study", tuple(studies))
    table = studies[name]
    known = (*table.fixed, *table.settings)
    _check_names(own, known, f"a parameter of {name!r}")
    shared = {key: value for key, value in given.items() if key in known}
    both = sorted(set(own) & set(shared))
    if both:
        raise InvalidParameter(both[0], own[both[0]], f"stated once, for {name!r} or for all studies")
    all_of_them = {**shared, **own}
    if "epsilon" not in all_of_them:
        raise InvalidParameter("epsilon", None, "stated: a number > 0 or a list of them")
    # in the table's order, so that the order of the file's lines changes nothing
    fixed = {key: _values(all_of_them[key], key, check) for key, check in table.fixed.items() if key in all_of_them}
    settings = {
        key: _values(all_of_them[key], key, check) for key, check in table.settings.items() if key in all_of_them
    }
    for key in ASKS:
        if len(settings.get(key, ())) > 1:
            raise InvalidParameter(key, list(settings[key]), "one value, true or false")
    return Family(name, fixed, settings)


def _check_shared(given: Mapping[str, Any], families: Iterable[Family], studies: Mapping[str, NamedStudy]) -> None:
    """Refuse a parameter for all studies that one of them does not have: it would be ignored there."""
    for key in given:
        for family in families:
            table = studies[family.name]
            if key not in (*TOP, *table.fixed, *table.settings):
                known = ", ".join((*table.fixed, *table.settings))
                raise InvalidParameter("key", key, f"a parameter of {family.name!r}, which has {known}")


def _values(value: Any, name: str, check: Any, allowed: tuple[str, ...] = ()) -> tuple:
    """Return one value or a list of them as a tuple of checked, different values."""
    values = value if isinstance(value, (list, tuple)) else [value]
    if not len(values):
        raise InvalidParameter(name, value, "a value or a list of at least one")
    if len(values) > MOST_POINTS:
        raise InvalidParameter(name, f"a list of {len(values):,}", f"a list of at most {MOST_POINTS:,}")
    checked = tuple(check(each, name) for each in values)
    _check_once(checked, name)
    return checked


def _check_once(values: tuple, name: str) -> None:
    seen: set[str] = set()
    for value in values:
        text = repr(value)
        if text in seen:
            raise InvalidParameter(name, value, "listed once")
        seen.add(text)


def _data(entry: Any) -> dict[str, Any]:
    """Return the name of a data set and the options of its `load`."""
    own = dict(entry) if isinstance(entry, Mapping) else {"name": entry}
    name = check_choice(own.pop("name", None), "data", NAMES)
    if "data_home" in own:
        raise InvalidParameter("data: data_home", own["data_home"], "left out: DPML_DATA names the folder of the files")
    for key, value in own.items():
        if not isinstance(key, str) or not isinstance(value, (int, str)) or isinstance(value, bool):
            raise InvalidParameter(f"data: {key}", value, "an option of dpml.datasets.load: a whole number or a text")
    return {"name": name, **{key: own[key] for key in sorted(own)}}


def _check_names(given: Mapping[Any, Any], known: Iterable[str], what: str) -> None:
    names = list(dict.fromkeys(known))
    for key in given:
        if key not in names:
            near = difflib.get_close_matches(str(key), names, n=1) if isinstance(key, str) else []
            hint = f" (did you mean {near[0]!r}?)" if near else ""
            raise InvalidParameter("key", key, f"{what}: {', '.join(names)}{hint}")


# ---- YAML -------------------------------------------------------------------------------------------------------


def read_yaml(path: str | os.PathLike) -> dict[Any, Any]:
    """Return the mapping that a YAML file holds.

    A key that stands there twice is refused, and so are anchors, because a small file could unfold to a huge one.
    """
    place = os.fspath(path)
    allowed = "the path of a YAML file whose top level is a mapping, such as 'study: naive-bayes'"
    try:
        file = Path(place)
        if file.stat().st_size > MOST_BYTES:
            raise InvalidParameter("study", place, f"{allowed}, of at most {MOST_BYTES:,} bytes")
        mapping = read_values(file.read_text(encoding="utf-8"))
    except OSError as error:
        raise InvalidParameter("study", place, f"{allowed} ({error.strerror or type(error).__name__})") from error
    except InvalidParameter:
        raise
    except ValueError as error:  # no text, or no YAML
        raise InvalidParameter("study", place, f"{allowed} ({error})") from error
    if not isinstance(mapping, dict):
        raise InvalidParameter("study", place, f"{allowed} (its top level is {type(mapping).__name__})")
    return mapping
