#!/usr/bin/env python3
"""Shows a page in headless Chromium and prints what is wrong with it.

    browser.py PAGE.html OUT [--shots]

For each width and theme it prints tab-separated lines "what<TAB>where<TAB>detail", none where all is well; and at the end
"pages<TAB>COUNT" of the PDF, which is left in OUT with, on demand, a picture of each width and theme.

Chromium is driven by the DevTools protocol through a pipe, so that the standard library is enough.
"""
import base64
import json
import os
import re
import shutil
import subprocess
import sys
import tempfile

TIMEOUT_S = 60
# 541: where the page has just changed to wide drawings.
WIDTHS = (360, 541, 800, 1400)
THEMES = ("light", "dark")
# A4 without the margins that the page asks for, in CSS pixels.
PAPER = (680, 1001)

MEASURE = """
(() => {
    const wrong = [];
    const all = [...document.body.querySelectorAll('*')];
    const shown = e => e.getClientRects().length > 0;
    const name = e => e.tagName.toLowerCase() + (e.id ? '#' + e.id : '') + ' "' + (e.textContent || '').trim().slice(0, 40) + '"';
    const scrolls = e => e.closest('.wide, pre') !== null;
    const page = document.documentElement;
    if (page.scrollWidth > innerWidth)
        wrong.push(['overflow', 'the page is ' + page.scrollWidth + ' wide']);
    for (const e of all.filter(e => shown(e) && !scrolls(e) && !e.closest('svg *')))
        if (e.getBoundingClientRect().right > innerWidth + 0.5 || e.getBoundingClientRect().left < -0.5)
            wrong.push(['overflow', name(e)]);
    // Text that leaves its own picture.
    for (const svg of all.filter(e => e.tagName === 'svg' && shown(e))) {
        const frame = svg.getBoundingClientRect();
        for (const text of svg.querySelectorAll('text')) {
            const box = text.getBoundingClientRect();
            if (box.width && (box.left < frame.left - 1 || box.right > frame.right + 1 || box.top < frame.top - 1 ||
                              box.bottom > frame.bottom + 1))
                wrong.push(['cut', name(text) + ' in ' + svg.querySelector('title').textContent]);
        }
    }
    // Charts and drawings: type that is too small to read, texts that cover each other. A box is a line high; letters take 0.18 of the type
    // below the line they stand on and 0.73 above it.
    for (const svg of all.filter(e => e.matches('svg.chart, svg.drawing') && shown(e))) {
        const title = ' in ' + svg.querySelector('title').textContent;
        const texts = [...svg.querySelectorAll('text')].filter(t => t.textContent.trim()).map(t => {
            const box = t.getBBox(), at = t.getScreenCTM(), size = parseFloat(getComputedStyle(t).fontSize) * at.a;
            const left = at.e + box.x * at.a, line = at.f + (t.y.baseVal.length && t.y.baseVal[0].value) * at.d;
            return {t, size, left, right: left + box.width * at.a, top: line - 0.73 * size, bottom: line + 0.18 * size};
        });
        for (const a of texts)
            if (a.size < 11)
                wrong.push(['small', name(a.t) + ' has ' + a.size.toFixed(1) + ' pixels' + title]);
        texts.forEach((a, i) => texts.slice(0, i).forEach(b => {
            if (a.left < b.right - 1 && a.right > b.left + 1 && a.top < b.bottom - 1 && a.bottom > b.top + 1)
                wrong.push(['covered', name(a.t) + ' and ' + name(b.t) + title]);
        }));
    }
    const pictures = all.filter(e => /^(svg|img)$/.test(e.tagName) && !e.parentElement.closest('svg'));
    if (!pictures.some(shown))
        wrong.push(['alternative', 'no picture is shown']);
    for (const e of pictures) {
        const ids = (e.getAttribute('aria-labelledby') || '').split(' ').filter(Boolean);
        const said = ids.map(id => document.getElementById(id)).filter(t => t && e.contains(t) && t.textContent.trim());
        if (e.tagName === 'img' || e.getAttribute('role') !== 'img' || said.length < 2 || said.length !== ids.length)
            wrong.push(['alternative', name(e)]);
    }
    const ids = all.map(e => e.id).filter(Boolean);
    for (const id of new Set(ids.filter((id, i) => ids.indexOf(id) !== i)))
        wrong.push(['id', id]);
    for (const e of all)
        for (const a of ['href', 'xlink:href', 'clip-path', 'filter', 'marker-end', 'marker-start', 'fill']) {
            const value = e.getAttribute(a) || '';
            const target = value.match(/href$/.test(a) ? /^#(.+)/ : /url\\(["']?#([^"')]+)/);
            if (target && !document.getElementById(target[1]))
                wrong.push(['id', a + ' of ' + name(e) + ' refers to ' + target[1]]);
        }
    for (const h of all.filter(e => /^H[1-6]$/.test(e.tagName))) {
        const next = h.nextElementSibling;
        const level = e => +e.tagName[1];
        if (!next || (/^H[1-6]$/.test(next.tagName) && level(next) <= level(h)))
            wrong.push(['heading', name(h)]);
    }
    const rgb = text => (text.match(/[0-9.]+/g) || []).slice(0, 3).map(Number);
    const luminance = text => {
        const [r, g, b] = rgb(text).map(c => (c /= 255) <= 0.03928 ? c / 12.92 : ((c + 0.055) / 1.055) ** 2.4);
        return 0.2126 * r + 0.7152 * g + 0.0722 * b;
    };
    const paper = luminance(getComputedStyle(document.body).backgroundColor);
    if ((paper < 0.2) !== DARK)
        wrong.push(['theme', 'the paper is ' + getComputedStyle(document.body).backgroundColor]);
    for (const e of all.filter(e => /^(P|LI|H1|H2|H3|FIGCAPTION|TD|TH|A|CODE|SPAN|BUTTON)$/.test(e.tagName) && shown(e))) {
        const ground = e.closest('.new') || e.closest('pre');
        const panel = ground ? luminance(getComputedStyle(ground).backgroundColor) : paper;
        const ink = luminance(getComputedStyle(e).color);
        if ((Math.max(ink, panel) + 0.05) / (Math.min(ink, panel) + 0.05) < 4.5)
            wrong.push(['theme', 'too little contrast in ' + name(e)]);
    }
    // Of two drawings the one that belongs to the width; a chart is always shown, and its paper and its ink are the page's.
    for (const e of all.filter(e => e.matches('svg.wide, svg.phone')))
        if (shown(e) !== (e.matches('.phone') === innerWidth <= 540))
            wrong.push(['size', 'the other picture is shown: ' + e.getAttribute('class') + ' ' + e.querySelector('title').textContent]);
    const phones = document.querySelectorAll('svg.phone.drawing').length;
    if (!phones || phones !== document.querySelectorAll('svg.wide.drawing').length)
        wrong.push(['size', phones + ' drawings for a phone']);
    for (const e of all.filter(e => e.matches('svg.chart'))) {
        const ground = luminance(getComputedStyle(e.querySelector('rect')).fill);
        if (!shown(e) || (ground < 0.2) !== DARK)
            wrong.push(['theme', 'the paper of the chart ' + e.querySelector('title').textContent]);
        for (const text of e.querySelectorAll('text')) {
            const ink = luminance(getComputedStyle(text).fill);
            if ((Math.max(ink, ground) + 0.05) / (Math.min(ink, ground) + 0.05) < 4.5)
                wrong.push(['theme', 'too little contrast in ' + name(text) + ' of ' + e.querySelector('title').textContent]);
        }
    }
    return wrong;
})()
"""

