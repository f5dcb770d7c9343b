# The Triton kernel of the same idea beside each lesson, from what ladder.awk selected (view=ladder, others=1):
#     awk -f figures.awk -f bars.awk -f triton_bars.awk SELECTED
#
# Variable: out  writes out.tsv and out.gp, for bars.gp, and out.text; nothing where no Triton kernel was timed

BEGIN {
    FS = "\t"
}

$1 == "#" {
    next
}

{
    name = $3
    is_triton = sub(/^triton_/, "", name)
    if (is_other($4) && !is_triton)
        next
    key = is_triton ? "Triton" : "CUDA"
    if (!is_triton && !(name in title)) {
        title[name] = title_of(name, $4)
        order[++count] = name
    }
    has_triton[name] = has_triton[name] || is_triton
    rate[name, key, $1] = $6
    noise[name, key, $1] = $10
}

function add(name, key, d, hue,    noisy, figure) {
    if (!((name, key, d) in rate))
        return
    noisy = noise[name, key, d] == "noisy"
    any_noisy = any_noisy || noisy
    figure = (noisy ? "~" : "") trimmed(short(rate[name, key, d]))
    add_bar(key " D=" d, rate[name, key, d], figure, hue, noisy ? "hollow" : "solid", "-")
    text = text (first ? " " : ", ") key " D=" d " " figure
    first = 0
}

END {
    for (i = 1; i <= count; i++) {
        name = order[i]
        if (!has_triton[name])
            continue
        add_group(title[name])
        text = text (text == "" ? "" : "; ") title[name] ":"
        first = 1
        for (d = 64; d <= 128; d += 64) {
            add(name, "CUDA", d, d == 64 ? 1 : 2)
            add(name, "Triton", d, 0)
        }
    }
    if (!bars)
        exit 0
    finish_bars("log", "", least < 1 ? 0.1 : 1, any_noisy ? "~ and hollow: " noisy_words() : "")
    print text > (out ".text")
}
