// Copies and barriers: a column for each warp, from top to bottom in order. A barrier parts the picture into bands, since before it
// and after it is all that the program itself puts in order; within a band the warps stand side by side.

const BAND_ROW = 22;

const warpsThatFit = width => Math.max(1, Math.floor((width - 8) / 80));

// How many steps of its own a warp takes between two moments.
function stepsBetween(kernel, block) {
    const known = new Map(kernel.steps.filter(s => s.block === block).map(s => [s.warp, stepsOf(kernel, block, s.warp).map(step => step.seq)]));
    return (warp, from, to) => (known.get(warp) || []).filter(seq => seq > from && seq < to).length;
}

// Each warp's events in bands, neighbours of the same kind folded: [{barrier, use, site, last, warps: Map(warp -> items)}]. Between them
// the warp's other steps: their number, or, where that is not to depend on the compiler, that there are many.
function bandsOf(lists, steps, exact = true) {
    const bands = [], arrivals = new Map(), band = i => bands[i] || (bands[i] = {warps: new Map()});
    for (const {warp, list} of lists) {
        let items = [], number = 0, before = -1;
        band(0).warps.set(warp, items);
        for (const [seq, kind, site, a, b] of list) {
            if (kind === "pass" || kind === "syncwarp")
                continue;
            const between = steps(warp, before, seq);
            before = seq;
            if (between >= (exact ? 8 : 64))
                items.push({kind: "work", site: null, a: null, b: null, times: exact ? between : null});
            const last = items[items.length - 1];
            if (kind === "arrive") {
                const key = `${a}:${b}`, latest = arrivals.get(key);
                if (!latest || latest.seq < seq)
                    arrivals.set(key, {seq, warp});
                Object.assign(band(number), {key, barrier: a, use: b, site});
                band(++number).warps.set(warp, items = []);
            } else if (last && last.kind === kind && last.a === a && /^(copy|bulk|wgmma|test)$/.test(kind))
                Object.assign(last, {times: last.times + 1, bytes: last.bytes + b});
            else
                items.push({kind, site, a, b, times: 1, bytes: b});
        }
    }
    bands.forEach(b => b.last = b.key && arrivals.get(b.key).warp);
    return bands;
}

// What an event is, the longest text first.
function told({kind, a, b, times, bytes}) {
    return {
        copy: [`${times} ${times === 1 ? "copy" : "copies"}, group ${a}`, `${times} ${times === 1 ? "copy" : "copies"}`, `${times}`],
        work: times === null ? ["other steps", "steps"] : [`${count(times)} other steps`, `${count(times)} steps`, `${times}`],
        commit: [`group ${a} closed`, `close ${a}`],
        wait: a === null ? ["wait"] : a < 0 ? ["wait: for nothing", "no wait"] : [`wait: groups to ${a}`, `wait ≤ ${a}`, "wait"],
        init: [`barrier made, for ${b}`, "made"], signal: [`arrives, phase ${b}`, `arrives ${b}`],
        test: [`looks, parity ${b}`, `looks ${b}`], ready: [`goes on, parity ${b}`, "goes on"],
        expect: [`expects ${count(b || 0)} B`, "expects"], bulk: [`bulk copy, ${count(bytes || 0)} B`, "bulk"],
        wgmma: [`${times} wgmma, group ${a}`, `wgmma ${a}`],
    }[kind] || [kind];
}