# In print: what could be cut between two pages, or at the right margin.
MEASURE_PRINT = """
(() => {
    const wrong = [];
    const shown = e => e.getClientRects().length > 0;
    for (const e of [...document.querySelectorAll('svg')].filter(shown)) {
        const box = e.getBoundingClientRect();
        const figure = e.closest('figure') || e;
        if (figure.getBoundingClientRect().height > HEIGHT || getComputedStyle(figure).breakInside !== 'avoid' || box.width < 300)
            wrong.push(['print', 'may be cut: ' + e.textContent.trim().slice(0, 40)]);
        if (e.matches('.phone') || e.matches('.chart') && getComputedStyle(e.querySelector('rect')).fill !== 'rgb(255, 255, 255)')
            wrong.push(['print', 'dark or narrow on paper: ' + e.textContent.trim().slice(0, 40)]);
    }
    for (const e of document.querySelectorAll('pre, table'))
        if (e.scrollWidth > e.clientWidth + 1 || e.getBoundingClientRect().right > innerWidth + 1)
            wrong.push(['print', 'is wider than the paper: ' + e.textContent.trim().slice(0, 40)]);
    if (getComputedStyle(document.body).backgroundColor !== 'rgb(255, 255, 255)')
        wrong.push(['print', 'the paper is not white']);
    return wrong;
})()
"""

TOGGLE = """
(() => {
    const paper = () => getComputedStyle(document.body).backgroundColor;
    const button = document.getElementById('theme');
    const before = paper();
    button.click();
    const after = paper();
    button.click();
    return button.getClientRects().length > 0 && before !== after && paper() === before ? [] : [['toggle', before + ' ' + after]];
})()
"""


