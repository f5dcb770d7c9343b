// Global memory: the tensor as the matrix that it is; of the rows that a warp touches, the sectors and cache lines, which lane
// takes what, and what is fetched for nothing.

const MOST_ROWS = 32;

// Which bytes of which rows: {rows: [{start, name, ordinal, cells: [{from, to, lanes}], unused: [[from, to]]}], ...}; from and to
// count from the row's start.
function touched(sample, matrix, bytes) {
    const rows = new Map(), used = new Set(), sectors = new Set(), eb = matrix.elementBytes;
    const row = at => rows.get(at.start) || rows.set(at.start, {...at, cells: [], unused: []}).get(at.start);
    for (const {lane, from} of sample.accesses) {
        for (let byte = from; byte < from + bytes;) {
            const own = row(matrix.at(byte));
            const to = Math.min(from + bytes, own.start + matrix.rowBytes > byte ? own.start + matrix.rowBytes : from + bytes);
            const cell = {from: byte - own.start, to: to - own.start};
            const same = own.cells.find(c => c.from === cell.from && c.to === cell.to);
            if (same)
                same.lanes.push(lane);
            else
                own.cells.push({...cell, lanes: [lane]});
            byte = to;
        }
        for (let byte = from; byte < from + bytes; byte += Math.min(eb, bytes))
            used.add(Math.floor(byte / eb));
        for (let s = Math.floor(from / SECTOR); s <= Math.floor((from + bytes - 1) / SECTOR); s++)
            sectors.add(s);
    }
    let unused = 0;
    for (const sector of [...sectors].sort((a, b) => a - b))
        for (let byte = sector * SECTOR; byte < (sector + 1) * SECTOR; byte += eb) {
            if (used.has(Math.floor(byte / eb)))
                continue;
            unused += eb;
            if (byte >= matrix.tensor.bytes)
                continue;
            const own = row(matrix.at(byte)), from = byte - own.start, last = own.unused[own.unused.length - 1];
            if (last && last[1] === from && from % SECTOR)
                last[1] = from + eb;
            else
                own.unused.push([from, from + eb]);
        }
    const sorted = [...rows.values()].sort((a, b) => a.start - b.start);
    sorted.forEach(r => r.cells.sort((a, b) => a.from - b.from));
    const lines = new Set([...sectors].map(s => Math.floor(s * SECTOR / CACHE_LINE)));
    return {rows: sorted, sectors, lines, unused, usedBytes: used.size * eb};
}

// The whole matrix, small: where this warp reads, and lighter where the block's others do in the same execution.
function overview(picture, y, run, matrix, area, others) {
    const scale = Math.min(96 / matrix.rows, 96 / matrix.columns);
    const h = Math.max(14, Math.min(96, matrix.rows * scale)), w = Math.max(14, Math.min(96, matrix.columns * scale));
    const mark = (row, look) => {
        const from = Math.min(...row.cells.map(c => c.from)), to = Math.max(...row.cells.map(c => c.to));
        picture.rect(1 + w * from / matrix.rowBytes, y + h * row.ordinal / matrix.rows,
            Math.max(1.5, w * Math.min(1, (to - from) / matrix.rowBytes)), Math.max(1.5, h / matrix.rows), look);
    };
    picture.rect(0.5, y, w + 1, h, MARKS.sector);
    for (const other of others)
        touched(other, matrix, other.site.bytes).rows.filter(r => r.cells.length).forEach(r => mark(r, {fill: "var(--faint)"}));
    area.rows.filter(r => r.cells.length).forEach(r => mark(r, {fill: "var(--accent)"}));
    const {tensor} = matrix, rows = area.rows.filter(r => r.cells.length);
    const where = [
        matrix.known ? `${tensor.name}, the whole of it: ${count(matrix.rows)} × ${matrix.columns} ${tensor.dtype || "elements"}.`
            : `${tensor.name}, ${count(tensor.bytes)} bytes, whose shape nobody told; drawn in rows of 256 bytes.`,
        `This warp is at ${rows[0].name}${rows.length > 1 ? ` to ${rows[rows.length - 1].name}` : ""}` +
            `${others.length ? "; grey: the other warps of its block in the same execution." : "."}`];
    let below = y;
    for (const sentence of where)
        below = picture.paragraph(w + 14, below - 2, sentence) + 2;
    picture.says.push(...where);
    return Math.max(y + h, below) + 10;
}

