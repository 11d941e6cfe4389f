"""Rules that find in a syntax tree what a fault of privacy would change, and return the tree of the fault.

No rule knows a line of the library: it knows names that have a meaning there, such as ``charge`` and ``epsilon``.
"""

from __future__ import annotations

import ast
from collections.abc import Callable, Iterator
from typing import TypeVar

Rule = Callable[[ast.AST], "ast.AST | None"]
RULES: dict[str, Rule] = {}
Tree = TypeVar("Tree", bound=ast.AST)

DRAWS = "laplace normal standard_normal standard_cauchy standard_exponential standard_gamma standard_t".split()
CHARGES = "charge spend _charge".split()
PARTS = {"rest_of": 0, "equal_share": 0}
BOUNDED = "clip cut_rows share_rows within clean".split()
MECHANISMS = "Laplace Gaussian ExponentialMechanism SparseVector DiscreteLaplace DiscreteGaussian".split()
MECHANISMS += "NormMechanism GammaNorm PermuteAndFlip integer_scale gaussian_scale noisy_max counts choice".split()
SIZES = "sensitivity change_range range".split()


def rule(name: str) -> Callable[[Rule], Rule]:
    """Enter a rule under a name."""

    def enter(function: Rule) -> Rule:
        RULES[name] = function
        return function

    return enter


def called(node: ast.AST) -> str:
    """Return the last part of the name of the function that a node calls, or nothing."""
    if not isinstance(node, ast.Call):
        return ""
    return node.func.attr if isinstance(node.func, ast.Attribute) else getattr(node.func, "id", "")


def _named(node: ast.AST) -> str:
    return node.attr if isinstance(node, ast.Attribute) else getattr(node, "id", "")


def _times(node: ast.expr, factor: float) -> ast.expr:
    return ast.BinOp(ast.Constant(factor), ast.Mult(), node)


def _with(node: ast.Call, index: int, value: ast.expr) -> ast.Call:
    arguments = [value if i == index else argument for i, argument in enumerate(node.args)]
    return ast.Call(node.func, arguments, node.keywords)


def _with_keyword(node: ast.Call, name: str, value: ast.expr) -> ast.Call:
    keywords = [ast.keyword(k.arg, value) if k.arg == name else k for k in node.keywords]
    return ast.Call(node.func, node.args, keywords)


def _releases(name: str) -> bool:
    return name in MECHANISMS or name.startswith(("release_", "_release")) or name in ("perturbed", "replace")


def _keyword(node: ast.Call, *names: str) -> ast.keyword | None:
    return next((k for k in node.keywords if k.arg in names), None)


@rule("noise to a third")
def _third(node: ast.AST) -> ast.AST | None:
    if called(node) in DRAWS and isinstance(node.func, ast.Attribute):
        return ast.BinOp(node, ast.Div(), ast.Constant(3.0))
    if called(node).startswith("make_") and (scale := _keyword(node, "scale")):
        return _with_keyword(node, "scale", _times(scale.value, 1 / 3))
    if called(node) in ("integer_laplace", "discrete_gaussian") and len(node.args) > 1:
        return _with(node, 1, _times(node.args[1], 1 / 3))
    return None


@rule("epsilon tripled")
def _tripled(node: ast.AST) -> ast.AST | None:
    if not _releases(called(node)):
        return None
    for index, argument in enumerate(node.args):
        if any("epsilon" in _named(part) for part in ast.walk(argument)) and not isinstance(argument, ast.Call):
            return _with(node, index, _times(argument, 3.0))
    if (keyword := _keyword(node, "epsilon")) is not None:
        return _with_keyword(node, "epsilon", _times(keyword.value, 3.0))
    return None


@rule("sensitivity halved")
def _halved(node: ast.AST) -> ast.AST | None:
    if called(node) in ("Laplace", "Gaussian", "ExponentialMechanism") and len(node.args) > 1:
        return _with(node, 1, _times(node.args[1], 0.5))
    if called(node) in ("choice", "noisy_max", "counts") and len(node.args) > 2:
        return _with(node, 2, _times(node.args[2], 0.5))
    if isinstance(node, ast.Call) and (keyword := _keyword(node, *SIZES)) is not None:
        return _with_keyword(node, str(keyword.arg), _times(keyword.value, 0.5))
    return None


@rule("stated size halved")
def _stated(node: ast.AST) -> ast.AST | None:
    if not isinstance(node, ast.FunctionDef) or not node.name.endswith(("sensitivity", "range", "_scale", "_cost")):
        return None
    if not isinstance(node.body[-1], ast.Return) or node.body[-1].value is None:
        return None
    if node.returns is not None and _named(node.returns) not in ("float", "Any"):
        return None
    fields = {**dict(ast.iter_fields(node)), "body": [*node.body[:-1], ast.Return(_times(node.body[-1].value, 0.5))]}
    return ast.FunctionDef(**fields)


@rule("no charge")
def _uncharged(node: ast.AST) -> ast.AST | None:
    if isinstance(node, ast.Expr) and called(node.value) in CHARGES:
        return ast.Pass()
    return None


@rule("charged a third")
def _cheap(node: ast.AST) -> ast.AST | None:
    if called(node) not in CHARGES:
        return None
    for index, argument in enumerate(node.args):
        if any("epsilon" in _named(part) for part in ast.walk(argument)):
            return _with(node, index, _times(argument, 1 / 3))
    return None


