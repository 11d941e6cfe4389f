"""Check the docstrings of public names by numpydoc.

Run ``python .ci/docstrings.py [PACKAGE ...]``. Without arguments, all packages of dpml are checked. A public class or
function with a parameter ``epsilon`` needs notes with a line ``Privacy:`` and four fields in fixed order, for example::

    Privacy: ε = epsilon per call. δ = 0. Relation: add/remove-one. Sensitivity: 1 in L1 norm.
    Privacy: no data is read.
"""

import importlib
import inspect
import pkgutil
import re
import sys
from collections.abc import Iterator
from typing import Any

from numpydoc.validate import validate

import dpml

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
    """Yield each public class and function of dpml once, by the package that defines it."""
    for module in sorted(pkgutil.walk_packages(dpml.__path__, "dpml."), key=lambda module: module.name):
        if any(part.startswith("_") for part in module.name.split(".")) or module.name.count(".") > 1:
            continue
        package = importlib.import_module(module.name)
        for name in getattr(package, "__all__", ()):
            thing = getattr(package, name)
            home = getattr(thing, "__module__", "") or ""
            if (inspect.isclass(thing) or inspect.isfunction(thing)) and home.startswith(module.name):
                yield f"{module.name}.{name}", thing


def methods(name: str, thing: type) -> Iterator[tuple[str, Any]]:
    """Yield the public methods that dpml defines for a class."""
    for attribute, member in vars(thing).items():
        if not attribute.startswith("_") and inspect.isfunction(member) and member.__doc__:
            yield f"{name}.{attribute}", member


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
        ignored = IGNORED - {"SA01"}
        yield from (f"{name}: {code} {text}" for code, text in validate(name)["errors"] if code not in ignored)
        yield from privacy_faults(name, thing)
        if inspect.isclass(thing):
            for method, _ in methods(name, thing):
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
