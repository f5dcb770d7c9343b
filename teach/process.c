#include "process.h"

#include <fcntl.h>
#include <spawn.h>
#include <sys/wait.h>
#include <unistd.h>

extern char **environ;

static int run(const posix_spawn_file_actions_t *actions, const char *const *command) {
    pid_t child;
    int status;
    if (posix_spawnp(&child, command[0], actions, NULL, (char *const *)command, environ))
        return 127;
    if (waitpid(child, &status, 0) != child)
        return 127;
    return WIFEXITED(status) ? WEXITSTATUS(status) : 128 + WTERMSIG(status);
}

int process_run(const char *const *command) {
    return run(NULL, command);
}

int process_run_to(const char *output, bool with_stderr, const char *const *command) {
    posix_spawn_file_actions_t actions;
    posix_spawn_file_actions_init(&actions);
    posix_spawn_file_actions_addopen(&actions, STDIN_FILENO, "/dev/null", O_RDONLY, 0);
    posix_spawn_file_actions_addopen(&actions, STDOUT_FILENO, output, O_WRONLY | O_CREAT | O_TRUNC, 0666);
    if (with_stderr)
        posix_spawn_file_actions_adddup2(&actions, STDOUT_FILENO, STDERR_FILENO);
    int status = run(&actions, command);
    posix_spawn_file_actions_destroy(&actions);
    return status;
}