// From band `from` on at most `most` of them, of as many warps from the firstWarp-th on as there is room for.
function drawOrder(run, kernel, block, from, firstWarp, width, most = 8, exact = true) {
    const lists = kernel.events.filter(e => e.block === block).sort((a, b) => a.warp - b.warp), steps = stepsBetween(kernel, block);
    const shown = bandsOf(lists, steps, exact).slice(from, from + most);
    const warps = lists.map(l => l.warp).slice(firstWarp, firstWarp + warpsThatFit(width)), column = Math.min(190, (width - 4) / warps.length);
    const picture = new Picture(width, `Block ${block}: copies and barriers in order, warp by warp. An order, not time`);
    const place = site => kernel.sites[site] ? `, ${run.placeName(kernel.sites[site].place)}` : "";
    // A group's first copy, until the wait that names it or a later one: by then it must have landed.
    const open = new Map(), arrows = new Picture(width, "");
    const copies = shown.some(b => [...b.warps.values()].flat().some(i => i.kind === "copy")), room = column - (copies ? 22 : 6);
    let y = picture.heading(0);
    warps.forEach((warp, i) => picture.text(8 + i * column, y + 12, `warp ${warp}`, {bold: true}));
    if (warps.length < lists.length)
        picture.says.push(`${warps.length} of ${lists.length} warps are drawn.`);
    y += 20;
    const drawItem = (item, warp, x, top) => {
        const waits = /wait|ready|test/.test(item.kind), issues = /^(copy|bulk|wgmma)$/.test(item.kind), middle = top + 9, key = `${warp}:${item.a}`;
        if (item.kind === "copy" && !open.has(key))
            open.set(key, {warp, group: item.a, y: middle, x: x + column - 7 - Math.abs(item.a) % 2 * 5});
        for (const [key, copy] of item.kind === "wait" && item.a !== null ? [...open] : [])
            if (copy.warp === warp && copy.group <= item.a && open.delete(key))
                arrows.path(`M${copy.x} ${copy.y}V${middle - 1}m-3 -5l3 5l3 -5`, {stroke: "var(--accent)", line: 1.6});
        picture.rect(x + 3.5, top + 0.5, room, BAND_ROW - 5, {...(issues ? MARKS.used : waits ? MARKS.waits : MARKS.other), round: 3,
            tip: `warp ${warp}: ${told(item)[0]}${issues && item.bytes ? `, ${count(item.bytes)} bytes` : ""}${place(item.site)}`});
        picture.label(x + 3, top, room, BAND_ROW - 5, told(item));
    };
    shown.forEach((band, number) => {
        const items = warp => band.warps.get(warp) || [], rows = Math.max(...warps.map(w => items(w).length));
        warps.forEach((warp, i) => {
            arrows.path(`M${3 + i * column} ${y}v${rows * BAND_ROW + 8}`, {stroke: "var(--rule)"});
            items(warp).forEach((item, row) => drawItem(item, warp, 2 + i * column, y + row * BAND_ROW + 3));
        });
        y += rows * BAND_ROW + 6;
        if (band.key) {
            const name = `barrier ${band.barrier}, time ${band.use + 1}`;
            picture.rect(2, y, width - 4, 18, {fill: "var(--quiet)", tip: `${name}; warp ${band.last} is the last${place(band.site)}`});
            picture.label(2, y, width - 4, 18, [`all meet at ${name}; warp ${band.last} is the last`, name]);
            y += 22;
        }
        const did = warps.map(w => `warp ${w}: ${items(w).map(i => told(i)[0]).join(", ") || "nothing"}`);
        picture.says.push(`Band ${from + number + 1}: ${did.join("; ")}.`,
            band.key ? `Then all meet at barrier ${band.barrier}, for the ${band.use + 1}. time.` : "");
    });
    for (const copy of open.values())
        arrows.path(`M${copy.x} ${copy.y}V${y}`, {stroke: "var(--accent)", line: 1.6, dash: "3 3"});
    picture.parts.unshift(...arrows.parts);
    y = picture.legend(y + 8, [...(copies ? [["used", "issued"], ["waits", "waits here"]] : []), ["other", "a warp's other steps, and barriers"]]);
    picture.paragraph(0, y, (copies ? "An arrow goes from a group's first copy to the wait by which it must have landed; where it is dashed, no " +
        "wait that is drawn asks for it. " : "") + "Who is the last at a barrier is so in the simulator's order; on a GPU it may be another.");
    return picture;
}
