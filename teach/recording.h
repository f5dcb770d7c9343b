// Recordings of the simulator (simulator/recording/README.md) as the page of make ... explore takes them: joined to one
// JSON object, with the sources that they name.
#ifndef RECORDING_H
#define RECORDING_H

#include "text.h"

struct recorded_run {
    const char *name;      // solution-02_vectorized
    const char *source;    // its .cu file
    const char *library;   // what was made of it
    const char *recording; // the simulator's file, which need not be there
    const char *log;       // what the check said
    int status;            // of the check
    bool causal;
};

// Writes { "format": 1, "sources": ..., "runs": ... }. Every '<' in it is \u003c.
void recording_print(FILE *to, const struct recorded_run *run, int runs);

// A JSON string with its quotes. Where the text is not UTF-8, all its bytes from 128 on are taken for Latin-1. A zero
// byte, of which `length` may hold some, becomes U+FFFD.
void recording_string(FILE *to, const char *text, size_t length, bool latin1);
bool recording_is_utf8(const char *text, size_t length);

#endif