function drawGlobal(run, group, sample, others, width) {
    const tensor = run.tensors[sample.tensor];
    const matrix = new Matrix(tensor, group.bytes);
    const area = touched(sample, matrix, group.bytes);
    const verb = /store|reduction/.test(group.kind) ? "writes" : "reads";
    const lanes = sample.lanes.length;
    const picture = new Picture(width, `${plural(lanes, "lane")} of a warp, ${group.bytes} bytes each, of ${tensor.name}: ${plural(area.sectors.size, "sector")} ` +
        `in ${plural(area.lines.size, "line")}`);
    let y = picture.heading(0, picture.title);
    y = overview(picture, y, run, matrix, area, others);

    // As many columns as can be read, from the first line that is touched.
    const gutter = Math.max(...area.rows.map(r => textWidth(r.name))) + 12;
    const roomy = width > 560 ? 512 : 256;
    let first = 0, last = matrix.rowBytes;
    if (matrix.rowBytes > roomy) {
        const marks = area.rows.flatMap(r => [...r.cells.map(c => [c.from, c.to]), ...r.unused]).flat();
        first = Math.floor(Math.min(...marks) / CACHE_LINE) * CACHE_LINE;
        last = Math.min(matrix.rowBytes, Math.ceil(Math.max(...marks) / CACHE_LINE) * CACHE_LINE);
    }
    const scale = (width - gutter - 2) / Math.max(last - first, SECTOR);
    const at = byte => gutter + (Math.min(Math.max(byte, first), last) - first) * scale;
    const unit = matrix.known ? "column" : "byte";
    const step = CACHE_LINE * Math.ceil(60 / (CACHE_LINE * scale));
    for (let byte = first; byte < last; byte += step) {
        const text = `${byte === first && textWidth(unit) + 30 < step * scale ? `${unit} ` : ""}${matrix.known ? byte / matrix.elementBytes : byte}`;
        picture.text(at(byte) + 1, y + 12, text, {fill: "var(--faint)"});
    }
    y += 18;
    const shown = area.rows.slice(0, MOST_ROWS);
    shown.forEach((row, i) => {
        const before = shown[i - 1];
        if (before && row.ordinal > before.ordinal + 1) {
            picture.text(gutter, y + 10, `${plural(row.ordinal - before.ordinal - 1, "row")} between`, {fill: "var(--faint)", size: 11});
            y += 15;
        }
        picture.text(0, y + 14, row.name, {fill: "var(--faint)"});
        for (const [from, to] of row.unused)
            picture.hatch(at(from), y + 1, at(to) - at(from), ROW - 4, {tip: `${row.name}, ${unit} ${from / (matrix.known ? matrix.elementBytes : 1)}` +
                `–${to / (matrix.known ? matrix.elementBytes : 1) - 1}: in a sector that is touched, and asked for by no lane`});
        for (const cell of row.cells) {
            const columns = ranges(matrix.known ? Array.from({length: Math.max(1, Math.floor((cell.to - cell.from) / matrix.elementBytes))},
                (_, k) => cell.from / matrix.elementBytes + k) : [cell.from]);
            picture.rect(at(cell.from), y + 1, at(cell.to) - at(cell.from), ROW - 4, {...MARKS.used, line: 0.7, lanes: cell.lanes,
                tip: `lane ${ranges(cell.lanes)} ${verb} ${tensor.name}, ${row.name}, ${unit} ${columns}`});
        }
        drawLaneNames(picture, row.cells.map(c => ({x: at(c.from), w: at(c.to) - at(c.from), lanes: c.lanes})), y + 1, ROW - 4);
        const edge = row.start % SECTOR;
        for (let byte = first - (first + edge) % SECTOR; byte < last; byte += SECTOR)
            picture.rect(at(byte), y + 1, at(byte + SECTOR) - at(byte), ROW - 4, MARKS.sector);
        for (let byte = first - (first + row.start) % CACHE_LINE; byte <= last; byte += CACHE_LINE)
            if (byte >= first)
                picture.path(`M${at(byte).toFixed(1)} ${y - 1}v${ROW}`, {stroke: "var(--ink)", line: 2});
        y += ROW;
    });
    if (area.rows.length > shown.length) {
        y = picture.paragraph(gutter, y, `and ${plural(area.rows.length - shown.length, "row")} more, not drawn`);
        picture.says.push(`${area.rows.length - shown.length} rows more are not drawn.`);
    }
    y = picture.legend(y + 6, [["used", "a lane's, by its number"], ...(area.unused ? [["unused", `fetched, not used: ${count(area.unused)} bytes`]] : []),
        ["sector", "a sector, 32 bytes"], ["line", "between thick bars a line, 128 bytes"]]);
    picture.says.push(`Warp ${sample.warp} ${verb} ${count(area.usedBytes)} different bytes of ${tensor.name} in ${plural(area.sectors.size, "sector")} of 32 bytes; ` +
        `${Math.ceil(area.usedBytes / SECTOR)} could hold them. ${area.unused ? `${count(area.unused)} bytes are fetched and not used. ` : ""}` +
        area.rows.slice(0, 8).filter(r => r.cells.length).map(r => `${r.name}: lanes ${ranges([...new Set(r.cells.flatMap(c => c.lanes))].sort((a, b) => a - b))}.`).join(" "));
    return picture;
}

const laneNames = lanes => lanes.length > 1 ? [ranges(lanes), `${lanes.length} lanes`, `×${lanes.length}`] : [String(lanes[0])];

// A number in each cell where all of a row of neighbours have room for theirs; else one for all of them.
function drawLaneNames(picture, cells, y, h) {
    for (let i = 0; i < cells.length;) {
        const cell = cells[i];
        let end = i + 1;
        while (end < cells.length && Math.abs(cells[end].x - cells[end - 1].x - cells[end - 1].w) < 0.5)
            end++;
        const names = cells.slice(i, end).map(c => laneNames(c.lanes).find(t => textWidth(t) <= c.w - 3));
        if (names.every(Boolean)) {
            names.forEach((name, k) => picture.label(cells[i + k].x, y, cells[i + k].w, h, [name]));
            i = end;
            continue;
        }
        const lanes = cells.slice(i, end).flatMap(c => c.lanes), sorted = [...new Set(lanes)].sort((a, b) => a - b);
        const right = cells[end - 1].x + cells[end - 1].w;
        const spare = (end < cells.length ? cells[end].x : right + 20) - right, left = i ? cell.x - cells[i - 1].x - cells[i - 1].w : 20;
        const room = right - cell.x + (end === i + 1 ? Math.max(0, Math.min(spare, left, 10)) : 0);
        picture.label(cell.x - (room - right + cell.x) / 2, y, room, h, [ranges(sorted)], {halo: true});
        i = end;
    }
}
