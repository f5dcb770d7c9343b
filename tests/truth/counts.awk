# Turns what ncu printed (--csv --page raw), or what the simulator counted (SIMULATOR_TRACE=launches), into one row a launch:
#   awk -f counts.awk -v set=NAME [-v list=LIST.csv] FILE.csv        header: set,launch,kernel and the quantities below
# The two then have the same columns and can be compared line by line. With the list of truth-patterns, a launch's sums are
# taken apart into what one access of each of its patterns costs, and the kernel is called KERNEL@PATTERN.

BEGIN {
    # Our name, ncu's metric, and the rows of the simulator that it is the sum of: access kinds, quantity.
    quantities = 0
    define("global_load_requests", "l1tex__t_requests_pipe_lsu_mem_global_op_ld",
        "global load,global async copy", "requests")
    define("global_load_sectors", "l1tex__t_sectors_pipe_lsu_mem_global_op_ld",
        "global load,global async copy", "sectors")
    define("global_store_requests", "l1tex__t_requests_pipe_lsu_mem_global_op_st", "global store", "requests")
    define("global_store_sectors", "l1tex__t_sectors_pipe_lsu_mem_global_op_st", "global store", "sectors")
    define("global_atomic_requests", "l1tex__t_requests_pipe_lsu_mem_global_op_atom", "global atomic", "requests")
    define("global_atomic_sectors", "l1tex__t_sectors_pipe_lsu_mem_global_op_atom", "global atomic", "sectors")
    define("global_reduction_requests", "l1tex__t_requests_pipe_lsu_mem_global_op_red", "global reduction", "requests")
    define("global_reduction_sectors", "l1tex__t_sectors_pipe_lsu_mem_global_op_red", "global reduction", "sectors")
    define("local_load_requests", "l1tex__t_requests_pipe_lsu_mem_local_op_ld", "local load", "requests")
    define("local_load_sectors", "l1tex__t_sectors_pipe_lsu_mem_local_op_ld", "local load", "sectors")
    define("local_store_requests", "l1tex__t_requests_pipe_lsu_mem_local_op_st", "local store", "requests")
    define("local_store_sectors", "l1tex__t_sectors_pipe_lsu_mem_local_op_st", "local store", "sectors")
    define("shared_load_instructions", "smsp__inst_executed_op_shared_ld", "shared load", "requests")
    define("shared_store_instructions", "smsp__inst_executed_op_shared_st", "shared store", "requests")
    define("matrix_load_instructions", "smsp__inst_executed_op_ldsm", "shared matrix load", "requests")
    define("async_copy_instructions", "smsp__inst_executed_op_ldgsts", "global async copy", "requests")
    define_wavefronts("shared_load", "ld", "shared load,shared matrix load")
    define_wavefronts("shared_store", "st", "shared store,shared matrix store")
    define_wavefronts("shared_atomic", "atom", "shared atomic,shared reduction")
    while (list != "" && (getline line <list) > 0)
        if (split(line, part, ",") == 5 && part[1] != "launch") {
            base[part[1]] = part[3]
            pattern[part[1], part[4]] = part[5]
            if (part[4] >= places[part[1]])
                places[part[1]] = part[4] + 1
        }
    line = "set,launch,kernel"
    for (q = 1; q <= quantities; q++)
        line = line "," name[q]
    print line
}

function define(our_name, metric, kinds, quantity) {
    name[++quantities] = our_name
    metric_of[quantities] = metric
    kinds_of[quantities] = "," kinds ","
    quantity_of[quantities] = quantity
}

# Passes are what an access costs without bank conflicts. ncu counts conflicts that no address explains (README.md), in
# wavefronts as well, so the difference says more than either.
function define_wavefronts(our_name, operation, kinds,  wavefronts, conflicts) {
    wavefronts = "l1tex__data_pipe_lsu_wavefronts_mem_shared_op_" operation
    conflicts = "l1tex__data_bank_conflicts_pipe_lsu_mem_shared_op_" operation
    define(our_name "_wavefronts", wavefronts, kinds, "wavefronts")
    define(our_name "_conflicts", conflicts, kinds, "conflicts")
    define(our_name "_passes", wavefronts "-" conflicts, kinds, "ideal_wavefronts")
}

# Prints the row of a launch; or a row for each of its patterns, where pattern p was accessed 8 base^p times, and what is
# below 8 is none of the patterns'. The second launch of a kernel without patterns is called KERNEL@2.
function print_launch(launch, kernel, value,  p, q, weight, line) {
    if (list == "") {
        line = set "," launch "," kernel (seen[kernel]++ ? "@" seen[kernel] : "")
        for (q = 1; q <= quantities; q++)
            line = line "," value[q]
        print line
        return
    }
    for (p = 0; p < places[launch]; p++) {
        line = set "," rows++ "," kernel "@" pattern[launch, p]
        for (q = 1; q <= quantities; q++) {
            weight = 8 * base[launch] ^ p
            # The last pattern's count is not a digit: it may be larger than the base.
            line = line "," (value[q] == "" ? "" : \
                p == places[launch] - 1 ? int(value[q] / weight) : int(value[q] / weight) % base[launch])
        }
        print line
    }
}

function split_csv(line, field,  n, i, c, quoted) {
    split("", field)
    n = 1
    field[1] = ""
    for (i = 1; i <= length(line); i++) {
        c = substr(line, i, 1)
        if (c == "\"")
            quoted = !quoted
        else if (c == "," && !quoted)
            field[++n] = ""
        else
            field[n] = field[n] c
    }
    return n
}

# basic_attention(const float *, ...) and void (anonymous namespace)::kernel<64>(...) -> basic_attention, kernel
function plain(kernel) {
    gsub(/\(anonymous namespace\)::/, "", kernel)
    sub(/[(<].*/, "", kernel)
    sub(/.*[: ]/, "", kernel)
    return kernel
}

# What ncu counted in the launch of this row; empty where it did not count the metric.
function counted(metric,  text) {
    text = (metric ".sum") in column ? field[column[metric ".sum"]] : ""
    gsub(/,/, "", text)
    return text
}

FNR == 1 {
    columns = split_csv($0, header)
    for (i = 1; i <= columns; i++)
        column[header[i]] = i
    from_ncu = "Kernel Name" in column
    next
}

from_ncu {
    split_csv($0, field)
    if (field[column["ID"]] == "") # the row of units
        next
    for (q = 1; q <= quantities; q++) {
        terms = split(metric_of[q], term, "-")
        value[q] = counted(term[1])
        if (terms > 1 && value[q] != "")
            value[q] -= counted(term[2])
    }
    print_launch(launches++ + 0, plain(field[column["Kernel Name"]]), value)
    next
}

{
    split_csv($0, field)
    launch = field[column["group"]]
    kernel_of[launch] = field[column["kernel"]]
    kind = "," field[column["space"]] " " field[column["access"]] ","
    for (q = 1; q <= quantities; q++) {
        if (index(kinds_of[q], kind) == 0)
            continue
        what = quantity_of[q]
        sum[launch, q] += what == "conflicts" ? field[column["wavefronts"]] - field[column["ideal_wavefronts"]] \
                                              : field[column[what]]
    }
    if (launch >= launches)
        launches = launch + 1
}

END {
    for (launch = 0; !from_ncu && launch < launches; launch++) {
        for (q = 1; q <= quantities; q++)
            value[q] = sum[launch, q] + 0
        print_launch(launch, kernel_of[launch], value)
    }
}
