// A finding with both of its accesses: their lines and warps, and the shared-memory words that both access.

function drawFinding(run, finding, width) {
    const kernel = run.kernels[finding.kernel || 0] || {sites: [], shared: []};
    const sides = [["first", finding.there], ["then", finding.here]].filter(([, access]) => access).map(([name, access]) => {
        const site = access.site === null ? null : kernel.sites[access.site];
        const verb = !site ? "is" : {sync: "synchronizes", atomic: "reads and writes"}[site.kind] || (isWrite(site) ? "writes" : "reads");
        const sample = site && access.sample !== null ? new Sample(site, site.samples[access.sample]) : null;
        const known = what => access[what] !== null && access[what] !== undefined;
        const actor = [...["block", "warp"].filter(known).map(what => `${what} ${access[what]}`),
            known("thread") ? `thread ${access.thread.filter((t, k) => k === 0 || t).join(", ")}` : ""].filter(Boolean).join(", ");
        return {name, verb, actor: actor || "unknown warp", place: run.placeName(access.place), code: run.lineText(access.place),
            words: sample && site.space === "shared" ? new Set(sample.words.map(w => w.word)) : new Set()};
    });
    const picture = new Picture(width, `${finding.kind.replace(/_/g, " ")}${finding.count > 1 ? `, ${count(finding.count)} times` : ""}`);
    const columns = width >= 500 ? sides.length : 1, w = (width - 2 - (columns - 1) * 16) / columns, top = picture.heading(0);
    let y = top;
    sides.forEach((side, i) => {
        const x = columns > 1 ? i * (w + 16) : 0, from = columns > 1 ? top : y;
        const texts = [[`${sides.length > 1 ? `${side.name}: ` : ""}${side.verb}`, {fill: "var(--warn)", bold: true}],
            [side.actor, FAINT], [side.place, FAINT], [side.code]];
        let at = from + 18;
        for (const [text, look] of texts)
            wrapped(text, w - 20).slice(0, 3).forEach(line => picture.text(x + 11, (at += 17) - 17, line, look));
        picture.rect(x + 1, from, w, at - from - 8, {stroke: "var(--warn)", round: 4});
        y = Math.max(y, at + 4);
        picture.description.push(`${side.name}: ${side.verb}: ${side.actor}, ${side.place}: ${side.code}.`);
    });
    const touched = sides.flatMap(s => [...s.words]), both = sides.length > 1 ? distinct([...sides[0].words].filter(v => sides[1].words.has(v))) : [];
    if (touched.length) {
        const cells = Math.min(BANKS, Math.floor((width - 60) / 9)), unit = (width - 60) / cells, start = Math.min(...(both.length ? both : touched));
        y = picture.paragraph(0, y, `Shared memory from ${sharedName(kernel, start * 4)} on, one box per word:`);
        for (const {name, words} of sides) {
            picture.text(0, y + 14, name, FAINT);
            for (let word = start; word < start + cells; word++)
                picture.rect(50 + (word - start) * unit, y + 2, unit, ROW - 4, {
                    ...MARKS[!words.has(word) ? "empty" : both.includes(word) ? "conflict" : "used"],
                    tip: `${name}: ${sharedName(kernel, word * 4)} is ${words.has(word) ? "" : "not "}accessed`});
            y += ROW;
        }
        picture.legend(y + 6, [["used", "accessed by one"], ...(both.length ? [["conflict", "accessed by both, unsynchronized"]] : [])]);
        picture.description.push(both.length ? `${plural(both.length, "word")} are accessed by both.` : "");
    }
    return picture;
}
