from __future__ import annotations

import threading
import time
from collections.abc import Iterator
from pathlib import Path

import pytest
from fakes.arxiv_server import ArxivStandIn, Failure, Paper

from rag.errors import SourceError
from rag.sources import arxiv as arxiv_papers
from rag.sources.arxiv import fetch
from rag.sources.readers import read
from rag.types import FetchStatus, SourceFile

NEVER = threading.Event()


@pytest.fixture
def arxiv() -> Iterator[ArxivStandIn]:
    with ArxivStandIn() as stand_in:
        yield stand_in


def run(arxiv: ArxivStandIn, wanted: str, folder: Path, limit: int = 10, pause: float = 0.0) -> FetchStatus:
    return list(fetch(wanted, folder, limit, NEVER, address=arxiv.url, pause=pause))[-1]


def names(folder: Path) -> list[str]:
    return sorted(path.name for path in folder.iterdir())


def test_a_paper_comes_with_a_page_about_it(arxiv: ArxivStandIn, tmp_path: Path):
    arxiv.papers[0].comment = "12 pages,\n  3 figures"
    steps = list(fetch("2101.00001", tmp_path / "papers", 10, NEVER, address=arxiv.url, pause=0))
    folder = tmp_path / "papers"
    assert names(folder) == ["2101.00001v2.md", "2101.00001v2.pdf"]
    assert (folder / "2101.00001v2.md").read_text(encoding="utf-8") == (
        "# Retrieval of words and numbers\n\nAda Lovelace, Grace Hopper\n\n"
        "arXiv 2101.00001v2 · published 2021-01-05 · updated 2021-02-03 · cs.CL\n\nComment: 12 pages, 3 figures\n\n"
        "https://arxiv.org/abs/2101.00001v2\n\n## Abstract\n\nWords are retrieved.\n\nNumbers are too.\n"
    )
    assert steps[0] == FetchStatus()
    assert (steps[1].done, steps[1].total) == (0, 1)
    assert steps[2].current == "Retrieval of words and numbers"
    assert (steps[-1].done, steps[-1].fetched, steps[-1].failed) == (1, 1, ())


def test_what_was_fetched_can_be_read(arxiv: ArxivStandIn, tmp_path: Path):
    run(arxiv, "hep-th/9901001", tmp_path)
    assert names(tmp_path) == ["hep-th_9901001v3.md", "hep-th_9901001v3.pdf"]
    pdf, page = (read(SourceFile(tmp_path, f"hep-th_9901001v3{ending}", 1, 1)) for ending in (".pdf", ".md"))
    assert "We study words." in pdf.text
    assert page.title == "Strings & words <old>"
    assert [section.heading_path[-1] for section in page.sections] == [page.title, "Abstract"]
    assert "Journal: J. Strings 3 (1999) 1" in page.text


@pytest.mark.parametrize(
    "wanted",
    [
        "2101.00001",
        "2101.00001v2",
        "arXiv:2101.00001",
        "arXiv: 2101.00001v2",
        "https://arxiv.org/abs/2101.00001",
        "http://www.arxiv.org/pdf/2101.00001v2.pdf?download=1#page=3",
        "arxiv.org/html/2101.00001v2",
        "https://doi.org/10.48550/arXiv.2101.00001",
        " 2101.00001 , https://arxiv.org/abs/2101.00001\n",
    ],
)
def test_a_paper_can_be_named_in_many_ways(arxiv: ArxivStandIn, tmp_path: Path, wanted: str):
    assert run(arxiv, wanted, tmp_path).fetched == 1
    assert arxiv.asked("/api/query")[0].query["id_list"].removesuffix("v2") == "2101.00001"
    assert names(tmp_path) == ["2101.00001v2.md", "2101.00001v2.pdf"]


def test_old_ids_may_name_the_subject_class(arxiv: ArxivStandIn, tmp_path: Path):
    arxiv.papers.append(Paper("math.GT/0309136"))
    assert run(arxiv, "math.GT/0309136, https://arxiv.org/abs/hep-th/9901001v3", tmp_path).fetched == 2


def test_words_are_searched_for_all_together(arxiv: ArxivStandIn, tmp_path: Path):
    ended = run(arxiv, 'retrieval "and numbers"', tmp_path)
    asked = arxiv.asked("/api/query")[0].query
    assert asked["search_query"] == 'all:retrieval AND all:"and numbers"'
    assert (asked["max_results"], asked["sortBy"]) == ("10", "relevance")
    assert (ended.total, ended.fetched) == (1, 1)


