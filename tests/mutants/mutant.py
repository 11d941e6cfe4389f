"""One fault: a rule, the function that it changes, and which of the places that the rule finds there."""

import ast
import builtins
import importlib
import importlib.util
import inspect
import re
import types
from collections.abc import Callable, Iterable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from functools import cache
from pathlib import Path
from typing import Any

from mutants.equivalent import EQUIVALENT, LEFT_OUT
from mutants.rules import RULES, applied, functions, places

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
        return f"{self.rule}: {self.qualified} {self.occurrence}"

    @property
    def qualified(self) -> str:
        """The name of the function with that of its module."""
        return f"{self.module}.{self.function}"

    def apply(self) -> None:
        """Change the function in this process, for everyone who holds it.

        The code object itself is replaced, for other modules have the function under names of their own.
        """
        self.find().__code__ = self.changed()

    def changed(self) -> types.CodeType:
        """Return the code of the function after the change."""
        tree = _tree(self.module)
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
        return find(self.module, self.function)


def find(module: str, function: str) -> types.FunctionType:
    """Return a function of a module by its qualified name, without its decorators."""
    value: Any = importlib.import_module(module)
    for name in function.split("."):
        value = inspect.getattr_static(value, name)
    value = _plain(value)
    assert isinstance(value, types.FunctionType), (module, function)
    assert value.__qualname__ == function, (module, function)
    return value


@contextmanager
def calls_noted(mutants: list[Mutant], note: Callable[[str], None]) -> Iterator[None]:
    """Within, each call of a function that has one of the mutants is noted by its qualified name."""
    vars(builtins)["__noted__"] = note
    before = {}
    for module in sorted({m.module for m in mutants}):
        tree = _tree(module)
        for name, node in functions(tree):
            node.body[:0] = ast.parse(f"__noted__({f'{module}.{name}'!r})").body
        code = compile(ast.fix_missing_locations(tree), str(_path(module)), "exec")
        for name in sorted({m.function for m in mutants if m.module == module}):
            function, changed = find(module, name), _code_of(code, name)
            before[function] = function.__code__
            assert changed is not None
            function.__code__ = changed
    yield
    for function, original in before.items():
        function.__code__ = original


def mutants_of(modules: Iterable[str]) -> Iterator[Mutant]:
    """Give every mutant of some modules."""
    for module in modules:
        for name, function in functions(_tree(module)):
            for rule in RULES:
                for place in range(places(rule, function)):
                    yield Mutant(rule, module, name, place + 1)


def _tree(module: str) -> ast.Module:
    return ast.parse(_path(module).read_text())


def _path(module: str) -> Path:
    spec = importlib.util.find_spec(module)
    assert spec is not None
    assert spec.origin is not None
    return Path(spec.origin)


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


@cache
def mutants_of_library() -> list[Mutant]:
    """Return every mutant of the library, those too that change nothing to see."""
    files = [path.relative_to(ROOT).with_suffix("") for path in sorted((ROOT / "dpml").rglob("*.py"))]
    modules = [".".join(file.parts).removesuffix(".__init__") for file in files]
    return list(mutants_of(module for module in modules if not module.startswith(LEFT_OUT)))


def is_equivalent(mutant: Mutant) -> bool:
    """Tell whether a mutant changes nothing to see."""
    return any(re.search(pattern, mutant.name) for pattern in EQUIVALENT)
