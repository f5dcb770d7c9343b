# The roofline at one head dimension: awk -f figures.awk -f joined.awk -f roofline.awk part=... (see joined.awk)
#
# Variables: d    the head dimension
#            out  writes out.tsv, out.gp (for roofline.gp) and out.text; nothing where no lesson was counted
# Labels are placed here, so that none covers another or a point.

BEGIN {
    LEFT = margin + px(60)
    RIGHT = width - 20
    PLOT_HEIGHT = px(380)
    LABEL_WIDTH = px(24)
    LABEL_HEIGHT = px(18)
    POINT = px(8)
}

function x_px(x) {
    return log(x / x_low) / log(x_high / x_low) * (RIGHT - LEFT)
}

function y_px(y) {
    return PLOT_HEIGHT - log(y / y_low) / log(y_high / y_low) * PLOT_HEIGHT
}

function add_box(left, right, top, bottom) {
    boxes++
    box_left[boxes] = left
    box_right[boxes] = right
    box_top[boxes] = top
    box_bottom[boxes] = bottom
}

function is_free(left, right, top, bottom,    i) {
    if (left < 2 || right > RIGHT - LEFT - 2 || top < 2 || bottom > PLOT_HEIGHT - 2)
        return 0
    for (i = 1; i <= boxes; i++)
        if (left < box_right[i] && right > box_left[i] && top < box_bottom[i] && bottom > box_top[i])
            return 0
    return 1
}

# Finds a place for a label near a point, nearest first; sets place_x and place_y, its centre in pixels, and
# place_far where a line has to lead to it.
function place(x, y,    step, i, dx, dy, try) {
    split("1 0 0 -1 0 1 -1 0 1 -1 1 1 -1 -1 -1 1", try, " ")
    for (step = 1; step <= 8; step++)
        for (i = 1; i <= 15; i += 2) {
            dx = try[i] * (POINT + LABEL_WIDTH / 2 + 2 + (step - 1) * px(14))
            dy = try[i + 1] * (POINT + LABEL_HEIGHT / 2 + (step - 1) * px(14))
            if (is_free(x + dx - LABEL_WIDTH / 2, x + dx + LABEL_WIDTH / 2, y + dy - LABEL_HEIGHT / 2,
                y + dy + LABEL_HEIGHT / 2)) {
                place_x = x + dx
                place_y = y + dy
                place_far = step > 1
                return
            }
        }
    place_x = x
    place_y = y - POINT - LABEL_HEIGHT / 2
}

function widen(x) {
    if (x > 0 && (!x_low || x < x_low))
        x_low = x
    if (x > x_high)
        x_high = x
}

# The legend: lessons, what a full point and an empty one are, ceilings.
function place_legends(    kinds, row, legend_row, legend_column, roof_row, roof_column, kind_row, kind_column) {
    kinds = split("by bytes of device memory|by bytes through L2", kind_name, "|")
    row = place_legend(points, point_name, 0, legend_row, legend_column)
    row = place_legend(kinds, kind_name, row, kind_row, kind_column)
    set("legend_rows", place_legend(roofs, roof_name, row, roof_row, roof_column))
    set_list("point_row", points, legend_row, 0)
    set_list("point_column", points, legend_column, 0)
    set_list("kind_name", kinds, kind_name, 1)
    set_list("kind_row", kinds, kind_row, 0)
    set_list("kind_column", kinds, kind_column, 0)
    set_list("roof_row", roofs, roof_row, 0)
    set_list("roof_column", roofs, roof_column, 0)
}

function add_roof(name) {
    roof_name[++roofs] = name
}

