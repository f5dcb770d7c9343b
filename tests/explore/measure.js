// What is wrong with the page as it stands: [[what, detail], ...]. Evaluated in it by browser.py, in each of its states.
(() => {
    const wrong = [], all = [...document.body.querySelectorAll("*")].filter(e => e.getClientRects().length > 0);
    const name = e => `${e.tagName.toLowerCase()}${e.id ? `#${e.id}` : ""} "${(e.textContent || "").trim().slice(0, 40)}"`;
    const hasText = e => [...e.childNodes].some(n => n.nodeType === 3 && n.textContent.trim() && n.textContent !== "\u200b");
    const page = document.documentElement;

    if (page.scrollWidth > innerWidth)
        wrong.push(["overflow", `the page is ${page.scrollWidth} wide`]);
    for (const e of all.filter(e => !e.closest(".wide, svg *")))
        if (e.getBoundingClientRect().right > innerWidth + 0.5 && !e.closest("#lines table"))
            wrong.push(["overflow", name(e)]);
    const lines = document.getElementById("lines");
    if (lines.scrollWidth > lines.clientWidth)
        wrong.push(["overflow", "the source scrolls sideways"]);

    // Type and its contrast. What a text of a drawing stands on: the last shape below it that is filled.
    const rgba = text => (text.match(/[\d.]+/g) || [0, 0, 0, 0]).map(Number);
    const clear = text => text === "none" || text === "transparent" || rgba(text)[3] === 0;
    const luminance = text => {
        const [r, g, b] = rgba(text).map(c => (c /= 255) <= 0.03928 ? c / 12.92 : ((c + 0.055) / 1.055) ** 2.4);
        return 0.2126 * r + 0.7152 * g + 0.0722 * b;
    };
    const behind = e => {
        for (let p = e; p; p = p.parentElement)
            if (!clear(getComputedStyle(p).backgroundColor))
                return getComputedStyle(p).backgroundColor;
        return "rgb(255, 255, 255)";
    };
    const contrast = (e, ink, paper) => {
        const [a, b] = [luminance(ink), luminance(paper)];
        if ((Math.max(a, b) + 0.05) / (Math.min(a, b) + 0.05) < 4.5)
            wrong.push(["contrast", `${name(e)}: ${ink} on ${paper}`]);
    };
    for (const e of all.filter(e => hasText(e) && !e.closest("svg, :disabled"))) {
        if (parseFloat(getComputedStyle(e).fontSize) < 11)
            wrong.push(["small", `${name(e)} has ${getComputedStyle(e).fontSize}`]);
        contrast(e, getComputedStyle(e).color, behind(e));
    }
    for (const svg of all.filter(e => e.tagName === "svg")) {
        const frame = svg.getBoundingClientRect(), boxes = [], inside = svg.querySelector("title").textContent;
        const shapes = [...svg.querySelectorAll("rect")].filter(r => !clear(getComputedStyle(r).fill))
            .map(r => ({box: r.getBoundingClientRect(), fill: getComputedStyle(r).fill, r}));
        for (const text of svg.querySelectorAll("text")) {
            const b = text.getBoundingClientRect(), size = parseFloat(getComputedStyle(text).fontSize) * text.getScreenCTM().a;
            const base = text.getScreenCTM().f + text.y.baseVal[0].value * text.getScreenCTM().d;
            const box = {text, left: b.left, right: b.right, top: base - 0.73 * size, bottom: base + 0.18 * size};
            const x = (b.left + b.right) / 2, y = (box.top + box.bottom) / 2;
            if (size < 11)
                wrong.push(["small", `${name(text)} has ${size.toFixed(1)} in ${inside}`]);
            if (b.left < frame.left - 1 || b.right > frame.right + 1 || b.bottom > frame.bottom + 1)
                wrong.push(["cut", `${name(text)} in ${inside}`]);
            for (const other of boxes)
                if (box.left < other.right - 1 && box.right > other.left + 1 && box.top < other.bottom - 1 && box.bottom > other.top + 1)
                    wrong.push(["covered", `${name(text)} and ${name(other.text)} in ${inside}`]);
            boxes.push(box);
            const below = shapes.filter(s => s.box.left <= x && s.box.right >= x && s.box.top <= y && s.box.bottom >= y &&
                s.r.compareDocumentPosition(text) & Node.DOCUMENT_POSITION_FOLLOWING).pop();
            if (text.getAttribute("paint-order") === null)
                contrast(text, getComputedStyle(text).fill, below ? below.fill : behind(svg));
        }
    }

    // Roles and names.
    const labelled = e => (e.getAttribute("aria-labelledby") || "").split(" ").filter(Boolean)
        .map(id => document.getElementById(id)).map(l => l ? l.textContent.trim() : "").join(" ").trim();
    const called = e => e.getAttribute("aria-label") || labelled(e) || (e.closest("label") || e).textContent.trim();
    for (const e of all.filter(e => e.matches("button, select, input, summary, [role], [tabindex]")))
        if (!called(e) && e !== lines && !(e.matches("button.source")))
            wrong.push(["name", name(e)]);
    for (const e of all.filter(e => e.matches("[tabindex]") && !e.matches("button, input, select") && e.tabIndex >= 0 && !e.getAttribute("role")))
        wrong.push(["name", `no role: ${name(e)}`]);
    for (const svg of all.filter(e => e.tagName === "svg")) {
        const said = [...svg.children].filter(c => /^(title|desc)$/.test(c.tagName) && c.textContent.trim().length > 3);
        if (svg.getAttribute("role") !== "img" || said.length !== 2 || labelled(svg) === "")
            wrong.push(["alternative", svg.textContent.slice(0, 60)]);
    }
    for (const e of all)
        for (const id of ["aria-controls", "aria-labelledby"].flatMap(a => (e.getAttribute(a) || "").split(" ").filter(Boolean)))
            if (!document.getElementById(id))
                wrong.push(["id", `${name(e)} refers to ${id}`]);
    const ids = [...document.querySelectorAll("[id]")].map(e => e.id);
    for (const id of new Set(ids.filter((id, i) => ids.indexOf(id) !== i)))
        wrong.push(["id", `${id} is there more than once`]);
    if (document.querySelectorAll('[role="tab"][aria-selected="true"][tabindex="0"]').length !== 1)
        wrong.push(["name", "not one tab is selected and to be reached"]);
    for (const head of all.filter(e => e.tagName === "TH" && !e.getAttribute("scope")))
        wrong.push(["name", `no scope: ${name(head)}`]);
    all.filter(e => /^H[1-6]$/.test(e.tagName)).reduce((before, e) => {
        if (Number(e.tagName[1]) > before + 1)
            wrong.push(["heading", name(e)]);
        return Number(e.tagName[1]);
    }, 0);
    if (document.querySelector("img, iframe, object") || document.title === "broken")
        wrong.push(["text", "a source was taken for HTML"]);
    return wrong;
})()
