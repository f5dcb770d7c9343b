// A lesson's source, compared with the same file of the solution before it.
#ifndef KERNEL_H
#define KERNEL_H

#include "figures.h"
#include "text.h"

struct kernel {
    char path[1024];
    struct lines lines;
    bool *is_new; // NULL where there is no solution before it
    int news, gone;
};

// lesson is a number, "05"; own: the learner's file. False where there is no such lesson or file; kernel_free() may be
// called all the same.
bool kernel_read(const struct figures *figures, const char *lesson, const char *file, bool own, struct kernel *kernel);
void kernel_free(struct kernel *kernel);

#endif
