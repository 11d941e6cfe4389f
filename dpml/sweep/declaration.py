"""The declaration of a sweep, from a dict or a YAML file: its check, its points, and the seed of each cell.

A point is one combination of settings. A cell is a point and one block of draws, the smallest unit of computation. The
generator of a cell follows only from the seed, the number of the block, and, if points are not paired, the point. So a
cell gives the same numbers in any order and on any worker.

Paired points (the default) draw from the same streams: draw i of every point comes from the stream of its block. So the
same method at two values of ε has the same unit noise, scaled, and differences have small standard errors. Two methods,
or two numbers of features, start from the same stream but may take a different number of values from it. Their pairing
is valid but weaker. Block 0 is drawn from ``default_rng(seed)``.
"""

import difflib
import hashlib
import itertools
import json
import math
import os
from collections.abc import Callable, Iterable, Iterator, Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import numpy as np

from dpml._validate import check_choice, check_flag, check_integer, check_relation
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
# settings that ask for one more measure, so they do not identify a point
ASKS = ("auc",)
# rows in one file of a stored sweep: many are read faster, few are written sooner
ROWS_OF_A_FILE = 200


@dataclass(frozen=True)
class Family:
    """One named study with the values of its parameters; its points are their Cartesian product."""

    name: str
    fixed: Mapping[str, tuple]
    settings: Mapping[str, tuple]


@dataclass(frozen=True)
class Declaration:
    """A checked declaration; each of `data` has a name and the options of `dpml.datasets.load`."""

    families: tuple[Family, ...]
    data: tuple[Mapping[str, Any], ...]
    relations: tuple[str, ...] = ("add-remove",)
    draws: int = DRAWS
    seed: int = 0
    block: int = BLOCK
    paired: bool = True
    studies: Mapping[str, NamedStudy] = field(default_factory=dict, compare=False, repr=False)

    def facts(self) -> dict[str, Any]:
        """Return all facts that decide the results, as plain values for JSON."""
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
        The checked declaration. Its ``facts()`` are plain values for JSON.

    Raises
    ------
    InvalidParameter
        If a key or a value is not allowed. The message names it.

    See Also
    --------
    sweep : Run a declaration.
    dpml.studies.every_study : All studies that a declaration can name.

    Examples
    --------
    >>> declared({"study": "naive-bayes", "data": "census", "epsilon": [0.1, 1]}).families[0].settings
    {'epsilon': (0.1, 1.0)}
    """
    given = study if isinstance(study, Mapping) else read_yaml(study)
    studies = every_study()
    parameters = (name for study in studies.values() for name in (*study.fixed, *study.settings))
    _check_names(given, (*TOP, *parameters), "a key of the sweep")
    for name in ("study", "data"):
        if name not in given:
            raise InvalidParameter(name, None, "stated")
    families = tuple(_family(each, given, studies) for each in _entries(given["study"], "study"))
    draws = check_integer(given.get("draws", DRAWS), "draws", 1, MOST_ROWS)
    result = Declaration(
        families=families,
        data=tuple(_data(each) for each in _entries(given["data"], "data")),
        relations=_values(given.get("relation", "add-remove"), "relation", check_relation),
        draws=draws,
        seed=check_integer(given.get("seed", 0), "seed", 0),
        block=min(check_integer(given.get("block", BLOCK), "block", 1), draws),
        paired=check_flag(given.get("paired", True), "paired"),
        studies={family.name: studies[family.name] for family in families},
    )
    _check_once(result.data, "data")
    sizes = (math.prod(map(len, (*f.fixed.values(), *f.settings.values()))) for f in families)
    points = len(result.data) * len(result.relations) * sum(sizes)
    if points > MOST_POINTS:
        raise InvalidParameter("points", points, f"at most {MOST_POINTS:,} combinations of settings")
    if points * draws > MOST_ROWS:
        raise InvalidParameter("draws", draws, f"at most {MOST_ROWS // points:,}, for {points:,} combinations")
    if points * -(-draws // result.block) > MOST_POINTS:
        raise InvalidParameter("block", result.block, f"so large that there are at most {MOST_POINTS:,} blocks in all")
    _check_apart(families)
    return result


def of_facts(facts: Mapping[str, Any]) -> Declaration:
    """Return the declaration with these facts; its studies need not be registered.

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


# ---- points and cells -----------------------------------------------------------------------------------------------


@dataclass(frozen=True)
class Point:
    """One combination of settings of a named study on one data set."""

    study: str
    data: dict[str, Any]
    relation: str
    fixed: dict[str, Any]
    settings: dict[str, Any]

    def row(self) -> dict[str, Any]:
        """Return the values that identify the point in the tidy table; of a callable study, its settings."""
        if not self.study:
            return self.settings
        options = ", ".join(f"{key}={value}" for key, value in self.data.items() if key != "name")
        data = f"{self.data['name']} ({options})" if options else str(self.data["name"])
        settings = {name: value for name, value in self.settings.items() if name not in ASKS}
        return {"study": self.study, "data": data, "relation": self.relation, **self.fixed, **settings}

    def built_from(self) -> str:
        """Return the key of the point's exact statistics. Points with the same key share them."""
        return _canonical([self.study, self.data, self.relation, self.fixed])


