// The questions of a lesson's quiz, lessons/NN_name/questions. A line "== NAME" begins a question; an indented line
// continues the line above; # begins a comment.
//
//     run: LABEL SOURCE SHAPE [causal] [SED-SCRIPT]    a run whose memory accesses the simulator counts: SOURCE,
//                                                      unchanged or edited by sed
//     check: LABEL SOURCE SHAPE [causal] [SED-SCRIPT]  a check whose outcome is asked for, such as a deadlock
//     needs: results                                   skip the question if results/ has no measurement for it
//     ask: TEXT
//     why: TEXT                                        the explanation, shown after the answer
//
// and either a number or several choices, which are shown with letters:
//
//     answer: EXPRESSION
//     unit: TEXT                                       what the number counts
//     within: FRACTION                                 the relative tolerance, 0.005 by default
//
//     choice: TEXT := EXPRESSION                       the choice with the largest value is right
//
// EXPRESSION is one of expression.h with the functions of counts.h; {EXPRESSION} in a text is replaced by its value.
#ifndef QUESTIONS_H
#define QUESTIONS_H

#include "expression.h"

enum { MOST_CHOICES = 8, MOST_QUESTION_RUNS = 8 };

struct question {
    const char *name;
    bool needs_results;
    int runs, choices;
    struct {
        const char *text; // behind "run: " or "check: "
        bool outcome;     // of a check
    } run[MOST_QUESTION_RUNS];
    struct {
        const char *text, *expression;
    } choice[MOST_CHOICES];
    const char *ask, *answer, *unit, *within, *why; // "" if the question has none
};

struct questions {
    struct question *question; // [count]
    int count;
};

// False with a one-line error if the file cannot be read or has a line of no known form.
bool questions_read(const char *path, struct questions *questions, struct message *error);

// The text with the values of its expressions, for free(). NULL with an error that continues the question's name.
char *question_text(const char *text, const struct scope *scope, struct message *error);

// The index of the choice with the largest value. False with an error, also if two choices share that value.
bool question_right_choice(const struct question *question, const struct scope *scope, int *right,
                           struct message *error);

#endif
