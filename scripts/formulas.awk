# Makes of a predictions.csv (scripts/trace explains its form) an awk program with the functions ceil, floor, min and max, and
# predict(), which calls prediction(name, unit, value) for each line: awk -F, -v file=NAME -f formulas.awk predictions.csv
# The shape is in the variables B, H, NQ, NK, D, CAUSAL, ROWS and COLUMNS of whoever calls predict().

BEGIN {
    printf "function ceil(x) { return x == int(x) ? x : int(x) + (x > 0) }\n"
    printf "function floor(x) { return x == int(x) ? x : int(x) - (x < 0) }\n"
    printf "function min(x, y) { return x < y ? x : y }\nfunction max(x, y) { return x > y ? x : y }\n"
    printf "function predict() {\n"
}
/^#/ || /^[ \t]*$/ || /^name,/ { next }
{
    formula = $0
    sub(/^[^,]*,[^,]*,/, "", formula)
    gsub(/^"|"[ \t\r]*$/, "", formula)
    words = formula
    gsub(/ceil|floor|min|max|NQ|NK|ROWS|COLUMNS|CAUSAL|B|H|D/, "", words)
    if (words !~ /^[-0-9.+*\/%(), \t<>=!?:&|]*$/) {
        printf "%s:%d: the formula %s uses more than numbers, + - * / %% ? : and B H NQ NK D CAUSAL ROWS COLUMNS " \
            "ceil floor min max\n", file, FNR, formula >"/dev/stderr"
        exit 2
    }
    gsub(/"/, "", $1)
    printf "    prediction(\"%s\", \"%s\", %s)\n", $1, $2, formula
}
END { printf "}\n" }
