"""The page of Result.report in a real browser, chromium by Playwright: pointing, clicking, zooming, printing."""

import shutil
from pathlib import Path

import halfopen
import pytest

pytest.importorskip("plotly", reason="reports need pip install 'halfopen[report]'")
sync_api = pytest.importorskip("playwright.sync_api", reason="the page is clicked through by pip install playwright")

SCENARIOS = Path(__file__).resolve().parents[3] / "scenarios"
CHROMIUM = shutil.which("chromium")

pytestmark = pytest.mark.skipif(
    CHROMIUM is None, reason="there is no chromium to open the page in: apt-get install chromium"
)


@pytest.fixture(scope="module")
def browser():
    with sync_api.sync_playwright() as play:
        # No sandbox: it can't be had by root, and the page is our own.
        started = play.chromium.launch(executable_path=CHROMIUM, args=["--no-sandbox", "--disable-dev-shm-usage"])
        yield started
        started.close()


class Opened:
    """A page with what it complained about and what it asked for."""

    def __init__(self, browser, path, **options):
        self.context = browser.new_context(viewport={"width": 1100, "height": 900}, **options)
        self.page = self.context.new_page()
        self.complaints, self.requests = [], []
        self.page.on("console", lambda message: self.complaints.append(f"{message.type}: {message.text}"))
        self.page.on("pageerror", lambda error: self.complaints.append(str(error)))
        self.page.on("request", lambda request: self.requests.append(request.url))
        self.page.on("dialog", lambda dialog: self.complaints.append(dialog.message) or dialog.dismiss())
        self.page.goto(path.as_uri())
        self.page.wait_for_selector("#plot-in_flight .legendtoggle", state="attached")

    def hover(self, plot, across, down, begin):
        """Points at a place of a figure, as shares of its axes; the label that shows, once it begins so, or after 5 s."""
        area = self.page.locator(f"#plot-{plot} .nsewdrag")
        area.scroll_into_view_if_needed()
        box = area.bounding_box()
        self.page.mouse.move(box["x"] + box["width"] * across, box["y"] + box["height"] * down + 3)
        self.page.mouse.move(box["x"] + box["width"] * across, box["y"] + box["height"] * down)
        for _ in range(100):
            words = self.page.locator(f"#plot-{plot} .hoverlayer").evaluate(
                "layer => [...layer.querySelectorAll('text')].map(text => [...text.querySelectorAll('tspan.line')]"
                ".map(line => line.textContent).join('|') || text.textContent).join('|')"
            )
            if words.startswith(begin):
                break
            self.page.wait_for_timeout(50)
        self.page.mouse.move(0, 0)
        return words

    def wait_for(self, said):
        """By looking again: the page's policy lets nobody evaluate a string later on."""
        for _ in range(100):
            if self.page.evaluate(said):
                return
            self.page.wait_for_timeout(50)
        pytest.fail(f"after 5 s not true: {said}; the ranges are {self.ranges()}")

    def one_under_the_other(self):
        places = self.page.evaluate(
            "[...document.querySelectorAll('.drawing .nsewdrag')].map(a => a.getBoundingClientRect()).map(b => [b.left, b.width])"
        )
        return len(places) >= 5 and all(place == places[0] for place in places)

    def ranges(self):
        return self.page.evaluate(
            "[...document.querySelectorAll('.drawing')].map(plot => plot._fullLayout.xaxis.range)"
        )

    def wait_for_ranges(self, said):
        self.wait_for(
            f"[...document.querySelectorAll('.drawing')].every(plot => {{ const [from, to] = plot._fullLayout.xaxis.range; return {said}; }})"
        )


@pytest.fixture(scope="module")
def result():
    return halfopen.run(halfopen.Scenario.load(SCENARIOS / "brownout-one-of-four.json"))


@pytest.fixture
def opened(browser, result, tmp_path):
    result.report(tmp_path / "page.html")
    one = Opened(browser, tmp_path / "page.html")
    yield one
    assert one.complaints == []
    assert one.requests == [(tmp_path / "page.html").as_uri()], "no network"
    one.context.close()


def test_pointing_shows_the_values(opened, result):
    words = opened.hover("lanes", 45 / 120, 0.5 / 6, "10.0.0.1:8080|ejected|")
    assert words.split("|")[:2] == ["10.0.0.1:8080", "ejected"]
    last = [row for row in range(len(result.intervals)) if result.intervals["state"][row] == "ejected"][-1]
    assert words.split("|")[2].startswith(f"{result.intervals['from_ms'][last] / 1000:.10g} s to ")
    series = result.series
    for across in (31.25, 31.75):  # anywhere in the bin, which is five pixels wide
        words = opened.hover("requests", across / 120, 0.5, "31.5 s|")
        assert words.startswith("31.5 s|")
        assert f"failed : {series['failed'][31]:,} / s ({series['failed'][31]:,} in the bin)" in words
        assert f"arrived : {series['requests'][31]:,} / s" in words
        assert words.count("failed") == words.count("arrived") == 1
    assert f"p99 : {series['latency_p99_ms'][80]:.5g} ms" in opened.hover("latency", 80.5 / 120, 0.5, "80.5 s|")


