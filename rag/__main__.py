"""The command line: ``python -m rag index | ask | search | why | eval | check | doctor | libraries | arxiv | models``.

Results go to standard output, progress and errors to standard error. Exit codes: 0, 1 for an error that the person can
mend, 2 for wrong usage.
"""

from __future__ import annotations

import argparse
import dataclasses
import getpass
import io
import json
import os
import signal
import sys
from collections.abc import Iterable, Mapping, Sequence
from contextlib import closing
from pathlib import Path
from typing import TYPE_CHECKING, Any

from rag.errors import LibraryMissing, RagError
from rag.index.lock import lock_home
from rag.settings import load_settings, prepare_environment
from rag.types import AnswerDone, Change, FileState, Filters, RetrievalDone, SearchOptions, Stance, TextDelta

if TYPE_CHECKING:
    from rag.engine import Engine
    from rag.inspection.evaluation import Difference
    from rag.types import Chunk, HealthCheck, LibrarySettings, Retrieval, SyncEvent, SyncReport, Trace


def main(arguments: Sequence[str] | None = None) -> int:
    """Runs one command and returns the exit code."""
    options = _parser().parse_args(arguments)
    prepare_environment()
    for stream in (sys.stdout, sys.stderr):
        if isinstance(stream, io.TextIOWrapper):
            stream.reconfigure(encoding="utf-8")  # notes and answers may be in any script, whatever the console says
    try:
        settings = load_settings()
        lock_home(settings.home).release()  # a second process is told before the engine's imports take their seconds

        from rag.engine import Engine

        with Engine(settings) as engine:
            code: int = options.run(engine, options)
            return code
    except RagError as error:
        if options.json:
            _print_json({"error": error.message, "hint": error.hint})
        print(f"{error.message}\n{error.hint}".rstrip(), file=sys.stderr)
        return 1
    except KeyboardInterrupt:
        print("Stopped.", file=sys.stderr)
        return 1
    except BrokenPipeError:
        # Whoever read the output has seen enough; nothing more may be written, not even at exit.
        os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())
        return 1


