# Evaluates a lesson's predictions at one shape, with a program made by scripts/formulas.awk:
#     awk -f FORMULAS -f predicted.awk -v folder=02_vectorized -v shape=1,16,4096,64
# Out: "folder  D  bytes" for what its loads and asynchronous copies from global memory ask for.

BEGIN {
    split(shape, part, ",")
    B = part[1]
    H = part[2]
    NQ = NK = part[3]
    D = part[4]
    CAUSAL = ROWS = COLUMNS = 0
    predict()
}

function prediction(name, unit, value) {
    if (name == "global_load_bytes" || name == "global_async_copy_bytes")
        printf "%s\t%d\t%.0f\n", folder, D, value
}
