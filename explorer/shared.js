// Shared memory: 32 banks as columns. First where the words lie, a row of 128 bytes below the other; then the wavefronts that bring
// them, as the simulator counted them.

const MOST_WAVEFRONTS = 40;

// The words of one row of banks, neighbours that the same lanes take together.
function bankCells(words) {
    const byBank = new Map();
    for (const {lane, word, late} of words) {
        const cell = byBank.get(word) || byBank.set(word, {bank: word % BANKS, word, lanes: [], late: false}).get(word);
        cell.lanes.push(lane);
        cell.late = cell.late || late;
    }
    const cells = [];
    for (const cell of [...byBank.values()].sort((a, b) => a.bank - b.bank)) {
        const last = cells[cells.length - 1];
        if (last && last.bank + last.width === cell.bank && last.word + last.width === cell.word && last.late === cell.late &&
            last.lanes.join() === cell.lanes.join())
            last.width++;
        else
            cells.push({...cell, width: 1});
    }
    return cells;
}

function drawShared(group, sample, width) {
    const {kernel} = group, parts = sample.parts;
    const words = sample.words, wavefronts = parts.length;
    // Of a part, all wavefronts but the first: what a conflict costs.
    const late = parts.map((part, i) => parts.indexOf(part) < i);
    const extra = late.filter(Boolean).length;
    words.forEach(w => w.late = Boolean(late[w.pass]));
    const worst = Math.max(1, ...[...new Set(parts)].map(p => parts.filter(q => q === p).length));
    const verb = /store|reduction/.test(group.kind) ? "written" : "read";
    const picture = new Picture(width, `${plural(sample.lanes.length, "lane")}, ${group.bytes} bytes each: ${plural(wavefronts, "wavefront")}` +
        (extra ? `, ${worst}-way bank conflict: ${wavefronts - extra} would do` : ", no bank conflict"));
    let y = picture.heading(0, picture.title);
    const gutter = 58, unit = (width - gutter - 2) / BANKS;
    const draw = (name, cells, look, order) => {
        picture.text(0, y + 14, name, look);
        picture.rect(gutter, y + 1, unit * BANKS, ROW - 3, MARKS.empty);
        for (const cell of cells)
            picture.rect(gutter + cell.bank * unit, y + 1, cell.width * unit, ROW - 3, {...(cell.late ? MARKS.late : MARKS.used), lanes: cell.lanes,
                tip: `${cell.width > 1 ? `banks ${cell.bank}–${cell.bank + cell.width - 1}` : `bank ${cell.bank}`}: ${sharedName(kernel, cell.word * 4)}, ` +
                    `lane ${ranges(cell.lanes)}, ${order(cell)}`});
        drawLaneNames(picture, cells.map(c => ({x: gutter + c.bank * unit, w: c.width * unit, lanes: c.lanes})), y + 1, ROW - 3);
        y += ROW;
    };
    const banks = () => {
        picture.text(0, y + 12, "bank", {fill: "var(--faint)"});
        for (let bank = 0; bank < BANKS; bank += width > 560 ? 4 : 8)
            picture.text(gutter + bank * unit + 1, y + 12, bank, {fill: "var(--faint)"});
        y += 16;
    };

    // Where they lie.
    const rows = new Map();
    for (const w of words) {
        const row = Math.floor(w.word / BANKS);
        (rows.get(row) || rows.set(row, []).get(row)).push(w);
    }
    const sorted = [...rows].sort((a, b) => a[0] - b[0]);
    const first = sharedName(kernel, words[0].word * 4), array = kernel.shared.find(a => words[0].word * 4 >= a.offset && words[0].word * 4 < a.offset + a.bytes);
    y = picture.paragraph(0, y - 4, `Where they lie: ${array ? array.name : "shared memory"} in rows of 128 bytes, a word a bank. The number is the lane; lane ` +
        `${words[0].lane} begins at ${first}.`);
    banks();
    let before = null;
    for (const [row, own] of sorted.slice(0, MOST_WAVEFRONTS)) {
        if (before !== null && row > before + 1) {
            picture.path(`M${gutter} ${y + 2}h${(unit * BANKS).toFixed(1)}`, {stroke: "var(--rule)", dash: "2 4"});
            y += 5;
        }
        before = row;
        draw(`+${row * 128}`, bankCells(own), {fill: "var(--faint)"}, cell =>
            `wavefront ${ranges([...new Set(own.filter(w => w.word === cell.word).map(w => w.pass + 1))].sort((a, b) => a - b))}`);
    }
    if (sorted.length > MOST_WAVEFRONTS)
        y = picture.paragraph(gutter, y, `and ${sorted.length - MOST_WAVEFRONTS} rows more, not drawn`);

    y = picture.paragraph(0, y + 10, `Wavefront by wavefront: in one, each bank gives one word, to all lanes that ask for it.`);
    banks();
    for (let pass = 0; pass < Math.min(wavefronts, MOST_WAVEFRONTS); pass++) {
        if (pass && parts[pass] !== parts[pass - 1])
            y += 4;
        draw(late[pass] ? `${pass + 1} again` : `${pass + 1}`, bankCells(words.filter(w => w.pass === pass)),
            {fill: late[pass] ? "var(--warn)" : "var(--ink)", bold: late[pass]}, () => `wavefront ${pass + 1}`);
    }
    if (wavefronts > MOST_WAVEFRONTS)
        y = picture.paragraph(gutter, y, `and ${wavefronts - MOST_WAVEFRONTS} wavefronts more, not drawn`);
    y = picture.legend(y + 6, [["used", `${verb}, by its lane's number`], ...(extra ? [["late", "again: a bank that was asked for another word first"]] : [])]);
    picture.says.push(`Warp ${sample.warp}: ${words.length} words of shared memory are ${verb} in ${plural(wavefronts, "wavefront")}.`,
        extra ? `${extra} of them are there only because lanes ask for different words of a bank.` : "No bank is asked for two words at once.",
        ...parts.slice(0, 8).map((_, pass) => `Wavefront ${pass + 1}: lanes ${ranges([...new Set(words.filter(w => w.pass === pass).map(w => w.lane))].sort((a, b) => a - b))}.`));
    picture.facts = {wavefronts, extra, worst};
    return picture;
}
