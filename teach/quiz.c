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
    char path[PATH_TEXT], answers[PATH_TEXT]; // the questions; the log of answers in .progress
    char results[PATH_TEXT];                  // the folder of a GPU, "" if there is none
    struct questions questions;               // without the skipped ones
    int skipped;                              // need results that are missing
};

// A question whose expressions are evaluated.
struct evaluated {
    char *ask, *why, *unit, *choice[MOST_CHOICES];
    int choices, right;
    double answer, within;
};

static void free_evaluated(struct evaluated *question) {
    free(question->ask);
    free(question->why);
    free(question->unit);
    for (int i = 0; i < question->choices; i++)
        free(question->choice[i]);
}

static bool evaluate_texts(const struct question *q, const struct scope *scope, struct evaluated *question,
                           struct message *error) {
    struct message reason;
    *question = (struct evaluated){.within = *q->within ? strtod(q->within, NULL) : 0.005};
    if (!(question->ask = question_text(q->ask, scope, error)) ||
        !(question->why = question_text(q->why, scope, error)) ||
        !(question->unit = question_text(q->unit, scope, error)))
        return false;
    for (; question->choices < q->choices; question->choices++)
        if (!(question->choice[question->choices] = question_text(q->choice[question->choices].text, scope, error)))
            return false;
    if (q->choices)
        return question_right_choice(q, scope, &question->right, error);
    return expression_number(q->answer, scope, &question->answer, &reason) ||
           message_set(error, "cannot be graded: %.200s %s", q->answer, reason.text);
}

// Runs and checks the kernels that the question is about, and computes its answer.
static bool evaluate(const struct quiz *quiz, const struct question *q, struct evaluated *question,
                     struct message *error) {
    struct counts counts = {.results = quiz->results};
    struct scope scope = counts_scope(&counts);
    struct message reason;
    bool right = true;
    for (int i = 0; right && i < q->runs; i++) {
        char label[32], path[PATH_TEXT];
        bool outcome = q->run[i].outcome;
        right = measure(q->run[i].text, outcome, label, path, &reason) &&
                (outcome ? counts_load_outcome : counts_load)(&counts, label, path, &reason);
    }
    *question = (struct evaluated){.choices = 0};
    right = right && evaluate_texts(q, &scope, question, &reason);
    counts_free(&counts);
    return right || message_set(error, "%s: question %s %s", quiz->path, q->name, reason.text);
}

// Whether the last recorded answer to a question was right.
static bool answered_right(const struct quiz *quiz, const char *name) {
    struct lines lines;
    bool right = false;
    if (!lines_read(quiz->answers, &lines))
        return false;
    for (int i = 0; i < lines.count; i++) {
        const char *outcome = text_after_prefix(lines.line[i], name);
        if (outcome && *outcome == '\t')
            right = !strcmp(outcome + 1, "right");
    }
    lines_free(&lines);
    return right;
}

// The folder of a GPU in results/: the last one in alphabetical order.
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
    snprintf(quiz.answers, sizeof quiz.answers, ".progress/quiz/%s", lesson);
    find_results(quiz.results);
    if (!questions_read(quiz.path, &all, &error))
        message_exit(EXIT_BAD_INPUT, "%s", error.text);
    quiz.questions = (struct questions){all.question, 0};
    for (int i = 0; i < all.count; i++) {
        struct evaluated question;
        if (all.question[i].needs_results) {
            bool known = evaluate(&quiz, &all.question[i], &question, &error);
            free_evaluated(&question);
            if (!known) {
                quiz.skipped++;
                continue;
            }
        }
        all.question[quiz.questions.count++] = all.question[i];
    }
    return quiz;
}

// Reads answers from stdin until one can be graded, and returns it. NULL if the question is skipped or, with *ended, at
// the end of the input.
static const char *read_answer(const struct evaluated *question, enum grade *grade, bool *ended) {
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
        *grade = question->choices ? grade_letter(given, question->choices, question->right, &unclear)
                                   : grade_number(given, question->answer, question->within, &unclear);
        if (*grade != GRADE_UNCLEAR)
            return given;
        printf("%s\n", unclear.text);
    }
}

static void ask_question(const struct quiz *quiz, int number, bool *ended) {
    const struct question *q = &quiz->questions.question[number];
    struct evaluated question;
    struct message error;
    enum grade grade;
    char value[NUMBER_TEXT];
    if (!evaluate(quiz, q, &question, &error))
        message_exit(EXIT_BAD_INPUT, "%s", error.text);
    printf("%s, question %d of %d\n", quiz->lesson, number + 1, quiz->questions.count);
    text_wrap(stdout, question.ask, LINE_WIDTH);
    for (int i = 0; i < question.choices; i++)
        printf("  %c) %s\n", 'a' + i, question.choice[i]);
    const char *given = read_answer(&question, &grade, ended);
    if (given) {
        if (!append_line(quiz->answers, "%s\t%s", q->name, grade == GRADE_CORRECT ? "right" : "wrong"))
            message_exit(EXIT_BAD_INPUT, "cannot write %s, which records the answers", quiz->answers);
        if (grade == GRADE_CORRECT)
            printf("Right: ");
        else
            printf("Wrong: you answered %s; the answer is ", given);
        if (question.choices)
            printf("%c) %s.\n", 'a' + question.right, question.choice[question.right]);
        else
            printf("%s %s.\n", format_number(question.answer, value), question.unit);
        text_wrap(stdout, question.why, LINE_WIDTH);
        putchar('\n');
    }
    free_evaluated(&question);
}

static void exit_on_interrupt(int signal) {
    (void)signal;
    if (write(STDOUT_FILENO, "\n", 1) == 1)
        _exit(130);
    _exit(130);
}

int teach_quiz(int count, char **word) {
    const char *again = getenv("AGAIN");
    bool all = again && *again && strcmp(again, "0");
    (void)count;
    signal(SIGINT, exit_on_interrupt);
    struct quiz quiz = open_quiz(word[0], word[1]);
    int total = quiz.questions.count, open = 0, right = 0;
    for (int i = 0; i < total; i++)
        open += all || !answered_right(&quiz, quiz.questions.question[i].name);
    if (quiz.skipped)
        printf("Skipped: %d about measurements on a GPU that are not in results/.\n", quiz.skipped);
    if (!open) {
        printf("You answered all %d questions of %s right; AGAIN=1 asks them again.\n", total, quiz.lesson);
        return 0;
    }
    printf("Answer with a number, an expression such as 2 * 64 * 4, or a letter. An empty line skips a question, "
           "Ctrl-D ends the quiz.\n\n");
    bool ended = false;
    for (int i = 0; i < total && !ended; i++)
        if (all || !answered_right(&quiz, quiz.questions.question[i].name))
            ask_question(&quiz, i, &ended);
    for (int i = 0; i < total; i++)
        right += answered_right(&quiz, quiz.questions.question[i].name);
    printf("%d of %d right.%s", right, total, ended ? " Your answers are saved." : "");
    if (right < total)
        printf(" make %s quiz asks the rest.", quiz.lesson);
    putchar('\n');
    return 0;
}
