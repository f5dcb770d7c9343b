# The report of scripts/trace: reads the simulator's CSV. Variables: name, source, shape, causal, ptxas (the log of ptxas -v).
# predict() calls prediction(quantity, unit, value) for each line of predictions.csv.

# The simulated GPU, an H200 (CUDA C++ Programming Guide, table of technical specifications, compute capability 9.0).
BEGIN {
    REGISTERS = 65536; REGISTER_UNIT = 256; WARPS = 64; BLOCKS = 32; SHARED = 233472; RESERVED = 1024
    dimensions = split(shape, part, ",")
    if (dimensions == 2) {
        ROWS = part[1]; COLUMNS = part[2]
    } else if (dimensions == 4) {
        B = part[1]; H = part[2]; D = part[4]
        NQ = NK = part[3]
        if (split(part[3], length_of, ":") == 2) {
            NQ = length_of[1]; NK = length_of[2]
        }
    }
    CAUSAL = causal
    read_ptxas()
}

# registers[], spilled[] of each mangled kernel name.
function read_ptxas(  line, kernel, word) {
    while ((getline line <ptxas) > 0) {
        if (line ~ /Compiling entry function/) {
            split(line, word, "'")
            kernel = word[2]
        } else if (line ~ /Function properties for/) {
            kernel = line
            sub(/.*properties for */, "", kernel)
        } else if (line ~ /bytes stack frame/) {
            split(line, word, /[ ,]+/)
            for (i = 1; i in word; i++) {
                if (word[i] == "spill" && word[i + 1] == "stores") spill_stores[kernel] = word[i - 2]
                if (word[i] == "spill" && word[i + 1] == "loads") spill_loads[kernel] = word[i - 2]
                if (word[i] == "stack") stack[kernel] = word[i - 2]
            }
        } else if (match(line, /Used [0-9]+ registers/)) {
            registers[kernel] = substr(line, RSTART + 5, RLENGTH - 15) + 0
        }
    }
    close(ptxas)
}

# Splits a line of CSV with quoted fields into field[1..].
function split_csv(line, field,  n, i, c, quoted) {
    split("", field)
    n = 1
    field[1] = ""
    for (i = 1; i <= length(line); i++) {
        c = substr(line, i, 1)
        if (c == "\"") {
            if (quoted && substr(line, i + 1, 1) == "\"") {
                field[n] = field[n] c
                i++
            } else {
                quoted = !quoted
            }
        } else if (c == "," && !quoted) {
            field[++n] = ""
        } else {
            field[n] = field[n] c
        }
    }
    return n
}

NR == 1 {
    count = split_csv($0, header)
    next
}

{
    split_csv($0, field)
    for (i = 1; i <= count; i++)
        row[NR, header[i]] = field[i]
    group = field[1]
    if (!(group in first_row)) {
        groups++
        order[groups] = group
        first_row[group] = NR
    }
    last_row[group] = NR
}

# The text of a source line, without what is around it.
function source_text(file, line,  n, text) {
    if (!(file in lines_of)) {
        lines_of[file] = 0
        while ((getline text <file) > 0)
            text_of[file, ++lines_of[file]] = text
        close(file)
    }
    text = text_of[file, line]
    gsub(/^[ \t]+|[ \t]+$/, "", text)
    return text
}

