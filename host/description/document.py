# SPDX-License-Identifier: BSD-2-Clause
"""Files of sections with keys: TOML and YAML."""

import re
import tomllib
from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import Any, ClassVar

import yaml

from hypercast.host.description.conversion import DescriptionError
from hypercast.host.files.reading.regular_file import DESCRIPTION_BYTES, FileError, read_text

__all__ = ["SUFFIXES", "Document", "read_document"]

_YAML = (".yaml", ".yml")
#: How the names of such files end.
SUFFIXES = (".toml", *_YAML)


class Document:
    """The values of a file, and their places.

    Parameters
    ----------
    sections : dict
        Section name to a dictionary of its keys, as read.
    lines : dict
        Number of the line, from 1, of a section and a key in it; of the section itself, whose key
        is empty; and of what is in no section, whose section is empty.
    """

    def __init__(self, sections: dict[str, Any], lines: Mapping[tuple[str, str], int]) -> None:
        self.sections = sections
        self._lines = lines

    def place(self, section: str, key: str) -> str:
        """Where a key, or else its section, is: ``", line 3"``, or nothing if there is none."""
        for place in ((section, key), (section, ""), ("", section)):
            if place in self._lines:
                return f", line {self._lines[place]}"
        return ""


def read_document(path: Path) -> Document:
    """The ``Document`` in a file, by its suffix one of ``SUFFIXES``.

    Raises
    ------
    DescriptionError
        If it cannot be read, is damaged, or holds anything but sections.
    """
    try:
        text = read_text(path, most=DESCRIPTION_BYTES)
        if path.suffix in _YAML:
            return _yaml_document(text)
        return Document(tomllib.loads(text), _toml_lines(text))
    except FileError as error:
        raise DescriptionError(str(error)) from error
    except RecursionError as error:
        raise DescriptionError(f"{path} has too many brackets in each other; correct the file"
                               ) from error
    except yaml.MarkedYAMLError as error:
        raise DescriptionError(f"{path}, line {error.problem_mark.line + 1}: {error.problem}; "
                               f"correct the file") from error
    except (ValueError, yaml.YAMLError) as error:  # also numbers of too many digits
        text = " ".join(str(error).split())
        raise DescriptionError(f"{path}: {text}; correct the file") from error


#: In TOML: a key; the line of a section; and the beginning of the line of a key.
_KEY = r"""(?:[\w-]+|"(?:[^"\\]|\\.)*"|'[^']*')"""
_HEADER = re.compile(rf"\s*\[\s*{_KEY}(?:\s*\.\s*{_KEY})*\s*\]")
_ENTRY = re.compile(rf"\s*{_KEY}\s*=")


def _toml_lines(text: str) -> dict[tuple[str, str], int]:
    """Lines of sections and keys, but for those in tables within a line."""
    found: dict[tuple[str, str], int] = {}
    section = ""
    for number, line in enumerate(text.split("\n"), 1):
        if header := _HEADER.match(line):
            section = _name(header[0])
            found.setdefault((section, ""), number)
        elif entry := _ENTRY.match(line):
            found.setdefault((section, _name(f"{entry[0]}{{}}")), number)
    return found


def _name(line: str) -> str:
    """The name in a line with a section or a key, its parts joined by points."""
    try:
        inner, names = tomllib.loads(line), []
    except tomllib.TOMLDecodeError:  # it is part of a text of several lines
        return ""
    while inner:
        [(name, inner)] = inner.items()
        names.append(name)
    return ".".join(names)


class _Loader(yaml.SafeLoader):  # type: ignore[misc]  # PyYAML has no types
    """YAML without what would be lost or misread silently.

    Plain values are what YAML 1.2 takes them for, so that 010 is not eight, 1:30 not ninety, and
    no is a text. References to other values are not taken: a short file could make large ones.
    """

    #: Empty: patterns of plain values are added below, instead of YAML 1.1's.
    yaml_implicit_resolvers: ClassVar[dict[str, list[tuple[str, re.Pattern[str]]]]] = {}

    def compose_node(self, parent: yaml.Node | None, index: int) -> yaml.Node | None:
        if self.check_event(yaml.AliasEvent):
            event = self.peek_event()
            raise yaml.MarkedYAMLError(problem=f"*{event.anchor} refers to another value; write "
                                               f"it out", problem_mark=event.start_mark)
        return super().compose_node(parent, index)

    def construct_object(self, node: yaml.Node, deep: bool = False) -> Any:
        try:
            return super().construct_object(node, deep=deep)
        except (ArithmeticError, AttributeError, LookupError, TypeError, ValueError) as error:
            kind = node.tag.rpartition(":")[2]
            raise yaml.MarkedYAMLError(problem=f"{str(node.value)[:40]!r} is no {kind}",
                                       problem_mark=node.start_mark) from error

    def construct_mapping(self, node: yaml.MappingNode, deep: bool = False) -> dict[str, Any]:
        known = set()
        for key, _ in node.value:
            name = self.construct_object(key)
            if not isinstance(name, str):
                raise yaml.MarkedYAMLError(
                    problem=f"the key {name!r} is no text", problem_mark=key.start_mark)
            if name in known:
                raise yaml.MarkedYAMLError(
                    problem=f"the key {name} is there twice", problem_mark=key.start_mark)
            known.add(name)
        found: dict[str, Any] = super().construct_mapping(node, deep)
        return found


for _kind, _pattern, _first in (
        ("null", r"(?:~|null|)$", ["~", "n", ""]), ("bool", r"(?:true|false)$", ["t", "f"]),
        ("int", r"[-+]?(?:0|[1-9][0-9]*)$", list("-+0123456789")),
        ("float", r"[-+]?(?:\.[0-9]+|(?:0|[1-9][0-9]*)(?:\.[0-9]*)?)(?:[eE][-+]?[0-9]+)?$",
         list("-+.0123456789"))):
    _Loader.add_implicit_resolver(f"tag:yaml.org,2002:{_kind}", re.compile(_pattern), _first)


def _yaml_document(text: str) -> Document:
    sections = yaml.load(text, _Loader)  # a safe loader
    if not isinstance(sections, dict):
        raise yaml.YAMLError(f"it holds {'nothing' if sections is None else repr(sections)} "
                             f"where sections like graph: and model: should be")
    sections = {name: {} if keys is None else keys for name, keys in sections.items()}
    return Document(sections, dict(_yaml_lines(yaml.compose(text, _Loader))))


def _yaml_lines(node: yaml.Node, section: str = "") -> Iterator[tuple[tuple[str, str], int]]:
    """Lines of sections and keys."""
    for key, value in node.value:
        line = key.start_mark.line + 1
        yield (section, key.value), line
        if isinstance(value, yaml.MappingNode):
            inner = f"{section}.{key.value}" if section else key.value
            yield (inner, ""), line
            yield from _yaml_lines(value, inner)
