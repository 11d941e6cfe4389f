"""Write the pages of the reference from the library's public names. Sphinx calls it while it builds the site.

Each public class and function has a page of its own in ``docs/reference/api``. Each package has a page that lists its
names. ``tasks.md`` groups the names that most readers need by task, and ``commands.md`` has the help of
each command: pages of ``docs/reference`` include them.
"""

from __future__ import annotations

import argparse
import importlib
import inspect
import os
import pkgutil
import re
from pathlib import Path
from types import ModuleType

import dpml

# task: the public names that solve it, most useful first
TASKS = {
    "Train a private classifier": (
        "classifiers.AutoClassifier",
        "classifiers.LinearClassifier",
        "classifiers.LogisticRegression",
        "classifiers.LinearSVC",
        "classifiers.BernoulliNB",
        "classifiers.MixedNB",
        "classifiers.RandomTrees",
        "classifiers.PrivPfCClassifier",
        "classifiers.DiffPC45",
        "classifiers.DiffPID3",
        "classifiers.PrivGene",
        "classifiers.PrivLocal",
        "classifiers.PrivatePredictionLR",
        "classifiers.PrivatePredictionNB",
        "tuning.PrivateSearch",
        "tuning.BestSelector",
    ),
    "Select features": (
        "selection.TopSelector",
        "selection.MaskSelector",
        "selection.NoisyCountSelector",
        "selection.NoisyScoreSelector",
        "selection.NoisyClusterSelector",
        "selection.SparseVectorSelector",
        "selection.PublishedSelector",
        "selection.choose_features",
        "selection.inclusion_probabilities",
        "selection.scores",
        "selection.sensitivity",
    ),
    "Publish a synthetic table": (
        "publishing.AIM",
        "publishing.MST",
        "publishing.PrivBayes",
        "publishing.PrivPfC",
        "publishing.DiffGen",
        "publishing.UniformGrid",
        "publishing.PPH",
        "publishing.ImportanceWeights",
        "publishing.release_table",
        "publishing.release_answers",
    ),
    "Release a model and a table": (
        "release.Plan",
        "release.Released",
        "release.Forecast",
        "release.verify",
    ),
    "Evaluate a classifier privately": (
        "evaluation.PrivateEvaluation",
        "evaluation.release_evaluation",
        "evaluation.MulticlassEvaluation",
        "evaluation.release_multiclass_evaluation",
        "evaluation.private_roc_curve",
        "evaluation.private_roc_auc",
        "evaluation.private_confusion_matrix",
        "evaluation.private_cross_val_score",
        "evaluation.compare_classifiers",
    ),
    "Track the privacy budget": (
        "budget.Budget",
        "budget.charge",
        "budget.charge_all",
        "budget.zcdp_epsilon",
        "budget.zcdp_rho",
    ),
    "Describe a table": (
        "schema.Schema",
        "schema.Feature",
        "schema.Taxonomy",
        "schema.Proposal",
        "tables.read_table",
        "tables.examine_table",
        "tables.safe_csv",
        "datasets.load",
        "encoding.BinaryEncoding",
        "encoding.MixedEncoding",
    ),
    "Add noise": (
        "mechanisms.Laplace",
        "mechanisms.Geometric",
        "mechanisms.Gaussian",
        "mechanisms.Staircase",
        "mechanisms.NormGamma",
        "mechanisms.ExponentialMechanism",
        "mechanisms.PermuteAndFlip",
        "mechanisms.ReportNoisyMax",
        "mechanisms.SparseVector",
        "mechanisms.SampleAndAggregate",
        "mechanisms.smooth_sensitivity",
        "mechanisms.private_bounds",
        "mechanisms.private_quantiles",
        "mechanisms.private_categories",
    ),
    "Audit a claim": (
        "testing.check_private_estimator",
        "testing.expected_failed_checks",
        "audit.audit",
        "audit.audit_one_run",
        "audit.recorded_cost",
        "audit.search",
        "audit.exact_epsilon",
        "audit.certified_epsilon",
        "audit.check_noise",
        "audit.claimed_region",
        "registry.claims",
        "registry.method",
    ),
    "Run studies and sweeps": (
        "studies.AutoStudy",
        "studies.AccuracyStudy",
        "studies.advise",
        "studies.needed_epsilon",
        "studies.frontier",
        "sweep.sweep",
        "sweep.declared",
        "sweep.summarise",
    ),
}


def packages() -> dict[str, ModuleType]:
    """Return the public packages and modules of the library by name."""
    names = sorted(m.name for m in pkgutil.iter_modules(dpml.__path__) if not m.name.startswith("_"))
    return {name: importlib.import_module(f"dpml.{name}") for name in names}


def homes(modules: dict[str, ModuleType]) -> dict[str, str]:
    """Return {qualified public name: package that documents it}: the one that defines it, if that one lists it."""
    found = {}
    for package, module in modules.items():
        for name in getattr(module, "__all__", ()):
            defined = [*(getattr(getattr(module, name), "__module__", None) or "").split("."), "", ""][1]
            elsewhere = defined != package and name in getattr(modules.get(defined), "__all__", ())
            found[f"{package}.{name}"] = defined if elsewhere else package
    return found


