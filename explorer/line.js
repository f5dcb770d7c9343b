// The view of a line: pictures of any execution of its accesses, next to those of another kernel if that is selected.

const groupName = g => g.counts ? `${g.space} ${g.kind}, ${g.bytes} B per lane` : g.kind;

// The location of an access if it is not the selected line itself.
function groupPlace(run, group) {
    const [source, line] = run.chain(group.place)[0];
    return source === page.source && line === page.line ? "" : `, ${source === null ? "elsewhere" : baseName(run.files[source].name)}:${line}`;
}

// The executions of the selected block and warp; of another block or warp if these have none.
function chosenSamples(group) {
    const blocks = [...new Set(group.samples.map(s => s.block))], block = blocks.includes(page.block) ? page.block : blocks[0];
    const warps = [...new Set(group.samples.filter(s => s.block === block).map(s => s.warp))];
    const warp = warps.includes(page.warp) ? page.warp : warps[0];
    const samples = group.samples.filter(s => s.block === block && s.warp === warp);
    return {blocks, block, warps, warp, samples, n: Math.min(page.n, samples.length - 1)};
}

function picturesOf(run, group, sample, width, maxRows) {
    const pictures = [];
    if (group.space === "global" && sample.tensor !== null) {
        const others = group.samples.filter(s => s.block === sample.block && s.warp !== sample.warp && s.n === sample.n &&
            s.site === sample.site && s.tensor === sample.tensor);
        pictures.push(drawGlobal(run, group, sample, others, width, maxRows));
    }
    if (group.space === "shared" && sample.parts.length)
        pictures.push(drawShared(group, sample, width, maxRows));
    if (hasFragment(group))
        pictures.push(drawFragment(group, page.lane, width));
    pictures.push(...sample.tiles.map(tile => drawTile(run, group, sample, tile, width, maxRows)));
    return pictures;
}
const hasFragment = group => Number.isInteger(group.fragment);

function countsTable(columns) {
    const rows = [["requests"], ["lanes", "active lanes"], ["bytes", "requested bytes"], ["sectors"], ["ideal_sectors", "ideal sectors"],
        ["wavefronts"], ["ideal_wavefronts", "ideal wavefronts"]].filter(([k]) => columns.some(([, c]) => c && c[k]));
    const cell = (k, c) => !c ? "–" : c[`ideal_${k}`] < c[k] ? h("span", {class: "more"}, count(c[k])) : count(c[k]);
    return table(["in the whole launch", ...columns.map(([name]) => name)],
        rows.map(([k, text]) => [text || k, ...columns.map(([, c]) => cell(k, c))]), columns.map((_, i) => i + 1));
}

function lanesTable(run, group, sample) {
    const shared = group.space === "shared", words = shared ? sample.words : [];
    const matrix = group.space === "global" && sample.tensor !== null ? new Matrix(run.tensors[sample.tensor], group.bytes) : null;
    const wavefronts = lane => words.filter(w => w.lane === lane).map(w => w.wavefront + 1);
    const sectors = from => [Math.floor(from / SECTOR), Math.floor((from + group.bytes - 1) / SECTOR)];
    const rows = sample.accesses.map(({lane, from}) => [lane, count(from),
        shared ? sharedName(group.kernel, from) : matrix ? `${matrix.tensor.name}, ${matrix.named(from)}` : group.space,
        ranges([...new Set(shared ? wavefronts(lane) : sectors(from))].sort((a, b) => a - b))]);
    return h("details", {}, h("summary", {}, "Table, lane by lane"),
        table(["lane", "byte", "element", shared ? "wavefronts" : "sectors"], rows, [0, 1]));
}

// The corresponding access of the other kernel: at the matching line, else the nearest access of the same kind.
function otherGroup(group) {
    const {run, other} = page, candidates = other.groups.filter(g => g.space === group.space && Boolean(g.counts) === Boolean(group.counts));
    const lineOf = g => other.lineIn(g.place, page.source === run.source ? other.source : page.source) || 0;
    const wanted = page.source === run.source ? matchingLines(run.files[run.source].text, other.files[other.source].text)[page.line] : page.line;
    const distance = g => Math.abs(lineOf(g) - wanted) + (g.kind === group.kind ? 0 : 1000) + (g.bytes === group.bytes ? 0 : 0.5);
    return {candidates, lineOf, chosen: candidates.find(g => g.key === page.otherKey) || [...candidates].sort((a, b) => distance(a) - distance(b))[0]};
}

