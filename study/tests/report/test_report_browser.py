"""The page in headless Chromium: script, style, downloads, printing."""

from __future__ import annotations

import base64
import csv
import io
import shutil
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from longshore_study.report.facts import gather_facts
from longshore_study.report.page import build_page
from longshore_study.store import records
from longshore_study.store.launch_store import Store
from longshore_study.store.selection import sides
from report_data import (
    GUIDELINES,
    compared_halobench,
    envelope,
    header_of,
    result,
    write_failure,
    write_halobench,
    write_study,
)

webdriver = pytest.importorskip("selenium.webdriver", reason="selenium is not installed (pip install selenium)")

CHROMIUM = shutil.which("chromium") or shutil.which("chromium-browser") or shutil.which("google-chrome")
DRIVER = shutil.which("chromedriver")
if not (CHROMIUM and DRIVER):
    pytest.skip("no browser: install the packages chromium and chromium-driver", allow_module_level=True)

pytestmark = pytest.mark.browser
OPTIONS = [
    "--headless=new",
    "--no-sandbox",
    "--disable-gpu",
    "--disable-quic",
    "--no-first-run",
    "--disable-background-networking",
    "--disable-component-update",
    "--disable-sync",
    "--disable-dev-shm-usage",
    "--hide-scrollbars",
]


class Browser:
    """The operations of a browser that these tests need."""

    def __init__(self, folder: Path) -> None:
        from selenium.webdriver.chrome.options import Options  # noqa: PLC0415 - only with a browser
        from selenium.webdriver.chrome.service import Service  # noqa: PLC0415

        options = Options()
        for argument in OPTIONS:
            options.add_argument(argument)
        options.add_argument(f"--user-data-dir={folder / 'profile'}")
        options.binary_location = CHROMIUM or ""
        options.set_capability("goog:loggingPrefs", {"browser": "ALL", "performance": "ALL"})
        options.add_experimental_option("prefs", {"download.default_directory": str(folder / "downloads")})
        self.driver: Any = webdriver.Chrome(options=options, service=Service(DRIVER))
        self.downloads = folder / "downloads"

    def show(self, page: Path, *, width: int = 1200, scheme: str = "light") -> None:
        features = [{"name": "prefers-color-scheme", "value": scheme}]
        self.driver.execute_cdp_cmd("Emulation.setEmulatedMedia", {"features": features})
        metrics = {"width": width, "height": 900, "deviceScaleFactor": 1, "mobile": False}
        self.driver.execute_cdp_cmd("Emulation.setDeviceMetricsOverride", metrics)
        self.driver.get(page.as_uri())

    def evaluate(self, script: str, *arguments: object) -> Any:
        return self.driver.execute_script(script, *arguments)

    def messages(self) -> list[str]:
        return [entry["message"] for entry in self.driver.get_log("browser")]


@pytest.fixture(scope="module")
def browser(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Browser]:
    started = Browser(tmp_path_factory.mktemp("browser"))
    yield started
    started.driver.quit()


@pytest.fixture(scope="module")
def pages(tmp_path_factory: pytest.TempPathFactory) -> dict[str, Path]:
    folder = tmp_path_factory.mktemp("pages")
    store = write_study(folder / "solo")
    write_failure(store)
    solo = gather_facts(sides(store, ["quick"]), None, {"quick": GUIDELINES})
    store = write_halobench(folder / "compared", "reference", "<script>alert(1)</script>")
    names = ["reference", "<script>alert(1)</script>"]
    compared = gather_facts(sides(store, names), compared_halobench(*names), {"new": GUIDELINES})
    store = Store(folder / "sizes")
    sizes = [1000 * 2**k for k in range(13)]
    results = [result("stream", {"kernel": "triad", "elements": n}, "bandwidth", 10.0, "GB/s") for n in sizes]
    cell = {"transport": "threads", "ranks": 4}
    lines = [records.dump(r) for r in (header_of(cell), *results, records.end_record())]
    store.write_launch(envelope("sizes", "sizes", "day", cell), lines)
    many = gather_facts(sides(store, ["sizes"]))
    written = {}
    for name, facts in (("solo", solo), ("compared", compared), ("sizes", many)):
        written[name] = folder / f"{name}.html"
        written[name].write_text(build_page(facts), encoding="utf-8")
    return written


