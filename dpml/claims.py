"""Privacy claims, stated beside the code that they are about, and the papers that they cite.

    @claim("my-selector", "My selector", "[lyu2017], Algorithm 1")
    class MySelector(PrivateSelector): ...

`dpml.registry` collects the claims, and `dpml.audit.cases` has worst-case neighbours for each of them.
"""

import math
import re
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from typing import Any, TypeVar

from dpml._validate import RELATIONS
from dpml.exceptions import InvalidParameter

Stated = TypeVar("Stated", bound=Callable[..., Any])
# family of a claim by the package of its class or function
FAMILIES = {
    "mechanisms": "mechanism",
    "selection": "selection",
    "classifiers": "classifier",
    "publishing": "publishing",
    "evaluation": "evaluation",
    "tuning": "evaluation",
}


@dataclass(frozen=True)
class Claim:
    """One privacy claim of a class or function.

    Attributes
    ----------
    name : str
        Unique name of the claim.
    title : str
        Title for display.
    source : str
        The paper and the place in it, or the basis of the derivation. A paper is a key in brackets:
        "[stoddard2014], Algorithm 2". `citation` replaces the key by the paper's name.
    claim : str
        The claim of the source.
    private : bool
        Whether the cost that `true_epsilon` returns holds for every data set.
    cost : str
        Description of the actual ε.
    true_epsilon : callable
        ``true_epsilon(epsilon)`` returns the actual ε of a claim of ε. By default, ε of a private method and infinity
        of any other.
    relations : tuple of str
        Neighbouring relations for which the claim is made.
    delta : float
        The δ with which the claim is audited, 0 for pure differential privacy.
    options : mapping
        Parameters of the class or function that the claim is about, with their values.
    target : str
        The class or function, as ``module.name``. `claim` sets it.
    family : {"mechanism", "selection", "classifier", "evaluation", "publishing"}
        Family of the method. By default, that of the target's package.

    See Also
    --------
    claim : States a claim of a class or function.
    dpml.registry.claims : Collects all claims.
    """

    name: str
    title: str
    source: str
    claim: str = "ε"
    private: bool = True
    cost: str = "as claimed"
    true_epsilon: Callable[[float], float] = field(default=None, repr=False)  # type: ignore[assignment]
    relations: tuple[str, ...] = RELATIONS
    delta: float = 0.0
    options: Mapping[str, Any] = field(default_factory=dict, hash=False)
    target: str = ""
    family: str = ""

    def __post_init__(self) -> None:
        if self.true_epsilon is None:
            object.__setattr__(self, "true_epsilon", float if self.private else lambda epsilon: math.inf)
        if not self.family and self.target:
            object.__setattr__(self, "family", FAMILIES.get(self.target.split(".")[1], "classifier"))

    @property
    def citation(self) -> str:
        """The source with the name of each paper instead of its key."""
        return named(self.source)

    def holds(self, epsilon: float = 1.0) -> bool:
        """Return True if the actual ε of a claim is at most the claimed ε.

        Parameters
        ----------
        epsilon : float, default=1.0
            The claimed ε.

        Returns
        -------
        bool
            Whether the claim holds.

        Examples
        --------
        >>> Claim("mine", "Mine", "this project").holds(), Claim("leaks", "Leaks", "nobody", private=False).holds()
        (True, False)
        """
        return self.private and self.true_epsilon(epsilon) <= epsilon


# every class and function that states a claim, by the names of its claims
STATED: dict[str, Any] = {}


def claim(name: str, title: str, source: str, text: str = "ε", **facts: Any) -> Callable[[Stated], Stated]:
    """Return a decorator that states a claim of a class or function.

    The class or function gets the attribute `claims`, a tuple of its own claims in the order of the decorators.

    Parameters
    ----------
    name : str
        Unique name of the claim.
    title : str
        Title for display.
    source : str
        The paper and the place in it, or the basis of the derivation.
    text : str, default="ε"
        The claim of the source.
    **facts : object
        More fields of `Claim`.

    Returns
    -------
    callable
        The decorator. It returns the class or function itself.

    Raises
    ------
    InvalidParameter
        If another class or function states a claim of this name.

    See Also
    --------
    Claim : Lists the fields.
    claims_of : Returns the claims of a class or function.

    Examples
    --------
    >>> from dpml.mechanisms import Laplace
    >>> Laplace.claims[0].title
    'Laplace mechanism'
    """

    def state(stated: Stated) -> Stated:
        target = f"{stated.__module__}.{stated.__qualname__}"
        own = Claim(name, title, source, text, target=target, **facts)
        known = STATED.setdefault(own.name, stated)
        if known is not stated and f"{known.__module__}.{known.__qualname__}" != target:
            raise InvalidParameter(
                "name", own.name, f"the name of one claim; {known.__qualname__} has one of that name"
            )
        STATED[own.name] = stated
        stated.claims = (own, *claims_of(stated))  # type: ignore[attr-defined]
        return stated

    return state


