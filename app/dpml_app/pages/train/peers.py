"""What other projects' models reach on some data sets, measured by the project's benchmark and shipped with the app.

``python benchmarks/auto_peers.py --ship FILE`` makes the file. It says of each peer with which versions, how many draws
and which δ it was made, and under which neighbouring relation its ε is
read: from its code, for its makers do not all say it.
"""

from typing import Any

import numpy as np

from dpml_app.pages.train.methods import EVERY, shipped
from dpml_app.text.phrases import percent
from dpml_app.work.pool import Task

RELATION_WORDS = {"add-remove": "adding or removing a record", "replace-one": "replacing a record"}


def rows(method: str, name: str) -> list[dict[str, Any]]:
    """Return a peer's rows on a data set, one for each ε."""
    return [row for row in shipped()[method]["rows"] if row["set"] == name]


def why_not(method: str, name: str, relation: str) -> str:
    """Return why a peer is not drawn, or nothing.

    >>> why_not("peer-descent", "xwindows", "add-remove")
    'DP-SGD, logistic regression (not precomputed for this data set)'
    """
    title, of = EVERY[method].title, shipped()[method]["relation"]
    if not rows(method, name):
        return f"{title} (not precomputed for this data set)"
    if relation != of:
        return f"{title} (its ε is for {RELATION_WORDS[of]})"
    return ""


def tasks(method: str, name: str) -> dict[float, Task]:
    """Return the tasks of a peer's results, by recorded ε."""
    return {row["epsilon"]: Task(peer_measure, (name, method, row["epsilon"])) for row in rows(method, name)}


def peer_measure(name: str, method: str, epsilon: float) -> dict[str, np.ndarray]:
    """Return the recorded accuracies of shape (draws,), and the areas under the ROC curve of two classes."""
    (row,) = (row for row in rows(method, name) if row["epsilon"] == epsilon)
    return {measure: np.array(row[measure]) for measure in ("accuracy", "auc") if measure in row}


def words(methods: tuple[str, ...], name: str, measure: str) -> str:
    """Return what is recorded of the peers that are shown, with what they were made and which need a δ."""
    text = ""
    for method in methods:
        if not EVERY[method].recorded:
            continue
        by_epsilon = {row["epsilon"]: np.mean(row[measure]) for row in rows(method, name)}
        listed = ", ".join(f"{percent(by_epsilon[x])} at {x:g}" for x in sorted(by_epsilon))
        peer = shipped()[method]
        needs = f", with δ = {peer['delta']:g}" if peer["delta"] else ""
        text += (
            f" {EVERY[method].title}, precomputed with {peer['draws']} runs of {peer['made with']}{needs}: {listed}."
        )
    return text