@rule("relation factor 1")
def _factor(node: ast.AST) -> ast.AST | None:
    if isinstance(node, ast.Subscript) and _named(node.value) in ("FACTOR", "SENSITIVITY"):
        return ast.Constant(1)
    return None


@rule("relation swapped")
def _swapped(node: ast.AST) -> ast.AST | None:
    if isinstance(node, ast.Compare) and len(node.ops) == 1 and isinstance(node.comparators[0], ast.Constant):
        other = {"replace-one": "add-remove", "add-remove": "replace-one"}.get(node.comparators[0].value)
        if other:
            return ast.Compare(node.left, node.ops, [ast.Constant(other)])
    return None


@rule("relation left out")
def _unrelated(node: ast.AST) -> ast.AST | None:
    if _releases(called(node)) and _keyword(node, "relation"):
        return ast.Call(node.func, node.args, [k for k in node.keywords if k.arg != "relation"])
    return None


@rule("the rest is the whole")
def _whole(node: ast.AST) -> ast.AST | None:
    if called(node) in PARTS:
        return node.args[PARTS[called(node)]]
    if called(node) == "split_epsilon":
        return ast.Tuple([node.args[0], node.args[0]], ast.Load())
    return None


@rule("delta left out")
def _delta(node: ast.AST) -> ast.AST | None:
    if called(node) in CHARGES and any("delta" in _named(a) for a in node.args):
        return ast.Call(node.func, [ast.Constant(0.0) if "delta" in _named(a) else a for a in node.args], node.keywords)
    return None


@rule("bound left out")
def _unbounded(node: ast.AST) -> ast.AST | None:
    if called(node) in BOUNDED and len(node.args) > 1:
        return node.args[0]
    return None


@rule("a release does not clip")
def _unclipped(node: ast.AST) -> ast.AST | None:
    if isinstance(node, ast.IfExp) and isinstance(node.body, ast.Constant) and node.body.value == "clip":
        return node.orelse
    return None


@rule("no noise")
def _exact(node: ast.AST) -> ast.AST | None:
    if called(node) == "perturbed":
        return node.args[0]
    if called(node) == "release" and isinstance(node.func, ast.Attribute):
        index = int(_named(node.func.value) == "door")
        if len(node.args) > index and not any(isinstance(argument, ast.Starred) for argument in node.args):
            return node.args[index]
    if called(node) in ("integer_laplace", "discrete_gaussian"):
        return node.args[0]
    return None


@rule("no secure noise")
def _seeded(node: ast.AST) -> ast.AST | None:
    if isinstance(node, ast.Call) and (keyword := _keyword(node, "secure")) and _named(keyword.value) == "release":
        return _with_keyword(node, "secure", ast.Constant(False))
    return None


@rule("a seed in a release")
def _seed(node: ast.AST) -> ast.AST | None:
    if called(node) == "check_release":
        return _with(node, 0, ast.Constant(None)) if node.args else None
    return None


@rule("loss halved")
def _loss(node: ast.AST) -> ast.AST | None:
    if called(node) == "Loss" and isinstance(node, ast.Call):
        if (keyword := _keyword(node, "pure", "gaussian")) is not None:
            return _with_keyword(node, str(keyword.arg), _times(keyword.value, 0.5))
    return None


@rule("exact number of records")
def _number(node: ast.AST) -> ast.AST | None:
    if called(node) == "public_number" and node.args:
        return ast.Call(ast.Name("len", ast.Load()), [node.args[0]], [])
    return None


@rule("refusal left out")
def _unrefused(node: ast.AST) -> ast.AST | None:
    if isinstance(node, ast.If) and len(node.body) == 1 and isinstance(node.body[0], ast.Raise) and not node.orelse:
        kind = called(node.body[0].exc) if node.body[0].exc is not None else ""
        if kind in ("NotPrivate", "BudgetExceeded", "RelationMismatch", "NotForRelease", "DataDerived"):
            return ast.If(ast.Constant(False), node.body, [])
    return None


def functions(tree: ast.Module) -> Iterator[tuple[str, ast.FunctionDef]]:
    """Give the functions and methods of a module with their qualified names."""
    for node in tree.body:
        if isinstance(node, ast.FunctionDef):
            yield node.name, node
        elif isinstance(node, ast.ClassDef):
            yield from ((f"{node.name}.{inner.name}", inner) for inner in node.body if isinstance(inner, ast.FunctionDef))


class _Change(ast.NodeTransformer):
    """Applies a rule to its n-th place in a function, and counts the places."""

    def __init__(self, name: str, occurrence: int | None) -> None:
        self.rule, self.occurrence, self.count = RULES[name], occurrence, 0

    def visit(self, node: ast.AST) -> ast.AST:
        changed = self.rule(node)
        if changed is not None:
            self.count += 1
            if self.count == self.occurrence:
                return ast.fix_missing_locations(ast.copy_location(changed, node))
        return self.generic_visit(node)


def places(name: str, function: ast.FunctionDef) -> int:
    """Return how many places of a function a rule changes."""
    change = _Change(name, None)
    change.visit(function)
    return change.count


def applied(name: str, function: ast.FunctionDef, occurrence: int) -> ast.FunctionDef:
    """Return a function with its n-th place changed by a rule; the places count from 1."""
    changed = _Change(name, occurrence).visit(function)
    assert isinstance(changed, ast.FunctionDef)
    return changed
