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
    """One method: its texts, its class, the study that measures it, and its claims.

    Attributes
    ----------
    key : str
        Unique name in code, files and links, within its family.
    title : str
        Title in a list.
    label : str
        Label in a legend. By default, the title.
    phrase : str
        Name within a sentence. By default, the label.
    family : {"classifier", "selector", "publisher", "curve", "noise"}
        Family of the method.
    group : str
        One of the family's groups in `FAMILIES`. By default, the last one.
    target : str
        The public class or function, as ``module.name``. Empty if the library does not offer it: a model of another
        project, whose results are recorded, or a choice without noise.
    options : mapping
        Parameters of the target that define this method.
    flaw : str
        Short name of the flaw, of two or three words, if the claim holds for no ε.
    study : str
        The class that measures it, as ``module.name``, called as ``study(dataset, relation=...)``. Empty for none.
    study_options : mapping
        More parameters of the study's class.
    sweep : str
        Name of the study in a sweep. By default, the key.
    advised : bool
        Whether `dpml.studies.advise` compares it.
    claims : tuple of str
        Names of its entries in the catalogue.
    numeric_claims : tuple of str
        Names of its entries for a table with numeric attributes, where they differ.
    table : bool
        Whether it is trained on the raw table. Otherwise it is trained on binary columns.
    numbers : bool
        Whether it applies to numbers only.

    See Also
    --------
    register : Adds a method.
    method : Returns a method by its key.
    dpml.catalogue.standing : Combines the claims of a method.
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
        """Return an estimator of this method.

        Parameters
        ----------
        epsilon : float
            Privacy parameter ε, finite and > 0.
        **options : object
            More parameters of the target. They override `options` of the method.

        Returns
        -------
        object
            An instance of the target, or the result of a target that is a function.
        """
        return self.kind(epsilon, **{**self.options, **options})

    def study_of(self, dataset: Any, *, relation: str = "add-remove") -> Any:
        """Return the study that measures this method on a data set.

        Parameters
        ----------
        dataset : object
            A data set in the form that the study takes.
        relation : {"add-remove", "replace-one"}, default="add-remove"
            Neighbouring relation.

        Returns
        -------
        object
            An instance of the study's class.
        """
        return study_by_name(self.study)(dataset, relation=relation, **self.study_options)


def study_by_name(dotted: str) -> Any:
    """Return the class of a study by its dotted name.

    Another process needs only this name to run the study.

    Parameters
    ----------
    dotted : str
        The class, as ``module.name``.

    Returns
    -------
    type
        The class, imported.

    Raises
    ------
    InvalidParameter
        If the name has no module.

    See Also
    --------
    Method : Stores the dotted name of its study.
    methods_of : Lists the methods of a study.
    """
    return _object(dotted, "study")


def _object(dotted: str, name: str) -> Any:
    module, _, attribute = dotted.rpartition(".")
    if not module:
        raise InvalidParameter(name, dotted, "stated as module.name")
    return getattr(import_module(module), attribute)


METHODS: dict[str, dict[str, Method]] = {family: {} for family in FAMILIES}


def register(entry: Method) -> Method:
    """Add a method under a key that is new in its family.

    The catalogue resolves its claims later, so you can register them afterwards.

    Parameters
    ----------
    entry : Method
        The new method.

    Returns
    -------
    Method
        The same method.

    Raises
    ------
    InvalidParameter
        If the key is taken.

    See Also
    --------
    unregister : Removes a method.
    method : Returns a method by its key.
    dpml.catalogue.register : Adds a claim.

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
    """Remove a method from the registry.

    Parameters
    ----------
    key : str
        Key of the method in its family.
    family : str, default="classifier"
        A key of `FAMILIES`.

    Raises
    ------
    InvalidParameter
        If there is no such method.

    See Also
    --------
    register : Adds a method.
    method : Returns a method by its key.
    """
    del METHODS[family][method(key, family).key]


def method(key: str, family: str = "classifier") -> Method:
    """Return the method of a key.

    Parameters
    ----------
    key : str
        Key of the method in its family.
    family : str, default="classifier"
        A key of `FAMILIES`.

    Returns
    -------
    Method
        The method.

    Raises
    ------
    InvalidParameter
        If there is no such method.

    See Also
    --------
    of_family : Returns all methods of a family.
    register : Adds a method.

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
    """Return the methods of a family, or of one of its groups, in the order of their registration.

    Parameters
    ----------
    family : str, default="classifier"
        A key of `FAMILIES`.
    group : str, optional
        One of the family's groups. By default, all groups.

    Returns
    -------
    tuple of Method
        The methods.

    Raises
    ------
    InvalidParameter
        If there is no such family.

    See Also
    --------
    method : Returns a method by its key.
    methods_of : Lists the methods of a study.

    Examples
    --------
    >>> [each.key for each in of_family("classifier", "linear")][:4]
    ['rule', 'l1', 'objective', 'output']
    """
    check_choice(family, "family", tuple(FAMILIES))
    return tuple(each for each in METHODS[family].values() if group in (None, each.group))


def methods_of(sweep: str) -> tuple[str, ...]:
    """Return the names of the methods that a study of a sweep compares.

    Parameters
    ----------
    sweep : str
        Name of the study in a sweep.

    Returns
    -------
    tuple of str
        Values of the study's option `method`.

    See Also
    --------
    of_family : Returns all methods of a family.
    study_by_name : Returns the class of a study.

    Examples
    --------
    >>> methods_of("logistic-regression")
    ('objective', 'output')
    """
    own = (each.study_options.get("method") for each in of_family() if each.sweep == sweep)
    return tuple(method for method in own if method)
