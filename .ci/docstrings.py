"""Check the docstrings of public names by numpydoc.

Run ``python .ci/docstrings.py [PACKAGE ...]``. Without arguments, all packages of dpml are checked. A public class or
function with a parameter ``epsilon`` needs notes with a line ``Privacy:`` and four fields in fixed order, for example::

    Privacy: ε = epsilon per call. δ = 0. Relation: add/remove-one. Sensitivity: 1 in L1 norm.
    Privacy: no data is read.
"""

import dataclasses
import inspect
import re
import sys
from collections.abc import Iterator
from pathlib import Path
from typing import Any

from numpydoc.validate import validate

sys.path.append(str(Path(__file__).parents[1] / "docs"))
from write_reference import homes, packages

# faults of form that are no faults here: the first line starts behind the quotes, an extended summary is optional, and
# only classes and functions need See Also and Examples
IGNORED = {"GL01", "GL02", "ES01", "SA01", "EX01", "YD01"}
OF_METHODS_TOO = IGNORED | {"GL08", "SS06"}
PRIVACY = re.compile(
    r"Privacy: (?:no data is read\.|ε = (?:(?!\n\n).)+?\. δ = (?:(?!\n\n).)+?\. Relation: (?:(?!\n\n).)+?\. "
    r"Sensitivity: (?:(?!\n\n).)+?\.)",
    re.S,
)


def public_names() -> Iterator[tuple[str, Any]]:
    """Yield each public class and function of dpml once, by the package that documents it."""
    modules = packages()
    for full, home in homes(modules).items():
        package, _, name = full.partition(".")
        thing = getattr(modules[package], name)
        if home == package and (inspect.isclass(thing) or inspect.isfunction(thing)):
            yield f"dpml.{full}", thing


def methods(name: str, thing: type) -> Iterator[str]:
    """Yield the names of the public methods that dpml defines for a class."""
    for attribute, member in vars(thing).items():
        if not attribute.startswith("_") and inspect.isfunction(member) and member.__doc__:
            yield f"{name}.{attribute}"


def documented(thing: Any) -> set[str]:
    """Return the parameters that need no entry of their own.

    A field with an underscore is private. A dataclass or a named tuple is often a result that users read and do not
    make: then its fields are attributes.
    """
    try:
        parameters = inspect.signature(thing).parameters
    except ValueError:  # an exception
        parameters = {}
    names = {name for name in parameters if name.startswith("_")}
    if getattr(thing, "_is_protocol", False):  # its constructor takes nothing
        names |= {"*args", "**kwargs"}
    if dataclasses.is_dataclass(thing) or hasattr(thing, "_fields"):
        attributes = re.search(r"^Attributes\n-+\n(.*?)(?=\n\n\S|\Z)", inspect.getdoc(thing) or "", re.M | re.S)
        entries = re.findall(r"^(\w.*?)(?: : |$)", attributes[1], re.M) if attributes else []
        names |= {name for entry in entries for name in entry.split(", ")}
    return names


def class_faults(name: str, thing: Any) -> Iterator[tuple[str, str]]:
    """Yield code and message of each fault of a public class or function."""
    ignored = IGNORED - {"SA01"}
    if inspect.isclass(thing) and issubclass(thing, BaseException):
        # the function that raises it describes an exception, and a base class its constructor
        ignored = ignored | {"SA01"} | (set() if "__init__" in vars(thing) else {"PR01"})
    # by its module, since a folder of a package can have the name of a function
    for code, text in validate(f"{thing.__module__}.{thing.__qualname__}")["errors"]:
        missing = set(re.findall(r"'([^']+)'", text)) - documented(thing) if code == "PR01" else {text}
        if code not in ignored and missing:
            yield code, text


def privacy_faults(name: str, thing: Any) -> Iterator[str]:
    """Yield a message where a callable with ``epsilon`` does not state its privacy."""
    try:
        parameters = inspect.signature(thing).parameters
    except ValueError:  # an exception
        return
    text = inspect.getdoc(thing) or ""
    text = re.sub(r"\n(?!\n)\s*", " ", re.sub(r"\n\s*\n", "\0", text)).replace("\0", "\n\n")
    if "epsilon" in parameters and not PRIVACY.search(text):
        yield f"{name}: no line 'Privacy: ε = ... δ = ... Relation: ... Sensitivity: ...'"


def faults(packages: list[str]) -> Iterator[str]:
    """Yield the faults of all public names, or of those of some packages."""
    for name, thing in public_names():
        if packages and not any(name.startswith(f"{package}.") for package in packages):
            continue
        yield from (f"{name}: {code} {text}" for code, text in class_faults(name, thing))
        yield from privacy_faults(name, thing)
        if inspect.isclass(thing):
            for method in methods(name, thing):
                found = validate(method)["errors"]
                yield from (f"{method}: {code} {text}" for code, text in found if code not in OF_METHODS_TOO)


def main() -> int:
    """Print all faults."""
    messages = list(faults(sys.argv[1:]))
    print(*messages, sep="\n")
    print(f"{len(messages)} faults of docstrings")
    return bool(messages)


if __name__ == "__main__":
    sys.exit(main())
