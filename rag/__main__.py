"""The command line: ``python -m rag index | ask | doctor | models``.

Results go to standard output, progress and errors to standard error. Exit codes: 0, 1 for an error that the person can
mend, 2 for wrong usage.
"""

from __future__ import annotations

import argparse
import dataclasses
import io
import json
import os
import signal
import sys
from collections.abc import Sequence
from contextlib import closing
from pathlib import Path
from typing import TYPE_CHECKING, Any

from rag.errors import LibraryMissing, RagError
from rag.index.lock import lock_home
from rag.settings import load_settings, prepare_environment
from rag.types import AnswerDone, Change, FileState, RetrievalDone, TextDelta

if TYPE_CHECKING:
    from rag.engine import Engine
    from rag.types import Retrieval, SyncEvent, SyncReport, Trace


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
    index.set_defaults(run=_index)

    ask = commands.add_parser("ask", help="ask a library a question")
    ask.add_argument("question")
    ask.add_argument("--notes", type=_positive, metavar="N", help="passages given to the model (default: by its size)")
    ask.set_defaults(run=_ask)

    doctor = commands.add_parser("doctor", help="check this installation and the library")
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

    for command in (index, ask, doctor, listing, pull, use):
        command.add_argument("--json", action="store_true", help="print one JSON value instead of text")
    for command in (index, ask, doctor):
        command.add_argument("--library", metavar="NAME", help="the library (default: the one used last)")
    return parser


def _positive(text: str) -> int:
    number = int(text)
    if number < 1:
        raise argparse.ArgumentTypeError("must be 1 or more")
    return number


# ------------------------------------------------------------------------------------------------------------ index


def _index(engine: Engine, options: argparse.Namespace) -> int:
    library = options.library or engine.default_library()
    if options.plan:
        return _show_plan(engine, library, options)
    folder = engine.folder(options.folder)
    if library not in {info.name for info in engine.libraries()}:
        engine.create_library(library)
    engine.use_library(library)
    report = _follow(engine, library, folder)
    if report is None:
        return 1
    if options.json:
        _print_json(report)
    else:
        _print_report(report)
    return 1 if report.stopped else 0


def _show_plan(engine: Engine, library: str, options: argparse.Namespace) -> int:
    plan = engine.plan(library, options.folder)
    if options.json:
        lines = [{"path": planned.path, "change": planned.change, "size": planned.size} for planned in plan.files]
        _print_json({"library": library, "root": plan.root, "files": lines, "skipped": plan.skipped})
        return 0
    for planned in plan.work:
        print(f"{planned.change:<9} {planned.path}")
    for path, reason in plan.skipped:
        print(f"skipped   {path}: {reason}")
    return 0


def _follow(engine: Engine, library: str, folder: Path) -> SyncReport | None:
    """Runs a sync with a progress bar; the first Ctrl-C ends it after the slice at work."""
    from tqdm import tqdm

    report = None
    previous = signal.signal(signal.SIGINT, lambda *_: engine.stop_sync(library))
    try:
        with tqdm(unit=" files", file=sys.stderr, dynamic_ncols=True, leave=False) as bar:
            for event in engine.sync(library, folder):
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
    library = options.library or engine.default_library()
    if library not in {info.name for info in engine.libraries()}:
        raise LibraryMissing(
            f"There is no library “{library}”.", "`python -m rag index FOLDER --library NAME` makes one."
        )
    trace: Trace | None = None
    # On a terminal the words are shown as they come, on standard error: what counts is the checked answer after them.
    watched = sys.stderr.isatty() and not options.json
    with closing(engine.ask(library, options.question, notes=options.notes)) as events:
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


def _print_hits(retrieval: Retrieval) -> None:
    from rag.answering.places import place

    if retrieval.queries != (retrieval.question,):
        print(f"searched: {'; '.join(retrieval.queries)}")
    for hit in retrieval.hits[:10]:
        scores = ", ".join(f"{name} {score:.4f}" for name, score in retrieval.scores(hit.chunk.id).items())
        print(f"{hit.rank:>2}. {place(hit.chunk)}  ({scores})")
        print(f"    {' '.join(hit.chunk.text.split())[:160]}")
    print(f"evidence: {retrieval.evidence.verdict} – {retrieval.evidence.reason}\n")


def _print_answer(trace: Trace) -> None:
    from rag.answering.export import cited_words
    from rag.answering.places import place

    print(f"\n{trace.answer.text}\n")
    for warning in trace.answer.warnings:
        print(f"warning: {warning}")
    for citation in trace.answer.citations:
        by = "" if citation.by == "model" else " (bound by Footnote)"
        missing = f" NOT IN THE PASSAGE: {', '.join(citation.missing)}" if citation.missing else ""
        print(f"[{citation.number}]{by} {place(citation.chunk, citation.page)}: “{cited_words(citation)}”{missing}")


def _answer_json(trace: Trace) -> dict[str, Any]:
    retrieval = trace.retrieval
    in_prompt = {p.hit.chunk.id: p.number for p in trace.prompt.passages if p.in_prompt} if trace.prompt else {}
    return {
        "question": retrieval.question,
        "query": retrieval.queries[0],
        "verdict": retrieval.evidence.verdict,
        "evidence": retrieval.evidence.reason,
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
        "hits": [
            {
                "rank": hit.rank,
                "file": hit.chunk.path,
                "page": hit.chunk.page,
                "heading": " › ".join(hit.chunk.heading_path),
                "span": [hit.chunk.span.start, hit.chunk.span.end],
                "text": hit.chunk.text,
                "scores": retrieval.scores(hit.chunk.id),
                "in_prompt": hit.chunk.id in in_prompt,
                "number": in_prompt.get(hit.chunk.id),
            }
            for hit in retrieval.hits
        ],
        "model": trace.model,
        "embedder": trace.embedder,
        "window": trace.prompt.window if trace.prompt else None,
        "seconds": {**retrieval.seconds, **trace.seconds},
    }


# ------------------------------------------------------------------------------------------------- doctor and models


def _doctor(engine: Engine, options: argparse.Namespace) -> int:
    checks = engine.health(options.library or engine.default_library())
    if options.json:
        _print_json(checks)
    else:
        for check in checks:
            print(f"{check.state:<8} {check.name}: {check.detail}")
            if check.action and check.state != "ok":
                print(f"         → {check.action}")
    return 1 if any(check.state == "error" for check in checks) else 0


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
