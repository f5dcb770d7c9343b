// What a program that runs on the simulator may ask it beyond CUDA's own API. These symbols are exported by the
// simulator's libcudart; look them up with dlsym(RTLD_DEFAULT, ...), which finds nothing under NVIDIA's.
#ifndef SIMULATOR_H
#define SIMULATOR_H

// How many distinct findings (races, stray accesses, uninitialised reads, ...) there were since the process began. Each was
// printed on stderr when its launch ended.
unsigned simulator_findings(void);

// Writes the memory traffic of all launches since the process began. Environment: SIMULATOR_TRACE=1 turns counting on.
// Returns 0, or -1 with errno set.
int simulator_write_trace(const char *csv_path, const char *json_path);

#endif
