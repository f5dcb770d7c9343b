#include "questions.h"

#include "text.h"

#include <ctype.h>
#include <stdlib.h>
#include <string.h>

static bool is_keyword(const char *line) {
    size_t length = 0;
    while (islower((unsigned char)line[length]))
        length++;
    return length && line[length] == ':' && (line[length + 1] == ' ' || !line[length + 1]);
}

// Stores "keyword: value" in the question.
static bool parse_field(struct question *q, char *line, struct message *error) {
    char *value = strchr(line, ':') + 1;
    const char *const keys[] = {"ask:", "answer:", "unit:", "within:", "why:"};
    const char **const fields[] = {&q->ask, &q->answer, &q->unit, &q->within, &q->why};
    value = text_trim(value);
    for (size_t i = 0; i < sizeof keys / sizeof *keys; i++)
        if (text_after_prefix(line, keys[i])) {
            *fields[i] = value;
            return true;
        }
    if (text_after_prefix(line, "needs:")) {
        q->needs_results = !strcmp(value, "results");
        return q->needs_results || message_set(error, "needs %.60s: only results can be needed [unknown-need]", value);
    }
    if (text_after_prefix(line, "run:") || text_after_prefix(line, "check:")) {
        if (q->runs == MOST_QUESTION_RUNS)
            return message_set(error, "has more than %d runs and checks [too-many-runs]", MOST_QUESTION_RUNS);
        q->run[q->runs].text = value;
        q->run[q->runs++].outcome = *line == 'c';
        return true;
    }
    if (!text_after_prefix(line, "choice:"))
        return message_set(error, "has a line of no known form: %.60s [unknown-line]", line);
    char *expression = strstr(value, " := ");
    if (!expression || q->choices == MOST_CHOICES)
        return message_set(error,
                           expression ? "has more than %d choices [too-many-choices]"
                                      : "has a choice without := [no-expression]",
                           MOST_CHOICES);
    *expression = 0;
    q->choice[q->choices].text = value;
    q->choice[q->choices++].expression = expression + strlen(" := ");
    return true;
}

// Joins each line with the indented lines below it, and drops comments. Returns the number of lines that remain.
static int join_lines(struct lines *lines, char **joined) {
    int count = 0;
    for (int i = 0; i < lines->count; i++) {
        char *line = lines->line[i], *words = text_trim(line);
        if (!*words || *line == '#')
            continue;
        if (words == line || !count) {
            joined[count++] = text_copy(words, strlen(words));
            continue;
        }
        char *whole;
        if (asprintf(&whole, "%s %s", joined[count - 1], words) < 0)
            message_exit(EXIT_CHECK_FAILED, "out of memory");
        free(joined[count - 1]);
        joined[count - 1] = whole;
    }
    return count;
}

bool questions_read(const char *path, struct questions *questions, struct message *error) {
    struct lines lines;
    *questions = (struct questions){NULL, 0};
    if (!lines_read(path, &lines))
        return message_set(error, "%s is missing; restore it with: git checkout %s [missing-file]", path, path);
    // Never freed: questions point into these lines until the program ends.
    char **joined = calloc((size_t)lines.count + 1, sizeof *joined);
    questions->question = calloc((size_t)lines.count + 1, sizeof *questions->question);
    if (!joined || !questions->question)
        message_exit(EXIT_CHECK_FAILED, "out of memory");
    int count = join_lines(&lines, joined);
    lines_free(&lines);
    for (int i = 0; i < count; i++) {
        struct message reason;
        const char *name = text_after_prefix(joined[i], "== ");
        if (name) {
            questions->question[questions->count++] =
                (struct question){.name = name, .ask = "", .answer = "", .unit = "", .within = "", .why = ""};
            continue;
        }
        if (!questions->count || !is_keyword(joined[i]))
            return message_set(error, "%s: a line belongs to no question or has no known form: %.60s [stray-line]",
                               path, joined[i]);
        struct question *question = &questions->question[questions->count - 1];
        if (!parse_field(question, joined[i], &reason))
            return message_set(error, "%s: question %s %s", path, question->name, reason.text);
    }
    free(joined);
    return true;
}

char *question_text(const char *text, const struct scope *scope, struct message *error) {
    char *whole = NULL;
    size_t size;
    FILE *out = open_memstream(&whole, &size);
    bool right = true;
    for (const char *end; right && *text; text = end) {
        char expression[1000], number[NUMBER_TEXT];
        struct value value;
        struct message reason;
        end = *text == '{' ? strchr(text, '}') : text + strcspn(text, "{");
        if (*text != '{') {
            fprintf(out, "%.*s", (int)(end - text), text);
            continue;
        }
        if (!end || (size_t)snprintf(expression, sizeof expression, "%.*s", (int)(end - text - 1), text + 1) >=
                        sizeof expression) {
            right = message_set(error, "has a { whose } is missing or more than 1000 characters away [unclosed-brace]");
            break;
        }
        end++;
        right = expression_evaluate(expression, scope, &value, &reason);
        if (!right)
            message_set(error, "cannot be graded: %.200s %s", expression, reason.text);
        else
            fputs(value.is_text ? value.text : format_number(value.number, number), out);
    }
    fclose(out);
    if (right)
        return whole;
    free(whole);
    return NULL;
}

bool question_right_choice(const struct question *question, const struct scope *scope, int *right,
                           struct message *error) {
    double most = 0;
    int second = -1;
    for (int i = 0; i < question->choices; i++) {
        double value;
        struct message reason;
        if (!expression_number(question->choice[i].expression, scope, &value, &reason))
            return message_set(error, "cannot be graded: %.200s %s", question->choice[i].expression, reason.text);
        if (!i || value > most) {
            most = value;
            *right = i;
            second = -1;
        } else if (value == most) {
            second = i;
        }
    }
    return second < 0 || message_set(error, "cannot be graded: choices %d and %d have the same value [tied-choices]",
                                     *right + 1, second + 1);
}
