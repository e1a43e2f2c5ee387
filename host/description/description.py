# SPDX-License-Identifier: BSD-2-Clause
"""A whole training, described; and the file that describes one."""

import difflib
import os
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field, fields, replace
from os import PathLike
from pathlib import Path
from typing import Any, Self, TypeAlias, TypeVar

import tomli_w

from hypercast.host.description.conversion import DescriptionError, check
from hypercast.host.description.device import Device
from hypercast.host.description.document import read_document
from hypercast.host.description.model import Model
from hypercast.host.description.recipe import make_recipe, recipe_values
from hypercast.host.description.sampling import Sampling
from hypercast.host.description.source import Source
from hypercast.host.description.stopping import Stopping
from hypercast.host.graphs.graph import Graph
from hypercast.reference.recipe import Recipe

__all__ = ["Description", "load_description"]

_SECTIONS = ("graph", "model", "recipe", "sampling", "device", "stopping")


#: Keys and values, as files hold them, by the names of sections.
Sections: TypeAlias = dict[str, dict[str, Any]]
Section = TypeVar("Section", Model, Sampling, Source, Stopping)


def _nowhere(section: str, key: str) -> str:
    """The name of a place that is in no file."""
    return ""


@dataclass(frozen=True, kw_only=True)
class Description:
    """A training: its graph and network, its recipe, and its device.

    Parameters
    ----------
    graph : Source or None
        None for a graph that was made in Python.
    model : Model
    recipe : Recipe
    sampling : Sampling
    device : Device
    stopping : Stopping
    name : callable
        Names the file and the line of a section's key, if that was read from a file.
    """

    graph: Source | None = None
    model: Model = field(default_factory=Model)
    recipe: Recipe = field(default_factory=Recipe)
    sampling: Sampling = field(default_factory=Sampling)
    device: Device = field(default_factory=Device)
    stopping: Stopping = field(default_factory=Stopping)
    name: Callable[[str, str], str] = field(default=_nowhere, repr=False, compare=False)

    def __getstate__(self) -> dict[str, Any]:
        """The state for other processes: all but the places of keys in a file of this one."""
        return {**self.__dict__, "name": _nowhere}

    @classmethod
    def of_sections(cls, sections: Mapping[str, Any]) -> Self:
        """From section name to a dictionary of its keys; what is missing has its default.

        Raises
        ------
        DescriptionError
            If a section or key is unknown, or a value makes no sense.
        """
        for name in sections:
            if name not in _SECTIONS:
                near = difflib.get_close_matches(name, _SECTIONS, n=1)
                advice = f"did you mean [{near[0]}]?" if near else \
                    f"there are {', '.join(_SECTIONS)}"
                raise DescriptionError(f"there is no section [{name}]; {advice}", name)
            if not isinstance(sections[name], dict):
                raise DescriptionError(f"{name} must be a section [{name}]", name)
        parts = {name: sections.get(name, {}) for name in _SECTIONS}
        device = Device(**check("device", parts["device"], Device.HINTS))
        if parts["graph"] and "source" not in parts["graph"]:
            raise DescriptionError("[graph] needs source, the name of a bundled graph or a path",
                                   "graph")
        if parts["sampling"] and "sampler" not in parts["sampling"]:
            raise DescriptionError("[sampling] needs sampler, or steps work on the whole graph",
                                   "sampling")
        graph = _make_section(Source, "graph", parts) if parts["graph"] else None
        model = _make_section(Model, "model", parts)
        return cls(graph=graph, model=model,
                   recipe=make_recipe(parts["recipe"], model, device.config),
                   sampling=_make_section(Sampling, "sampling", parts), device=device,
                   stopping=_make_section(Stopping, "stopping", parts))

    def sections(self) -> Sections:
        """The sections that ``of_sections`` reads; a graph made in Python is missing."""
        return {"graph": {} if self.graph is None else self.graph.values(),
                "model": self.model.values(), "recipe": recipe_values(self.recipe),
                "sampling": self.sampling.values() if self.sampling.sampler else {},
                "device": self.device.values(), "stopping": self.stopping.values()}

    def with_full_paths(self, folder: str | PathLike[str]) -> Self:
        """This description with full paths; relative paths are in ``folder``."""
        return replace(self, graph=self.graph and self.graph.with_full_paths(folder),
                       model=self.model.with_full_paths(folder))

    def relative_to(self, folder: str | PathLike[str]) -> Self:
        """This description as a file in a folder has it, see ``Source.relative_to``."""
        return replace(self, graph=self.graph and self.graph.relative_to(folder))

    def load_graph(self) -> Graph:
        """The ``Graph``.

        Raises
        ------
        DescriptionError
            If none is named, or there is no such file or folder; names the line of the description.
        GraphError
            If it cannot be read.
        """
        if self.graph is None:
            raise DescriptionError("[graph] needs source, the name of a bundled graph or a path",
                                   "graph")
        try:
            return self.graph.load()
        except DescriptionError as error:
            raise self.locate(error) from error

    def with_graph(self, graph: Graph) -> Self:
        """This description with its graph, which has been loaded; see ``Source.with_graph``."""
        return replace(self, graph=self.graph and self.graph.with_graph(graph))

    def on(self, device: str) -> Self:
        """This description on another device, given by its name."""
        return replace(self, device=self.device.on(device))

    def locate(self, error: DescriptionError) -> DescriptionError:
        """An error that was found later, with the file and the line of what is wrong."""
        name = self.name(error.section, error.key)
        return error.at(name) if name else error

    def text(self) -> str:
        """The description as a TOML file, which ``load_description`` reads."""
        return tomli_w.dumps({name: {key: _short(value) for key, value in keys.items()}
                              for name, keys in self.sections().items()})


