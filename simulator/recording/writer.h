// Shared by the writers of a recording's file: write.c the file, write_kernel.c a kernel of it, fits.c the amount of
// data.
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

// fits.c: sets the amount of data that is written.
void fits_choose(struct writer *w);
// Whether a sample is written: executions and warps below these limits are, and those of findings.
bool fits_sample(const struct sample *sample, uint32_t executions, unsigned warps);

// write_kernel.c: adds the recording, and numbers its sites.
void write_kernel(struct writer *w);

#endif