def _parser() -> argparse.ArgumentParser:
    parser = argparse.ArgumentParser(prog="python -m rag", description="Footnote: chat with your own notes and papers.")
    commands = parser.add_subparsers(required=True, metavar="COMMAND")

    index = commands.add_parser("index", help="bring a library in step with a folder")
    index.add_argument("folder", type=Path, metavar="FOLDER")
    index.add_argument("--plan", action="store_true", help="only show what would be done")
    index.add_argument("--verify", action="store_true", help="compare every file's content, and try failed ones again")
    index.add_argument("--allow-empty", action="store_true", help="forget a folder's files though it is empty now")
    index.add_argument("--include", action="append", metavar="PATTERN", help="read only what matches (as in gitignore)")
    index.add_argument("--exclude", action="append", metavar="PATTERN", help="do not read what matches; !PATTERN does")
    index.add_argument("--ocr", action=_ON_OFF, default=None, help="recognise text on scans and images")
    index.add_argument("--layout", action=_ON_OFF, default=None, help="read PDFs with layout analysis (slower)")
    index.add_argument(
        "--password", action="append", nargs="?", const="", metavar="PASSWORD",
        help="try this on encrypted files; without a value it is asked for, and nobody sees it; kept in memory only",
    )  # fmt: skip
    index.set_defaults(run=_index)

    ask = commands.add_parser(
        "ask", help="ask a library a question", epilog=_IN_THE_QUESTION, formatter_class=argparse.RawTextHelpFormatter
    )
    ask.add_argument("question")
    ask.add_argument("--notes", type=_positive, metavar="N", help="passages given to the model (default: by its size)")
    ask.add_argument("--rewrite", default="", metavar="TEXT", help="search for this; the question is still answered")
    ask.add_argument("--anyway", action="store_true", help="ask the model though the notes do not seem to say")
    ask.set_defaults(run=_ask)

    search = commands.add_parser(
        "search",
        help="find passages, without an answer",
        epilog=_IN_THE_QUESTION,
        formatter_class=argparse.RawTextHelpFormatter,
    )
    search.add_argument("query")
    search.set_defaults(run=_search)
    for command in (ask, search):
        _add_search_options(command)

    evaluation = commands.add_parser("eval", help="measure a library with its own questions")
    evaluation.add_argument(
        "--questions", type=Path, metavar="FILE", help="take in the questions of a file first (JSONL)"
    )
    evaluation.add_argument(
        "--export", type=Path, metavar="FILE", help="write the library's questions; measure nothing"
    )
    evaluation.add_argument("--answers", action="store_true", help="have the chat model answer, too (slow)")
    evaluation.set_defaults(run=_eval)

    why = commands.add_parser("why", help="why a passage is not among what is found for a question")
    why.add_argument("question")
    why.add_argument("--file", default="", metavar="NAME", help="part of the path of the file that you miss")
    why.add_argument("--page", type=_positive, metavar="N", help="the page of it, or the slide, row or line")
    why.add_argument("--phrase", default="", metavar="WORDS", help="words that stand in what you miss")
    why.set_defaults(run=_why)

    check = commands.add_parser("check", help="does the library's catalog agree with its keyword index and vectors?")
    check.add_argument("--repair", action="store_true", help="mend what disagrees; no file is read again")
    check.set_defaults(run=_check)

    libraries = commands.add_parser("libraries", help="list, rename and delete libraries")
    libraries.add_argument("--rename", nargs=2, metavar=("NAME", "NEW"))
    libraries.add_argument("--delete", metavar="NAME", help="its index and conversations; your own files stay")
    libraries.set_defaults(run=_libraries)

    arxiv = commands.add_parser("arxiv", help="fetch papers from arXiv into the library, then index them")
    arxiv.add_argument("wanted", nargs="+", help="ids, addresses, or words to search for")
    arxiv.add_argument("--limit", type=_positive, default=10, metavar="N", help="papers of a search (default: 10)")
    arxiv.set_defaults(run=_arxiv)

    doctor = commands.add_parser("doctor", help="check this installation and the library")
    doctor.add_argument("--measure", action="store_true", help="embed some of the library's chunks for a few seconds")
    doctor.set_defaults(run=_doctor)

    models = commands.add_parser("models", help="list, fetch and choose models")
    actions = models.add_subparsers(required=True, metavar="ACTION")
    listing = actions.add_parser("list", help="what can be chosen or fetched")
    listing.set_defaults(run=_models_list)
    pull = actions.add_parser("pull", help="fetch a model")
    pull.add_argument("model", help="embedded, bge-m3, ollama:NAME, …")
    pull.set_defaults(run=_models_pull)
    use = actions.add_parser("use", help="choose a model, or go back to auto")
    use.add_argument("model", help="an id of `models list`, auto, or none (search only)")
    use.set_defaults(run=_models_use)

    for command in (index, ask, search, why, evaluation, check, libraries, arxiv, doctor, listing, pull, use):
        command.add_argument("--json", action="store_true", help="print one JSON value instead of text")
    for command in (index, why, evaluation, check, arxiv, doctor):
        command.add_argument("--library", metavar="NAME", help="the library (default: the one used last)")
    for command in (ask, search):
        command.add_argument(
            "--library",
            metavar="NAME",
            action="append",
            help="the library (default: the one used last); may be repeated",
        )
    return parser


_IN_THE_QUESTION = """\
--file, --folder and --section may be repeated: what any of them names is searched.
The same can be said in the question:
  file:NAME  folder:NAME  after:2024  before:2024-05  section:8.3  is:normative  "exact phrase"  -word
"""


