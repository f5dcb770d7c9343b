# Several GPUs side by side, from what ladder.awk selected of each (view=ladder), one after the other:
#     awk -f figures.awk -f bars.awk -f gpus.awk SELECTED...
#
# Variables: chart  "speedup" (over lesson 01 on the same GPU) or "tflops"
#            d      the head dimension
#            out    writes out.tsv and out.gp, for bars.gp, and out.text; nothing where less than two GPUs have figures

BEGIN {
    FS = "\t"
    longest_name = narrow ? 16 : 24
}

# What a bar has room for of a GPU's name.
function short_name(name) {
    sub(/^NVIDIA (GeForce )?/, "", name)
    return length(name) > longest_name ? substr(name, 1, longest_name - 1) "…" : name
}

$1 == "#" && $2 == "device" {
    gpu = $3
}

$1 == "#" || $1 != d || is_other($4) {
    next
}

{
    value = chart == "speedup" ? $8 : $6
    if (value == "-")
        next
    if (!(gpu in gpu_index)) {
        gpu_index[gpu] = ++gpus
        gpu_name[gpus] = gpu
    }
    if (!($3 in known)) {
        # Another GPU may have lessons in between.
        for (at = folders++; at > 0 && folder[at] > $3; at--)
            folder[at + 1] = folder[at]
        folder[at + 1] = $3
        known[$3] = 1
    }
    figure[gpu, $3] = value
    noise[gpu, $3] = $10
}

END {
    if (gpus < 2)
        exit 0
    for (i = 1; i <= folders; i++) {
        title = title_of(folder[i], "solution")
        add_group(title)
        text = text (i > 1 ? "; " : "") title ":"
        comma = ""
        for (j = 1; j <= gpus; j++) {
            key = gpu_name[j] SUBSEP folder[i]
            if (!(key in figure))
                continue
            noisy = noise[key] == "noisy"
            any_noisy = any_noisy || noisy
            words = (noisy ? "~" : "") (chart == "speedup" ? times(figure[key]) : trimmed(short(figure[key])))
            add_bar(short_name(gpu_name[j]), figure[key], words, j, noisy ? "hollow" : "solid", "-")
            text = text comma " " gpu_name[j] " " words
            comma = ","
        }
    }
    finish_bars("log", chart == "speedup" ? "×" : "", chart == "speedup" ? 1 : least < 1 ? 0.1 : 1, \
        any_noisy ? "~ and hollow: " noisy_words() : "")
    print text > (out ".text")
}
