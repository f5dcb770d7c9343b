// Simulated device memory: allocations far apart in an address range of their own, so that no wrong stride silently
// hits another buffer, each with a shadow of the bytes that were written.
#ifndef SIMULATOR_MACHINE_ALLOCATION_H
#define SIMULATOR_MACHINE_ALLOCATION_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

// The most devices that are simulated.
enum { SIM_DEVICES = 8, SIM_NO_DEVICE = -1 };

// The 49-bit generic address space. A device pointer given to the program is an address in the global window.
#define SIM_SHARED_WINDOW 0x0000010000000000ull // + byte offset in the block's shared memory
#define SIM_LOCAL_WINDOW 0x0000020000000000ull  // + byte offset in the thread's local memory
#define SIM_GLOBAL_WINDOW 0x0000700000000000ull

enum sim_allocation_kind {
    SIM_ALLOCATION_HEAP,
    SIM_ALLOCATION_GLOBAL_VARIABLE,
    SIM_ALLOCATION_CONST_VARIABLE,
    // Host memory that kernels can access too (cudaMallocHost, cudaMallocManaged): its device address is its host
    // address. The simulator does not see the program's writes to it, so all of it counts as written; it uses none of
    // the device's capacity.
    SIM_ALLOCATION_HOST,
};

struct sim_allocation {
    uint64_t address; // device address of the first byte, 256-byte aligned
    size_t size;      // requested bytes
    uint8_t *bytes;   // host storage, [size]
    uint8_t *written; // shadow: one bit per byte, 1 if the host or a kernel has written the byte
    bool all_written; // every bit of it is 1: no check is needed
    void *races; // shadow of the race detection in global memory, mapped by the interpreter, NULL until it is needed
    size_t races_bytes;
    struct host_pages *host_pages; // kind HOST: see analyses/host_access.c; NULL until they are needed
    enum sim_allocation_kind kind;
    int device;       // whose memory it is; kind HOST: SIM_NO_DEVICE, all devices access it
    const char *name; // variables: their name; heap: NULL
    unsigned id;      // 1, 2, ... in order of allocation
    size_t mapped_bytes;
    struct sim_allocation *next_retired;
};

// The device of the calling host thread: allocations are made in its memory. 0 at first.
void sim_memory_set_device(int device);
int sim_memory_device(void);

// Whether kernels on a device can access the memory: their own, and after sim_memory_enable_peer a peer's.
bool sim_memory_is_reachable(int device, const struct sim_allocation *allocation);
void sim_memory_enable_peer(int device, int peer, bool enabled);
bool sim_memory_peer_is_enabled(int device, int peer);

// NULL if the total would exceed the device's capacity or the host has no memory left.
struct sim_allocation *sim_memory_allocate(size_t size, enum sim_allocation_kind kind, const char *name);

// Memory at an address that is known in advance: reserve returns an address that no other allocation gets, 0 if there
// is none; allocate_at creates an allocation there, NULL if one is live there.
uint64_t sim_memory_reserve(size_t size);
struct sim_allocation *sim_memory_allocate_at(uint64_t address, size_t size);

// The program's own memory, which kernels can access until it is freed; the program keeps the storage. Its kind is
// HOST.
struct sim_allocation *sim_memory_adopt(void *bytes, size_t size);

// false if address is not the start of a live allocation.
bool sim_memory_free(uint64_t address);

// The same for free() in a kernel: the storage stays until sim_memory_collect, because other host threads may be
// reading it; any further access to the address is reported.
bool sim_memory_retire(uint64_t address);
void sim_memory_collect(void);

// The live allocation that contains [address, address + size), NULL if there is none.
struct sim_allocation *sim_memory_find(uint64_t address, size_t size);

// The live allocation closest to address, for messages; *distance is in bytes, negative if address precedes it.
struct sim_allocation *sim_memory_nearest(uint64_t address, int64_t *distance);

// A freed allocation that contained address, for messages; NULL if there was none.
const struct sim_allocation *sim_memory_find_freed(uint64_t address);

void sim_memory_mark_written(struct sim_allocation *allocation, size_t offset, size_t size);
bool sim_memory_is_written(const struct sim_allocation *allocation, size_t offset, size_t size);
// Copies shadow bits along with bytes, so that a copy of uninitialized memory stays uninitialized.
void sim_memory_copy_written(struct sim_allocation *to, size_t to_offset, const struct sim_allocation *from,
                             size_t from_offset, size_t size);

// Marks the allocations that are completely written. Called before each launch.
void sim_memory_note_written(void);

// The capacity of each device; what is used on the calling thread's one.
void sim_memory_set_capacity(size_t bytes);
void sim_memory_usage(size_t *used, size_t *capacity);

// Calls visit for each live allocation in address order.
void sim_memory_each(void (*visit)(struct sim_allocation *allocation, void *context), void *context);

#endif
