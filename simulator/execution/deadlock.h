// Reports a deadlock, with a list of what each thread waits for, when no thread of a block can continue.
#ifndef SIMULATOR_EXECUTION_DEADLOCK_H
#define SIMULATOR_EXECUTION_DEADLOCK_H

struct block;

void deadlock_report(struct block *block);

#endif
