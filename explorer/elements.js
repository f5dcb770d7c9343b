// What the parts of the page are made of: elements, choices, a stepper, a picture that can be pointed at.

const $ = id => document.getElementById(id);

// An element; attributes that are functions are listeners, and text is text whatever it holds.
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

// A slider between two buttons; change gets the number, and which of the three it came from.
function stepper(text, n, most, change) {
    const end = (id, sign, to, said) =>
        button(sign, () => change(to, id), {id, "aria-label": `${text}: ${said}`, disabled: to < 0 || to > most});
    return h("div", {class: "row"}, end("before", "‹", n - 1, "the one before"),
        h("input", {type: "range", id: "range", min: 0, max: Math.max(0, most), value: n, "aria-label": text,
            "aria-valuetext": `${n + 1} of ${most + 1}`, input: e => change(Number(e.target.value), "range")}),
        end("next", "›", n + 1, "next"), h("span", {}, text));
}

// head: texts; rows: lists of texts or elements; numeric: which columns are numbers.
function table(head, rows, numeric = [], rowClass = () => null) {
    const kind = i => numeric.includes(i) ? "number" : null;
    return h("div", {class: "wide", tabindex: 0, role: "group", "aria-label": `Table: ${head.join(", ")}`}, h("table", {class: "numbers"},
        h("thead", {}, h("tr", {}, head.map((text, i) => h("th", {scope: "col", class: kind(i)}, text)))),
        h("tbody", {}, rows.map((row, r) => h("tr", {class: rowClass(r)}, row.map((text, i) => h("td", {class: kind(i)}, text)))))));
}

// pick: gets the lane of a cell that is clicked.
function figure(picture, id, pick) {
    const readout = h("p", {class: "readout faint", "aria-live": "polite"},
        "Point at a cell, touch it or go there by arrow keys: this says what it is.");
    const box = h("div", {class: "picture", tabindex: 0, role: "group", "aria-label": `${picture.title}. Left and right go from cell to cell.`});
    box.innerHTML = picture.svg(`${id}-`);
    const cells = [...box.querySelectorAll("[data-tip]")];
    let at = -1;
    const tell = i => {
        if (i < 0 || i >= cells.length)
            return;
        at = i;
        const lanes = (cells[i].dataset.lanes || "").trim().split(" ").filter(Boolean);
        cells.forEach((c, k) => c.classList.toggle("on", k === i || lanes.some(l => (c.dataset.lanes || "").includes(` ${l} `))));
        readout.textContent = cells[i].dataset.tip;
        readout.classList.remove("faint");
    };
    const cellOf = event => cells.indexOf(event.target.closest("[data-tip]"));
    box.addEventListener("pointerover", event => tell(cellOf(event)));
    box.addEventListener("click", event => {
        const i = cellOf(event);
        tell(i);
        if (pick && i >= 0 && cells[i].dataset.lanes)
            pick(Number(cells[i].dataset.lanes.trim().split(" ")[0]));
    });
    box.addEventListener("keydown", event => {
        const to = {ArrowRight: at + 1, ArrowLeft: at - 1, Home: 0, End: cells.length - 1}[event.key];
        if (to === undefined)
            return;
        event.preventDefault();
        tell(Math.max(0, Math.min(cells.length - 1, to)));
    });
    return h("figure", {}, box, readout);
}

// Two beside each other have half of the room each, where that is enough.
function pictureWidth() {
    const room = $("detail").clientWidth;
    return Math.max(296, Math.min(760, page.both && innerWidth >= 1200 ? room / 2 - 16 : room - 8));
}
