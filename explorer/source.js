// The source with its counts per line.

const COLUMNS = [
    ["requests", "requests", "memory instructions executed by a warp"],
    ["sectors", "sectors (ideal)", "32-byte sectors of global memory accessed; ideal: if every byte of a sector were requested"],
    ["wavefronts", "wavefronts (ideal)", "cycles of shared memory; ideal: without bank conflicts"],
    ["instructions", "thread instructions", "instructions, counted once per active lane"]];

const short = n => n < 10000 ? count(n) : n < 1e6 ? `${(n / 1e3).toFixed(n < 1e5 ? 1 : 0)}k`
    : n < 1e9 ? `${(n / 1e6).toFixed(n < 1e8 ? 1 : 0)}M` : `${(n / 1e9).toFixed(1)}G`;

function codeParts(line) {
    const text = line.trimStart(), at = text.indexOf("//");
    return at < 0 ? [text || "\u200b"] : [text.slice(0, at), h("span", {class: "comment"}, text.slice(at))];
}

function numberCell(name, counts) {
    const value = counts && counts[name], ideal = counts && counts[`ideal_${name}`];
    const look = {class: `number${page.column === name ? " shown" : ""}${value && ideal < value ? " more" : ""}`, "data-column": name};
    return value ? h("td", {...look, title: count(value) + (ideal === undefined ? "" : `, ideal ${count(ideal)}`)},
        short(value), ideal === undefined ? null : h("small", {}, ` (${short(ideal)})`)) : h("td", look);
}

function showSource() {
    const {run} = page, file = run.files[page.source], counts = run.counts(page.source);
    $("file").replaceChildren(...run.shownSources.map(s => h("option", {value: s, selected: s === page.source}, baseName(run.files[s].name))));
    const used = new Set(run.groups.flatMap(g => run.chain(g.place).filter(([s]) => s === page.source).map(([, line]) => line)));
    const rows = (file.text || "").replace(/\n$/, "").split("\n").map((text, i) => {
        const line = i + 1, own = counts.get(line), indent = `--indent: ${/^ */.exec(text)[0].length}`;
        const code = used.has(line) || own ? button(codeParts(text), () => chooseLine(line), {class: "source code", tabindex: -1, style: indent})
            : h("span", {class: "source code", style: indent}, codeParts(text));
        return h("tr", {"data-line": line}, h("td", {class: "number line"}, line), COLUMNS.map(([name]) => numberCell(name, own)), h("td", {}, code));
    });
    const head = COLUMNS.map(([name, text, title]) =>
        h("th", {class: `number${page.column === name ? " shown" : ""}`, scope: "col", "data-column": name, title}, text));
    $("lines").replaceChildren(h("table", {}, h("thead", {}, h("tr", {}, h("th", {class: "number", scope: "col"}, "line"), head,
        h("th", {scope: "col"}, baseName(file.name), file.encoding === "latin-1" ? " (not UTF-8; shown as Latin-1)" : ""))), h("tbody", {}, rows)));
    markChosen();
}

function markChosen() {
    for (const row of $("lines").querySelectorAll("tr[data-line]")) {
        const own = Number(row.dataset.line) === page.line, code = row.querySelector("button.source");
        row.classList.toggle("chosen", own);
        if (code) {
            code.tabIndex = own ? 0 : -1;
            code[own ? "setAttribute" : "removeAttribute"]("aria-current", "true");
        }
    }
    // One line is always reachable with the Tab key.
    const all = [...$("lines").querySelectorAll("button.source")];
    (all.find(code => code.tabIndex === 0) || all[0] || {}).tabIndex = 0;
}

// warps: Map from a line to the warps at that line.
function markWarps(warps) {
    for (const row of $("lines").querySelectorAll("tr[data-line]")) {
        const here = warps.get(Number(row.dataset.line));
        row.classList.toggle("at", Boolean(here));
        row.cells[0].textContent = !here ? row.dataset.line : ranges(here).length > 5 ? `${here.length} w` : `w${ranges(here)}`;
    }
}

function intoView(line) {
    const pane = $("lines"), row = pane.querySelector(`tr[data-line="${line}"]`);
    if (row && (row.offsetTop < pane.scrollTop + 40 || row.offsetTop > pane.scrollTop + pane.clientHeight - 60))
        pane.scrollTop = row.offsetTop - pane.clientHeight / 3;
}
