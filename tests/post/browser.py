#!/usr/bin/env python3
"""Shows a page in headless Chromium and prints what is wrong with it.

    browser.py PAGE.html OUT [--shots]

For each width and theme it prints tab-separated lines "what<TAB>where<TAB>detail", none where all is well; and at the end
"pages<TAB>COUNT" of the PDF, which is left in OUT with, on demand, a picture of each width and theme.
"""
import base64
import os
import re
import sys

sys.path.insert(0, os.path.join(os.path.dirname(os.path.abspath(__file__)), ".."))
import chromium

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
    // A picture stands on the page's paper.
    for (const svg of all.filter(e => e.tagName === 'svg' && getComputedStyle(e).backgroundColor !== 'rgba(0, 0, 0, 0)'))
        wrong.push(['theme', 'paper of its own: ' + svg.querySelector('title').textContent]);
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
    // A chart's paper and its ink are the page's.
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
        if (e.matches('.chart') && getComputedStyle(e.querySelector('rect')).fill !== 'rgb(255, 255, 255)')
            wrong.push(['print', 'dark on paper: ' + e.textContent.trim().slice(0, 40)]);
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


def main():
    page, out = os.path.abspath(sys.argv[1]), sys.argv[2]
    shots = "--shots" in sys.argv[3:]
    url = "file://" + page
    found = []
    with chromium.Browser() as browser:
        for width in WIDTHS:
            for theme in THEMES:
                where = "%d %s" % (width, theme)
                browser.show(url, width, theme)
                for what, detail in browser.evaluate(MEASURE.replace("DARK", str(theme == "dark").lower())):
                    found.append((what, where, detail))
                for what, detail in browser.evaluate(TOGGLE):
                    found.append((what, where, detail))
                found += [(what, where, detail) for what, detail in chromium.complaints(browser.events, url)]
                if shots:
                    browser.picture(os.path.join(out, "%d-%s.png" % (width, theme)))
        # On a dark system: paper is white all the same.
        browser.call("Emulation.setDeviceMetricsOverride", width=PAPER[0], height=PAPER[1], deviceScaleFactor=1, mobile=False)
        browser.call("Emulation.setEmulatedMedia", media="print", features=[{"name": "prefers-color-scheme", "value": "dark"}])
        for what, detail in browser.evaluate(MEASURE_PRINT.replace("HEIGHT", str(PAPER[1]))):
            found.append((what, "print", detail))
        pdf = base64.b64decode(browser.call("Page.printToPDF", paperWidth=8.27, paperHeight=11.69, printBackground=True,
                                            preferCSSPageSize=True)["data"])
        with open(os.path.join(out, "page.pdf"), "wb") as file:
            file.write(pdf)
    for line in found:
        print("\t".join(line))
    print("pages\t%d" % len(re.findall(rb"/Type\s*/Page\b", pdf)))


main()
