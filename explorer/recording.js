// Queries on the simulator's recording (simulator/recording/README.md): the accesses of a line, the active lanes, the array element at an
// address. Nothing is modelled here: sectors follow from the addresses, wavefronts come from the simulator.

const SECTOR = 32, CACHE_LINE = 128, BANKS = 32, LANES = 32;

// Expands [first, step, count, ...] to a list of numbers.
function expanded(runs = []) {
    const all = [];
    for (let i = 0; i < runs.length; i += 3)
        for (let k = 0; k < runs[i + 2]; k++)
            all.push(runs[i] + k * runs[i + 1]);
    return all;
}

const lanesOf = mask => [...Array(LANES).keys()].filter(lane => Math.floor(mask / 2 ** lane) % 2);

const NO_COUNTS = {requests: 0, lanes: 0, bytes: 0, sectors: 0, ideal_sectors: 0, wavefronts: 0, ideal_wavefronts: 0};
const added = (a, b) => b ? Object.fromEntries(Object.keys(a).map(k => [k, a[k] + (b[k] || 0)])) : a;

const isWrite = ({kind, space}) => /store|reduction/.test(kind) || (/copy/.test(kind) && space === "shared");

// One execution of an instruction by a warp. parts: for each wavefront the part of the request that it serves; a part with several
// wavefronts has a bank conflict.
class Sample {
    constructor(site, [block, warp, n, seq, mask, tensor, addresses, passes, parts, tiles = []]) {
        Object.assign(this, {site, block, warp, n, seq, tensor, addresses, passes, tiles, lanes: lanesOf(mask), parts: expanded(parts)});
    }
    // [{lane, from}]: the byte offset of each lane's access.
    get accesses() {
        return expanded(this.addresses).map((from, i) => ({lane: i in this.lanes ? this.lanes[i] : i, from}));
    }
    // For shared memory, [{lane, word, wavefront}]: which wavefront serves which word for which lane; word is the offset / 4.
    get words() {
        const each = Math.max(1, Math.ceil(this.site.bytes / 4)), passes = expanded(this.passes);
        return this.accesses.flatMap(({lane, from}, i) =>
            [...Array(each).keys()].map(w => ({lane, word: Math.floor(from / 4) + w, wavefront: passes[i * each + w]})));
    }
}

// Maps byte offsets of a tensor to rows and columns. Memory without a shape has rows of 256 bytes.
class Matrix {
    constructor(tensor, bytes) {
        const known = Boolean(tensor.shape), elementBytes = known ? tensor.element_bytes : Math.min(bytes, 4);
        const columns = known ? tensor.shape[tensor.shape.length - 1] : 256 / elementBytes;
        const axes = known ? tensor.axes.slice(0, -1).map((name, i) => ({name, size: tensor.shape[i], stride: tensor.strides[i]}))
            : [{name: "", size: Math.ceil(tensor.bytes / 256), stride: columns}];
        Object.assign(this, {tensor, known, elementBytes, columns, rowBytes: columns * elementBytes, rows: axes.reduce((n, a) => n * a.size, 1),
            axes: axes.filter(a => a.size > 1).sort((a, b) => b.stride - a.stride)});
    }
    at(offset) {
        let column = Math.floor(offset / this.elementBytes), ordinal = 0, name = "";
        for (const axis of this.axes) {
            const index = Math.min(axis.size - 1, Math.floor(column / axis.stride));
            column -= index * axis.stride;
            ordinal = ordinal * axis.size + index;
            name = `${axis.name} ${index}${name && `, ${name}`}`;
        }
        const start = offset - offset % this.elementBytes - column * this.elementBytes;
        return {start, ordinal, column, name: this.known ? name || "row 0" : `byte ${start}`};
    }
    named(offset) {
        const {name, column} = this.at(offset);
        return this.known ? `${name}, column ${column}` : `byte ${count(offset)}`;
    }
}

// "K[1][3][8]", or the byte offset if no array is known.
function sharedName(kernel, offset) {
    const array = kernel.shared.find(a => offset >= a.offset && offset < a.offset + a.bytes);
    if (!array || !array.element_bytes)
        return array ? `${array.name}, byte ${offset - array.offset}` : `byte ${offset}`;
    let index = Math.floor((offset - array.offset) / array.element_bytes), indices = "";
    for (let i = array.dims.length - 1; i >= 0; index = Math.floor(index / array.dims[i--]))
        indices = `[${i ? index % array.dims[i] : index}]${indices}`;
    return array.name + indices;
}

