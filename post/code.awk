# The few lines of a kernel that a post shows. Used by outline.awk; no rules of its own.
#
# snippet(path, blank) reads what a learner fills in at TODO `blank`: the lines between the task and END TODO, without their
# common indentation. Without a number it takes the longest blank that is short enough to read. Results: snippet_text,
# snippet_first, snippet_last (line numbers); it returns 0 where the file has no such blank or nothing stands in it.
#
# difference(before, after) does the same with the longest run of lines that `after` has and `before` has not.

function snippet(path, blank,    line, number, at, inside, task, read_ok, most) {
    most = 20
    read_ok = at = inside = 0
    snippet_text = ""
    split("", block_lines)
    split("", block_text)
    while ((getline line < path) > 0) {
        at++
        if (line ~ /^[ \t]*\/\/ *TODO [0-9]/) {
            number = line
            sub(/^[ \t]*\/\/ *TODO /, "", number)
            number += 0
            inside = task = 1
            block_lines[number] = 0
            block_text[number] = ""
            continue
        }
        if (line ~ /^[ \t]*\/\/ *END TODO/) {
            inside = 0
            continue
        }
        if (!inside || task && line ~ /^[ \t]*\/\//)
            continue
        task = 0
        if (line ~ /^[ \t]*$/ && !block_lines[number])
            continue
        if (!block_lines[number]++)
            block_first[number] = at
        if (line !~ /^[ \t]*$/)
            block_last[number] = at
        block_text[number] = block_text[number] line "\n"
    }
    close(path)
    if (blank == "")
        for (number in block_lines)
            if (block_lines[number] > 0 && block_lines[number] <= most && \
                (blank == "" || block_lines[number] > block_lines[blank] || \
                block_lines[number] == block_lines[blank] && number + 0 < blank + 0))
                blank = number
    if (!(blank in block_lines) || !block_lines[blank])
        return 0
    snippet_first = block_first[blank]
    snippet_last = block_last[blank]
    snippet_text = flush_left(block_text[blank])
    return 1
}

function difference(before, after,    command, line, part, at, text, count, best, most) {
    most = 20
    count = best = 0
    text = snippet_text = ""
    command = "diff --unchanged-line-format= --old-line-format= --new-line-format='%dn:%L' '" before "' '" after "'"
    while ((command | getline line) > 0) {
        part = line
        sub(/:.*/, "", part)
        sub(/^[0-9]*:/, "", line)
        if (part != at + 1 || count == most) {
            count = 0
            text = ""
        }
        at = part
        text = text line "\n"
        if (++count > best) {
            best = count
            snippet_text = text
            snippet_last = at
            snippet_first = at - count + 1
        }
    }
    close(command)
    snippet_text = flush_left(snippet_text)
    return best > 0
}

# Takes from each line the indentation that all lines have, and empty lines from the end. Directives stand at the margin
# of a source and do not count.
function flush_left(text,    i, lines, line, indent, least, out) {
    sub(/[ \t\n]+$/, "", text)
    lines = split(text, line, "\n")
    least = -1
    for (i = 1; i <= lines; i++) {
        match(line[i], /^ */)
        indent = RLENGTH
        if (line[i] !~ /^ *$/ && line[i] !~ /^#/ && (least < 0 || indent < least))
            least = indent
    }
    out = ""
    for (i = 1; i <= lines; i++)
        out = out (line[i] ~ /^#/ ? line[i] : substr(line[i], least + 1)) "\n"
    return out
}
