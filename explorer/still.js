// Pictures for files: page.html#still?line=TEXT&kind=KIND&... replaces the page by the SVG text of the picture in a <pre>;
// "none" if the recording has no such access.
//
//     line     a part of the text of the line, in the kernel's own file      width, type   in pixels: of the picture, of its letters
//     kind     which of its accesses: "global load", "shared matrix load", "mma"; default: the first
//     block, warp, n   which execution; default: the first           picture  index of the picture, from 0
//     most     rows, and wavefronts, that are drawn                          lane     that is marked in registers
//     view=order, band, bands   copies and barriers instead of a line: first barrier interval, number of intervals
//     view=replay   the way to the first finding, which moves
//     view=waits, warps, boxes  dependencies between warps: which warps (4,0,8), maximum number of boxes per warp
//     view=timeline, warps, from, rows   TMA, GEMMs and exponentials: which warps, first row, number of rows

function stillOf(wanted) {
    const run = page.runs[0], kernel = run.kernels[0], number = (name, otherwise) => wanted.has(name) ? Number(wanted.get(name)) : otherwise;
    const scale = number("type", TYPE) / TYPE, width = number("width", 700) / scale, block = number("block", kernel.events[0].block);
    page.lane = number("lane", 0);
    if (wanted.get("view") === "replay")
        return drawReplay(run, width, scale);
    if (wanted.get("view") === "order")
        return drawOrder(run, kernel, block, number("band", 0), 0, width, number("bands"), false).svg("", scale);
    if (wanted.get("view") === "waits")
        return drawWaits(run, kernel, block, width, wanted.get("warps").split(",").map(Number), number("boxes")).svg("", scale);
    if (wanted.get("view") === "timeline")
        return drawTimeline(run, kernel, block, width, wanted.get("warps").split(",").map(Number), number("from"), number("rows")).svg("", scale);
    const line = run.files[run.source].text.split("\n").findIndex(text => text.includes(wanted.get("line"))) + 1;
    const group = line && run.at(run.source, line).find(g => !wanted.has("kind") || `${g.space || ""} ${g.kind}`.trim() === wanted.get("kind"));
    const sample = group && group.samples.filter(s => s.warp === number("warp", 0) && s.block === number("block", s.block))[number("n", 0)];
    return sample ? picturesOf(run, group, sample, width, number("most"))[number("picture", 0)].svg("", scale) : "none";
}

// A still has the colours of light paper; a replay follows its reader's.
function showStills(hash) {
    const colours = theme => {
        document.documentElement.dataset.theme = theme;
        const style = getComputedStyle(document.documentElement);
        return name => style.getPropertyValue(name).trim();
    };
    const fixed = svg => {
        const light = colours("light");
        return svg.replace(/var\((--[a-z-]+)\)/g, (_, name) => light(name));
    };
    const following = svg => {
        const names = distinct([...svg.matchAll(/var\((--[a-z-]+)\)/g)].map(m => m[1])).sort();
        const rules = theme => `svg{${names.map(name => `${name}:${colours(theme)(name)}`).join(";")}}`;
        return svg.replace("<style>", `<style>${rules("light")}@media (prefers-color-scheme: dark){${rules("dark")}}`);
    };
    const alone = (svg, query) => (query.get("view") === "replay" ? following : fixed)(
        svg.replace("</desc>\n", '</desc>\n<rect width="100%" height="100%" fill="var(--paper)"/>\n').replace(/ data-(tip|lanes)="[^"]*"/g, ""));
    const query = new URLSearchParams(hash.slice("#still?".length));
    document.body.replaceChildren(h("pre", {}, alone(stillOf(query), query)));
}
