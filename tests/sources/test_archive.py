from __future__ import annotations

import io
import zipfile

import pytest
from office_files import packed

from rag.errors import SourceError
from rag.sources.archive import Archive, resolve


def test_parts_and_relations():
    relations = (
        '<Relationships xmlns="http://schemas.openxmlformats.org/package/2006/relationships">'
        '<Relationship Id="a" Type="http://x/slide" Target="../slides/one%20two.xml"/>'
        '<Relationship Id="b" Type="http://x/hyperlink" Target="http://example.com" TargetMode="External"/></Relationships>'
    )
    archive = Archive(packed({"ppt/deep/main.xml": "<a>b</a>", "ppt/deep/_rels/main.xml.rels": relations}))
    assert archive.xml("ppt/deep/main.xml").text() == "b"
    assert archive.relations("ppt/deep/main.xml") == {"a": ("slide", "ppt/slides/one two.xml")}
    assert archive.xml_if_there("not/there.xml").children == []
    assert archive.problems == []


def test_a_name_never_leads_out_of_the_archive():
    archive = Archive(packed({"../../evil.txt": "x", "/etc/x": "x", "a\\..\\..\\b": "x", "good.xml": "<a/>"}))
    assert archive.names == ("good.xml",)
    assert archive.notes[0].startswith("entries that lead out of the file, ignored: ")
    assert resolve("OPS", "../../../etc/passwd") == "etc/passwd"
    with pytest.raises(SourceError, match="is not in it"):
        archive.read("etc/passwd")


def test_a_part_that_blows_up_is_refused_before_it_is_unpacked():
    bomb = packed({"bomb.xml": b" " * 60_000_000, "tame.xml": b"<a/>"})
    archive = Archive(bomb)
    with pytest.raises(SourceError, match=r"would unpack from .* to 60,000,000 bytes"):
        archive.read("bomb.xml")
    assert archive.read("tame.xml") == b"<a/>"


def test_a_part_that_lies_about_its_size_is_cut_off():
    data = bytearray(packed({"a.xml": b"x" * 1000}))
    for signature, offset in ((b"PK\x03\x04", 22), (b"PK\x01\x02", 24)):
        at = data.index(signature) + offset
        data[at : at + 4] = (10).to_bytes(4, "little")
    with pytest.raises(SourceError, match=r"a\.xml is damaged"):
        Archive(bytes(data)).read("a.xml")


def test_damaged_and_foreign_files_say_so():
    whole = packed({"a.xml": "<a/>"})
    with pytest.raises(SourceError, match="cut short or damaged"):
        Archive(whole[:-30])
    with pytest.raises(SourceError, match="not what its name says"):
        Archive(b"words")
    turned = packed({"mimetype": "kept as it is"}).replace(b"kept", b"kelp")
    with pytest.raises(SourceError, match="mimetype is damaged: Bad CRC-32"):
        Archive(turned).read("mimetype")


def test_a_damaged_part_is_an_error_of_ours_however_it_is_packed():
    for method in (zipfile.ZIP_DEFLATED, zipfile.ZIP_BZIP2, zipfile.ZIP_LZMA):
        buffer = io.BytesIO()
        with zipfile.ZipFile(buffer, "w", method) as archive:
            archive.writestr("a.xml", bytes(range(256)) * 40)
        data = bytearray(buffer.getvalue())
        data[35:80] = b"\xff" * 45  # after the name, which ends at 35
        with pytest.raises(SourceError, match=r"a\.xml is damaged"):
            Archive(bytes(data)).read("a.xml")
