// A finding with both of its accesses: which line of which warp, and the words that both touch.

const accessSample = (run, kernel, access) => {
    const site = access && access.site !== null && kernel.sites[access.site];
    return site && access.sample !== null ? new Sample(site, site.samples[access.sample]) : null;
};

function drawFinding(run, finding, width) {
    const kernel = run.kernels[finding.kernel || 0];
    const picture = new Picture(width, `${finding.kind.replace(/_/g, " ")}${finding.count > 1 ? `, ${count(finding.count)} times` : ""}`);
    let y = picture.heading(0);
    const sides = [["first", finding.there], ["then", finding.here]].filter(([, access]) => access);
    const columns = width >= 560 && sides.length > 1 ? 2 : 1, w = (width - 2 - (columns - 1) * 16) / columns;
    const samples = sides.map(([, access]) => accessSample(run, kernel, access));
    let row = y;
    sides.forEach(([name, access], i) => {
        const x = columns > 1 ? i * (w + 16) : 0, site = access.site === null ? null : kernel.sites[access.site];
        const verb = !site ? "" : site.kind === "sync" ? "waits" : /store|reduction/.test(site.kind) ? "writes" : site.kind === "atomic" ? "reads and writes" : "reads";
        const who = [access.block === null ? "" : `block ${access.block}`, access.warp === null ? "" : `warp ${access.warp}`,
            access.thread ? `thread ${access.thread.filter((t, k) => k === 0 || t).join(", ")}` : ""].filter(Boolean).join(", ") || "which warp is not known";
        const top = columns > 1 ? y : row;
        const lines = [[`${sides.length > 1 ? `${name}: ` : ""}${verb}`, true], [who], [run.placeName(access.place)], [run.lineText(access.place), false, true]];
        let at = top + 6;
        for (const [text, bold, code] of lines)
            for (const line of wrapped(text, w - 20).slice(0, 3)) {
                picture.text(x + 11, at + 12, line, {bold, fill: code ? "var(--ink)" : bold ? "var(--warn)" : "var(--faint)"});
                at += 17;
            }
        picture.rect(x + 1, top, w, at - top + 4, {stroke: "var(--warn)", round: 4});
        row = at + 14;
        picture.says.push(`${name}: ${verb} ${who}, ${run.placeName(access.place)}: ${run.lineText(access.place)}.`);
    });
    y = row + 4;
    if (samples.some(s => s && s.site.space === "shared")) {
        const own = samples.map(s => new Set(s && s.site.space === "shared" ? s.words.map(v => v.word) : []));
        const both = [...own[0]].filter(v => own.length > 1 && own[1].has(v)).sort((a, b) => a - b);
        const start = both.length ? both[0] : Math.min(...own.flatMap(s => [...s]));
        const cells = Math.min(32, Math.floor((width - 60) / 9)), unit = (width - 60) / cells;
        y = picture.paragraph(0, y, `Shared memory from ${sharedName(kernel, start * 4)} on, a box a word:`);
        own.forEach((words, i) => {
            picture.text(0, y + 14, sides[i][0], {fill: "var(--faint)"});
            for (let k = 0; k < cells; k++) {
                const word = start + k, look = !words.has(word) ? MARKS.empty : both.includes(word) ? MARKS.late : MARKS.used;
                picture.rect(50 + k * unit, y + 2, unit, ROW - 4, {...look, tip: `${sharedName(kernel, word * 4)}: ${words.has(word) ? "touched" : "not touched"}`});
            }
            y += ROW;
        });
        y = picture.legend(y + 6, [["used", "touched by one"], ...(both.length ? [["late", "touched by both, and nothing puts them in order"]] : [])]);
        picture.says.push(both.length ? `${plural(both.length, "word")} are touched by both.` : "");
    }
    return picture;
}