def _short(value: Any) -> Any:
    """A number for a tuple of it alone."""
    alone = isinstance(value, tuple) and len(value) == 1 and not isinstance(value[0], tuple)
    return value[0] if alone else value


def _make_section(kind: type[Section], section: str, parts: Mapping[str, Any]) -> Section:
    hints = {one.name: one.type for one in fields(kind)}
    return kind(**check(section, parts[section], hints))


#: What is a path, wherever it was given; the source of a graph may be a name.
_PATHS = {("model", "weights")}


def load_description(path: Path,
                     changes: Mapping[str, dict[str, Any]] | None = None) -> Description:
    """The ``Description`` in a TOML or YAML file; paths in it are relative to its folder.

    Parameters
    ----------
    path : pathlib.Path
        The file.
    changes : dict, optional
        Sections with keys that count instead of the file's; paths in them are relative to the
        working folder.

    Raises
    ------
    DescriptionError
        If it makes no sense, and names the line; or cannot be read.
    """
    document = read_document(path)
    changes = {section: {key: os.path.abspath(value) if (section, key) in _PATHS and value
                         else value for key, value in keys.items()}
               for section, keys in (changes or {}).items()}
    merged = _merge(document.sections, changes)

    def name(section: str, key: str) -> str:
        given = key in changes.get(section, {}) or key not in document.sections.get(section, {})
        return "" if given else f"{path}{document.place(section, key)}"

    try:
        description = replace(Description.of_sections(merged), name=name)
    except DescriptionError as error:
        if error.key in changes.get(error.section, {}):
            raise
        place = document.place(error.section, error.key)
        raise DescriptionError(f"{path}{place}: {error}", error.section, error.key) from error
    return description.with_full_paths(path.parent)


def _merge(sections: Sections, changes: Mapping[str, dict[str, Any]]) -> Sections:
    """Sections with the keys of ``changes``; what is no section stays, to be refused."""
    found = dict(sections)
    for name, keys in changes.items():
        if keys and isinstance(found.setdefault(name, {}), dict):
            found[name] = {**found[name], **keys}
    return found
