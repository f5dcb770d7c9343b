# Register-bank conflicts of a kernel's multiply-adds, counted in its machine code:
#     cuobjdump -sass FILE.so | awk -f scripts/bank_conflicts.awk
#
# Out, tab-separated: function  multiply-adds  conflicts per multiply-add, over the innermost loops of at least `least`
# (256) multiply-adds, for each function that has such a loop.
#
# The registers of sm_70 and later lie in two banks, even and odd, and a multiply-add reads three. A conflict is a
# register more from one bank than `ports` (1). On Volta a bank was measured to give two a clock (Jia et al., "Dissecting
# the NVIDIA Volta GPU Architecture via Microbenchmarking", 2018): -v ports=2 counts what that leaves, three in one bank.
# What the instruction before has marked .reuse in the same place of its operands is not read again. This is a static
# count: it does not know when another warp's instruction comes between the two, which loses what was kept.

BEGIN {
    if (!least)
        least = 256
    if (!ports)
        ports = 1
}

function end_function(    i, j, innermost, all, wrong) {
    for (i = 1; i <= loops; i++) {
        innermost = 1
        for (j = 1; j <= loops; j++)
            if (j != i && first[j] >= first[i] && last[j] <= last[i] && (j < i || first[j] != first[i] || last[j] != last[i]))
                innermost = 0
        if (innermost && multiplied(first[i], last[i]) >= least) {
            all += in_loop
            wrong += in_conflict
        }
    }
    if (all)
        printf "%s\t%d\t%.3f\n", name, all, wrong / all
    count = loops = 0
}

# Sets in_loop and in_conflict.
function multiplied(from, to,    i) {
    in_loop = in_conflict = 0
    for (i = 1; i <= count; i++)
        if (place[i] >= from && place[i] <= to) {
            in_loop++
            in_conflict += conflicts[i]
        }
    return in_loop
}

function hexadecimal(digits,    i, value) {
    value = 0
    for (i = 1; i <= length(digits); i++)
        value = 16 * value + index("0123456789abcdef", substr(digits, i, 1)) - 1
    return value
}

# How many registers beyond its ports a bank has to give, and remembers which stay with the multiplier.
function read_operands(text,    operand, operands, i, register, seen, bank, kept_now) {
    operands = split(text, operand, ",")
    bank[0] = bank[1] = 0
    for (i = 2; i <= operands; i++) {
        register = operand[i]
        kept_now[i] = ""
        sub(/^[ |-]+/, "", register)
        if (!match(register, /^R[0-9]+/))
            continue
        register = substr(register, 2, RLENGTH - 1)
        if (operand[i] ~ /\.reuse/)
            kept_now[i] = register
        if (kept[i] == register || register in seen)
            continue
        seen[register] = 1
        bank[register % 2]++
    }
    for (i = 2; i <= 4; i++)
        kept[i] = kept_now[i]
    return (bank[0] > ports ? bank[0] - ports : 0) + (bank[1] > ports ? bank[1] - ports : 0)
}

/Function : / {
    end_function()
    name = $NF
    next
}

/^ +\/\*[0-9a-f]+\*\/ +[@A-Z]/ {
    match($0, /\/\*[0-9a-f]+\*\//)
    address = hexadecimal(substr($0, RSTART + 2, RLENGTH - 4))
    text = substr($0, RSTART + RLENGTH)
    sub(/;.*/, "", text)
    if (text ~ /^ +FFMA /) {
        place[++count] = address
        conflicts[count] = read_operands(text)
        next
    }
    kept[2] = kept[3] = kept[4] = ""
    if (text ~ / BRA .*0x[0-9a-f]+/) {
        target = text
        sub(/.*0x/, "", target)
        sub(/[^0-9a-f].*/, "", target)
        if (hexadecimal(target) <= address) {
            first[++loops] = hexadecimal(target)
            last[loops] = address
        }
    }
}

END {
    end_function()
}
