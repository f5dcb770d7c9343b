# Makes the page of a post from what cmark-gfm made of its Markdown:
#     awk -v charts=FOLDER -v figures=FOLDER -v post=FOLDER -f page.awk part=body BODY.html part=page page.html
#
# charts holds NAME.svg and NAME-phone.svg, each with its -dark.svg, figures the drawings, with a NAME-phone.svg or without,
# post the style sheet. Charts and drawings are put into the page, each with ids of its own; what follows a picture, a table
# or code in italics becomes its caption. page.html says where title, style and body go. Exit status 2 where the page would
# need something from outside.

part == "body" {
    body[++lines] = $0
    next
}

/@title@/ {
    sub(/@title@/, escaped_for_sub(title()))
}
/@style@/ {
    while ((getline line < (post "/page.css")) > 0)
        print line
    next
}
/@body@/ {
    print_body()
    next
}
{
    print
}

function escaped_for_sub(text) {
    gsub(/\\/, "\\\\", text)
    gsub(/&/, "\\\\&", text)
    return text
}

function title(    i, text) {
    for (i = 1; i <= lines; i++)
        if (body[i] ~ /^<h1>/) {
            text = body[i]
            gsub(/<[^>]*>/, "", text)
            return text
        }
    return "Attention in CUDA"
}

function fail(text) {
    print "post/page.awk: " text > "/dev/stderr"
    failed = 1
    exit 2
}

function print_body(    i, line, table) {
    for (i = 1; i <= lines; i++) {
        line = body[i]
        if (line ~ /raw HTML omitted/ || line ~ /<img [^>]*src="[a-z]+:/)
            fail("the text holds HTML or a picture from elsewhere: " line)
        if (line ~ /^<p><img [^>]*\/><\/p>$/) {
            print "<figure>"
            print_picture(line)
            i = end_figure(i)
        } else if (line == "<table>") {
            table++
            # Reached by keyboard, since it scrolls where the page is narrow.
            print "<figure>\n<div class=\"wide\" role=\"region\" tabindex=\"0\" aria-label=\"Table " table "\">"
            for (; body[i] != "</table>"; i++)
                print table_line(body[i])
            print "</table>\n</div>"
            i = end_figure(i)
        } else if (line ~ /^<pre>/) {
            print "<figure>"
            sub(/^<pre>/, "<pre tabindex=\"0\">", line)
            print code_line(line)
            while (line !~ /<\/pre>$/) {
                line = body[++i]
                print code_line(line)
            }
            i = end_figure(i)
        } else if (line ~ /^<h[2-6]>/) {
            if (line ~ /^<h2>/ && !contents++)
                print_contents(i)
            print with_id(line)
        } else
            print line
    }
}

# Comments stand back.
function code_line(line) {
    if (match(line, /(\/\/|# ).*/) && line !~ /<\/pre>$/)
        line = substr(line, 1, RSTART - 1) "<span class=\"comment\">" substr(line, RSTART) "</span>"
    return line
}

# Links to the sections, before the first of them.
function print_contents(i,    line, text) {
    print "<nav aria-label=\"Contents\">\n<ul>"
    for (; i <= lines; i++)
        if (body[i] ~ /^<h2>/) {
            text = body[i]
            gsub(/<\/?h2>/, "", text)
            line = with_id(body[i])
            sub(/.* id="/, "", line)
            sub(/".*/, "", line)
            print "<li><a href=\"#" line "\">" text "</a></li>"
        }
    print "</ul>\n</nav>"
    split("", heading)
}

# The figure that ends at line i, with its caption where one follows; the last line that was used.
function end_figure(i,    line) {
    line = body[i + 1]
    if (line ~ /^<p><em>.*<\/em><\/p>$/) {
        gsub(/^<p><em>|<\/em><\/p>$/, "", line)
        print "<figcaption>" line "</figcaption>"
        i++
    }
    print "</figure>"
    return i
}

function table_line(line) {
    gsub(/ align="right"/, " class=\"number\"", line)
    gsub(/ align="(left|center)"/, "", line)
    gsub(/<th/, "<th scope=\"col\"", line)
    gsub(/<thead/, "<thead", line)
    sub(/<th scope="col"ead>/, "<thead>", line)
    return line
}

function with_id(line,    text) {
    text = line
    gsub(/<[^>]*>|&[a-z]+;/, "", text)
    text = tolower(text)
    gsub(/[^a-z0-9]+/, "-", text)
    gsub(/^-|-$/, "", text)
    # Two headings of the same words.
    if (heading[text]++)
        text = text "-" heading[text]
    sub(/>/, " id=\"" text "\">", line)
    return line
}

function print_picture(line,    name) {
    name = line
    sub(/.* src="|^<p><img src="/, "", name)
    sub(/".*/, "", name)
    if (name ~ /\.png$/) {
        sub(/\.png$/, "", name)
        print_svg(charts "/" name ".svg", "wide in-light")
        print_svg(charts "/" name "-dark.svg", "wide in-dark")
        print_svg(charts "/" name "-phone.svg", "phone in-light")
        print_svg(charts "/" name "-phone-dark.svg", "phone in-dark")
        return
    }
    sub(/\.svg$/, "", name)
    if (!is_there(figures "/" name "-phone.svg")) {
        print_svg(figures "/" name ".svg", "drawing")
        return
    }
    print_svg(figures "/" name ".svg", "wide drawing")
    print_svg(figures "/" name "-phone.svg", "phone drawing")
}

function is_there(path,    line, found) {
    found = (getline line < path) > 0
    close(path)
    return found
}

# Ids are made unique over the page: gnuplot and people use the same ones in every picture.
function print_svg(path, class,    line, prefix, started, tag, box) {
    prefix = "p" ++pictures "-"
    started = 0
    tag = 0
    while ((getline line < path) > 0) {
        if (line ~ /^<svg/) {
            started = tag = 1
            sub(/^<svg/, "<svg class=\"" class "\"", line)
        }
        if (!started)
            continue
        if (tag) {
            # The page gives the size; the box stays.
            sub(/ width="[0-9.]+"/, "", line)
            sub(/ height="[0-9.]+"/, "", line)
            if (match(line, /viewBox="[^"]*"/)) {
                split(substr(line, RSTART, RLENGTH), box, /[" ]/)
                if (box[5] > box[4])
                    sub(/viewBox=/, "data-tall=\"tall\" &", line)
            }
            if (match(line, /aria-labelledby="[^"]*"/))
                line = substr(line, 1, RSTART - 1) labels(substr(line, RSTART, RLENGTH), prefix) substr(line, RSTART + RLENGTH)
            if (line ~ />/)
                tag = 0
        }
        gsub(/[ \t]id="/, "&" prefix, line)
        gsub(/[ \t]id='/, "&" prefix, line)
        gsub(/href="#/, "&" prefix, line)
        gsub(/href='#/, "&" prefix, line)
        gsub(/url\(#/, "&" prefix, line)
        if (line ~ /href=["'][a-z]+:/ || line ~ /url\([^#]/)
            fail(path " refers to something outside the page")
        if (line !~ /^[ \t]*$/)
            print line
    }
    close(path)
    if (!started)
        fail("there is no SVG in " path)
}

# aria-labelledby="title text", each id with its prefix.
function labels(text, prefix,    id, ids, i) {
    gsub(/^aria-labelledby="|"$/, "", text)
    ids = split(text, id, " ")
    text = ""
    for (i = 1; i <= ids; i++)
        text = text (i > 1 ? " " : "") prefix id[i]
    return "aria-labelledby=\"" text "\""
}
