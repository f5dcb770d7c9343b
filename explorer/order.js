// Copies and barriers: a column for each warp, from top to bottom in order. A barrier parts the picture into bands, since before it
// and after it is all that the program itself puts in order; within a band the warps stand side by side.

const BAND_ROW = 22;

// Each warp's events in bands, those of the same kind folded: {bands: [{barrier, use, last, warps: Map(warp -> items)}], warps}.
function bandsOf(lists) {
    const all = [{warps: new Map()}];
    const arrivals = new Map();
    for (const {warp, list} of lists) {
        let band = 0;
        for (const [seq, kind, site, a, b] of list) {
            if (kind === "arrive") {
                const key = `${a}:${b}`, known = arrivals.get(key);
                if (!known || known.seq < seq)
                    arrivals.set(key, {seq, warp});
                Object.assign(all[band], {barrier: a, use: b, key, site});
                band++;
                all[band] = all[band] || {warps: new Map()};
                continue;
            }
            if (kind === "pass" || kind === "syncwarp")
                continue;
            const items = all[band].warps.get(warp) || all[band].warps.set(warp, []).get(warp), last = items[items.length - 1];
            if (last && last.kind === kind && last.a === a && (kind === "copy" || kind === "bulk" || kind === "wgmma" || kind === "test"))
                Object.assign(last, {times: last.times + 1, bytes: last.bytes + b});
            else
                items.push({kind, site, a, b, seq, times: 1, bytes: b});
        }
    }
    all.forEach(band => band.last = band.key && arrivals.get(band.key).warp);
    return all;
}

function told(item) {
    const {kind, a, b, times, bytes} = item;
    return {
        copy: [`${plural(times, "copy").replace(/ys$/, "ies")}, group ${a}`, `${times} copies`, `copy ${a}`],
        commit: [`group ${a} closed`, `close ${a}`],
        wait: [a < 0 ? "wait: nothing" : a === null ? "wait" : `wait: 0 to ${a} landed`, a < 0 ? "wait -" : `wait ≤ ${a}`],
        init: [`barrier made, for ${b}`, "made"],
        expect: [`expects ${count(b || 0)} B`, "expects"],
        signal: [`arrives, phase ${b}`, `arrives ${b}`],
        test: [`looks, parity ${b}`, `looks ${b}`],
        ready: [`goes on, parity ${b}`, `goes on`],
        bulk: [`bulk copy, ${count(bytes || 0)} B`, "bulk"],
        wgmma: [`${times} wgmma, group ${a}`, `wgmma ${a}`],
    }[kind] || [kind];
}

const warpsThatFit = width => Math.max(1, Math.floor((width - 8) / 80));

function drawOrder(run, kernel, block, from, firstWarp, width, most = 8) {
    const lists = kernel.events.filter(e => e.block === block).sort((a, b) => a.warp - b.warp);
    const all = bandsOf(lists);
    const warps = lists.map(l => l.warp).slice(firstWarp, firstWarp + warpsThatFit(width));
    const column = Math.min(190, (width - 4) / warps.length);
    const shown = all.slice(from, from + most);
    const picture = new Picture(width, `Block ${block}: copies and barriers in order, warp by warp. An order, not time`);
    let y = picture.heading(0);
    warps.forEach((warp, i) => picture.text(2 + i * column + 6, y + 12, `warp ${warp}`, {bold: true}));
    if (warps.length < lists.length)
        picture.says.push(`${warps.length} of ${lists.length} warps are drawn.`);
    y += 20;
    // A group's copies must have landed where a wait names it or a later one: a bar from issue to that wait.
    const open = new Map(), arrows = new Picture(width, "");
    for (const [number, band] of shown.entries()) {
        const rows = Math.max(0, ...warps.map(w => (band.warps.get(w) || []).length));
        warps.forEach((warp, i) => {
            const x = 2 + i * column;
            picture.path(`M${x + 1} ${y}v${rows * BAND_ROW + 8}`, {stroke: "var(--rule)"});
            (band.warps.get(warp) || []).forEach((item, row) => {
                const top = y + row * BAND_ROW + 3, at = top + 9;
                const waits = /wait|ready|test/.test(item.kind), issues = /^copy$|^bulk$|^wgmma$/.test(item.kind);
                const lane = 1 + (item.a === null ? 0 : Math.abs(item.a) % 2);
                if (item.kind === "copy" && !open.has(`${warp}:${item.a}`))
                    open.set(`${warp}:${item.a}`, {at, group: item.a, x: x + column - 2 - lane * 5});
                if (item.kind === "wait")
                    for (const [key, bar] of [...open].filter(([key, bar]) => key.startsWith(`${warp}:`) && item.a !== null && bar.group <= item.a)) {
                        arrows.path(`M${bar.x} ${bar.at}V${at - 1}m-3 -5l3 5l3 -5`, {stroke: "var(--accent)", line: 1.6});
                        open.delete(key);
                    }
                picture.rect(x + 3.5, top + 0.5, column - 22, BAND_ROW - 5, {...(issues ? MARKS.used : waits ? MARKS.waits : MARKS.other), round: 3,
                    tip: `warp ${warp}: ${told(item)[0]}${item.bytes && issues ? `, ${count(item.bytes)} bytes` : ""}` +
                        `${kernel.sites[item.site] ? `, ${run.placeName(kernel.sites[item.site].place)}` : ""}`});
                picture.label(x + 3, top, column - 22, BAND_ROW - 5, told(item));
            });
        });
        y += rows * BAND_ROW + 6;
        if (band.key) {
            const text = `all meet at barrier ${band.barrier}, time ${band.use + 1}${lists.length > 1 ? `; the last is warp ${band.last}` : ""}`;
            picture.rect(2, y, width - 4, 18, {fill: "var(--quiet)", tip: `${text}, ${run.placeName(kernel.sites[band.site].place)}`});
            picture.label(2, y, width - 4, 18, [text, `barrier ${band.barrier}, time ${band.use + 1}`]);
            y += 22;
        }
        picture.says.push(`Band ${from + number + 1}: ` + warps.map(w => `warp ${w}: ${(band.warps.get(w) || []).map(i => told(i)[0]).join(", ") || "nothing"}`).join("; ") +
            (band.key ? `. Then all warps meet at barrier ${band.barrier}, the ${band.use + 1}. time.` : "."));
    }
    for (const bar of open.values())
        arrows.path(`M${bar.x} ${bar.at}V${y}`, {stroke: "var(--accent)", line: 1.6, dash: "3 3"});
    picture.parts.unshift(...arrows.parts);
    y = picture.legend(y + 8, [["used", "issued"], ["waits", "waits here"], ["other", "other steps, and barriers"]]);
    y = picture.paragraph(0, y, "An arrow goes from a group's first copy to the wait by which it must have landed; dashed, it is not waited for in what is drawn. " +
        "The last at a barrier is so in the simulator's order; on a GPU it may be another.");
    return picture;
}