def test_arxivs_own_syntax_is_passed_on(arxiv: ArxivStandIn, tmp_path: Path):
    assert run(arxiv, "au:noether AND ti:strings", tmp_path).fetched == 1
    assert arxiv.asked("/api/query")[0].query["search_query"] == "au:noether AND ti:strings"


def test_a_search_ends_at_the_limit_over_several_pages(arxiv: ArxivStandIn, tmp_path: Path):
    arxiv.papers = [Paper(f"2101.{number:05d}", title=f"Paper {number}") for number in range(120)]
    for paper in arxiv.papers:
        (tmp_path / f"{paper.name}.pdf").touch()
        (tmp_path / f"{paper.name}.md").touch()
    ended = run(arxiv, "paper", tmp_path, limit=110)
    assert (ended.total, ended.skipped) == (110, 110)
    pages = [(request.query["start"], request.query["max_results"]) for request in arxiv.requests]
    assert pages == [("0", "100"), ("100", "10")]


def test_pages_may_be_shorter_than_what_was_asked_for(arxiv: ArxivStandIn, tmp_path: Path):
    arxiv.page = 1
    assert run(arxiv, "retrieval", tmp_path).fetched == 2


def test_what_is_there_is_not_fetched_again_and_what_is_broken_off_is(arxiv: ArxivStandIn, tmp_path: Path):
    run(arxiv, "2101.00001", tmp_path)
    (tmp_path / ".2101.00002v1.pdf.part").write_bytes(b"%PDF-1.4 half")
    arxiv.requests.clear()
    ended = run(arxiv, "retrieval", tmp_path)
    assert (ended.total, ended.skipped, ended.fetched) == (2, 1, 1)
    assert [request.path for request in arxiv.asked("/pdf/")] == ["/pdf/2101.00002v1"]
    assert names(tmp_path) == [
        "2101.00001v2.md", "2101.00001v2.pdf", "2101.00002v1.md", "2101.00002v1.pdf",
    ]  # fmt: skip


def test_a_broken_connection_is_tried_again(arxiv: ArxivStandIn, tmp_path: Path):
    arxiv.failures = [Failure("/pdf/", cut=100), Failure("/api/", status=500), Failure("/pdf/", cut=0)]
    assert run(arxiv, "2101.00001", tmp_path).fetched == 1
    assert len(arxiv.asked("/api/")) == 2
    assert len(arxiv.asked("/pdf/")) == 3
    assert (tmp_path / "2101.00001v2.pdf").read_bytes() == arxiv.pdf("2101.00001v2")


def test_arxiv_is_given_the_time_that_it_asks_for(arxiv: ArxivStandIn, tmp_path: Path):
    arxiv.failures = [Failure("/pdf/", status=503, retry_after="1")]
    assert run(arxiv, "2101.00001", tmp_path).fetched == 1
    first, second = arxiv.asked("/pdf/")
    assert second.at - first.at >= 1


def test_there_is_a_pause_between_any_two_requests_and_a_longer_one_after_a_failure(
    arxiv: ArxivStandIn, tmp_path: Path
):
    arxiv.failures = [Failure("/api/", status=503)]
    run(arxiv, "retrieval", tmp_path, pause=0.3)
    assert [request.path[:5] for request in arxiv.requests] == ["/api/", "/api/", "/pdf/", "/pdf/"]
    at = [request.at for request in arxiv.requests]
    assert at[1] - at[0] >= 0.6
    assert at[2] - at[1] >= 0.29
    assert at[3] - at[2] >= 0.29


def test_three_seconds_is_the_usual_pause():
    assert arxiv_papers.PAUSE == 3.0
    assert arxiv_papers.ADDRESS == "https://export.arxiv.org"


