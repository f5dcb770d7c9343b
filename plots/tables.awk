# Rewrites a page with its measured tables:
#     awk -f pictures.awk -f versions_table.awk -f tables.awk part=versions FILE part=ladder FILE part=softmax FILE part=profile FILE part=triton FILE
#         part=triton_softmax FILE part=compared FILE part=compared_eager FILE part=compared_softmax FILE part=charts FILE part=page PAGE
#
# FILEs hold what versions.awk, ladder.awk, softmax.awk and profile.awk selected, beside.awk (triton) and compared.awk from attention.csv
# and from softmax.csv, and the charts (pictures.awk), each line after the GPU's folder name and a tab. Variables: page, its
# name for messages; lesson, the folder of the lesson whose page it is; up, the way from the page to the root of the
# repository.

BEGIN {
    FS = "\t"
    shape = "fp32, B=1 H=16 N=4096, no mask"
    how = "median of interleaved CUDA-event timings"
    open = ""
}

part != "page" && $2 == "#" {
    fact[part, $1, $3] = $4
    if ($3 == "run")
        gpu[part, ++gpus[part]] = $1
    next
}

part == "ladder" {
    slug = $1
    d = $2
    folder = $4
    if (!((slug, folder) in rung)) {
        rung[slug, folder] = 1
        rungs[slug, ++rung_count[slug]] = folder
    }
    ms[slug, folder, d] = $6 / 1000
    tflops[slug, folder, d] = $7
    peak[slug, folder, d] = $8
    over_first[slug, folder, d] = $9
    over_previous[slug, folder, d] = $10
    next
}

part == "softmax" {
    matrices[$1]++
    matrix[$1, matrices[$1]] = $0
    next
}

part == "profile" {
    profiled[$1, $2, $3] = $4
    if (!(($1, $2, $5) in listed)) {
        listed[$1, $2, $5] = 1
        counter_name[$1, $2, ++counters[$1, $2]] = $5
    }
    counter[$1, $2, $5, $3] = $6
    next
}

part == "triton" || part == "triton_softmax" {
    beside[part, $1, $2, ++besides[part, $1, $2]] = $0
    next
}

part ~ /^compared/ {
    compared[part, $1]++
    compared[part, $1, compared[part, $1]] = $0
    next
}

# Three significant digits, never as a power of ten.
function short(value,    digits, size) {
    digits = 2
    for (size = 10; size <= value && digits > 0; size *= 10)
        digits--
    if (value < 1)
        digits = 3
    return sprintf("%." digits "f", value)
}

function times(value) {
    return value == "" || value == "-" ? "-" : sprintf(value >= 99.95 ? "%.0f×" : "%.1f×", value)
}

function percent(value, limit) {
    return limit > 0 ? sprintf("%.0f %%", 100 * value / limit) : "-"
}

function title_of(folder) {
    gsub(/_/, " ", folder)
    return folder
}

function measured_on(part, slug,    text, low, high) {
    text = fact[part, slug, "device"] ": driver " fact[part, slug, "driver"] ", CUDA " fact[part, slug, "cuda"]
    low = fact[part, slug, "clock_low"]
    high = fact[part, slug, "clock_high"]
    if (low != "")
        text = text ", SM clock " (low == high ? low : low " to " high) " MHz"
    return text ", " fact[part, slug, "date"] ", commit " fact[part, slug, "commit"] "."
}

# "D=64 / D=128" of one column, each through its own formatting.
function pair(array, slug, folder, ratio,    d, text, cell) {
    text = ""
    for (d = 64; d <= 128; d += 64) {
        cell = (slug, folder, d) in array ? array[slug, folder, d] : ""
        cell = ratio ? times(cell) : cell == "" ? "-" : short(cell)
        text = text (d > 64 ? " / " : "") cell
    }
    return text == "- / -" ? "-" : text
}

function print_ladder(    i, j, slug, folder) {
    for (i = 1; i <= gpus["ladder"]; i++) {
        slug = gpu["ladder", i]
        print "| lesson | time, ms | TFLOP/s | over the lesson before | over lesson 01 |"
        print "|---|---|---|---|---|"
        for (j = 1; j <= rung_count[slug]; j++) {
            folder = rungs[slug, j]
            printf "| [%s](%slessons/%s/README.md) | %s | %s | %s | %s |\n", title_of(folder), up, folder, \
                pair(ms, slug, folder, 0), pair(tflops, slug, folder, 0), pair(over_previous, slug, folder, 1), \
                pair(over_first, slug, folder, 1)
        }
        print ""
        print "Each pair is D=64 / D=128; " shape "; " how ". " measured_on("ladder", slug)
        print ""
    }
}

