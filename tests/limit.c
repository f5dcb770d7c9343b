// limit SECONDS FILE COMMAND...: runs COMMAND and stops it, with all that it started, once together they have used
// SECONDS of CPU time: on a machine that is busy with something else a test takes longer, and is no worse for it. What
// waits for something that never comes uses none, so that thirty times SECONDS on the clock are a limit, too. Nothing
// that COMMAND started lives on after it. The CPU time used is written to FILE, in whole seconds. Ends with COMMAND's
// status, with 128 and the signal that ended it, with 124 where it was stopped, or with 2 and a line.

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

enum { CLOCK_LIMITS = 30, PROCESSES = 32768, POLL_MS = 200 };

struct process {
    pid_t pid, parent;
    double seconds; // its own, and of children that it has waited for
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

// The process of /proc/NAME; false where there is none (any more).
static bool read_process(const char *name, struct process *process) {
    char path[64];
    snprintf(path, sizeof path, "/proc/%.20s/stat", name);
    FILE *file = fopen(path, "r");
    if (!file)
        return false;
    unsigned long times[4];
    // The second field is the program's name in parentheses, which may hold spaces and parentheses itself, but no
    // digits after its last one; states are one letter.
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

// Sums the CPU time of all descendants that live, and sends them the signal where it is not 0; *count is how many there
// are. What a process leaves behind becomes a child of this one (PR_SET_CHILD_SUBREAPER), so that none is missed.
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

// Waits for the command; true where it ended by itself within the limits.
static bool wait_for(pid_t child, double limit, int *status) {
    double start = now();
    for (;;) {
        pid_t ended;
        while ((ended = waitpid(-1, status, WNOHANG)) > 0)
            if (ended == child)
                return true;
        int count;
        if (interrupted || used_by_the_dead() + descendants(0, &count) > limit || now() - start > CLOCK_LIMITS * limit)
            return false;
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