def test_a_paper_that_cannot_be_had_does_not_stop_the_others(arxiv: ArxivStandIn, tmp_path: Path):
    arxiv.failures = [Failure("/pdf/2101.00001", status=200, body=b"<html>Are you a robot?</html>")]
    arxiv.failures += [Failure("/pdf/2101.00002", status=503)] * 3
    arxiv.papers.append(Paper("2101.00003"))
    arxiv.failures += [Failure("/pdf/2101.00003", status=404)]
    ended = run(arxiv, "2101.00001 2101.00002 2101.00003 2101.99999 hep-th/9901001", tmp_path)
    assert (ended.done, ended.total, ended.fetched) == (5, 5, 1)
    assert dict(ended.failed) == {
        "2101.99999": "arXiv knows no such paper",
        "2101.00001v2": "arXiv sent a web page instead of the PDF; see https://arxiv.org/abs/2101.00001v2 in a browser",
        "2101.00002v1": "arXiv is too busy at the moment (status 503)",
        "2101.00003v1": "arXiv has no PDF of it",
    }
    assert names(tmp_path) == ["hep-th_9901001v3.md", "hep-th_9901001v3.pdf"]


def test_an_id_that_does_not_exist_and_a_search_that_finds_nothing(arxiv: ArxivStandIn, tmp_path: Path):
    ended = run(arxiv, "2101.99999", tmp_path / "papers")
    assert (ended.done, ended.total, ended.failed) == (1, 1, (("2101.99999", "arXiv knows no such paper"),))
    ended = run(arxiv, "quokkas", tmp_path / "papers")
    assert (ended.total, ended.failed) == (0, ())
    assert not (tmp_path / "papers").exists()


def test_an_empty_answer_is_not_believed_at_once(arxiv: ArxivStandIn, tmp_path: Path):
    arxiv.failures = [Failure("/api/", status=200, body=b"<html>Sign in to this network</html>")]
    assert run(arxiv, "retrieval", tmp_path).fetched == 2


def test_what_cannot_be_asked_for_is_not_asked_for(arxiv: ArxivStandIn, tmp_path: Path):
    with pytest.raises(SourceError, match="nothing to look for"):
        run(arxiv, "  ", tmp_path)
    with pytest.raises(SourceError, match="is not the address of a paper on arXiv"):
        run(arxiv, "https://example.org/abs/2101.00001", tmp_path)
    assert not arxiv.requests


def test_no_network_is_said_in_a_sentence(tmp_path: Path):
    with pytest.raises(SourceError, match=r"^arXiv cannot be reached\. Check the network connection") as caught:
        list(fetch("2101.00001", tmp_path, 10, NEVER, address="http://127.0.0.1:9", pause=0))
    assert "goes on from there" in caught.value.hint


def test_the_network_going_away_in_the_middle_ends_it(arxiv: ArxivStandIn, tmp_path: Path):
    progress = fetch("retrieval", tmp_path, 10, NEVER, address=arxiv.url, pause=0)
    for step in progress:
        if step.fetched:
            break
    arxiv.__exit__()
    with pytest.raises(SourceError, match="arXiv cannot be reached"):
        list(progress)
    assert names(tmp_path) == ["2101.00001v2.md", "2101.00001v2.pdf"]


def test_a_refusal_is_no_reason_to_insist(arxiv: ArxivStandIn, tmp_path: Path):
    arxiv.failures = [Failure("/api/", status=403)]
    with pytest.raises(SourceError, match="arXiv refuses to answer"):
        run(arxiv, "retrieval", tmp_path)
    assert len(arxiv.requests) == 1


@pytest.mark.parametrize("path", ["/api/", "/pdf/"])
def test_stopping_does_not_wait_for_an_answer(arxiv: ArxivStandIn, tmp_path: Path, path: str):
    arxiv.failures = [Failure(path, stall=5)]
    stop = threading.Event()
    threading.Timer(0.5, stop.set).start()
    started = time.monotonic()
    steps = list(fetch("2101.00001", tmp_path, 10, stop, address=arxiv.url, pause=0))
    assert time.monotonic() - started < 1.5
    assert not steps[-1].fetched
    assert not [path for path in tmp_path.iterdir() if path.suffix == ".pdf"]


def test_stopping_does_not_wait_for_the_pause(arxiv: ArxivStandIn, tmp_path: Path):
    stop = threading.Event()
    started = time.monotonic()
    for step in fetch("2101.00001", tmp_path, 10, stop, address=arxiv.url, pause=30):
        if step.total:
            stop.set()
    assert time.monotonic() - started < 1.5
    assert not names(tmp_path)


def test_a_folder_that_cannot_be_written_to(arxiv: ArxivStandIn, tmp_path: Path):
    (tmp_path / "papers").write_text("a file")
    with pytest.raises(SourceError, match="cannot be written to"):
        run(arxiv, "2101.00001", tmp_path / "papers")
