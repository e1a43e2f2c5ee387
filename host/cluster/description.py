# SPDX-License-Identifier: BSD-2-Clause
"""A cluster, described: boards, and the links between them; and the file that describes one."""

import difflib
import itertools
import math
import reprlib
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from functools import cached_property
from pathlib import Path
from typing import Any, Self

from hypercast.host.cluster.board import MOST_BOARDS, Board, board_of
from hypercast.host.cluster.link import GIGABITS, MICROSECONDS, ClusterLink, Route
from hypercast.host.description.conversion import DescriptionError, Name, check
from hypercast.host.description.document import SUFFIXES, read_document

__all__ = ["CLUSTERS", "Cluster", "Connection", "load_cluster"]

_SECTIONS = ("boards", "links")
_LINK_HINTS = {"gigabits": GIGABITS, "microseconds": MICROSECONDS, "boards": tuple[str, ...],
               "direct": bool}
#: Most pairs of boards that all links join: a few switches, each with as many boards as can be.
_MOST_PAIRS = 4 * MOST_BOARDS**2


def _switch(gigabits: float, microseconds: float = 5.0) -> dict[str, Any]:
    """All boards' hosts on one switch."""
    return {"network": {"gigabits": gigabits, "microseconds": microseconds}}


#: Clusters that people have, by name: sections, as a file would have them.
CLUSTERS: dict[str, dict[str, Any]] = {
    **{f"{board}-{count}{slow}": {"boards": {board: {"board": board, "count": count}},
                                  "links": links}
       for board in ("vcu128", "u280", "u50") for count in (2, 4, 8, 16)
       # Slow Ethernet is what most rooms have.
       for slow, links in (("", _switch(100.0)), ("-slow", _switch(10.0, 20.0)))},
    # Half of the boards are twice the others.
    "mixed": {"boards": {"vcu128": {"board": "vcu128", "count": 4},
                         "u50": {"board": "u50", "count": 4}}, "links": _switch(100.0)},
    # Boards on USB of one machine, whose memory is the network.
    **{f"ulx3s-{count}": {
        "boards": {"ulx3s": {"board": "ulx3s", "count": count}}, "links": _switch(100.0, 1.0)}
       for count in (2, 4)},
}


@dataclass(frozen=True, kw_only=True)
class Connection:
    """A link of boards: a cable between two of them, or a switch with a port for each.

    Parameters
    ----------
    name : str
        Name of the cable or switch.
    link : ClusterLink
        A port of it, in either direction.
    boards : tuple of str
        Which boards.
    direct : bool
        Whether it joins the FPGAs themselves; else bytes pass both boards' hosts.
    """

    name: str
    link: ClusterLink
    boards: tuple[str, ...]
    direct: bool = False


