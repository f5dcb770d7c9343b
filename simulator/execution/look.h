// What a loop that does not end looks at.
#ifndef SIMULATOR_EXECUTION_LOOK_H
#define SIMULATOR_EXECUTION_LOOK_H

#include "../machine/warp.h"

enum { LOOK_TEXT = 320 };

// "; it last looked at byte 0 of variable flag (address 0x7000), which holds 0", or nothing where in its last turn the
// warp has made no atomic or volatile access that reads.
void look_describe(const struct warp *warp, char text[LOOK_TEXT]);

#endif