@dataclass(frozen=True)
class Cell:
    """A point and one block of its draws; `spawn` has the words of the point's own stream, none if paired."""

    point: Point
    block: int
    first: int
    draws: int
    seed: int
    spawn: tuple[int, ...] = ()


def points_of(declaration: Declaration) -> Iterator[Point]:
    """Yield the points of a declaration. Points that share their statistics follow each other."""
    for family in declaration.families:
        for data, relation in itertools.product(declaration.data, declaration.relations):
            for fixed in _product(family.fixed):
                for settings in _product(family.settings):
                    yield Point(family.name, dict(data), relation, fixed, settings)


def cells_of(declaration: Declaration) -> Iterator[Cell]:
    """Yield the cells in the order of the table."""
    draws, size = declaration.draws, declaration.block
    for point in points_of(declaration):
        spawn: tuple[int, ...] = ()
        if not declaration.paired:
            digest = hashlib.sha256(_canonical(point.row()).encode()).digest()
            spawn = tuple(int.from_bytes(digest[start : start + 4], "little") for start in range(0, 16, 4))
        for block, first in enumerate(range(0, draws, size)):
            yield Cell(point, block, first, min(size, draws - first), declaration.seed, spawn)


def batches(cells: list[Cell]) -> list[list[Cell]]:
    """Return the cells of each file of the store. They follow from the declaration alone."""
    size = max(1, ROWS_OF_A_FILE // max((cell.draws for cell in cells), default=1))
    return [cells[start : start + size] for start in range(0, len(cells), size)]


def generator(seed: int, block: int, spawn: tuple[int, ...] = ()) -> np.random.Generator:
    """Return the random generator of a block of draws.

    >>> bool(generator(7, 0).random() == np.random.default_rng(7).random())
    True
    """
    key = (*spawn, block) if block or spawn else ()
    return np.random.default_rng(np.random.SeedSequence(seed, spawn_key=key))


def _product(values: Any) -> Iterator[dict[str, Any]]:
    for combination in itertools.product(*values.values()):
        yield dict(zip(values, combination, strict=True))


def _canonical(value: Any) -> str:
    return json.dumps(value, sort_keys=True, ensure_ascii=False)


# ---- checks --------------------------------------------------------------------------------------------------------


def _check_apart(families: tuple[Family, ...]) -> None:
    """Refuse a point that two entries of one study have in common."""
    seen: set[str] = set()
    for family in families:
        if sum(each.name == family.name for each in families) > 1:
            values = {key: given for key, given in {**family.fixed, **family.settings}.items() if key not in ASKS}
            for point in itertools.product(*values.values()):
                text = repr((family.name, dict(zip(values, point, strict=True))))
                if text in seen:
                    raise InvalidParameter("study", text, "asked for once")
                seen.add(text)


def _entries(value: Any, name: str) -> list:
    """Return one entry or a list of entries as a list."""
    entries = list(value) if isinstance(value, (list, tuple)) else [value]
    if not entries:
        raise InvalidParameter(name, value, "a name or a list of at least one")
    return entries


def _family(entry: Any, given: Mapping[str, Any], studies: Mapping[str, NamedStudy]) -> Family:
    """Return a study's parameters: its own, and those that all studies share; each study must have the latter."""
    own = dict(entry) if isinstance(entry, Mapping) else {"name": entry}
    name = check_choice(own.pop("name", None), "study", tuple(studies))
    table = studies[name]
    known = (*table.fixed, *table.settings)
    _check_names(own, known, f"a parameter of {name!r}")
    shared = {key: value for key, value in given.items() if key not in TOP}
    for key in shared:
        if key not in known:
            raise InvalidParameter("key", key, f"a parameter of {name!r}, which has {', '.join(known)}")
    both = sorted(set(own) & set(shared))
    if both:
        raise InvalidParameter(both[0], own[both[0]], f"stated once, for {name!r} or for all studies")
    stated = {**shared, **own}
    if "epsilon" not in stated:
        raise InvalidParameter("epsilon", None, "stated: a number > 0 or a list of them")
    # in the table's order, so that the order of the file's lines changes nothing
    fixed, settings = (
        {key: _values(stated[key], key, check) for key, check in checks.items() if key in stated}
        for checks in (table.fixed, table.settings)
    )
    for key in ASKS:
        if len(settings.get(key, ())) > 1:
            raise InvalidParameter(key, list(settings[key]), "one value, true or false")
    return Family(name, fixed, settings)


def _values(value: Any, name: str, check: Callable[[Any, str], Any]) -> tuple:
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


def read_yaml(path: str | os.PathLike) -> dict[Any, Any]:
    """Return the mapping in a YAML file; `read_values` refuses repeated keys and anchors."""
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
