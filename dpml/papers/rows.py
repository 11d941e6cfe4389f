"""The map: one row for each definition, theorem, algorithm, figure, table and headline claim of the papers."""

from collections.abc import Iterator
from dataclasses import dataclass
from functools import cache
from importlib import resources

from dpml._validate import check_choice
from dpml._yaml import read_values

VERDICTS = ("holds", "holds with a condition", "does not hold", "cannot be tried")
KEYS = ("antonova-2016", "stoddard-2014", "su-2018", "ji-elkan-2013", "zafarani-clifton-2021")


@dataclass(frozen=True)
class Paper:
    """One of the five papers.

    Attributes
    ----------
    key : str
        Name of the paper on the command line.
    title : str
        Title of the paper.
    authors : str
        Names of the authors.

    See Also
    --------
    papers : Returns all papers.
    Item : Stores one item of a paper.
    """

    key: str
    title: str
    authors: str


@dataclass(frozen=True)
class Item:
    """One item of a paper, its place in the library, and the verdict on it.

    Attributes
    ----------
    paper : str
        Key of the paper.
    key : str
        Key of the item, for example "fig-4.2".
    title : str
        Title of the item.
    names : tuple of str
        Qualified names in the library.
    command : str
        The command that measures or checks the item again. "python -m dpml ..." runs everywhere; any other command
        needs a checkout of the repository.
    printed : str
        The paper's number or statement.
    ours : str
        The library's number or statement, with its standard error in brackets where it has one.
    verdict : str
        One of `VERDICTS`.
    why : str
        The reason, in a sentence.
    card : str
        The page of the app and its card, for example "select/f1". Empty if no card shows it.
    notebook : str
        Name of the notebook without its suffix. Empty if there is none.
    tried : str
        The paper's own procedure and settings that were run. Stated for "does not hold".
    untried : str
        The sets and settings of the paper that were not run. Stated where `tried` is.
    would_change : str
        The result that would change the verdict. Stated where `tried` is.

    See Also
    --------
    items : Returns the items of a paper.
    Paper : Stores the key, title and authors of a paper.
    """

    paper: str
    key: str
    title: str
    names: tuple[str, ...]
    command: str
    printed: str
    ours: str
    verdict: str
    why: str
    card: str = ""
    notebook: str = ""
    tried: str = ""
    untried: str = ""
    would_change: str = ""

    def __post_init__(self) -> None:
        check_choice(self.verdict, "verdict", VERDICTS)

    @property
    def kind(self) -> str:
        """The kind: definition, theorem, lemma, corollary, algorithm, fig, table or claim."""
        return self.key.partition("-")[0]


@cache
def _read(key: str) -> tuple[Paper, tuple[Item, ...]]:
    text = resources.files("dpml.papers").joinpath("items", f"{key}.yaml").read_text(encoding="utf-8")
    rows = read_values(text)
    paper = Paper(key, **{field: rows.pop(field) for field in ("title", "authors")})
    return paper, tuple(Item(key, name, **{**row, "names": tuple(row["names"])}) for name, row in rows.items())


def papers() -> tuple[Paper, ...]:
    """Return the five papers of the library.

    Returns
    -------
    tuple of Paper
        The five papers.

    See Also
    --------
    items : Returns the items of a paper.
    Paper : Stores the key, title and authors of a paper.

    Examples
    --------
    >>> [paper.key for paper in papers()][:2]
    ['antonova-2016', 'stoddard-2014']
    """
    return tuple(_read(key)[0] for key in KEYS)


def items(paper: str | None = None) -> Iterator[Item]:
    """Return the items of a paper, or of all papers.

    Parameters
    ----------
    paper : str, optional
        Key of a paper. By default, all papers.

    Returns
    -------
    iterator of Item
        The items in the order of the papers.

    Raises
    ------
    InvalidParameter
        If there is no paper of that key.

    See Also
    --------
    papers : Returns all papers.
    Item : Stores one item of a paper.

    Examples
    --------
    >>> rows = {item.key: item for item in items("stoddard-2014")}
    >>> rows["theorem-2"].verdict
    'does not hold'
    """
    chosen = KEYS if paper is None else (check_choice(paper, "paper", KEYS),)
    return (item for key in chosen for item in _read(key)[1])
