"""The list of parameters in a class's docstring goes on with those that only its base describes."""

from __future__ import annotations

import inspect
import re

__all__ = ["with_inherited_parameters"]

# the entries of the list
PARAMETERS = re.compile(r"(?<=\nParameters\n----------\n)(?:.+\n|\n(?= {4}))*")
# where a list that a class does not begin itself goes
FIRST_SECTION = re.compile(r"^(?=\w+\n-{3,}\n)", re.MULTILINE)


def _described(docstring: str) -> dict[str, str]:
    """Return the entries of a docstring's list of parameters, by the names that they describe."""
    section = PARAMETERS.search(docstring)
    entries = re.split(r"^(?=\S)", section[0], flags=re.MULTILINE)[1:] if section else []
    return {entry.partition("\n")[0].partition(" : ")[0]: entry for entry in entries}


def with_inherited_parameters(kind: type) -> str:
    """Return the docstring of a class, its list of parameters with those that only its base describes."""
    docstring, *bases = (inspect.cleandoc(one.__doc__ or "") + "\n" for one in kind.__mro__)
    if not PARAMETERS.search(docstring):
        docstring = FIRST_SECTION.sub("Parameters\n----------\n\n", docstring, count=1)
    own = _described(docstring)
    known = {name for names in own for name in names.split(", ")}
    # what the class fixes for all its objects is no parameter
    known |= {name for name, of in inspect.get_annotations(kind).items() if str(of).startswith("ClassVar")}
    inherited: dict[str, str] = {}
    for base in reversed(bases):
        inherited |= _described(base)
    others = {name: entry for name, entry in inherited.items() if name not in known}
    first = {"epsilon": others.pop("epsilon")} if "epsilon" in others else {}
    return PARAMETERS.sub(lambda _: "".join({**first, **own, **others}.values()), docstring)
