"""Reading of unchecked YAML as plain values, without anchors, repeated keys, dates or converted words.

A small file with anchors could unfold to a huge one. YAML 1.1, which PyYAML reads, takes ``no`` for a truth value,
``12:30`` for a number and ``012`` for another one; as a category each is text. So the values are those of YAML 1.2.
"""

import re
from typing import Any

MOST_CHARACTERS = 1_000_000
# lists and mappings within each other
DEEPEST = 20
VALUES = {
    "null": (r"~|null|", ["~", "n", ""]),
    "bool": (r"true|false", ["t", "f"]),
    "int": (r"[-+]?(0|[1-9][0-9]*)", list("-+0123456789")),
    "float": (
        r"[-+]?(0|[1-9][0-9]*|(0|[1-9][0-9]*)?\.[0-9]+|(0|[1-9][0-9]*)\.)([eE][-+]?[0-9]+)?",
        list("-+.0123456789"),
    ),
}


class Fault(ValueError):
    """A fault in a text: words for it, with its place."""


def read_values(text: str) -> Any:
    """Return what a text in YAML says, or raise `Fault`.

    >>> read_values("answer: [no, 012, 1e3, 12:30, 2020-01-01, true]")
    {'answer': ['no', '012', 1000.0, '12:30', '2020-01-01', True]}
    """
    import yaml  # slow, and only files need it

    class Loader(yaml.SafeLoader):
        """Plain values only; each key once; no anchors; not too deep."""

        yaml_implicit_resolvers = _resolvers()
        depth = 0

        def compose_node(self, parent: Any, index: Any) -> Any:
            event = self.peek_event()
            if isinstance(event, yaml.AliasEvent) or getattr(event, "anchor", None):
                raise yaml.constructor.ConstructorError(None, None, "anchors are not read", event.start_mark)
            if self.depth == DEEPEST:
                problem = f"lists are not read more than {DEEPEST} deep"
                raise yaml.constructor.ConstructorError(None, None, problem, event.start_mark)
            self.depth += 1
            node = super().compose_node(parent, index)
            self.depth -= 1
            return node

        def construct_mapping(self, node: Any, deep: bool = False) -> dict:
            mapping: dict = {}
            for key_node, value_node in node.value:
                key = self.construct_object(key_node, deep=True)
                if not isinstance(key, str) or key in mapping:
                    problem = f"the key {key!r} stands twice" if isinstance(key, str) else "a key is not text"
                    raise yaml.constructor.ConstructorError(None, None, problem[:120], key_node.start_mark)
                mapping[key] = self.construct_object(value_node, deep=deep)
            return mapping

    if len(text) > MOST_CHARACTERS:
        raise Fault(f"it has more than {MOST_CHARACTERS:,} characters")
    try:
        return yaml.load(text, Loader)
    except (yaml.YAMLError, ValueError, OverflowError, RecursionError, TypeError) as error:
        mark = getattr(error, "problem_mark", None)
        where = f"line {mark.line + 1}, column {mark.column + 1}: " if mark else ""
        problem = getattr(error, "problem", None) or str(error) or type(error).__name__
        raise Fault(f"{where}{' '.join(problem.split())[:120]}") from error


def write_values(values: Any) -> str:
    """Return plain values as YAML that `read_values` reads back.

    >>> print(write_values({"answer": ["no", 1, "1"]}), end="")
    answer: [no, 1, '1']
    """
    import yaml

    class Dumper(yaml.SafeDumper):
        """Quotes what `read_values` would take for something else."""

        yaml_implicit_resolvers = _resolvers()

        def ignore_aliases(self, data: Any) -> bool:
            return True

    return str(
        yaml.dump(values, Dumper=Dumper, allow_unicode=True, sort_keys=False, default_flow_style=None, width=110)
    )


def _resolvers() -> dict[str, list]:
    resolvers: dict[str, list] = {}
    for tag, (pattern, beginnings) in VALUES.items():
        for letter in beginnings:
            resolvers.setdefault(letter, []).append((f"tag:yaml.org,2002:{tag}", re.compile(f"^(?:{pattern})$")))
    return resolvers
