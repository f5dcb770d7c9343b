# Turns what ncu printed (--csv --page raw), or what the simulator counted (SIMULATOR_TRACE=launches), into one row a launch:
#   awk -f counts.awk -v set=NAME FILE.csv        header: set,launch,kernel and the quantities below
# The two then have the same columns and can be compared line by line.

BEGIN {
    # Our name, ncu's metric, and the rows of the simulator that it is the sum of: access kinds, quantity.
    quantities = 0
    define("global_load_requests", "l1tex__t_requests_pipe_lsu_mem_global_op_ld", "global load", "requests")
    define("global_load_sectors", "l1tex__t_sectors_pipe_lsu_mem_global_op_ld", "global load", "sectors")
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
    define("shared_load_wavefronts", "l1tex__data_pipe_lsu_wavefronts_mem_shared_op_ld",
        "shared load,shared matrix load", "wavefronts")
    define("shared_store_wavefronts", "l1tex__data_pipe_lsu_wavefronts_mem_shared_op_st",
        "shared store,shared matrix store", "wavefronts")
    define("shared_load_conflicts", "l1tex__data_bank_conflicts_pipe_lsu_mem_shared_op_ld",
        "shared load,shared matrix load", "conflicts")
    define("shared_store_conflicts", "l1tex__data_bank_conflicts_pipe_lsu_mem_shared_op_st",
        "shared store,shared matrix store", "conflicts")
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
    line = set "," launches++ "," plain(field[column["Kernel Name"]])
    for (q = 1; q <= quantities; q++) {
        value = (metric_of[q] ".sum") in column ? field[column[metric_of[q] ".sum"]] : ""
        gsub(/,/, "", value)
        line = line "," value
    }
    print line
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
        line = set "," launch "," kernel_of[launch]
        for (q = 1; q <= quantities; q++)
            line = line "," sum[launch, q] + 0
        print line
    }
}
