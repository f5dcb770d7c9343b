// The tables of both builds: table.c defines one in each build; lanes.c chooses.
#ifndef SIMULATOR_LANES_TABLE_H
#define SIMULATOR_LANES_TABLE_H

#include "lanes.h"

extern const struct lanes lanes_generic;
extern const struct lanes lanes_avx2;

#endif
