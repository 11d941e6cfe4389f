"""The map: one row for each definition, theorem, algorithm, figure, table and headline claim of the papers."""

from collections.abc import Iterator
from dataclasses import dataclass, replace
from functools import cache
from importlib import resources

from dpml._validate import check_choice
from dpml._yaml import read_values

VERDICTS = ("holds", "holds with a condition", "does not hold", "cannot be tried")
KEYS = ("antonova-2016", "stoddard-2014", "su-2018", "ji-elkan-2013", "zafarani-clifton-2021")


@dataclass(frozen=True)
class Paper:
    """One of the papers; `key` is its name on the command line."""

    key: str
    title: str
    authors: str


@dataclass(frozen=True)
class Item:
    """One item of a paper: where it is in the library, and what became of it.

    Attributes
    ----------
    paper, key : str
        The paper's key, and the item's, as in "fig-4.2".
    title : str
    names : tuple of str
        Qualified names in the library.
    command : str
        The command that makes it again, or checks it, in a checkout.
    printed, ours : str
        The paper's number or statement, and the library's, with its standard error in brackets where it has one.
    verdict : str
        One of `VERDICTS`.
    why : str
        The reason, in a sentence.
    card : str
        The page of the app and its card, as in "select/f1"; empty if no card shows it.
    notebook : str
        The notebook without its suffix; empty if none has it.
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
    experiments = _experiments().get(key, {})
    return paper, tuple(_item(key, name, name in experiments, row) for name, row in rows.items())


def _experiments() -> dict:
    from dpml.papers.experiments import EXPERIMENTS  # imports all classifiers

    return EXPERIMENTS


def _item(paper: str, key: str, measured: bool, row: dict) -> Item:
    item = Item(paper, key, **{**row, "names": tuple(row["names"])})
    # an experiment prints the paper's numbers beside ours
    return replace(item, command=f"python -m dpml papers {paper} {key}") if measured else item


def papers() -> tuple[Paper, ...]:
    """Return the papers.

    Examples
    --------
    >>> [paper.key for paper in papers()][:2]
    ['antonova-2016', 'stoddard-2014']
    """
    return tuple(_read(key)[0] for key in KEYS)


def items(paper: str | None = None) -> Iterator[Item]:
    """Return the rows of a paper, or of all papers.

    Parameters
    ----------
    paper : str, optional
        A paper's key.

    Raises
    ------
    InvalidParameter
        There is no paper of that key.

    Examples
    --------
    >>> rows = {item.key: item for item in items("stoddard-2014")}
    >>> rows["theorem-2"].verdict
    'does not hold'
    """
    chosen = KEYS if paper is None else (check_choice(paper, "paper", KEYS),)
    return (item for key in chosen for item in _read(key)[1])
