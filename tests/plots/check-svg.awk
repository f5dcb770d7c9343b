# Reads a chart's SVG, as plots/draw makes it, and names what a reader would stumble over:
#     awk -f tests/plots/check-svg.awk NAME.svg
# texts outside the picture, texts that cover each other, type that is too small on a phone, text without contrast to
# what is behind it, no title, no text alternative. Exit status 1 where there is anything. Widths are those of DejaVu Sans.

BEGIN {
    narrow = "318 401 460 838 636 950 780 275 390 390 500 838 318 361 318 337 636 636 636 636 636 636 636 636 636 636 337 337 " \
        "838 838 838 531 1000 684 686 698 770 632 575 775 752 295 295 656 557 863 748 787 603 787 695 635 611 732 684 989 685 " \
        "611 685 390 337 390 838 500 500 613 635 550 635 615 352 635 634 278 278 579 278 974 634 612 635 635 411 521 392 634 " \
        "592 818 592 592 525 636 337 636 838"
    bold = "348 456 521 838 696 1002 872 306 457 457 523 838 380 415 380 365 696 696 696 696 696 696 696 696 696 696 400 400 " \
        "838 838 838 580 1000 774 762 734 830 683 683 821 837 372 372 775 637 995 837 850 733 850 770 720 682 812 774 1103 771 " \
        "724 725 457 365 457 838 500 500 675 716 593 716 678 435 716 712 343 343 665 343 1042 712 687 716 716 493 595 478 712 " \
        "652 924 645 652 582 712 365 712 838"
    count = split(narrow, narrow_width, " ")
    split(bold, bold_width, " ")
    for (i = 1; i <= count; i++) {
        width_of[0, sprintf("%c", 31 + i)] = narrow_width[i]
        width_of[1, sprintf("%c", 31 + i)] = bold_width[i]
    }
    # In pixels of a reader's screen, and how wide a chart is there at the least: a wide one from where pages show it, one for a
    # phone within the margins of a page of 360.
    LEAST_TYPE = 11
    SHOWN_WIDE = 490
    SHOWN_ON_A_PHONE = 328
    LEAST_CONTRAST = 4.5
}

function complain(message) {
    print FILENAME ": " message
    wrong = 1
}

# The value of an attribute of this line.
function attribute(name,    at, rest) {
    at = index($0, " " name "=\"")
    if (!at)
        return ""
    rest = substr($0, at + length(name) + 3)
    return substr(rest, 1, index(rest, "\"") - 1)
}

function text_width(text, size, is_bold,    i, c, sum) {
    gsub(/&amp;/, "\\&", text)
    gsub(/&lt;/, "<", text)
    gsub(/&gt;/, ">", text)
    gsub(/×/, "+", text)
    gsub(/…/, "%", text)
    for (i = 1; i <= length(text); i++) {
        c = substr(text, i, 1)
        sum += (is_bold, c) in width_of ? width_of[is_bold, c] : 838
    }
    return sum * size / 1000
}

# "rgb( 26, 26,26)" or "#1a1a1a" -> its relative luminance, as WCAG 2 defines it.
function luminance(colour,    part, i, value, sum) {
    if (colour ~ /^#/) {
        for (i = 0; i < 3; i++)
            part[i + 1] = 16 * (index("0123456789abcdef", tolower(substr(colour, 2 + 2 * i, 1))) - 1) + \
                index("0123456789abcdef", tolower(substr(colour, 3 + 2 * i, 1))) - 1
    } else {
        gsub(/[^0-9,]/, "", colour)
        split(colour, part, ",")
    }
    for (i = 1; i <= 3; i++) {
        value = part[i] / 255
        value = value <= 0.04045 ? value / 12.92 : ((value + 0.055) / 1.055) ^ 2.4
        sum += value * (i == 1 ? 0.2126 : i == 2 ? 0.7152 : 0.0722)
    }
    return sum
}

function contrast(a, b) {
    a = luminance(a) + 0.05
    b = luminance(b) + 0.05
    return a > b ? a / b : b / a
}

