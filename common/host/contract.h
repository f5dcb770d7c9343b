// What a lesson has to cover is not for the learner's file to say: it is what its solution covers.
#ifndef HOST_CONTRACT_H
#define HOST_CONTRACT_H

#include "message.h"

#include <stdbool.h>

// False and one line where source is a lesson's file, lessons/NN_name/FILE, and what it says of itself, the initialiser
// of attention_lesson, is not that of solutions/NN_name/FILE; spaces apart. True where either is not there to compare.
bool contract_is_the_lessons(const char *source, struct message *difference);

#endif
