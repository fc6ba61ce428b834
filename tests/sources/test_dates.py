import pytest

from rag.sources.dates import plain_date


@pytest.mark.parametrize(
    ("written", "date"),
    [
        ("2024-05-01", "2024-05-01"), ("2024-05-01T10:00:00Z", "2024-05-01"), ("2024/5/1", "2024-05-01"),
        ("2024-05", "2024-05"), ("2024", "2024"), ("2024年5月1日", "2024-05-01"), ("01.05.2024", "2024-05-01"),
        ("Wed, 01 May 2024 10:00 +0200", "2024-05-01"), ("May 1, 2024", "2024-05-01"), ("1. Mai 2024", "2024-05-01"),
        ("Sep 2nd, 2021", "2021-09-02"), ("June 2022", "2022-06"), ("juillet 2020", "2020-07"),
        ("1 de mayo de 2024", "2024-05-01"), ("05/01/2024", "2024"), ("2024-13-45", "2024"),
        ("soon", ""), ("20240501", ""), ("", ""),
    ],
)  # fmt: skip
def test_a_date_is_kept_as_far_as_it_is_told(written: str, date: str) -> None:
    assert plain_date(written) == date
