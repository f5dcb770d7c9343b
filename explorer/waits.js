// Dependencies between warps: one column per warp, one warp per warpgroup. Each box is below all boxes that it waits for. Derived from
// the events alone: the arrivals at a barrier in a phase, and the waits for that phase.

const WAITS_ROW = 24;

// The names of the block's mbarriers, from the lines that initialize them: Map(offset -> "K_full[0]").
function barrierNames(run, kernel, events) {
    const made = new Map();
    for (const [, kind, site, offset] of events.flatMap(e => e.list))
        if (kind === "init") {
            const text = run.files[run.source].text.split("\n")[run.lineIn(kernel.sites[site].place, run.source) - 1] || "";
            const own = /\(&?(?:\w+(?:\.|->))*(\w+)/.exec(text), name = own ? own[1] : "mbarrier";
            made.set(name, [...(made.get(name) || []), offset]);
        }
    return new Map([...made].flatMap(([name, offsets]) => offsets.map((offset, i) => [offset, offsets.length > 1 ? `${name}[${i}]` : name])));
}

// The name of the function call in the kernel's file that issues a wgmma.
function calledBy(run, place) {
    const own = run.chain(place).filter(([source]) => source === run.source), [, line] = own[1] || own[0] || [];
    const called = /\b(\w+)\s*[<(]/.exec(run.files[run.source].text.split("\n")[line - 1] || "");
    return called ? called[1] : "wgmma";
}

// The boxes of a warp: {kind, seq, text: [longest first], key: the barrier and phase that it arrives at or waits for}.
function itemsOf(run, kernel, {warp, list}, nameOf, phases) {
    const items = [], last = kind => items.length && items[items.length - 1].kind === kind ? items[items.length - 1] : null;
    list.forEach(([seq, kind, site, a, b], i) => {
        const name = nameOf.get(a), add = (kind, text, key) => items.push({kind, seq, warp, text, key, from: site});
        if (kind === "expect")
            add("copy", [`TMA ${name}`, name], null);
        else if (kind === "signal" && last("copy") && last("copy").seq === seq)
            last("copy").key = `${a}:${b}`;
        else if (kind === "signal")
            add("arrive", [`arrive ${name}`, name], `${a}:${b}`);
        else if (kind === "ready") {
            // The latest phase of that parity with an arrival; if there is none, the phase before the first one, which is complete.
            const phase = Math.max(-1, ...[...(phases.get(a) || [])].filter(([p, at]) => p % 2 === b && at < seq).map(([p]) => p));
            add("wait", [`wait ${name}`, name], phase < 0 ? null : `${a}:${phase}`);
        } else if (kind === "wgmma" && !(last("wgmma") && last("wgmma").group === a)) {
            const name = calledBy(run, kernel.sites[site].place);
            add("wgmma", [name, name.replace("issue_", "")], null);
            items[items.length - 1].group = a;
        } else if (kind === "wgmma wait" && a === 0 && last("wgmma"))
            last("wgmma").text.unshift(`${last("wgmma").text[0]}, wait`);
        else if (kind === "wgmma wait")
            add("end", a ? [`wait_group ${a}`, `wait ${a}`] : ["wait_group 0", "wait 0"], null);
        else if (kind === "arrive" && a > 0) {
            // bar.sync if the next event at this barrier is that the warp passes it, else bar.arrive.
            const next = list.slice(i + 1).find(e => /arrive|pass/.test(e[1]) && e[3] === a), waits = next && next[1] === "pass";
            add(waits ? "wait" : "arrive", [`${waits ? "wait" : "arrive"} at bar ${a}`, `bar ${a}`], `bar ${a}:${b}`);
            if (waits)
                items[items.length - 1].seq = next[0];
        }
    });
    return items;
}

// The first warp of each warpgroup that waits at mbarriers, at most maxWarps; a producer of two consumers is drawn between them.
function waitingWarps(lists, maxWarps) {
    const own = lists.filter(l => l.warp % 4 === 0 && l.list.some(e => e[1] === "ready")).sort((a, b) => a.warp - b.warp).slice(0, maxWarps);
    const warps = own.map(l => l.warp);
    return own.length === 3 && own[0].list.some(e => e[1] === "expect") ? [warps[1], warps[0], warps[2]] : warps;
}

// Map(barrier -> Map(phase -> its first arrival)).
function phasesOf(events) {
    const phases = new Map();
    for (const [seq, , , a, b] of events.flatMap(e => e.list).filter(e => e[1] === "signal"))
        phases.set(a, (phases.get(a) || new Map()).set(b, Math.min(seq, (phases.get(a) || new Map()).get(b) || Infinity)));
    return phases;
}

// columns: the items of each warp. Each item begins where the previous one of its warp ends, and a wait not before the arrivals that it
// waits for have ended; rowsOf(item) is its height. {level: Map(item -> row), arrows: [[arrival, wait], ...]}.
function ranked(columns, warps, rowsOf) {
    const level = new Map(), lowest = warps.map(() => 0), arrows = [], all = columns.flat();
    for (const item of [...all].sort((a, b) => a.seq - b.seq || all.indexOf(a) - all.indexOf(b))) {
        const own = warps.indexOf(item.warp), others = item.kind !== "wait" || item.key === null ? [] : all.filter(o => o.key === item.key &&
            o.warp !== item.warp && (o.kind === "arrive" || o.kind === "copy") && level.has(o));
        level.set(item, Math.max(lowest[own], ...others.map(o => level.get(o) + rowsOf(o))));
        lowest[own] = level.get(item) + rowsOf(item);
        others.forEach(o => arrows.push([o, item]));
    }
    return {level, arrows};
}

// warps: from left to right; maxBoxes: per column.
function drawWaits(run, kernel, block, width, warps, maxBoxes = 99) {
    const events = kernel.events.filter(e => e.block === block), nameOf = barrierNames(run, kernel, events), phases = phasesOf(events);
    const columns = warps.map(warp => itemsOf(run, kernel, events.find(e => e.warp === warp), nameOf, phases));
    // Barriers that only warps of one column use are omitted.
    const bar = item => /^bar \d+/.exec(item.key), between = item => !bar(item) ||
        columns.some(c => c[0].warp !== item.warp && c.some(o => bar(o) && bar(o)[0] === bar(item)[0]));
    const shown = columns.map(c => c.filter(between).slice(0, maxBoxes)), {level, arrows} = ranked(shown, warps, () => 1);
    const picture = new Picture(width, "Dependencies between warps: an arrow leads from an arrival to the wait that it completes (no time axis)");
    const column = width / warps.length, gap = width >= 500 ? 44 : 24, boxWidth = column - gap, top = picture.heading(0) + 22;
    const x = item => warps.indexOf(item.warp) * column + gap / 2, y = item => top + level.get(item) * WAITS_ROW;
    const looks = {copy: MARKS.used, wgmma: MARKS.other, end: MARKS.other, arrive: MARKS.chosen, wait: MARKS.waits};
    const roleOf = warp => `warp ${warp} ${shown[warps.indexOf(warp)].some(i => i.kind === "copy") ? "(producer)" : "(consumer)"}`;
    for (const [from, to] of arrows) {
        const right = warps.indexOf(to.warp) > warps.indexOf(from.warp), [x1, x2] = right ? [x(from) + boxWidth, x(to)] : [x(from), x(to) + boxWidth];
        const y1 = y(from) + 9, y2 = y(to) + 9, long = Math.hypot(x2 - x1, y2 - y1), ux = (x2 - x1) / long * 6, uy = (y2 - y1) / long * 6;
        picture.path(`M${x1} ${y1}L${x2} ${y2}M${x2 - ux - uy / 2} ${y2 - uy + ux / 2}L${x2} ${y2}L${x2 - ux + uy / 2} ${y2 - uy - ux / 2}`,
            {stroke: from.kind === "copy" ? "var(--accent)" : "var(--ink)", line: 1.2});
    }
    warps.forEach((warp, i) => picture.label(i * column + 8, top - 22, column - 16, 18, [roleOf(warp), `warp ${warp}`], {bold: true}));
    for (const item of shown.flat()) {
        const arrives = item.kind === "arrive", free = item.kind === "wait" && item.key === null;
        const text = free ? [`${item.text[0]}: ready`, item.text[1]] : item.text;
        picture.rect(x(item), y(item), boxWidth, 18, {...(free ? {...MARKS.empty, fill: "var(--paper)"} : looks[item.kind]), round: 3, tip: `warp ${item.warp}: ${item.text[0]}`});
        picture.label(x(item), y(item), boxWidth, 18, text, arrives ? {fill: "var(--paper)"} : free ? FAINT : {});
    }
    const some = test => shown.flat().some(test);
    const bottom = picture.legend(top + (1 + Math.max(...level.values())) * WAITS_ROW + 4, [...(some(i => i.kind === "copy") ? [["used", "issues a TMA load (expect-tx)"]] : []),
        ["chosen", "arrives"], ["waits", "waits"], ...(some(i => i.kind === "wait" && i.key === null) ? [["empty", "wait returns immediately"]] : []), ["other", "wgmma"]]);
    picture.paragraph(0, bottom, "Each box is below all boxes that it waits for. One warp is drawn per warpgroup." +
        (some(i => i.kind === "copy") ? "" : " A wait without an arrow depends on a warp that is not drawn, or on its own warp."));
    for (const [i, warp] of warps.entries())
        picture.description.push(`${roleOf(warp).replace("w", "W")}: ${shown[i].map(item => item.text[0] + (item.kind !== "wait" ? "" : item.key === null ? " (returns immediately)"
            : ` (for ${arrows.some(a => a[1] === item) ? `warp ${ranges(arrows.filter(a => a[1] === item).map(a => a[0].warp))}` : "a warp that is not drawn, or its own"})`)).join("; ")}.`);
    return picture;
}