END {
    say_uncounted()
    for (i = 1; i <= lessons; i++) {
        flops = lesson_tflops[i] * lesson_us[i] * 1e6
        dram[i] = dram_bytes(i) > 0 ? flops / dram_bytes(i) : 0
        l2[i] = counted(i, L2_BYTES) > 0 ? flops / counted(i, L2_BYTES) : 0
        if (dram[i] + l2[i] == 0)
            continue
        shown[++points] = i
        widen(dram[i])
        widen(l2[i])
        if (!y_low || lesson_tflops[i] < y_low)
            y_low = lesson_tflops[i]
        if (lesson_tflops[i] > y_high)
            y_high = lesson_tflops[i]
    }
    if (!points)
        exit 0
    highest = fma_tflops > peak_tflops ? fma_tflops : peak_tflops
    if (highest > y_high)
        y_high = highest
    if (copy_gbs && highest)
        widen(highest * 1000 / copy_gbs)
    x_low /= 1.8
    x_high *= 1.8
    y_low /= 1.8
    y_high *= 1.5

    for (j = 1; j <= points; j++) {
        i = shown[j]
        y = y_px(lesson_tflops[i])
        if (dram[i])
            add_box(x_px(dram[i]) - POINT, x_px(dram[i]) + POINT, y - POINT, y + POINT)
        if (l2[i])
            add_box(x_px(l2[i]) - POINT, x_px(l2[i]) + POINT, y - POINT, y + POINT)
    }
    for (j = 1; j <= points; j++) {
        i = shown[j]
        place(x_px(dram[i] ? dram[i] : l2[i]), y_px(lesson_tflops[i]))
        add_box(place_x - LABEL_WIDTH / 2, place_x + LABEL_WIDTH / 2, place_y - LABEL_HEIGHT / 2, place_y + LABEL_HEIGHT / 2)
        point_name[j] = lesson_title[i]
        point_number[j] = lesson_number[i]
        label_far[j] = place_far
        point_x[j] = sprintf("%.1f", x_px(dram[i] ? dram[i] : l2[i]))
        point_y[j] = sprintf("%.1f", y_px(lesson_tflops[i]))
        label_x[j] = sprintf("%.1f", LEFT + place_x)
        label_y[j] = sprintf("%.1f", place_y)
        print j, lesson_tflops[i], (dram[i] ? dram[i] : "-"), (l2[i] ? l2[i] : "-") > (out ".tsv")
        text = text (j > 1 ? "; " : "") lesson_title[i] ": " trimmed(short(lesson_tflops[i])) " TFLOP/s"
        if (dram[i])
            text = text ", " trimmed(short(dram[i])) " FLOP a byte of device memory"
        if (l2[i])
            text = text ", " trimmed(short(l2[i])) " a byte through L2"
    }
    roof = ""
    if (copy_gbs) {
        add_roof(sprintf("copy, %s TB/s", trimmed(short(copy_gbs / 1000))))
        roof = roof_name[roofs] "; "
    }
    if (fma_tflops) {
        add_roof(sprintf("multiply-adds alone, %s TFLOP/s", trimmed(short(fma_tflops))))
        roof = roof roof_name[roofs] "; "
    }
    if (peak_tflops) {
        add_roof(sprintf("fp32 peak on paper, %s TFLOP/s", trimmed(short(peak_tflops))))
        roof = roof roof_name[roofs] "; "
    }
    print roof text > (out ".text")
    place_legends()
    set("left", LEFT)
    set("right", RIGHT)
    set("plot_height", PLOT_HEIGHT)
    set("x_low", sprintf("%.8g", x_low))
    set("x_high", sprintf("%.8g", x_high))
    set("y_low", sprintf("%.8g", y_low))
    set("y_high", sprintf("%.8g", y_high))
    set("copy_gbs", copy_gbs + 0)
    set("fma_tflops", fma_tflops + 0)
    set("peak_tflops", peak_tflops + 0)
    set_list("point_name", points, point_name, 1)
    set_list("point_number", points, point_number, 0)
    set_list("label_x", points, label_x, 0)
    set_list("label_y", points, label_y, 0)
    set_list("label_far", points, label_far, 0)
    set_list("point_x", points, point_x, 0)
    set_list("point_y", points, point_y, 0)
    set_list("roof_name", roofs, roof_name, 1)
}
