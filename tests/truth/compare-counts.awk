# Compares the counts of a GPU with the simulator's, launch by launch.
#   awk -f compare-counts.awk -v differences=differences.csv -v list=LIST.csv GOLDEN.csv SIMULATED.csv
# Both as counts.awk writes them. list: of truth-patterns, whose sums are taken apart into single accesses; else empty.
# differences.csv names a count that is known to differ as SET/KERNEL/QUANTITY or SET/KERNEL@PATTERN/QUANTITY.

BEGIN {
    FS = ","
    while ((getline line <differences) > 0)
        if (line !~ /^#/ && split(line, part, ",") > 1 && part[1] ~ /\//)
            known[part[1]] = 1
    while (list != "" && (getline line <list) > 0)
        if (split(line, part, ",") == 5 && part[1] != "launch") {
            base[part[1]] = part[3]
            pattern[part[1], part[4]] = part[5]
            if (part[4] >= places[part[1]])
                places[part[1]] = part[4] + 1
        }
}

FNR == 1 {
    file++
    for (i = 1; i <= NF; i++)
        header[i] = $i
    next
}

file == 1 {
    set = $1
    launches = $2 + 1
    kernel[$2] = $3
    for (i = 4; i <= NF; i++)
        golden[$2, i] = $i
    columns = NF
    next
}

{
    simulated_launches = $2 + 1
    if ($2 >= launches) {
        complain($3 ": no golden counts for launch " $2)
        next
    }
    if (kernel[$2] != $3) {
        complain("launch " $2 " is " kernel[$2] " on the GPU, " $3 " on the simulator")
        next
    }
    for (i = 4; i <= columns; i++) {
        if (golden[$2, i] == "") # ncu did not count it
            continue
        if (list == "")
            compare($3, i, golden[$2, i], $i)
        else
            compare_patterns($2, i, golden[$2, i], $i)
    }
}

# A launch of patterns: pattern p was accessed 8 base^p times.
function compare_patterns(launch, i, gpu, simulated,  p, weight, from_gpu, from_simulator) {
    gpu = int(gpu / 8)
    simulated = int(simulated / 8)
    for (p = places[launch] - 1; p >= 0; p--) {
        weight = base[launch] ^ p
        from_gpu = int(gpu / weight)
        from_simulator = int(simulated / weight)
        gpu -= from_gpu * weight
        simulated -= from_simulator * weight
        compare(kernel[launch] "@" pattern[launch, p], i, from_gpu, from_simulator)
    }
}

function compare(what, i, gpu, simulated,  key) {
    key = set "/" what "/" header[i]
    compared++
    if (key in known)
        met[key] = 1
    if (gpu + 0 == simulated + 0)
        return
    if (key in known) {
        differs[key] = 1
        allowed++
    } else {
        complain(what ": " header[i] ": GPU " gpu ", simulator " simulated)
    }
}

function complain(text) {
    print set "/" text
    wrong++
}

END {
    if (simulated_launches < launches)
        complain(launches " launches on the GPU, " simulated_launches + 0 " on the simulator")
    for (key in known)
        if (key in met && !(key in differs))
            complain(key " is listed as a difference, but there is none")
        else if (!(key in met) && index(key, set "/") == 1)
            complain(key " is listed as a difference, but is not counted")
    printf "truth: %s: %d counts, %d wrong, %d known to differ\n", set, compared, wrong, allowed
    exit wrong > 0
}
