# Lines over N, from what ladder.awk selected (view=sizes):
#     awk -f figures.awk -f lines.awk -f over_n.awk part=ceilings FILE part=sizes FILE
#
# Variables: chart  "time" (milliseconds) or "tflops"
#            d      the head dimension
#            bits   16: in TFLOP/s, on a linear axis from 0, below what the tensor cores reach alone; else fp32
#            heads  heads of all batches, for the time that the ceilings allow
#            out    writes out.tsv, out.gp and out.text; nothing where there is nothing to chart
# The files hold what ceilings.awk and ladder.awk, or grid.awk, selected.

BEGIN {
    FS = "\t"
}

part == "ceilings" {
    ceiling[$1] = $2
    next
}

$1 == "#" || $1 != d || $3 ~ /^triton_/ {
    next
}

{
    add_point(title_of($3, $4), is_other($4) ? "other" : "lesson", $2, $5, chart == "time" ? $6 / 1000 : $7, $9)
    if ($8 > peak)
        peak = $8
    at_n[$5] = 1
}

# A limit in TFLOP/s, over the same N.
function add_ceiling(name, role, tflops,    n, count, i, list) {
    for (n = n_least; n <= n_most; n *= 2)
        add_point(name, role, 0, n, chart == "time" ? 4e-9 * heads * n * n * d / tflops : tflops, "-")
}

END {
    if (!points)
        exit 0
    if (bits == 16) {
        if ("wgmma_bf16" in ceiling)
            add_ceiling(sprintf("wgmma alone, %s TFLOP/s", short(ceiling["wgmma_bf16"])), "ceiling", ceiling["wgmma_bf16"])
        if ("mma_bf16" in ceiling)
            add_ceiling(sprintf("mma.sync alone, %s TFLOP/s", short(ceiling["mma_bf16"])), "ceiling", ceiling["mma_bf16"])
        if (peak)
            add_ceiling(sprintf("16-bit peak on paper, %s TFLOP/s", short(peak)), "paper", peak)
        finish_lines("from 0")
        exit 0
    }
    if ("fma_fp32" in ceiling)
        add_ceiling(sprintf("multiply-adds alone, %s TFLOP/s", short(ceiling["fma_fp32"])), "ceiling", ceiling["fma_fp32"])
    if (peak)
        add_ceiling(sprintf("fp32 peak on paper, %s TFLOP/s", short(peak)), "paper", peak)
    finish_lines("log")
}
