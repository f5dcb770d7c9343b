// Global memory: the tensor as a matrix, and for the rows that a warp accesses the sectors and cache lines, the bytes of each lane,
// and the unused bytes of each sector.

// The accessed bytes by row: {rows: [{start, name, ordinal, cells: [{from, to, lanes}], unused: [[from, to]]}], sectors, lines,
// used, unused}. from and to are offsets in the row; used and unused are numbers of bytes.
function accessedBytes(sample, matrix, bytes) {
    const rows = new Map(), used = new Set(), sectors = new Set(), eb = matrix.elementBytes;
    const row = at => rows.get(at.start) || rows.set(at.start, {...at, cells: [], unused: []}).get(at.start);
    for (const {lane, from} of sample.accesses) {
        const end = from + bytes;
        for (let byte = from, to; byte < end; byte = to) {
            const own = row(matrix.at(byte)), edge = own.start + matrix.rowBytes;
            to = byte < edge && edge < end ? edge : end;
            const cell = {from: byte - own.start, to: to - own.start, lanes: [lane]};
            const same = own.cells.find(c => c.from === cell.from && c.to === cell.to);
            (same ? same.lanes : own.cells).push(same ? lane : cell);
        }
        for (let byte = from; byte < end; byte += eb)
            used.add(Math.floor(byte / eb));
        for (let s = Math.floor(from / SECTOR); s * SECTOR < end; s++)
            sectors.add(s);
    }
    let unused = 0;
    for (const sector of distinct(sectors))
        for (let byte = sector * SECTOR; byte < (sector + 1) * SECTOR; byte += eb) {
            if (used.has(Math.floor(byte / eb)))
                continue;
            unused += eb;
            if (byte >= matrix.tensor.bytes)
                continue;
            const own = row(matrix.at(byte)), from = byte - own.start, last = own.unused[own.unused.length - 1];
            if (last && last[1] === from && byte % SECTOR)
                last[1] = from + eb;
            else
                own.unused.push([from, from + eb]);
        }
    const sorted = [...rows.values()].sort((a, b) => a.start - b.start);
    sorted.forEach(r => r.cells.sort((a, b) => a.from - b.from));
    return {rows: sorted, sectors, lines: new Set([...sectors].map(s => Math.floor(s * SECTOR / CACHE_LINE))), used: used.size * eb, unused};
}

// The whole matrix in small: the position of this warp, and in grey those of the block's other warps in the same execution.
function overview(picture, y, matrix, area, others) {
    const {tensor} = matrix, scale = Math.min(96 / matrix.rows, 96 / matrix.columns), taken = area.rows.filter(r => r.cells.length);
    const h = Math.max(14, matrix.rows * scale), w = Math.max(14, matrix.columns * scale);
    const mark = (row, fill) => {
        const from = Math.min(...row.cells.map(c => c.from)), to = Math.max(...row.cells.map(c => c.to));
        picture.rect(1 + w * from / matrix.rowBytes, y + h * row.ordinal / matrix.rows,
            Math.max(1.5, w * Math.min(1, (to - from) / matrix.rowBytes)), Math.max(1.5, h / matrix.rows), {fill});
    };
    picture.rect(0.5, y, w + 1, h, MARKS.sector);
    for (const other of others)
        accessedBytes(other, matrix, other.site.bytes).rows.filter(r => r.cells.length).forEach(r => mark(r, "var(--faint)"));
    taken.forEach(r => mark(r, "var(--accent)"));
    const sentences = [matrix.known ? `${tensor.name}, complete: ${count(matrix.rows)} × ${matrix.columns}, ${tensor.dtype}.`
        : `${tensor.name}, ${count(tensor.bytes)} bytes of unknown shape, in rows of 256 bytes.`,
    `This warp accesses ${taken[0].name}${taken.length > 1 ? ` to ${taken[taken.length - 1].name}` : ""}` +
        `${others.length ? "; grey: the other warps of its block in the same execution." : "."}`];
    picture.description.push(...sentences);
    const below = sentences.reduce((at, sentence) => picture.paragraph(w + 14, at, sentence), y - 2);
    return Math.max(y + h, below) + 10;
}

