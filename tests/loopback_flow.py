"""Runs the whole page in a network namespace that has only loopback, and prints what was tried elsewhere.

Started by ``test_privacy.py`` inside ``unshare --net``. ``app.py`` runs as a person runs it, Chromium beside it in the same
namespace; the kernel counts every connection and datagram of every process for which there is no route. Prints one JSON
object: the answer that was shown, and the counts before and after.
"""

from __future__ import annotations

import json
import os
import re
import shutil
import subprocess
import sys
import tempfile
from pathlib import Path

from playwright.sync_api import Page, sync_playwright

ROOT = Path(__file__).parent.parent

# Chromium has errands of its own; these are told to stay at home, so that what is counted is Footnote's.
QUIET_CHROMIUM = [
    "--no-sandbox",
    "--disable-background-networking",
    "--disable-component-update",
    "--disable-sync",
    "--disable-quic",
    "--no-first-run",
    "--host-resolver-rules=MAP * ~NOTFOUND, EXCLUDE 127.0.0.1",
]


def attempts() -> int:
    """Connections and datagrams without a route, over IPv4 and IPv6, since the namespace began."""
    names, values = (
        line.split()[1:] for line in Path("/proc/net/snmp").read_text().splitlines() if line.startswith("Ip:")
    )
    six = re.search(r"Ip6OutNoRoutes\s+(\d+)", Path("/proc/net/snmp6").read_text())
    return int(dict(zip(names, values, strict=True))["OutNoRoutes"]) + (int(six[1]) if six else 0)


def main() -> None:
    """Indexes the samples, asks, opens a citation, reads the diagnostics; then one connection that must be counted."""
    subprocess.run(["ip", "link", "set", "lo", "up"], check=True)
    # The one errand that no switch of Chromium's stops: it opens a socket to this address, and sends nothing, to see
    # whether there is IPv6. A route for it alone keeps it out of the count.
    subprocess.run(["ip", "-6", "route", "add", "2001:4860:4860::8888/128", "dev", "lo"], check=True)
    before = attempts()
    with tempfile.TemporaryDirectory() as home:
        environment = {**os.environ, "FOOTNOTE_HOME": home, "FOOTNOTE_PORT": "0", "FOOTNOTE_CONTEXT_TOKENS": "4096"}
        app = subprocess.Popen([sys.executable, "app.py"], cwd=ROOT, env=environment, stdout=subprocess.PIPE, text=True)
        try:
            assert app.stdout is not None
            address = re.search(r"http://127\.0\.0\.1:\d+", app.stdout.readline())
            assert address, "the page did not start"
            with sync_playwright() as playwright:
                chromium = shutil.which("chromium") or "chromium"
                browser = playwright.chromium.launch(executable_path=chromium, args=QUIET_CHROMIUM)
                answer = use(browser.new_page(), address.group())
                browser.close()
        finally:
            app.terminate()
            app.wait(30)
    after = attempts()
    subprocess.run([sys.executable, "-c", "import socket; socket.create_connection(('192.0.2.1', 80))"], check=False)
    print(json.dumps({"answer": answer, "tried": after - before, "control": attempts() - after}))


def use(page: Page, address: str) -> str:
    """What a person does in the first five minutes; returns the answer shown."""
    page.set_default_timeout(120_000)
    page.goto(address)
    page.click("[data-do=sample]")
    page.locator(".fn-example").first.wait_for()
    field = page.locator("#question textarea")
    field.fill("How often do the wipers sweep the optical window?")
    field.press("Enter")
    page.locator("[data-do=inspect]").first.wait_for()
    answer = page.locator(".fn-text").first.inner_text()
    page.locator(".fn-text button[data-cite]").first.click()
    page.locator("details.fn-card[open]").wait_for()
    page.click("[data-do=inspect]")
    page.locator("#report .fn-tile").first.wait_for()
    page.get_by_role("tab", name="This machine").click()
    page.locator("#health li").first.wait_for()
    return answer


if __name__ == "__main__":
    main()
