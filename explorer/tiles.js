// Tiles in shared memory as bulk copies leave them there and wgmma finds them, by the simulator's own maps of both: rows of 128 bytes,
// eight units of 16.

const UNIT = 16, UNITS = 8, ROW_BYTES = UNIT * UNITS;

// What the block's bulk copies until `seq` have put into each unit of shared memory: Map(address -> {box, row, column, tensor, said}), with
// the box's first address, the row in it, the tensor's column. tensor: null for zeros from beyond it.
function landed(run, kernel, block, seq) {
    const units = new Map(), copies = run.groups.filter(g => g.kernel === kernel && g.kind === "bulk copy");
    const samples = space => copies.filter(g => g.space === space).flatMap(g => g.samples).filter(s => s.block === block && s.seq <= seq);
    for (const sample of samples("shared").filter(s => s.tiles.length).sort((a, b) => a.seq - b.seq)) {
        const [box, rowBytes] = sample.addresses, each = rowBytes / UNIT;
        const from = samples("global").find(s => s.warp === sample.warp && s.seq === sample.seq), rows = from ? expanded(from.addresses) : [];
        const tensor = from && from.tensor !== null ? run.tensors[from.tensor] : null, matrix = tensor && new Matrix(tensor, rowBytes);
        expanded(sample.tiles[0].units).forEach((address, i) => {
            const row = Math.floor(i / each), offset = row < rows.length ? rows[row] + i % each * UNIT : null, known = matrix && offset !== null;
            units.set(address, {box, row, tensor: known ? tensor : null, column: known ? matrix.at(offset).column : null,
                said: known ? `${tensor.name}, ${matrix.named(offset)}` : "beyond the tensor: 0"});
        });
    }
    return units;
}

// What a descriptor says.
function described(tile) {
    const parts = [`${tile.name} begins at byte ${tile.start}`, `eight rows further on are ${count(tile.stride)} bytes on`];
    if (tile.mn_major)
        parts.push(`the next slice is ${count(tile.leading)} bytes on`);
    return `The descriptor says: ${parts.join("; ")}; ${tile.swizzle ? `swizzled within ${tile.swizzle} bytes` : "not swizzled"}.`;
}

// Slices beside each other; returns where the next thing may begin.
function drawSlices(picture, y, slices, read, each) {
    const gutter = 28, gap = 12, cell = ROW - 2, unit = (picture.width - gutter - (slices.length - 1) * gap - 2) / (slices.length * UNITS);
    slices.forEach(({name, rows, units}, k) => {
        const left = gutter + k * (unit * UNITS + gap);
        picture.text(left, y + 12, name, FAINT);
        rows.forEach((row, r) => {
            const top = y + 18 + r * cell, own = [...Array(UNITS).keys()].map(u => row * ROW_BYTES + u * UNIT);
            if (k === 0)
                picture.text(gutter - 6, top + 13, units.get(own[0]).row, {...FAINT, anchor: "end"});
            own.forEach((address, u) => {
                const {column, said} = units.get(address), box = [left + u * unit, top, unit, cell];
                picture.rect(...box, {...(read.has(address) ? MARKS.used : MARKS.empty), tip: `byte ${count(address)}: ${said}`});
                picture.label(...box, [column === null ? "0" : `c${column / each}`]);
            });
        });
    });
    return y + 18 + Math.max(...slices.map(s => s.rows.length)) * cell;
}

// most: rows of a slice that are drawn, and two before and behind them.
function drawTile(run, group, sample, tile, width, most = 16) {
    const {kernel} = group, touched = new Set(expanded(tile.units)), box = tile.name === "box", units = landed(run, kernel, sample.block, sample.seq);
    const marked = [...touched].map(a => units.get(a)).filter(Boolean), {tensor} = marked.find(u => u.tensor) || {tensor: null};
    const name = tensor ? tensor.name : "shared memory", each = tensor ? UNIT / tensor.element_bytes : UNIT;
    const rowsOf = (addresses, first) => distinct([...addresses].filter(a => units.has(a) && units.get(a).box === first).map(a => Math.floor(a / ROW_BYTES)));
    const slices = distinct(marked.map(u => u.box)).map((first, i) => {
        const own = rowsOf(touched, first), from = own[0] - 2, to = own[Math.min(own.length, most) - 1] + 2;
        return {name: `slice ${i}, from byte ${first} on`, units, read: own.length, rows: rowsOf(units.keys(), first).filter(row => row >= from && row <= to)};
    });
    const picture = new Picture(width, `${name} in shared memory${box ? ", as a bulk copy leaves it" : `, and what one product reads of it`}`);
    let y = picture.paragraph(0, picture.heading(0) - 4, `A line is a row of the tile, 128 bytes. c0 are the first 16 bytes of that row of ${name}: ` +
        `${each} columns; c1 are the next ones.`);
    if (!slices.length)
        y = picture.paragraph(0, y, "No bulk copy that was kept has been here.");
    const beside = width >= 500 ? 2 : 1;
    for (let i = 0; i < slices.length; i += beside)
        y = drawSlices(picture, y, slices.slice(i, i + beside), touched, each) + 8;
    const rows = Math.max(0, ...slices.map(s => s.read));
    const says = [...(rows > most ? [`${rows} rows are ${box ? "written" : "read"}; those that are not drawn follow in the same way.`] : []), ...(box ? [] : [described(tile)])];
    y = says.reduce((at, sentence) => picture.paragraph(0, at, sentence), y - 4);
    picture.legend(y, [["used", box ? "written" : "read by this product"]]);
    picture.says.push(`${box ? "Written" : "Read"}: rows ${ranges(marked.map(u => u.row))}, ` +
        `c${ranges(marked.filter(u => u.tensor).map(u => u.column / each)).replace(/–/g, "–c").replace(/, /g, ", c")}.`, ...says);
    return picture;
}
