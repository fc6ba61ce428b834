from __future__ import annotations

import pytest

from rag.sources.markup import parse_html, parse_xml
from rag.sources.office.formula import formula

OMML = "http://schemas.openxmlformats.org/officeDocument/2006/math"


@pytest.mark.parametrize(
    ("markup", "text"),
    [
        ("<mfrac><mi>a</mi><mn>2</mn></mfrac>", "a/2"),
        ("<msup><mi>x</mi><mrow><mi>n</mi><mo>-</mo><mn>1</mn></mrow></msup>", "x^(n-1)"),
        ("<msub><mi>a</mi><mi>i</mi></msub>", "a_i"),
        ("<msqrt><mi>x</mi><mo>+</mo><mn>1</mn></msqrt>", "√(x+1)"),
        ("<munderover><mo>∑</mo><mi>i</mi><mi>n</mi></munderover><mi>i</mi>", "∑_i^ni"),
        ("<mi>a</mi><mo>=</mo><mi>b</mi>", "a = b"),
        ("<semantics><mi>x</mi><annotation>\\alpha</annotation></semantics>", "x"),
        ("<mtable><mtr><mtd>1</mtd><mtd>2</mtd></mtr><mtr><mtd>3</mtd><mtd>4</mtd></mtr></mtable>", "[1, 2; 3, 4]"),
    ],
)
def test_mathml(markup: str, text: str):
    assert formula(next(parse_html(f"<math>{markup}</math>").all("math"))) == text


@pytest.mark.parametrize(
    ("markup", "text"),
    [
        ("<m:f><m:num>{a+b}</m:num><m:den>{c}</m:den></m:f>", "(a+b)/c"),
        ("<m:f><m:fPr><m:type m:val='noBar'/></m:fPr><m:num>{n}</m:num><m:den>{k}</m:den></m:f>", "(n over k)"),
        ("<m:rad><m:deg>{3}</m:deg><m:e>{x}</m:e></m:rad>", "√[3](x)"),
        ("<m:d><m:dPr><m:begChr m:val='['/><m:endChr m:val=']'/></m:dPr><m:e>{x}</m:e></m:d>", "[x]"),
        ("<m:func><m:fName>{cos}</m:fName><m:e>{x+1}</m:e></m:func>", "cos(x+1)"),
    ],
)
def test_omml(markup: str, text: str):
    import re

    runs = re.sub(r"\{(.*?)\}", r"<m:r><m:t>\1</m:t></m:r>", markup)
    root, _ = parse_xml(f'<m:oMath xmlns:m="{OMML}">{runs}</m:oMath>'.encode(), "part")
    assert formula(root) == text


def test_a_formula_without_bottom_takes_no_time():
    page = parse_html("<math>" + "<mfrac><mrow>" * 90 + "<mi>x</mi>")
    assert "x" in formula(next(page.all("math")))
