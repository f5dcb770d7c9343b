// The features that a lesson requires are those of its solution, whatever the learner's file claims.
#ifndef HOST_CONTRACT_H
#define HOST_CONTRACT_H

#include "message.h"

#include <stdbool.h>

// False and one line if source is a lesson's file, lessons/NN_name/FILE, and its initializer of attention_lesson
// differs from that of solutions/NN_name/FILE, except for spaces. True if one of the two does not exist.
bool contract_is_the_lessons(const char *source, struct message *difference);

#endif