function print_measured(    i, d, slug, captions) {
    captions = ""
    for (i = 1; i <= gpus["ladder"]; i++) {
        slug = gpu["ladder", i]
        if (!((slug, lesson) in rung))
            continue
        if (captions == "") {
            print "| GPU | D | time, ms | TFLOP/s | of the fp32 peak | over the lesson before | over lesson 01 |"
            print "|---|---|---|---|---|---|---|"
        }
        for (d = 64; d <= 128; d += 64)
            if ((slug, lesson, d) in ms)
                printf "| %s | %d | %s | %s | %s | %s | %s |\n", fact["ladder", slug, "device"], d, \
                    short(ms[slug, lesson, d]), short(tflops[slug, lesson, d]), \
                    percent(tflops[slug, lesson, d], peak[slug, lesson, d]), \
                    times(over_previous[slug, lesson, d]), times(over_first[slug, lesson, d])
        captions = captions " " measured_on("ladder", slug)
    }
    if (captions == "")
        return 0
    print ""
    print "Solution; " shape "; " how "." captions
    print ""
    return 1
}

function print_softmax(    i, j, slug, cell) {
    for (i = 1; i <= gpus["softmax"]; i++) {
        slug = gpu["softmax", i]
        show_chart(slug, "softmax")
        print "| rows × columns | five passes, us | GB/s | one read and one write, us | GB/s | speed-up | of a copy's GB/s |"
        print "|---|---|---|---|---|---|---|"
        for (j = 1; j <= matrices[slug]; j++) {
            split(matrix[slug, j], cell, FS)
            printf "| %d × %d | %s | %s | %s | %.0f | %s | %s |\n", cell[2], cell[3], \
                (cell[4] == "-" ? "-" : short(cell[4])), (cell[5] == "-" ? "-" : sprintf("%.0f", cell[5])), \
                short(cell[6]), cell[7], (cell[4] == "-" ? "-" : times(cell[4] / cell[6])), \
                (cell[8] == "-" ? "-" : percent(cell[7], cell[8]))
        }
        print ""
        print "Solution; fp32; GB/s count one read and one write; " how ". " measured_on("softmax", slug)
        print ""
    }
}

# Nothing where nobody has profiled: the measured table above it says what there is.
function print_profile(    i, j, k, slug, dims, d, line, cell) {
    for (i = 1; i <= gpus["profile"]; i++) {
        slug = gpu["profile", i]
        dims = 0
        line = ""
        for (d = 64; d <= 128; d += 64)
            if ((slug, lesson, d) in profiled) {
                dim[++dims] = d
                line = line " D=" d " |"
            }
        if (!dims)
            continue
        print "| Nsight Compute, " fact["profile", slug, "device"] " |" line
        printf "|---|"
        for (j = 1; j <= dims; j++)
            printf "---|"
        print ""
        for (k = 1; k <= counters[slug, lesson]; k++) {
            cell = counter_name[slug, lesson, k]
            line = ""
            for (j = 1; j <= dims; j++)
                line = line " " ((slug, lesson, cell, dim[j]) in counter ? counter[slug, lesson, cell, dim[j]] : "-") " |"
            print "| " cell " |" line
        }
        print ""
        print "Solution; B=1 H=16 N=" profiled[slug, lesson, dim[1]] ", no mask; " fact["profile", slug, "date"] ", commit " \
            fact["profile", slug, "commit"] "."
        print ""
    }
}

# The lesson's Triton kernel beside its solution, and the row softmax where the lesson has one.
function print_triton(    i, j, slug, cell, captions, printed) {
    captions = ""
    for (i = 1; i <= gpus["triton"]; i++) {
        slug = gpu["triton", i]
        if (!besides["triton", slug, lesson])
            continue
        if (captions == "") {
            print "| GPU | D | solution, ms | Triton, ms | Triton / solution |"
            print "|---|---|---|---|---|"
        }
        for (j = 1; j <= besides["triton", slug, lesson]; j++) {
            split(beside["triton", slug, lesson, j], cell, FS)
            printf "| %s | %d | %s | %s | %s |\n", fact["triton", slug, "device"], cell[3], short(cell[4] / 1000), \
                short(cell[5] / 1000), beside_ratio(cell[5] / cell[4], cell[6])
        }
        captions = captions " " measured_on("triton", slug)
    }
    if (captions != "")
        print "\nTriton's kernel beside the solution; " shape "; " how " of one run." captions "\n"
    printed = captions != ""
    for (i = 1; i <= gpus["triton_softmax"]; i++) {
        slug = gpu["triton_softmax", i]
        if (!besides["triton_softmax", slug, lesson])
            continue
        print "| rows × columns | solution, us | GB/s | Triton, us | GB/s | Triton / solution |"
        print "|---|---|---|---|---|---|"
        for (j = 1; j <= besides["triton_softmax", slug, lesson]; j++) {
            split(beside["triton_softmax", slug, lesson, j], cell, FS)
            printf "| %d × %d | %s | %.0f | %s | %.0f | %s |\n", cell[3], cell[4], short(cell[5]), cell[6], \
                short(cell[7]), cell[8], beside_ratio(cell[7] / cell[5], cell[9])
        }
        print "\nTriton's row softmax beside the solution; fp32; " how " of one run. " \
            measured_on("triton_softmax", slug) "\n"
        printed = 1
    }
    if (!printed)
        print "Not measured yet: `make peers` does it, on a GPU with PyTorch and Triton.\n"
}

