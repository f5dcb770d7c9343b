// The position of each warp at a point of the execution order, and the recorded values of its lanes.

// The steps of a warp as [{seq, place}].
function stepsOf(kernel, block, warp) {
    const steps = kernel.steps.find(s => s.block === block && s.warp === warp);
    if (!steps)
        return [];
    let seq = 0;
    return steps.seq.map((d, i) => ({seq: seq += d, place: steps.place[i]}));
}

// All steps of a block's warps in execution order: [{seq, warp, place}].
function orderOf(kernel, block) {
    return kernel.steps.filter(s => s.block === block).flatMap(s => stepsOf(kernel, block, s.warp).map(step => ({...step, warp: s.warp})))
        .sort((a, b) => a.seq - b.seq);
}

const sampleOf = ([block, warp, n, seq, mask, values]) => ({block, warp, n, seq, lanes: lanesOf(mask), values});

// The last sample of a value that the warp had computed by a sequence number.
const lastOf = (value, block, warp, seq) => value.samples.map(sampleOf).filter(s => s.block === block && s.warp === warp && s.seq <= seq).pop();

function laneValue(sample, lane) {
    const i = sample.lanes.indexOf(lane);
    return i < 0 ? null : Array.isArray(sample.values) ? sample.values[i] : sample.values;
}

const shortNumber = v => v === null || v === undefined ? "–" : typeof v === "string" ? v : Number.isInteger(v) && Math.abs(v) < 1e7 ? String(v)
    : Math.abs(v) >= 1e5 || Math.abs(v) < 1e-3 ? v.toExponential(2) : v.toPrecision(4);

// Variables that a line declares or assigns and that have no recorded value.
function unknownNames(text, known) {
    const code = text.replace(/\/\/.*/, "").replace(/"[^"]*"/g, "");
    const names = [...code.matchAll(/([A-Za-z_]\w*)(?:\[[^\]]*\])*\s*(?:[-+*\/^|&%]|<<|>>)?=(?!=)/g)].map(m => m[1]);
    return [...new Set(names)].filter(name => !known.has(name) && !known.has(name.replace(/\[.*/, "")));
}

// The values of one lane per execution, with the current one marked: a running maximum, a running sum.
function drawSeries(value, block, warp, lane, seq, width) {
    const points = value.samples.map(sampleOf).filter(s => s.block === block && s.warp === warp).map(s => ({seq: s.seq, value: laneValue(s, lane)}));
    const numbers = points.map(p => p.value).filter(v => typeof v === "number"), low = Math.min(...numbers), high = Math.max(...numbers), h = 96;
    const picture = new Picture(width, `${value.name || "A value"} of lane ${lane}, warp ${warp}, per execution`);
    const y = picture.heading(0), gutter = 12 + Math.max(textWidth(shortNumber(low)), textWidth(shortNumber(high)));
    const step = Math.min(64, (width - gutter - 8) / points.length), at = v => y + 8 + (high === low ? h / 2 : h * (high - v) / (high - low));
    picture.description.push(`${points.map((p, i) => `${i + 1}. ${shortNumber(p.value)}`).join("; ")}.`);
    if (!numbers.length)
        return picture.paragraph(0, y, picture.description[0]) && picture;
    for (const v of distinct([high, low])) {
        picture.text(gutter - 8, at(v) + 4, shortNumber(v), {...FAINT, anchor: "end"});
        picture.path(`M${gutter} ${at(v)}h${step * points.length}`, {stroke: "var(--rule)", dash: "2 4"});
    }
    let d = "";
    points.forEach((p, i) => {
        const x = gutter + i * step, last = p.seq <= seq && (!points[i + 1] || points[i + 1].seq > seq);
        picture.rect(x, y, step, h + 16, {fill: last ? "var(--accent-tint)" : "transparent", tip: `execution ${i + 1}: ${shortNumber(p.value)}`});
        if (i % Math.ceil(20 / step) === 0)
            picture.text(x + step / 2, y + h + 32, i + 1, {...FAINT, anchor: "middle"});
        if (typeof p.value === "number")
            d += `${d ? "L" : "M"}${x} ${at(p.value)}h${step}`;
    });
    picture.path(d, {stroke: "var(--accent)", line: 2});
    return picture;
}
