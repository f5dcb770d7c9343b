// The state of a lesson, for the current text of its files:
//     untouched  all files are skeletons
//     begun      some file was changed, and not all files have been checked
//     failing    the last check of some file failed
//     passing    the check of every file passed
//     fast       passing, and the newest `make lesson-NN bench` since the last change reaches the speedup below
#include "commands.h"

#include "blanks.h"
#include "checks.h"
#include "checksum.h"
#include "files.h"
#include "skeleton.h"
#include "speed.h"

#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>

enum { MAX_FILES = 16 };

// Speedup over the solution of the previous lesson; for lesson 01, over its own solution.
static const double target = 1.5, first_target = 0.9;

struct lesson {
    const char *name, *folder, *file[MAX_FILES];
    int files;
};

// "LESSON FOLDER FILE..."
static struct lesson read_lesson(char *description) {
    struct lesson lesson = {.name = strtok(description, " "), .folder = strtok(NULL, " ")};
    for (const char *file; (file = strtok(NULL, " ")) && lesson.files < MAX_FILES;)
        lesson.file[lesson.files++] = file;
    if (!lesson.files)
        message_exit(EXIT_BAD_INPUT, "usage: teach progress RESULTS 'LESSON FOLDER FILE...'... [usage]");
    return lesson;
}

enum file_state { FILE_MISSING, FILE_UNTOUCHED, FILE_UNKNOWN, FILE_PASSED, FILE_FAILED };

static enum file_state file_state_of(const char *file, const struct lines *checks) {
    static const enum file_state of_check[] = {
        [CHECK_UNKNOWN] = FILE_UNKNOWN, [CHECK_PASSED] = FILE_PASSED, [CHECK_FAILED] = FILE_FAILED};
    char solution[PATH_TEXT], checksum[CHECKSUM_TEXT];
    const char *rest = text_after_prefix(file, "lessons/");
    snprintf(solution, sizeof solution, "solutions/%s", rest ? rest : file);
    if (!file_exists(file))
        return FILE_MISSING;
    if (is_skeleton_of(solution, file))
        return FILE_UNTOUCHED;
    return of_check[last_check_outcome(checks, file, file_checksum(file, checksum))];
}

static const char *lesson_state(const struct lesson *lesson, const struct lines *checks) {
    int count[FILE_FAILED + 1] = {0};
    for (int i = 0; i < lesson->files; i++)
        count[file_state_of(lesson->file[i], checks)]++;
    return count[FILE_MISSING]                      ? "missing"
           : count[FILE_FAILED]                     ? "failing"
           : count[FILE_PASSED] == lesson->files    ? "passing"
           : count[FILE_UNTOUCHED] == lesson->files ? "untouched"
                                                    : "begun";
}

static bool changed_since(const struct lesson *lesson, time_t measured) {
    for (int i = 0; i < lesson->files; i++) {
        struct stat file;
        if (!stat(lesson->file[i], &file) &&
            (file.st_mtim.tv_sec > measured || (file.st_mtim.tv_sec == measured && file.st_mtim.tv_nsec > 0)))
            return true;
    }
    return false;
}

static int count_lines(const char *path) {
    struct lines lines;
    lines_read(path, &lines);
    int count = 0;
    for (int i = 0; i < lines.count; i++)
        count += *lines.line[i] != 0;
    lines_free(&lines);
    return count;
}

// The number of questions whose last answer was right.
static int count_correct_answers(const char *name) {
    struct lines lines;
    char path[PATH_TEXT];
    int right = 0;
    snprintf(path, sizeof path, ".progress/quiz/%s", name);
    lines_read(path, &lines);
    for (int i = 0; i < lines.count; i++) {
        int length = (int)strcspn(lines.line[i], "\t");
        bool last = !strcmp(lines.line[i] + length, "\tright");
        for (int j = i + 1; j < lines.count; j++)
            last = last && ((int)strcspn(lines.line[j], "\t") != length ||
                            strncmp(lines.line[j], lines.line[i], (size_t)length) != 0);
        right += last;
    }
    lines_free(&lines);
    return right;
}

static int count_questions(const char *folder) {
    struct lines lines;
    char path[PATH_TEXT];
    int count = 0;
    snprintf(path, sizeof path, "%s/questions", folder);
    lines_read(path, &lines);
    for (int i = 0; i < lines.count; i++)
        count += text_after_prefix(lines.line[i], "== ") != NULL;
    lines_free(&lines);
    return count;
}

static const char *repair_state(const struct lesson *lesson) {
    struct lines lines;
    char path[PATH_TEXT], repaired_line[64];
    snprintf(path, sizeof path, "%s/repaired.cu", lesson->folder);
    const char *state = file_exists(path) ? "begun" : "-";
    snprintf(repaired_line, sizeof repaired_line, "mended\t%s", lesson->name);
    lines_read(".progress/repairs", &lines);
    for (int i = 0; i < lines.count; i++)
        if (!strcmp(lines.line[i], repaired_line))
            state = "done";
    lines_free(&lines);
    return state;
}

