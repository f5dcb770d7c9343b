// What `make lesson-NN trace` prints of a run's memory traffic: each source line, what it loads and stores, and what
// the page predicts beside what was counted.
#ifndef REPORT_H
#define REPORT_H

#include "predictions.h"
#include "traffic.h"

// Prints each kernel with its accesses, merged. ptxas: the log of ptxas -v.
void report_kernels(const struct traffic *traffic, const char *ptxas);

void report_predictions(const struct traffic *traffic, const struct predictions *predictions);

// What accesses named SPACE_ACCESS_QUANTITY, or NAME@TEXT, add up to over one launch of each kernel (predictions.h).
double report_counted(const struct traffic *traffic, const char *name);

#endif