def claims_of(stated: Any) -> tuple[Claim, ...]:
    """Return the claims that a class or function states itself.

    Parameters
    ----------
    stated : type or callable
        A class or function. The claims of a base class are not its own.

    Returns
    -------
    tuple of Claim
        Its claims. Empty without any.

    See Also
    --------
    claim : States a claim.

    Examples
    --------
    >>> from dpml.mechanisms import Laplace
    >>> [each.name for each in claims_of(Laplace)]
    ['laplace']
    """
    return vars(stated).get("claims", ())


# a paper's key, and the names of the papers; docs/reference/references.md has the whole list
KEY = re.compile(r"\[((?:[a-z]+-)*[a-z]+(?:\d{4})?)\]")
NAMES = {
    "antonova2016": "Antonova 2016",
    "zafarani-clifton2021": "Zafarani and Clifton 2021",
    "stoddard2014": "Stoddard et al. 2014",
    "su2018": "Su et al. 2018",
    "awan-slavkovic2021": "Awan and Slavković 2021",
    "balle-wang2018": "Balle and Wang 2018",
    "bassily2014": "Bassily et al. 2014",
    "bernstein-sheldon2018": "Bernstein and Sheldon 2018",
    "bun-steinke2019": "Bun and Steinke 2019",
    "canonne2020": "Canonne et al. 2020",
    "chaudhuri-vinterbo2013": "Chaudhuri and Vinterbo 2013",
    "chaudhuri2011": "Chaudhuri et al. 2011",
    "ding2021": "Ding et al. 2021",
    "dong2020": "Dong et al. 2020",
    "dong2022": "Dong et al. 2022",
    "durfee-rogers2019": "Durfee and Rogers 2019",
    "dwork-feldman2018": "Dwork and Feldman 2018",
    "dwork-roth2014": "Dwork and Roth 2014",
    "friedman-schuster2010": "Friedman and Schuster 2010",
    "geng-viswanath2014": "Geng and Viswanath 2014",
    "ghosh2012": "Ghosh et al. 2012",
    "gillenwater2022": "Gillenwater et al. 2022",
    "hardt-talwar2010": "Hardt and Talwar 2010",
    "hay2010": "Hay et al. 2010",
    "jagannathan2012": "Jagannathan et al. 2012",
    "ji-elkan2013": "Ji and Elkan 2013",
    "iyengar2019": "Iyengar et al. 2019",
    "kaplan2022": "Kaplan et al. 2022",
    "kifer2012": "Kifer et al. 2012",
    "korolova2009": "Korolova et al. 2009",
    "lee-clifton2014": "Lee and Clifton 2014",
    "liu-talwar2019": "Liu and Talwar 2019",
    "lyu2017": "Lyu et al. 2017",
    "mckenna-sheldon2020": "McKenna and Sheldon 2020",
    "mckenna2021": "McKenna et al. 2021",
    "mckenna2022": "McKenna et al. 2022",
    "mohammed2011": "Mohammed et al. 2011",
    "nissim2007": "Nissim et al. 2007",
    "papernot-steinke2022": "Papernot and Steinke 2022",
    "prastakos2025": "Prastakos et al. 2025",
    "qiao2021": "Qiao et al. 2021",
    "smith2011": "Smith 2011",
    "vaidya2013": "Vaidya et al. 2013",
    "vinterbo2012": "Vinterbo 2012",
    "xiao2011": "Xiao et al. 2011",
    "zhang2012": "Zhang et al. 2012",
    "zhang2013": "Zhang et al. 2013",
    "zhang2014": "Zhang et al. 2014",
}


def named(text: str) -> str:
    """Return the text with each key in brackets replaced by the paper's name."""
    return KEY.sub(lambda match: NAMES.get(match[1], match[0]), text)
