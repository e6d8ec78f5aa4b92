"""The report page in a real Chromium: what people do with it, and that it does nothing else."""

from collections.abc import Iterator
from pathlib import Path

import pytest

import classgram
from tests.helpers.browser import CHROMIUM, browser_page
from tests.helpers.texts import random_lines

if CHROMIUM is None:
    pytest.skip("no Chromium: apt-get install chromium to test the report page", allow_module_level=True)

from playwright.sync_api import Page

HOSTILE = [
    "<script>window.broken=1</script> <img/src=x/onerror=alert(1)> the cat",
    "\"quoted\" 'words' &amp; &lt;b&gt; the dog </script><script>alert(2)</script>",
    "שלום עולם the cat 😀 👩‍👩‍👧 مرحبا بالعالم",
    "日本語 テキスト the dog \u2028\u2029x ﷽ ${alert(3)} {{4}}",
] * 5


@pytest.fixture(scope="module")
def made(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A page of classes, two models and a text with documents."""
    folder = tmp_path_factory.mktemp("report")
    lines = random_lines(1, 200)
    text = folder / "text.txt"
    text.write_text("\n\n".join(random_lines(2, 60)) + "\n", encoding="utf-8")
    result = classgram.cluster(lines, classes=6, threads=1)
    classes = classgram.train(lines, recipe="class", use_classes=result.partition, order=2)
    words = classgram.train(lines, recipe="kneser-ney", order=2)
    path = folder / "page.html"
    counts = classgram.count(lines)
    classgram.report(result, classes, words, text=text, counts=counts, output=path)
    return path


@pytest.fixture
def page(made: Path) -> Iterator[Page]:
    """The page, open; it fails for any error on the console and any request."""
    with browser_page(made) as page:
        yield page


def test_a_word_leads_to_its_class(page: Page) -> None:
    page.fill("#search", "w1")
    assert page.locator(".results button").count() > 1
    page.press("#search", "Enter")
    assert page.locator(".found bdi").inner_text() == "w1"
    assert page.locator(".panel h4").all_inner_texts()[1:3] == ["Typically before it", "Typically after it"]
    page.fill("#search", "zzz")
    assert page.locator(".search .status").inner_text() == "No word begins so."


def test_a_class_opens_from_the_map_the_list_and_the_keyboard(page: Page) -> None:
    page.locator(".cell").nth(2).click()
    second = page.locator(".panel h3").inner_text()
    page.locator(".list .link").nth(1).click()
    assert page.locator(".panel h3").inner_text() != second
    assert page.evaluate("document.activeElement.tagName") == "H3"
    page.locator(".cell").first.focus()
    page.keyboard.press("ArrowRight")
    page.keyboard.press("ArrowRight")
    page.keyboard.press("Enter")
    assert page.locator(".panel h3").inner_text() == second


def test_classes_are_sorted_filtered_and_saved(page: Page) -> None:
    def sizes() -> list[int]:
        return [int(cell) for cell in page.locator(".list tbody td:nth-child(3)").all_inner_texts()]

    page.select_option(".controls select", label="fewest words first")
    assert sizes() == sorted(sizes())
    page.fill("#filter", "w10")
    assert page.locator(".list tbody tr").count() == 1
    with page.expect_download() as download:
        page.click(".download")
    lines = download.value.path().read_text(encoding="utf-8").splitlines()
    assert lines[0] == "word\tclass\tcount"
    assert any(line.startswith("w10\t") for line in lines)


def test_the_tree_opens_and_closes(page: Page) -> None:
    tree = page.locator(".tree")
    before = tree.locator("li:visible").count()
    tree.locator('li[aria-expanded="false"] > .tree-label').first.click()
    assert tree.locator("li:visible").count() == before + 2
    page.keyboard.press("ArrowLeft")
    assert tree.locator("li:visible").count() == before
    page.keyboard.press("ArrowRight")
    assert tree.locator("li:visible").count() == before + 2


def test_a_word_of_the_text_tells_what_models_said(page: Page) -> None:
    page.click("#tab-text")
    chosen = page.locator(".text .word").nth(3)
    chosen.hover()
    assert page.locator(".details h3").inner_text().split()[0] == chosen.inner_text()
    rows = page.locator(".details tbody tr")
    assert rows.count() == 2
    assert "%" in rows.first.inner_text()
    page.locator(".text .word").first.focus()
    page.keyboard.press("ArrowRight")
    assert (
        page.locator(".details h3").inner_text().split()[0] == page.locator(".text .word").nth(1).inner_text()
    )
    assert page.locator("caption", has_text="Where ").count() == 2


def test_the_threshold_is_dragged(page: Page) -> None:
    page.click("#tab-filtering")
    status = page.locator("#panel-filtering .status")
    before = status.inner_text()
    assert "60 documents" in before
    box = page.locator(".threshold-box").bounding_box()
    assert box is not None
    page.mouse.move(box["x"] + box["width"] * 0.8, box["y"] + 100)
    page.mouse.down()
    page.mouse.move(box["x"] + box["width"] * 0.3, box["y"] + 100, steps=5)
    page.mouse.up()
    dragged = status.inner_text()
    assert dragged != before
    page.locator(".threshold").focus()
    page.keyboard.press("End")
    assert "60 of 60" in status.inner_text()
    assert page.locator(".examples").nth(1).locator("li").count() == 0
    assert "--keep-below" in page.locator("code").inner_text()


def test_models_and_history_are_drawn(page: Page) -> None:
    page.click("#tab-models")
    assert page.locator("#panel-models svg g[aria-label=bar] rect").count() == 4
    page.click("#tab-search-history")
    assert page.locator("#panel-search-history svg").count() == 2


def test_tabs_by_keyboard_and_names_for_screen_readers(page: Page) -> None:
    page.locator("#tab-classes").focus()
    page.keyboard.press("ArrowRight")
    assert page.locator("#tab-search-history").get_attribute("aria-selected") == "true"
    nameless = (
        "[...document.querySelectorAll('button, input, select, [role=tab]')].filter(one => "
        "!(one.innerText || one.getAttribute('aria-label') || one.labels?.length)).length"
    )
    assert page.evaluate(nameless) == 0


def test_the_theme_is_switched(page: Page) -> None:
    def background() -> str:
        return str(page.evaluate("getComputedStyle(document.body).backgroundColor"))

    light = background()
    page.click(".theme")
    assert background() == light
    page.click(".theme")
    assert background() != light


CONTRAST = """() => {
  const parts = (text) => (text.match(/[\\d.]+/g) ?? []).map(Number);
  const light = (rgb) => {
    const [r, g, b] = rgb.map((c) => (c /= 255) <= 0.03928 ? c / 12.92 : ((c + 0.055) / 1.055) ** 2.4);
    return 0.2126 * r + 0.7152 * g + 0.0722 * b;
  };
  const behind = (one) => {
    for (let at = one; at; at = at.parentElement) {
      const colour = parts(getComputedStyle(at).backgroundColor);
      if (colour.length === 3 || colour[3] === 1) return colour.slice(0, 3);
    }
    return [255, 255, 255];
  };
  const low = [];
  const walker = document.createTreeWalker(document.querySelector("body"), NodeFilter.SHOW_TEXT);
  while (walker.nextNode()) {
    const one = walker.currentNode.parentElement;
    if (!walker.currentNode.data.trim() || !one.checkVisibility()) continue;
    if (one.closest("script, style, noscript")) continue;
    const style = getComputedStyle(one);
    const ink = parts(one instanceof SVGElement ? style.fill : style.color).slice(0, 3);
    if (ink.length < 3) continue;
    const [a, b] = [light(ink), light(behind(one))].sort((x, y) => y - x);
    if ((a + 0.05) / (b + 0.05) < 4.5) low.push([one.tagName, one.textContent]);
  }
  return low;
}"""


@pytest.mark.parametrize("theme", ["light", "dark"])
def test_nothing_is_cut_at_360_pixels_and_all_can_be_read(made: Path, theme: str) -> None:
    with browser_page(made, width=360, height=800, theme=theme) as page:  # type: ignore[arg-type]
        for tab in page.locator("[role=tab]").all():
            tab.click()
            page.wait_for_timeout(100)
            assert page.evaluate("document.documentElement.scrollWidth") <= 360, tab.inner_text()
            assert page.evaluate(CONTRAST) == [], tab.inner_text()


def test_all_sections_are_printed(page: Page) -> None:
    page.evaluate("dispatchEvent(new Event('beforeprint'))")
    page.emulate_media(media="print")
    assert page.locator("[role=tabpanel]:visible").count() == 5


def test_hostile_words_are_shown_as_text_and_run_nothing(tmp_path: Path) -> None:
    text = tmp_path / "text.txt"
    text.write_text("\n".join(HOSTILE), encoding="utf-8")
    result = classgram.cluster(HOSTILE, classes=4, threads=1)
    model = classgram.train(HOSTILE, recipe="class", use_classes=result.partition, order=2)
    classgram.report(result, model, text=text, output=tmp_path / "page.html")
    with browser_page(tmp_path / "page.html") as page:
        for word in ("<script>window.broken=1</script>", "שלום", "😀", "日本語", "&amp;", '"quoted"'):
            page.fill("#search", word)
            page.press("#search", "Enter")
            assert page.locator(".found bdi").inner_text() == word
        page.click("#tab-text")
        assert "<img/src=x/onerror=alert(1)>" in page.locator(".text").inner_text()
        for tab in page.locator("[role=tab]").all():
            tab.click()
        assert page.locator("img").count() == 0
        assert page.evaluate("window.broken") is None
        assert page.locator("script").count() == 2