def _add_search_options(command: argparse.ArgumentParser) -> None:
    """What the search is held to, and how it is made."""
    held = command.add_argument_group("what is searched")
    held.add_argument("--file", action="append", metavar="NAME", help="part of a file's path, or a pattern with *")
    held.add_argument("--folder", action="append", metavar="NAME", help="only below this folder")
    held.add_argument("--after", default="", metavar="DATE", help="not older than 2024, 2024-05 or 2024-05-01")
    held.add_argument("--before", default="", metavar="DATE", help="not newer than")
    held.add_argument("--section", action="append", metavar="NUMBER", help="a section or clause and what is below it")
    stance = held.add_mutually_exclusive_group()
    stance.add_argument("--normative", action="store_true", help="only passages that bind")
    stance.add_argument("--informative", action="store_true", help="only passages that explain")
    held.add_argument("--exact", action="append", metavar="PHRASE", help="word for word; repeated: all of them")
    held.add_argument("--without", action="append", metavar="WORDS", help="no passage that holds them")
    way = command.add_argument_group("how it is searched (default: as the library's settings say)")
    way.add_argument("--hyde", action=_ON_OFF, default=None, help="search with a passage that the model makes up, too")
    way.add_argument("--rerank", action=_ON_OFF, default=None, help="sort with a cross-encoder")


def _search_options(options: argparse.Namespace) -> SearchOptions:
    stance: Stance = "normative" if options.normative else "informative" if options.informative else ""
    return SearchOptions(
        Filters(
            files=tuple(options.file or ()),
            folders=tuple(options.folder or ()),
            after=options.after,
            before=options.before,
            sections=tuple(options.section or ()),
            stance=stance,
            phrases=tuple(options.exact or ()),
            without=tuple(options.without or ()),
        ),
        hyde=options.hyde,
        rerank=options.rerank,
    )


_ON_OFF = argparse.BooleanOptionalAction


def _positive(text: str) -> int:
    number = int(text)
    if number < 1:
        raise argparse.ArgumentTypeError("must be 1 or more")
    return number


# ------------------------------------------------------------------------------------------------------------ index


def _index(engine: Engine, options: argparse.Namespace) -> int:
    folder = options.folder if options.allow_empty else engine.folder(options.folder)
    library = options.library or engine.default_library()
    for password in options.password or ():
        engine.give_password(password or getpass.getpass("Password for encrypted files: "))
    if options.plan:
        return _show_plan(engine, library, folder, options)
    if library not in {info.name for info in engine.libraries()}:
        engine.create_library(library)
    # What is said about a library here is kept with it, as what is said on the page.
    engine.set_library_settings(library, _settings(engine, library, options))
    engine.use_library(library)
    events = engine.sync(library, folder, verify=options.verify, allow_empty=options.allow_empty)
    report = _follow(engine, library, events)
    if report is None:
        return 1
    if options.json:
        _print_json(report)
    else:
        _print_report(report)
    return 1 if report.stopped else 0


def _settings(engine: Engine, library: str, options: argparse.Namespace) -> LibrarySettings:
    """The library's settings with what the command line says of them."""
    said = {name: getattr(options, name) for name in ("ocr", "layout") if getattr(options, name) is not None}
    said |= {name: tuple(getattr(options, name)) for name in ("include", "exclude") if getattr(options, name)}
    return dataclasses.replace(engine.library_settings(library), **said)


def _show_plan(engine: Engine, library: str, folder: Path, options: argparse.Namespace) -> int:
    settings = _settings(engine, library, options)
    plan = engine.plan(library, folder, verify=options.verify, allow_empty=options.allow_empty, settings=settings)
    if options.json:
        lines = [
            {"path": planned.path, "change": planned.change, "size": planned.size, "why": planned.why}
            for planned in plan.files
        ]
        _print_json(
            {"library": library, "root": plan.root, "files": lines, "skipped": plan.skipped, "seconds": plan.seconds}
        )
        return 0
    for planned in plan.work:
        print(f"{planned.change:<9} {planned.path}" + (f" ({planned.why})" if planned.why else ""))
    for path, reason in plan.skipped:
        print(f"skipped   {path}: {reason}")
    changes = ", ".join(f"{plan.count(change)} {change}" for change in Change if plan.count(change))
    about = f"; about {plan.seconds:.0f} s" if plan.seconds else ""
    print(f"{len(plan.files)} files ({changes}){about}")
    sharing = engine.inspector.sharing_plan(library)
    if plan.work and sharing.way == "turns":
        print(f"{sharing.machine.chat_name} leaves the graphics card meanwhile: {sharing.reason}")
    return 0


