// A folder of results that goes away again, and rows to put into it.
#ifndef RECORDED_H
#define RECORDED_H

#include "host/results.h"

extern char folder[];
extern const struct problem_case which; // of the rows
extern const struct results_timing timing;

// Of a group of tests.
int make_folder(void **state);
int remove_folder(void **state);

struct results_run run_of(const char *device);
void add_attention(struct results_rows *rows, const struct results_run *run, const char *lesson);
bool write_attention(const struct results_run *run, const char *lesson, struct message *error);

// The text of folder/name, until the next call.
char *slurp(const char *name);
int count(const char *text, char c);

#endif
