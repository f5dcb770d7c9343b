# What a post says about how it was measured, and how to do it again. Used by outline.awk; no rules of its own.

# How a run was measured: all of it under its first table, what tells it from others under the next.
function measured_in(run,    clock, said) {
    clock = clock_of(run)
    said = described[run] ? "" : ", driver " fact[run, "driver"] ", CUDA " fact[run, "cuda"] \
        (clock == "" ? "" : ", SM clock " clock)
    described[run] = 1
    return "Median of interleaved timings by CUDA events; " device said ", " substr(run_date[run], 1, 10) ", commit " \
        fact[run, "commit"] "."
}

function missing(    i, d, number, text, what) {
    text = ""
    for (i = 1; i <= lesson_count; i++) {
        number = substr(lesson_folder[i], 1, 2)
        what = ""
        for (d = 64; d <= 128; d += 64)
            if (timing(ladder, number, shape(1, 16, 4096, d)) == "")
                what = what (what == "" ? "" : " and ") "D=" d
        if (what != "")
            text = text (text == "" ? "" : "; ") title_of(number) " at " what
    }
    if (!has("softmax"))
        text = text (text == "" ? "" : "; ") "the row softmax"
    if (!has("peers"))
        text = text (text == "" ? "" : "; ") "the libraries"
    if (!has("ceilings"))
        text = text (text == "" ? "" : "; ") "the ceilings of a copy and of multiply-adds"
    if (!has("profile"))
        text = text (text == "" ? "" : "; ") "the counters of Nsight Compute"
    return text
}

function print_reproduce(    i, number, own, solutions, clock, commit, goals) {
    own = solutions = goals = ""
    for (i = 1; i <= lesson_count; i++) {
        number = substr(lesson_folder[i], 1, 2)
        goals = goals (is_own(number) ? "lesson-" : "solution-") number " "
        if (is_own(number))
            own = own (own == "" ? "" : ", ") number
        else if (timing(ladder, number, shape(1, 16, 4096, 64)) != "" || timing(ladder, number, shape(1, 16, 4096, 128)) != "")
            solutions = solutions (solutions == "" ? "" : ", ") number
    }
    clock = clock_of(ladder)
    commit = fact[ladder, "commit"]
    emit("- GPU: " device (fact[ladder, "sms"] == "" ? "" : ", " fact[ladder, "sms"] " SMs"))
    emit("- software: driver " fact[ladder, "driver"] ", CUDA " fact[ladder, "cuda"])
    if (clock != "")
        emit("- SM clock around the timings: " clock)
    emit("- measured: " substr(run_date[ladder], 1, 10) ", commit " commit ", run " ladder)
    emit("- kernels: " (own == "" ? "the solutions" : "own ones for " own \
        (solutions == "" ? "" : "; the solutions for " solutions)))
    if (any_noisy)
        emit("- ~ marks noisy timings: they spread, or the clock changed, however often they were repeated")
    if (missing() != "") {
        emit("- not measured: " missing())
        complain("not measured: " missing())
    }
    emit("")
    emit("To measure it again, on this GPU or another:")
    emit("")
    emit("```sh")
    if (commit ~ /^[0-9a-f]+(-dirty)?$/) {
        sub(/-dirty$/, "  # some files were changed after it", commit)
        emit("git checkout " commit)
    }
    emit("./setup")
    emit("make " (own == "" ? "" : goals) "bench")
    if (has("peers"))
        emit("make peers  # PyTorch and Triton")
    if (has("profile"))
        emit("scripts/measure  # all at once, and counted")
    emit("make post")
    emit("```")
    emit("")
}
