// What a bench says while it runs: to the launcher which step it is in, and on a terminal one line, rewritten in place,
// with the share done and the time left.
#ifndef RUNNER_BENCH_PROGRESS_H
#define RUNNER_BENCH_PROGRESS_H

#include "host/estimate.h"

// The plan that all of it is about; it stays the caller's.
void bench_progress_start(struct estimate *estimate);

// Unit i of the plan begins, "B,H,N,D = 1,16,256,64"; it has ended.
void bench_unit_begin(int i, const char *text);
void bench_unit_end(void);

// The next step of the unit. What shows it goes by message_clear_line(), before anything else is printed.
void bench_step(const char *format, ...) __attribute__((format(printf, 1, 2)));

#endif
