#include "commands.h"

#include "counts.h"
#include "grade.h"
#include "measure.h"
#include "questions.h"

#include <glob.h>
#include <signal.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

enum { LINE_WIDTH = 100 };

struct quiz {
    const char *lesson;
    char path[PATH_TEXT], answered[PATH_TEXT]; // the questions; what was answered
    char results[PATH_TEXT];
    struct questions questions; // those that can be asked here
    int unmeasured;
};

// A question with all values in it.
struct asked {
    char *ask, *why, *unit, *choice[MOST_CHOICES];
    int choices, right;
    double answer, within;
};

static void free_asked(struct asked *asked) {
    free(asked->ask);
    free(asked->why);
    free(asked->unit);
    for (int i = 0; i < asked->choices; i++)
        free(asked->choice[i]);
}

static bool fill_in(const struct question *q, const struct scope *scope, struct asked *asked, struct message *error) {
    struct message reason;
    *asked = (struct asked){.within = *q->within ? strtod(q->within, NULL) : 0.005};
    if (!(asked->ask = question_text(q->ask, scope, error)) || !(asked->why = question_text(q->why, scope, error)) ||
        !(asked->unit = question_text(q->unit, scope, error)))
        return false;
    for (; asked->choices < q->choices; asked->choices++)
        if (!(asked->choice[asked->choices] = question_text(q->choice[asked->choices].text, scope, error)))
            return false;
    if (q->choices)
        return question_choose(q, scope, &asked->right, error);
    return expression_number(q->answer, scope, &asked->answer, &reason) ||
           message_set(error, "cannot be graded: %.200s %s", q->answer, reason.text);
}

// Counts what the question is about and computes its answer.
static bool evaluate(const struct quiz *quiz, const struct question *q, struct asked *asked, struct message *error) {
    struct counts counts = {.results = quiz->results};
    struct scope scope = counts_scope(&counts);
    struct message reason;
    bool right = true;
    for (int i = 0; right && i < q->runs; i++) {
        char label[32], csv[PATH_TEXT];
        right = measure(q->run[i], label, csv, &reason) && counts_load(&counts, label, csv, &reason);
    }
    *asked = (struct asked){.choices = 0};
    right = right && fill_in(q, &scope, asked, &reason);
    counts_free(&counts);
    return right || message_set(error, "%s: question %s %s", quiz->path, q->name, reason.text);
}

// Whether the last answer to a question that is remembered was right.
static bool was_right(const struct quiz *quiz, const char *name) {
    struct lines lines;
    bool right = false;
    if (!lines_read(quiz->answered, &lines))
        return false;
    for (int i = 0; i < lines.count; i++) {
        const char *outcome = text_after(lines.line[i], name);
        if (outcome && *outcome == '\t')
            right = !strcmp(outcome + 1, "right");
    }
    lines_free(&lines);
    return right;
}

// The folder of a GPU in results/, the last one by its name.
static void find_results(char results[PATH_TEXT]) {
    glob_t found;
    *results = 0;
    if (!glob("results/*/", 0, NULL, &found)) {
        const char *last = found.gl_pathv[found.gl_pathc - 1];
        snprintf(results, PATH_TEXT, "%.*s", (int)strlen(last) - 1, last);
    }
    globfree(&found);
}

static struct quiz open_quiz(const char *lesson, const char *folder) {
    struct quiz quiz = {.lesson = lesson};
    struct message error;
    struct questions all;
    snprintf(quiz.path, sizeof quiz.path, "%s/questions", folder);
    snprintf(quiz.answered, sizeof quiz.answered, ".progress/quiz/%s", lesson);
    find_results(quiz.results);
    if (!questions_read(quiz.path, &all, &error))
        message_exit(EXIT_BAD_INPUT, "%s", error.text);
    quiz.questions = (struct questions){all.question, 0};
    for (int i = 0; i < all.count; i++) {
        struct asked asked;
        if (all.question[i].needs_results) {
            bool known = evaluate(&quiz, &all.question[i], &asked, &error);
            free_asked(&asked);
            if (!known) {
                quiz.unmeasured++;
                continue;
            }
        }
        all.question[quiz.questions.count++] = all.question[i];
    }
    return quiz;
}