function showGroup(run, group, prefix) {
    const {samples, n} = chosenSamples(group), pick = hasFragment(group) ? lane => show({lane}) : null;
    return [group.space === "local" && h("p", {}, "Local memory: register spills and arrays that are not in registers. The table lists the addresses."),
        ...picturesOf(run, group, samples[n], pictureWidth()).map((picture, i) => figure(picture, `${prefix}${i}`, pick)),
        samples[n].accesses.length ? lanesTable(run, group, samples[n]) : null];
}

// A line without memory accesses: how often it was executed, and the values that it computed, if recorded.
function showArithmetic(run, line) {
    const own = run.counts(page.source).get(line);
    const values = run.kernels.flatMap(k => k.values.filter(v => v.samples.length && run.lineIn(v.place, page.source) === line));
    return [h("p", {}, !line ? "Click on a source line, or press Enter, to see its accesses."
        : `This line neither accesses memory nor uses the tensor cores${own ? `; it executed ${plural(own.instructions, "thread instruction")}` : ""}.`),
    ...values.slice(-1).map(v => laneValues(run, v, sampleOf(v.samples[0])))];
}

function showLine() {
    const {run, line} = page, file = run.files[page.source], text = (file.text || "").split("\n")[line - 1] || "";
    const groups = line ? run.at(page.source, line) : [], group = groups.find(g => g.key === page.key) || groups[0];
    const parts = [h("h2", {}, line ? `${baseName(file.name)}:${line}` : "Choose a line"), line && h("div", {class: "quote code"}, text.trim())];
    if (!group)
        return [...parts, ...showArithmetic(run, line)];
    if (groups.length > 1)
        parts.push(h("div", {class: "row", role: "group", "aria-label": "Accesses of this line"}, groups.map(g =>
            button(groupName(g) + groupPlace(run, g), () => show({key: g.key, n: 0, otherKey: null}), {"aria-pressed": String(g === group)}))));
    const other = page.both ? otherGroup(group) : null;
    if (group.samples.length) {
        const {blocks, block, warps, warp, samples, n} = chosenSamples(group);
        parts.push(h("div", {class: "row"},
            blocks.length > 1 ? choice("Block", blocks.map(b => [b, b]), block, b => show({block: Number(b), n: 0})) : null,
            choice("Warp", warps.map(w => [w, w]), warp, w => show({warp: Number(w)})), hasFragment(group) ? laneChoice() : null),
        stepper(`execution ${n + 1} of ${samples.length} recorded`, n, samples.length - 1, (to, focus) => show({n: to}, focus)));
    }
    const pictures = (run, group, prefix) => group.samples.length ? showGroup(run, group, prefix)
        : [h("p", {}, "No execution was recorded: no sampled block executed it.")];
    if (!other)
        parts.push(...pictures(run, group, "p"));
    else
        parts.push(h("div", {class: "beside"},
            h("div", {}, h("h3", {}, run.name), h("p", {class: "row"}, `line ${line}: ${groupName(group)}`), pictures(run, group, "p")),
            h("div", {}, h("h3", {}, page.other.name), ...(other.chosen ? [h("div", {class: "row"}, choice("Access",
                other.candidates.map(g => [g.key, `line ${other.lineOf(g) || "–"}: ${groupName(g)}`]), other.chosen.key, k => show({otherKey: k}))),
            ...pictures(page.other, other.chosen, "o")] : [h("p", {}, "This kernel has no such access.")]))));
    if (group.counts)
        parts.push(h("h3", {}, "Counts"), countsTable([[page.both ? run.name : "counted", group.counts],
            ...(other ? [[page.other.name, other.chosen ? other.chosen.counts : null]] : [])]));
    parts.push(h("p", {class: "faint"}, `${group.copies > 1 ? `${group.copies} copies of the instruction, from unrolling, are merged. ` : ""}` +
        `The warps of the sampled blocks executed it ${count(group.executed)} times.`), h("p", {class: "faint code"}, group.ptx));
    return parts;
}
