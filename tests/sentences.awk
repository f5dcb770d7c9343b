# The sentences of an explanation that a check has printed: for each line that ends in [code] the code, the numbers in the line, and the
# line, separated by tabs. A title of the diagnosis is such a line, too. Tests compare codes and numbers; messages name the words.
BEGIN { OFS = "\t" }
match($0, / \[[a-z0-9]+(-[a-z0-9]+)*\]$/) {
    line = substr($0, 1, RSTART - 1)
    found = ""
    words = line
    gsub(/[(),;:%]/, " ", words)
    count = split(words, word, " ")
    for (i = 1; i <= count; i++) {
        sub(/\.$/, "", word[i])
        if (word[i] ~ /^-?[0-9]+(\.[0-9]+)?(e[-+][0-9]+)?$/)
            found = found (found == "" ? "" : " ") word[i]
    }
    print substr($0, RSTART + 2, RLENGTH - 3), found, line
}
