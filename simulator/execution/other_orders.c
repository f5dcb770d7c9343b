#include "other_orders.h"

#include "launch.h"

#include "../machine/bound.h"
#include "../machine/report.h"

#include <errno.h>
#include <fcntl.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/prctl.h>
#include <sys/resource.h>
#include <sys/time.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

enum { MOST_LAUNCHES = 3, MOST_KERNELS = 64 }; // of one kernel that are tried
static const double free_seconds = 1;          // of processor time, beside that of the program itself

struct outcome {
    enum sim_status status;
    int kind; // of the first finding, -1: none
};

static int wanted_orders(void) {
    static int wanted = -1;
    const char *orders = getenv("SIMULATOR_ORDERS");
    if (wanted < 0)
        wanted = orders && !getenv("SIMULATOR_ORDER") ? atoi(orders) : 0;
    return wanted;
}

static double processor_seconds(int who) {
    struct rusage used;
    getrusage(who, &used);
    return (double)(used.ru_utime.tv_sec + used.ru_stime.tv_sec) +
           1e-6 * (double)(used.ru_utime.tv_usec + used.ru_stime.tv_usec);
}

// Only a kernel whose threads signal each other can fail in one order and not in another: races are found in any.
static bool depends_on_order(const struct sim_kernel *kernel) {
    bool depends = kernel->signals;
    for (int i = 0; i < kernel->ptx->instructions && !depends; i++)
        depends = kernel->code[i].ptx->opcode == PTX_OP_MBARRIER_INIT;
    return depends;
}

// Whether the kernel was launched less than MOST_LAUNCHES times.
static bool is_new(const struct sim_kernel *kernel) {
    static struct {
        const struct sim_kernel *kernel;
        int launches;
    } seen[MOST_KERNELS];
    int i = 0;
    while (i < MOST_KERNELS && seen[i].kernel && seen[i].kernel != kernel)
        i++;
    if (i == MOST_KERNELS)
        return false;
    seen[i].kernel = kernel;
    return seen[i].launches++ < MOST_LAUNCHES;
}

static void print_repeat(uint64_t order) {
    const char *command = getenv("SIMULATOR_COMMAND");
    fprintf(stderr, "simulator: found in another order of blocks, warps and copies, number %llu. Again: %s%llu%s%s\n",
            (unsigned long long)order, command ? "SIMULATOR_ORDER=" : "the same command tries order ",
            (unsigned long long)order, command ? " " : "", command ? command : "");
}

// In a process of its own, which ends here.
_Noreturn static void run_order(const struct sim_launch *launch, run_launch *run, uint64_t order, double limit,
                                int result) {
    struct sim_counts counts = {0};
    struct itimerval timer = {.it_value = {(time_t)limit, (suseconds_t)(1e6 * (limit - (double)(time_t)limit))}};
    setitimer(ITIMER_PROF, &timer, NULL); // a longer run tells nothing
    sim_options()->order = order;
    sim_options()->host_threads = 1; // as where SIMULATOR_ORDER repeats the run
    struct outcome outcome = {run(launch, &counts), sim_report_first()};
    if (outcome.status != SIM_OK) {
        print_repeat(order);
        if (write(result, &outcome, sizeof outcome) < 0)
            _exit(2);
    }
    _exit(outcome.status != SIM_OK);
}

// The process that keeps the memory: waits for the program's own run, and ends at the first order that fails.
_Noreturn static void run_orders(const struct sim_launch *launch, run_launch *run, int start, int result) {
    double limit, begin = processor_seconds(RUSAGE_SELF), budget;
    int silent = open("/dev/null", O_WRONLY);
    dup2(silent, STDOUT_FILENO);
    if (read(start, &limit, sizeof limit) != sizeof limit || read(start, &budget, sizeof budget) != sizeof budget)
        _exit(0);
    uint64_t base = sim_options()->order;
    bool failed = false;
    for (int i = 1; i <= wanted_orders() && !failed && processor_seconds(RUSAGE_CHILDREN) - begin < budget; i++) {
        int status = 0;
        pid_t child = fork();
        if (child == 0) {
            prctl(PR_SET_PDEATHSIG, SIGKILL);
            run_order(launch, run, base + (uint64_t)i, limit, result);
        }
        while (child > 0 && waitpid(child, &status, 0) < 0 && errno == EINTR)
            ;
        failed = child < 0 || (WIFEXITED(status) && WEXITSTATUS(status));
    }
    _exit(0);
}

static double own_before, spent;

struct other_orders other_orders_begin(const struct sim_launch *launch, run_launch *run) {
    struct other_orders others = {0};
    const struct sim_options *options = sim_options();
    int start[2], result[2];
    if (wanted_orders() <= 0 || options->budget || options->sample || options->traffic || !options->races ||
        getenv("SIMULATOR_RECORDING") || !depends_on_order(launch->kernel) || !is_new(launch->kernel))
        return others;
    own_before = processor_seconds(RUSAGE_SELF);
    if (spent > own_before + free_seconds || pipe2(start, O_CLOEXEC))
        return others;
    if (pipe2(result, O_CLOEXEC)) {
        close(start[0]);
        close(start[1]);
        return others;
    }
    others = (struct other_orders){fork(), start[1], result[0]};
    if (others.process == 0) {
        prctl(PR_SET_PDEATHSIG, SIGKILL);
        close(start[1]);
        close(result[0]);
        run_orders(launch, run, start[0], result[1]);
    }
    close(start[0]);
    close(result[1]);
    if (others.process < 0) {
        close(start[1]);
        close(result[0]);
        others.process = 0;
    }
    return others;
}

enum sim_status other_orders_end(struct other_orders *others, enum sim_status status) {
    struct outcome outcome = {.status = SIM_OK};
    if (!others->process)
        return SIM_OK;
    double own = processor_seconds(RUSAGE_SELF), children = processor_seconds(RUSAGE_CHILDREN);
    double limit[2] = {20 * (own - own_before) + 1, own + free_seconds - spent};
    if (status == SIM_OK && write(others->start, limit, sizeof limit) < 0)
        status = SIM_LAUNCH_FAILURE; // the other process has ended
    close(others->start);
    bool failed = read(others->result, &outcome, sizeof outcome) == sizeof outcome;
    close(others->result);
    while (waitpid(others->process, NULL, 0) < 0 && errno == EINTR)
        ;
    spent += processor_seconds(RUSAGE_CHILDREN) - children;
    if (!failed)
        return SIM_OK;
    if (outcome.kind >= 0)
        sim_report_count((enum sim_finding_kind)outcome.kind);
    return outcome.status;
}
