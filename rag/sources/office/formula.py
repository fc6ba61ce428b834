"""Formulas of Office (OMML) and of the web (MathML) as one readable line: (-b ± √(b^2-4ac))/(2a)."""

from __future__ import annotations

from collections.abc import Callable

from rag.sources.markup import Node

_ACCENTS = {"\u0302": "^", "\u0303": "~", "\u0304": "¯", "\u0305": "¯", "\u0307": "˙", "\u20d7": "→"}
_UNPRINTED = str.maketrans({"\u2061": " ", "\u2062": " ", "\u2063": ",", "\u2064": "+"})  # "apply", "times", …


def formula(node: Node) -> str:
    """A formula on one line; the bare signs of one that nests deeper than any that can be read."""
    try:
        return " ".join(_read(node).translate(_UNPRINTED).split())
    except RecursionError:
        return " ".join(node.text().split())


def _read(node: Node) -> str:
    kind = node.name.rpartition(":")[2]
    if reader := _READERS.get(kind):
        return reader(node)
    return _children(node)


def _children(node: Node) -> str:
    return "".join(child if isinstance(child, str) else _read(child) for child in node.children)


def _parts(node: Node) -> list[str]:
    """The arguments of a MathML element, which go by their order."""
    return [_read(child) for child in node.elements()] + ["", "", ""]


def _part(node: Node, name: str) -> str:
    """An argument of an OMML element, which goes by its name."""
    found = node.first(f"m:{name}")
    return _children(found) if found is not None else ""


def _property(node: Node, name: str, default: str) -> str:
    owner = node.first(f"m:{node.name.removeprefix('m:')}Pr", f"m:{name}")
    return default if owner is None else owner.get("m:val", "val")


def _grouped(text: str) -> str:
    text = text.strip()
    simple = len(text) <= 1 or text.replace(".", "").isalnum() or (text[0] == "(" and text[-1] == ")" and _closed(text))
    return text if simple else f"({text})"


def _closed(text: str) -> bool:
    """Whether the first bracket of a text is closed by its last character."""
    depth = 0
    for at, character in enumerate(text):
        depth += (character == "(") - (character == ")")
        if depth == 0:
            return at == len(text) - 1
    return False


def _fraction(above: str, below: str, bar: bool = True) -> str:
    return f"{_grouped(above)}/{_grouped(below)}" if bar else f"({above.strip()} over {below.strip()})"


def _script(base: str, below: str = "", above: str = "") -> str:
    result = _grouped(base)
    if below.strip():
        result += f"_{_grouped(below)}"
    if above.strip():
        result += f"^{_grouped(above)}"
    return result


def _above(base: str, above: str) -> str:
    return _script(base, above=above)


def _root(inside: str, degree: str = "") -> str:
    return f"√[{degree.strip()}]({inside.strip()})" if degree.strip() else f"√({inside.strip()})"


def _omml_nary(node: Node) -> str:
    sign = _property(node, "chr", "∫")
    return f"{_script(sign, _part(node, 'sub'), _part(node, 'sup'))} {_part(node, 'e')}"


def _omml_delimited(node: Node) -> str:
    begin, end = _property(node, "begChr", "("), _property(node, "endChr", ")")
    inside = _property(node, "sepChr", "|").join(_children(part) for part in node.elements("m:e"))
    return inside if begin == "(" and inside.startswith("(") and _closed(inside) else f"{begin}{inside}{end}"


def _omml_function(node: Node) -> str:
    name, argument = _part(node, "fName").strip(), _part(node, "e").strip()
    return f" {name} {argument}" if argument.isalnum() else f" {name}{_grouped(argument)}"


def _accented(base: str, sign: str) -> str:
    return f"{base}{sign}" if len(base) == 1 else f"{_grouped(base)}{_ACCENTS.get(sign, sign)}"


def _mathml_fenced(node: Node) -> str:
    separator = node.get("separators")[:1] or ","
    inside = separator.join(_read(child) for child in node.elements())
    return f"{node.attributes.get('open', '(')}{inside}{node.attributes.get('close', ')')}"


def _mathml_fraction(node: Node) -> str:
    above, below = _parts(node)[:2]
    return _fraction(above, below, node.get("linethickness") not in ("0", "0px"))


def _mathml_over(node: Node) -> str:
    base, sign, _ = _parts(node)[:3]
    return f"{base}{sign}" if len(sign) == 1 and not sign.isalnum() else _script(base, above=sign)


def _mathml_table(node: Node) -> str:
    rows = (", ".join(_children(cell) for cell in row.elements()) for row in node.elements())
    return f"[{'; '.join(rows)}]"


def _sign(node: Node) -> str:
    text = node.text().strip()
    return f" {text} " if text in "=<>≤≥≠≈≡→∈⊂±×" and text else text


_READERS: dict[str, Callable[[Node], str]] = {
    # OMML
    "f": lambda node: _fraction(_part(node, "num"), _part(node, "den"), _property(node, "type", "bar") != "noBar"),
    "sSup": lambda node: _script(_part(node, "e"), above=_part(node, "sup")),
    "sSub": lambda node: _script(_part(node, "e"), below=_part(node, "sub")),
    "sSubSup": lambda node: _script(_part(node, "e"), _part(node, "sub"), _part(node, "sup")),
    "sPre": lambda node: _script("", _part(node, "sub"), _part(node, "sup")) + _part(node, "e"),
    "rad": lambda node: _root(_part(node, "e"), _part(node, "deg")),
    "nary": _omml_nary,
    "func": _omml_function,
    "d": _omml_delimited,
    "limLow": lambda node: _script(_part(node, "e"), below=_part(node, "lim")),
    "limUpp": lambda node: _script(_part(node, "e"), above=_part(node, "lim")),
    "acc": lambda node: _accented(_part(node, "e"), _property(node, "chr", "\u0302")),
    "m": lambda node: "[" + "; ".join(
        ", ".join(_children(cell) for cell in row.elements("m:e")) for row in node.elements("m:mr")
    ) + "]",
    "eqArr": lambda node: "; ".join(_children(row) for row in node.elements("m:e")),
    # MathML
    "mfrac": _mathml_fraction,
    "msup": lambda node: _above(*_parts(node)[:2]),
    "msub": lambda node: _script(*_parts(node)[:2]),
    "msubsup": lambda node: _script(*_parts(node)[:3]),
    "munderover": lambda node: _script(*_parts(node)[:3]),
    "mmultiscripts": lambda node: _script(*_parts(node)[:3]),
    "munder": lambda node: _script(*_parts(node)[:2]),
    "mover": _mathml_over,
    "msqrt": lambda node: _root(_children(node)),
    "mroot": lambda node: _root(*_parts(node)[:2]),
    "mfenced": _mathml_fenced,
    "mtable": _mathml_table,
    "semantics": lambda node: "".join(_read(part) for part in list(node.elements())[:1]),
    "mo": _sign,
    "mi": lambda node: node.text().strip(),
    "mn": lambda node: node.text().strip(),
    "mtext": lambda node: node.text(),
    "mspace": lambda node: " ",
    "mphantom": lambda node: "",
    "annotation": lambda node: "",
    "annotation-xml": lambda node: "",
    # Formats, not content
    "rPr": lambda node: "", "ctrlPr": lambda node: "", "argPr": lambda node: "",
}  # fmt: skip
