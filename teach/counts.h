// What the simulator counted in the runs of a question, and what results/ hold, as functions of expressions:
//
//     count("run", "global load sectors")          the sum of a quantity over all accesses,
//     count("run", "global load sectors", "TEXT")  or over those of source lines that contain TEXT; a line of an
//                                                  inlined function counts as the line that calls it, too
//     conflicts("run", "load", "TEXT")             wavefronts for each that would do without bank conflicts
//     streamed("run")                              bytes of accesses to global memory whose lanes ask for whole
//                                                  sectors and each byte once, as those to a matrix do
//     shared_bytes("run")  launches("run")         of the first kernel; of all
//     line("run", "TEXT")                          "attention.cu:60", the first line of the run's source that
//                                                  contains TEXT
//     measured("FILE", "WANTED", "COLUMN")  busy("LESSON", D, "PART")  gpu()          measured.h
//     near(x, y)  number(x)  percent(x)            how near, for choices that stand for a value; a text for people
//
// What is not there is an error: a question must not be graded by a 0 that nobody counted.
#ifndef COUNTS_H
#define COUNTS_H

#include "expression.h"
#include "traffic.h"

enum { MOST_RUNS = 8 };

struct counts {
    struct {
        char label[32];
        struct traffic traffic;
    } run[MOST_RUNS];
    int runs;
    const char *results; // the folder of a GPU, "" where there is none
};

bool counts_load(struct counts *counts, const char *label, const char *path, struct message *error);
void counts_free(struct counts *counts);

struct scope counts_scope(struct counts *counts);

#endif
