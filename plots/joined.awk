# Reads what three charts share: the ladder's timings at the reference shape, what Nsight Compute counted there, and the
# ceilings of the run. Used between figures.awk and the chart's program:
#     awk -f figures.awk -f joined.awk -f PROGRAM part=ladder FILE part=counters FILE part=ceilings FILE
#
# Variables: d  the head dimension that is charted
# Gives lessons, lesson_folder[i], lesson_title[i], lesson_us[i], lesson_tflops[i], lesson_noise[i], lesson_number[i];
# counted(i, metric), -1 where it was not; copy_gbs and fma_tflops, 0 where not measured; peak_tflops; profiled,
# the number of lessons that were counted.

BEGIN {
    FS = "\t"
    DRAM_READ = "dram__bytes_read.sum"
    DRAM_WRITE = "dram__bytes_write.sum"
    L2_BYTES = "lts__t_bytes.sum"
}

$1 == "#" {
    next
}

part == "ladder" && $1 == d && !is_other($4) {
    lessons++
    lesson_number[lessons] = $2
    lesson_folder[lessons] = $3
    lesson_title[lessons] = title_of($3, $4)
    lesson_us[lessons] = $5
    lesson_tflops[lessons] = $6
    lesson_noise[lessons] = $10
    if ($7 > peak_tflops)
        peak_tflops = $7
}

part == "counters" && $2 == d {
    counter[$1, $3] = $4
    if (!($1 in seen_counters))
        profiled++
    seen_counters[$1] = 1
}

part == "ceilings" && $1 == "copy" {
    copy_gbs = $2
}

part == "ceilings" && $1 == "fma_fp32" {
    fma_tflops = $2
}

function counted(i, metric) {
    return (lesson_folder[i], metric) in counter ? counter[lesson_folder[i], metric] : -1
}

# Bytes of device memory, read and written.
function dram_bytes(i) {
    return counted(i, DRAM_READ) < 0 || counted(i, DRAM_WRITE) < 0 ? -1 : counted(i, DRAM_READ) + counted(i, DRAM_WRITE)
}

# Says which lessons were timed but not counted.
function say_uncounted(    i, list) {
    for (i = 1; i <= lessons; i++)
        if (!(lesson_folder[i] in seen_counters))
            list = list (list == "" ? "" : ", ") lesson_folder[i]
    if (list != "" && profiled)
        say("profile.csv has no counts at D=" d " of " list ": not in the charts of roofline, bytes and limits")
}