@pytest.mark.parametrize("name", ["solo", "compared"])
def test_the_browser_reports_no_error(browser: Browser, pages: dict[str, Path], name: str) -> None:
    browser.show(pages[name])
    assert browser.messages() == []
    assert browser.evaluate("return document.title")
    # The script of the page has run: it shows the controls that need a script.
    assert browser.evaluate("return document.querySelectorAll('button.sorting').length") > 3


@pytest.mark.parametrize("name", ["solo", "compared"])
@pytest.mark.parametrize("width", [400, 800, 1200])
def test_every_section_is_visible_and_nothing_is_wider_than_the_page(
    browser: Browser, pages: dict[str, Path], name: str, width: int
) -> None:
    browser.show(pages[name], width=width)
    boxes = browser.evaluate(
        "return [...document.querySelectorAll('section')].map(s => [s.id, s.getBoundingClientRect().height])"
    )
    assert len(boxes) >= 9
    assert all(height > 40 for _, height in boxes), boxes
    assert browser.evaluate("return document.documentElement.scrollWidth") <= width


OVERLAPS = """
const labels = [...document.querySelectorAll('svg')].map(svg => [...svg.querySelectorAll('text.tick')]);
const found = [];
for (const texts of labels) {
  const boxes = texts.map(t => [t.textContent, t.getBoundingClientRect()]).filter(([, b]) => b.width > 0);
  for (let i = 0; i < boxes.length; i++) for (let j = i + 1; j < boxes.length; j++) {
    const [a, b] = [boxes[i][1], boxes[j][1]];
    const apart = a.left >= b.right || b.left >= a.right || a.top >= b.bottom || b.top >= a.bottom;
    if (!apart) found.push([boxes[i][0], boxes[j][0]]);
  }
}
return [labels.flat().length, found];
"""


@pytest.mark.parametrize("name", ["solo", "compared", "sizes"])
@pytest.mark.parametrize("width", [400, 1200])
def test_no_two_labels_of_an_axis_overlap(browser: Browser, pages: dict[str, Path], name: str, width: int) -> None:
    browser.show(pages[name], width=width)
    count, found = browser.evaluate(OVERLAPS)
    assert count >= 10
    assert found == []


def test_dark_mode_is_dark_and_light_mode_light(browser: Browser, pages: dict[str, Path]) -> None:
    shades = {}
    for scheme in ("light", "dark"):
        browser.show(pages["solo"], scheme=scheme)
        colours = browser.evaluate(
            "const s = getComputedStyle(document.body); return [s.backgroundColor, s.color].map(c => c.match(/\\d+/g))"
        )
        shades[scheme] = [sum(int(part) for part in colour[:3]) / 3 for colour in colours]
    assert shades["light"][0] > 240
    assert shades["light"][1] < 60
    assert shades["dark"][0] < 40
    assert shades["dark"][1] > 200


def test_the_download_link_gives_the_data(browser: Browser, pages: dict[str, Path]) -> None:
    browser.show(pages["solo"])
    # The browser itself follows the link; the policy of the page must allow it.
    browser.evaluate("document.querySelector('a[download=\"figures.csv\"]').click()")
    target = browser.downloads / "figures.csv"
    for _ in range(100):
        if target.exists() and target.stat().st_size:
            break
        browser.driver.execute_async_script("setTimeout(arguments[0], 50)")
    rows = list(csv.DictReader(io.StringIO(target.read_text(encoding="utf-8"))))
    assert len(rows) == 230
    assert {row["side"] for row in rows} == {"quick"}


