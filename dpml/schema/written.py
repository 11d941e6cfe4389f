"""A schema as JSON, and as YAML for people who review it before the data are used. YAML may come from anybody."""

import json
from collections.abc import Callable, Mapping
from dataclasses import asdict, fields, replace
from typing import Any, TypeVar

from dpml._yaml import Fault, read_values, write_values
from dpml.exceptions import InvalidParameter, InvalidSchema
from dpml.schema.feature import Feature

Stated = TypeVar("Stated")

KEYS = ("features", "classes", "row_bound", "n_rows", "n_lower", "ignored", "data_derived", "confirmed")
OF_FEATURE = (*(f.name for f in fields(Feature)), "cuts", "scale")
# lists of names that are left out where they are empty
NAMES = ("ignored", "data_derived", "confirmed")
PLAIN = (str, int, float, bool, type(None))


def to_json(schema: Any) -> str:
    """Return public metadata of a schema as JSON."""
    features = [_stated(feature) for feature in schema.features]
    facts = {name: getattr(schema, name) for name in ("classes", "row_bound", "n_rows", "n_lower")}
    named = {name: getattr(schema, name) for name in NAMES if getattr(schema, name)}
    return json.dumps({"features": features, **facts, **named}, ensure_ascii=False)


def from_json(text: str, kind: Callable[..., Stated]) -> Stated:
    """Return the schema, of the class `kind`, that `to_json` wrote."""
    facts: Mapping = json.loads(text)
    features = []
    for item in facts["features"]:
        if item.get("categories") is not None:
            item = {**item, "categories": tuple(item["categories"])}
        features.append(Feature(**item))
    rest: dict[str, Any] = {k: facts.get(k) for k in ("row_bound", "n_rows", "n_lower")}
    rest |= {name: tuple(facts.get(name, ())) for name in NAMES}
    return kind(tuple(features), tuple(facts["classes"]), **rest)


def to_yaml(schema: Any) -> str:
    """Return public metadata of a schema as YAML, without defaults."""
    features = []
    for feature in schema.features:
        features.append({name: _listed(value) for name, value in _stated(feature).items()})
    facts: dict[str, Any] = {"features": features, "classes": _listed(schema.classes)}
    if schema.row_bound < replace(schema, row_bound=None).row_bound:
        facts["row_bound"] = schema.row_bound
    if schema.n_rows is not None:
        facts["n_rows"] = schema.n_rows
    facts["n_lower"] = schema.n_lower
    facts |= {name: list(getattr(schema, name)) for name in NAMES if getattr(schema, name)}
    return write_values(facts)


def _stated(feature: Feature) -> dict[str, Any]:
    """Return what a feature says that is not at its default."""
    return {name: value for name, value in asdict(feature).items() if value not in (None, ()) and value is not False}


def _listed(value: Any) -> Any:
    if isinstance(value, (tuple, list)):
        return [_listed(each) for each in value]
    if not isinstance(value, PLAIN):
        raise InvalidSchema("value in the schema", value, "text, a number or a truth value, to be written as YAML")
    return value


def schema_of(text: str, kind: Callable[..., Stated]) -> Stated:
    """Return the schema, of the class `kind`, in a YAML text, or raise `InvalidSchema` with its error."""
    try:
        mapping = read_values(text)
    except Fault as fault:
        raise InvalidSchema("schema", "the text", f"YAML with the keys {', '.join(KEYS)} ({fault})") from fault
    _check_keys("schema", mapping, KEYS, ("features", "classes"))
    items = mapping["features"]
    if not isinstance(items, list) or not items:
        raise InvalidSchema("features", items, "a list with at least one feature")
    classes, listed = mapping["classes"], {name: mapping.get(name) or [] for name in NAMES}
    for name, value in {"classes": classes, **listed}.items():
        if not isinstance(value, list) or not all(isinstance(each, PLAIN) for each in value):
            raise InvalidSchema(name, value, "a list of texts or numbers")
    facts: dict[str, Any] = {name: tuple(value) for name, value in listed.items()}
    facts |= {key: mapping[key] for key in ("row_bound", "n_rows", "n_lower") if mapping.get(key) is not None}
    try:
        features = tuple(_feature(item) for item in items)
        return kind(features, tuple(classes), **facts)
    except InvalidSchema:
        raise
    except InvalidParameter as error:  # a number that is text, for example
        raise InvalidSchema(error.name, error.value, error.allowed) from error


def _feature(item: Any) -> Feature:
    _check_keys("feature", item, OF_FEATURE, ("name",))
    for key in ("categories", "levels", "cuts", "data_derived", "confirmed", "paid"):
        if item.get(key) is not None and not isinstance(item[key], list):
            raise InvalidSchema(f"{key} of {item['name']!r}", item[key], "a list")
    for key in ("exhaustive", "whole"):
        if not isinstance(item.get(key, False), bool):
            raise InvalidSchema(f"{key} of {item['name']!r}", item[key], "true or false")
    for key in ("missing", "block"):
        if not isinstance(item.get(key), PLAIN):
            raise InvalidSchema(f"{key} of {item['name']!r}", item[key], "one value")
    categories = item.get("categories") or []
    if not all(isinstance(each, PLAIN) for each in categories):
        raise InvalidSchema(f"categories of {item['name']!r}", categories, "texts or numbers")
    return Feature(**{**item, **({"categories": tuple(categories)} if categories else {})})


def _check_keys(what: str, mapping: Any, known: tuple[str, ...], needed: tuple[str, ...]) -> None:
    if not isinstance(mapping, Mapping):
        raise InvalidSchema(what, mapping, f"a mapping with the keys {', '.join(known)}")
    for key in mapping:
        if key not in known:
            raise InvalidSchema(f"key of the {what}", key, f"one of {', '.join(known)}")
    for key in needed:
        if mapping.get(key) is None:
            raise InvalidSchema(f"{key} of the {what}", None, "stated")