class Run {
    constructor(data, sources) {
        Object.assign(this, data);
        this.files = sources;
        this.kernels.forEach((kernel, number) => Object.assign(kernel, {number, run: this}));
        this.groups = this.kernels.flatMap(kernel => this.grouped(kernel));
    }
    // Innermost first: [[source, line], ...].
    chain(place) {
        const chain = [];
        for (let p = place; p !== null && p !== undefined; p = this.places[p][2])
            chain.push(this.places[p]);
        return chain.map(([source, line]) => [source, line]);
    }
    // The innermost line in a source for a location.
    lineIn(place, source) {
        const own = this.chain(place).find(([s]) => s === source);
        return own && own[1];
    }
    // Merges copies of an instruction (from unrolling): counts are summed, executions are interleaved.
    grouped(kernel) {
        const groups = new Map();
        kernel.sites.forEach(site => {
            if (site.merged === -1 || site.kind === "sync")
                return;
            const key = [kernel.number, site.place, site.kind, site.space, site.bytes, site.fragment].join();
            if (!groups.has(key))
                groups.set(key, {...site, key, kernel, copies: 0, counts: site.counts && NO_COUNTS, samples: [], executed: 0});
            const group = groups.get(key);
            group.copies++;
            group.counts = group.counts && added(group.counts, site.counts);
            group.executed += site.executed || 0;
            group.samples.push(...site.samples.map(s => new Sample(site, s)));
        });
        for (const group of groups.values())
            group.samples.sort((a, b) => a.block - b.block || a.warp - b.warp || a.seq - b.seq);
        return [...groups.values()];
    }
    // The accesses at a line itself, and then those in functions that were inlined there.
    at(source, line) {
        const own = this.groups.filter(g => this.lineIn(g.place, source) === line);
        const inside = this.groups.filter(g => !own.includes(g) && this.chain(g.place).some(([s, l]) => s === source && l === line));
        return [...own, ...inside];
    }
    // The sums of all counts per line of a source.
    counts(source) {
        const lines = new Map();
        const add = (place, counts) => {
            const line = this.lineIn(place, source);
            if (line)
                lines.set(line, added(lines.get(line) || {...NO_COUNTS, instructions: 0}, counts));
        };
        this.groups.forEach(g => add(g.place, g.counts));
        this.kernels.forEach(k => k.lines.forEach(([place, , instructions]) => add(place, {instructions})));
        return lines;
    }
    // Sums over the launch, for each kind of access.
    totals() {
        const totals = new Map();
        for (const group of this.groups.filter(g => g.counts)) {
            const what = `${group.space} ${group.kind}`;
            totals.set(what, added(totals.get(what) || NO_COUNTS, group.counts));
        }
        return totals;
    }
    // The sources with code of this run, the kernel file first.
    get shownSources() {
        const used = new Set(this.kernels.flatMap(k => k.lines.flatMap(([place]) => this.chain(place).map(([s]) => s))));
        this.groups.forEach(g => this.chain(g.place).forEach(([s]) => used.add(s)));
        return [this.source, ...[...used].filter(s => s !== null && s !== this.source && this.files[s].text !== null)];
    }
    lineText(place) {
        const [source, line] = this.chain(place)[0] || [null], text = source === null ? null : this.files[source].text;
        return text === null ? "" : (text.split("\n")[line - 1] || "").trim();
    }
    placeName(place) {
        return this.chain(place).map(([s, l]) => `${s === null ? "unknown file" : baseName(this.files[s].name)}:${l}`).join(", from ");
    }
}

const baseName = path => path.replace(/.*\//, "");

// Matches the lines of two texts by their longest common subsequence; lines between two matches are paired in order. Returns the
// line of b for each line of a, from 1; index 0 is unused.
function matchingLines(a, b) {
    const left = a.split("\n").map(t => t.trim()), right = b.split("\n").map(t => t.trim());
    const width = right.length + 1, longest = new Uint16Array((left.length + 1) * width);
    for (let i = left.length - 1; i >= 0; i--)
        for (let k = right.length - 1; k >= 0; k--)
            longest[i * width + k] = left[i] === right[k] ? longest[(i + 1) * width + k + 1] + 1
                : Math.max(longest[(i + 1) * width + k], longest[i * width + k + 1]);
    const match = [0];
    for (let i = 0, k = 0; i < left.length; i++) {
        while (k < right.length && left[i] !== right[k] && longest[i * width + k + 1] >= longest[(i + 1) * width + k])
            k++;
        match.push(Math.min(k + 1, right.length));
        if (left[i] === right[k])
            k++;
    }
    return match;
}
