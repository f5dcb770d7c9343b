# A counter of a trace:  awk -v counter=NAME -f version_count.awk build/trace/NAME-attention.csv
# NAME: space, access and column, as in a lesson's predictions.csv: shared_load_wavefronts. Or launches, blocks or shared_bytes, the
# most of any kernel.
BEGIN { FS = "," }
{ gsub(/"[^"]*"/, "-") } # text, which may hold commas
FNR == 1 {
    for (i = 1; i <= NF; i++)
        at[$i] = i
    next
}
{
    if (counter == "shared_bytes" && $at[counter] > sum)
        sum = $at[counter]
    split($at["grid"], grid, "x")
    if (counter == "blocks" && grid[1] * grid[2] * grid[3] > sum)
        sum = grid[1] * grid[2] * grid[3]
    access = $at["space"] "_" $at["access"] "_"
    gsub(/ /, "_", access)
    if (index(counter, access) == 1 && substr(counter, length(access) + 1) in at)
        sum += $at[substr(counter, length(access) + 1)]
}
END { print sum + 0 }