def summary(thing: object) -> str:
    """Return the first sentence of a docstring, as one cell of a table."""
    first = " ".join((inspect.getdoc(thing) or "").partition("\n\n")[0].split())
    first = re.sub(r"``(.+?)``", r"`\1`", first)
    return re.sub(r"(?<!\\)([|*<])", r"\\\1", first)


def link(name: str) -> str:
    """Return a link to the page of a public name, given with its package."""
    return f"{{py:obj}}`{name.rpartition('.')[2]} <dpml.{name}>`"


def kind(thing: object) -> str:
    """Return "class", "function" or "constant"."""
    if inspect.isclass(thing):
        return "class"
    return "function" if inspect.isroutine(thing) else "constant"


def table(names: list[str], modules: dict[str, ModuleType]) -> str:
    """Return a table of public names with one line each."""
    rows = []
    for name in names:
        package, _, short = name.partition(".")
        rows.append(f"| {link(name)} | {summary(getattr(modules[package], short))} |")
    return "\n".join(["| name | summary |", "|---|---|", *rows]) + "\n"


def name_page(package: str, name: str, thing: object) -> str:
    """Return the page of one class or function."""
    directive = {"class": "autoclass", "function": "autofunction"}[kind(thing)]
    members = "   :members:\n   :inherited-members:\n" if directive == "autoclass" else ""
    return (
        f"---\norphan: true\n---\n# {name}\n\n[Reference](../index.md) › [`dpml.{package}`](dpml.{package}.md)\n\n"
        f"```{{eval-rst}}\n.. {directive}:: dpml.{package}.{name}\n{members}```\n"
    )


def package_page(package: str, modules: dict[str, ModuleType], documented: dict[str, str]) -> str:
    """Return the page of a package: its docstring and a table of its public names."""
    page = f"# `dpml.{package}`\n\n```{{eval-rst}}\n.. automodule:: dpml.{package}\n   :no-members:\n```\n"
    names = [f"{package}.{name}" for name in getattr(modules[package], "__all__", ())]
    own = [name for name in names if documented[name] == package]
    for wanted, title in (("class", "Classes"), ("function", "Functions")):
        some = [name for name in own if kind(getattr(modules[package], name.partition(".")[2])) == wanted]
        if some:
            page += f"\n## {title}\n\n{table(sorted(some, key=str.lower), modules)}"
    constants = [name for name in own if kind(getattr(modules[package], name.partition(".")[2])) == "constant"]
    if constants:
        page += "\nConstants: " + ", ".join(f"`{name.partition('.')[2]}`" for name in constants) + ".\n"
    others = [f"{documented[name]}.{name.partition('.')[2]}" for name in names if documented[name] != package]
    if others:
        page += "\nAlso available here, and documented in another package: " + ", ".join(map(link, others)) + ".\n"
    return page


def tasks_page(modules: dict[str, ModuleType]) -> str:
    """Return the tables of names by task, and the table and tree of packages."""
    parts = [f"## {task}\n\n{table(list(names), modules)}" for task, names in TASKS.items()]
    rows = [f"| [`dpml.{name}`](api/dpml.{name}.md) | {summary(module)} |" for name, module in modules.items()]
    packages_table = "\n".join(["| package | summary |", "|---|---|", *rows])
    tree = "\n".join(["```{toctree}", ":hidden:", "", *(f"api/dpml.{name}" for name in modules), "```"])
    return "\n".join([*parts, f"## All packages\n\n{packages_table}\n", tree, ""])


def commands_page() -> str:
    """Return the help of each command of ``python -m dpml``."""
    from dpml.__main__ import _parser

    def sections(parser: argparse.ArgumentParser, depth: int) -> list[str]:
        written = []
        for action in parser._actions:
            if isinstance(action, argparse._SubParsersAction):
                helps = {choice.dest: choice.help for choice in action._choices_actions}
                for name, each in action.choices.items():
                    title = f"{'#' * depth} {name if depth == 2 else each.prog.removeprefix('python -m dpml ')}"
                    first = (helps[name] or "")[:1].upper() + (helps[name] or "")[1:]
                    written.append(f"{title}\n\n{first.rstrip('.')}.\n\n```text\n{each.format_help().strip()}\n```\n")
                    written += sections(each, depth + 1)
        return written

    # the help is as wide as a page of the site, whatever terminal builds it
    columns, os.environ["COLUMNS"] = os.environ.get("COLUMNS"), "88"
    try:
        return "\n".join(sections(_parser(), 2))
    finally:
        os.environ.pop("COLUMNS") if columns is None else os.environ.update(COLUMNS=columns)


def write(folder: Path) -> None:
    """Write all pages of the reference into an empty folder."""
    modules = packages()
    documented = homes(modules)
    for full, home in documented.items():
        package, _, name = full.partition(".")
        thing = getattr(modules[package], name)
        if home == package and kind(thing) != "constant":
            (folder / f"dpml.{full}.md").write_text(name_page(package, name, thing), encoding="utf-8")
    for package in modules:
        page = package_page(package, modules, documented)
        (folder / f"dpml.{package}.md").write_text(page, encoding="utf-8")
    (folder / "commands.md").write_text(commands_page(), encoding="utf-8")
    (folder / "tasks.md").write_text(tasks_page(modules), encoding="utf-8")
