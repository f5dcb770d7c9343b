// The listing of who waits where, when no thread of a block can go on.
#ifndef SIMULATOR_EXECUTION_DEADLOCK_H
#define SIMULATOR_EXECUTION_DEADLOCK_H

struct block;

void deadlock_report(struct block *block);

#endif
