"""Rules that the source of dpml keeps about exact values, read from its syntax tree for test_private_values.py.

Each function takes the syntax tree of a module and returns what breaks a rule, by the qualified name of the function in
which it stands ("" for the module itself). `impure` errs on the side of saying too much: a statistic that only seems to
break a rule is written in another way.
"""

import ast
from collections.abc import Iterator
from functools import cache

FUNCTIONS = (ast.FunctionDef, ast.AsyncFunctionDef)


@cache
def inside(tree: ast.AST) -> list[tuple[str, ast.AST]]:
    """Return every node with the qualified name of the innermost function or class around it."""
    nodes, waiting = [], [("", tree)]
    while waiting:
        name, parent = waiting.pop()
        for child in ast.iter_child_nodes(parent):
            named = isinstance(child, (*FUNCTIONS, ast.ClassDef))
            waiting.append((f"{name}.{child.name}".lstrip(".") if named else name, child))
            nodes.append(waiting[-1])
    return nodes


def called(node: ast.AST) -> str:
    """Return the last part of the name of what a node calls, or ""."""
    if not isinstance(node, ast.Call):
        return ""
    return getattr(node.func, "attr", getattr(node.func, "id", ""))


# ---- who opens an exact value --------------------------------------------------------------------------------------


def openings(tree: ast.AST) -> set[str]:
    """Return where a module takes `opened`, or what lies in a `Private` value, under any name."""
    return {name for name, node in inside(tree) if _opens(node)}


def _opens(node: ast.AST) -> bool:
    if isinstance(node, ast.ImportFrom):
        private = (node.module or "").endswith("mechanisms.private")
        return any(alias.name == "opened" or (private and alias.name == "*") for alias in node.names)
    if isinstance(node, ast.Attribute):
        return node.attr in ("opened", "_Private__value")
    # as getattr takes it
    return (
        isinstance(node, ast.Constant) and isinstance(node.value, str) and node.value in ("opened", "_Private__value")
    )


def studies(tree: ast.AST) -> set[str]:
    """Return the functions of a module that call `for_study`, or that take it under another name."""
    uses = {name for name, node in inside(tree) if called(node) == "for_study"}
    for name, node in inside(tree):
        renamed = isinstance(node, ast.alias) and node.name == "for_study" and node.asname
        passed = isinstance(node, (ast.Call, ast.keyword, ast.Assign)) and any(
            getattr(child, "id", getattr(child, "attr", "")) == "for_study"
            for child in (*getattr(node, "args", ()), getattr(node, "value", None))
        )
        if renamed or passed:
            uses.add(name)
    return uses


def unchecked(tree: ast.AST) -> set[str]:
    """Return the functions that take checked records as plain ones, by `_check_records`."""
    return {name for name, node in inside(tree) if getattr(node, "attr", "") == "_check_records"}


# ---- what a statistic may not do -----------------------------------------------------------------------------------

SAYS = ("warn", "print", "open", "debug", "info", "warning", "critical", "write")
SAYS += ("write_text", "write_bytes", "to_csv", "save", "savez", "savetxt", "dump", "dumps")
PAYS = (
    "charge",
    "spend",
    "fit_with_inner_budget",
    "dry_run",
    "Source",
    "integer_laplace",
    "discrete_gaussian",
    "noisy_max",
)
DRAWS = (
    "public_randomness",
    "default_rng",
    "as_generator",
    "integers",
    "permutation",
    "permuted",
    "shuffle",
    "laplace",
)
DRAWS += ("standard_exponential", "standard_normal", "gumbel", "negative_binomial", "normal", "multinomial", "spawn")
SETS = ("setattr", "__setattr__", "__setitem__", "delattr", "exec", "eval", "globals", "vars")
# methods that change the object itself, and functions of NumPy that change their first argument
CHANGES = ("append", "extend", "insert", "add", "update", "pop", "popitem", "setdefault", "remove", "discard", "clear")
CHANGES += ("fill", "put", "resize", "itemset", "setflags", "partition", "sort", "reverse", "appendleft", "popleft")
CHANGES += ("sum_duplicates", "eliminate_zeros", "sort_indices", "setdiag")
FILLS = ("copyto", "put", "place", "putmask", "fill_diagonal", "put_along_axis", "at", "shuffle")
CACHES = ("cache", "lru_cache", "cached_property")
# what may give the same array again
VIEWS = ("asarray", "asanyarray", "atleast_1d", "atleast_2d", "broadcast_to", "ravel", "reshape", "view", "transpose")
VIEWS += ("swapaxes", "squeeze", "tocsr", "tocsc", "astype", "to_numpy", "items", "values", "get", "zip", "enumerate")