def _follow(engine: Engine, library: str, events: Iterable[SyncEvent]) -> SyncReport | None:
    """Runs a sync with a progress bar; the first Ctrl-C ends it after the slice at work."""
    from tqdm import tqdm

    report = None
    previous = signal.signal(signal.SIGINT, lambda *_: engine.stop_sync(library))
    try:
        with tqdm(unit=" files", file=sys.stderr, dynamic_ncols=True, leave=False) as bar:
            for event in events:
                bar.total = event.files_total
                bar.n = event.files_done
                bar.set_postfix_str(_progress(event), refresh=True)
                report = event.result or report
    finally:
        signal.signal(signal.SIGINT, previous)
    return report


def _progress(event: SyncEvent) -> str:
    left = f", {event.seconds_left:.0f} s left" if event.seconds_left is not None else ""
    return f"{event.chunks_done} chunks, {event.chunks_per_second:.1f}/s{left}, {event.path[-40:]}"


def _print_report(report: SyncReport) -> None:
    for file in report.files:
        if file.state in (FileState.FAILED, FileState.PARTLY):
            print(f"{file.state:<8} {file.path}: {file.reason}")
    for path, reason in report.skipped:
        print(f"skipped  {path}: {reason}")
    states = [file.state for file in report.files]
    changes = ", ".join(f"{report.count(change)} {change}" for change in Change if report.count(change))
    print(
        f"{len(report.files)} files ({changes}): {states.count(FileState.INDEXED)} read, "
        f"{states.count(FileState.PARTLY)} partly, {states.count(FileState.FAILED)} not; "
        f"{report.chunks_embedded} chunks embedded in {report.seconds:.1f} s"
        + ("; stopped, the same command goes on" if report.stopped else "")
    )


# -------------------------------------------------------------------------------------------------------------- ask


def _ask(engine: Engine, options: argparse.Namespace) -> int:
    library, *also = _libraries_asked(engine, options)
    trace: Trace | None = None
    # On a terminal the words are shown as they come, on standard error: what counts is the checked answer after them.
    watched = sys.stderr.isatty() and not options.json
    decided = dataclasses.replace(_search_options(options), rewrite=options.rewrite.strip(), anyway=options.anyway)
    with closing(engine.ask(library, options.question, notes=options.notes, also=also, options=decided)) as events:
        for event in events:
            if isinstance(event, RetrievalDone) and not options.json:
                _print_hits(event.retrieval)
            elif isinstance(event, TextDelta) and watched:
                print(event.text, end="", flush=True, file=sys.stderr)
            elif isinstance(event, AnswerDone):
                trace = event.trace
    if trace is None:
        return 1
    if options.json:
        _print_json(_answer_json(trace))
    else:
        _print_answer(trace)
    return 1 if trace.answer.outcome == "failed" else 0


def _search(engine: Engine, options: argparse.Namespace) -> int:
    library, *also = _libraries_asked(engine, options)
    retrieval = engine.search(library, options.query, also, _search_options(options))
    if options.json:
        _print_json(_retrieval_json(retrieval, {}))
    else:
        _print_hits(retrieval)
    return 0


