// How checks of a learner's files ended, a line each in .progress/checks: "check FILE STAMP right|wrong DATE",
// tab-separated. The stamp is of the file as it was (stamp.h).
#ifndef CHECKS_H
#define CHECKS_H

#include "text.h"

enum check_outcome { CHECK_UNKNOWN, CHECK_RIGHT, CHECK_WRONG };

// Adds a line for now. False where it cannot be written.
bool checks_add(const char *file, const char *stamp, enum check_outcome outcome);

// All that is remembered; none where nothing is.
void checks_read(struct lines *checks);

// How the last check of the file with this stamp ended; with NULL, right where any check of the file did.
enum check_outcome checks_of(const struct lines *checks, const char *file, const char *stamp);

#endif
