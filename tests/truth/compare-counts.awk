# Compares the counts of a GPU with the simulator's, row by row, both as counts.awk writes them.
#   awk -f compare-counts.awk -v set=NAME -v differences=differences.csv GOLDEN.csv SIMULATED.csv
# A count that is known to differ has a line in differences.csv: SET/KERNEL/QUANTITY,GPU,SIMULATOR,why. Both figures must
# still be what the line says. An empty field of GOLDEN.csv, a metric that ncu did not know, is wrong.

BEGIN {
    FS = ","
    while ((getline line <differences) > 0)
        if (index(line, set "/") == 1 && split(line, part, ",") >= 4)
            known[part[1]] = part[2] "," part[3]
}

FNR == 1 {
    file++
    if (file == 2 && $0 != columns)
        complain("the golden file has other columns: make it again (README.md)")
    columns = $0
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
            compare(set "/" $3 "/" header[i], golden[$2, i], $i)
}

function compare(key, gpu, simulated) {
    if (gpu == "") {
        complain(key ": the recording has no count")
        return
    }
    compared++
    if (key in known) {
        met[key] = 1
        allowed++
        if (gpu + 0 == simulated + 0)
            complain(key " is listed as a difference, but there is none")
        else if (known[key] != gpu "," simulated)
            complain(key "," gpu "," simulated ": differences.csv says " known[key])
    } else if (gpu + 0 != simulated + 0) {
        complain(key "," gpu "," simulated ": GPU and simulator differ")
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
        if (!(key in met))
            complain(key " is listed as a difference, but is not counted")
    printf "truth: %s: %d counts, %d wrong, %d known to differ\n", set, compared, wrong,
        allowed
    exit wrong > 0
}