class Browser:
    def __init__(self, program, profile):
        to_browser, self.write_end = os.pipe()
        self.read_end, from_browser = os.pipe()

        # The protocol wants its pipe at descriptors 3 and 4, which may be taken by the ends themselves.
        def place():
            ends = os.dup(to_browser), os.dup(from_browser)
            high = [os.dup(e) for e in ends]
            os.dup2(high[0], 3)
            os.dup2(high[1], 4)

        self.process = subprocess.Popen(
            [program, "--headless", "--no-sandbox", "--disable-gpu", "--hide-scrollbars", "--disable-dev-shm-usage", "--remote-debugging-pipe",
             "--no-first-run", "--disable-extensions", "--disable-background-networking", "--user-data-dir=" + profile,
             "about:blank"],
            preexec_fn=place, close_fds=False, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)
        os.close(to_browser)
        os.close(from_browser)
        self.buffer = b""
        self.count = 0
        self.events = []
        self.session = None

    def receive(self):
        while b"\0" not in self.buffer:
            piece = os.read(self.read_end, 1 << 16)
            if not piece:
                sys.exit("browser.py: Chromium ended")
            self.buffer += piece
        message, self.buffer = self.buffer.split(b"\0", 1)
        return json.loads(message)

    def call(self, method, **params):
        self.count += 1
        number = self.count
        message = {"id": number, "method": method, "params": params}
        if self.session:
            message["sessionId"] = self.session
        os.write(self.write_end, json.dumps(message).encode() + b"\0")
        while True:
            answer = self.receive()
            if answer.get("id") == number:
                if "error" in answer:
                    sys.exit("browser.py: %s: %s" % (method, answer["error"]))
                return answer["result"]
            self.events.append(answer)

    def wait_for(self, method):
        while not any(e.get("method") == method for e in self.events):
            self.events.append(self.receive())

    def evaluate(self, script):
        answer = self.call("Runtime.evaluate", expression=script, returnByValue=True)
        if "exceptionDetails" in answer:
            sys.exit("browser.py: %s" % answer["exceptionDetails"])
        return answer["result"]["value"]


def complaints(events, url):
    """What the console said, and what was asked for beside the page itself."""
    for event in events:
        params = event.get("params", {})
        if event.get("method") == "Runtime.exceptionThrown":
            yield "console", params["exceptionDetails"].get("text", "") + str(params["exceptionDetails"].get("exception", ""))
        elif event.get("method") == "Runtime.consoleAPICalled" and params["type"] in ("error", "warning", "assert"):
            yield "console", str(params["args"])
        elif event.get("method") == "Log.entryAdded" and params["entry"]["level"] in ("error", "warning"):
            yield "console", params["entry"]["text"]
        elif event.get("method") == "Network.requestWillBeSent" and params["request"]["url"] != url:
            yield "load", params["request"]["url"]


def main():
    page, out = os.path.abspath(sys.argv[1]), sys.argv[2]
    shots = "--shots" in sys.argv[3:]
    program = shutil.which("chromium") or shutil.which("google-chrome")
    if not program:
        sys.exit("browser.py: neither chromium nor google-chrome is here")
    url = "file://" + page
    profile = tempfile.mkdtemp()
    browser = Browser(program, profile)
    found = []
    try:
        target = browser.call("Target.createTarget", url="about:blank")["targetId"]
        browser.session = browser.call("Target.attachToTarget", targetId=target, flatten=True)["sessionId"]
        for domain in ("Page", "Runtime", "Log", "Network"):
            browser.call(domain + ".enable")
        for width in WIDTHS:
            for theme in THEMES:
                where = "%d %s" % (width, theme)
                browser.call("Emulation.setDeviceMetricsOverride", width=width, height=900, deviceScaleFactor=1, mobile=False)
                browser.call("Emulation.setEmulatedMedia", media="screen",
                             features=[{"name": "prefers-color-scheme", "value": theme}])
                browser.events = []
                browser.call("Page.navigate", url=url)
                browser.wait_for("Page.loadEventFired")
                for what, detail in browser.evaluate(MEASURE.replace("DARK", str(theme == "dark").lower())):
                    found.append((what, where, detail))
                for what, detail in browser.evaluate(TOGGLE):
                    found.append((what, where, detail))
                found += [(what, where, detail) for what, detail in complaints(browser.events, url)]
                if shots:
                    picture = browser.call("Page.captureScreenshot", captureBeyondViewport=True)["data"]
                    with open(os.path.join(out, "%d-%s.png" % (width, theme)), "wb") as file:
                        file.write(base64.b64decode(picture))
        # On a dark system: paper is white all the same.
        browser.call("Emulation.setDeviceMetricsOverride", width=PAPER[0], height=PAPER[1], deviceScaleFactor=1, mobile=False)
        browser.call("Emulation.setEmulatedMedia", media="print", features=[{"name": "prefers-color-scheme", "value": "dark"}])
        for what, detail in browser.evaluate(MEASURE_PRINT.replace("HEIGHT", str(PAPER[1]))):
            found.append((what, "print", detail))
        pdf = base64.b64decode(browser.call("Page.printToPDF", paperWidth=8.27, paperHeight=11.69, printBackground=True,
                                            preferCSSPageSize=True)["data"])
        with open(os.path.join(out, "page.pdf"), "wb") as file:
            file.write(pdf)
    finally:
        browser.process.kill()
        browser.process.wait()
        shutil.rmtree(profile, ignore_errors=True)
    for line in found:
        print("\t".join(line))
    print("pages\t%d" % len(re.findall(rb"/Type\s*/Page\b", pdf)))


main()