def _why(engine: Engine, options: argparse.Namespace) -> int:
    from rag.answering.places import place
    from rag.inspection.explain import Wanted

    library = options.library or engine.default_library()
    wanted = Wanted(file=options.file, page=options.page, phrase=options.phrase)
    found = engine.inspector.why(library, wanted, engine.search(library, options.question), None)
    if options.json:
        _print_json(found)
        return 0
    if found.note:
        print(found.note)
    for account in found.accounts:
        print(f"{account.gate or 'found':<17} {place(account.chunk)}\n  {account.reason}")
        for remark in account.remarks:
            print(f"  {remark}")
        for way in account.ways:
            tried = f" Tried: {f'place {way.rank}' if way.rank else 'not found even then'}." if way.tried else ""
            print(f"  → {way.change}{tried}")
    for lost in found.lost:
        print(f"{'not indexed' if lost.indexed else 'not read':<17} {lost.name}\n  {lost.reason}\n  → {lost.action}")
    if found.more:
        print(f"and {found.more} more")
    return 0


def _libraries_asked(engine: Engine, options: argparse.Namespace) -> list[str]:
    names = options.library or [engine.default_library()]
    known = {info.name for info in engine.libraries()}
    for name in names:
        if name not in known:
            raise LibraryMissing(
                f"There is no library “{name}”.", "`python -m rag index FOLDER --library NAME` makes one."
            )
    return list(names)


def _print_hits(retrieval: Retrieval) -> None:
    from rag.answering.places import place
    from rag.answering.remarks import held_to, loosened

    if retrieval.queries != (retrieval.question,):
        print(f"searched: {'; '.join(retrieval.queries)}")
    if retrieval.hypothetical:
        print(f"and a made-up passage: {retrieval.hypothetical}")
    if holding := held_to(retrieval.filters):
        print(f"held to: {' · '.join(holding)}")
    if retrieval.loosened:
        print(loosened(retrieval))
    for hit in retrieval.hits[:10]:
        scores = ", ".join(f"{name} {score:.4f}" for name, score in retrieval.scores(hit.chunk.id).items())
        stance = f", {hit.chunk.stance}" if hit.chunk.stance else ""
        print(f"{hit.rank:>2}. {place(hit.chunk)}{stance}  ({scores or hit.note})")
        print(f"    {' '.join(hit.chunk.text.split())[:160]}")
        for copy in hit.copies:
            print(f"    also in {place(copy)}")
    print(f"evidence: {retrieval.evidence.verdict} – {retrieval.evidence.reason}\n")


def _print_answer(trace: Trace) -> None:
    from rag.answering.export import cited_words
    from rag.answering.places import place
    from rag.answering.remarks import caution, was_asked

    print(f"\n{trace.answer.text}\n")
    mark, sentence = caution(trace.retrieval)
    if mark and was_asked(trace):
        print(f"{mark.lower()}: {sentence}")
    elif trace.answer.outcome == "not_in_notes" and not was_asked(trace):
        print("The model was not asked. --anyway asks it all the same.")
    for warning in trace.answer.warnings:
        print(f"warning: {warning}")
    for citation in trace.answer.citations:
        by = "" if citation.by == "model" else " (bound by Footnote)"
        missing = f" NOT IN THE PASSAGE: {', '.join(citation.missing)}" if citation.missing else ""
        print(f"[{citation.number}]{by} {place(citation.chunk, citation.page)}: “{cited_words(citation)}”{missing}")


def _answer_json(trace: Trace) -> dict[str, Any]:
    in_prompt = {p.hit.chunk.id: p.number for p in trace.prompt.passages if p.in_prompt} if trace.prompt else {}
    return {
        **_retrieval_json(trace.retrieval, in_prompt),
        "outcome": trace.answer.outcome,
        "answer": trace.answer.text,
        "citations": [
            {
                "number": citation.number,
                "file": citation.chunk.path,
                "page": citation.page,
                "heading": " › ".join(citation.chunk.heading_path),
                "span": [citation.span.start, citation.span.end],
                "by": citation.by,
                "missing": citation.missing,
            }
            for citation in trace.answer.citations
        ],
        "unknown_numbers": trace.answer.unknown_numbers,
        "warnings": trace.answer.warnings,
        "model": trace.model,
        "embedder": trace.embedder,
        "window": trace.prompt.window if trace.prompt else None,
        "seconds": {**trace.retrieval.seconds, **trace.seconds},
    }


