// The listing of who waits where, when no thread of a block can go on.
#ifndef SIMULATOR_EXEC_DEADLOCK_H
#define SIMULATOR_EXEC_DEADLOCK_H

struct block;

void deadlock_report(struct block *block);

#endif
