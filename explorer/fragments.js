// Register fragments of mma, wgmma and ldmatrix: which lane holds which element, from the simulator's layout.

// Draws one operand, or its rows from row0 on. Adjacent elements in one register of a lane (or in two one-element registers) are one
// cell. Returns the right and bottom edges.
function drawOperand(picture, x, y, operand, cell, chosen, name) {
    const {rows, columns, row0 = 0, title = `${name}, ${rows} × ${columns}, ${operand.element}`} = operand, each = Math.max(2, operand.per_register), owner = new Map(), left = x + 22;
    const at = (row, column) => row >= 0 && column >= 0 ? owner.get(row * columns + column) : undefined;
    operand.at.forEach((elements, lane) => elements.forEach(([row, column], i) =>
        owner.set((row - row0) * columns + column, {lane, register: Math.floor(i / each), first: Math.floor(i / operand.per_register)})));
    const sameRegister = (a, b) => b && a.lane === b.lane && a.register === b.register && !b.drawn;
    picture.text(x, y + 12, title, {bold: true});
    y += 20;
    for (let row = 0; row < rows; row++) {
        if (row % (cell.h < 15 ? 2 : 1) === 0)
            picture.text(x + 16, y + row * cell.h + 12, row0 + row, {...FAINT, anchor: "end"});
        for (let column = 0; column < columns; column++) {
            const own = at(row, column);
            if (!own || own.drawn)
                continue;
            let columnSpan = 1, rowSpan = 1;
            while (column + columnSpan < columns && sameRegister(own, at(row, column + columnSpan)))
                at(row, column + columnSpan++).drawn = true;
            while (columnSpan === 1 && row + rowSpan < rows && sameRegister(own, at(row + rowSpan, column)))
                at(row + rowSpan++, column).drawn = true;
            const isChosen = own.lane === chosen, box = [left + column * cell.w, y + row * cell.h, columnSpan * cell.w, rowSpan * cell.h];
            const register = `${name.toLowerCase()}[${own.first}${operand.per_register === 1 && columnSpan > 1 ? `..${own.first + 1}` : ""}]`;
            picture.rect(...box, {...(isChosen ? MARKS.chosen : {fill: "var(--paper)", stroke: "var(--rule)"}), lanes: [own.lane],
                tip: `${operand.at.length > LANES ? "thread" : "lane"} ${own.lane} in ${register}: ${name}, row ` +
                    `${row0 + row}${rowSpan > 1 ? `–${row0 + row + rowSpan - 1}` : ""}, column ${column}${columnSpan > 1 ? `–${column + columnSpan - 1}` : ""}`});
            picture.label(...box, [String(own.lane)], isChosen ? {fill: "var(--paper)", bold: true} : {});
        }
    }
    // A thick line separates registers.
    let thick = "";
    for (const [place, own] of owner) {
        const row = Math.floor(place / columns), column = place % columns, px = left + column * cell.w, py = y + row * cell.h;
        const other = neighbour => neighbour && neighbour.register !== own.register;
        thick += (other(at(row, column - 1)) ? `M${px} ${py}v${cell.h}` : "") + (other(at(row - 1, column)) ? `M${px} ${py}h${cell.w}` : "");
    }
    picture.rect(left, y, columns * cell.w, rows * cell.h, {stroke: "var(--ink)"});
    picture.path(thick, {stroke: "var(--ink)", line: 1.6});
    return {right: left + columns * cell.w, bottom: y + rows * cell.h};
}

// Draws an operand of a warpgroup: the rows of each warp, two warps per line. Returns the bottom edge.
function drawWarps(picture, y, operand, chosen, name) {
    const {rows, element} = operand, columns = Math.min(operand.columns, picture.width >= 500 ? 16 : 8), warps = operand.at.length / LANES;
    const rowSpan = rows / warps, half = picture.width / 2, w = Math.min(26, (half - 36) / columns);
    picture.text(0, y + 12, `${name}, ${rows} × ${operand.columns}, ${element}`, {bold: true});
    y += 20;
    for (let warp = 0; warp < warps; warp++) {
        const row0 = warp * rowSpan, at = operand.at.map(e => e.filter(([row, column]) => column < columns && row >= row0 && row < row0 + rowSpan));
        const {bottom} = drawOperand(picture, warp % 2 * (half + 6), y, {...operand, at, rows: rowSpan, columns, row0, title: `warp ${warp}`}, {w, h: 18}, chosen, name);
        y = warp % 2 || warp === warps - 1 ? bottom + 10 : y;
    }
    if (columns < operand.columns)
        picture.description.push(`Of the ${operand.columns} columns of ${name} only the first are drawn; the others continue the pattern.`);
    return y;
}

