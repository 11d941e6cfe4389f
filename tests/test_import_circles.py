"""No modules import each other in a circle, imports inside functions included, and none is long.

The graph is of modules. A name that a package's `__init__` takes from elsewhere leads to the module that defines it: a
package that gathers its modules' names is no circle. Imports that only a type checker reads count, too: two modules
that name each other's types cannot be read one after the other.
"""

import ast
from functools import cache
from pathlib import Path

import dpml_app
import numpy as np
import pytest
from scipy.sparse.csgraph import connected_components

import dpml

ROOT, APP = Path(dpml.__file__).parent, Path(dpml_app.__file__).parent


def modules_of(root):
    """Return the syntax tree of every module of a package, by its name; a package's is its `__init__`."""
    trees = {}
    for path in sorted(root.rglob("*.py")):
        name = ".".join([root.name, *path.relative_to(root).with_suffix("").parts]).removesuffix(".__init__")
        trees[name] = ast.parse(path.read_text("utf-8"))
    return trees


def home(trees, packages, module, name):
    """Return the module that `from module import name` leads to."""
    if f"{module}.{name}" in trees:
        return f"{module}.{name}"
    if module in packages:
        for node in ast.walk(trees[module]):
            for alias in node.names if isinstance(node, ast.ImportFrom) and node.module in trees else ():
                if (alias.asname or alias.name) == name:
                    return home(trees, packages, node.module, alias.name)
    return module


def imported(trees, packages, name):
    """Return the modules that one module imports, at its top, inside functions and by `import_module`."""
    nodes = list(ast.walk(trees[name]))
    edges, by_string = set(), False
    for node in nodes:
        if isinstance(node, ast.Import):
            edges |= {alias.name for alias in node.names}
        elif isinstance(node, ast.ImportFrom):
            assert node.level == 0, f"{name} has a relative import"
            if node.module in trees:
                edges |= {home(trees, packages, node.module, alias.name) for alias in node.names}
        elif isinstance(node, ast.Call) and ast.unparse(node.func).rpartition(".")[2] == "import_module":
            by_string = True
    if by_string:  # what is given may be looked up in a table: every string that names a module counts
        edges |= {node.value for node in nodes if isinstance(node, ast.Constant) and isinstance(node.value, str)}
    return edges & trees.keys() - {name}


@cache
def imports_of(root):
    """Return the modules that each module of a package imports."""
    trees = modules_of(root)
    packages = {name for name in trees if root.parent.joinpath(*name.split("."), "__init__.py").exists()}
    return {name: imported(trees, packages, name) for name in sorted(trees)}


def circles(root):
    """Return the sets of modules each of which leads to all others of its set."""
    imports = imports_of(root)
    names = list(imports)
    graph = np.zeros((len(names), len(names)), dtype=bool)
    for row, others in enumerate(imports.values()):
        graph[row, [names.index(other) for other in others]] = True
    _, part = connected_components(graph, connection="strong")
    return [[names[i] for i in np.flatnonzero(part == p)] for p in np.flatnonzero(np.bincount(part) > 1)]


@pytest.mark.parametrize("root", [ROOT, APP], ids=["dpml", "dpml_app"])
def test_no_modules_import_each_other_in_a_circle(root):
    assert circles(root) == []


def test_no_folders_of_the_app_import_each_other_both_ways():
    folders = {
        (name.split(".")[1], other.split(".")[1])
        for name, others in imports_of(APP).items()
        for other in others
        if "." in name and "." in other
    }
    assert ("pages", "core") in folders
    assert {(a, b) for a, b in folders if a < b and (b, a) in folders} == set()


def page_of(module):
    """Return the page that a module of the app belongs to, None where it belongs to none."""
    parts = module.split(".")
    return parts[2] if parts[:2] == ["dpml_app", "pages"] and len(parts) > 2 else None


def test_a_page_is_imported_by_its_own_modules_and_by_the_list_of_pages_alone():
    imports = imports_of(APP)
    strangers = {
        (name, other)
        for name, others in imports.items()
        for other in others
        if page_of(other) is not None and page_of(name) != page_of(other)
    }
    pages = {page_of(name) for name in imports} - {None}
    assert len(pages) > 1
    assert strangers == {("dpml_app.page_list", f"dpml_app.pages.{page}.page") for page in pages}


@pytest.mark.parametrize(
    ("text", "circle"),
    [
        ("import toy.b\n", True),
        ("def f():\n    from toy.b import g\n", True),
        ("def f():\n    from toy import g\n", True),
        (
            "from importlib import import_module\nTABLE = {'g': 'toy.b'}\ndef f(x): return import_module(TABLE[x])\n",
            True,
        ),
        ("TABLE = {'g': 'toy.b'}\n", False),
        ("from typing import TYPE_CHECKING\nif TYPE_CHECKING:\n    from toy.b import g\n", True),
        ("from toy import h\n", False),
    ],
)
def test_a_circle_is_seen_however_a_module_is_imported(tmp_path, text, circle):
    root = tmp_path / "toy"
    root.mkdir()
    (root / "__init__.py").write_text("from toy.b import g\nfrom toy.c import h\n")
    (root / "a.py").write_text(text)
    (root / "b.py").write_text("from toy.a import f\n")
    (root / "c.py").write_text("")
    assert circles(root) == ([["toy.a", "toy.b"]] if circle else [])
