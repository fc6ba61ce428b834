from rag.index.chunking.sentences import sentences


def _texts(text: str) -> list[str]:
    return [text[span.start : span.end] for span in sentences(text)]


def test_sentences_of_latin_and_japanese_text() -> None:
    assert _texts("It runs. Does it? Yes!") == ["It runs.", "Does it?", "Yes!"]
    assert _texts("朝は寒い。昼は「暑い。」夜は？") == ["朝は寒い。", "昼は「暑い。」", "夜は？"]


def test_abbreviations_and_decimals_do_not_end_a_sentence() -> None:
    assert _texts("Use e.g. 3.5 mm, see Fig. 2 there. Done.") == ["Use e.g. 3.5 mm, see Fig. 2 there.", "Done."]


def test_the_number_of_a_day_in_german_does_not_end_a_sentence() -> None:
    assert _texts("Sie kam am 5. November. Seit dem 3. Mai läuft sie. Im 19. Jahrhundert nicht.") == [
        "Sie kam am 5. November.", "Seit dem 3. Mai läuft sie.", "Im 19. Jahrhundert nicht.",
    ]  # fmt: skip
    assert _texts("It is in hall 3. The pump runs.") == ["It is in hall 3.", "The pump runs."]


def test_a_line_break_ends_a_sentence_and_nothing_is_lost() -> None:
    text = "# Heading\n- one\n- two.  Three"
    assert _texts(text) == ["# Heading", "- one", "- two.", "Three"]
    assert "".join("".join(_texts(text)).split()) == "".join(text.split())


def test_the_number_of_a_lists_item_is_no_sentence() -> None:
    assert _texts("1. Open it. Wait.\n2. Close it.\n  a) Now.") == ["1. Open it.", "Wait.", "2. Close it.", "a) Now."]
    assert _texts("3.1. Scope") == ["3.1. Scope"]
