// Building blocks of the page: elements, choices, a stepper, tables, interactive pictures.

const $ = id => document.getElementById(id);

// Creates an element; attributes that are functions become event listeners; text children are never parsed as HTML.
function h(tag, attributes = {}, ...children) {
    const element = document.createElement(tag);
    for (const [name, value] of Object.entries(attributes))
        if (typeof value === "function")
            element.addEventListener(name, value);
        else if (value !== null && value !== false && value !== undefined)
            element.setAttribute(name, value === true ? "" : value);
    element.append(...children.flat().filter(c => c !== null && c !== undefined && c !== false));
    return element;
}

const button = (text, click, more = {}) => h("button", {type: "button", click, ...more}, text);

// options: [[value, text], ...]
const choice = (label, options, chosen, change) => h("label", {}, `${label} `,
    h("select", {"aria-label": label, change: e => change(e.target.value)},
        options.map(([value, text]) => h("option", {value, selected: String(value) === String(chosen)}, text))));

const laneChoice = () => choice("Lane", [...Array(LANES).keys()].map(l => [l, l]), page.lane, lane => show({lane: Number(lane)}));

// A slider between two buttons. change receives the number and the id of the control that was used.
function stepper(text, n, most, change) {
    const stepButton = (id, sign, to, meaning) =>
        button(sign, () => change(to, id), {id, "aria-label": `${text}: ${meaning}`, disabled: to < 0 || to > most});
    return h("div", {class: "row"}, stepButton("before", "‹", n - 1, "previous"),
        h("input", {type: "range", id: "range", min: 0, max: Math.max(0, most), value: n, "aria-label": text,
            "aria-valuetext": `${n + 1} of ${most + 1}`, input: e => change(Number(e.target.value), "range")}),
        stepButton("next", "›", n + 1, "next"), h("span", {}, text));
}

// head: texts; rows: lists of texts or elements; numeric: indices of number columns.
function table(head, rows, numeric = [], rowClass = () => null) {
    const kind = i => numeric.includes(i) ? "number" : null;
    return h("div", {class: "wide", tabindex: 0, role: "group", "aria-label": `Table: ${head.join(", ")}`}, h("table", {class: "numbers"},
        h("thead", {}, h("tr", {}, head.map((text, i) => h("th", {scope: "col", class: kind(i)}, text)))),
        h("tbody", {}, rows.map((row, r) => h("tr", {class: rowClass(r)}, row.map((text, i) => h("td", {class: kind(i)}, text)))))));
}

// pick: called with the lane of a clicked cell.
function figure(picture, id, pick) {
    const readout = h("p", {class: "readout faint", "aria-live": "polite"},
        "Point at a cell, touch it or move with the arrow keys: this line describes it.");
    const box = h("div", {class: "picture", tabindex: 0, role: "group", "aria-label": `${picture.title}. Left and right move from cell to cell.`});
    box.innerHTML = picture.svg(`${id}-`);
    const cells = [...box.querySelectorAll("[data-tip]")];
    let at = -1;
    const showTip = i => {
        if (i < 0 || i >= cells.length)
            return;
        at = i;
        const lanes = (cells[i].dataset.lanes || "").trim().split(" ").filter(Boolean);
        cells.forEach((c, k) => c.classList.toggle("on", k === i || lanes.some(l => (c.dataset.lanes || "").includes(` ${l} `))));
        readout.textContent = cells[i].dataset.tip;
        readout.classList.remove("faint");
    };
    const cellOf = event => cells.indexOf(event.target.closest("[data-tip]"));
    box.addEventListener("pointerover", event => showTip(cellOf(event)));
    box.addEventListener("click", event => {
        const i = cellOf(event);
        showTip(i);
        if (pick && i >= 0 && cells[i].dataset.lanes)
            pick(Number(cells[i].dataset.lanes.trim().split(" ")[0]));
    });
    box.addEventListener("keydown", event => {
        const to = {ArrowRight: at + 1, ArrowLeft: at - 1, Home: 0, End: cells.length - 1}[event.key];
        if (to === undefined)
            return;
        event.preventDefault();
        showTip(Math.max(0, Math.min(cells.length - 1, to)));
    });
    return h("figure", {}, box, readout);
}

// Side by side, each picture gets half of the width if that is wide enough.
function pictureWidth() {
    const available = $("detail").clientWidth;
    return Math.max(296, Math.min(760, page.both && innerWidth >= 1200 ? available / 2 - 16 : available - 8));
}
