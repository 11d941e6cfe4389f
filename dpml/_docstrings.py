"""Add the parameters, attributes and errors that only its bases describe to the docstring of a class.

A class describes what is its own, so that one text of a shared parameter serves some thirty estimators.
"""

import inspect
from dataclasses import KW_ONLY

# the sections that are lists of entries, in the order in which a docstring has them
LISTS = ("Parameters", "Attributes", "Raises")

# the entries of a section by their names
Entries = dict[str, str]


def _sections(docstring: str) -> dict[str, str]:
    """Return the text of each section by its title. The text before the first title has an empty one."""
    lines = ["", "", *inspect.cleandoc(docstring).splitlines()]
    titles = [0, *(i for i, rule in enumerate(lines[1:]) if rule and not rule.strip("-"))]
    return {
        lines[start]: "\n".join(lines[start + 2 : end]).strip()
        for start, end in zip(titles, [*titles[1:], len(lines)], strict=True)
    }


def _entries(section: str) -> Entries:
    """Return the entries of a section: each starts at a line that is not indented."""
    entries: Entries = {}
    for line in section.splitlines():
        if line[:1].strip():
            name = line.partition(" : ")[0]
            entries[name] = line
        else:
            entries[name] += f"\n{line}"
    return entries


def _names(entries: Entries) -> set[str]:
    return {name for names in entries for name in names.split(", ")}


def _fields(kind: type) -> list[str]:
    """Return the fields of a class in the order of its constructor, before `dataclass` has made it."""
    keyword: dict[str, bool] = {}
    for base in reversed(kind.__mro__[1:]):
        keyword |= {name: field.kw_only is True for name, field in vars(base).get("__dataclass_fields__", {}).items()}
    own = inspect.get_annotations(kind)
    by_position = KW_ONLY in own.values()
    for name, of in own.items():
        by_position = by_position and of is not KW_ONLY
        keyword.setdefault(name, not by_position and getattr(vars(kind).get(name), "kw_only", True) is not False)
    return sorted(keyword, key=keyword.__getitem__)


def with_inherited_entries(kind: type) -> str:
    """Return the docstring of a class, with the entries that only its bases have, parameters in the order of fields."""
    own, *bases = (_sections(one.__doc__ or "") for one in kind.__mro__)
    # what the class fixes for all its objects is no parameter
    fixed = {name for name, of in inspect.get_annotations(kind).items() if "ClassVar" in str(of)}
    lists = {}
    for title in LISTS:
        entries = _entries(own.get(title, ""))
        known = _names(entries) | fixed
        inherited: Entries = {}
        for base in reversed(bases):
            inherited |= _entries(base.get(title, ""))
        others = {
            left: left + entry.removeprefix(names)
            for names, entry in inherited.items()
            if (left := ", ".join(name for name in names.split(", ") if name not in known))
        }
        first = {"epsilon": others.pop("epsilon")} if "epsilon" in others else {}
        entries = first | entries | others
        if title == "Parameters":
            order = {name: place for place, name in enumerate(_fields(kind))}
            entries = dict(sorted(entries.items(), key=lambda entry: order.get(entry[0].split(", ")[0], len(order))))
        lists[title] = "\n".join(entries.values())
    texts = {"": own.pop(""), **lists, **{title: text for title, text in own.items() if title not in LISTS}}
    sections = (f"{title}\n{'-' * len(title)}\n{text}" if title else text for title, text in texts.items() if text)
    return "\n\n".join(sections) + "\n"
