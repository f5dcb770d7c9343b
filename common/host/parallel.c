#include "host/parallel.h"

#include "message.h"

#include <pthread.h>
#include <stdatomic.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

enum { MAX_THREADS = 64 };

struct loop {
    _Atomic int64_t next;
    int64_t count, chunk;
    void (*body)(int64_t, int64_t, void *);
    void *context;
};

static void *work(void *argument) {
    struct loop *loop = argument;
    for (;;) {
        int64_t begin = atomic_fetch_add(&loop->next, loop->chunk);
        if (begin >= loop->count)
            return NULL;
        int64_t end = begin + loop->chunk < loop->count ? begin + loop->chunk : loop->count;
        loop->body(begin, end, loop->context);
    }
}

int parallel_threads(void) {
    long cores = sysconf(_SC_NPROCESSORS_ONLN);
    return cores < 1 ? 1 : cores > MAX_THREADS ? MAX_THREADS : (int)cores;
}

void parallel_for(int64_t count, int64_t chunk, void (*body)(int64_t, int64_t, void *), void *context) {
    struct loop loop = {.count = count, .chunk = chunk < 1 ? 1 : chunk, .body = body, .context = context};
    pthread_t thread[MAX_THREADS];
    int threads = parallel_threads(), started = 0;
    int64_t chunks = (count + loop.chunk - 1) / loop.chunk;
    while (started < threads - 1 && started < chunks - 1 && !pthread_create(&thread[started], NULL, work, &loop))
        started++;
    work(&loop);
    for (int i = 0; i < started; i++)
        pthread_join(thread[i], NULL);
}

void *host_allocate(int64_t count, int64_t size) {
    void *memory = malloc((size_t)(count > 0 ? count : 1) * (size_t)size);
    if (!memory)
        message_exit(EXIT_BAD_INPUT, "the host has no %.1f GiB of memory left: use a smaller SHAPE",
                     (double)count * (double)size / 0x1p30);
    return memory;
}

void *host_zeros(int64_t count, int64_t size) {
    void *memory = host_allocate(count, size);
    memset(memory, 0, (size_t)(count > 0 ? count : 1) * (size_t)size);
    return memory;
}