@dataclass(frozen=True)
class Cluster:
    """Boards and what joins them.

    Parameters
    ----------
    boards : tuple of Board
        The boards, in the order of their ranks.
    connections : tuple of Connection
        What joins them; bytes take the fastest that joins two boards.

    Raises
    ------
    DescriptionError
        If a connection names what is no board.
    """

    boards: tuple[Board, ...]
    connections: tuple[Connection, ...] = ()

    def __repr__(self) -> str:
        return f"Cluster({_list_names([board.name for board in self.boards])})"

    def __post_init__(self) -> None:
        names = [board.name for board in self.boards]
        for connection in self.connections:
            section = f"links.{connection.name}"
            for name in connection.boards:
                if name not in names:
                    near = difflib.get_close_matches(name, names, n=1)
                    advice = f"did you mean {near[0]}?" if near else \
                        f"there are {_list_names(names)}"
                    raise DescriptionError(
                        f"[{section}] names the board {reprlib.repr(name)[1:-1]}, which there is "
                        f"not; {advice}", section, "boards")
            if len({*connection.boards}) != len(connection.boards):
                raise DescriptionError(f"[{section}] boards names a board twice: "
                                       f"{', '.join(connection.boards)}", section, "boards")

    @classmethod
    def of_sections(cls, sections: Mapping[str, Any]) -> Self:
        """From ``boards`` and ``links``, each a dictionary of sections by name.

        Raises
        ------
        DescriptionError
            If a section or key is unknown or missing, or a value makes no sense.
        """
        for name, value in sections.items():
            if name not in _SECTIONS:
                near = difflib.get_close_matches(name, _SECTIONS, n=1)
                advice = f"did you mean [{near[0]}.NAME]?" if near else \
                    "there are [boards.NAME] and [links.NAME]"
                raise DescriptionError(f"there is no section [{name}]; {advice}", name)
            for part, keys in value.items() if isinstance(value, dict) else [("", None)]:
                if not isinstance(keys, dict):
                    raise DescriptionError(f"{name} must be sections [{name}.NAME] with keys, not "
                                           f"{reprlib.repr(part or value)} alone", name)
                check(f"{name}.{part}", {"NAME": part}, {"NAME": Name})
        if not sections.get("boards"):
            raise DescriptionError("there are no boards; give sections like [boards.fast] with "
                                   "board = \"vcu128\"")
        boards: list[Board] = []
        for name, keys in sections["boards"].items():
            boards += board_of(name, keys)
            if len(boards) > MOST_BOARDS:
                raise DescriptionError(f"[boards.{name}] makes the boards {len(boards)}; describe "
                                       f"at most {MOST_BOARDS} in all", f"boards.{name}", "count")
        names = tuple(board.name for board in boards)
        connections = tuple(_connection(name, keys, names)
                            for name, keys in sections.get("links", {}).items())
        if sum(len(one.boards)**2 for one in connections) > _MOST_PAIRS:
            raise DescriptionError(f"{len(connections)} links join more than {_MOST_PAIRS} pairs "
                                   f"of boards, counting each for every link; name the boards of "
                                   f"each link", "links")
        return cls(tuple(boards), connections)

    @cached_property
    def _routes(self) -> dict[tuple[str, str], Route]:
        found: dict[tuple[str, str], Route] = {}
        boards = {board.name: board for board in self.boards}
        for connection in self.connections:
            for source, target in itertools.permutations(connection.boards, 2):
                parts = [connection.link] if connection.direct else [
                    boards[source].host, connection.link, boards[target].host]
                of = f", {connection.name}" if connection.direct else ""
                route = Route(bandwidth=min(part.bandwidth for part in parts),
                              latency=math.fsum(part.latency for part in parts),
                              ports=(f"{source}{of}, out", f"{target}{of}, in"))
                old = found.get((source, target))
                if old is None or route.bandwidth > old.bandwidth:
                    found[source, target] = route
        return found

    def route(self, source: Board, target: Board) -> Route:
        """The way from one board to another.

        Raises
        ------
        DescriptionError
            If nothing joins them.
        """
        try:
            return self._routes[source.name, target.name]
        except KeyError:
            raise DescriptionError(
                f"no link joins the boards {source.name} and {target.name}; add both to the boards "
                f"of a section like [links.network]", "links") from None

    def connects(self, source: Board, target: Board) -> bool:
        """Whether there is a way from one board to another."""
        return (source.name, target.name) in self._routes

    def require_joined(self, boards: Sequence[Board] | None = None) -> None:
        """Check that each two of some boards, or of all, are joined.

        Raises
        ------
        DescriptionError
            If they are not, names two of them.
        """
        for source, target in itertools.combinations(boards or self.boards, 2):
            self.route(source, target)

    def only(self, names: Sequence[str]) -> Self:
        """Some of the boards alone, in this order, and what joins them; all if none are named."""
        if not names:
            return self
        boards = {board.name: board for board in self.boards}
        return type(self)(tuple(boards[name] for name in names), tuple(
            replace(one, boards=tuple(name for name in one.boards if name in names))
            for one in self.connections))



def _list_names(names: Sequence[str]) -> str:
    return ", ".join(names) if len(names) <= 8 else f"{', '.join(names[:3])} to {names[-1]}"


def _connection(name: str, values: dict[str, Any], boards: tuple[str, ...]) -> Connection:
    section = f"links.{name}"
    given = check(section, values, _LINK_HINTS)
    if "gigabits" not in given:
        raise DescriptionError(f"[{section}] needs gigabits, how many pass in a second", section)
    if len(given.get("boards", boards)) < min(len(boards), 2):
        raise DescriptionError(f"[{section}] boards has {len(given['boards'])}, so that it joins "
                               f"nothing; name two or more, or leave boards out", section, "boards")
    return Connection(name=name, boards=given.get("boards", boards),
                   direct=given.get("direct", False),
                   link=ClusterLink(bandwidth=given["gigabits"] * 1e9 / 8,
                                    latency=given.get("microseconds", 0.0) * 1e-6))


def load_cluster(source: str) -> Cluster:
    """The ``Cluster`` in a TOML or YAML file, or of a name.

    Parameters
    ----------
    source : str
        The file's path, or one of ``CLUSTERS``.

    Raises
    ------
    DescriptionError
        If it makes no sense, and names the line; or cannot be read.
    """
    if source in CLUSTERS:
        return Cluster.of_sections(CLUSTERS[source])
    if not source.endswith(SUFFIXES):
        near = difflib.get_close_matches(source, CLUSTERS, n=1)
        advice = f"did you mean {near[0]}?" if near else f"there are {', '.join(CLUSTERS)}"
        raise DescriptionError(f"{source!r} is neither a cluster's name nor a file that ends in "
                               f"{', '.join(SUFFIXES)}; {advice}")
    path = Path(source)
    document = read_document(path)
    try:
        return Cluster.of_sections(document.sections)
    except DescriptionError as error:
        place = document.place(error.section, error.key)
        raise DescriptionError(f"{path}{place}: {error}", error.section, error.key) from error
