// limit SECONDS FILE COMMAND...: runs COMMAND and stops it and all its descendants once they have used SECONDS of CPU
// time in total. CPU time, since a test takes longer on a busy machine; a deadlocked test uses none, so thirty times
// SECONDS of wall-clock time is also a limit. No descendant survives. Writes the used CPU time to FILE, in whole
// seconds. Exits with COMMAND's status, 128 + the signal that ended it, 124 if it was stopped, or 2 and one line for
// bad input.

#include <ctype.h>
#include <dirent.h>
#include <signal.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/prctl.h>
#include <sys/resource.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

enum { CLOCK_LIMITS = 30, PROCESSES = 32768, POLL_MS = 200, SUM_SECONDS = 2 };

struct process {
    pid_t pid, parent;
    double seconds; // its own and those of waited-for children
    bool ours;
};

static volatile sig_atomic_t interrupted;

static void interrupt(int signal) {
    interrupted = signal;
}

static double now(void) {
    struct timespec time;
    clock_gettime(CLOCK_MONOTONIC, &time);
    return (double)time.tv_sec + 1e-9 * (double)time.tv_nsec;
}

// Reads /proc/NAME; false if the process does not exist or has ended.
static bool read_process(const char *name, struct process *process) {
    char path[64];
    snprintf(path, sizeof path, "/proc/%.20s/stat", name);
    FILE *file = fopen(path, "r");
    if (!file)
        return false;
    unsigned long times[4];
    // The second field is the program's name in parentheses, which may contain spaces and parentheses: the other fields
    // start after the last one.
    char line[1024];
    bool whole = fgets(line, sizeof line, file);
    fclose(file);
    char *rest = line;
    for (char *c = line; whole && *c; c++)
        if (*c == ')')
            rest = c + 1;
    char state;
    int parent;
    if (!whole || sscanf(rest, " %c %d %*d %*d %*d %*d %*u %*u %*u %*u %*u %lu %lu %lu %lu", &state, &parent, &times[0],
                         &times[1], &times[2], &times[3]) != 6)
        return false;
    process->pid = atoi(name);
    process->parent = parent;
    process->seconds = (double)(times[0] + times[1] + times[2] + times[3]) / (double)sysconf(_SC_CLK_TCK);
    process->ours = false;
    return true;
}

// Sums the CPU time of all live descendants and sends them the signal if it is not 0; *count is their number. Orphans
// become children of this process (PR_SET_CHILD_SUBREAPER), so that none is missed.
static double descendants(int signal, int *count) {
    static struct process all[PROCESSES];
    int n = 0;
    DIR *folder = opendir("/proc");
    for (struct dirent *entry; folder && n < PROCESSES && (entry = readdir(folder));)
        if (isdigit((unsigned char)entry->d_name[0]) && read_process(entry->d_name, &all[n]))
            n++;
    if (folder)
        closedir(folder);
    double seconds = 0;
    *count = 0;
    for (bool found = true; found;) {
        found = false;
        for (int i = 0; i < n; i++) {
            bool child = all[i].parent == getpid();
            for (int j = 0; j < n && !child; j++)
                child = all[j].ours && all[j].pid == all[i].parent;
            if (all[i].ours || !child)
                continue;
            all[i].ours = found = true;
            seconds += all[i].seconds;
            (*count)++;
            if (signal)
                kill(all[i].pid, signal);
        }
    }
    return seconds;
}

static double used_by_the_dead(void) {
    struct rusage usage;
    getrusage(RUSAGE_CHILDREN, &usage);
    return (double)(usage.ru_utime.tv_sec + usage.ru_stime.tv_sec) +
           1e-6 * (double)(usage.ru_utime.tv_usec + usage.ru_stime.tv_usec);
}

static void end_all(void) {
    for (int count = 1; count > 0;) {
        descendants(SIGKILL, &count);
        while (waitpid(-1, NULL, WNOHANG) > 0)
            ;
        if (count > 0)
            usleep(1000);
    }
}

// Waits for the command; true if it ended by itself within the limits.
static bool wait_for(pid_t child, double limit, int *status) {
    double start = now(), summed = start;
    for (;;) {
        pid_t ended;
        while ((ended = waitpid(-1, status, WNOHANG)) > 0)
            if (ended == child)
                return true;
        if (interrupted || now() - start > CLOCK_LIMITS * limit)
            return false;
        // Reading /proc costs milliseconds, which would add up to more than many a test takes.
        int count;
        if (now() - summed > SUM_SECONDS) {
            if (used_by_the_dead() + descendants(0, &count) > limit)
                return false;
            summed = now();
        }
        usleep(1000 * (now() - start < 1 ? 10 : POLL_MS));
    }
}

int main(int count, char **words) {
    double limit = count > 3 ? strtod(words[1], NULL) : 0;
    if (!(limit > 0)) {
        fputs("limit: limit SECONDS FILE COMMAND...\n", stderr);
        return 2;
    }
    prctl(PR_SET_CHILD_SUBREAPER, 1);
    struct sigaction action = {.sa_handler = interrupt};
    sigaction(SIGINT, &action, NULL);
    sigaction(SIGTERM, &action, NULL);
    sigaction(SIGHUP, &action, NULL);

    pid_t child = fork();
    if (child == 0) {
        execvp(words[3], words + 3);
        perror(words[3]);
        _exit(127);
    }
    int status = 0;
    bool ended = child > 0 && wait_for(child, limit, &status);
    end_all();
    FILE *file = fopen(words[2], "w");
    if (!file || fprintf(file, "%.0f\n", used_by_the_dead()) < 0 || fclose(file)) {
        perror(words[2]);
        return 2;
    }
    if (child < 0) {
        perror("limit: fork");
        return 2;
    }
    if (interrupted)
        return 128 + interrupted;
    return !ended ? 124 : WIFEXITED(status) ? WEXITSTATUS(status) : 128 + WTERMSIG(status);
}
