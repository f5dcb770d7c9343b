// Registers of an mma, a wgmma, an ldmatrix: which lane holds which element, by the simulator's own map.

// One operand: neighbours in a row or a column that one lane holds in one register are a cell.
function drawOperand(picture, x, y, operand, cell, chosen, name) {
    // Two registers of an element each that hold neighbours are drawn as one.
    const {rows, columns} = operand, each = Math.max(2, operand.per_register);
    const owner = Array.from({length: rows}, () => Array(columns).fill(null));
    operand.at.forEach((elements, lane) => elements.forEach(([row, column], i) =>
        owner[row][column] = {lane, register: Math.floor(i / each)}));
    const together = (a, b) => a && b && a.lane === b.lane && a.register === b.register;
    const done = new Set(), fromLane = lane => operand.at.length > LANES ? `thread ${lane}` : `lane ${lane}`;
    picture.text(x, y + 12, `${name}, ${rows} × ${columns}`, {bold: true});
    picture.text(x + textWidth(`${name}, ${rows} × ${columns}`) + 14, y + 12, operand.element, {fill: "var(--faint)"});
    y += 20;
    for (let row = 0; row < rows; row++) {
        if (row % (cell.h < 15 ? 2 : 1) === 0)
            picture.text(x + 16, y + row * cell.h + 12, row, {anchor: "end", fill: "var(--faint)", size: 11});
        for (let column = 0; column < columns; column++) {
            const own = owner[row][column];
            if (!own || done.has(row * columns + column))
                continue;
            let wide = 1, high = 1;
            while (column + wide < columns && together(own, owner[row][column + wide]))
                wide++;
            while (wide === 1 && row + high < rows && together(own, owner[row + high][column]))
                high++;
            for (let r = 0; r < high; r++)
                for (let c = 0; c < wide; c++)
                    done.add((row + r) * columns + column + c);
            const its = own.lane === chosen, w = wide * cell.w, h = high * cell.h;
            picture.rect(x + 22 + column * cell.w, y + row * cell.h, w, h, {...(its ? MARKS.chosen : {fill: "var(--paper)", stroke: "var(--rule)"}), lanes: [own.lane],
                tip: `${fromLane(own.lane)}, ${name.toLowerCase()}[${operand.per_register > 1 ? own.register : `${2 * own.register}..${2 * own.register + 1}`}]: ${name}, row ${row}${high > 1 ? `–${row + high - 1}` : ""}, ` +
                    `column ${column}${wide > 1 ? `–${column + wide - 1}` : ""}`});
            picture.label(x + 22 + column * cell.w, y + row * cell.h, w, h, [own.lane], its ? {fill: "var(--paper)", bold: true} : {});
        }
    }
    // Where the register changes, a thick line.
    const register = (row, column) => owner[row] && owner[row][column] ? owner[row][column].register : -1;
    let thick = "";
    for (let row = 0; row < rows; row++)
        for (let column = 0; column < columns; column++) {
            if (column && register(row, column) !== register(row, column - 1))
                thick += `M${x + 22 + column * cell.w} ${y + row * cell.h}v${cell.h}`;
            if (row && register(row, column) !== register(row - 1, column))
                thick += `M${x + 22 + column * cell.w} ${y + row * cell.h}h${cell.w}`;
        }
    picture.rect(x + 22, y, columns * cell.w, rows * cell.h, {stroke: "var(--ink)"});
    picture.path(thick, {stroke: "var(--ink)", line: 1.6});
    return {right: x + 22 + columns * cell.w, bottom: y + rows * cell.h, register};
}

// What a lane holds, in words.
function held(operand, lane, name) {
    const each = operand.per_register, at = operand.at[lane], parts = [];
    for (let r = 0; r * each < at.length && r < 8; r++) {
        const own = at.slice(r * each, (r + 1) * each);
        parts.push(`${name}[${r}] ${own.every(e => e[0] === own[0][0]) ? `row ${own[0][0]}, column ${ranges(own.map(e => e[1]))}`
            : `row ${ranges(own.map(e => e[0]))}, column ${own[0][1]}`}`);
    }
    return parts.join("; ") + (at.length > 8 * each ? "; and so on" : "");
}

function drawFragment(group, chosen, width) {
    const fragment = group.kernel.fragments[group.fragment];
    const threads = (fragment.warps || 1) * LANES;
    const lane = Math.min(chosen, threads - 1);
    const form = fragment.name.split(" ")[0];
    const picture = new Picture(width, `${form}: which lane holds which element, and where lane ${lane} has its own`);
    let y = picture.heading(0);
    const place = name => fragment.operands.find(o => o.name === name);
    const a = place("A"), b = place("B"), c = place("C");
    if (a && b && c && width >= 560 && c.columns <= 16) {
        // As one writes it down: B above C, A left of it, so that rows and columns meet.
        const w = Math.min(26, (width - 66) / (a.columns * 0.7 + c.columns)), left = Math.min(17, w * 0.7);
        const x = 22 + a.columns * left + 26;
        const top = drawOperand(picture, x, y, b, {w, h: 13}, lane, "B");
        const words = [`A number is a lane: it holds that element in a register. Thick lines part registers: a[0], a[1] and so on, b[0], b[1].`,
            ...[a, b, c].map(o => `Lane ${lane}: ${held(o, lane, o.name.toLowerCase())}.`)];
        let below = y;
        for (const sentence of words)
            below = picture.paragraph(0, below, sentence, x - 24) + 4;
        picture.says.push(...words);
        const middle = Math.max(top.bottom, below) + 12;
        const ends = [drawOperand(picture, 0, middle, a, {w: left, h: ROW}, lane, "A"), drawOperand(picture, x, middle, c, {w, h: ROW}, lane, "C")];
        y = Math.max(...ends.map(e => e.bottom)) + 10;
    } else {
        let x = 0, lowest = y;
        for (const operand of fragment.operands) {
            const name = operand.name === "M" ? "matrices" : operand.name;
            const shown = operand.columns > 16 ? {...operand, columns: 16, at: operand.at.map(e => e.filter(([, column]) => column < 16))} : operand;
            const w = Math.max(operand.per_register > 1 ? 12 : 18, Math.min(26, (width - 24) / shown.columns));
            if (x && x + 22 + shown.columns * w > width) {
                x = 0;
                y = lowest + 12;
            }
            const end = drawOperand(picture, x, y, shown, {w, h: operand === b ? 13 : 18}, lane, name);
            lowest = Math.max(lowest, end.bottom);
            x = end.right + 20;
            if (shown !== operand)
                picture.says.push(`Of ${operand.columns} columns of ${name} 16 are drawn; the others follow in the same way.`);
            picture.says.push(`Lane ${lane} holds ${held(operand, lane, operand.name.toLowerCase())}.`);
        }
        y = lowest + 8;
        if (fragment.operands[0].name === "M")
            picture.says.push("Row 0 is the one whose address lane 0 gave, row 1 that of lane 1, and so on: each matrix has eight.");
        for (const sentence of picture.says)
            y = picture.paragraph(0, y, sentence);
    }
    y = picture.legend(y + 2, [["chosen", `held by lane ${lane}`], ["line", "thick lines: another register"]]);
    return picture;
}
