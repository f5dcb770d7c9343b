// Drawings as the text of an SVG, so that the page shows and a still holds the same. Sizes are CSS pixels. Nothing is measured: a
// text's width is taken from that of digits in a wide sans-serif, a line of words from that of letters.
"use strict"; // of all files: they are one script, in the order of their names

const TYPE = 12, ROW = 20;

const escaped = text => String(text).replace(/[&<>"]/g, c => ({"&": "&amp;", "<": "&lt;", ">": "&gt;", '"': "&quot;"})[c]);
const textWidth = text => [...String(text)].reduce((width, c) => width + TYPE * (c >= "0" && c <= "9" ? 0.64 : 0.59), 0);
const count = number => number.toLocaleString("en-US");
const plural = (number, what) => `${count(number)} ${what}${number === 1 ? "" : "s"}`;
const distinct = numbers => [...new Set(numbers)].sort((a, b) => a - b);

// 0–7, 12, 16–31 of numbers.
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

// Lines of at most width pixels.
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

// Looks that the legends name.
const MARKS = {
    used: {fill: "var(--accent-tint)", stroke: "var(--accent)"},
    chosen: {fill: "var(--accent)", stroke: "var(--accent)"},
    other: {fill: "var(--quiet)", stroke: "var(--rule)"},
    late: {fill: "var(--warn-tint)", stroke: "var(--warn)"},
    waits: {fill: "var(--paper)", stroke: "var(--ink)"},
    sector: {stroke: "var(--faint)"},
    line: {stroke: "var(--ink)", line: 2},
    empty: {stroke: "var(--rule)"},
};
const FAINT = {fill: "var(--faint)"};

const attributes = named => Object.entries(named).filter(([, v]) => v !== undefined && v !== false && v !== null)
    .map(([k, v]) => ` ${k}="${escaped(typeof v === "number" ? +v.toFixed(1) : v)}"`).join("");

class Picture {
    // title: what is to be seen; says: the same in sentences, for those who do not see it.
    constructor(width, title) {
        Object.assign(this, {width, height: 0, title, says: [], parts: []});
    }
    // tip: said when it is pointed at; lanes: those that it belongs to.
    rect(x, y, width, height, {fill = "none", stroke, line, round, tip, lanes} = {}) {
        this.parts.push(`<rect${attributes({x, y, width, height, rx: round, fill, stroke, "stroke-width": line, "data-tip": tip,
            "data-lanes": lanes && ` ${lanes.join(" ")} `})}/>`);
        this.height = Math.max(this.height, y + height);
    }
    // halo: paper around the letters, where they stand over edges.
    text(x, y, text, {fill = "var(--ink)", anchor, bold, halo} = {}) {
        const around = halo ? {stroke: "var(--paper)", "stroke-width": 3, "stroke-linejoin": "round", "paint-order": "stroke"} : {};
        this.parts.push(`<text${attributes({x, y, fill, "text-anchor": anchor, "font-weight": bold && 600, ...around})}>` +
            `${escaped(text)}</text>`);
        this.height = Math.max(this.height, y + 4);
    }
    path(d, {stroke = "var(--faint)", line, dash} = {}) {
        const short = d.replace(/\d+\.\d+/g, n => +Number(n).toFixed(1));
        this.parts.push(`<path${attributes({d: short, fill: "none", stroke, "stroke-width": line, "stroke-dasharray": dash})}/>`);
    }
    // Not by colour alone: slanted lines over what was fetched in vain.
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
    // The first of several texts that a box has room for.
    label(x, y, w, h, texts, look = {}) {
        const fits = texts.find(t => textWidth(t) <= w - 3);
        if (fits !== undefined)
            this.text(x + w / 2, y + h / 2 + 4.3, fits, {anchor: "middle", ...look});
    }
    // These return where the next thing may begin.
    heading(y) {
        return this.paragraph(0, y + 1, this.title, this.width / 1.1, {bold: true}) + 1;
    }
    paragraph(x, y, text, width = this.width - x, look = FAINT) {
        const lines = wrapped(text, width);
        lines.forEach((t, i) => this.text(x, y + 12 + i * 17, t, look));
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
    // scale: of all lengths.
    svg(id, scale = 1) {
        const width = Math.round(this.width * scale), height = Math.ceil((this.height + 2) * scale), by = n => +(n * scale).toFixed(1);
        const parts = this.parts.join("\n").replace(/ (?:x|y|width|height|rx|stroke-width|d)="[^"]*"/g, all => all.replace(/-?\d+(?:\.\d+)?/g, by));
        return `<svg xmlns="http://www.w3.org/2000/svg" width="${width}" height="${height}" viewBox="0 0 ${width} ${height}" role="img"\n` +
            `aria-labelledby="${id}title ${id}text" font-family="'DejaVu Sans', Verdana, sans-serif" font-size="${TYPE * scale}">\n` +
            `<title id="${id}title">${escaped(this.title)}</title>\n` +
            `<desc id="${id}text">${escaped(this.says.filter(Boolean).join(" "))}</desc>\n${parts}\n</svg>`;
    }
}

const laneNames = lanes => lanes.length > 1 ? [ranges(lanes), `${lanes.length} lanes`, `×${lanes.length}`] : [String(lanes[0])];

// cells: [{x, w, lanes}] of a row. A name in each where all of a row of neighbours have room for theirs; else one for all of them.
function drawLaneNames(picture, cells, y, h) {
    for (let i = 0, end; i < cells.length; i = end) {
        end = i + 1;
        while (end < cells.length && Math.abs(cells[end].x - cells[end - 1].x - cells[end - 1].w) < 0.5)
            end++;
        const own = cells.slice(i, end), names = own.map(c => laneNames(c.lanes).find(t => textWidth(t) <= c.w - 3));
        if (names.every(Boolean)) {
            names.forEach((name, k) => picture.label(own[k].x, y, own[k].w, h, [name]));
            continue;
        }
        // A single one may use the empty room beside it.
        const x = own[0].x, right = own[own.length - 1].x + own[own.length - 1].w;
        const room = own.length > 1 ? 0 : Math.max(0, Math.min(10, (end < cells.length ? cells[end].x : right + 20) - right,
            i ? x - cells[i - 1].x - cells[i - 1].w : 20));
        picture.label(x - room / 2, y, right - x + room, h, [ranges(own.flatMap(c => c.lanes)), `${own[0].lanes[0]} …`], {halo: true});
    }
}
