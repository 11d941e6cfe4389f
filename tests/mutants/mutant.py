"""One fault: a rule, the function that it changes, and which of the places that the rule finds there."""

from __future__ import annotations

import ast
import importlib
import inspect
import re
import types
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from mutants.rules import RULES, applied, functions, places
from mutants.table import EQUIVALENT, LEFT_OUT, tests_of

ROOT = Path(__file__).parents[2]


@dataclass(frozen=True)
class Mutant:
    """A rule applied to a place of a function, which is qualified by its module; one of the tests must then fail."""

    rule: str
    module: str
    function: str
    occurrence: int

    @property
    def name(self) -> str:
        """The rule, the qualified name and the place, counted from 1."""
        return f"{self.rule}: {self.module}.{self.function} {self.occurrence}"

    @property
    def tests(self) -> tuple[str, ...]:
        """Files of tests, each with a word that the test must have in its name, the quickest first."""
        return tests_of(f"{self.module}.{self.function}")

    def apply(self) -> None:
        """Change the function in this process, for everyone who holds it.

        The code object itself is replaced, for other modules have the function under names of their own.
        """
        self.find().__code__ = self.changed()

    def changed(self) -> types.CodeType:
        """Return the code of the function after the change."""
        tree = ast.parse(_path(self.module).read_text())
        node = [node for name, node in functions(tree) if name == self.function][-1]
        changed = applied(self.rule, node, self.occurrence)
        parents: list[Any] = [tree, *(part for part in tree.body if isinstance(part, ast.ClassDef))]
        for parent in parents:
            parent.body = [changed if part is node else part for part in parent.body]
        code = _code_of(compile(tree, str(_path(self.module)), "exec"), self.function)
        assert code is not None, self.name
        assert code.co_freevars == self.find().__code__.co_freevars, self.name
        return code

    def find(self) -> types.FunctionType:
        """Return the plain function below properties, class methods, caches and decorators."""
        value: Any = importlib.import_module(self.module)
        for name in self.function.split("."):
            value = inspect.getattr_static(value, name)
        value = _plain(value)
        assert isinstance(value, types.FunctionType), self.name
        assert value.__qualname__ == self.function, self.name
        return value


def _mutants() -> Iterator[Mutant]:
    for path in sorted((ROOT / "dpml").rglob("*.py")):
        module = ".".join(path.relative_to(ROOT).with_suffix("").parts).removesuffix(".__init__")
        if module.startswith(LEFT_OUT):
            continue
        for name, function in functions(ast.parse(_path(module).read_text())):
            for rule in RULES:
                for place in range(places(rule, function)):
                    yield Mutant(rule, module, name, place + 1)


def _path(module: str) -> Path:
    path = ROOT.joinpath(*module.split("."))
    return path / "__init__.py" if path.is_dir() else path.with_suffix(".py")


def _plain(value: Any) -> Any:
    for inner in ("fget", "__func__", "func", "function", "__wrapped__"):
        while hasattr(value, inner) and (inner == "__wrapped__" or not isinstance(value, types.FunctionType)):
            value = getattr(value, inner)
    return value


def _code_of(code: types.CodeType, qualname: str) -> types.CodeType | None:
    """Return the code of a function in that of its module; of two, as a property has with its setter, the last."""
    inner = [part for part in reversed(code.co_consts) if isinstance(part, types.CodeType)]
    values = (part if part.co_qualname == qualname else _code_of(part, qualname) for part in inner)
    return next((value for value in values if value is not None), None)


ALL = list(_mutants())
MUTANTS = [mutant for mutant in ALL if not any(re.search(p, mutant.name) for p in EQUIVALENT)]
# for each rule the first, of a module with quick tests where there is one
_QUICK = sorted(MUTANTS, key=lambda m: not m.module.startswith(("dpml.mechanisms", "dpml.counts", "dpml.selection")))
PART = list({m.rule: m for m in reversed(_QUICK)}.values())
