// The time that a group of processes has taken by its own doing. A busy machine makes no program an endless loop: the
// time in which the group could have run, and other programs had the processors, does not count.
#ifndef LAUNCHER_OWN_TIME_H
#define LAUNCHER_OWN_TIME_H

#include <sys/types.h>

struct own_time {
    double clock, processor; // at the last look, in seconds
    double seconds;          // the group's own time so far
};

void own_time_begin(struct own_time *time, pid_t group);

// Looks again and returns time->seconds. Look every second or so. A group that waits, for a GPU or for nothing, takes
// the time of the clock; a group that computes takes its processor time, divided by the number of its threads that
// compute at once.
double own_time_look(struct own_time *time, pid_t group);

#endif
