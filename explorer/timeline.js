// Timeline: for each warp its TMA loads and stores, its GEMMs from issue to the wait that completes them, and its exponentials, from top
// to bottom. Derived from the recording alone: which tile a GEMM reads follows from addresses in shared memory. There are no durations.

const TIMELINE_ROW = 24;

// The barrier's name without what says that it guards a tile: "K_full[0]" is the barrier of K.
const tileName = barrier => barrier.replace(/\[.*|_?(full|ready|bar(rier)?)\b.*/gi, "") || barrier;

// The barrier that guards each range of shared memory that a TMA load was seen to write: [{barrier, from, end}].
function guardedRanges(kernel, block, events) {
    const written = new Map(kernel.sites.filter(s => s.kind === "bulk copy" && s.space === "shared")
        .flatMap(s => s.samples.filter(([b]) => b === block).map(([, warp, , seq, , , addresses]) => [`${warp}:${seq}`, expanded(addresses)])));
    return events.flatMap(({warp, list}) => list.filter(([seq, kind]) => kind === "bulk" && written.has(`${warp}:${seq}`)).map(([seq, , , barrier, bytes]) => {
        const from = Math.min(...written.get(`${warp}:${seq}`));
        return {barrier, from, end: from + bytes};
    }));
}

// The loads of all warps in the order of issue: [{seq, barrier, name: "K 1"}].
function loadsOf(events, nameOf) {
    const number = new Map(), loads = events.flatMap(e => e.list.filter(([, kind]) => kind === "expect").map(([seq, , , barrier]) => ({seq, barrier})));
    for (const load of loads.sort((a, b) => a.seq - b.seq)) {
        const name = tileName(nameOf.get(load.barrier)), n = number.get(name) || 0;
        number.set(name, n + 1);
        load.name = `${name} ${n}`;
    }
    return loads;
}

// The boxes of a warp beside its loads: {kind: "gemm", "exp" or "store", seq, warp, text: [label]}, and for each wait for GEMMs an item of
// the kind "complete", which is a GEMM's until. tileAt(address, seq): the name of the tile that was loaded there last.
function computedBy(kernel, {warp, list}, tileAt) {
    const items = [];
    let committed = 0, complete = "", scores = "", issued = false;
    for (const [seq, kind, site, a, b] of list) {
        const last = items[items.length - 1], text = kind === "wgmma" ? tileAt(b, seq) : "";
        if (kind === "wgmma" && !(last && last.kind === "gemm" && last.group === a && last.text[0] === text))
            items.push({kind: "gemm", seq, warp, group: a, text: [text], until: null, usesRegisters: /}\s*,\s*{/.test(kernel.sites[site].ptx)});
        else if (kind === "wgmma commit")
            committed = a + 1;
        else if (kind === "wgmma wait") {
            const done = items.filter(i => i.kind === "gemm" && !i.until && i.group < committed - a), item = {kind: "complete", seq, warp};
            done.forEach(gemm => gemm.until = item);
            complete = (done.filter(gemm => !gemm.usesRegisters).pop() || {text: [complete]}).text[0];
            items.push(item);
        } else if (kind === "ex2") {
            // A GEMM that reads A from registers multiplies the weights, so its results are not the scores.
            scores = issued ? complete : scores;
            items.push({kind: "exp", seq, warp, text: [scores]});
        } else if (kind === "bulk" && a === null && !(last && last.kind === "store"))
            items.push({kind: "store", seq, warp, text: ["store"]});
        issued = kind === "wgmma" || (issued && kind !== "ex2");
    }
    return items;
}

const isDrawn = item => /copy|store|gemm|exp/.test(item.kind);
const LANES_OF_TIME = [["TMA", ["TMA"], /copy|store/], ["GEMM", ["GEMM"], /gemm/], ["exp", ["exponentials", "exp2"], /exp/]];

// warps: from left to right; from, rows: which rows are drawn. Warps that are not drawn also have their place in the order.
function drawTimeline(run, kernel, block, width, warps, from = 0, rows = 24) {
    const events = kernel.events.filter(e => e.block === block), nameOf = barrierNames(run, kernel, events), phases = phasesOf(events);
    const loads = loadsOf(events, nameOf), ranges = guardedRanges(kernel, block, events);
    const tileAt = (address, seq) => {
        const range = ranges.find(r => r.from <= address && address < r.end);
        return (loads.filter(l => range && l.barrier === range.barrier && l.seq < seq).pop() || {name: ""}).name;
    };
    const every = [...warps, ...waitingWarps(events, events.length).filter(warp => !warps.includes(warp))], columns = every.map(warp => {
        const own = events.find(e => e.warp === warp), ordered = itemsOf(run, kernel, own, nameOf, phases).filter(i => /copy|arrive|wait/.test(i.kind));
        ordered.filter(i => i.kind === "copy").forEach(i => i.text = [loads.find(l => l.seq === i.seq).name]);
        return [...ordered, ...computedBy(kernel, own, tileAt)].sort((a, b) => a.seq - b.seq);
    });
    const {level} = ranked(columns, every, item => isDrawn(item) ? 1 : 0);
    const last = Math.max(...columns.slice(0, warps.length).flat().filter(isDrawn).map(i => level.get(i) + 1)), end = Math.min(from + rows, last);
    // The tensor cores execute the GEMMs of a warp in the order of issue, so the box of one ends where the next one begins.
    const bottomOf = (item, column) => {
        const next = column.find(o => o.kind === "gemm" && o.seq > item.seq), until = item.until ? level.get(item.until) : last;
        return item.kind === "gemm" ? Math.max(level.get(item) + 1, Math.min(until, next ? level.get(next) : last)) : level.get(item) + 1;
    };
    const drawn = columns.slice(0, warps.length).map(c => c.filter(isDrawn).map(item => ({...item, top: level.get(item), bottom: bottomOf(item, c)}))
        .filter(item => item.bottom > from && item.top < end));
    const picture = new Picture(width, "TMA, tensor cores and exponentials in the order of issue (no time axis)");
    // A warp with nothing to draw has no column.
    const parts = warps.flatMap((warp, i) => LANES_OF_TIME.filter(([, , kinds]) => drawn[i].some(item => kinds.test(item.kind)))
        .map(([name, texts, kinds]) => ({warp, name, texts, items: drawn[i].filter(item => kinds.test(item.kind))})));
    // A warp with a single part gets room for its name.
    const shown = warps.filter(warp => parts.some(p => p.warp === warp));
    const alone = p => parts.filter(o => o.warp === p.warp).length === 1, gap = 8, free = width - (shown.length - 1) * gap;
    const narrow = Math.max(48, free / parts.length), wide = (free - parts.filter(alone).length * narrow) / parts.filter(p => !alone(p)).length;
    const widthOf = p => alone(p) ? narrow : wide;
    const xOf = p => parts.slice(0, parts.indexOf(p)).reduce((x, o) => x + widthOf(o), shown.indexOf(p.warp) * gap);
    const heading = picture.heading(0), top = heading + 42, y = row => top + (row - from) * TIMELINE_ROW;
    const called = item => item.text[0] || "a tile that no recorded TMA load wrote";
    const looks = {copy: MARKS.used, store: MARKS.used, gemm: MARKS.chosen, exp: MARKS.other};
    shown.forEach(warp => {
        const own = parts.filter(p => p.warp === warp), role = own.flatMap(p => p.items).some(item => item.kind === "copy") ? "producer" : "consumer";
        picture.label(xOf(own[0]), heading, own.reduce((w, p) => w + widthOf(p), 0), 18, [`warp ${warp}, ${role}`, `warp ${warp}`], {bold: true});
    });
    for (const p of parts) {
        picture.label(xOf(p), heading + 20, widthOf(p), 18, p.texts, FAINT);
        picture.rect(xOf(p) + 1.5, y(from), widthOf(p) - 3, (end - from) * TIMELINE_ROW, {fill: "none", stroke: "var(--rule)"});
        for (const item of p.items) {
            const a = Math.max(item.top, from), b = Math.min(item.bottom, end), tip = {copy: "TMA load of", store: "TMA", gemm: "GEMM with", exp: "exponentials after the GEMM with"}[item.kind];
            picture.rect(xOf(p) + 3, y(a) + 1.5, widthOf(p) - 6, (b - a) * TIMELINE_ROW - 3, {...looks[item.kind], round: 3, tip: `warp ${p.warp}: ${tip} ${called(item)}`});
            picture.label(xOf(p) + 3, y(a), widthOf(p) - 6, TIMELINE_ROW, item.text.filter(Boolean), item.kind === "gemm" ? {fill: "var(--paper)"} : {});
        }
    }
    const some = kind => drawn.flat().some(i => i.kind === kind);
    const bottom = picture.legend(y(end) + 4, [...(some("copy") || some("store") ? [["used", "issues a TMA load or store"]] : []),
        ["chosen", "GEMM in flight, with the tile it reads"], ["other", "exponentials after the GEMM with that tile"]]);
    picture.paragraph(0, bottom, "The rows are the simulator's order, not time: a box begins below all that it must wait for. A GEMM ends where the next one begins or its warp waits for it.");
    parts.forEach(p => picture.description.push(`Warp ${p.warp}, ${p.name}: ${p.items.map(i => `${called(i)} in row ${i.top - from + 1}` +
        (i.bottom - i.top > 1 ? ` to ${Math.min(i.bottom, end) - from}` : "")).join("; ")}.`));
    return picture;
}
