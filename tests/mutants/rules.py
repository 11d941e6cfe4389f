"""Rules that find in a syntax tree what a fault of privacy would change, and return the tree of the fault.

No rule knows a line of the library: it knows names that have a meaning there, such as ``charge`` and ``epsilon``.
"""

import ast
from collections.abc import Callable, Iterator, Sequence
from functools import partial
from typing import Any

Rule = Callable[[Any], "ast.AST | None"]

DRAWS = ["laplace", "normal", *(f"standard_{law}" for law in ("normal", "cauchy", "exponential", "gamma", "t"))]
SECURE = ["integer_laplace", "discrete_gaussian"]
CHARGES = ["charge", "spend", "_charge"]
MECHANISMS = ["Laplace", "Gaussian", "ExponentialMechanism", "SparseVector"]
MECHANISMS += ["integer_scale", "gaussian_scale", "noisy_max", "counts", "choice", "perturbed", "replace"]
DIVISIONS = ["divided", "epsilon_share"]
REFUSALS = ["NotPrivate", "BudgetExceeded", "RelationMismatch"]
STATED = ["sensitivity", "change_range", "range"]
SWAPPED = {"replace-one": "add-remove", "add-remove": "replace-one"}


def _called(node: Any) -> str:
    return _named(node.func) if isinstance(node, ast.Call) else ""


def _named(node: Any) -> str:
    return node.attr if isinstance(node, ast.Attribute) else getattr(node, "id", "")


def _releases(node: Any) -> bool:
    return _called(node) in MECHANISMS + DIVISIONS or _called(node).startswith(("release_", "_release"))


def _mentions(node: Any, word: str) -> bool:
    return not isinstance(node, ast.Call) and any(word in _named(part) for part in ast.walk(node))


def _times(node: Any, factor: float) -> ast.expr:
    return ast.BinOp(ast.Constant(factor), ast.Mult(), node)


def _replaced(node: Any, place: int | str, value: Any) -> ast.Call:
    arguments = [value if i == place else argument for i, argument in enumerate(node.args)]
    return ast.Call(node.func, arguments, [ast.keyword(k.arg, value) if k.arg == place else k for k in node.keywords])


def _scaled(node: Any, names: Sequence[str], places: Sequence[int | str], factor: float) -> ast.AST | None:
    if isinstance(node, ast.Call) and (not names or _called(node) in names):
        keywords = {k.arg: k.value for k in node.keywords}
        for place in places:
            value = keywords.get(place) if isinstance(place, str) else dict(enumerate(node.args)).get(place)
            if value is not None and not isinstance(value, ast.Starred):
                return _replaced(node, place, _times(value, factor))
    return None


def _scaled_name(node: Any, word: str, factor: float) -> ast.AST | None:
    places = [*(i for i, value in enumerate(node.args) if _mentions(value, word))]
    places += [k.arg for k in node.keywords if k.arg == word]
    return _scaled(node, (), places[:1], factor)


def _first(names: Sequence[str], node: Any) -> ast.AST | None:
    return node.args[0] if _called(node) in names and len(node.args) > 1 else None


def _third(node: Any) -> ast.AST | None:
    if _called(node) in DRAWS and isinstance(node.func, ast.Attribute):
        return ast.BinOp(node, ast.Div(), ast.Constant(3.0))
    return _scaled(node, SECURE, (1,), 1 / 3) or (
        _scaled(node, (), ("scale",), 1 / 3) if _called(node).startswith("make_") else None
    )


def _halved(node: Any) -> ast.AST | None:
    return (
        _scaled(node, MECHANISMS[:3], (1,), 0.5)
        or _scaled(node, ("choice", "noisy_max", "counts"), (2,), 0.5)
        # what computes a sensitivity may be told by a word which one
        or (None if _called(node).endswith("sensitivity") else _scaled(node, (), STATED, 0.5))
    )


def _stated(node: Any) -> ast.AST | None:
    if not isinstance(node, ast.FunctionDef) or not node.name.endswith(("sensitivity", "range", "_scale", "_cost")):
        return None
    last = node.body[-1]
    if not isinstance(last, ast.Return) or last.value is None or _named(node.returns) != "float":
        return None
    fields = {**dict(ast.iter_fields(node)), "body": [*node.body[:-1], ast.Return(_times(last.value, 0.5))]}
    return ast.FunctionDef(**fields)


def _factor(node: Any) -> ast.AST | None:
    return (
        ast.Constant(1) if isinstance(node, ast.Subscript) and _named(node.value) in ("FACTOR", "SENSITIVITY") else None
    )


def _swapped(node: Any) -> ast.AST | None:
    if isinstance(node, ast.Compare) and isinstance(node.comparators[0], ast.Constant):
        other = SWAPPED.get(str(node.comparators[0].value))
        return ast.Compare(node.left, node.ops, [ast.Constant(other)]) if other else None
    return None


