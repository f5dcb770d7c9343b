// Outcomes of the checks of a learner's files, one line per check in .progress/checks: "check FILE CHECKSUM right|wrong
// DATE", tab-separated. The stamp is of the file as it was (stamp.h).
#ifndef CHECKS_H
#define CHECKS_H

#include "text.h"

enum check_outcome { CHECK_UNKNOWN, CHECK_PASSED, CHECK_FAILED };

// Appends an outcome with the current time. False if the file cannot be written.
bool add_check(const char *file, const char *checksum, enum check_outcome outcome);

// All recorded outcomes, possibly none.
void read_checks(struct lines *checks);

// The outcome of the last check of the file with this checksum. With NULL: CHECK_PASSED if any check of the file
// passed.
enum check_outcome last_check_outcome(const struct lines *checks, const char *file, const char *checksum);

#endif