def test_one_curve_is_seen_for_each_that_is_drawn(opened):
    counts = opened.page.evaluate(
        "[...document.querySelectorAll('.drawing')].slice(1).map(plot => { const all = [...plot.querySelectorAll('.scatterlayer .trace')];"
        " return [plot.querySelectorAll('.legendtoggle').length, all.filter(t => getComputedStyle(t).display !== 'none').length, all.length]; })"
    )
    assert counts == [[n, n, 2 * n] for n in (3, 3, 4, 1)]


def test_a_click_on_a_legend_hides_and_shows(opened):
    def shown():
        return opened.page.evaluate(
            "document.querySelector('#plot-lanes')._fullData.filter(t => t.visible === true).map(t => t.name)"
        )

    before = shown()
    assert before == ["healthy", "ejected", "half-open", "fault active"]
    bars = opened.page.locator("#plot-lanes .barlayer .point")
    count = bars.count()
    opened.page.locator("#plot-lanes .legendtoggle").nth(1).click()
    opened.wait_for(f"document.querySelectorAll('#plot-lanes .barlayer .point').length < {count}")
    assert shown() == ["healthy", "half-open", "fault active"]
    opened.page.wait_for_timeout(500)  # or it would be a double click, which shows one alone
    opened.page.locator("#plot-lanes .legendtoggle").nth(1).click()
    opened.wait_for(f"document.querySelectorAll('#plot-lanes .barlayer .point').length === {count}")
    assert shown() == before


def test_all_figures_have_one_time_axis(opened):
    assert opened.ranges() == [[0, 120]] * 5
    assert opened.one_under_the_other()
    box = opened.page.locator("#plot-requests .nsewdrag").bounding_box()
    opened.page.mouse.move(box["x"] + box["width"] / 4, box["y"] + 40)
    opened.page.mouse.down()
    opened.page.mouse.move(box["x"] + box["width"] / 2, box["y"] + 50, steps=5)
    opened.page.mouse.up()
    opened.wait_for_ranges("Math.abs(from - 30) < 1 && Math.abs(to - 60) < 1")
    opened.page.locator("#plot-latency .nsewdrag").dblclick()
    opened.wait_for_ranges("from === 0 && to === 120")
    opened.page.locator("button[data-t]").first.click()
    opened.wait_for_ranges("from > 27 && from < 27.1 && to > 33 && to < 33.1")


def test_it_prints(opened):
    printed = opened.page.pdf(prefer_css_page_size=True)
    assert printed.startswith(b"%PDF") and len(printed) > 20_000
    opened.page.emulate_media(media="print")
    assert opened.page.locator(".how").is_hidden()
    wide = opened.page.evaluate(
        "Math.max(...[...document.querySelectorAll('.drawing .main-svg')].map(svg => svg.getBoundingClientRect().right))"
    )
    assert wide <= 1100, "nothing over the edge of a sheet"


@pytest.mark.parametrize("scheme, paper", [("light", "rgb(255, 255, 255)"), ("dark", "rgb(13, 17, 23)")])
def test_light_and_dark_can_both_be_read(browser, result, scheme, paper, tmp_path):
    result.report(tmp_path / "page.html")
    one = Opened(browser, tmp_path / "page.html", color_scheme=scheme)
    assert one.page.evaluate("getComputedStyle(document.body).backgroundColor") == paper
    inks = one.page.evaluate(
        "[...document.querySelectorAll('.drawing .xtick text, .drawing .legendtext')].map(t => getComputedStyle(t).fill)"
    )
    body = one.page.evaluate("getComputedStyle(document.body).color")
    assert inks and set(inks) == {body} and body != paper
    assert one.page.screenshot(full_page=True).startswith(b"\x89PNG")
    assert one.complaints == []
    one.context.close()


def test_no_name_is_run(browser, tmp_path):
    name = "</script><script>alert(1)</script><img src=x onerror=alert(2)><b>%{y}"
    halfopen.run(halfopen.Scenario.from_dict({
        "name": name, "question": name, "duration_ms": 2000,
        "upstreams": [
            {"name": name, "endpoints": [{"address": "10.0.0.1", "port": 80}], "health": {"consecutive_failures": 1}},
            {"name": "b", "endpoints": [{"address": "10.0.0.2", "port": 80}]},
        ],
        "endpoints": {"10.0.0.1:80": {"faults": [{"error": {"ratio": 1}}]}},
        "traffic": [{"upstream": name, "every_ms": 50}],
    })).report(tmp_path / "page.html")  # fmt: skip
    one = Opened(browser, tmp_path / "page.html")
    assert one.page.locator("h1").text_content() == name
    assert one.page.title().startswith(name)
    assert "</script><script>alert(1)" in one.page.locator("#plot-lanes .ytick text").first.text_content()
    assert name[:14] in one.hover("lanes", 0.5, 1.5 / 6, name[:14])
    assert one.page.locator("img").count() == 0
    assert one.one_under_the_other(), "whatever the names"
    assert one.complaints == []
    assert len(one.requests) == 1
    one.context.close()
