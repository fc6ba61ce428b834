import struct

import pytest

from rag.errors import ModelFailed, ModelMissing
from rag.models.gguf import GgufFacts, read_facts


def text(value):
    return struct.pack("<Q", len(value.encode())) + value.encode()


def gguf(*pairs, version=3):
    """The head of a GGUF file with these already packed pairs of key, type and value."""
    return struct.pack("<4sIQQ", b"GGUF", version, 0, len(pairs)) + b"".join(pairs)


HEAD = (
    text("general.architecture") + struct.pack("<I", 8) + text("llama"),
    text("general.languages") + struct.pack("<IIQ", 9, 8, 2) + text("en") + text("ja"),
    text("general.size_label") + struct.pack("<I", 8) + text("0.6B"),
    text("general.name") + struct.pack("<I", 8) + text("Tiny 模型"),
    text("llama.rope.freq_base") + struct.pack("<If", 6, 10000.0),
    text("llama.context_length") + struct.pack("<II", 4, 2048),
    text("tokenizer.ggml.model") + struct.pack("<I", 99),
)


def test_the_facts(tmp_path):
    path = tmp_path / "tiny.gguf"
    path.write_bytes(gguf(*HEAD))
    assert read_facts(path) == GgufFacts("Tiny 模型", "0.6B", 2048)


def test_a_file_that_tells_nothing(tmp_path):
    path = tmp_path / "bare.gguf"
    path.write_bytes(gguf())
    assert read_facts(path) == GgufFacts("", "", 0)


@pytest.mark.parametrize(
    "content",
    [
        b"",
        b"PK\3\4 a zip file, not a model at all",
        gguf(version=1),
        gguf(*HEAD)[:60],
        gguf(text("x") + b"\xff\xff\xff\xff"),
    ],
    ids=["empty", "other format", "old version", "cut off", "unknown type"],
)
def test_a_file_that_cannot_be_read(tmp_path, content):
    path = tmp_path / "bad.gguf"
    path.write_bytes(content)
    with pytest.raises(ModelFailed, match=r"bad\.gguf"):
        read_facts(path)


def test_a_length_beyond_all_memory(tmp_path):
    path = tmp_path / "bad.gguf"
    path.write_bytes(gguf(struct.pack("<Q", 2**63 + 1)))
    with pytest.raises(ModelFailed, match="cannot be read"):
        read_facts(path)


def test_no_such_file(tmp_path):
    with pytest.raises(ModelMissing, match="no model file"):
        read_facts(tmp_path / "none.gguf")


def test_the_embedded_model(embedded_model_file):
    assert read_facts(embedded_model_file) == GgufFacts("Qwen2.5 Coder 1.5B Instruct GGUF", "1.5B", 32768)
