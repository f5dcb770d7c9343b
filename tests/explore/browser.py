#!/usr/bin/env python3
"""Shows pages of `make ... explore` in headless Chromium and prints errors.

    browser.py [--shots DIR] PAGE.html...

For each page, width and theme it goes through the views and through a line of each kind of access, and prints tab-separated lines
"what<TAB>page and state<TAB>detail", none where all is well; of all pages but the first only one width, unless TEST_ALL is set. Then, of what it did by keys and by touch, "key<TAB>page<TAB>what did not
happen"; and at the end "states<TAB>COUNT", in how many states it looked. Of a page, "opens<TAB>page<TAB>seconds" says what its
scripts and its layout take.
"""
import os
import sys

HERE = os.path.dirname(os.path.abspath(__file__))
sys.path.insert(0, os.path.join(HERE, ".."))
import chromium

LOOKS = ((360, "dark"), (1400, "light"))

# The states of a page: [[name, script], ...], a tab each, and one line for each kind of access that stands in a line of the file.
STATES = """
(() => {
    const states = VIEWS.map(([view, name]) => [name, `show({view: "${view}", at: 1e9})`]), kinds = new Set();
    for (const g of page.run.groups) {
        const kind = `${g.space} ${g.kind}`, line = page.run.lineIn(g.place, page.run.source);
        if (kinds.has(kind) || !line || !g.samples.length)
            continue;
        kinds.add(kind);
        states.push([kind, `chooseLine(${line}, true); show({key: ${JSON.stringify(g.key)}})`]);
    }
    return page.runs.length > 1 ? [...states, ["beside", 'chooseRun("both")']] : states;
})()
"""


def press(browser, key):
    for kind in ("keyDown", "keyUp"):
        text = {"text": key} if len(key) == 1 and kind == "keyDown" else {"text": "\r"} if key == "Enter" and kind == "keyDown" else {}
        browser.call("Input.dispatchKeyEvent", type=kind, key=key, code=key,
                     windowsVirtualKeyCode={"Enter": 13, "ArrowDown": 40, "ArrowRight": 39}.get(key, 0), **text)


def keys(browser):
    """What did not happen. The page is as it was opened, with a line chosen."""
    if not browser.evaluate("page.line > 0"):
        yield "no line is chosen when the page opens"
        return
    if not browser.evaluate('!page.run.opens || !page.run.files[page.run.source].text.includes(page.run.opens) || document.querySelector("tr.chosen").textContent.includes(page.run.opens)'):
        yield "the page opens on the line that its lesson names"
    if not browser.evaluate("""(() => {
        const row = document.querySelector("tr.chosen").getBoundingClientRect(), pane = document.getElementById("lines").getBoundingClientRect();
        return row.top >= pane.top && row.bottom <= pane.bottom;
    })()"""):
        yield "the chosen line is in sight"
    if not browser.evaluate("""(() => {
        const button = document.getElementById("theme").getBoundingClientRect();
        const around = text => { const range = document.createRange(); range.selectNodeContents(text); return [...range.getClientRects()]; };
        return [...around(document.getElementById("about")), ...around(document.getElementById("name"))].every(box => box.right <= button.left ||
            box.top >= button.bottom || box.bottom <= button.top);
    })()"""):
        yield "the button covers no text"
    browser.evaluate('document.querySelector("tr.chosen button.source").focus()')
    before = browser.evaluate("page.line")
    press(browser, "ArrowDown")
    press(browser, "Enter")
    after = browser.evaluate("page.line")
    if after <= before and browser.evaluate('document.activeElement.closest("tr").nextElementSibling !== null'):
        yield "Arrow down and Enter choose the next line"
    browser.evaluate("chooseLine(%d, true); page.block = page.warp = null; show({n: 0})" % before)
    kept = browser.evaluate('Number(document.querySelector("#detail input[type=range]").max)')
    press(browser, "n")
    if kept and browser.evaluate("page.n") != 1:
        yield "n goes to the next execution"
    warps = browser.evaluate('document.querySelector("#detail select[aria-label=Warp]").options.length')
    press(browser, "w")
    if warps > 1 and browser.evaluate("page.warp === null"):
        yield "w goes to the next warp"
    browser.evaluate('document.querySelector(".picture").focus()')
    press(browser, "ArrowRight")
    tip = browser.evaluate('document.querySelector(".picture [data-tip]").dataset.tip')
    if browser.evaluate('document.querySelector(".readout").textContent') != tip:
        yield "an arrow key says what a cell is"
    x, y = browser.evaluate("""(() => {
        const cell = [...document.querySelectorAll(".picture [data-tip]")].pop();
        cell.scrollIntoView({block: "center"});
        [...document.querySelectorAll(".readout")].pop().textContent = "";
        const box = cell.getBoundingClientRect();
        return [box.left + box.width / 2, box.top + box.height / 2];
    })()""")
    browser.call("Emulation.setTouchEmulationEnabled", enabled=True)
    browser.call("Input.dispatchTouchEvent", type="touchStart", touchPoints=[{"x": x, "y": y}])
    browser.call("Input.dispatchTouchEvent", type="touchEnd", touchPoints=[])
    browser.call("Emulation.setTouchEmulationEnabled", enabled=False)
    if not browser.evaluate('[...document.querySelectorAll(".readout")].pop().textContent'):
        yield "a touch says what a cell is"


def main():
    arguments = sys.argv[1:]
    shots = arguments[1] if arguments[0] == "--shots" else None
    with open(os.path.join(HERE, "measure.js"), encoding="utf-8") as file:
        measure = file.read()
    states, pages = 0, arguments[2:] if shots else arguments
    with chromium.Browser() as browser:
        for page in pages:
            url, title = "file://" + os.path.abspath(page), os.path.splitext(os.path.basename(page))[0]
            for width, theme in LOOKS if page == pages[0] or os.environ.get("TEST_ALL") else LOOKS[:1]:
                # The least of up to three times: other work on the processors lengthens some.
                seconds = []
                while not seconds or (min(seconds) >= 1 and len(seconds) < 3):
                    browser.show(url, width, theme)
                    metrics = {m["name"]: m["value"] for m in browser.call("Performance.getMetrics")["metrics"]}
                    seconds.append(sum(metrics[m] for m in ("ScriptDuration", "LayoutDuration", "RecalcStyleDuration")))
                print("opens\t%s\t%.3f" % (title, min(seconds)))
                for what in keys(browser) if (width, theme) == LOOKS[0] else ():
                    print("key\t%s\t%s" % (title, what))
                for name, script in browser.evaluate(STATES):
                    browser.evaluate(script)
                    where = "%s, %s, %d %s" % (title, name, width, theme)
                    states += 1
                    for what, detail in browser.evaluate(measure):
                        print("%s\t%s\t%s" % (what, where, detail))
                    if shots:
                        browser.picture(os.path.join(shots, where.replace(", ", "-").replace(" ", "-") + ".png"))
                for what, detail in chromium.complaints(browser.events, url):
                    print("%s\t%s\t%s" % (what, title, detail))
    print("states\t%d" % states)


main()
