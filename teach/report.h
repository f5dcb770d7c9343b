// The report of `make lesson-NN trace`: loads and stores by source line, and predicted compared with counted traffic.
#ifndef REPORT_H
#define REPORT_H

#include "predictions.h"
#include "traffic.h"

// Prints each kernel with its merged accesses. ptxas: the log of ptxas -v.
void report_kernels(const struct traffic *traffic, const char *ptxas);

void report_predictions(const struct traffic *traffic, const struct predictions *predictions);

// The sum of the quantity SPACE_ACCESS_QUANTITY, or NAME@TEXT, over all launches of all kernels (predictions.h).
double counted_quantity(const struct traffic *traffic, const char *name);

#endif
