// The page: its state, how clicks, touches and keys change it, and the selected view.

const VIEWS = [["line", "Lines", showLine], ["steps", "Steps", showSteps], ["order", "Copies and barriers", showOrder],
    ["findings", "Findings", showFindings], ["totals", "Totals", showTotals]];

// key: the access at the line; n: the execution; at: the step; band: the barrier interval.
const page = {runs: [], run: null, other: null, both: false, view: "line", source: 0, line: 0, key: null, otherKey: null, kernel: 0,
    block: null, warp: null, n: 0, lane: 0, at: 0, band: 0, value: null, column: "requests"};

// change: the new state; focus: the id of the control that was used.
function show(change = {}, focus = null) {
    const leaving = page.view, active = document.activeElement, detail = $("detail"), top = detail.scrollTop;
    const inside = detail.contains(active), label = inside && active.getAttribute("aria-label");
    Object.assign(page, change, {width: pictureWidth()});
    if (leaving === "steps" && page.view !== "steps")
        markWarps(new Map());
    for (const tab of $("views").children) {
        const own = tab.dataset.view === page.view;
        tab.setAttribute("aria-selected", String(own));
        tab.tabIndex = own ? 0 : -1;
    }
    detail.replaceChildren(...VIEWS.find(([view]) => view === page.view)[2]().filter(Boolean));
    detail.setAttribute("aria-labelledby", `view-${page.view}`);
    detail.scrollTop = change.line || change.view ? 0 : top;
    // The focused control was redrawn: its replacement gets the focus.
    if (inside) {
        const same = focus ? $(focus) : [...detail.querySelectorAll("[aria-label]")].find(e => e.getAttribute("aria-label") === label);
        (same && !same.disabled ? same : focus ? $("range") : detail).focus({preventScroll: true});
    }
}

function chooseLine(line, stay) {
    Object.assign(page, {line, key: null, otherKey: null, n: 0});
    markChosen();
    intoView(line);
    show({view: "line", line});
    if (!stay && matchMedia("(max-width: 60rem)").matches)
        $("detail").scrollIntoView({block: "start"});
}

function goTo(source, line, stay) {
    page.source = source;
    showSource();
    chooseLine(line, stay);
}

function chooseRun(which) {
    const [one, two] = page.runs;
    Object.assign(page, which === "1" ? {run: two, other: one, both: false} : {run: one, other: two || null, both: which === "both"});
    const {run} = page, kernel = run.kernels[0];
    document.body.classList.toggle("both", page.both);
    for (const b of $("runs").children)
        b.setAttribute("aria-pressed", String(b.dataset.run === which));
    $("name").textContent = run.name + (page.both ? ` and ${page.other.name}` : "");
    document.title = `${run.name}: memory accesses by line`;
    const shape = run.shape || {};
    $("about").textContent = [...run.kernels.map(k => `${k.name}: ${plural(k.blocks, "block")} of ${plural(k.warps, "warp")}`),
        shape.text && `B,H,N,D = ${shape.text}`, shape.dtype, shape.causal && "causal", run.device,
        {right: "passes its check", wrong: "fails its check", failed: "stopped before its end"}[run.status],
        kernel ? `recorded: block ${ranges(kernel.sampled.blocks)}` : "no kernel ran"].filter(Boolean).join(" · ");
    $("view-findings").textContent = `Findings (${run.findings.length})`;
    // The line that the lesson names, or else the one with the most requests.
    const named = run.opens ? (run.files[run.source].text || "").split("\n").findIndex(text => text.includes(run.opens)) + 1 : 0;
    const busiest = [...run.counts(run.source)].filter(([, c]) => c.requests).sort((a, b) => b[1].requests - a[1].requests)[0];
    Object.assign(page, {source: run.source, line: named || (busiest ? busiest[0] : 0), key: null, otherKey: null, n: 0, at: 0, band: 0},
        {kernel: 0, block: null, warp: null, value: null});
    showSource();
    intoView(page.line);
    show();
}

function onKey(event) {
    if (event.ctrlKey || event.metaKey || event.altKey || event.target.closest("select, textarea"))
        return;
    const line = event.target.closest("button.source"), tab = event.target.closest("[role=tab]"), key = event.key;
    if (line && (key === "ArrowUp" || key === "ArrowDown")) {
        const all = [...$("lines").querySelectorAll("button.source")], next = all[all.indexOf(line) + (key === "ArrowDown" ? 1 : -1)];
        event.preventDefault();
        if (next)
            next.focus();
    } else if (tab && (key === "ArrowLeft" || key === "ArrowRight")) {
        const all = [...$("views").children], next = all[(all.indexOf(tab) + (key === "ArrowRight" ? 1 : all.length - 1)) % all.length];
        show({view: next.dataset.view});
        next.focus();
    } else if (key === "n" || key === "p") {
        const step = $(key === "n" ? "next" : "before");
        if (step && !step.disabled)
            step.click();
    } else if (key === "w" || key === "l") {
        const select = $("detail").querySelector(key === "w" ? 'select[aria-label$="arp"]' : 'select[aria-label="Lane"]');
        if (select) {
            select.selectedIndex = (select.selectedIndex + 1) % select.options.length;
            select.dispatchEvent(new Event("change"));
        }
    }
}

function start() {
    const data = JSON.parse($("recording").textContent);
    page.runs = data.runs.map(run => new Run(run, data.sources));
    if (location.hash.startsWith("#still?"))
        return showStills(location.hash);
    $("views").append(...VIEWS.map(([view, name]) =>
        button(name, () => show({view}), {role: "tab", "data-view": view, id: `view-${view}`, "aria-controls": "detail"})));
    if (page.runs.length > 1)
        $("runs").append(...[["0", page.runs[0].name], ["1", page.runs[1].name], ["both", "side by side"]].map(([which, name]) =>
            button(name, () => chooseRun(which), {"data-run": which})));
    $("column").append(...COLUMNS.map(([name, head]) => h("option", {value: name}, head)));
    $("column").addEventListener("change", e => {
        page.column = e.target.value;
        for (const cell of $("lines").querySelectorAll("[data-column]"))
            cell.classList.toggle("shown", cell.dataset.column === page.column);
    });
    $("file").addEventListener("change", e => goTo(Number(e.target.value), 0, true));
    const {dataset} = document.documentElement, system = matchMedia("(prefers-color-scheme: dark)");
    const follow = () => dataset.theme = system.matches ? "dark" : "light";
    follow();
    system.addEventListener("change", follow);
    $("theme").addEventListener("click", () => dataset.theme = dataset.theme === "dark" ? "light" : "dark");
    document.addEventListener("keydown", onKey);
    addEventListener("resize", () => pictureWidth() === page.width || show());
    chooseRun("0");
    const line = /^#L(\d+)$/.exec(location.hash);
    if (line)
        chooseLine(Number(line[1]), true);
}

addEventListener("DOMContentLoaded", start);
