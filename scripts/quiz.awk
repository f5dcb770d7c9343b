# Reads a lesson's questions, whose format scripts/quiz describes.
#     list=1   prints the name of each question, and what it needs
#     id=NAME  prints this question as an awk program to run with counts.awk, which prints a line  KEYWORD<TAB>TEXT  each for
#              ask, choice, answer, unit, within and why. Its runs are  awk '$1 == "run"'  of  id=NAME runs=1.

function expression(text,  at, end, out) {
    out = "\"\""
    while ((at = index(text, "{")) && (end = index(text, "}"))) {
        out = out " \"" escaped(substr(text, 1, at - 1)) "\" number(" substr(text, at + 1, end - at - 1) ")"
        text = substr(text, end + 1)
    }
    return out " \"" escaped(text) "\""
}

function escaped(text) {
    gsub(/\\/, "\\\\", text)
    gsub(/"/, "\\\"", text)
    return text
}

function emit(key, value) {
    if (key == "answer")
        printf "    printf \"answer\\t%%.10g\\n\", %s\n", value
    else if (key == "choice")
        printf "    offer(%s, %s)\n", expression_of, expression(value)
    else if (key == "ask" || key == "why" || key == "unit" || key == "within")
        printf "    printf \"%s\\t%%s\\n\", %s\n", key, expression(value)
}

function finish_line() {
    if (key == "run" && runs)
        print value
    else if (key == "needs" && list)
        needs[names] = value
    else if (!runs && !list && key != "") {
        if (key == "choice") {
            at = index(value, " := ")
            expression_of = substr(value, at + 4)
            value = substr(value, 1, at - 1)
        }
        emit(key, value)
    }
    key = ""
}

BEGIN { if (!list && !runs) print "BEGIN {\n@LOADS@" }
/^#/ || /^[ \t]*$/ { next }
/^== / {
    finish_line()
    inside = list || substr($0, 4) == id
    if (inside)
        name[++names] = substr($0, 4)
    next
}
!inside { next }
/^[a-z]+: / {
    finish_line()
    at = index($0, ": ")
    key = substr($0, 1, at - 1)
    value = substr($0, at + 2)
    next
}
{
    sub(/^[ \t]+/, "")
    value = value " " $0
}
END {
    finish_line()
    if (list)
        for (n = 1; n <= names; n++)
            print name[n] "\t" needs[n]
    else if (!runs)
        print "    settle()\n}"
}
