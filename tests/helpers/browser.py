"""The report page in a real browser: Debian's Chromium, driven by Playwright."""

import shutil
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Literal

from playwright.sync_api import Dialog, Page, ViewportSize, sync_playwright

CHROMIUM = shutil.which("chromium") or shutil.which("chromium-browser") or shutil.which("google-chrome")

_FLAGS = [
    "--headless",
    "--no-sandbox",
    "--disable-gpu",
    "--disable-quic",
    "--no-first-run",
    "--disable-background-networking",
    "--disable-component-update",
    "--disable-sync",
]

_LOUD = ("error", "warning")


@contextmanager
def browser_page(
    path: Path, *, width: int = 1200, height: int = 900, theme: Literal["light", "dark"] = "light"
) -> Iterator[Page]:
    """Open a page from its file; an error on its console, or a request to anything but it, is a failure."""
    with sync_playwright() as playwright:
        browser = playwright.chromium.launch(executable_path=CHROMIUM, args=_FLAGS)
        size = ViewportSize(width=width, height=height)
        page = browser.new_page(viewport=size, color_scheme=theme)
        errors: list[str] = []

        def refuse_dialog(dialog: Dialog) -> None:
            errors.append(dialog.message)
            dialog.dismiss()

        page.on("console", lambda line: errors.append(line.text) if line.type in _LOUD else None)
        page.on("pageerror", lambda error: errors.append(str(error)))
        page.on("dialog", refuse_dialog)
        address = path.resolve().as_uri()
        page.on("request", lambda asked: errors.append(asked.url) if foreign(asked.url, address) else None)
        page.goto(address)
        yield page
        browser.close()
    assert not errors, errors


def foreign(url: str, address: str) -> bool:
    """Whether a request is for anything but the page itself or what it made."""
    return url.split("#")[0] != address and not url.startswith("blob:")
