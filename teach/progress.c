// A lesson is
//     untouched  its files are the skeletons
//     begun      they are not, and as they stand their check was not run, or not passed by all of them
//     failing    the last check of one of them, as it stands, failed
//     passing    the check of all of them, as they stand, passed
//     fast       passing, and in the newest `make lesson-NN bench` since the last change at least as fast as the target
#include "commands.h"

#include "blanks.h"
#include "checks.h"
#include "files.h"
#include "skeleton.h"
#include "speed.h"
#include "stamp.h"

#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>

enum { MOST_FILES = 16 };

// Against the solution of the lesson before; lesson 01 against its own.
static const double target = 1.5, first_target = 0.9;

struct lesson {
    const char *name, *folder, *file[MOST_FILES];
    int files;
};

// "LESSON FOLDER FILE..."
static struct lesson read_lesson(char *description) {
    struct lesson lesson = {.name = strtok(description, " "), .folder = strtok(NULL, " ")};
    for (const char *file; (file = strtok(NULL, " ")) && lesson.files < MOST_FILES;)
        lesson.file[lesson.files++] = file;
    if (!lesson.files)
        message_exit(EXIT_BAD_INPUT, "progress needs a lesson's name, its folder and its files");
    return lesson;
}

enum file_state { FILE_MISSING, FILE_UNTOUCHED, FILE_UNKNOWN, FILE_RIGHT, FILE_WRONG };

static enum file_state state_of(const char *file, const struct lines *checks) {
    static const enum file_state of_check[] = {
        [CHECK_UNKNOWN] = FILE_UNKNOWN, [CHECK_RIGHT] = FILE_RIGHT, [CHECK_WRONG] = FILE_WRONG};
    char solution[PATH_TEXT], stamp[STAMP_TEXT];
    const char *rest = text_after(file, "lessons/");
    snprintf(solution, sizeof solution, "solutions/%s", rest ? rest : file);
    if (!files_exist(file))
        return FILE_MISSING;
    if (skeleton_is(solution, file))
        return FILE_UNTOUCHED;
    return of_check[checks_of(checks, file, stamp_of(file, stamp))];
}

static const char *state_of_lesson(const struct lesson *lesson, const struct lines *checks) {
    int count[FILE_WRONG + 1] = {0};
    for (int i = 0; i < lesson->files; i++)
        count[state_of(lesson->file[i], checks)]++;
    return count[FILE_MISSING]                      ? "missing"
           : count[FILE_WRONG]                      ? "failing"
           : count[FILE_RIGHT] == lesson->files     ? "passing"
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

// Questions whose last answer was right.
static int answered_right(const char *name) {
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
        count += text_after(lines.line[i], "== ") != NULL;
    lines_free(&lines);
    return count;
}

static const char *repair_of(const struct lesson *lesson) {
    struct lines lines;
    char path[PATH_TEXT], mended[64];
    snprintf(path, sizeof path, "%s/repaired.cu", lesson->folder);
    const char *state = files_exist(path) ? "begun" : "-";
    snprintf(mended, sizeof mended, "mended\t%s", lesson->name);
    lines_read(".progress/repairs", &lines);
    for (int i = 0; i < lines.count; i++)
        if (!strcmp(lines.line[i], mended))
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
    snprintf(quiz, sizeof quiz, "%d of %d", answered_right(lesson->name), count_questions(lesson->folder));
    snprintf(row, sizeof row, "%-10s  %-9s  %-7s  %5d  %-7s  %-6s  %s", lesson->name, state, of, count_lines(path),
             quiz, repair_of(lesson), notes);
    puts(text_trim(row));
}

// The state, and what is said beside it: the speed, whether it passed once.
static const char *judge(const struct lesson *lesson, const char *rival_folder, const char *results,
                         const struct lines *checks, char *notes, size_t size) {
    const char *state = state_of_lesson(lesson, checks), *slash = strchr(lesson->folder, '/');
    bool first = !rival_folder, passing = !strcmp(state, "passing");
    char name[128], rival[128];
    struct speed speed;
    int length = 0;
    *notes = 0;
    snprintf(name, sizeof name, "lesson-%s", slash ? slash + 1 : lesson->folder);
    slash = strchr(first ? lesson->folder : rival_folder, '/');
    snprintf(rival, sizeof rival, "solution-%s", slash ? slash + 1 : "");
    if (speed_of(results, name, rival, &speed)) {
        bool old = changed_since(lesson, speed.measured);
        length = snprintf(notes, size, "%.2f x %.*s%s", speed.ratio, (int)strcspn(rival, "_"), rival,
                          old ? ", before the last change" : "");
        if (passing && !old && speed.ratio >= (first ? first_target : target))
            state = "fast";
    }
    const char *last = lesson->file[lesson->files - 1];
    if (!passing && strcmp(state, "missing") && checks_of(checks, last, NULL) == CHECK_RIGHT)
        snprintf(notes + length, size - (size_t)length, "%sit passed once", length ? "; " : "");
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
    const struct listed_blank *blank = blank_list_open(&list);
    if (blank)
        printf("Next: %s:%d: TODO %d; make %s check, or make %s hint\n", blank->file, blank->line, blank->number,
               lesson->name, lesson->name);
    else
        printf("Next: make %s check\n", lesson->name);
}

int teach_progress(int count, char **word) {
    const char *results = word[0], *plain = getenv("PLAIN"), *before = NULL;
    struct lesson lesson, next;
    bool has_next = false, bare = plain && *plain;
    struct lines checks;
    struct stat folder;
    if (strcmp(results, "results") && (stat(results, &folder) || !S_ISDIR(folder.st_mode)))
        message_exit(EXIT_BAD_INPUT, "progress: there is no folder %s; RESULTS names one as results/", results);
    checks_read(&checks);
    if (!bare)
        printf("%-10s  %-9s  %-7s  %5s  %-7s  %-6s  %s\n", "", "state", "blanks", "hints", "quiz", "repair", "speed");
    for (int i = 1; i < count; i++) {
        char notes[256];
        lesson = read_lesson(word[i]);
        const char *state = judge(&lesson, before, results, &checks, notes, sizeof notes);
        before = lesson.folder;
        if (bare)
            printf("%s\t%s\n", lesson.name, state);
        else
            print_row(&lesson, state, notes);
        if (!has_next && strcmp(state, "passing") && strcmp(state, "fast")) {
            has_next = true;
            next = lesson;
        }
    }
    lines_free(&checks);
    if (bare)
        return 0;
    printf("\nfast: by make lesson-NN bench at N=4096, %.1f times as fast as the solution before it (lesson 01: %.1f "
           "times its "
           "own).\n",
           target, first_target);
    print_next(has_next ? &next : NULL);
    return 0;
}
