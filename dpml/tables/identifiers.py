"""Recognition of columns that identify a record, by their name, the pattern of their values, or their uniqueness."""

import re

import numpy as np
import pandas as pd

# the last word of a name, or the first of two, that identifies a record
ALONE = re.compile(
    "id|uid|pk|uuid|guid|ssn|nin|iban|email|mail|phone|telephone|mobile|url|uri|rowid|rownum|surname|passport|imei"
)
# what a number, a name or a key identifies
HOLDERS = (
    "account|applicant|application|booking|card|case|client|contract|customer|device|employee|encounter|household|"
    "index|invoice|loan|member|order|participant|passenger|patient|person|phone|policy|record|resp|respondent|response|"
    "row|sample|serial|session|student|subject|survey|tax|ticket|transaction|user|visit"
)
ENDS = "id|no|nr|nbr|num|number|name|uuid|guid|key|index"
JOINED = re.compile(rf"({HOLDERS})_?({ENDS})|(first|last|full|middle|given|family)_?name")
WHOLE = re.compile(r"name|address|index|row|unnamed(_\d+)?|index_level_\d+|level_\d+")
PATTERNS = tuple(
    re.compile(pattern, re.I)
    for pattern in (
        r"\{?[0-9a-f]{8}-?([0-9a-f]{4}-?){3}[0-9a-f]{12}\}?",  # UUID, MD5
        r"[0-9a-f]{40}|[0-9a-f]{64}",  # SHA-1, SHA-256
        r"[^@\s]+@[^@\s]+\.[^@\s]+",
        r"(https?|ftp)://\S+|www\.\S+",
        r"[a-z]{2}\d{2}( ?[a-z0-9]{4}){3,7}( ?[a-z0-9]{1,4})?",  # IBAN
    )
)
DATE = re.compile(r"\d{1,4}[-/.]\d{1,2}[-/.]\d{1,4}.*")
TIMES = re.compile(r".*(year|date|time|month|week|day|quarter)s?", re.I)
# fewer values than these all differ by chance
FEWEST = 20
# a column of more different values is no code
MOST_CODES = 50
REASONS = {
    "name": "its name is that of an identifier",
    "pattern": "its values look like identifiers",
    "unique": "no two of its values are the same",
}


def looks_like_identifier(name: str, values: pd.Series | None = None) -> bool:
    """Return whether a column looks as if it identified each record. Private, if it looks at values.

    Parameters
    ----------
    name : str
        Name of the column.
    values : Series, optional
        Cells of the column. Without them the name alone decides.

    Returns
    -------
    bool
        True for an identifier.

    Examples
    --------
    >>> [name for name in ("customerID", "row_id", "paid", "body_mass_index") if looks_like_identifier(name)]
    ['customerID', 'row_id']
    >>> looks_like_identifier("badge", pd.Series(range(100, 200)))
    True
    """
    return identifier_reason(name, values) is not None


def identifier_reason(name: str, values: pd.Series | None = None) -> str | None:
    """Return by which of `REASONS` a column looks like an identifier, or None.

    A name counts, unless its values are those of a code (`is_code`). A pattern counts if all texts follow it and most
    differ. Whole numbers count if all differ, and they ascend from record to record or leave few numbers out. Texts of
    one word count if all differ.

    >>> identifier_reason("email", pd.Series(["yes", "no"] * 20)) is None
    True
    >>> identifier_reason("contact", pd.Series([f"p{i}@example.org" for i in range(30)]))
    'pattern'
    """
    present = None if values is None else values.dropna()
    if identifies(name):
        code = present is not None and len(present) >= FEWEST and is_code(present.astype(str).nunique(), len(present))
        return None if code else "name"
    if present is None or len(present) < FEWEST or TIMES.fullmatch(name):
        return None
    if pd.api.types.is_bool_dtype(present.dtype) or pd.api.types.is_complex_dtype(present.dtype):
        return None
    if pd.api.types.is_numeric_dtype(present.dtype):
        return "unique" if _numbered(present.to_numpy(dtype=float)) else None
    if not (present.dtype == object or pd.api.types.is_string_dtype(present.dtype)):
        return None
    texts = present.astype(str)
    different = texts.nunique()
    if 2 * different > len(texts) and any(texts.map(pattern.fullmatch).notna().all() for pattern in PATTERNS):
        return "pattern"
    words = different == len(texts) and not texts.str.contains(r"\s").any()
    return "unique" if words and not texts.map(DATE.fullmatch).notna().all() else None


def is_code(different: int, values: int) -> bool:
    """Return whether so few different values are those of a code, as of a department, and identify no record."""
    return different <= MOST_CODES and 5 * different < values


def identifies(name: str) -> bool:
    """Return whether a column's name alone is that of an identifier.

    >>> [name for name in ("userid", "EmployeeNumber", "__index_level_0__", "Unnamed: 0") if not identifies(name)]
    []
    >>> [name for name in ("number_of_children", "hybrid", "PhoneService", "price_index") if identifies(name)]
    []
    """
    joined = "_".join(words_of(name))
    words = joined.split("_")
    return bool(
        ALONE.fullmatch(words[-1])
        or (len(words) == 2 and words[0] in ("id", "uuid", "guid"))
        or WHOLE.fullmatch(joined)
        or JOINED.fullmatch("_".join(words[-2:]))
    )


def words_of(name: str) -> list[str]:
    """Return the words of a column's name in small letters, for all ways of joining them.

    >>> words_of("customerID"), words_of("Unnamed: 0"), words_of("arrival_date-year"), words_of("HTTPStatusCode")
    (['customer', 'id'], ['unnamed', '0'], ['arrival', 'date', 'year'], ['http', 'status', 'code'])
    """
    apart = re.sub(r"(?<=[^\W\d_A-Z])(?=[A-Z])|(?<=[A-Z])(?=[A-Z][a-z])", "_", name)
    return [word.lower() for word in re.split(r"[\W_]+", apart) if word] or [""]


def _numbered(numbers: np.ndarray) -> bool:
    """Return whether whole numbers count the records: all differ, and they ascend or leave few out."""
    if not np.isfinite(numbers).all() or (numbers != np.trunc(numbers)).any():
        return False
    steps = np.diff(np.sort(numbers))
    if not (steps > 0).all():
        return False
    return bool((np.diff(numbers) > 0).all() or steps.sum() <= 2 * len(numbers))