// Describes the elements that a lane holds, register by register.
function describeRegisters(operand, lane) {
    const each = operand.per_register, at = operand.at[lane], name = operand.name.toLowerCase(), parts = [];
    for (let r = 0; r * each < at.length && r < 8; r++) {
        const own = at.slice(r * each, (r + 1) * each), across = own.every(e => e[0] === own[0][0]);
        parts.push(`${name}[${r}] row ${across ? own[0][0] : ranges(own.map(e => e[0]))}, ` +
            `column ${across ? ranges(own.map(e => e[1])) : own[0][1]}`);
    }
    return `${operand.at.length > LANES ? "Thread" : "Lane"} ${lane}: ${parts.join("; ")}${at.length > 8 * each ? "; ..." : ""}.`;
}

function drawFragment(group, wanted, width) {
    const fragment = group.kernel.fragments[group.fragment], {operands} = fragment;
    const lane = Math.min(wanted, operands[0].at.length - 1), unit = fragment.warps ? "thread" : "lane";
    const picture = new Picture(width, `${fragment.name.split(" ")[0]}: which ${unit} holds which element; ${unit} ${lane} is marked`);
    const [a, b, c] = ["A", "B", "C"].map(name => operands.find(o => o.name === name));
    let y = picture.heading(0);
    picture.description.push(`A number is the ${unit} that holds the element in a register. A thick line separates registers.`,
        ...operands.map(o => describeRegisters(o, lane)));
    if (a && b && c && width >= 500 && c.columns <= 16) {
        // B above C and A to its left, so that rows of A and columns of B line up with C.
        const w = Math.min(26, (width - 76) / (a.columns * 0.7 + c.columns)), left = Math.min(17, w * 0.7), x = 48 + a.columns * left;
        const top = drawOperand(picture, x, y, b, {w, h: 13}, lane, "B");
        const below = picture.description.reduce((at, sentence) => picture.paragraph(0, at, sentence, x - 24) + 4, y);
        const middle = Math.max(top.bottom, below) + 12;
        drawOperand(picture, 0, middle, a, {w: left, h: ROW}, lane, "A");
        y = drawOperand(picture, x, middle, c, {w, h: ROW}, lane, "C").bottom + 10;
    } else {
        let x = 0, lowest = y;
        if (fragment.warps)
            lowest = operands.reduce((at, operand) => drawWarps(picture, at, operand, lane, operand.name), y);
        for (const operand of fragment.warps ? [] : operands) {
            const columns = Math.min(16, operand.columns), name = operand.name === "M" ? "Matrices" : operand.name;
            const shown = {...operand, columns, at: operand.at.map(e => e.filter(([, column]) => column < columns))};
            const w = Math.max(operand.per_register > 1 ? 12 : 18, Math.min(26, (width - 24) / columns));
            if (x && x + 22 + columns * w > width) {
                x = 0;
                y = lowest + 12;
            }
            const end = drawOperand(picture, x, y, shown, {w, h: operand === b ? 13 : 18}, lane, name);
            lowest = Math.max(lowest, end.bottom);
            x = end.right + 20;
            if (columns < operand.columns)
                picture.description.push(`Of the ${operand.columns} columns of ${name} 16 are drawn; the others continue the pattern.`);
        }
        if (operands[0].name === "M")
            picture.description.push("Lane i provides the address of row i; each matrix has eight rows.");
        y = picture.description.reduce((at, sentence) => picture.paragraph(0, at, sentence), lowest + 8);
    }
    picture.legend(y + 2, [["chosen", `held by ${unit} ${lane}`]]);
    return picture;
}
