#include "launcher/supervise.h"

#include "launcher/own_time.h"
#include "message.h"
#include "step.h"

#include <errno.h>
#include <fcntl.h>
#include <poll.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/prctl.h>
#include <sys/wait.h>
#include <unistd.h>

enum { STEP_TEXT = 160, KEPT_TEXT = 400, LOOK_MILLISECONDS = 500, GRACE_SECONDS = 2 };

// The reports of the child so far.
struct child_report {
    char step[STEP_TEXT], kept[KEPT_TEXT];
    char rest[4096]; // the beginning of a line that has not ended
};

static volatile sig_atomic_t ending_signal, child_ended;

static void on_signal(int number) {
    if (number == SIGCHLD)
        child_ended = 1;
    else
        ending_signal = number;
}

// Signals are blocked except while ppoll() waits, so that no signal is lost between testing a flag and waiting.
static void catch_signals(sigset_t *normal) {
    static const int caught[] = {SIGINT, SIGTERM, SIGHUP, SIGCHLD};
    struct sigaction action = {.sa_handler = on_signal};
    sigset_t blocked;
    sigemptyset(&blocked);
    for (size_t i = 0; i < sizeof caught / sizeof *caught; i++) {
        sigaddset(&blocked, caught[i]);
        sigaction(caught[i], &action, NULL);
    }
    sigprocmask(SIG_BLOCK, &blocked, normal);
}

static pid_t start(const char *program, int pipe_end, const sigset_t *normal) {
    pid_t parent = getpid(), child = fork();
    if (child != 0) {
        if (child > 0)
            setpgid(child, child);
        return child;
    }
    setpgid(0, 0);
    prctl(PR_SET_PDEATHSIG, SIGKILL);
    if (getppid() != parent)
        _exit(EXIT_CHECK_FAILED);
    sigprocmask(SIG_SETMASK, normal, NULL);
    char number[16];
    snprintf(number, sizeof number, "%d", pipe_end);
    setenv(STEP_VARIABLE, number, 1);
    execl(program, program, (char *)NULL);
    fprintf(stderr, "error: %s cannot be started: %s; build it with make\n", program, strerror(errno));
    _exit(EXIT_BAD_INPUT);
}

// Reads the pipe and keeps the last whole lines. Returns true if one of them was a step.
static bool read_steps(int pipe_end, struct child_report *child_report) {
    size_t held = strlen(child_report->rest);
    ssize_t length;
    bool any = false;
    while ((length = read(pipe_end, child_report->rest + held, sizeof child_report->rest - 1 - held)) > 0) {
        char *line = child_report->rest, *end;
        child_report->rest[held + (size_t)length] = 0;
        for (; (end = strchr(line, '\n')); line = end + 1) {
            *end = 0;
            bool kept = !strncmp(line, STEP_KEPT, strlen(STEP_KEPT));
            if (kept)
                snprintf(child_report->kept, KEPT_TEXT, "%.*s", KEPT_TEXT - 1, line + strlen(STEP_KEPT));
            else
                snprintf(child_report->step, STEP_TEXT, "%.*s", STEP_TEXT - 1, line);
            any = any || !kept;
        }
        held = strlen(line);
        if (held == sizeof child_report->rest - 1)
            held = 0; // no line is that long
        memmove(child_report->rest, line, held);
        child_report->rest[held] = 0;
    }
    return any;
}

// Prints which results of an interrupted run are recorded.
static void print_kept(int pipe_end, struct child_report *child_report) {
    read_steps(pipe_end, child_report);
    if (*child_report->kept)
        fprintf(stderr, "%s\n", child_report->kept);
}

static void end_child(pid_t child) {
    int status;
    kill(-child, SIGKILL);
    while (waitpid(child, &status, 0) < 0 && errno == EINTR)
        ;
}

// The exit status for a child that has ended. A child that exited with 0 before its own last step was ended by a kernel
// file, and has checked nothing.
static int explain_end(int status, const char *step) {
    const char *where = *step ? step : "start-up";
    if (WIFSIGNALED(status) || strcmp(step, STEP_END))
        message_before_error();
    if (WIFSIGNALED(status) && WTERMSIG(status) == SIGPIPE)
        return 128 + SIGPIPE; // the reader of stdout has closed it
    if (WIFSIGNALED(status))
        fprintf(stderr, "error: crashed in %s: %s [crashed]\n", where, strsignal(WTERMSIG(status)));
    else if (WEXITSTATUS(status) == 0 && strcmp(step, STEP_END))
        fprintf(stderr, "error: the process exited in %s: a kernel file must not call exit() [exited]\n", where);
    else
        return WEXITSTATUS(status);
    return EXIT_CHECK_FAILED;
}

int supervise(const char *program, int limit, const char *kept) {
    int ends[2];
    sigset_t normal;
    struct child_report child_report = {0};
    if (kept)
        snprintf(child_report.kept, KEPT_TEXT, "%s", kept);
    if (pipe2(ends, O_CLOEXEC))
        message_exit(EXIT_CHECK_FAILED, "no pipe: %s", strerror(errno));
    fcntl(ends[1], F_SETFD, 0); // the child's end stays open through execl()
    fcntl(ends[0], F_SETFL, O_NONBLOCK);
    catch_signals(&normal);
    pid_t child = start(program, ends[1], &normal);
    if (child < 0)
        message_exit(EXIT_CHECK_FAILED, "no process for %s: %s", program, strerror(errno));
    close(ends[1]);

    struct own_time taken;
    own_time_begin(&taken, child);
    for (bool open = true, told = false;;) {
        struct pollfd wait = {.fd = open ? ends[0] : -1, .events = POLLIN};
        const struct timespec timeout = {.tv_nsec = LOOK_MILLISECONDS * 1000000};
        ppoll(&wait, 1, &timeout, &normal);
        if (read_steps(ends[0], &child_report)) {
            own_time_begin(&taken, child);
            told = false;
        }
        if (wait.revents & POLLHUP)
            open = false;
        int status;
        if (child_ended && waitpid(child, &status, WNOHANG) == child) {
            kill(-child, SIGKILL); // processes that it has started
            read_steps(ends[0], &child_report);
            status = explain_end(status, child_report.step);
            if (status && status != EXIT_BAD_INPUT && strcmp(child_report.step, STEP_END))
                print_kept(ends[0], &child_report);
            return status;
        }
        if (ending_signal) {
            end_child(child);
            fputc('\n', stderr);
            print_kept(ends[0], &child_report);
            return 128 + ending_signal;
        }
        double seconds = own_time_look(&taken, child);
        if (seconds >= limit && !told)
            told = !kill(child, STEP_TIME_IS_UP);
        if (seconds >= limit + GRACE_SECONDS) {
            end_child(child);
            message_before_error();
            if (!strcmp(child_report.step, "diagnosis"))
                fprintf(stderr,
                        "error: the diagnosis took more than %d s and was stopped; the results of the check are above. "
                        "TIME_LIMIT=%d raises the limit [time-limit]\n",
                        limit, 5 * limit);
            else
                fprintf(stderr,
                        "error: %s took more than %d s and was stopped: an endless loop? TIME_LIMIT=%d raises the "
                        "limit [time-limit]\n",
                        *child_report.step ? child_report.step : "start-up", limit, 5 * limit);
            print_kept(ends[0], &child_report);
            return EXIT_CHECK_FAILED;
        }
    }
}
