// build/bin/teach: hints, quiz, progress, traces, estimates and the explorer (commands.h).
#include "commands.h"

#include "message.h"

#include <string.h>

static const struct {
    const char *name, *usage;
    int min_words; // required arguments after the command name
    command *run;
} commands[] = {
    {"blanks", "FILE...", 1, teach_blanks},
    {"skeleton", "[--filled] FILE.cu", 1, teach_skeleton},
    {"hint", "LESSON FOLDER FILE...", 3, teach_hint},
    {"quiz", "LESSON FOLDER", 2, teach_quiz},
    {"record", "FILE whole|part COMMAND...", 3, teach_record},
    {"progress", "RESULTS 'LESSON FOLDER FILE...'...", 1, teach_progress},
    {"trace", "--name NAME --source FILE.cu --kernel FILE.so [OPTION...]", 6, teach_trace},
    {"compare", "--name NAME --source FILE.cu --kernel FILE.so", 6, teach_compare},
    {"count", "--name NAME --source FILE.cu --kernel FILE.so", 6, teach_count},
    {"work", "KERNEL --name NAME --source FILE.cu --kernel FILE.so [OPTION...]", 7, teach_work},
    {"estimates", "RESULTS/GPU [outliers] | recorded lessons/NN_x/work.csv", 1, teach_estimates},
    {"explore", "--name NAME --source FILE.cu --kernel FILE.so [--beside NAME FILE.cu FILE.so] [OPTION...]", 6,
     teach_explore},
    {"predictions", "FILE.csv SHAPE...", 2, teach_predictions},
    {"conflicts", "FILE.csv", 1, teach_conflicts},
    {"counter", "FILE.csv NAME", 2, teach_counter},
    {"flashcards", "OUTPUT.html PAGE.md...", 2, teach_flashcards},
    {"architecture", "code|ptx|facts|why TOOLKIT FILE.cu...", 3, teach_architecture},
    {"bank-conflicts", "[MIN_FFMA [PORTS]]", 0, teach_bank_conflicts},
};
enum { COMMANDS = sizeof commands / sizeof *commands };

int main(int argc, char **argv) {
    message_guard_stdout();
    for (int i = 0; argc > 1 && i < COMMANDS; i++) {
        if (strcmp(argv[1], commands[i].name))
            continue;
        if (argc - 2 < commands[i].min_words)
            message_exit(EXIT_BAD_INPUT, "usage: teach %s %s [usage]", commands[i].name, commands[i].usage);
        return commands[i].run(argc - 2, argv + 2);
    }
    message_exit(EXIT_BAD_INPUT, "teach has no command '%s'; teach/commands.h lists the commands [unknown-command]",
                 argc > 1 ? argv[1] : "");
}
