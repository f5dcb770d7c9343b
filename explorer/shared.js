// Shared memory: 32 banks as columns. First where the words lie, a row of 128 bytes below the other; then the wavefronts that bring
// them, as the simulator counted them.


// The words of one row of banks; neighbours that the same lanes take together are one cell.
function bankCells(words) {
    const byWord = new Map();
    for (const {lane, word, late} of words) {
        const cell = byWord.get(word) || byWord.set(word, {bank: word % BANKS, word, width: 1, lanes: [], late: false}).get(word);
        cell.lanes.push(lane);
        cell.late = cell.late || late;
    }
    const cells = [], end = cell => cell && `${cell.word + cell.width} ${cell.bank + cell.width} ${cell.late} ${cell.lanes}`;
    for (const cell of [...byWord.values()].sort((a, b) => a.bank - b.bank)) {
        if (end(cells[cells.length - 1]) === `${cell.word} ${cell.bank} ${cell.late} ${cell.lanes}`)
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
        picture.rect(box(cell).x, y + 1, box(cell).w, h, {...(cell.late ? MARKS.late : MARKS.used), lanes: cell.lanes,
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

// most: rows of 128 bytes, and wavefronts, that are drawn.
function drawShared(group, sample, width, most = 40) {
    const {kernel} = group, {parts, words} = sample, wavefronts = parts.length, verb = isWrite(group) ? "written" : "read";
    // Of a part all wavefronts but the first: what a conflict costs.
    const late = parts.map((part, i) => parts.indexOf(part) < i), extra = late.filter(Boolean).length;
    const worst = Math.max(...parts.map(p => parts.filter(q => q === p).length));
    words.forEach(w => w.late = Boolean(late[w.pass]));
    const picture = new Picture(width, `${plural(sample.lanes.length, "lane")}, ${group.bytes} bytes each: ${plural(wavefronts, "wavefront")}` +
        (extra ? `, ${worst}-way bank conflict; ideal ${wavefronts - extra}` : ", no bank conflict"));
    const first = words[0].word * 4, array = kernel.shared.find(a => first >= a.offset && first < a.offset + a.bytes);
    let y = picture.paragraph(0, picture.heading(0) - 4, `Where they lie: ${array ? array.name : "shared memory"} in rows of 128 bytes, a word a ` +
        `bank. The number is the lane; lane ${words[0].lane} begins at ${sharedName(kernel, first)}.`);
    y = drawBankNumbers(picture, y);
    const row = w => Math.floor(w.word / BANKS), rows = distinct(words.map(row));
    rows.slice(0, most).forEach((number, i) => {
        if (i && number > rows[i - 1] + 1)
            picture.path(`M62 ${(y += 5) - 3}H${width - 2}`, {stroke: "var(--rule)", dash: "2 4"});
        y = drawBanks(picture, kernel, `+${number * 128}`, words.filter(w => row(w) === number), y, FAINT,
            cell => ranges(words.filter(w => w.word === cell.word).map(w => w.pass + 1)));
    });
    if (rows.length > most)
        y = picture.paragraph(62, y, `and ${rows.length - most} rows more, not drawn`);

    y = picture.paragraph(0, y + 10, "Wavefront by wavefront: in one, each bank gives one word, to all lanes that ask for it.");
    y = drawBankNumbers(picture, y);
    for (let pass = 0; pass < Math.min(wavefronts, most); pass++)
        y = drawBanks(picture, kernel, `${pass + 1}${late[pass] ? " again" : ""}`, words.filter(w => w.pass === pass),
            pass && parts[pass] !== parts[pass - 1] ? y + 4 : y, late[pass] ? {fill: "var(--warn)", bold: true} : {}, () => pass + 1);
    if (wavefronts > most)
        y = picture.paragraph(62, y, `and ${wavefronts - most} wavefronts more, not drawn`);
    picture.legend(y + 6, [["used", `${verb}, by its lane's number`],
        ...(extra ? [["late", "again: a bank that was asked for another word first"]] : [])]);
    picture.says.push(`Warp ${sample.warp}: ${words.length} words of shared memory are ${verb} in ${plural(wavefronts, "wavefront")}.`,
        extra ? `${extra} of them are there only because lanes ask for different words of a bank.` : "No bank is asked for two words at once.",
        ...parts.slice(0, 8).map((_, pass) => `Wavefront ${pass + 1}: lanes ${ranges(words.filter(w => w.pass === pass).map(w => w.lane))}.`));
    return picture;
}
