# SPDX-License-Identifier: BSD-2-Clause
"""XML as the standard library builds it: elements with text, and a document with its notice."""

from xml.etree import ElementTree

from hypercast.rtl.config import Config
from hypercast.rtl.export.notice import notice

__all__ = ["add", "document"]


def add(parent: ElementTree.Element, tag: str, content: object = None,
        attributes: dict[str, str] | None = None) -> ElementTree.Element:
    """Append an element to ``parent``.

    Parameters
    ----------
    tag : str
        The element's tag.
    content : str, int, dict or None
        The element's text, or tag and content of its children in order.
    attributes : dict of str or None
        The element's attributes.

    Returns
    -------
    xml.etree.ElementTree.Element
        The new element.
    """
    element = ElementTree.SubElement(parent, tag, attributes or {})
    if isinstance(content, dict):
        for name, inner in content.items():
            add(element, name, inner)
    elif content is not None:
        element.text = str(content)
    return element


def document(root: ElementTree.Element, config: Config) -> str:
    """The text of a document with root element ``root``, made for a configuration."""
    ElementTree.indent(root)
    head = "\n".join(notice(config))
    body = ElementTree.tostring(root, encoding="unicode")
    return f'<?xml version="1.0" encoding="UTF-8"?>\n<!--\n{head}\n-->\n{body}\n'
