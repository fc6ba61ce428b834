"""XML and HTML through lxml, as a light tree of our own: nothing is fetched, no entity is expanded, depth is bounded.

Real documents nest a few dozen elements. One that nests thousands is broken or hostile: at every
:data:`DEEPEST` levels it is hung up anew near the root, so that a walk down the tree cannot run out of stack and finds
nearly all of the text nevertheless.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator
from typing import Any

from rag.errors import SourceError

DEEPEST = 200
"""Levels of the tree, give or take a few."""

_NEAR_THE_ROOT = 2  # the body of a page or document, where stray blocks find their place

_MOST_NODES = 5_000_000  # about 1.5 GB of nodes; a book has a hundredth of that

_PREFIXES = {
    "wordprocessingml/main": "w",
    "spreadsheetml/main": "s",
    "presentationml/main": "p",
    "drawingml/main": "a",
    "drawingml/chart": "c",
    "drawingml/diagram": "dgm",
    "officeDocument/math": "m",
    "officeDocument/relationships": "r",
    "package/relationships": "rel",
    "1998/Math/MathML": "math",
    "xmlns:office:1.0": "office",
    "xmlns:text:1.0": "text",
    "xmlns:table:1.0": "table",
    "xmlns:drawing:1.0": "draw",
    "xmlns:style:1.0": "style",
    "xmlns:presentation:1.0": "presentation",
    "xmlns:manifest:1.0": "manifest",
    "1999/xlink": "xlink",
    "dc/elements/1.1/": "dc",
    "markup-compatibility/2006": "mc",
}


class Node:
    """An element.

    Attributes:
        name: Its name; in XML with a prefix that depends on the namespace only ("w:p"), whatever the file writes.
        attributes: By name, prefixed in the same way.
        children: Elements and text in order.
    """

    __slots__ = ("attributes", "children", "name")

    def __init__(self, name: str, attributes: dict[str, str], children: Iterable[Node | str] = ()) -> None:
        self.name = name
        self.attributes = attributes
        self.children = list(children)

    def elements(self, name: str = "") -> Iterator[Node]:
        """The child elements, or those of one name."""
        return (child for child in self.children if isinstance(child, Node) and (not name or child.name == name))

    def first(self, *path: str) -> Node | None:
        """The first element at a path of names below this one."""
        node = self
        for name in path:
            for child in node.children:
                if isinstance(child, Node) and child.name == name:
                    node = child
                    break
            else:
                return None
        return node

    def all(self, *names: str) -> Iterator[Node]:
        """This element and all below it, in the order of the document, where they have one of the names."""
        waiting: list[Node] = [self]
        while waiting:
            node = waiting.pop()
            if node.name in names:
                yield node
            waiting.extend(child for child in reversed(node.children) if isinstance(child, Node))

    def text(self) -> str:
        """All text in it."""
        parts: list[str] = []
        waiting: list[Node | str] = [self]
        while waiting:
            node = waiting.pop()
            if isinstance(node, str):
                parts.append(node)
            else:
                waiting.extend(reversed(node.children))
        return "".join(parts)

    def get(self, *names: str) -> str:
        """The first of these attributes that is there; empty when none is."""
        return next((self.attributes[name] for name in names if name in self.attributes), "")


class _Builder:
    """What lxml's parser calls; it builds the tree.

    Attributes:
        is_deep: Elements had to be hung up anew.
    """

    def __init__(self, rename: Callable[[str], str]) -> None:
        self._rename = rename
        self._names: dict[str, str] = {}
        self._root = Node("", {})
        self._open = [self._root]
        self._nodes = 0
        self.is_deep = False

    def start(self, tag: str, attributes: Any) -> None:
        self._nodes += 1
        if self._nodes > _MOST_NODES:
            raise SourceError(f"The file has more than {_MOST_NODES:,} elements, which no document needs.")
        node = Node(
            self._name(tag), {self._name(key): value for key, value in attributes.items()} if attributes else {}
        )
        above = self._open[-1]
        if len(self._open) % DEEPEST == 0:
            self.is_deep = True
            above = self._open[_NEAR_THE_ROOT]
        above.children.append(node)
        self._open.append(node)

    def end(self, tag: str) -> None:
        if len(self._open) > 1:
            self._open.pop()

    def data(self, text: str) -> None:
        self._open[-1].children.append(text)

    def close(self) -> Node:
        return self._root

    def _name(self, tag: str) -> str:
        found = self._names.get(tag)
        if found is None:
            found = self._names[tag] = self._rename(tag)
        return found


def parse_xml(data: bytes, part: str) -> tuple[Node, str]:
    """Parses XML; what is not well formed is read as far as it can be.

    Args:
        data: The file, in whatever encoding it declares.
        part: Its name, for messages.

    Returns:
        The root element, and what is wrong with it (empty when nothing is).

    Raises:
        SourceError: It declares entities, or there is no element in it.
    """
    refuse_entities(data, part)
    problem = ""
    builder = _Builder(_prefixed)
    root = _parsed(data, builder, recover=False)
    if root is None:
        builder = _Builder(_prefixed)
        root = _parsed(data, builder, recover=True)
        problem = f"{part} is damaged XML; text may be missing"
    if builder.is_deep:
        problem = f"{part} nests elements more than {DEEPEST} deep; text may be missing"
    found = next(root.elements(), None) if root is not None else None
    if found is None:
        raise SourceError(f"{part} is not XML.")
    return found, problem


def refuse_entities(data: bytes, part: str) -> None:
    """Stops at XML that declares entities: a few lines of them grow to gigabytes, or name files to be read.

    Raises:
        SourceError: It does.
    """
    if any("<!ENTITY".encode(encoding) in data for encoding in ("ascii", "utf-16-le", "utf-16-be")):
        raise SourceError(f"{part} declares XML entities, which can blow up without end; it was not read.")


def parse_html(text: str) -> Node:
    """Parses HTML as a browser would, whatever is wrong with it.

    Returns:
        A nameless node around all that was found.

    Raises:
        SourceError: It has more elements than fit into the memory.
    """
    from lxml import etree

    parser = etree.HTMLParser(target=_Builder(str), encoding="utf-8", no_network=True, huge_tree=True)
    try:
        parser.feed(text.encode("utf-8", "replace"))
        root: Node = parser.close()
    except etree.LxmlError as error:
        raise SourceError(f"The HTML cannot be parsed: {error}.") from error
    return root


def _parsed(data: bytes, builder: _Builder, recover: bool) -> Node | None:
    from lxml import etree

    # Without huge_tree the parser limits how much the entities may blow the text up.
    options = {"resolve_entities": False, "no_network": True, "load_dtd": False, "huge_tree": False}
    parser = etree.XMLParser(target=builder, recover=recover, **options)
    try:
        parser.feed(data)
        root: Node = parser.close()
    except etree.LxmlError:
        return None
    return root


def _prefixed(name: str) -> str:
    namespace, _, local = name.rpartition("}")
    namespace = namespace.replace("/2006/", "/")  # the strict form of Office files is without the year
    prefix = next((short for ending, short in _PREFIXES.items() if namespace.endswith(ending)), "")
    return f"{prefix}:{local}" if prefix else local
