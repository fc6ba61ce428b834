import pytest

from rag.answering.dates import Calendar, dates


def confirms(passage: str, sentence: str, numbers: frozenset[float] = frozenset()) -> bool:
    calendar = Calendar()
    calendar.add(dates(passage))
    found = dates(sentence)
    assert found, "the sentence has a date"
    return all(calendar.confirms(date, set(numbers)) for date in found)


@pytest.mark.parametrize(
    "written",
    [
        "4 March 2019", "March 4, 2019", "4th of March 2019", "4. März 2019", "4.3.2019", "04.03.19", "2019-03-04", "2019/3/4",
        "2019年3月4日", "平成31年3月4日", "4 mars 2019", "4 de marzo de 2019", "March 2019", "2019", "in March", "3月", "3/4/2019",
        "Monday, 4 March 2019", "the 2019s",
    ],
)  # fmt: skip
def test_one_day_in_every_notation(written: str) -> None:
    for passage in ("Installed on 4 March 2019.", "am 4. März 2019", "2019年3月4日（月曜日）"):
        assert confirms(passage, written), passage
    assert not confirms("Installed on 5 April 2018.", written)


@pytest.mark.parametrize(
    ("passage", "sentence", "told"),
    [
        ("at 14:30", "at 2:30 pm", True), ("at 2:30 pm", "um 14.30 Uhr", True), ("午後2時30分", "14:30", True),
        ("at 2:30", "at 14:30", True), ("at 2:30 am", "at 2:30 pm", False), ("at 14:31", "at 14:30", False),
        ("um 14 Uhr 30", "at 14:30", True), ("Monday", "月曜日", True), ("montags", "on Monday", True),
        ("on Montag", "on Monday", True), ("16 to 19 June 2025", "19 June", True), ("16 to 19 June 2025", "20 June", False),
        ("4 March 2019", "4 March 2018", False), ("the 1990s", "20世纪90年代", True), ("the 1990s", "in 1990", True), ("since 1998", "since 1989", False),
    ],
)  # fmt: skip
def test_times_weekdays_and_parts_of_dates(passage: str, sentence: str, told: bool) -> None:
    assert confirms(passage, sentence) is told


def test_a_day_of_a_table_with_its_month_above() -> None:
    assert confirms("June 2025. Monday 16: H1 and H2", "on 16 June 2025", frozenset({16.0}))


def test_a_weekday_that_the_date_has_is_reckoned() -> None:
    assert confirms("on 16 June 2025", "on Monday, 16 June 2025")
    assert not confirms("on 16 June 2025", "on Tuesday, 16 June 2025")


def test_words_that_are_no_dates() -> None:
    assert dates("May I march on? The 3 marches, 1500 m and 2019.5") == []
