// Simulated device memory: see allocation.h. Each allocation is a host mapping with its own address in the global
// window, far from its neighbours; a kernel's address is translated to a host pointer by finding its allocation.
#include "allocation.h"

#include <pthread.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>

// The window is below every address that mmap returns to a Linux process on x86-64 or aarch64, so that a host pointer
// that is passed to a kernel by mistake is never inside an allocation.
#define WINDOW_END 0x00007e0000000000ull
#define GAP (1ull << 30)
// Around an allocation so large that an index of 32 bits wraps around in it, farther than such an index leads.
#define LARGE (1ull << 30)
#define LARGE_GAP (1ull << 35)
#define ALIGNMENT 256ull
#define FREED_REMEMBERED 256

static pthread_rwlock_t lock = PTHREAD_RWLOCK_INITIALIZER;
static struct sim_allocation **live; // [live_count], in address order
static size_t live_count, live_room;
static uint64_t cursor = SIM_GLOBAL_WINDOW;
static struct sim_allocation freed[FREED_REMEMBERED]; // a ring buffer; only address, size and id are still valid
static size_t freed_count;
static struct sim_allocation *retired; // freed by a kernel, not yet unmapped
static unsigned allocations_made;
static size_t used_bytes[SIM_DEVICES], capacity_bytes = SIZE_MAX; // used: by device
static bool peer_enabled[SIM_DEVICES][SIM_DEVICES];               // [device][peer]
static _Thread_local int current_device;

void sim_memory_set_device(int device) {
    current_device = device;
}

int sim_memory_device(void) {
    return current_device;
}

void sim_memory_enable_peer(int device, int peer, bool enabled) {
    peer_enabled[device][peer] = enabled;
}

bool sim_memory_peer_is_enabled(int device, int peer) {
    return peer_enabled[device][peer];
}

bool sim_memory_is_reachable(int device, const struct sim_allocation *allocation) {
    int owner = allocation->device;
    return owner == device || owner == SIM_NO_DEVICE || peer_enabled[device][owner];
}

static size_t round_up(size_t value, size_t unit) {
    return (value + unit - 1) / unit * unit;
}

// The shadow is read eight bytes at a time, so it is padded to whole 64-bit words and one more.
static size_t shadow_bytes(size_t size) {
    return (size / 64 + 2) * 8;
}

static size_t mapping_bytes(size_t size) {
    return round_up(size, 64) + shadow_bytes(size);
}

// The number of live allocations that start at or before address.
static size_t count_starting_by(uint64_t address) {
    size_t low = 0, high = live_count;
    while (low < high) {
        size_t middle = (low + high) / 2;
        if (live[middle]->address <= address)
            low = middle + 1;
        else
            high = middle;
    }
    return low;
}

// Returns an address for span bytes with a gap on both sides. Addresses are assigned once, in ascending order, until
// the window is used up; only then are holes reused.
static uint64_t find_place(uint64_t span) {
    uint64_t gap = span >= LARGE ? LARGE_GAP : GAP;
    if (cursor + 2 * gap + span <= WINDOW_END) {
        uint64_t position = cursor + (gap - GAP);
        cursor = position + span + gap;
        return position;
    }
    uint64_t position = SIM_GLOBAL_WINDOW;
    for (size_t i = 0; i < live_count; i++) {
        if (position + span + GAP <= live[i]->address)
            return position;
        position = live[i]->address + round_up(live[i]->size, ALIGNMENT) + GAP;
    }
    return position + span + GAP <= WINDOW_END ? position : 0;
}

static bool make_room(void) {
    if (live_count < live_room)
        return true;
    size_t room = live_room ? 2 * live_room : 64;
    struct sim_allocation **grown = realloc(live, room * sizeof *grown);
    if (!grown)
        return false;
    live = grown;
    live_room = room;
    return true;
}

static void insert(struct sim_allocation *allocation) {
    size_t position = count_starting_by(allocation->address);
    memmove(live + position + 1, live + position, (live_count - position) * sizeof *live);
    live[position] = allocation;
    live_count++;
}

