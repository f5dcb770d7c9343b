// Drawings as SVG text, the same for the page and for stills. Sizes are CSS pixels. Text widths are estimated, not measured, from the
// widths of digits and letters in a wide sans-serif font, so that a still does not depend on installed fonts.
"use strict"; // for all files: they are concatenated to one script, in the order of their names

const TYPE = 12, ROW = 20;

const escaped = text => String(text).replace(/[&<>"]/g, c => ({"&": "&amp;", "<": "&lt;", ">": "&gt;", '"': "&quot;"})[c]);
const textWidth = text => [...String(text)].reduce((width, c) => width + TYPE * (c >= "0" && c <= "9" ? 0.64 : 0.59), 0);
const count = number => number.toLocaleString("en-US");
const plural = (number, what) => `${count(number)} ${what}${number === 1 ? "" : "s"}`;
const distinct = numbers => [...new Set(numbers)].sort((a, b) => a - b);

// Formats numbers as "0–7, 12, 16–31".
function ranges(numbers) {
    const runs = [];
    for (const n of distinct(numbers)) {
        const last = runs[runs.length - 1];
        if (last && n === last[1] + 1)
            last[1] = n;
        else
            runs.push([n, n]);
    }
    return runs.map(([a, b]) => a === b ? `${a}` : b === a + 1 ? `${a}, ${b}` : `${a}–${b}`).join(", ");
}

// Wraps a text to lines of at most width pixels.
function wrapped(text, width) {
    const lines = [];
    for (const word of text.split(" ")) {
        const last = lines.length - 1, longer = lines.length ? `${lines[last]} ${word}` : word;
        if (last >= 0 && textWidth(longer) * 0.95 <= width)
            lines[last] = longer;
        else
            lines.push(word);
    }
    return lines;
}

// Styles that the legends explain.
const MARKS = {
    used: {fill: "var(--accent-tint)", stroke: "var(--accent)"},
    chosen: {fill: "var(--accent)", stroke: "var(--accent)"},
    other: {fill: "var(--quiet)", stroke: "var(--rule)"},
    conflict: {fill: "var(--warn-tint)", stroke: "var(--warn)"},
    waits: {fill: "var(--paper)", stroke: "var(--ink)"},
    sector: {stroke: "var(--faint)"},
    line: {stroke: "var(--ink)", line: 2},
    empty: {stroke: "var(--rule)"},
};
const FAINT = {fill: "var(--faint)"};

const attributes = named => Object.entries(named).filter(([, v]) => v !== undefined && v !== false && v !== null)
    .map(([k, v]) => ` ${k}="${escaped(typeof v === "number" ? +v.toFixed(1) : v)}"`).join("");

class Picture {
    // title: what the picture shows; description: sentences with the same content, for screen readers.
    constructor(width, title) {
        Object.assign(this, {width, height: 0, title, description: [], parts: []});
    }
    // tip: the text shown when the user points at it; lanes: the lanes that it belongs to.
    rect(x, y, width, height, {fill = "none", stroke, line, round, tip, lanes} = {}) {
        this.parts.push(`<rect${attributes({x, y, width, height, rx: round, fill, stroke, "stroke-width": line, "data-tip": tip,
            "data-lanes": lanes && ` ${lanes.join(" ")} `})}/>`);
        this.height = Math.max(this.height, y + height);
    }
    // halo: a margin around letters that are drawn over edges.
    text(x, y, text, {fill = "var(--ink)", anchor, bold, halo} = {}) {
        const around = halo ? {stroke: "var(--paper)", "stroke-width": 3, "stroke-linejoin": "round", "paint-order": "stroke"} : {};
        this.parts.push(`<text${attributes({x, y, fill, "text-anchor": anchor, "font-weight": bold && 600, ...around})}>` +
            `${escaped(text)}</text>`);
        this.height = Math.max(this.height, y + 4);
    }
    path(d, {stroke = "var(--faint)", line, dash} = {}) {
        const rounded = d.replace(/\d+\.\d+/g, n => +Number(n).toFixed(1));
        this.parts.push(`<path${attributes({d: rounded, fill: "none", stroke, "stroke-width": line, "stroke-dasharray": dash})}/>`);
    }
    // Hatched, so that unused bytes are visible without colour.
    hatch(x, y, w, h, {tip} = {}) {
        this.rect(x, y, w, h, {fill: "var(--warn-tint)", tip});
        let d = "";
        for (let t = -h + 3; t < w; t += 6) {
            const from = Math.max(0, -t), to = Math.min(h, w - t);
            if (to > from)
                d += `M${x + t + from} ${y + h - from}L${x + t + to} ${y + h - to}`;
        }
        this.path(d, {stroke: "var(--warn)", line: 0.8});
    }
    // The first of several texts that fits into the box.
    label(x, y, w, h, texts, style = {}) {
        const fits = texts.find(t => textWidth(t) <= w - 3);
        if (fits !== undefined)
            this.text(x + w / 2, y + h / 2 + 4.3, fits, {anchor: "middle", ...style});
    }
    // Each of the following returns the y of the next element.
    heading(y) {
        return this.paragraph(0, y + 1, this.title, this.width / 1.1, {bold: true}) + 1;
    }
    paragraph(x, y, text, width = this.width - x, style = FAINT) {
        const lines = wrapped(text, width);
        lines.forEach((t, i) => this.text(x, y + 12 + i * 17, t, style));
        return y + lines.length * 17 + 4;
    }
    // entries: [mark, text]; "unused" is hatched.
    legend(y, entries) {
        let x = 0;
        for (const [mark, text] of entries) {
            const w = 44 + textWidth(text);
            if (x > 0 && x + w - 14 > this.width) {
                x = 0;
                y += 20;
            }
            if (mark === "unused")
                this.hatch(x, y + 2, 20, 12);
            else
                this.rect(x + 0.5, y + 2.5, 20, 12, MARKS[mark]);
            wrapped(text, this.width - 30).forEach((line, i) => this.text(x + 28, (y += i ? 17 : 0) + 13, line, FAINT));
            x += w;
        }
        return y + 24;
    }
    // scale: factor for all lengths.
    svg(id, scale = 1) {
        const width = Math.round(this.width * scale), height = Math.ceil((this.height + 2) * scale), by = n => +(n * scale).toFixed(1);
        const parts = this.parts.join("\n").replace(/ (?:x|y|width|height|rx|stroke-width|d)="[^"]*"/g, all => all.replace(/-?\d+(?:\.\d+)?/g, by));
        return `<svg xmlns="http://www.w3.org/2000/svg" width="${width}" height="${height}" viewBox="0 0 ${width} ${height}" role="img"\n` +
            `aria-labelledby="${id}title ${id}text" font-family="'DejaVu Sans', Verdana, sans-serif" font-size="${TYPE * scale}">\n` +
            `<title id="${id}title">${escaped(this.title)}</title>\n` +
            `<desc id="${id}text">${escaped(this.description.filter(Boolean).join(" "))}</desc>\n${parts}\n</svg>`;
    }
}

const laneNames = lanes => lanes.length > 1 ? [ranges(lanes), `${lanes.length} lanes`, `×${lanes.length}`] : [String(lanes[0])];

// cells: [{x, w, lanes}] of a row. Adjacent cells get one label each if all labels fit, else one common label.
function drawLaneNames(picture, cells, y, h) {
    for (let i = 0, end; i < cells.length; i = end) {
        end = i + 1;
        while (end < cells.length && Math.abs(cells[end].x - cells[end - 1].x - cells[end - 1].w) < 0.5)
            end++;
        const adjacent = cells.slice(i, end), names = adjacent.map(c => laneNames(c.lanes).find(t => textWidth(t) <= c.w - 3));
        if (names.every(Boolean)) {
            names.forEach((name, k) => picture.label(adjacent[k].x, y, adjacent[k].w, h, [name]));
            continue;
        }
        // A single cell may use the empty space next to it.
        const x = adjacent[0].x, right = adjacent[adjacent.length - 1].x + adjacent[adjacent.length - 1].w;
        const margin = adjacent.length > 1 ? 0 : Math.max(0, Math.min(10, (end < cells.length ? cells[end].x : right + 20) - right,
            i ? x - cells[i - 1].x - cells[i - 1].w : 20));
        picture.label(x - margin / 2, y, right - x + margin, h, [ranges(adjacent.flatMap(c => c.lanes)), `${adjacent[0].lanes[0]} …`], {halo: true});
    }
}