static void print_row(const struct lesson *lesson, const char *state, const char *notes) {
    static struct blank_list list;
    char path[PATH_TEXT], row[512], of[32], quiz[32];
    int filled = 0;
    list.count = 0;
    for (int i = 0; i < lesson->files; i++)
        blank_list_add(&list, lesson->file[i]);
    for (int i = 0; i < list.count; i++)
        filled += !list.blank[i].open;
    snprintf(path, sizeof path, ".progress/hints/%s", lesson->name);
    snprintf(of, sizeof of, "%d of %d", filled, list.count);
    snprintf(quiz, sizeof quiz, "%d of %d", count_correct_answers(lesson->name), count_questions(lesson->folder));
    snprintf(row, sizeof row, "%-10s  %-9s  %-7s  %5d  %-7s  %-6s  %s", lesson->name, state, of, count_lines(path),
             quiz, repair_state(lesson), notes);
    puts(text_trim(row));
}

// Returns the state and sets notes: the speedup, and whether the lesson passed earlier.
static const char *assess_lesson(const struct lesson *lesson, const char *baseline_folder, const char *results,
                                 const struct lines *checks, char *notes, size_t size) {
    const char *state = lesson_state(lesson, checks), *slash = strchr(lesson->folder, '/');
    bool first = !baseline_folder, passing = !strcmp(state, "passing");
    char name[128], baseline[128];
    struct speed speed;
    int length = 0;
    *notes = 0;
    snprintf(name, sizeof name, "lesson-%s", slash ? slash + 1 : lesson->folder);
    slash = strchr(first ? lesson->folder : baseline_folder, '/');
    snprintf(baseline, sizeof baseline, "solution-%s", slash ? slash + 1 : "");
    if (read_speedup(results, name, baseline, &speed)) {
        bool old = changed_since(lesson, speed.measured);
        length = snprintf(notes, size, "%.2f x %.*s%s", speed.ratio, (int)strcspn(baseline, "_"), baseline,
                          old ? ", before the last change" : "");
        if (passing && !old && speed.ratio >= (first ? first_target : target))
            state = "fast";
    }
    const char *last = lesson->file[lesson->files - 1];
    if (!passing && strcmp(state, "missing") && last_check_outcome(checks, last, NULL) == CHECK_PASSED)
        snprintf(notes + length, size - (size_t)length, "%spassed earlier", length ? "; " : "");
    return state;
}

static void print_next(const struct lesson *lesson) {
    static struct blank_list list;
    if (!lesson) {
        printf("All lessons pass.\n");
        return;
    }
    for (int i = 0; i < lesson->files; i++)
        blank_list_add(&list, lesson->file[i]);
    const struct listed_blank *blank = first_open_blank(&list);
    if (blank)
        printf("Next: %s:%d: TODO %d; make %s check, or make %s hint\n", blank->file, blank->line, blank->number,
               lesson->name, lesson->name);
    else
        printf("Next: make %s check\n", lesson->name);
}

int teach_progress(int count, char **word) {
    const char *results = word[0], *plain = getenv("PLAIN"), *previous_folder = NULL;
    struct lesson lesson, next;
    bool has_next = false, plain_output = plain && *plain;
    struct lines checks;
    struct stat folder;
    if (strcmp(results, "results") && (stat(results, &folder) || !S_ISDIR(folder.st_mode)))
        message_exit(EXIT_BAD_INPUT, "progress: RESULTS=%s is not a folder [no-folder]", results);
    read_checks(&checks);
    if (!plain_output)
        printf("%-10s  %-9s  %-7s  %5s  %-7s  %-6s  %s\n", "", "state", "blanks", "hints", "quiz", "repair", "speed");
    for (int i = 1; i < count; i++) {
        char notes[256];
        lesson = read_lesson(word[i]);
        const char *state = assess_lesson(&lesson, previous_folder, results, &checks, notes, sizeof notes);
        previous_folder = lesson.folder;
        if (plain_output)
            printf("%s\t%s\n", lesson.name, state);
        else
            print_row(&lesson, state, notes);
        if (!has_next && strcmp(state, "passing") && strcmp(state, "fast")) {
            has_next = true;
            next = lesson;
        }
    }
    lines_free(&checks);
    if (plain_output)
        return 0;
    printf("\nfast: make lesson-NN bench at N=4096 measures a speedup of at least %.1fx over the previous solution "
           "(lesson "
           "01: %.1fx over its own).\n",
           target, first_target);
    print_next(has_next ? &next : NULL);
    return 0;
}