// address 0: any free address.
static struct sim_allocation *allocate_locked(uint64_t address, size_t size, enum sim_allocation_kind kind,
                                              const char *name) {
    bool host = kind == SIM_ALLOCATION_HOST;
    size_t room = host ? SIZE_MAX / 4 : capacity_bytes - used_bytes[current_device];
    if (size == 0 || size > room || size > WINDOW_END - SIM_GLOBAL_WINDOW || !make_room())
        return NULL;
    if (!address)
        address = host ? 0 : find_place(round_up(size, ALIGNMENT));
    struct sim_allocation *allocation = address || host ? calloc(1, sizeof *allocation) : NULL;
    if (!allocation)
        return NULL;
    // Only what is touched takes the host's memory: an address range with large strides costs nothing.
    void *bytes =
        mmap(NULL, mapping_bytes(size), PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
    if (bytes == MAP_FAILED) {
        free(allocation);
        return NULL;
    }
    if (host)
        address = (uint64_t)(uintptr_t)bytes;
    *allocation = (struct sim_allocation){
        .address = address,
        .size = size,
        .bytes = bytes,
        .mapped_bytes = mapping_bytes(size),
        .written = (uint8_t *)bytes + round_up(size, 64),
        .all_written = host,
        .kind = kind,
        .device = host ? SIM_NO_DEVICE : current_device,
        .name = name,
        .id = ++allocations_made,
    };
    insert(allocation);
    used_bytes[current_device] += host ? 0 : size;
    return allocation;
}

struct sim_allocation *sim_memory_adopt(void *bytes, size_t size) {
    pthread_rwlock_wrlock(&lock);
    struct sim_allocation *allocation = make_room() ? calloc(1, sizeof *allocation) : NULL;
    if (allocation) {
        *allocation = (struct sim_allocation){.address = (uint64_t)(uintptr_t)bytes,
                                              .size = size,
                                              .bytes = bytes,
                                              .all_written = true, // so that it needs no shadow
                                              .kind = SIM_ALLOCATION_HOST,
                                              .device = SIM_NO_DEVICE,
                                              .id = ++allocations_made};
        insert(allocation);
    }
    pthread_rwlock_unlock(&lock);
    return allocation;
}

struct sim_allocation *sim_memory_allocate(size_t size, enum sim_allocation_kind kind, const char *name) {
    pthread_rwlock_wrlock(&lock);
    struct sim_allocation *allocation = allocate_locked(0, size, kind, name);
    pthread_rwlock_unlock(&lock);
    return allocation;
}

uint64_t sim_memory_reserve(size_t size) {
    pthread_rwlock_wrlock(&lock);
    uint64_t address = size && size <= WINDOW_END - SIM_GLOBAL_WINDOW ? find_place(round_up(size, ALIGNMENT)) : 0;
    pthread_rwlock_unlock(&lock);
    return address;
}

struct sim_allocation *sim_memory_allocate_at(uint64_t address, size_t size) {
    pthread_rwlock_wrlock(&lock);
    size_t position = count_starting_by(address + size - 1);
    bool taken = position && live[position - 1]->address + live[position - 1]->size > address;
    struct sim_allocation *allocation = taken ? NULL : allocate_locked(address, size, SIM_ALLOCATION_HEAP, NULL);
    pthread_rwlock_unlock(&lock);
    return allocation;
}

static void unmap(struct sim_allocation *allocation) {
    if (allocation->mapped_bytes)
        munmap(allocation->bytes, allocation->mapped_bytes);
    if (allocation->races)
        munmap(allocation->races, allocation->races_bytes);
    free(allocation);
}

// Removes a heap allocation from the live ones, and remembers its address. retire: its storage stays for now.
static bool release(uint64_t address, bool retire) {
    pthread_rwlock_wrlock(&lock);
    size_t position = count_starting_by(address);
    struct sim_allocation *allocation = position ? live[position - 1] : NULL;
    bool found = allocation && allocation->address == address;
    if (found) {
        memmove(live + position - 1, live + position, (live_count - position) * sizeof *live);
        live_count--;
        if (allocation->device != SIM_NO_DEVICE)
            used_bytes[allocation->device] -= allocation->size;
        freed[freed_count++ % FREED_REMEMBERED] = *allocation;
        if (retire) {
            allocation->next_retired = retired;
            retired = allocation;
            allocation->size = 0; // a host thread that still has the pointer finds an empty allocation
        } else {
            unmap(allocation);
        }
    }
    pthread_rwlock_unlock(&lock);
    return found;
}

bool sim_memory_free(uint64_t address) {
    return release(address, false);
}

bool sim_memory_retire(uint64_t address) {
    return release(address, true);
}

void sim_memory_collect(void) {
    pthread_rwlock_wrlock(&lock);
    while (retired) {
        struct sim_allocation *next = retired->next_retired;
        unmap(retired);
        retired = next;
    }
    pthread_rwlock_unlock(&lock);
}

struct sim_allocation *sim_memory_find(uint64_t address, size_t size) {
    pthread_rwlock_rdlock(&lock);
    size_t position = count_starting_by(address);
    struct sim_allocation *allocation = position ? live[position - 1] : NULL;
    if (allocation && (size > allocation->size || address - allocation->address > allocation->size - size))
        allocation = NULL;
    pthread_rwlock_unlock(&lock);
    return allocation;
}

struct sim_allocation *sim_memory_nearest(uint64_t address, int64_t *distance) {
    pthread_rwlock_rdlock(&lock);
    size_t position = count_starting_by(address);
    struct sim_allocation *before = position ? live[position - 1] : NULL;
    struct sim_allocation *after = position < live_count ? live[position] : NULL;
    pthread_rwlock_unlock(&lock);
    // The distance past the last byte of the previous allocation, and up to the first byte of the next one.
    uint64_t past = before ? address - before->address : 0;
    past = before && past >= before->size ? past - before->size + 1 : 0;
    uint64_t short_of = after ? after->address - address : 0;
    if (before && (!after || past <= short_of)) {
        *distance = (int64_t)past;
        return before;
    }
    *distance = -(int64_t)short_of;
    return after;
}

const struct sim_allocation *sim_memory_find_freed(uint64_t address) {
    const struct sim_allocation *found = NULL;
    pthread_rwlock_rdlock(&lock);
    size_t remembered = freed_count < FREED_REMEMBERED ? freed_count : FREED_REMEMBERED;
    for (size_t i = 0; i < remembered; i++) {
        const struct sim_allocation *one = &freed[(freed_count - 1 - i) % FREED_REMEMBERED];
        if (address >= one->address && address - one->address < one->size) {
            found = one;
            break;
        }
    }
    pthread_rwlock_unlock(&lock);
    return found;
}

// Bits [first, first + count) of the 64-bit shadow word.
static uint64_t bit_range(unsigned first, unsigned count) {
    return (count >= 64 ? ~0ull : (1ull << count) - 1) << first;
}

// Host threads that simulate different blocks may write neighbouring bytes, whose bits share a word: hence the atomic
// or. The plain read before it is cheaper, because most stores hit memory that is already written.
void sim_memory_mark_written(struct sim_allocation *allocation, size_t offset, size_t size) {
    if (offset == 0 && size == allocation->size)
        allocation->all_written = true;
    uint64_t *word = (uint64_t *)allocation->written + offset / 64;
    unsigned first = offset % 64;
    while (size) {
        unsigned count = size < 64 - first ? (unsigned)size : 64 - first;
        uint64_t bits = bit_range(first, count);
        if ((__atomic_load_n(word, __ATOMIC_RELAXED) & bits) != bits)
            __atomic_fetch_or(word, bits, __ATOMIC_RELAXED);
        size -= count;
        first = 0;
        word++;
    }
}

bool sim_memory_is_written(const struct sim_allocation *allocation, size_t offset, size_t size) {
    if (allocation->all_written)
        return true;
    const uint64_t *word = (const uint64_t *)allocation->written + offset / 64;
    unsigned first = offset % 64;
    while (size) {
        unsigned count = size < 64 - first ? (unsigned)size : 64 - first;
        uint64_t bits = bit_range(first, count);
        if ((__atomic_load_n(word, __ATOMIC_RELAXED) & bits) != bits)
            return false;
        size -= count;
        first = 0;
        word++;
    }
    return true;
}

static bool written_bit(const struct sim_allocation *allocation, size_t offset) {
    return allocation->written[offset / 8] >> offset % 8 & 1;
}

void sim_memory_copy_written(struct sim_allocation *to, size_t to_offset, const struct sim_allocation *from,
                             size_t from_offset, size_t size) {
    if (sim_memory_is_written(from, from_offset, size)) {
        sim_memory_mark_written(to, to_offset, size);
        return;
    }
    // A rare case: some bytes were never written. Copies backwards if the ranges overlap that way, as memmove does.
    bool backwards = to == from && to_offset > from_offset;
    to->all_written = false;
    for (size_t i = 0; i < size; i++) {
        size_t k = backwards ? size - 1 - i : i;
        uint8_t bit = (uint8_t)(1u << (to_offset + k) % 8);
        uint8_t *shadow = &to->written[(to_offset + k) / 8];
        *shadow = written_bit(from, from_offset + k) ? *shadow | bit : *shadow & (uint8_t)~bit;
    }
}

// Called before a launch, so that reads of memory that was filled piece by piece cost nothing.
static void note_all_written(struct sim_allocation *allocation, void *unused) {
    (void)unused;
    if (!allocation->all_written)
        allocation->all_written = sim_memory_is_written(allocation, 0, allocation->size);
}

void sim_memory_note_written(void) {
    sim_memory_each(note_all_written, NULL);
}

void sim_memory_set_capacity(size_t bytes) {
    pthread_rwlock_wrlock(&lock);
    capacity_bytes = bytes;
    for (int i = 0; i < SIM_DEVICES; i++)
        capacity_bytes = capacity_bytes > used_bytes[i] ? capacity_bytes : used_bytes[i];
    pthread_rwlock_unlock(&lock);
}

void sim_memory_usage(size_t *used, size_t *capacity) {
    pthread_rwlock_rdlock(&lock);
    *used = used_bytes[current_device];
    *capacity = capacity_bytes;
    pthread_rwlock_unlock(&lock);
}

void sim_memory_each(void (*visit)(struct sim_allocation *allocation, void *context), void *context) {
    pthread_rwlock_rdlock(&lock);
    for (size_t i = 0; i < live_count; i++)
        visit(live[i], context);
    pthread_rwlock_unlock(&lock);
}
