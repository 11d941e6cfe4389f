"""The registry of methods: what each is called, which class it is, which study measures it, and what is claimed of it.

An entry names classes and studies by dotted names, so that reading the list imports none of them. Whether a method is
private, its δ and its relations are not here: they stand in the catalogue, under the names in `claims`
(`dpml.catalogue.standing`).
"""

from dpml.methods import classifiers, curves, noises, publishers, selectors
from dpml.methods.registry import (
    FAMILIES,
    METHODS,
    Method,
    method,
    methods_of,
    of_family,
    register,
    study_by_name,
    unregister,
)

__all__ = [
    "FAMILIES",
    "METHODS",
    "Method",
    "classifiers",
    "curves",
    "method",
    "methods_of",
    "noises",
    "of_family",
    "publishers",
    "register",
    "selectors",
    "study_by_name",
    "unregister",
]
