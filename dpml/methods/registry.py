"""The registry: the fields of an entry, and how entries are added and looked up."""

from collections.abc import Mapping
from dataclasses import dataclass, field
from importlib import import_module
from typing import Any

from dpml._validate import check_choice
from dpml.exceptions import InvalidParameter

# of each family, its groups; a method that states no group is of the last one
FAMILIES = {
    "classifier": ("naive-bayes", "linear", "other"),
    # of T features, and of all features above a threshold
    "selector": ("threshold", "other", "top"),
    # models and weights that are published as a table is
    "publisher": ("model", "weights", "table"),
    "curve": ("roc",),
    # for a choice of one candidate, calibrations of Cauchy noise for a smooth sensitivity, and of one number
    "noise": ("choice", "cauchy", "number"),
}


@dataclass(frozen=True)
class Method:
    """One method.

    Attributes
    ----------
    key : str
        Its one name in code, files and links, within its family.
    title, label, phrase : str
        What people read: in a list, in a legend, and within a sentence. A label that is not given is the title, and a
        phrase the label.
    family : {"classifier", "selector", "publisher", "curve", "noise"}
    group : str
        One of the family's groups in `FAMILIES`; the last one if it is not stated.
    target : str
        The public class or function, as ``module.name``; empty for what the library does not offer: a model of another
        project, whose results are recorded, or a choice without noise.
    options : mapping
        Parameters of the target that make it this method.
    flaw : str
        In two or three words, what is wrong where its claim holds for no ε.
    study : str
        The class that measures it, as ``module.name``: ``study(dataset, relation=...)``; empty for none.
    study_options : mapping
        More parameters of the study's class.
    sweep : str
        What a sweep calls the study; its key if it is not stated.
    advised : bool
        Whether `dpml.studies.advise` compares it.
    claims : tuple of str
        Names of its entries in the catalogue.
    numeric_claims : tuple of str
        Those for a table with numeric attributes, where they differ.
    table, numbers : bool
        Whether it is trained on the raw table, else on binary columns; and whether it is about numbers only.
    """

    key: str
    title: str
    family: str
    target: str = ""
    options: Mapping[str, Any] = field(default_factory=dict, hash=False)
    label: str = ""
    phrase: str = ""
    group: str = ""
    flaw: str = "not private"
    study: str = ""
    study_options: Mapping[str, Any] = field(default_factory=dict, hash=False)
    sweep: str = ""
    advised: bool = False
    claims: tuple[str, ...] = ()
    numeric_claims: tuple[str, ...] = ()
    table: bool = False
    numbers: bool = False

    def __post_init__(self) -> None:
        if not isinstance(self.key, str) or not self.key.strip():
            raise InvalidParameter("key", self.key, "a name")
        groups = FAMILIES[check_choice(self.family, "family", tuple(FAMILIES))]
        for name, value in (
            ("label", self.label or self.title),
            ("phrase", self.phrase or self.label or self.title),
            ("group", check_choice(self.group or groups[-1], "group", groups)),
            ("sweep", self.sweep or (self.key if self.study else "")),
        ):
            object.__setattr__(self, name, value)
        if self.advised and not self.study:
            raise InvalidParameter("study", self.study, "the class that measures it, for a method that is advised")

    @property
    def kind(self) -> Any:
        """The public class or function, imported."""
        return _object(self.target, "target")

    def make(self, epsilon: float, **options: Any) -> Any:
        """Return an estimator at ε, with more of its parameters where they are given."""
        return self.kind(epsilon, **{**self.options, **options})

    def study_of(self, dataset: Any, *, relation: str = "add-remove") -> Any:
        """Return the study that measures it on a data set."""
        return study_by_name(self.study)(dataset, relation=relation, **self.study_options)


def study_by_name(dotted: str) -> Any:
    """Return the class of a study by its name ``module.name``; another process needs no more than the name."""
    return _object(dotted, "study")


def _object(dotted: str, name: str) -> Any:
    module, _, attribute = dotted.rpartition(".")
    if not module:
        raise InvalidParameter(name, dotted, "stated as module.name")
    return getattr(import_module(module), attribute)


METHODS: dict[str, dict[str, Method]] = {family: {} for family in FAMILIES}


def register(entry: Method) -> Method:
    """Add a method under a key that its family does not have, and return it.

    Its claims are looked up in the catalogue when they are asked for, so that they can be registered afterwards.

    Parameters
    ----------
    entry : Method

    Raises
    ------
    InvalidParameter
        The key is taken.

    Examples
    --------
    >>> register(method("binned"))
    Traceback (most recent call last):
    dpml.exceptions.InvalidParameter: `key` must be ... Got 'binned'.
    """
    taken = METHODS[entry.family]
    if entry.key in taken:
        raise InvalidParameter("key", entry.key, f"a new key, other than {', '.join(taken)}")
    taken[entry.key] = entry
    return entry


def unregister(key: str, family: str = "classifier") -> None:
    """Take a method out of the registry."""
    del METHODS[family][method(key, family).key]


def method(key: str, family: str = "classifier") -> Method:
    """Return the method of a key.

    Examples
    --------
    >>> method("row-bounded").make(1.0)
    BernoulliNB(epsilon=1.0)
    >>> method("uniform-ug", "publisher").make(1.0)
    UniformGrid(epsilon=1.0, rule='ug')
    """
    check_choice(family, "family", tuple(FAMILIES))
    return METHODS[family][check_choice(key, "key", tuple(METHODS[family]))]


def of_family(family: str = "classifier", group: str | None = None) -> tuple[Method, ...]:
    """Return the methods of a family, or of one of its groups, in the order in which they were registered.

    Examples
    --------
    >>> [each.key for each in of_family("classifier", "linear")][:4]
    ['rule', 'l1', 'objective', 'output']
    """
    check_choice(family, "family", tuple(FAMILIES))
    return tuple(each for each in METHODS[family].values() if group in (None, each.group))


def methods_of(sweep: str) -> tuple[str, ...]:
    """Return the methods that one study of a sweep has, as it calls them.

    Examples
    --------
    >>> methods_of("logistic-regression")
    ('objective', 'output')
    """
    own = (each.study_options.get("method") for each in of_family() if each.sweep == sweep)
    return tuple(method for method in own if method)