function base_name(path) {
    sub(/.*\//, "", path)
    return path
}

function grouped(number,  text, sign) {
    text = sprintf("%.0f", number)
    while (text ~ /[0-9][0-9][0-9][0-9]($|,)/ && match(text, /[0-9][0-9][0-9]($|,)/)) {
        text = substr(text, 1, RSTART - 1) "," substr(text, RSTART)
    }
    return text
}

function size(bytes) {
    if (bytes < 10240) return sprintf("%.0f B", bytes)
    if (bytes < 10 * 1048576) return sprintf("%.1f KiB", bytes / 1024)
    if (bytes < 10 * 1073741824) return sprintf("%.1f MiB", bytes / 1048576)
    return sprintf("%.1f GiB", bytes / 1073741824)
}

function get(r, what) {
    return row[r, what] / row[r, "launches"]
}

function smaller(x, y) {
    return x < y ? x : y
}

# Registers, spills, and how many warps an SM holds at once: the least that registers, shared memory and the block's size allow.
function describe_resources(r,  kernel, dims, threads, warps, by, why, blocks, used) {
    kernel = row[r, "mangled"]
    split(row[r, "block"], dims, "x")
    threads = dims[1] * dims[2] * dims[3]
    warps = int((threads + 31) / 32)
    if (!(kernel in registers)) {
        print "  registers: ptxas's log does not name this kernel"
        return
    }
    # Registers are given out to a warp in units of 256, so a thread's share is rounded up to a multiple of 8.
    used = int((registers[kernel] * 32 + REGISTER_UNIT - 1) / REGISTER_UNIT) * REGISTER_UNIT * warps
    blocks = int(WARPS / warps)
    why = "the size of the block"
    if (BLOCKS < blocks) { blocks = BLOCKS; why = "the number of blocks an SM holds" }
    by = int(REGISTERS / used)
    if (by < blocks) { blocks = by; why = "registers" }
    by = int(SHARED / (row[r, "shared_bytes"] + RESERVED))
    if (by < blocks) { blocks = by; why = "shared memory" }
    printf "  ptxas: %d registers a thread, ", registers[kernel]
    if (spill_stores[kernel] + spill_loads[kernel] > 0)
        printf "spills: %d bytes stored and %d loaded a thread", spill_stores[kernel], spill_loads[kernel]
    else
        printf "no spills"
    if (stack[kernel] > 0)
        printf ", %d bytes of stack", stack[kernel]
    printf "; %d blocks of %d warps an SM hold %d of %d warps (%.0f %%), limited by %s\n", blocks, warps, blocks * warps,
        WARPS, 100 * blocks * warps / WARPS, why
}

function print_row(r, sectors, wavefronts,  requests, text, where, file) {
    requests = get(r, "requests")
    # A line of a shared helper is shown with the line of the lesson that called it.
    where = base_name(row[r, "file"]) ":" row[r, "line"]
    printf "  %-22s %-22s %12s %11s", where, row[r, "space"] " " row[r, "access"] " " row[r, "bytes_a_lane"] " B",
        grouped(requests), size(get(r, "bytes"))
    if (row[r, "space"] == "shared")
        printf " %15s %9.1f %6.1f %%\n", "", row[r, "wavefronts"] / row[r, "ideal_wavefronts"],
            wavefronts > 0 ? 100 * get(r, "wavefronts") / wavefronts : 0
    else
        printf " %7.1f (%5.1f) %9s %6.1f %%\n", get(r, "sectors") / requests, get(r, "ideal_sectors") / requests, "",
            sectors > 0 ? 100 * get(r, "sectors") / sectors : 0
    text = source_text(row[r, "file"], row[r, "line"])
    if (row[r, "outer_line"] != row[r, "line"] || row[r, "outer_file"] != row[r, "file"])
        text = text "   <- " base_name(row[r, "outer_file"]) ":" row[r, "outer_line"]
    if (row[r, "note"] != "") {
        note_number[row[r, "note"]] = (row[r, "note"] in note_number) ? note_number[row[r, "note"]] : ++notes
        note_text[notes] = (notes in note_text) ? note_text[notes] : row[r, "note"]
        text = text "   [" note_number[row[r, "note"]] "]"
    }
    print "      " substr(text, 1, 106)
}

function add_totals(r,  key, q, quantity) {
    key = row[r, "space"] "_" row[r, "access"]
    gsub(/ /, "_", key)
    split("requests lanes bytes sectors ideal_sectors wavefronts ideal_wavefronts", quantity, " ")
    for (q = 1; q <= 7; q++)
        total[key "_" quantity[q]] += get(r, quantity[q])
}

function print_kernel(group,  r, sectors, wavefronts, kind, kinds, k, n) {
    r = first_row[group]
    printf "%s  grid %s, block %s, %s shared memory a block%s\n", row[r, "kernel"], row[r, "grid"], row[r, "block"],
        size(row[r, "shared_bytes"]), row[r, "launches"] > 1 ? ", figures of one of " row[r, "launches"] " launches" : ""
    describe_resources(r)
    for (r = first_row[group]; r <= last_row[group]; r++) {
        sectors += get(r, "sectors")
        wavefronts += get(r, "wavefronts")
    }
    printf "\n  %-22s %-22s %12s %11s %15s %9s %8s\n", "line", "access", "requests", "bytes", "sectors (ideal)", "conflict",
        "share"
    for (r = first_row[group]; r <= last_row[group]; r++) {
        add_totals(r)
        print_row(r, sectors, wavefronts)
        kind = row[r, "space"] " " row[r, "access"]
        if (!((group, kind) in seen_kind)) {
            seen_kind[group, kind] = 1
            kinds[++n] = kind
        }
        kind_requests[group, kind] += get(r, "requests")
        kind_bytes[group, kind] += get(r, "bytes")
        kind_sectors[group, kind] += get(r, "sectors")
        kind_wavefronts[group, kind] += get(r, "wavefronts")
    }
    print ""
    for (k = 1; k <= n; k++) {
        kind = kinds[k]
        printf "  %-45s %12s %11s   ", "all: " kind, grouped(kind_requests[group, kind]), size(kind_bytes[group, kind])
        if (kind ~ /^shared/)
            printf "%s wavefronts\n", grouped(kind_wavefronts[group, kind])
        else
            printf "%s sectors, %s\n", grouped(kind_sectors[group, kind]), size(32 * kind_sectors[group, kind])
    }
    print ""
}

function counted(quantity,  at, pattern, r, key, sum, g, what) {
    at = index(quantity, "@")
    if (at == 0)
        return total[quantity] + 0
    pattern = substr(quantity, at + 1)
    quantity = substr(quantity, 1, at - 1)
    for (g = 1; g <= groups; g++)
        for (r = first_row[order[g]]; r <= last_row[order[g]]; r++) {
            key = row[r, "space"] "_" row[r, "access"] "_"
            gsub(/ /, "_", key)
            what = substr(quantity, length(key) + 1)
            if (index(quantity, key) == 1 && (r, what) in row && index(source_text(row[r, "file"], row[r, "line"]), pattern))
                sum += get(r, what)
        }
    return sum + 0
}

function prediction(quantity, unit, value,  found) {
    if (predictions++ == 0)
        printf "What the lesson predicts\n  %-44s %16s %16s %16s\n", "", "predicted", "counted", "counted/predicted"
    found = counted(quantity)
    printf "  %-44s %16s %16s %16s\n", quantity " (" unit ")", grouped(value), grouped(found),
        value != 0 ? sprintf("%.3f", found / value) : "-"
}

END {
    if (NR < 2) {
        print "No memory access was counted: the kernel was not launched, or reads and writes nothing."
        exit
    }
    printf "%s  %s  %s%s, counted by the simulator on its H200\n\n", name, source, shape == "" ? "" : "shape " shape,
        causal ? ", causal" : ""
    for (g = 1; g <= groups; g++)
        print_kernel(order[g])
    for (n = 1; n <= notes; n++)
        printf "  [%d] %s\n", n, note_text[n]
    print "  requests: executions by a warp. sectors: 32-byte pieces of memory a request touches, and the fewest that could"
    print "  hold what it asks for. conflict: passes through shared memory's banks for each that would be needed without bank"
    print "  conflicts. share: of the sectors of global and local memory, or of the passes of shared memory."
    print "  Counted on PTX: what ptxas spills, unrolls or keeps in registers may add or save accesses.\n"
    if (shape != "")
        predict()
    if (predictions > 0)
        print ""
}