def test_rows_can_be_filtered_and_sorted(browser: Browser, pages: dict[str, Path]) -> None:
    browser.show(pages["compared"])
    shown = (
        "return [...document.querySelectorAll('#ratios tbody tr')].filter(r => r.offsetHeight)"
        ".map(r => r.children[0].textContent)"
    )
    assert len(browser.evaluate(shown)) == 8
    browser.evaluate(
        "const box = document.querySelector('#ratios input[type=search]'); box.value = 'persist';"
        "box.dispatchEvent(new Event('input', {bubbles: true}))"
    )
    assert browser.evaluate(shown) == ["persistent"]
    browser.show(pages["compared"])
    browser.evaluate(
        "document.querySelectorAll('#ratios button.sorting')[1].click()"
    )  # the reference's figures, smallest first
    assert browser.evaluate(shown)[:2] == ["sendrecv", "persistent"]
    browser.evaluate("document.querySelectorAll('#ratios button.sorting')[1].click()")
    assert browser.evaluate(shown)[0] == "neighbor"


def test_without_script_everything_is_visible(browser: Browser, pages: dict[str, Path]) -> None:
    browser.driver.execute_cdp_cmd("Emulation.setScriptExecutionDisabled", {"value": True})
    try:
        browser.show(pages["compared"])
        nodes = browser.driver.find_elements("css selector", "#ratios tbody tr")
        assert len(nodes) == 8
        assert all(node.is_displayed() for node in nodes)
        # A form that needs a script is not shown.
        assert not browser.driver.find_element("css selector", "form.filter").is_displayed()
    finally:
        browser.driver.execute_cdp_cmd("Emulation.setScriptExecutionDisabled", {"value": False})


def test_the_margin_band_of_the_persistent_row_is_right_of_its_mark_on_the_screen(
    browser: Browser, pages: dict[str, Path]
) -> None:
    for width in (400, 1200):
        browser.show(pages["compared"], width=width)
        band, mark, waitall = browser.evaluate(
            "const row = n => [...document.querySelectorAll('#ratios tbody tr')].find(r => r.textContent.includes(n));"
            "const box = e => { const b = e.getBoundingClientRect(); return [b.left, b.right]; };"
            "return [box(row('persistent').querySelector('.margin')), box(row('persistent').querySelector('use')),"
            " box(row('waitall').querySelector('use'))]"
        )
        assert mark[1] < band[0]
        assert band[0] <= (waitall[0] + waitall[1]) / 2 <= band[1]


def test_it_prints_on_few_pages_in_dark_ink(browser: Browser, pages: dict[str, Path]) -> None:
    browser.show(pages["compared"], scheme="dark")
    printed = browser.driver.execute_cdp_cmd("Page.printToPDF", {"preferCSSPageSize": True})
    pdf = base64.b64decode(printed["data"])
    assert pdf.startswith(b"%PDF")
    assert 1 <= pdf.count(b"/Type /Page\n") <= 5
    browser.driver.execute_cdp_cmd("Emulation.setEmulatedMedia", {"media": "print", "features": []})
    try:
        colour = browser.evaluate("return getComputedStyle(document.body).color.match(/\\d+/g).map(Number)")
        assert max(colour) < 60
        assert browser.evaluate("return getComputedStyle(document.querySelector('nav')).display") == "none"
    finally:
        browser.driver.execute_cdp_cmd("Emulation.setEmulatedMedia", {"media": "", "features": []})


def test_every_control_is_reached_by_the_keyboard(browser: Browser, pages: dict[str, Path]) -> None:
    from selenium.webdriver.common.keys import Keys  # noqa: PLC0415 - only with a browser

    browser.show(pages["compared"])
    wanted = browser.evaluate(
        "return document.querySelectorAll('a[href], button, input, summary, [tabindex=\"0\"]').length"
    )
    assert wanted > 20
    body = browser.driver.find_element("css selector", "body")
    body.send_keys(Keys.TAB)
    assert browser.evaluate("return document.activeElement.className") == "skip"
    reached = set()
    for _ in range(wanted + 5):
        reached.add(
            browser.evaluate("const a = document.activeElement; return a.id + a.className + a.textContent + a.value")
        )
        browser.driver.switch_to.active_element.send_keys(Keys.TAB)
    assert any("persistent" not in text and "figures.csv" in text for text in reached)
    assert any("Variant" in text for text in reached)
