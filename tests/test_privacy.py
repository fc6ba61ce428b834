"""Nothing leaves the machine: the whole page in a network namespace that has only loopback."""

import json
import os
import shutil
import subprocess
import sys
from pathlib import Path

import pytest
from material import missing

FLOW = Path(__file__).parent / "loopback_flow.py"


@pytest.mark.slow
@pytest.mark.browser
def test_no_connection_to_any_other_address_is_tried(embedded_model_file: Path) -> None:
    unshare = ["unshare", "--net"] if os.geteuid() == 0 else ["unshare", "--map-root-user", "--net"]
    if not shutil.which("unshare") or subprocess.run([*unshare, "true"], check=False, capture_output=True).returncode:
        missing("network namespaces (unshare) may not be made here")
    for program in ("ip", "chromium"):
        if not shutil.which(program):
            missing(f"{program} is not installed")
    done = subprocess.run(
        [*unshare, sys.executable, str(FLOW)], capture_output=True, text=True, timeout=400, check=False
    )
    assert done.returncode == 0, done.stderr
    seen = json.loads(done.stdout.splitlines()[-1])
    assert "6 hours" in seen["answer"]
    assert seen["control"] == 1, "a connection elsewhere would have been counted"
    assert seen["tried"] == 0


@pytest.mark.slow
def test_a_reader_that_lives_longer_asks_nobody_either() -> None:
    """PyMuPDF loads onnxruntime, which looks for its maker's server about ten seconds later."""
    unshare = ["unshare", "--net"] if os.geteuid() == 0 else ["unshare", "--map-root-user", "--net"]
    if not shutil.which("unshare") or subprocess.run([*unshare, "true"], check=False, capture_output=True).returncode:
        missing("network namespaces (unshare) may not be made here")
    reader = (
        "import sys, time; sys.path.insert(0, 'tests')\n"
        "from rag.settings import prepare_environment; prepare_environment()\n"
        "import pymupdf; from loopback_flow import attempts; time.sleep(15); print(attempts())"
    )
    root = FLOW.parent.parent
    done = subprocess.run(
        [*unshare, sys.executable, "-c", reader], cwd=root, capture_output=True, text=True, check=True
    )
    assert done.stdout.strip() == "0"
