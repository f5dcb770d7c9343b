#!/usr/bin/env python3
"""Opens pages of the book in headless Chromium from files and prints what is wrong with them.

    browser.py SITE [--axe axe.min.js] [--shots FOLDER] PAGE...

For each page, width and theme it prints tab-separated lines "what<TAB>page, width and theme<TAB>detail", none if all is well, and at the
end "pages<TAB>COUNT".
"""
import argparse
import os
import sys
import time

sys.path.insert(0, os.path.join(os.path.dirname(os.path.abspath(__file__)), ".."))
import chromium

WIDTHS = (400, 800, 1400)
THEMES = ("light", "dark")

MEASURE = """
(() => {
    const wrong = [];
    const name = e => e.tagName.toLowerCase() + ' "' + (e.textContent || e.src || '').trim().slice(0, 40) + '"';
    if (document.documentElement.scrollWidth > innerWidth)
        wrong.push(['overflow', 'the page is ' + document.documentElement.scrollWidth + ' wide']);
    for (const e of document.querySelectorAll('article *'))
        if (e.getClientRects().length && !e.closest('pre, .table-wrapper, svg') && e.getBoundingClientRect().right > innerWidth + 0.5)
            wrong.push(['overflow', name(e)]);
    for (const e of document.querySelectorAll('img'))
        if (e.complete && !e.naturalWidth)
            wrong.push(['picture', e.src]);
    const paper = getComputedStyle(document.body).backgroundColor.match(/[0-9.]+/g).slice(0, 3);
    if ((paper.every(c => c < 100)) !== DARK)
        wrong.push(['theme', 'the paper is ' + paper]);
    return wrong;
})()
"""
AXE = """axe.run({iframes: false}).then(r => r.violations.map(v =>
    ['axe', v.id + ' (' + v.impact + '): ' + v.nodes.slice(0, 3).map(n => n.html.slice(0, 100)).join(' ')]))"""
SEARCH = "document.querySelectorAll('#search-results li a').length"


def checked(browser, url, theme, axe):
    yield from browser.evaluate(MEASURE.replace("DARK", str(theme == "dark").lower()))
    yield from (c for c in chromium.complaints(browser.events, url) if c[0] == "console" or not c[1].startswith(("file:", "data:")))
    if axe:
        browser.evaluate(axe + ";0")
        answer = browser.call("Runtime.evaluate", expression=AXE, returnByValue=True, awaitPromise=True)
        yield from answer["result"]["value"]


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("site")
    parser.add_argument("--axe")
    parser.add_argument("--shots")
    parser.add_argument("pages", nargs="+")
    options = parser.parse_args()
    axe = open(options.axe, encoding="utf-8").read() if options.axe else ""
    site = "file://" + os.path.abspath(options.site) + "/"
    with chromium.Browser() as browser:
        for page in options.pages:
            for width in WIDTHS:
                for theme in THEMES:
                    where = "%s, %d, %s" % (page, width, theme)
                    browser.show(site + page, width, theme)
                    for what, detail in checked(browser, site + page, theme, axe):
                        print("\t".join((what, where, detail.replace("\n", " "))), flush=True)
                    if options.shots:
                        browser.picture(os.path.join(options.shots, "%s-%d-%s.png" % (page.replace("/", "-"), width, theme)))
        browser.show(site + "search.html?q=softmax", 800, "light")
        for _ in range(50):
            if browser.evaluate(SEARCH):
                break
            time.sleep(0.1)
        else:
            print("search\tsearch.html\tsoftmax is not found")
    print("pages\t%d" % len(options.pages))


main()
