// Joins the simulator's recordings (simulator/recording/README.md) and the sources that they name into one JSON object
// for the page of make ... explore.
#ifndef RECORDING_H
#define RECORDING_H

#include "text.h"

struct recorded_run {
    const char *name;      // solution-02_vectorized
    const char *source;    // its .cu file
    const char *library;   // compiled from it
    const char *recording; // the simulator's file, which may be missing
    const char *log;       // output of the check
    int status;            // of the check
    bool causal;
};

// Writes { "format": 1, "sources": ..., "runs": ... }. Every '<' is written as \u003c, so no text can end the script
// element.
void recording_print(FILE *to, const struct recorded_run *run, int runs);

// Writes a quoted JSON string. latin1: the text is not UTF-8, and bytes from 128 on are read as Latin-1. Zero bytes
// become U+FFFD.
void recording_string(FILE *to, const char *text, size_t length, bool latin1);
bool recording_is_utf8(const char *text, size_t length);

#endif
