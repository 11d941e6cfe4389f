"""The running totals of a ledger: exact, and tied to its entries by a chain of checksums.

Every double is an integer times 2^-1074, so sums of charges are stored as integers in that unit and are never rounded.
"""

import hashlib
import json
import math
from collections.abc import Iterable
from dataclasses import dataclass
from typing import Any

# the smallest double is 2^-1074
PLACES = 1074
UNIT = 1 << PLACES

# (ε, δ, ρ), each in units of 2^-1074
Cost = tuple[int, int, int]
# (total, part) of the largest disjoint parts, in falling order; one list for each of ε, δ, ρ
Largest = tuple[list[tuple[int, str]], ...]


def exact(number: float) -> int:
    """Return a finite double in units of 2^-1074."""
    numerator, denominator = number.as_integer_ratio()
    return numerator << (PLACES + 1 - denominator.bit_length())


def nearest(total: int) -> float:
    """Return the double nearest to an exact total."""
    try:
        return total / UNIT
    except OverflowError:
        return math.inf


def up(total: int) -> float:
    """Return the smallest double that is not below an exact total."""
    number = nearest(total)
    return math.nextafter(number, math.inf) if number < math.inf and exact(number) < total else number


def down(total: int) -> float:
    """Return the largest double that is not above an exact total."""
    number = nearest(total)
    return math.nextafter(number, -math.inf) if number == math.inf or exact(number) > total else number


def chain_hash(chain: bytes, text: bytes) -> bytes:
    """Return the checksum of all entries so far and this text."""
    return hashlib.blake2b(chain + text, digest_size=32).digest()


@dataclass
class Part:
    """A part of a budget: its parent, the set of disjoint parts that it belongs to, and its cost so far.

    `begun` is its cost after the first charge of ρ. The rest at that time sets the order of the conversion.
    """

    parent: str | None = None
    group: str | None = None
    total: Cost = (0, 0, 0)
    begun: Cost | None = None


class RunningTotals:
    """The totals of a ledger's entries. Each entry is read once.

    An entry is the JSON text of a charge or of a new part. Adding an entry takes a few integer additions for the
    charged part and each of its ancestors, however many entries there are.
    """

    def __init__(self, begun: bytes, relation: str):
        self.chain = chain_hash(b"", begun)
        self.count = 0
        self.charges: list[dict[str, Any]] = []
        self.parts: dict[str, Part] = {"": Part()}
        self.groups: dict[str, Largest] = {}
        # adding or removing a record changes one of the disjoint parts; replacing a record can change two
        self.touched = 1 if relation == "add-remove" else 2

    @staticmethod
    def text(entry: dict[str, Any]) -> bytes:
        """Return an entry as the text that is stored and enters the checksum."""
        return json.dumps(entry, separators=(",", ":")).encode()

    def add(self, text: bytes) -> None:
        """Add the next entry to the totals."""
        entry = json.loads(text)
        if "parent" in entry:
            self._add_part(entry)
        else:
            cost = exact(entry["epsilon"]), exact(entry["delta"]), exact(entry["rho"])
            totals, groups = self.after(entry["part"], cost)
            for part, total in totals.items():
                here = self.parts[part]
                here.total = total
                if here.begun is None and total[2]:
                    here.begun = total
            self.groups.update(groups)
            self.charges.append(entry)
        self.chain = chain_hash(self.chain, text)
        self.count += 1

    def _add_part(self, entry: dict[str, Any]) -> None:
        part, parent, group = entry["part"], entry["parent"], entry["disjoint"]
        if part in self.parts or parent not in self.parts:
            raise ValueError(f"part {part!r} comes twice, or before its parent")
        self.parts[part] = Part(parent, group)
        if group is not None:
            self.groups.setdefault(group, ([], [], []))

    def after(self, part: str, cost: Cost) -> tuple[dict[str, Cost], dict[str, Largest]]:
        """Return the new totals, and the new largest disjoint parts, after a charge to a part."""
        totals: dict[str, Cost] = {}
        groups: dict[str, Largest] = {}
        holder: str | None = part
        while holder is not None:
            here = self.parts[holder]
            totals[holder] = _plus(here.total, cost)
            if here.group is not None:
                old = self.groups[here.group]
                new = self._largest(old, holder, totals[holder])
                groups[here.group] = new
                # each of ε, δ, ρ separately: never less than the cost of any one pair of parts
                cost = _minus(_sums(new), _sums(old))
            holder = here.parent
        return totals, groups

    def _largest(self, old: Largest, part: str, total: Cost) -> Largest:
        """Keep the parts with the largest totals. Totals only grow, so a dropped part matters again only if charged."""
        return tuple(
            sorted([pair for pair in column if pair[1] != part] + [(value, part)], reverse=True)[: self.touched]
            for column, value in zip(old, total, strict=True)
        )

    def below(self, part: str) -> Iterable[dict[str, Any]]:
        """Return the charges to a part and to its descendants, oldest first."""
        inside = {part: True}

        def is_inside(holder: str) -> bool:
            if holder not in inside:
                parent = self.parts[holder].parent
                inside[holder] = parent is not None and is_inside(parent)
            return inside[holder]

        return [charge for charge in self.charges if is_inside(charge["part"])]


def _plus(one: Cost, other: Cost) -> Cost:
    return one[0] + other[0], one[1] + other[1], one[2] + other[2]


def _minus(one: Cost, other: Cost) -> Cost:
    return one[0] - other[0], one[1] - other[1], one[2] - other[2]


def _sums(largest: Largest) -> Cost:
    epsilon, delta, rho = (sum(value for value, _ in column) for column in largest)
    return epsilon, delta, rho
