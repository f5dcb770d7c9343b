#!/usr/bin/env python3
"""known.py known.html: checks the pictures of known.json, whose accesses were written by hand; prints each difference."""
import os
import sys

sys.path.insert(0, os.path.join(os.path.dirname(os.path.abspath(__file__)), ".."))
import chromium

# Expressions evaluated on the page after a line was selected, and their expected values.
CELLS = '[...document.querySelectorAll(".picture rect[data-tip]")]'
OF_LINE = (
    ("float a", "32 sectors in 8 cache lines", 'document.querySelector(".picture title").textContent.includes("32 sectors in 8 cache lines")', True),
    ("float a", "32 cells, one per lane", CELLS + '.filter(c => /^lane [0-9]+ reads k, row [0-9]+, column [0-9]+$/.test(c.dataset.tip)).length', 32),
    ("float a", "unused bytes of each sector", CELLS + '.filter(c => c.dataset.tip.includes("requested by no lane")).length', 32),
    ("float a", "number of unused bytes", 'document.querySelector(".picture svg").textContent.includes("loaded, not used: 896 bytes")', True),
    ("float a", "lane 5 reads row 1, column 8", CELLS + '.some(c => c.dataset.tip === "lane 5 reads k, row 1, column 8")', True),
    ("float b", "four wavefronts", 'document.querySelector(".picture title").textContent', "32 lanes, 4 bytes each: 4 wavefronts, 4-way bank conflict; ideal 1"),
    ("float b", "a row for each wavefront", '[...document.querySelectorAll(".picture text")].filter(t => /^[0-9]+ extra$/.test(t.textContent)).length + 1', 4),
    ("float b", "lane 9 in the second wavefront", CELLS + '.filter(c => c.dataset.tip === "bank 4: S_smem[9][0], lane 9, wavefront 2").length', 2),
    ("float b", "24 words in extra wavefronts, in both halves", CELLS + '.filter(c => c.getAttribute("fill") === "var(--warn-tint)").length', 48),
    ("o[threadIdx.x]", "nothing is wasted", CELLS + '.some(c => c.dataset.tip.includes("requested by no lane"))', False),
    ("float row_max", "its value, lane by lane", '[...document.querySelectorAll(".lanes span")].map(s => s.textContent).slice(0, 3).join()', "0,0.1250,0.2500"),
)
OTHERS = (
    ("both kernels side by side", 'chooseRun("both"); chooseLine(7, true); document.querySelectorAll(".picture title")[1].textContent', "32 lanes, 4 bytes each: 1 wavefront, no bank conflict"),
    ("counts of both", '[...document.querySelectorAll("#detail .numbers tbody tr")].map(r => r.textContent).filter(t => t.startsWith("wavefronts")).join()', "wavefronts82"),
    ("both accesses of the race", 'chooseRun("0"); show({view: "findings"}); ["first: writes", "then: reads"].every(t => document.querySelector(".picture svg").textContent.includes(t))', True),
    ("the words of the race are marked", CELLS + '.filter(c => c.getAttribute("fill") === "var(--warn-tint)").length > 8', True),
    ("copies, commit and wait", 'show({view: "order"}); /1 copy.*commit group 0.*wait.*wait at barrier 0, use 1/.test(document.querySelector(".picture desc").textContent)', True),
    ("where the warps are", 'show({view: "steps", at: 3}); [...document.querySelectorAll("tr.at td.line")].map(t => t.textContent).join()', "w1,w0"),
    ("variables that were optimized away", 'document.querySelector("#detail").textContent.includes("Not known at this line: b")', True),
    ("a running maximum", 'show({at: 5}); document.querySelector("#series-title").textContent.startsWith("row_max of lane 0")', True),
    ("a source is text", 'document.querySelector("#lines").textContent.includes("</script><img src=x")', True),
    ("how much is shown", 'show({view: "totals"}); document.querySelector("#detail").textContent.includes("Written by hand for tests.")', True),
    ("another encoding is reported", 'document.querySelector("#lines").textContent.includes("not UTF-8; shown as Latin-1")', True),
)

wrong = 0
with chromium.Browser() as browser:
    browser.show("file://" + os.path.abspath(sys.argv[1]), 1000, "light")
    choose = "chooseLine([...page.run.files[page.source].text.split('\\n')].findIndex(t => t.trim().startsWith('%s')) + 1, true); "
    for what, script, answer in [("%s: %s" % (line, what), choose % line + script, answer) for line, what, script, answer in OF_LINE] + list(OTHERS):
        got = browser.evaluate(script)
        if got != answer:
            print("%s: %r instead of %r" % (what, got, answer))
            wrong = 1
sys.exit(wrong)
