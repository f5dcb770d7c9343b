// Pictures for files: page.html#still?line=TEXT&kind=KIND&...#still?... replaces the page by the SVG texts of the pictures, each in its
// own <pre>; "none" if the recording has no such access.
//
//     line     a part of the text of the line, in the kernel's own file      width, type   in pixels: of the picture, of its letters
//     kind     which of its accesses: "global load", "shared matrix load", "mma"; default: the first
//     block, warp, n   which execution; default: the first           picture  index of the picture, from 0
//     most     rows, and wavefronts, that are drawn                          lane     that is marked in registers
//     view=order, band, bands   copies and barriers instead of a line: first barrier interval, number of intervals
//     view=waits, warps, boxes  dependencies between warps: which warps (4,0,8), maximum number of boxes per warp

function stillOf(wanted) {
    const run = page.runs[0], kernel = run.kernels[0], number = (name, otherwise) => wanted.has(name) ? Number(wanted.get(name)) : otherwise;
    const scale = number("type", TYPE) / TYPE, width = number("width", 700) / scale, block = number("block", kernel.events[0].block);
    page.lane = number("lane", 0);
    if (wanted.get("view") === "order")
        return drawOrder(run, kernel, block, number("band", 0), 0, width, number("bands"), false).svg("", scale);
    if (wanted.get("view") === "waits")
        return drawWaits(run, kernel, block, width, wanted.get("warps").split(",").map(Number), number("boxes")).svg("", scale);
    const line = run.files[run.source].text.split("\n").findIndex(text => text.includes(wanted.get("line"))) + 1;
    const group = line && run.at(run.source, line).find(g => !wanted.has("kind") || `${g.space || ""} ${g.kind}`.trim() === wanted.get("kind"));
    const sample = group && group.samples.filter(s => s.warp === number("warp", 0) && s.block === number("block", s.block))[number("n", 0)];
    return sample ? picturesOf(run, group, sample, width, number("most"))[number("picture", 0)].svg("", scale) : "none";
}

function showStills(hash) {
    const style = getComputedStyle(document.documentElement);
    const alone = svg => svg.replace("</desc>\n", '</desc>\n<rect width="100%" height="100%" fill="#ffffff"/>\n')
        .replace(/ data-(tip|lanes)="[^"]*"/g, "").replace(/var\((--[a-z-]+)\)/g, (_, name) => style.getPropertyValue(name).trim());
    document.body.replaceChildren(...hash.split("#still?").slice(1).map(query => h("pre", {}, alone(stillOf(new URLSearchParams(query))))));
}
