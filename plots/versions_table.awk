# The tables of versions, used before tables.awk: awk -f versions_table.awk -f tables.awk ... part=versions FILE ...
# FILE has what versions.awk selected, each line after the GPU's folder name and a tab.

part == "versions" && $2 != "#" {
    version_row[$1, ++version_rows[$1]] = $0
    next
}

function print_versions(    i, j, slug, cell, shape) {
    for (i = 1; i <= gpus["versions"]; i++) {
        slug = gpu["versions", i]
        shape = ""
        for (j = 1; j <= version_rows[slug]; j++) {
            split(version_row[slug, j], cell, FS)
            if (cell[2] != shape) {
                shape = cell[2]
                print (j > 1 ? "\n" : "") "B,H,N,D = " shape ":\n"
                print "| version | us | TFLOP/s | time against the solution | registers | spilled, bytes | bank conflicts a multiply-add |"
                print "|---|---|---|---|---|---|---|"
            }
            printf "| %s | %s | %s | %s | %s | %s | %s |\n", \
                patch_of(cell[3]), short(cell[4]), \
                short(cell[5]), (cell[3] == "solution" ? "-" : sprintf("%+.1f %%", 100 * (cell[6] - 1))) \
                (cell[10] == "noisy" ? ", noisy" : ""), cell[7], cell[8], cell[9]
        }
        print "\nfp32, no mask; " how " of one run a shape. " measured_on("versions", slug) "\n"
    }
    if (!gpus["versions"])
        print "Not measured yet: `scripts/versions` does it, on a GPU.\n"
}

# A version whose patch has gone is part of the solution by now.
function patch_of(name,    line, file) {
    file = page
    sub(/[^\/]*$/, "versions/" name ".patch", file)
    return (getline line < file) > 0 ? "[" name "](versions/" name ".patch)" : name
}
