// The other views: steps, copies and barriers, findings, totals.

// The selected block among those that have a recording of that kind (steps or events), and the control to select one.
function blockChoice(list) {
    const all = page.run.kernels.flatMap(kernel => distinct(kernel[list].map(s => s.block)).map(block => ({kernel, block})));
    const selected = Math.max(0, all.findIndex(c => c.kernel.number === page.kernel && c.block === page.block));
    const name = c => page.run.kernels.length > 1 ? `${c.block} of ${c.kernel.name}` : c.block;
    return {...all[selected], element: all.length > 1 && choice("Block", all.map((c, i) => [i, name(c)]), selected,
        i => show({kernel: all[i].kernel.number, block: all[i].block, at: 0, band: 0}))};
}

const valueName = (run, {name, copy, copies, place}) =>
    `${name || "unnamed"}${copies > 1 ? `, copy ${copy + 1} of ${copies}` : ""}, ${run.placeName(place).split(",")[0]}`;

function laneValues(run, value, sample) {
    return h("ul", {class: "lanes", "aria-label": `${valueName(run, value)}, lane by lane`}, Array.from({length: LANES}, (_, lane) =>
        h("li", {}, h("b", {}, lane), " ", h("span", {}, shortNumber(laneValue(sample, lane))))));
}

function showSteps() {
    const {run} = page, {kernel, block, element} = blockChoice("steps"), order = kernel ? orderOf(kernel, block) : [];
    if (!order.length)
        return [h("h2", {}, "Steps"), h("p", {}, "No steps were recorded.")];
    const warps = [...new Set(order.map(s => s.warp))].sort((a, b) => a - b), warp = warps.includes(page.warp) ? page.warp : warps[0];
    const own = order.filter(s => s.warp === warp), at = Math.min(page.at, own.length - 1), now = own[at];
    const until = own[at + 1] ? own[at + 1].seq - 1 : Infinity;
    const places = warps.map(w => [w, order.filter(s => s.warp === w && s.seq <= now.seq).pop()]);
    const marks = new Map();
    for (const [w, step] of places) {
        const line = step && run.lineIn(step.place, page.source);
        if (line)
            marks.set(line, [...(marks.get(line) || []), w]);
    }
    markWarps(marks);
    intoView(run.lineIn(now.place, page.source));
    const values = kernel.values.filter(v => v.samples.some(s => s[0] === block && s[1] === warp));
    const known = values.map(v => ({v, key: kernel.values.indexOf(v), sample: lastOf(v, block, warp, until)})).filter(k => k.sample)
        .sort((a, b) => (b.v.name ? 1 : 0) - (a.v.name ? 1 : 0) || b.sample.seq - a.sample.seq);
    // The default is a running maximum or sum, of the row that was computed most often.
    const relevance = k => (/max|sum/.test(k.v.name || "") ? 1000 : 0) + k.v.samples.length - k.v.copy / 100;
    const value = known.find(k => k.key === page.value) || [...known].sort((a, b) => relevance(b) - relevance(a))[0];
    // A running maximum is shown together with the sum of the same row (the same copy of the line), and vice versa.
    const pair = value && /max|sum/.test(value.v.name || "") && [...known].reverse().find(k => k.v.copy === value.v.copy &&
        (/max/.test(value.v.name) ? /sum/ : /max/).test(k.v.name || ""));
    const unrecorded = unknownNames(run.lineText(now.place), new Set(values.map(v => v.name).filter(Boolean)));
    const rows = places.map(([w, s]) => [w, s ? run.placeName(s.place) : "not started", h("code", {}, s ? run.lineText(s.place) : "")]);
    return [h("h2", {}, "Steps"),
        h("p", {class: "faint"}, "The position of each warp in the simulator's execution order: it runs one warp until it must wait, then the next. " +
            "A GPU guarantees this order only at barriers and waits."),
        h("div", {class: "row"}, element, choice("Warp", warps.map(w => [w, w]), warp, w => show({warp: Number(w), at: 0}))),
        stepper(`step ${at + 1} of ${own.length} of warp ${warp}`, at, own.length - 1, (to, focus) => show({at: to}, focus)),
        table(["warp", "is at", "source"], rows, [0], r => places[r][0] === warp ? "chosen" : null),
        h("h3", {}, `Values in the lanes of warp ${warp} at this step`),
        ...(value ? [
            h("div", {class: "row"}, choice("Variable", known.map(k => [k.key, valueName(run, k.v)]), value.key, v => show({value: Number(v)}))),
            laneValues(run, value.v, value.sample), h("div", {class: "row"}, laneChoice()),
            figure(drawSeries(value.v, block, warp, page.lane, until, pictureWidth()), "series"),
            pair ? figure(drawSeries(pair.v, block, warp, page.lane, until, pictureWidth()), "pair") : null]
            : [h("p", {}, "No value is known at this step.")]),
        h("p", {class: "faint"}, unrecorded.length ? `Not known at this line: ${unrecorded.join(", ")}. Optimized away, or missing in the line table.`
            : "A variable missing in the list was optimized away, or its line computes too many values to identify it.")];
}

