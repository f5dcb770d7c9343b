// Describes the value that an endless loop reads.
#ifndef SIMULATOR_EXECUTION_SPIN_H
#define SIMULATOR_EXECUTION_SPIN_H

#include "../machine/warp.h"

enum { SPIN_TEXT = 320 };

// "; the loop last read byte 0 of variable flag (address 0x7000), which holds 0", or an empty text if the warp has
// executed no atomic or volatile read in its last turn.
void spin_describe(const struct warp *warp, char text[SPIN_TEXT]);

#endif