/^ *viewBox="/ {
    split($0, box, /[" ]+/)
    for (i = 1; i in box; i++)
        if (box[i] ~ /viewBox=/)
            at = i
    view_width = box[at + 3]
    view_height = box[at + 4]
}

/^<title [^>]*>[^<]/ { has_title = 1 }
/^<desc [^>]*>[^<]/ { has_text = 1 }
/^<svg/ && /role="img"/ && /aria-labelledby="[^" ]+-title [^" ]+-text"/ { has_role = 1 }

/^<rect .*fill="#/ && paper == "" {
    paper = attribute("fill")
}

# What is filled: the background of texts that stand in it.
/<polygon fill = '/ {
    split($0, part, "'")
    points = split(part[4], point, /[ ,]+/)
    fills++
    fill_colour[fills] = part[2]
    fill_left[fills] = fill_right[fills] = point[1]
    fill_top[fills] = fill_bottom[fills] = point[2]
    for (i = 1; i + 1 <= points; i += 2) {
        if (point[i] == "")
            continue
        if (point[i] + 0 < fill_left[fills] + 0) fill_left[fills] = point[i]
        if (point[i] + 0 > fill_right[fills] + 0) fill_right[fills] = point[i]
        if (point[i + 1] + 0 < fill_top[fills] + 0) fill_top[fills] = point[i + 1]
        if (point[i + 1] + 0 > fill_bottom[fills] + 0) fill_bottom[fills] = point[i + 1]
    }
}

/<g transform="translate\(/ {
    line = $0
    sub(/.*<g transform="translate\(/, "", line)
    split(line, position, /[,)]/)
    rotated = $0 ~ /rotate\(/
    size = attribute("font-size")
    anchor = attribute("text-anchor")
    colour = attribute("fill")
    is_bold = $0 ~ /font-weight="bold"/
}

/<text>/ {
    text = $0
    gsub(/<[^>]*>/, "", text)
    gsub(/^[ \t]+|[ \t]+$/, "", text)
    if (text == "")
        next
    texts++
    text_of[texts] = text
    width = text_width(text, size, is_bold)
    left[texts] = position[1] - (anchor == "middle" ? width / 2 : anchor == "end" ? width : 0)
    right[texts] = left[texts] + width
    top[texts] = position[2] - 0.73 * size
    bottom[texts] = position[2] + 0.18 * size
    colour_of[texts] = colour
    fills_before[texts] = fills
    if (rotated)
        complain("'" text "' is rotated")
    shown = size * (view_width > 500 ? SHOWN_WIDE : SHOWN_ON_A_PHONE) / view_width
    if (shown < LEAST_TYPE)
        complain("'" text "' has type of " shown " pixels where it is shown smallest, less than " LEAST_TYPE)
}

END {
    if (!has_title || !has_text || !has_role)
        complain("has no title, no text alternative or no role")
    if (!view_width || paper == "" || !texts)
        complain("has no viewBox, no background or no text")
    for (i = 1; i <= texts; i++) {
        if (left[i] < 2 || right[i] > view_width - 2 || top[i] < 2 || bottom[i] > view_height - 2)
            complain("'" text_of[i] "' leaves the picture: " int(left[i]) " to " int(right[i]) " of " view_width \
                ", " int(top[i]) " to " int(bottom[i]) " of " view_height)
        for (j = 1; j < i; j++)
            if (left[i] < right[j] - 1 && right[i] > left[j] + 1 && top[i] < bottom[j] - 1 && bottom[i] > top[j] + 1)
                complain("'" text_of[i] "' covers '" text_of[j] "'")
        behind = paper
        for (j = 1; j <= fills; j++)
            if (left[i] >= fill_left[j] && right[i] <= fill_right[j] && top[i] >= fill_top[j] && bottom[i] <= fill_bottom[j])
                behind = fill_colour[j]
        if (contrast(colour_of[i], behind) < LEAST_CONTRAST)
            complain("'" text_of[i] "' has a contrast of " contrast(colour_of[i], behind) " only")
    }
    exit wrong
}