// Grades answers from stdin until one is clear, and returns it. NULL where the question is passed over, or, with
// *ended, the input has ended.
static const char *answer(const struct asked *asked, enum grade *grade, bool *ended) {
    static char *line;
    static size_t size;
    for (;;) {
        struct message unclear;
        printf("> ");
        fflush(stdout);
        *ended = getline(&line, &size, stdin) < 0;
        const char *given = *ended ? "" : text_trim(line);
        if (*given && !isatty(STDIN_FILENO))
            printf("%s", given);
        if (!*given || !isatty(STDIN_FILENO))
            putchar('\n');
        if (!*given)
            return NULL;
        *grade = asked->choices ? grade_letter(given, asked->choices, asked->right, &unclear)
                                : grade_number(given, asked->answer, asked->within, &unclear);
        if (*grade != GRADE_UNCLEAR)
            return given;
        printf("%s\n", unclear.text);
    }
}

static void ask(const struct quiz *quiz, int number, bool *ended) {
    const struct question *q = &quiz->questions.question[number];
    struct asked asked;
    struct message error;
    enum grade grade;
    char value[NUMBER_TEXT];
    if (!evaluate(quiz, q, &asked, &error))
        message_exit(EXIT_BAD_INPUT, "%s", error.text);
    printf("%s, question %d of %d\n", quiz->lesson, number + 1, quiz->questions.count);
    text_wrap(stdout, asked.ask, LINE_WIDTH);
    for (int i = 0; i < asked.choices; i++)
        printf("  %c) %s\n", 'a' + i, asked.choice[i]);
    const char *given = answer(&asked, &grade, ended);
    if (given) {
        if (!files_append(quiz->answered, "%s\t%s", q->name, grade == GRADE_RIGHT ? "right" : "wrong"))
            message_exit(EXIT_BAD_INPUT, "cannot write %s, where answers are remembered", quiz->answered);
        if (grade == GRADE_RIGHT)
            printf("Right: ");
        else
            printf("Not so. You said %s; it is ", given);
        if (asked.choices)
            printf("%c) %s.\n", 'a' + asked.right, asked.choice[asked.right]);
        else
            printf("%s %s.\n", text_number(asked.answer, value), asked.unit);
        text_wrap(stdout, asked.why, LINE_WIDTH);
        putchar('\n');
    }
    free_asked(&asked);
}

static void interrupted(int signal) {
    (void)signal;
    if (write(STDOUT_FILENO, "\n", 1) == 1)
        _exit(130);
    _exit(130);
}

int teach_quiz(int count, char **word) {
    const char *again = getenv("AGAIN");
    bool all = again && *again && strcmp(again, "0");
    (void)count;
    signal(SIGINT, interrupted);
    struct quiz quiz = open_quiz(word[0], word[1]);
    int total = quiz.questions.count, open = 0, right = 0;
    for (int i = 0; i < total; i++)
        open += all || !was_right(&quiz, quiz.questions.question[i].name);
    if (quiz.unmeasured)
        printf("Not asked: %d about measurements on a GPU that results/ do not hold.\n", quiz.unmeasured);
    if (!open) {
        printf("All %d questions of %s are answered right; AGAIN=1 asks them again.\n", total, quiz.lesson);
        return 0;
    }
    printf("Answer with a number (2 * 64 * 4 will do) or a letter; an empty line passes a question over, Ctrl-D "
           "ends.\n\n");
    bool ended = false;
    for (int i = 0; i < total && !ended; i++)
        if (all || !was_right(&quiz, quiz.questions.question[i].name))
            ask(&quiz, i, &ended);
    for (int i = 0; i < total; i++)
        right += was_right(&quiz, quiz.questions.question[i].name);
    printf("%d of %d right.%s", right, total, ended ? " What you answered is remembered." : "");
    if (right < total)
        printf(" make %s quiz asks the others.", quiz.lesson);
    putchar('\n');
    return 0;
}