function showOrder() {
    const {run} = page, {kernel, block, element} = blockChoice("events");
    const lists = kernel ? kernel.events.filter(e => e.block === block) : [];
    if (lists.every(l => !l.list.length))
        return [h("h2", {}, "Copies and barriers"), h("p", {}, "No barrier and no asynchronous copy was recorded.")];
    const width = pictureWidth(), fit = warpsThatFit(width), warps = lists.map(l => l.warp).sort((a, b) => a - b);
    const from = Math.max(0, Math.min(warps.indexOf(page.warp), warps.length - fit));
    const waiting = waitingWarps(lists, Math.floor(width / 110));
    const all = bandsOf(lists, () => 0).length, band = Math.min(page.band, all - 1);
    return [h("h2", {}, "Copies and barriers"),
        h("p", {class: "faint"}, "The order of events, without durations."),
        h("div", {class: "row"}, element,
            warps.length > fit ? choice("From warp", warps.map(w => [w, w]), warps[from], w => show({warp: Number(w)})) : null),
        all > 1 ? stepper(`from barrier interval ${band + 1} of ${all}`, band, all - 1, (to, focus) => show({band: to}, focus)) : null,
        figure(drawOrder(run, kernel, block, band, from, width), "order"),
        ...(waiting.length > 1 ? [h("h3", {}, "Dependencies between warps"), figure(drawWaits(run, kernel, block, width, waiting, 40), "waits")] : []),
        ...(waiting.length && lists.some(l => l.list.some(e => e[1] === "wgmma")) ? [h("h3", {}, "Timeline"),
            figure(drawTimeline(run, kernel, block, width, waiting), "timeline")] : []),
        lists.some(l => !l.complete) ? h("p", {}, "Later events were not recorded.") : null];
}

function showFindings() {
    const {run} = page;
    const lines = f => [f.there, f.here].filter(Boolean)
        .map(a => run.chain(a.place).find(([s]) => s !== null && run.files[s].text !== null)).filter(Boolean);
    return [h("h2", {}, "Findings"), run.findings.length ? null : h("p", {}, "The simulator found nothing wrong."),
        ...run.findings.flatMap((f, i) => [h("p", {class: "alarm"}, f.text), figure(drawFinding(run, f, pictureWidth()), `f${i}`),
            h("div", {class: "row"}, lines(f).map(([s, line]) => button(`Show ${baseName(run.files[s].name)}:${line}`, () => goTo(s, line))))]),
        ...(run.log.length ? [h("h3", {}, "Output of the check"), h("pre", {}, run.log.join("\n"))] : [])];
}

function showTotals() {
    const runs = page.other ? [page.run, page.other] : [page.run], totals = runs.map(r => r.totals());
    return [h("h2", {}, "Totals"),
        ...[...new Set(totals.flatMap(t => [...t.keys()]))].flatMap(kind =>
            [h("h3", {}, kind), countsTable(runs.map((r, i) => [r.name, totals[i].get(kind) || null]))]),
        h("h3", {}, "What was recorded"),
        ...page.run.kernels.map(k => h("p", {}, `${k.name}: counts cover ${k.complete ? "all" : "the blocks that ran before the failure, of"} ` +
            `${plural(k.blocks, "block")}. Executions were recorded for block ${ranges(k.sampled.blocks)}` +
            `${k.sampled.warps ? `, of its first ${plural(k.sampled.warps, "warp")}` : ""}: at most ${k.sampled.executions} per access.`)),
        ...page.run.notes.map(n => h("p", {}, n))];
}