def _retrieval_json(retrieval: Retrieval, in_prompt: Mapping[str, int]) -> dict[str, Any]:
    return {
        "question": retrieval.question,
        "query": retrieval.queries[0],
        "queries": retrieval.queries,
        "rewrite_note": retrieval.rewrite_note,
        "hypothetical": retrieval.hypothetical,
        "filters": retrieval.filters,
        "loosened": retrieval.loosened,
        "verdict": retrieval.evidence.verdict,
        "evidence": retrieval.evidence.reason,
        "stages": [
            {
                "name": stage.name,
                "score": stage.score_name,
                "found": len(stage.hits),
                "weight": stage.weight,
                "note": stage.note,
            }
            for stage in retrieval.stages
        ],
        "hits": [
            {
                "rank": hit.rank,
                **_chunk_json(hit.chunk),
                "text": hit.chunk.text,
                "scores": retrieval.scores(hit.chunk.id),
                "in_prompt": hit.chunk.id in in_prompt,
                "number": in_prompt.get(hit.chunk.id),
                "copies": [_chunk_json(copy) for copy in hit.copies],
                "note": hit.note,
            }
            for hit in retrieval.hits
        ],
        "seconds": retrieval.seconds,
    }


def _chunk_json(chunk: Chunk) -> dict[str, Any]:
    return {
        "file": chunk.path,
        "page": chunk.page,
        "heading": " › ".join(chunk.heading_path),
        "section": chunk.section,
        "stance": chunk.stance,
        "date": chunk.date,
        "span": [chunk.span.start, chunk.span.end],
    }


# ------------------------------------------------------------------------------------------------------ measurements


def _eval(engine: Engine, options: argparse.Namespace) -> int:
    from tqdm import tqdm

    library, inspector = options.library or engine.default_library(), engine.inspector
    if options.questions:
        inspector.import_questions(library, options.questions)
    if options.export:
        inspector.export_questions(library, options.export)
        return 0
    with (
        tqdm(unit=" questions", file=sys.stderr, dynamic_ncols=True, leave=False) as bar,
        closing(inspector.evaluate(library, answers=options.answers)) as steps,
    ):
        for step in steps:
            bar.total, bar.n = step.total, step.done
            bar.refresh()
    *earlier, run = inspector.runs(library)
    before = earlier[-1] if earlier else None
    if options.json:
        _print_json(
            {"run": run, "measures": inspector.measures(run), "differences": inspector.differences(before, run)}
        )
        return 0
    texts = {question.id: question.text for question in inspector.questions(library)}
    for result in run.results:
        if not result.right:
            what = (
                "not found" if result.answerable and not result.refused else "refused" if result.refused else "answered"
            )
            print(f"{result.error or what:<10} {texts.get(result.question, result.question)}")
    differences = {one.name: one for one in inspector.differences(before, run)}
    for one in inspector.measures(run):
        against = _against(differences[one.name]) if one.name in differences else ""
        print(f"{one.name:<16} {one.value:.3f}   {one.low:.3f} to {one.high:.3f}   of {one.count}{against}")
    return 0


def _against(gain: Difference) -> str:
    if not gain.better and not gain.worse:
        return "   as in the run before"
    chance = "" if gain.is_certain else ", may be chance"
    return f"   {gain.value:+.3f} against the run before{chance} ({len(gain.better)} better, {len(gain.worse)} worse)"


# ------------------------------------------------------------------------------------------ libraries, check, arXiv


def _check(engine: Engine, options: argparse.Namespace) -> int:
    library = options.library or engine.default_library()
    if options.repair:
        _follow(engine, library, engine.repair(library))
    return _show_checks(engine.check(library), options)


