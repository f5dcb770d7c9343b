// The questions of a lesson's quiz, lessons/NN_name/questions. A line "== NAME" begins one; lines that begin with
// blanks go on with the one above; # begins a comment.
//
//     run: LABEL SOURCE SHAPE [causal] [SED-SCRIPT]   a run to count, of SOURCE as it is or changed by sed
//     needs: results       asked only where the results of a GPU have what it is about
//     ask: TEXT
//     answer: EXPRESSION   a number; unit: what it counts; within: how far off, of 1, is right (0.005 where it is not
//     said) choice: TEXT := EXPRESSION  or several of these, of which the one with the largest value is right why: TEXT
//     shown after the answer: the measurement
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
    const char *run[MOST_QUESTION_RUNS]; // behind "run: "
    struct {
        const char *text, *expression;
    } choice[MOST_CHOICES];
    const char *ask, *answer, *unit, *within, *why; // "" where it has none
};

struct questions {
    struct question *question; // [count]
    int count;
};

// False with one line where the file cannot be read or a line of it is none of those above.
bool questions_read(const char *path, struct questions *questions, struct message *error);

// The text with its expressions replaced, for free(). NULL with an error that goes on behind the name of the question.
char *question_text(const char *text, const struct scope *scope, struct message *error);

// Which choice has the largest value, from 0. False with an error also where two have it.
bool question_choose(const struct question *question, const struct scope *scope, int *right, struct message *error);

#endif
