// The way to a finding as one SVG that moves without a script: which warp is at which line of the kernel, and which words of shared
// memory it accesses there, in the order in which the simulator ran the warps.

const FRAME_SECONDS = 0.8, LAST_SECONDS = 6;

// The line of the kernel itself, if a function of the same file was called there.
const callerLine = (run, place) => (run.chain(place).filter(([s]) => s === run.source).pop() || [])[1];

// The first time that each warp of the block comes to each line between both accesses, and at last the second access: [{warp, line}].
function framesOf(run, finding, lines) {
    const kernel = run.kernels[finding.kernel], {block, warp, site, sample} = finding.here;
    const until = new Sample(kernel.sites[site], kernel.sites[site].samples[sample]).seq, seen = new Set();
    const steps = orderOf(kernel, block).filter(s => s.seq <= until).map(s => ({warp: s.warp, line: callerLine(run, s.place)}))
        .filter(({warp, line}) => lines.has(line) && !seen.has(`${warp} ${line}`) && seen.add(`${warp} ${line}`));
    const line = callerLine(run, finding.here.place);
    return [...steps.filter(s => s.warp !== warp || s.line !== line), {warp, line}];
}

// The words that a warp accesses at a line: [{word, writes}].
const wordsAt = (run, kernel, block, warp, line) => run.groups
    .filter(g => g.kernel === kernel && g.space === "shared" && callerLine(run, g.place) === line)
    .flatMap(g => g.samples.filter(s => s.block === block && s.warp === warp).flatMap(s => s.words.map(({word}) => ({word, writes: isWrite(g)}))));

function drawReplay(run, width, scale) {
    const finding = run.findings.find(f => f.here && f.there && f.here.site !== null), kernel = run.kernels[finding.kernel], {block} = finding.here;
    const text = run.files[run.source].text.split("\n"), [from, to] = [finding.there, finding.here].map(a => callerLine(run, a.place)).sort((a, b) => a - b);
    const code = text.slice(from - 2, to + 1).map((line, i) => ({number: from - 1 + i, line}))
        .filter(({line}) => !/^ *\/\/(?!.*__sync)/.test(line)), lines = new Set(code.map(c => c.number));
    const indent = Math.min(...code.filter(c => c.line.trim()).map(c => /^ */.exec(c.line)[0].length)), letters = Math.floor((width - 34) / 7.3);
    const picture = new Picture(width, "The check finds a race, without a GPU");
    let y = picture.heading(0);
    const lineY = new Map(code.map(({number}, i) => [number, y + 18 * i])), boxesY = y + 18 * code.length + 8;
    const frames = framesOf(run, finding, lines), first = Math.min(...frames.flatMap(f => wordsAt(run, kernel, block, f.warp, f.line)).map(w => w.word));
    const cells = 16, rows = 4, unit = width / cells, where = new Map(), written = new Set(), total = FRAME_SECONDS * frames.length + LAST_SECONDS;
    const name = sharedName(kernel, first * 4).replace(/\[.*/, ""), keyframes = [];
    const group = i => `<g class="frame${i === frames.length - 1 ? " last" : ""}" style="animation-name:f${i}">`;
    // The marked lines lie behind the code.
    frames.forEach(({line}, i) => {
        picture.parts.push(group(i));
        picture.rect(32, lineY.get(line), width - 32, 18, {fill: i === frames.length - 1 ? "var(--warn-tint)" : "var(--accent-tint)", round: 3});
        picture.parts.push("</g>");
    });
    picture.parts.push('<g font-family="\'DejaVu Sans Mono\', Menlo, Consolas, monospace">');
    for (const {number, line} of code) {
        const all = line.slice(indent), shown = all.length > letters ? `${all.slice(0, letters - 1)}…` : all, at = shown.indexOf("//");
        picture.text(34, lineY.get(number) + 13, shown.slice(0, at < 0 ? undefined : at));
        if (at >= 0)
            picture.text(34 + 7.225 * at, lineY.get(number) + 13, shown.slice(at), FAINT);
    }
    picture.parts.push("</g>");
    picture.text(0, boxesY + 13, `${name} in shared memory, one box per word:`, FAINT);
    frames.forEach(({warp, line}, i) => {
        const last = i === frames.length - 1, accessed = wordsAt(run, kernel, block, warp, line), read = new Set(accessed.filter(a => !a.writes).map(a => a.word));
        const [begin, end] = [i, i + 1].map(k => (100 * k * FRAME_SECONDS / total).toFixed(2));
        keyframes.push(`@keyframes f${i}{0%{opacity:${i ? 0 : 1}}${begin}%{opacity:1}${last ? "100%{opacity:1}" : `${end}%{opacity:0}`}}`);
        where.set(warp, line);
        accessed.filter(a => a.writes).forEach(a => written.add(a.word));
        picture.parts.push(group(i));
        for (const [number, warps] of Map.groupBy([...where], ([, at]) => at))
            picture.text(0, lineY.get(number) + 13, `w${ranges(warps.map(([w]) => w))}`, {fill: number === line ? "var(--accent)" : "var(--faint)", bold: number === line});
        for (let k = 0; k < cells * rows; k++)
            picture.rect(k % cells * unit + 1, boxesY + 22 + Math.floor(k / cells) * 14, unit - 2, 12,
                MARKS[read.has(first + k) ? last ? "conflict" : "chosen" : written.has(first + k) ? "used" : "empty"]);
        const says = `Warp ${warp} ${accessed.some(a => a.writes) ? `writes ${name}.` : read.size ? `reads ${name}.` : "runs on."}`;
        picture.paragraph(0, boxesY + 82, last ? finding.text.replace(/;.*/, ".") : says, width, last ? {fill: "var(--warn)", bold: true} : {});
        picture.parts.push("</g>");
    });
    picture.description.push(finding.text);
    return picture.svg("", scale).replace("</desc>\n", `</desc>\n<style>.frame{opacity:0;animation:${total}s step-end infinite}.last{opacity:1}text{white-space:pre}${keyframes.join("")}` +
        "@media (prefers-reduced-motion: reduce){.frame{animation:none}}</style>\n");
}