def _unrelated(node: Any) -> ast.AST | None:
    states = _releases(node) and any(k.arg == "relation" for k in node.keywords)
    return _replaced(node, "relation", ast.Constant("add-remove")) if states else None


def _whole(node: Any) -> ast.AST | None:
    if _called(node) == "split_epsilon":
        return ast.Tuple([node.args[0], node.args[0]], ast.Load())
    return _first(("rest_of", "equal_share"), node)


def _undelta(node: Any) -> ast.AST | None:
    places = [i for i, a in enumerate(node.args) if _mentions(a, "delta")] if _called(node) in CHARGES else []
    return _replaced(node, places[0], ast.Constant(0.0)) if places else None


def _unclipped(node: Any) -> ast.AST | None:
    clips = isinstance(node, ast.IfExp) and isinstance(node.body, ast.Constant) and node.body.value == "clip"
    return node.orelse if clips else None


def _exact(node: Any) -> ast.AST | None:
    if _called(node) == "release" and isinstance(node.func, ast.Attribute):
        index = int(_named(node.func.value) == "boundary")
        # several statistics are no value that could stand where the released one does
        alone = len(node.args) > index and not isinstance(node.args[index], ast.Starred | ast.Tuple)
        return node.args[index] if alone and not isinstance(node.args[0], ast.Starred) else None
    return _first((*SECURE, "perturbed"), node)


def _seeded(node: Any) -> ast.AST | None:
    # a scale that is stated is the same but for rounding
    draws = isinstance(node, ast.Call) and not _called(node).endswith("_scale")
    asks = draws and any(k.arg == "secure" and _named(k.value) == "release" for k in node.keywords)
    return _replaced(node, "secure", ast.Constant(False)) if asks else None


def _unchecked(node: Any) -> ast.AST | None:
    return _replaced(node, 0, ast.Constant(None)) if _called(node) == "check_release" and node.args else None


def _counted(node: Any) -> ast.AST | None:
    known = _called(node) == "public_number" and node.args
    return ast.Call(ast.Name("len", ast.Load()), [node.args[0]], []) if known else None


def _unrefused(node: Any) -> ast.AST | None:
    if isinstance(node, ast.If) and isinstance(node.body[0], ast.Raise) and not node.orelse:
        return ast.If(ast.Constant(False), node.body, []) if _called(node.body[0].exc) in REFUSALS else None
    return None


RULES: dict[str, Rule] = {
    "noise to a third": _third,
    "epsilon tripled": lambda node: _scaled_name(node, "epsilon", 3.0) if _releases(node) else None,
    "sensitivity halved": _halved,
    "stated size halved": _stated,
    "no charge": lambda node: ast.Pass() if isinstance(node, ast.Expr) and _called(node.value) in CHARGES else None,
    "charged a third": lambda node: _scaled_name(node, "epsilon", 1 / 3) if _called(node) in CHARGES else None,
    "relation factor 1": _factor,
    "relation swapped": _swapped,
    "the cheaper relation": _unrelated,
    "the rest is the whole": _whole,
    "delta left out": _undelta,
    "bound left out": partial(_first, ["clip", "cut_rows", "share_rows", "within", "clean"]),
    "a release does not clip": _unclipped,
    "no noise": _exact,
    "no secure noise": _seeded,
    "a seed in a release": _unchecked,
    "loss halved": lambda node: _scaled(node, ("Loss",), ("pure", "gaussian"), 0.5),
    "exact number of records": _counted,
    "refusal left out": _unrefused,
}


def functions(tree: ast.Module) -> Iterator[tuple[str, ast.FunctionDef]]:
    """Give the functions and methods of a module with their qualified names."""
    for node in tree.body:
        if isinstance(node, ast.FunctionDef):
            yield node.name, node
        elif isinstance(node, ast.ClassDef):
            yield from (
                (f"{node.name}.{inner.name}", inner) for inner in node.body if isinstance(inner, ast.FunctionDef)
            )


class Change(ast.NodeTransformer):
    """Applies a rule to its n-th place in a function, counted from 1, and counts the places."""

    def __init__(self, rule: str, occurrence: int | None = None) -> None:
        self.rule, self.occurrence, self.count = RULES[rule], occurrence, 0

    def visit(self, node: ast.AST) -> ast.AST:
        changed = self.rule(node)
        self.count += changed is not None
        if changed is not None and self.count == self.occurrence:
            return ast.fix_missing_locations(ast.copy_location(changed, node))
        return self.generic_visit(node)


def places(rule: str, function: ast.FunctionDef) -> int:
    """Return how many places of a function a rule changes."""
    return sum(RULES[rule](node) is not None for node in ast.walk(function))


def applied(rule: str, function: ast.FunctionDef, occurrence: int) -> Any:
    """Return a function with its n-th place changed by a rule."""
    return Change(rule, occurrence).visit(function)
