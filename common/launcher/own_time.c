#include "launcher/own_time.h"

#include "clock.h"

#include <dirent.h>
#include <sched.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

struct use {
    double processor; // seconds, of threads that have ended, too
    int runnable;     // threads
};

// The state, the group and the processor time of /proc/.../stat. False if the process or thread has ended.
static bool read_stat(const char *path, char *state, pid_t *group, double *processor) {
    char text[1024];
    FILE *file = fopen(path, "r");
    if (!file)
        return false;
    size_t length = fread(text, 1, sizeof text - 1, file);
    fclose(file);
    text[length] = 0;
    const char *name_end = strrchr(text, ')'); // a name may hold blanks and parentheses
    unsigned long user, kernel;
    if (!name_end ||
        sscanf(name_end + 1, " %c %*d %d %*d %*d %*d %*u %*u %*u %*u %*u %lu %lu", state, group, &user, &kernel) != 4)
        return false;
    *processor = (double)(user + kernel) / (double)sysconf(_SC_CLK_TCK);
    return true;
}

static int runnable_threads(const char *process) {
    char path[320], state;
    pid_t group;
    double processor;
    int count = 0;
    snprintf(path, sizeof path, "/proc/%.20s/task", process);
    DIR *threads = opendir(path);
    for (const struct dirent *entry; threads && (entry = readdir(threads));) {
        snprintf(path, sizeof path, "/proc/%.20s/task/%.20s/stat", process, entry->d_name);
        count += read_stat(path, &state, &group, &processor) && state == 'R';
    }
    if (threads)
        closedir(threads);
    return count;
}

static struct use use_of(pid_t wanted) {
    struct use use = {0};
    DIR *processes = opendir("/proc");
    for (const struct dirent *entry; processes && (entry = readdir(processes));) {
        char path[320], state;
        pid_t group;
        double processor;
        snprintf(path, sizeof path, "/proc/%.20s/stat", entry->d_name);
        if (atoi(entry->d_name) <= 0 || !read_stat(path, &state, &group, &processor) || group != wanted)
            continue;
        use.processor += processor;
        use.runnable += runnable_threads(entry->d_name);
    }
    if (processes)
        closedir(processes);
    return use;
}

void own_time_begin(struct own_time *time, pid_t group) {
    *time = (struct own_time){.clock = clock_seconds(), .processor = use_of(group).processor};
}

double own_time_look(struct own_time *time, pid_t group) {
    cpu_set_t allowed;
    struct use use = use_of(group);
    double now = clock_seconds(), passed = now - time->clock, processor = use.processor - time->processor;
    int processors = sched_getaffinity(0, sizeof allowed, &allowed) ? 1 : CPU_COUNT(&allowed),
        together = use.runnable < processors ? use.runnable : processors;
    // The processor time of a process that has ended since is gone.
    double own = !together ? passed : processor > 0 ? processor / together : 0;
    time->seconds += own < passed ? own : passed;
    time->clock = now;
    time->processor = use.processor;
    return time->seconds;
}
