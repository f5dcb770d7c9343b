// Tiles in shared memory as TMA writes them and wgmma reads them, from the simulator's address maps of both: rows of 128 bytes, eight
// 16-byte chunks each.

const CHUNK = 16, CHUNKS = 8, ROW_BYTES = CHUNK * CHUNKS;

// The contents of shared memory after the block's TMA loads up to `seq`, per 16-byte chunk: Map(address -> {box, row, column, tensor,
// label}) with the first address of the box, the row in the box, and the tensor's column. tensor: null for out-of-bounds zeros.
function tileContents(run, kernel, block, seq) {
    const units = new Map(), copies = run.groups.filter(g => g.kernel === kernel && g.kind === "bulk copy");
    const samples = space => copies.filter(g => g.space === space).flatMap(g => g.samples).filter(s => s.block === block && s.seq <= seq);
    for (const sample of samples("shared").filter(s => s.tiles.length).sort((a, b) => a.seq - b.seq)) {
        const [box, rowBytes] = sample.addresses, each = rowBytes / CHUNK;
        const from = samples("global").find(s => s.warp === sample.warp && s.seq === sample.seq), rows = from ? expanded(from.addresses) : [];
        const tensor = from && from.tensor !== null ? run.tensors[from.tensor] : null, matrix = tensor && new Matrix(tensor, rowBytes);
        expanded(sample.tiles[0].units).forEach((address, i) => {
            const row = Math.floor(i / each), offset = row < rows.length ? rows[row] + i % each * CHUNK : null, known = matrix && offset !== null;
            units.set(address, {box, row, tensor: known ? tensor : null, column: known ? matrix.at(offset).column : null,
                label: known ? `${tensor.name}, ${matrix.named(offset)}` : "out of bounds: 0"});
        });
    }
    return units;
}

// Describes a wgmma matrix descriptor.
function describeDescriptor(tile) {
    const parts = [`start address of ${tile.name} ${tile.start}`, `stride byte offset (eight rows) ${count(tile.stride)}`];
    if (tile.mn_major)
        parts.push(`leading byte offset (next panel) ${count(tile.leading)}`);
    return `Matrix descriptor: ${parts.join("; ")}; ${tile.swizzle ? `${tile.swizzle}-byte swizzle` : "no swizzle"}.`;
}

// Draws panels side by side; returns the y of the next element.
function drawPanels(picture, y, panels, read, each) {
    const gutter = 28, gap = 12, cell = ROW - 2, unit = (picture.width - gutter - (panels.length - 1) * gap - 2) / (panels.length * CHUNKS);
    panels.forEach(({name, rows, units}, k) => {
        const left = gutter + k * (unit * CHUNKS + gap);
        picture.text(left, y + 12, name, FAINT);
        rows.forEach((row, r) => {
            const top = y + 18 + r * cell, own = [...Array(CHUNKS).keys()].map(u => row * ROW_BYTES + u * CHUNK);
            if (k === 0)
                picture.text(gutter - 6, top + 13, units.get(own[0]).row, {...FAINT, anchor: "end"});
            own.forEach((address, u) => {
                const {column, label} = units.get(address), box = [left + u * unit, top, unit, cell];
                picture.rect(...box, {...(read.has(address) ? MARKS.used : MARKS.empty), tip: `byte ${count(address)}: ${label}`});
                picture.label(...box, [column === null ? "0" : `c${column / each}`]);
            });
        });
    });
    return y + 18 + Math.max(...panels.map(s => s.rows.length)) * cell;
}

// maxRows: number of accessed rows of a panel to draw; two more are drawn before and after them.
function drawTile(run, group, sample, tile, width, maxRows = 16) {
    const {kernel} = group, accessed = new Set(expanded(tile.units)), box = tile.name === "box", units = tileContents(run, kernel, sample.block, sample.seq);
    const marked = [...accessed].map(a => units.get(a)).filter(Boolean), {tensor} = marked.find(u => u.tensor) || {tensor: null};
    const name = tensor ? tensor.name : "shared memory", each = tensor ? CHUNK / tensor.element_bytes : CHUNK;
    const rowsOf = (addresses, first) => distinct([...addresses].filter(a => units.has(a) && units.get(a).box === first).map(a => Math.floor(a / ROW_BYTES)));
    const panels = distinct(marked.map(u => u.box)).map((first, i) => {
        const own = rowsOf(accessed, first), from = own[0] - 2, to = own[Math.min(own.length, maxRows) - 1] + 2;
        return {name: `panel ${i}, from byte ${first} on`, units, read: own.length, rows: rowsOf(units.keys(), first).filter(row => row >= from && row <= to)};
    });
    const picture = new Picture(width, `${name} in shared memory${box ? ", as written by TMA" : `, and the elements that one wgmma reads`}`);
    let y = picture.paragraph(0, picture.heading(0) - 4, `A line is a row of the tile, 128 bytes. c0 is the first 16-byte chunk of that row of ${name}: ` +
        `${each} columns; c1 is the next chunk.`);
    if (!panels.length)
        y = picture.paragraph(0, y, "No recorded TMA load wrote to these addresses.");
    const beside = width >= 500 ? 2 : 1;
    for (let i = 0; i < panels.length; i += beside)
        y = drawPanels(picture, y, panels.slice(i, i + beside), accessed, each) + 8;
    const rows = Math.max(0, ...panels.map(s => s.read));
    const sentences = [...(rows > maxRows ? [`${rows} rows are ${box ? "written" : "read"}; the rows that are not drawn continue the pattern.`] : []), ...(box ? [] : [describeDescriptor(tile)])];
    y = sentences.reduce((at, sentence) => picture.paragraph(0, at, sentence), y - 4);
    picture.legend(y, [["used", box ? "written" : "read by this wgmma"]]);
    picture.description.push(`${box ? "Written" : "Read"}: rows ${ranges(marked.map(u => u.row))}, ` +
        `c${ranges(marked.filter(u => u.tensor).map(u => u.column / each)).replace(/–/g, "–c").replace(/, /g, ", c")}.`, ...sentences);
    return picture;
}