def _show_checks(checks: Sequence[HealthCheck], options: argparse.Namespace) -> int:
    if options.json:
        _print_json(checks)
    else:
        for check in checks:
            print(f"{check.state:<8} {check.name}: {check.detail}")
            if check.action and check.state != "ok":
                print(f"         → {check.action}")
    return 1 if any(check.state == "error" for check in checks) else 0


def _libraries(engine: Engine, options: argparse.Namespace) -> int:
    if options.rename:
        engine.rename_library(*options.rename)
    if options.delete:
        if options.delete not in {info.name for info in engine.libraries()}:
            raise LibraryMissing(f"There is no library “{options.delete}”.", "`python -m rag libraries` lists them.")
        engine.delete_library(options.delete)
    libraries = engine.libraries()
    if options.json:
        _print_json(libraries)
    else:
        for info in libraries:
            about = info.error or f"{info.files} files, {info.chunks} chunks, {info.embedder or 'empty'}"
            print(f"{info.name}: {about}" + "".join(f"\n    {root}" for root in info.roots))
    return 0


def _arxiv(engine: Engine, options: argparse.Namespace) -> int:
    from tqdm import tqdm

    library = options.library or engine.default_library()
    last = None
    with tqdm(unit=" papers", file=sys.stderr, dynamic_ncols=True, leave=False) as bar:
        for last in engine.fetch(library, " ".join(options.wanted), options.limit):
            bar.total = last.total or None
            bar.n = last.done
            bar.set_postfix_str(last.current[:60], refresh=True)
    if last is not None and not options.json:
        for paper, reason in last.failed:
            print(f"failed   {paper}: {reason}")
        print(f"{last.fetched} papers fetched, {last.skipped} were here, {len(last.failed)} failed")
    folder = engine.papers_folder(library)
    report = _follow(engine, library, engine.sync(library, folder)) if folder.exists() else None
    if options.json:
        _print_json({"fetch": last, "sync": report})
    elif report is not None:
        _print_report(report)
    return 1 if report is None or report.stopped or (last and last.failed) else 0


# ------------------------------------------------------------------------------------------------- doctor and models


def _doctor(engine: Engine, options: argparse.Namespace) -> int:
    library = options.library or engine.default_library()
    if options.measure:
        engine.inspector.measure(library)
    return _show_checks(engine.health(library), options)


def _models_list(engine: Engine, options: argparse.Namespace) -> int:
    models = engine.models()
    if options.json:
        _print_json(models)
    else:
        for model in models:
            size = f"{model.size / 1e9:.1f} GB" if model.size else ""
            print(f"{'ready' if model.ready else 'to fetch':<9} {model.kind:<10} {model.id:<28} {size:<8} {model.note}")
    return 0


def _models_pull(engine: Engine, options: argparse.Namespace) -> int:
    from tqdm import tqdm

    last = None
    with tqdm(unit="B", unit_scale=True, file=sys.stderr, dynamic_ncols=True) as bar:
        for last in engine.pull_model(options.model):
            bar.total = last.total or None
            bar.n = last.done
            bar.set_description_str(last.status, refresh=True)
    if options.json:
        _print_json(last)
    else:
        print(f"{options.model} is here.")
    return 0


def _models_use(engine: Engine, options: argparse.Namespace) -> int:
    engine.use_model(options.model)
    status = engine.status()
    if options.json:
        _print_json(status)
    else:
        print(f"chat: {status.chat.name if status.chat else 'none'} – {status.chat_reason}")
        print(f"embedder: {status.embedder.model if status.embedder else 'none'} – {status.embedder_reason}")
    return 0


def _print_json(value: Any) -> None:
    def plain(thing: Any) -> Any:
        if dataclasses.is_dataclass(thing) and not isinstance(thing, type):
            return {field.name: getattr(thing, field.name) for field in dataclasses.fields(thing)}
        return str(thing)

    print(json.dumps(value, default=plain, ensure_ascii=False, indent=1))


if __name__ == "__main__":
    sys.exit(main())
