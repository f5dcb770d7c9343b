// Drawings as the text of an SVG, so that the page shows and a still holds the same. Sizes are CSS pixels; nothing is
// measured: a text's width is taken from that of digits in a wide sans-serif, of a line of words from that of letters.

const TYPE = 12, ROW = 20;

const escaped = text => String(text).replace(/[&<>"]/g, c => ({"&": "&amp;", "<": "&lt;", ">": "&gt;", '"': "&quot;"})[c]);
const textWidth = text => String(text).length * TYPE * 0.64;
const count = number => number.toLocaleString("en-US");
const plural = (number, what) => `${count(number)} ${what}${number === 1 ? "" : "s"}`;

// 0-7, 12, 16-31 of sorted numbers.
function ranges(numbers) {
    const runs = [];
    for (const n of numbers) {
        const last = runs[runs.length - 1];
        if (last && n === last[1] + 1)
            last[1] = n;
        else if (!last || n !== last[1])
            runs.push([n, n]);
    }
    return runs.map(([a, b]) => a === b ? `${a}` : b === a + 1 ? `${a}, ${b}` : `${a}–${b}`).join(", ");
}

// Lines of at most width pixels.
function wrapped(text, width) {
    const lines = [""];
    for (const word of text.split(" ")) {
        const longer = lines[lines.length - 1] ? `${lines[lines.length - 1]} ${word}` : word;
        if (textWidth(longer) * 0.9 <= width || !lines[lines.length - 1])
            lines[lines.length - 1] = longer;
        else
            lines.push(word);
    }
    return lines;
}

class Picture {
    // title: what is to be seen; says: the same in sentences, for those who do not see it.
    constructor(width, title) {
        this.width = width;
        this.height = 0;
        this.title = title;
        this.says = [];
        this.parts = [];
    }
    reach(y) {
        this.height = Math.max(this.height, y);
    }
    // look: fill, stroke, line (width), dash, round; tip: said when it is pointed at; lanes: those that it belongs to.
    rect(x, y, w, h, {fill = "none", stroke = "none", line = 1, dash, round, tip, lanes} = {}) {
        const told = tip ? ` data-tip="${escaped(tip)}"` : "";
        const own = lanes ? ` data-lanes=" ${lanes.join(" ")} "` : "";
        this.parts.push(`<rect x="${+x.toFixed(1)}" y="${+y.toFixed(1)}" width="${+w.toFixed(1)}" height="${+h.toFixed(1)}"` +
            `${round ? ` rx="${round}"` : ""} fill="${fill}" stroke="${stroke}" stroke-width="${line}"` +
            `${dash ? ` stroke-dasharray="${dash}"` : ""}${told}${own}/>`);
        this.reach(y + h);
    }
    // halo: paper around the letters, where they stand over edges.
    text(x, y, text, {fill = "var(--ink)", anchor = "start", bold = false, size = TYPE, halo = false} = {}) {
        this.parts.push(`<text x="${+x.toFixed(1)}" y="${+y.toFixed(1)}" fill="${fill}" text-anchor="${anchor}"` +
            `${halo ? ' stroke="var(--paper)" stroke-width="3" stroke-linejoin="round" paint-order="stroke"' : ""}` +
            `${bold ? ' font-weight="600"' : ""}${size === TYPE ? "" : ` font-size="${size}"`}>${escaped(text)}</text>`);
        this.reach(y + 4);
    }
    path(d, {stroke = "var(--faint)", line = 1, fill = "none", dash} = {}) {
        this.parts.push(`<path d="${d}" fill="${fill}" stroke="${stroke}" stroke-width="${line}"` +
            `${dash ? ` stroke-dasharray="${dash}"` : ""}/>`);
    }
    // Not by colour alone: slanted lines over what was fetched or waited for in vain.
    hatch(x, y, w, h, {tip} = {}) {
        this.rect(x, y, w, h, {fill: "var(--warn-tint)", tip});
        let d = "";
        for (let t = -h + 3; t < w; t += 6) {
            const from = Math.max(0, -t), to = Math.min(h, w - t);
            if (to > from)
                d += `M${(x + t + from).toFixed(1)} ${(y + h - from).toFixed(1)}L${(x + t + to).toFixed(1)} ${(y + h - to).toFixed(1)}`;
        }
        this.path(d, {stroke: "var(--warn)", line: 0.8});
    }
    // A text in a box, where it is not wider than that; shorter ones are tried in turn.
    label(x, y, w, h, texts, look = {}) {
        const fits = texts.find(t => textWidth(t) <= w - 3);
        if (fits !== undefined)
            this.text(x + w / 2, y + h / 2 + 4.3, fits, {anchor: "middle", ...look});
        return fits !== undefined;
    }
    heading(y, text) {
        const lines = wrapped(text, this.width / 1.1);
        lines.forEach((t, i) => this.text(0, y + 13 + i * 17, t, {bold: true}));
        return y + lines.length * 17 + 6;
    }
    paragraph(x, y, text, width = this.width - x) {
        const lines = wrapped(text, width);
        lines.forEach((t, i) => this.text(x, y + 12 + i * 17, t, {fill: "var(--faint)"}));
        return y + lines.length * 17 + 4;
    }
    // entries: [kind, text]; kind is one of the marks below.
    legend(y, entries) {
        let x = 0;
        for (const [kind, text] of entries) {
            const w = 30 + textWidth(text) * 0.95 + 14;
            if (x > 0 && x + w - 14 > this.width) {
                x = 0;
                y += 20;
            }
            if (kind === "unused")
                this.hatch(x, y + 2, 20, 12);
            else
                this.rect(x + 0.5, y + 2.5, 20, 12, MARKS[kind]);
            wrapped(text, this.width - 30).forEach((line, i) => {
                y += i ? 17 : 0;
                this.text(x + 28, y + 13, line, {fill: "var(--faint)"});
            });
            x += w;
        }
        return y + 24;
    }
    svg(id) {
        const box = `${Math.ceil(this.width)} ${Math.ceil(this.height) + 2}`;
        const [width, height] = box.split(" ");
        return `<svg xmlns="http://www.w3.org/2000/svg" width="${width}" height="${height}" viewBox="0 0 ${box}" role="img" ` +
            `aria-labelledby="${id}-title ${id}-text" font-family="'DejaVu Sans', Verdana, sans-serif" font-size="${TYPE}">\n` +
            `<title id="${id}-title">${escaped(this.title)}</title>\n<desc id="${id}-text">${escaped(this.says.join(" "))}</desc>\n` +
            `${this.parts.join("\n")}\n</svg>`;
    }
}

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
