// A launch in several orders. A GPU guarantees no order of blocks, warps and copies, and some mistakes show in a few
// orders only. So a process that keeps memory as it was before the launch runs it again in other orders, as long as
// that takes no longer than the program itself. Environment: SIMULATOR_ORDERS=n, the number of orders tried; without
// it, or with an order of the user's own in SIMULATOR_ORDER, there is only one.
#ifndef SIMULATOR_EXECUTION_OTHER_ORDERS_H
#define SIMULATOR_EXECUTION_OTHER_ORDERS_H

#include "launch.h"

struct other_orders {
    int process; // 0: none
    int start, result;
};

// Before the launch. run: runs it in the process that it is called in.
typedef enum sim_status run_launch(const struct sim_launch *launch, struct sim_counts *counts);
struct other_orders other_orders_begin(const struct sim_launch *launch, run_launch *run);

// After the launch, with its status. Returns the status of the first order that fails, SIM_OK: there is none. The
// findings have been printed, with what repeats them.
enum sim_status other_orders_end(struct other_orders *others, enum sim_status status);

#endif
