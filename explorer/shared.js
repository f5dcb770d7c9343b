// Shared memory: 32 banks as columns. First the layout of the words in rows of 128 bytes, then the wavefronts that serve them, as the
// simulator counted them.

// The words of one row of banks; adjacent words of the same lanes are one cell.
function bankCells(words) {
    const byWord = new Map();
    for (const {lane, word, conflict} of words) {
        const cell = byWord.get(word) || byWord.set(word, {bank: word % BANKS, word, width: 1, lanes: [], conflict: false}).get(word);
        cell.lanes.push(lane);
        cell.conflict = cell.conflict || conflict;
    }
    const cells = [], end = cell => cell && `${cell.word + cell.width} ${cell.bank + cell.width} ${cell.conflict} ${cell.lanes}`;
    for (const cell of [...byWord.values()].sort((a, b) => a.bank - b.bank)) {
        if (end(cells[cells.length - 1]) === `${cell.word} ${cell.bank} ${cell.conflict} ${cell.lanes}`)
            cells[cells.length - 1].width++;
        else
            cells.push(cell);
    }
    return cells;
}

function drawBanks(picture, kernel, name, words, y, look, order) {
    const gutter = 62, unit = (picture.width - gutter - 2) / BANKS, cells = bankCells(words), h = ROW - 3;
    const box = c => ({x: gutter + c.bank * unit, w: c.width * unit, lanes: c.lanes});
    picture.text(0, y + 14, name, look);
    picture.rect(gutter, y + 1, unit * BANKS, h, MARKS.empty);
    for (const cell of cells)
        picture.rect(box(cell).x, y + 1, box(cell).w, h, {...(cell.conflict ? MARKS.conflict : MARKS.used), lanes: cell.lanes,
            tip: `bank ${ranges([...Array(cell.width).keys()].map(i => cell.bank + i))}: ${sharedName(kernel, cell.word * 4)}, ` +
                `lane ${ranges(cell.lanes)}, wavefront ${order(cell)}`});
    drawLaneNames(picture, cells.map(box), y + 1, h);
    return y + ROW;
}

function drawBankNumbers(picture, y) {
    picture.text(0, y + 12, "bank", FAINT);
    for (let bank = 0; bank < BANKS; bank += picture.width > 500 ? 4 : 8)
        picture.text(63 + bank * (picture.width - 64) / BANKS, y + 12, bank, FAINT);
    return y + 16;
}

// maxRows: number of 128-byte rows, and of wavefronts, to draw.
function drawShared(group, sample, width, maxRows = 40) {
    const {kernel} = group, {parts, words} = sample, wavefronts = parts.length, verb = isWrite(group) ? "written" : "read";
    // Every wavefront after the first of its part is the cost of a bank conflict.
    const isExtra = parts.map((part, i) => parts.indexOf(part) < i), extra = isExtra.filter(Boolean).length;
    const worst = Math.max(...parts.map(p => parts.filter(q => q === p).length));
    words.forEach(w => w.conflict = Boolean(isExtra[w.wavefront]));
    const picture = new Picture(width, `${plural(sample.lanes.length, "lane")}, ${group.bytes} bytes each: ${plural(wavefronts, "wavefront")}` +
        (extra ? `, ${worst}-way bank conflict; ideal ${wavefronts - extra}` : ", no bank conflict"));
    const first = words[0].word * 4, array = kernel.shared.find(a => first >= a.offset && first < a.offset + a.bytes);
    let y = picture.paragraph(0, picture.heading(0) - 4, `Layout: ${array ? array.name : "shared memory"} in rows of 128 bytes, one word per ` +
        `bank. A number is a lane; lane ${words[0].lane} starts at ${sharedName(kernel, first)}.`);
    y = drawBankNumbers(picture, y);
    const row = w => Math.floor(w.word / BANKS), rows = distinct(words.map(row));
    rows.slice(0, maxRows).forEach((number, i) => {
        if (i && number > rows[i - 1] + 1)
            picture.path(`M62 ${(y += 5) - 3}H${width - 2}`, {stroke: "var(--rule)", dash: "2 4"});
        y = drawBanks(picture, kernel, `+${number * 128}`, words.filter(w => row(w) === number), y, FAINT,
            cell => ranges(words.filter(w => w.word === cell.word).map(w => w.wavefront + 1)));
    });
    if (rows.length > maxRows)
        y = picture.paragraph(62, y, `${rows.length - maxRows} more rows not drawn`);

    y = picture.paragraph(0, y + 10, "Wavefronts: in each, a bank delivers one word, to all lanes that request it.");
    y = drawBankNumbers(picture, y);
    for (let wavefront = 0; wavefront < Math.min(wavefronts, maxRows); wavefront++)
        y = drawBanks(picture, kernel, `${wavefront + 1}${isExtra[wavefront] ? " extra" : ""}`, words.filter(w => w.wavefront === wavefront),
            wavefront && parts[wavefront] !== parts[wavefront - 1] ? y + 4 : y, isExtra[wavefront] ? {fill: "var(--warn)", bold: true} : {}, () => wavefront + 1);
    if (wavefronts > maxRows)
        y = picture.paragraph(62, y, `${wavefronts - maxRows} more wavefronts not drawn`);
    picture.legend(y + 6, [["used", `${verb} (number of the lane)`],
        ...(extra ? [["conflict", "extra: bank conflict, the bank had to deliver another word first"]] : [])]);
    picture.description.push(`Warp ${sample.warp}: ${words.length} words of shared memory are ${verb} in ${plural(wavefronts, "wavefront")}.`,
        extra ? `${extra} of them are due to bank conflicts: lanes request different words of one bank.` : "No bank conflict.",
        ...parts.slice(0, 8).map((_, wavefront) => `Wavefront ${wavefront + 1}: lanes ${ranges(words.filter(w => w.wavefront === wavefront).map(w => w.lane))}.`));
    return picture;
}