def statistics(tree: ast.AST) -> dict[str, ast.FunctionDef]:
    """Return the functions that are decorated as statistics, and those of the module that they call."""
    functions = {name: node for name, node in inside(tree) if isinstance(node, FUNCTIONS)}
    chosen = {name: node for name, node in functions.items() if any(map(_is_statistic, node.decorator_list))}
    waiting = list(chosen.values())
    while waiting:
        calls = {called(node) for node in ast.walk(waiting.pop())}
        for name, node in functions.items():
            if name not in chosen and node.name in calls:
                chosen[name] = node
                waiting.append(node)
    return chosen


def _is_statistic(node: ast.AST | None) -> bool:
    return getattr(node, "id", getattr(node, "attr", "")) == "statistic"


def undecorated(tree: ast.AST) -> set[str]:
    """Return where `statistic` is used other than as a decorator, so that no rule would see the function.

    A function of NumPy may be lifted by a call.
    """
    imports = [
        (n, a)
        for n, node in inside(tree)
        if isinstance(node, ast.ImportFrom)
        for a in node.names
        if (node.module or "").endswith("mechanisms.private") and a.name == "statistic"
    ]
    uses = {name for name, alias in imports if alias.asname}
    imported = bool(imports)
    # elsewhere it is the name of a value
    values = {name for name, node in inside(tree) if isinstance(node, FUNCTIONS) and "statistic" in _parameters(node)}
    for name, node in inside(tree):
        parts = (node.func, *node.args) if isinstance(node, ast.Call) else (getattr(node, "value", None),)
        if isinstance(node, ast.Call) and len(node.args) == 1 and _is_module(node.args[0]):
            continue
        if imported and name not in values and any(getattr(part, "id", "") == "statistic" for part in parts):
            uses.add(name)
        if any(isinstance(part, ast.Attribute) and ast.unparse(part) == "private.statistic" for part in parts):
            uses.add(name)
    return uses


def raising(tree: ast.AST) -> set[str]:
    """Return the statistics that raise an error, or that assert more than a type."""
    return {
        name
        for name, function in statistics(tree).items()
        if any(isinstance(n, ast.Raise) or (isinstance(n, ast.Assert) and not _of_type(n)) for n in ast.walk(function))
    }


def _of_type(node: ast.Assert) -> bool:
    test = node.test
    return called(test) == "isinstance" or (isinstance(test, ast.Compare) and isinstance(test.ops[0], ast.IsNot))


def impure(tree: ast.AST) -> set[tuple[str, str]]:
    """Return the statistics that tell, pay, draw, or write to anything but what they have made themselves."""
    faults = set()
    for name, function in statistics(tree).items():
        faults |= {(name, fault) for fault in _deeds(function)}
        writes = _Writes(function)
        faults |= {(name, f"writes to {root}") for root in writes.faults}
    return faults


def _deeds(function: ast.FunctionDef) -> Iterator[str]:
    for decorator in function.decorator_list:
        if {getattr(n, "id", getattr(n, "attr", "")) for n in ast.walk(decorator)} & set(CACHES):
            yield "is cached"
    for node in (n for statement in function.body for n in ast.walk(statement)):
        what = called(node)
        if what in SAYS + PAYS + DRAWS + SETS or what == "release" or what.startswith("release_"):
            yield f"calls {what}"
        if isinstance(node, (ast.Global, ast.Nonlocal)):
            yield f"has {type(node).__name__.lower()} {node.names[0]}"
        if isinstance(node, (ast.Yield, ast.YieldFrom, ast.Await)):
            yield "yields"
        if getattr(node, "id", "") in ("rng", "logging") or getattr(node, "attr", "") == "random":
            yield f"uses {getattr(node, 'id', 'random')}"


