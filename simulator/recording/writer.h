// What the writers of a recording's file share: write.c the file, write_kernel.c a kernel of it, fits.c how much of it.
#ifndef SIMULATOR_RECORDING_WRITER_H
#define SIMULATOR_RECORDING_WRITER_H

#include "record.h"

struct writer {
    struct json json; // the kernels
    const struct recording *recording;
    int kernels; // of the file
    uint32_t executions, value_executions;
    unsigned steps, value_warps;
    const char *file[256]; // of the places
    int files;
};

// fits.c: sets how much of the recording is written.
void fits_choose(struct writer *w);
// Of a sample's executions and warps those below these are written, and what a finding is about.
bool fits_sample(const struct sample *sample, uint32_t executions, unsigned warps);

// write_kernel.c: adds the recording; its sites have their numbers then.
void write_kernel(struct writer *w);

#endif
