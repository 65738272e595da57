"""The report in headless Chromium: axe-core, widths, keyboard, sorting, dark and light."""

from importlib.util import find_spec
from pathlib import Path

import pytest
from chromium import Browser

WIDTHS = {"desktop": 1280, "phone": 360}
ENTER, TAB = ("Enter", 13, "\r"), ("Tab", 9)


@pytest.fixture(scope="module")
def browser(tmp_path_factory):
    with Browser(tmp_path_factory.mktemp("chromium")) as started:
        yield started


@pytest.fixture(scope="module")
def page(request, tmp_path_factory):
    """Return the report to look at: one that is named, or that of a made-up study."""
    given = request.config.getoption("--report")
    if given:
        return given
    from sample_study import make

    from poolbias.figures import style
    from poolbias.report.page import build

    folder = tmp_path_factory.mktemp("study")
    with pytest.MonkeyPatch.context() as context:
        context.chdir(folder)
        contents, path = make(folder, svg=drawn(style, folder))
        path.write_text(build(contents, path), encoding="utf-8")
        return path.resolve()


def drawn(style, folder):
    """Return a figure as matplotlib draws it."""
    from matplotlib.figure import Figure

    with style.context():
        figure = Figure(figsize=(style.WIDTH, 3))
        figure.add_subplot().plot([0, 1, 2], [0.3, 0.2, 0.5], **style.LINES[1])
    return style.save(figure, folder / "drawn")[1].read_text()


@pytest.fixture(scope="module")
def axe():
    spec = find_spec("axe_playwright_python")
    assert spec is not None, "axe-core is missing; run tests/browser/install.sh"
    return (Path(spec.origin).parent / "axe.min.js").read_text(encoding="utf-8")


@pytest.mark.parametrize("dark", [False, True], ids=["light", "dark"])
@pytest.mark.parametrize("view", WIDTHS)
def test_axe_finds_nothing_serious(browser, page, axe, view, dark, request):
    browser.open(page, WIDTHS[view], dark=dark)
    browser.evaluate("for (const d of document.querySelectorAll('details')) d.open = true")
    browser.evaluate(f"{axe}; 0")
    found = browser.evaluate("axe.run(document, {resultTypes: ['violations']})")
    told = [
        f"{rule['impact']} {rule['id']}: {rule['nodes'][0]['html'][:200]}"
        for rule in found["violations"]
    ]
    assert [line for line in told if line.startswith(("serious", "critical"))] == []
    if folder := request.config.getoption("--screenshots"):
        browser.screenshot(folder / f"{view}-{'dark' if dark else 'light'}.png")


def test_axe_would_find_a_fault(browser, page, axe):
    browser.open(page, 1280)
    browser.evaluate("document.querySelector('h2').style.color = '#eee'")
    browser.evaluate("document.documentElement.removeAttribute('lang')")
    browser.evaluate(f"{axe}; 0")
    found = browser.evaluate("axe.run(document, {resultTypes: ['violations']})")
    assert {"color-contrast", "html-has-lang"} <= {rule["id"] for rule in found["violations"]}


@pytest.mark.parametrize("view", WIDTHS)
def test_the_page_fits_the_window_and_tables_scroll_by_themselves(browser, page, view):
    browser.open(page, WIDTHS[view])
    browser.evaluate("for (const d of document.querySelectorAll('details')) d.open = true")
    size = browser.evaluate("[document.documentElement.scrollWidth, innerWidth]")
    assert size[0] <= size[1] == WIDTHS[view]
    wide = browser.evaluate(
        "[...document.querySelectorAll('.scroll')]"
        ".filter(e => e.scrollWidth > e.clientWidth).length"
    )
    assert wide > 0 or view == "desktop"


def test_nothing_is_asked_of_the_network_and_nothing_fails(browser, page):
    browser.open(page, 1280)
    browser.evaluate("new Promise(done => setTimeout(done, 300))")
    asked = [
        event["params"]["request"]["url"]
        for event in browser.events
        if event.get("method") == "Network.requestWillBeSent"
    ]
    assert [url.rpartition("/")[2] for url in asked] == [page.name]
    wrong = [
        e
        for e in browser.events
        if e.get("method") in ("Runtime.exceptionThrown", "Log.entryAdded")
    ]
    assert wrong == []


