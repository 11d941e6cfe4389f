"""One change to one function of the library: the function, the text that is replaced, and the tests that must fail."""

from __future__ import annotations

import ast
import importlib
import inspect
import types
from dataclasses import dataclass
from functools import cached_property
from pathlib import Path
from typing import Any

ROOT = Path(__file__).parents[2]


class DoesNotApply(Exception):
    """The function is not there, or its text has changed: the mutant has to be written anew."""


@dataclass(frozen=True)
class Mutant:
    """A change of `old`, which stands once in the source of `function`, to `new`; one of `tests` must then fail.

    `function` is qualified by its module, `kind` says in a few words what is wrong then, and `tests` are node ids or
    files, without ``tests/``. A mutant that is `quick` is in the part that runs with the other tests.
    """

    function: str
    kind: str
    old: str
    new: str
    tests: tuple[str, ...]
    quick: bool = False

    @cached_property
    def node_ids(self) -> list[str]:
        """The tests as pytest takes them in the root of the project."""
        return [f"tests/{test}" for test in self.tests]

    def apply(self) -> None:
        """Change the function in this process, for everyone who holds it.

        The code object itself is replaced, for other modules have the function under names of their own.
        """
        self.find()[1].__code__ = self.changed()

    def changed(self) -> types.CodeType:
        """Return the code of the function after the change, or raise `DoesNotApply`."""
        module, function = self.find()
        source, first, last = self._source(module, function)
        lines = source.splitlines(keepends=True)
        body = "".join(lines[first - 1 : last])
        if (times := body.count(self.old)) != 1:
            raise DoesNotApply(
                f"{self.function} has {self.old!r} {times} times in its source, where it must have it once"
            )
        changed = "".join(lines[: first - 1]) + body.replace(self.old, self.new) + "".join(lines[last:])
        try:
            code = _code_of(compile(changed, str(module.__file__), "exec"), function.__qualname__)
        except SyntaxError as error:
            raise DoesNotApply(f"{self.function} cannot be read with {self.new!r}: {error}") from error
        if code is None or ast.dump(ast.parse(changed)) == ast.dump(ast.parse(source)):
            raise DoesNotApply(f"{self.function} is the same after {self.old!r} has become {self.new!r}")
        if code.co_freevars != function.__code__.co_freevars:
            raise DoesNotApply(f"{self.function} takes other names from around it after the change")
        return code

    def find(self) -> tuple[types.ModuleType, types.FunctionType]:
        """Return the module and the plain function below properties, class methods and caches."""
        names = self.function.split(".")
        for cut in range(len(names) - 1, 0, -1):
            try:
                module = importlib.import_module(".".join(names[:cut]))
            except ModuleNotFoundError:
                continue
            found: Any = module
            for name in names[cut:]:
                try:
                    found = inspect.getattr_static(found, name)
                except AttributeError:
                    raise DoesNotApply(f"{self.function} is not there: {found} has no {name!r}") from None
            function = _plain(found)
            if not isinstance(function, types.FunctionType) or function.__module__ != module.__name__:
                raise DoesNotApply(f"{self.function} is no function of {module.__name__}")
            if function.__qualname__ != ".".join(names[cut:]):
                raise DoesNotApply(f"{self.function} is defined elsewhere, as {function.__qualname__}")
            return module, function
        raise DoesNotApply(f"{self.function} is in no module")

    def _source(self, module: types.ModuleType, function: types.FunctionType) -> tuple[str, int, int]:
        source = Path(str(module.__file__)).read_text(encoding="utf-8")
        for node in ast.walk(ast.parse(source)):
            if isinstance(node, ast.FunctionDef) and node.name == function.__name__:
                start = min([node.lineno, *(d.lineno for d in node.decorator_list)])
                if start == function.__code__.co_firstlineno:
                    return source, node.lineno, int(node.end_lineno or node.lineno)
        raise DoesNotApply(f"{self.function} is not in {module.__file__} as it was imported")


def _plain(found: Any) -> Any:
    for inner in ("fget", "__func__", "func", "function", "__wrapped__"):
        while not isinstance(found, types.FunctionType) and hasattr(found, inner):
            found = getattr(found, inner)
    while isinstance(found, types.FunctionType) and hasattr(found, "__wrapped__"):  # context managers
        found = found.__wrapped__
    return found


def _code_of(code: types.CodeType, qualname: str) -> types.CodeType | None:
    for inner in code.co_consts:
        if isinstance(inner, types.CodeType):
            found = inner if inner.co_qualname == qualname else _code_of(inner, qualname)
            if found is not None:
                return found
    return None