function faster(rival, own, noise) {
    return rival == "-" ? "-" : beside_ratio(rival / own, noise)
}

# Timed by the GPU alone, or (eager) with what a launch costs the CPU.
function print_compared(which, timed,    i, j, slug, cell) {
    for (i = 1; i <= gpus[which]; i++) {
        slug = gpu[which, i]
        print "| B, H, N, D | fastest solution | us | TFLOP/s | PyTorch's best | us | speed-up | over memory-efficient | over cuBLAS + softmax |"
        print "|---|---|---|---|---|---|---|---|---|"
        for (j = 1; j <= compared[which, slug]; j++) {
            split(compared[which, slug, j], cell, FS)
            printf "| %s%s | %s | %s | %s | %s | %s | %s | %s | %s |\n", cell[2], cell[3] == "causal" ? " causal" : "", \
                title_of(cell[4]), short(cell[5]), short(cell[6]), cell[7], short(cell[8]), \
                faster(cell[8], cell[5], cell[11]), faster(cell[9], cell[5], cell[11]), \
                faster(cell[10], cell[5], cell[11])
        }
        print "\nfp32, " timed "; " how " of one run. " measured_on(which, slug) "\n"
    }
}

function print_peers(    i, j, slug, cell) {
    print_compared("compared", "the GPU's time alone")
    print_compared("compared_eager", "one call at a time, with what a launch costs the CPU")
    for (i = 1; i <= gpus["compared_softmax"]; i++) {
        slug = gpu["compared_softmax", i]
        print "| rows × columns | row softmax, us | of a copy's GB/s | torch.softmax, us | speed-up | over PyTorch in five operations |"
        print "|---|---|---|---|---|---|"
        for (j = 1; j <= compared["compared_softmax", slug]; j++) {
            split(compared["compared_softmax", slug, j], cell, FS)
            printf "| %d × %d | %s | %s | %s | %s | %s |\n", cell[2], cell[3], short(cell[4]), percent(cell[5], cell[6]), \
                short(cell[7]), faster(cell[7], cell[4], cell[9]), faster(cell[8], cell[4], cell[9])
        }
        print "\nSolution 03; fp32; " how " of one run. " measured_on("compared_softmax", slug) "\n"
    }
    if (!gpus["compared"] && !gpus["compared_softmax"])
        print "Not measured yet: `make peers` does it, on a GPU with PyTorch.\n"
}

function beside_ratio(ratio, noise) {
    return sprintf("%.2f×", ratio) (noise == "noisy" ? ", noisy" : "")
}

function print_part(name) {
    print ""
    if (name == "profile") {
        print_profile()
        return
    }
    if (name == "triton") {
        print_triton()
        return
    }
    if (name == "versions") {
        print_versions()
        return
    }
    if (name == "peers") {
        print_peers()
        return
    }
    if (name == "charts")
        print_charts()
    else if (name == "ladder" && gpus["ladder"])
        print_ladder()
    else if (name == "softmax" && gpus["softmax"])
        print_softmax()
    else if (name != "measured" || !print_measured())
        print "Not measured yet: `make bench` does it on a GPU.\n"
}

function fail(message) {
    printf "%s:%d: %s\n", page, FNR, message > "/dev/stderr"
    failed = 1
    exit 2
}

/^<!-- results:begin / {
    if (open != "")
        fail("results:begin inside '" open "', which has no results:end")
    open = $0
    sub(/^<!-- results:begin /, "", open)
    sub(/ -->.*/, "", open)
    if (open !~ /^(charts|ladder|measured|peers|profile|softmax|triton|versions)$/)
        fail("there is no table '" open "'; there are charts, ladder, measured, peers, profile, softmax, triton and versions")
    print
    print_part(open)
    next
}

/^<!-- results:end / {
    if ($0 != "<!-- results:end " open " -->")
        fail("results:end does not belong to " (open == "" ? "a results:begin" : "results:begin " open))
    open = ""
}

open == "" {
    print
}

END {
    if (!failed && open != "")
        fail("results:begin " open " has no results:end")
    if (failed)
        exit 2
}