class _Writes:
    """What a function writes to that it has not made: its arguments, views of them, and names from around it."""

    def __init__(self, function: ast.FunctionDef):
        self.faults: set[str] = set()
        self.local = {n.id for n in ast.walk(function) if isinstance(n, ast.Name) and isinstance(n.ctx, ast.Store)}
        self.local |= {n.name for n in ast.walk(function) if isinstance(n, FUNCTIONS) and n is not function}
        self.statements(function.body, _parameters(function))

    def statements(self, body: list[ast.stmt], given: set[str]) -> set[str]:
        """Go through statements in order; return the names that may stand for something given after them."""
        for statement in body:
            given = self.statement(statement, given)
        return given

    def statement(self, node: ast.stmt, given: set[str]) -> set[str]:
        if isinstance(node, FUNCTIONS):
            self.statements(node.body, given | _parameters(node))
            return given
        parts = [getattr(node, field, None) or [] for field in ("body", "orelse", "finalbody")]
        parts += [handler.body for handler in getattr(node, "handlers", ())]
        parts += [case.body for case in getattr(node, "cases", ())]
        nested = [part for part in parts if part and isinstance(part[0], ast.stmt)]
        if isinstance(node, (ast.For, ast.AsyncFor)):
            given = self._bound(node.target, node.iter, given)
        for item in getattr(node, "items", ()) if isinstance(node, ast.With) else ():
            if item.optional_vars is not None:
                given = self._bound(item.optional_vars, item.context_expr, given)
        if not nested:
            return self._simple(node, given)
        self._expressions([c for c in ast.iter_child_nodes(node) if isinstance(c, ast.expr)], given)
        if isinstance(node, ast.If) and node.orelse:
            return self.statements(node.body, given) | self.statements(node.orelse, given)
        after = set(given)
        for _ in range(2):  # the second time round a loop
            for part in nested:
                after |= self.statements(part, set(after))
        return after

    def _simple(self, node: ast.stmt, given: set[str]) -> set[str]:
        self._expressions([node], given)
        if isinstance(node, ast.Assign):
            for target in node.targets:
                given = self._bound(target, node.value, given)
        elif isinstance(node, ast.AnnAssign) and node.value is not None:
            given = self._bound(node.target, node.value, given)
        elif isinstance(node, ast.AugAssign):
            self._written(node.target, given)
        elif isinstance(node, ast.Delete):
            for target in node.targets:
                if not isinstance(target, ast.Name):
                    self._written(target, given)
        return given

    def _bound(self, target: ast.expr, value: ast.expr, given: set[str]) -> set[str]:
        if isinstance(target, (ast.Tuple, ast.List)):
            values = getattr(value, "elts", None)
            if values is None or len(values) != len(target.elts):
                values = [value] * len(target.elts)
            after = given
            for one, part in zip(target.elts, values, strict=True):
                after = (after - _names(one)) | (self._bound(one, part, given) & _names(one))
            return after
        if isinstance(target, ast.Starred):
            return self._bound(target.value, value, given)
        if isinstance(target, ast.Name):
            return given | {target.id} if self._given(value, given) else given - {target.id}
        self._written(target, given)
        return given

    def _given(self, value: ast.expr, given: set[str]) -> bool:
        """Whether an expression may be something given, a part or a view of it."""
        if isinstance(value, ast.Name):
            return value.id in given or value.id not in self.local
        if isinstance(value, (ast.Attribute, ast.Subscript, ast.Starred, ast.NamedExpr)):
            return self._given(value.value, given)
        if isinstance(value, ast.IfExp):
            return self._given(value.body, given) or self._given(value.orelse, given)
        if isinstance(value, ast.BoolOp):
            return any(self._given(part, given) for part in value.values)
        if isinstance(value, (ast.Tuple, ast.List)):
            return any(self._given(part, given) for part in value.elts)
        if called(value) in VIEWS:
            owner = [value.func.value] if isinstance(value.func, ast.Attribute) else []
            return any(self._given(p, given) for p in (*value.args, *owner) if not _is_module(p))
        return False

    def _written(self, target: ast.expr, given: set[str]) -> None:
        if self._given(target, given):
            self.faults.add(ast.unparse(target))

    def _expressions(self, nodes: list[ast.AST], given: set[str]) -> None:
        for node in (inner for outer in nodes for inner in ast.walk(outer)):
            if isinstance(node, ast.comprehension):
                given = self._bound(node.target, node.iter, given)
        for node in (inner for outer in nodes for inner in ast.walk(outer)):
            if not isinstance(node, ast.Call):
                continue
            owner = node.func.value if isinstance(node.func, ast.Attribute) else None
            if called(node) in CHANGES and owner is not None and not _is_module(owner):
                self._written(owner, given)
            if called(node) in FILLS and node.args and (owner is None or _is_module(owner)):
                self._written(node.args[0], given)
            for keyword in node.keywords:
                if keyword.arg == "out":
                    self._written(keyword.value, given)


def _is_module(node: ast.expr) -> bool:
    """Whether a node is a module of arrays, or a function in one, such as `np.add`."""
    while isinstance(node, ast.Attribute):
        node = node.value
    return isinstance(node, ast.Name) and node.id in ("np", "sparse", "special", "stats", "math", "pd", "linalg")


def _names(target: ast.expr) -> set[str]:
    return {n.id for n in ast.walk(target) if isinstance(n, ast.Name) and isinstance(n.ctx, ast.Store)}


def _parameters(function: ast.FunctionDef) -> set[str]:
    return {a.arg for a in ast.walk(function.args) if isinstance(a, ast.arg)}
