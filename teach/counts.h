// Functions of the expressions in a quiz: the simulator's counts for the runs of a question, and values from results/.
//
//     count("run", "global load sectors")          the sum of a quantity over all accesses,
//     count("run", "global load sectors", "TEXT")  or over source lines that contain TEXT; a line of an inlined
//                                                  function also counts for the line that calls it
//     conflicts("run", "load", "TEXT")             degree of bank conflict: wavefronts / ideal wavefronts
//     streamed("run")                              bytes of global accesses that use every byte of their sectors
//     shared_bytes("run")  launches("run")         of the first kernel; of all
//     line("run", "TEXT")                          "attention.cu:60", the first line of the run's source that
//                                                  contains TEXT
//     passes("check")  found("check", "CODE")      1 or 0: whether a check passed; whether the simulator reported a
//                                                  finding with this code
//     slowdown("LESSON", "ABLATION", D, CAUSAL)    its time over the solution's at N=4096, of one run
//     measured("FILE", "WANTED", "COLUMN")  busy("LESSON", D, "PART")  gpu()          measured.h
//     near(x, y)  number(x)  percent(x)            how near, for choices that stand for a value; a text for people
//
// A missing count is an error, not 0: otherwise a question would be graded by a value that was never counted.
#ifndef COUNTS_H
#define COUNTS_H

#include "expression.h"
#include "traffic.h"

enum { MAX_RUNS = 8 };

struct counts {
    struct {
        char label[32];
        struct traffic traffic;
        char *outcome; // of a check: its exit status and what it printed (measure.h); NULL for a run that is counted
    } run[MAX_RUNS];
    int runs;
    const char *results; // folder of a GPU's results, "" if there is none
};

bool counts_load(struct counts *counts, const char *label, const char *path, struct message *error);
bool counts_load_outcome(struct counts *counts, const char *label, const char *path, struct message *error);
void counts_free(struct counts *counts);

struct scope counts_scope(struct counts *counts);

#endif
