# Compares the counts of a GPU with the simulator's, row by row, both as counts.awk writes them.
#   awk -f compare-counts.awk -v set=NAME -v differences=differences.csv GOLDEN.csv SIMULATED.csv
# differences.csv names a count that is known to differ as SET/KERNEL/QUANTITY; KERNEL as in the rows.

BEGIN {
    FS = ","
    while ((getline line <differences) > 0)
        if (line !~ /^#/ && split(line, part, ",") > 1 && part[1] ~ /\//)
            known[part[1]] = 1
}

FNR == 1 {
    file++
    for (i = 1; i <= NF; i++)
        header[i] = $i
    next
}

file == 1 {
    rows++
    kernel[$2] = $3
    for (i = 4; i <= NF; i++)
        golden[$2, i] = $i
    next
}

{
    simulated_rows++
    if (!($2 in kernel))
        complain($3 ": no golden counts")
    else if (kernel[$2] != $3)
        complain("row " $2 " is " kernel[$2] " on the GPU, " $3 " on the simulator")
    else
        for (i = 4; i <= NF; i++)
            if (golden[$2, i] != "") # else ncu did not count it
                compare(set "/" $3 "/" header[i], golden[$2, i], $i)
}

function compare(key, gpu, simulated) {
    compared++
    if (key in known)
        met[key] = 1
    if (gpu + 0 == simulated + 0)
        return
    if (key in known) {
        differs[key] = 1
        allowed++
    } else {
        complain(key ": GPU " gpu ", simulator " simulated)
    }
}

function complain(text) {
    print text
    wrong++
}

END {
    if (simulated_rows < rows)
        complain(set ": " rows " rows from the GPU, " simulated_rows + 0 " from the simulator")
    for (key in known)
        if (key in met && !(key in differs))
            complain(key " is listed as a difference, but there is none")
        else if (!(key in met) && index(key, set "/") == 1)
            complain(key " is listed as a difference, but is not counted")
    printf "truth: %s: %d counts, %d wrong, %d known to differ\n", set, compared, wrong, allowed
    exit wrong > 0
}
