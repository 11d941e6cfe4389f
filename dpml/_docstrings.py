"""Add the parameters, attributes and errors that only its bases describe to the docstring of a class."""

import inspect
import re

# the sections that are lists of entries, in the order in which a docstring has them
LISTS = ("Parameters", "Attributes", "Raises")
TITLE = re.compile(r"^(\w+(?: \w+)?)\n-{3,}\n", re.MULTILINE)

# the entries of a section by their first lines
Entries = dict[str, str]


def _sections(docstring: str) -> dict[str, str]:
    """Return the text of each section by its title. The text before the first title has an empty one."""
    texts = ["", *TITLE.split(inspect.cleandoc(docstring))]
    return {title: text.strip() for title, text in zip(texts[::2], texts[1::2], strict=True)}


def _entries(section: str) -> Entries:
    entries = re.split(r"\n(?=\S)", section) if section else []
    return {entry.partition("\n")[0].partition(" : ")[0]: entry for entry in entries}


def _names(entries: Entries) -> set[str]:
    return {name for names in entries for name in names.split(", ")}


def with_inherited_entries(kind: type) -> str:
    """Return the docstring of a class, its lists with the entries that only its bases have."""
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
        lists[title] = "\n".join((first | entries | others).values())
    texts = {"": own.pop(""), **lists, **{title: text for title, text in own.items() if title not in LISTS}}
    sections = (f"{title}\n{'-' * len(title)}\n{text}" if title else text for title, text in texts.items() if text)
    return "\n\n".join(sections) + "\n"
