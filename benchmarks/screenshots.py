"""Pictures of the report page for the docs: ``python -m benchmarks.screenshots PAGE docs/figures``."""

import sys
from pathlib import Path
from typing import Literal

from tests.helpers.browser import browser_page

SHOTS: tuple[tuple[str, str, tuple[int, int], Literal["light", "dark"]], ...] = (
    ("report-classes", "classes", (1280, 900), "light"),
    ("report-classes-dark", "classes", (1280, 900), "dark"),
    ("report-history", "search-history", (1280, 900), "light"),
    ("report-models", "models", (1280, 620), "light"),
    ("report-text", "text", (1280, 900), "light"),
    ("report-text-dark", "text", (1280, 900), "dark"),
    ("report-filtering", "filtering", (1280, 900), "light"),
    ("report-paper", "paper", (1280, 1000), "light"),
    ("report-classes-narrow", "classes", (360, 1000), "light"),
    ("report-text-narrow", "text", (360, 1000), "dark"),
    ("report-filtering-narrow", "filtering", (360, 1000), "light"),
)


def main() -> None:
    source, folder = Path(sys.argv[1]), Path(sys.argv[2])
    for name, tab, (width, height), theme in SHOTS:
        with browser_page(source, width=width, height=height, theme=theme) as page:
            if page.locator(f"#tab-{tab}").count() == 0:
                continue
            page.click(f"#tab-{tab}")
            if tab == "classes":
                page.fill("#search", "monday")
                page.press("#search", "Enter")
            if tab == "text":
                page.hover(".text p:nth-of-type(2) .word:nth-of-type(4)")
            page.evaluate("scrollTo(0, 0)")
            page.wait_for_timeout(300)
            page.screenshot(path=folder / f"{name}.png")
            print(folder / f"{name}.png")


if __name__ == "__main__":
    main()
