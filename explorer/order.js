// Copies and barriers: one column per warp, time order from top to bottom. Barriers divide the picture into barrier intervals (bands),
// since only barriers order events of different warps; within a band, warps are unordered.

const BAND_ROW = 22;

const warpsThatFit = width => Math.max(1, Math.floor((width - 8) / 80));

// The number of steps that a warp executes between two sequence numbers.
function stepsBetween(kernel, block) {
    const known = new Map(kernel.steps.filter(s => s.block === block).map(s => [s.warp, stepsOf(kernel, block, s.warp).map(step => step.seq)]));
    return (warp, from, to) => (known.get(warp) || []).filter(seq => seq > from && seq < to).length;
}

// Each warp's events by barrier interval, consecutive events of one kind merged: [{barrier, use, site, last, warps: Map(warp -> items)}].
// Between them are the warp's other steps: their number, or with exact = false (independent of the compiler) only that there are many.
function bandsOf(lists, steps, exact = true) {
    const bands = [], arrivals = new Map(), band = i => bands[i] || (bands[i] = {warps: new Map()});
    for (const {warp, list} of lists) {
        let items = [], number = 0, before = -1;
        band(0).warps.set(warp, items);
        for (const [seq, kind, site, a, b] of list) {
            if (kind === "pass" || kind === "syncwarp" || kind === "ex2")
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

// Labels of an event, longest first.
function eventLabels({kind, a, b, times, bytes}) {
    return {
        copy: [`${times} ${times === 1 ? "copy" : "copies"}, group ${a}`, `${times} ${times === 1 ? "copy" : "copies"}`, `${times}`],
        work: times === null ? ["other steps", "steps"] : [`${count(times)} other steps`, `${count(times)} steps`, `${times}`],
        commit: [`commit group ${a}`, `commit ${a}`],
        wait: a === null ? ["wait"] : a < 0 ? ["wait: no group", "no wait"] : [`wait: groups ≤ ${a}`, `wait ≤ ${a}`, "wait"],
        init: [`init, count ${b}`, "init"], signal: [`arrive, phase ${b}`, `arrive ${b}`],
        test: [`try_wait, parity ${b}`, `try ${b}`], ready: [`complete, parity ${b}`, "complete"],
        expect: [`expect-tx ${count(b || 0)} B`, "expect-tx"], bulk: [`TMA, ${count(bytes || 0)} B`, "TMA"],
        wgmma: [`${times} wgmma, group ${a}`, `wgmma ${a}`],
    }[kind] || [kind, kind.split(" ").pop()];
}

// Draws at most maxBands bands from band `from` on, and the warps from index firstWarp on that fit.
function drawOrder(run, kernel, block, from, firstWarp, width, maxBands = 8, exact = true) {
    const lists = kernel.events.filter(e => e.block === block).sort((a, b) => a.warp - b.warp), steps = stepsBetween(kernel, block);
    const shown = bandsOf(lists, steps, exact).slice(from, from + maxBands);
    const warps = lists.map(l => l.warp).slice(firstWarp, firstWarp + warpsThatFit(width)), column = Math.min(190, (width - 4) / warps.length);
    const picture = new Picture(width, `Block ${block}: order of copies and barriers per warp (no time axis)`);
    const place = site => kernel.sites[site] ? `, ${run.placeName(kernel.sites[site].place)}` : "";
    // The first copy of each commit group that no wait_group has covered yet.
    const open = new Map(), arrows = new Picture(width, "");
    const copies = shown.some(b => [...b.warps.values()].flat().some(i => i.kind === "copy")), room = column - (copies ? 22 : 6);
    let y = picture.heading(0);
    warps.forEach((warp, i) => picture.text(8 + i * column, y + 12, `warp ${warp}`, {bold: true}));
    if (warps.length < lists.length)
        picture.description.push(`${warps.length} of ${lists.length} warps are drawn.`);
    y += 20;
    const drawItem = (item, warp, x, top) => {
        const waits = /wait|ready|test/.test(item.kind), issues = /^(copy|bulk|wgmma)$/.test(item.kind), middle = top + 9, key = `${warp}:${item.a}`;
        if (item.kind === "copy" && !open.has(key))
            open.set(key, {warp, group: item.a, y: middle, x: x + column - 7 - Math.abs(item.a) % 2 * 5});
        for (const [key, copy] of item.kind === "wait" && item.a !== null ? [...open] : [])
            if (copy.warp === warp && copy.group <= item.a && open.delete(key))
                arrows.path(`M${copy.x} ${copy.y}V${middle - 1}m-3 -5l3 5l3 -5`, {stroke: "var(--accent)", line: 1.6});
        picture.rect(x + 3.5, top + 0.5, room, BAND_ROW - 5, {...(issues ? MARKS.used : waits ? MARKS.waits : MARKS.other), round: 3,
            tip: `warp ${warp}: ${eventLabels(item)[0]}${issues && item.bytes ? `, ${count(item.bytes)} bytes` : ""}${place(item.site)}`});
        picture.label(x + 3, top, room, BAND_ROW - 5, eventLabels(item));
    };
    shown.forEach((band, number) => {
        const items = warp => band.warps.get(warp) || [], rows = Math.max(...warps.map(w => items(w).length));
        warps.forEach((warp, i) => {
            arrows.path(`M${3 + i * column} ${y}v${rows * BAND_ROW + 8}`, {stroke: "var(--rule)"});
            items(warp).forEach((item, row) => drawItem(item, warp, 2 + i * column, y + row * BAND_ROW + 3));
        });
        y += rows * BAND_ROW + 6;
        if (band.key) {
            const name = `barrier ${band.barrier}, use ${band.use + 1}`;
            picture.rect(2, y, width - 4, 18, {fill: "var(--quiet)", tip: `${name}; warp ${band.last} arrives last${place(band.site)}`});
            picture.label(2, y, width - 4, 18, [`${name}: all warps wait; warp ${band.last} arrives last`, name]);
            y += 22;
        }
        const events = warps.map(w => `warp ${w}: ${items(w).map(i => eventLabels(i)[0]).join(", ") || "nothing"}`);
        picture.description.push(`Barrier interval ${from + number + 1}: ${events.join("; ")}.`,
            band.key ? `Then all warps wait at barrier ${band.barrier}, use ${band.use + 1}.` : "");
    });
    for (const copy of open.values())
        arrows.path(`M${copy.x} ${copy.y}V${y}`, {stroke: "var(--accent)", line: 1.6, dash: "3 3"});
    picture.parts.unshift(...arrows.parts);
    y = picture.legend(y + 8, [...(copies ? [["used", "issue"], ["waits", "wait"]] : []), ["other", "other steps of a warp; barriers"]]);
    picture.paragraph(0, y, (copies ? "An arrow leads from the first copy of a commit group to the wait_group that guarantees its completion (dashed: no " +
        "such wait is drawn). " : "") + "Which warp arrives last is the simulator's order; on a GPU it may be another one.");
    return picture;
}