def test_dark_and_light_differ(browser, page):
    grounds = []
    for dark in (False, True):
        browser.open(page, 1280, dark=dark)
        grounds.append(browser.evaluate("getComputedStyle(document.body).backgroundColor"))
    assert grounds == ["rgb(255, 255, 255)", "rgb(20, 23, 27)"]


def focused(browser):
    return browser.evaluate(
        "(e => ({tag: e.tagName, text: e.textContent.trim(), href: e.getAttribute('href'),"
        " outline: getComputedStyle(e).outlineStyle, top: e.getBoundingClientRect().top}))"
        "(document.activeElement)"
    )


def test_the_first_key_leads_past_the_contents(browser, page):
    browser.open(page, 1280)
    browser.press(*TAB)
    first = focused(browser)
    assert (first["tag"], first["href"]) == ("A", "#verdicts-of-claims")
    assert first["top"] >= 0
    assert first["outline"] == "solid"
    browser.press(*ENTER)
    assert browser.evaluate("document.activeElement.id") == "verdicts-of-claims"
    browser.press(*TAB)
    assert focused(browser)["tag"] != "A" or not focused(browser)["href"].startswith("#figures")


def test_every_control_is_reached_by_the_keyboard(browser, page):
    browser.open(page, 1280)
    count = browser.evaluate(
        "[...document.querySelectorAll('a[href], button, summary, [tabindex=\"0\"]')]"
        ".filter(e => e.checkVisibility()).length"
    )
    seen = browser.evaluate(
        "window.seen = new Set(); addEventListener('focusin', e => seen.add(e.target)); 0"
    )
    for _ in range(min(count, 120)):
        browser.press(*TAB)
    seen = browser.evaluate("seen.size")
    assert seen == min(count, 120) > 20


def column(browser, number):
    return browser.evaluate(
        f"[...document.querySelector('#table-verdicts').tBodies[0].rows]"
        f".map(row => row.cells[{number}].dataset.key)"
    )


def test_a_table_is_sorted_from_the_keyboard_and_says_so(browser, page):
    browser.open(page, 1280)
    heading = "document.querySelector('#table-verdicts thead th:nth-child(6)')"
    before = column(browser, 5)
    assert len(before) > 1
    browser.evaluate(f"{heading}.querySelector('button').focus()")
    browser.press(*ENTER)
    assert browser.evaluate(f"{heading}.getAttribute('aria-sort')") == "ascending"
    ascending = [int(key) for key in column(browser, 5)]
    assert ascending == sorted(map(int, before))
    browser.press(*ENTER)
    assert browser.evaluate(f"{heading}.getAttribute('aria-sort')") == "descending"
    assert [int(key) for key in column(browser, 5)] == ascending[::-1] or len(set(ascending)) == 1
    said = browser.evaluate("document.getElementById('sorted').textContent")
    assert said == "Sorted by not run, descending."
    assert browser.evaluate("document.querySelectorAll('[aria-sort]').length") == 1


def test_numbers_sort_as_numbers_and_what_is_lacking_comes_last(browser, page):
    browser.open(page, 1280)
    found = browser.evaluate(
        """(() => {
          const table = document.querySelector('#table-verdicts').cloneNode(true);
          document.body.append(table);
          const rows = ['9', '', '-0.5', '10', '1e-3'].map(key => {
            const row = table.tBodies[0].insertRow();
            for (let i = 0; i < 6; i++) row.insertCell().dataset.key = key;
            return row;
          });
          table.tBodies[0].replaceChildren(...rows);
          const keys = () => [...table.tBodies[0].rows].map(row => row.cells[0].dataset.key);
          sort(table, 0, table.tHead.rows[0].cells[0]);
          const up = keys();
          sort(table, 0, table.tHead.rows[0].cells[0]);
          return [up, keys()];
        })()"""
    )
    assert found[0] == ["-0.5", "1e-3", "9", "10", ""]
    assert found[1] == ["10", "9", "1e-3", "-0.5", ""]


def test_the_page_is_whole_without_its_script(browser, page):
    browser.call("Emulation.setScriptExecutionDisabled", value=True)
    try:
        browser.open(page, 1280)
        words = browser.evaluate("document.querySelector('#table-verdicts').innerText")
    finally:
        browser.call("Emulation.setScriptExecutionDisabled", value=False)
    assert "reproduced" in words
    assert "↕" not in words