// One row: unused bytes, the bytes of each lane, and over them the edges of sectors and cache lines.
function drawRow(picture, row, y, {at, first, last, unit, matrix, verb}) {
    const place = byte => matrix.known ? byte / matrix.elementBytes : row.start + byte, h = ROW - 4;
    const span = (from, to) => ranges([...Array(Math.max(1, place(to) - place(from))).keys()].map(i => place(from) + i));
    const box = (from, to) => [at(from), y + 1, at(to) - at(from), h];
    picture.text(0, y + 14, row.name, FAINT);
    for (const [from, to] of row.unused)
        picture.hatch(...box(from, to), {tip: `${row.name}, ${unit} ${span(from, to)}: in an accessed sector, requested by no lane`});
    for (const {from, to, lanes} of row.cells)
        picture.rect(...box(from, to), {...MARKS.used, line: 0.7, lanes,
            tip: `lane ${ranges(lanes)} ${verb} ${matrix.tensor.name}, ${row.name}, ${unit} ${span(from, to)}`});
    drawLaneNames(picture, row.cells.map(c => ({x: at(c.from), w: at(c.to) - at(c.from), lanes: c.lanes})), y + 1, h);
    for (let byte = first - (first + row.start) % SECTOR; byte < last; byte += SECTOR)
        picture.rect(...box(byte, byte + SECTOR), MARKS.sector);
    for (let byte = first - (first + row.start) % CACHE_LINE; byte <= last; byte += CACHE_LINE)
        if (byte >= first)
            picture.path(`M${at(byte)} ${y - 1}v${ROW}`, {stroke: "var(--ink)", line: 2});
}

// maxRows: number of rows to draw.
function drawGlobal(run, group, sample, others, width, maxRows = 32) {
    const matrix = new Matrix(run.tensors[sample.tensor], group.bytes), {tensor} = matrix, area = accessedBytes(sample, matrix, group.bytes);
    const writes = isWrite(group), verb = writes ? "writes" : "reads";
    const unusedLabel = writes ? "in an accessed sector, not written" : "loaded, not used";
    const picture = new Picture(width, `${plural(sample.lanes.length, "lane")} of a warp, ${group.bytes} bytes each, of ${tensor.name}: ` +
        `${plural(area.sectors.size, "sector")} in ${plural(area.lines.size, "cache line")}`);
    let y = overview(picture, picture.heading(0), matrix, area, others);

    // The whole row if it is legible, else only the accessed cache lines.
    const gutter = Math.max(...area.rows.map(r => textWidth(r.name))) + 12;
    let first = 0, last = matrix.rowBytes;
    if (last > (width > 500 ? 512 : 256)) {
        const marks = area.rows.flatMap(r => [...r.cells.map(c => [c.from, c.to]), ...r.unused]).flat();
        first = Math.floor(Math.min(...marks) / CACHE_LINE) * CACHE_LINE;
        last = Math.min(last, Math.ceil(Math.max(...marks) / CACHE_LINE) * CACHE_LINE);
    }
    const scale = (width - gutter - 2) / Math.max(last - first, SECTOR), unit = matrix.known ? "column" : "byte";
    const at = byte => gutter + (Math.min(Math.max(byte, first), last) - first) * scale;
    const step = CACHE_LINE * Math.ceil(80 / (CACHE_LINE * scale));
    for (let byte = first; byte < last && at(byte) + 40 < width; byte += step)
        picture.text(at(byte) + 1, y + 12, `${byte === first ? `${unit} ` : ""}${matrix.known ? byte / matrix.elementBytes : byte}`, FAINT);
    y += 18;
    const shown = area.rows.slice(0, maxRows);
    shown.forEach((row, i) => {
        const between = i ? row.ordinal - shown[i - 1].ordinal - 1 : 0;
        if (between > 0)
            picture.text(gutter, (y += 15) - 5, `${plural(between, "row")} between`, FAINT);
        drawRow(picture, row, y, {at, first, last, unit, matrix, verb});
        y += ROW;
    });
    if (area.rows.length > shown.length)
        y = picture.paragraph(gutter, y, `${plural(area.rows.length - shown.length, "more row")} not drawn`);
    picture.legend(y + 6, [["used", "bytes of a lane (its number)"], ...(area.unused ? [["unused", `${unusedLabel}: ${count(area.unused)} bytes`]] : []),
        ["sector", "a sector, 32 bytes"], ["line", "thick bars: edges of a cache line, 128 bytes"]]);
    picture.description.push(`Warp ${sample.warp} ${verb} ${count(area.used)} different bytes of ${tensor.name} in ` +
        `${plural(area.sectors.size, "sector")} of 32 bytes (ideal: ${Math.ceil(area.used / SECTOR)}).`,
    area.unused ? `${count(area.unused)} bytes are ${unusedLabel}.` : "",
    ...area.rows.slice(0, 8).filter(r => r.cells.length).map(r => `${r.name}: lanes ${ranges(r.cells.flatMap(c => c.lanes))}.`));
    return picture;
}
