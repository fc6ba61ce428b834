"""How often the verdict on the evidence is "none" where the notes have the answer, and where they lack the topic.

``python -m tests.bench.refusal [--questions 100] [--features FILE]``

For each language: the kept articles of ``qa/refusal`` as notes, questions about them (wrongly refused when the verdict is
"none") and about removed articles (rightly refused). No model is asked.
"""

from __future__ import annotations

import argparse
import json
import tempfile
from collections import Counter
from pathlib import Path
from typing import Any

from rag.engine import SAMPLES, Engine
from rag.settings import load_settings, prepare_environment

DATA = Path(__file__).parents[3] / "shared" / "data" / "qa"


def main() -> None:
    """Prints one line a language and kind of question."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--questions", type=int, default=100, help="of each kind")
    parser.add_argument("--sets", default="", help="names, separated by commas; nothing: all five")
    parser.add_argument("--features", type=Path, help="also write every question's features to this file")
    options = parser.parse_args()
    prepare_environment()
    rows = []
    print(f"{'set':<14}{'kind':<14}{'enough':>7}{'some':>7}{'none':>7}")
    for path in sorted((DATA / "refusal").glob("*.json")):
        if options.sets and path.stem not in options.sets.split(","):
            continue
        refusal = json.loads(path.read_text(encoding="utf-8"))
        with tempfile.TemporaryDirectory() as folder:
            notes = _write_notes(Path(folder) / "notes", path.stem, refusal["kept_articles"])
            with Engine(load_settings(home=Path(folder) / "home", llm="none")) as engine:
                for _ in engine.sync(SAMPLES, notes):
                    pass
                for kind in ("answerable", "unanswerable"):
                    verdicts: Counter[str] = Counter()
                    for line in refusal[kind][: options.questions]:
                        evidence = engine.search(SAMPLES, line["question"]).evidence
                        verdicts[evidence.verdict] += 1
                        rows.append({"set": path.stem, "kind": kind, "question": line["question"], **evidence.features})
                    total = sum(verdicts.values())
                    shares = "".join(f"{verdicts[verdict] / total:>7.2f}" for verdict in ("enough", "some", "none"))
                    print(f"{path.stem:<14}{kind:<14}{shares}", flush=True)
    if options.features:
        options.features.write_text(json.dumps(rows, ensure_ascii=False), encoding="utf-8")


def _write_notes(folder: Path, name: str, kept: list[str]) -> Path:
    """One text file an article, a paragraph to each paragraph."""
    folder.mkdir()
    for number, article in enumerate(_articles(name)):
        if article["title"] in kept:
            paragraphs = [paragraph["context"].split("[SEP]")[-1].strip() for paragraph in article["paragraphs"]]
            (folder / f"{number}.txt").write_text(article["title"] + "\n\n" + "\n\n".join(paragraphs), encoding="utf-8")
    return folder


def _articles(name: str) -> list[dict[str, Any]]:
    source = "jsquad.json" if name.startswith("jsquad") else f"xquad/{name.replace('-', '.')}.json"
    articles: list[dict[str, Any]] = json.loads((DATA / source).read_text(encoding="utf-8"))["data"]
    return articles


if __name__ == "__main__":
    main()
