#include "operations/softmax_operation.h"

#include "host/inputs.h"
#include "host/parallel.h"

#include <assert.h>
#include <math.h>

#define COUNT(array) ((int)(sizeof(array) / sizeof *(array)))

enum { STREAM_MATRIX = 3, STREAM_POSITION };

struct filling {
    enum input_family family;
    uint64_t seed;
    struct matrix_shape shape;
    float *in; // [kept rows][columns]
};

static void scale_row(float *row, int length, float factor) {
    for (int c = 0; c < length; c++)
        row[c] *= factor;
}

static void fill_matrix(int64_t begin, int64_t end, void *context) {
    const struct filling *f = context;
    int columns = f->shape.columns;
    for (int64_t r = begin; r < end; r++) {
        float *x = f->in + r * columns;
        int place = (int)(inputs_random(f->seed, STREAM_POSITION, (uint64_t)r) % (uint64_t)columns);
        inputs_normal_row(x, r, columns, f->seed, STREAM_MATRIX);
        if (f->family == INPUTS_LARGE)
            scale_row(x, columns, 1e4f);
        else if (f->family == INPUTS_TINY)
            scale_row(x, columns, 1e-20f);
        else if (f->family == INPUTS_DOMINANT_FIRST)
            x[0] = 120.0f;
        else if (f->family == INPUTS_DOMINANT_LAST)
            x[columns - 1] = 120.0f;
        else if (f->family == INPUTS_DOMINANT_EDGE)
            x[inputs_edge(r, columns)] = 120.0f;
        else if (f->family == INPUTS_NAN_KEY && r == 1 % f->shape.rows)
            x[place] = NAN;
        else if (f->family == INPUTS_INF_KEY && r == 1 % f->shape.rows)
            x[place] = INFINITY;
        for (int c = 0; c < columns; c++) {
            if (f->family == INPUTS_RISING)
                x[c] = 0.25f * (float)c;
            else if (f->family == INPUTS_OFFSET)
                x[c] += r % 2 ? -1e4f : 1e4f;
            else if (f->family == INPUTS_CONSTANT_VALUE)
                x[c] = (float)(r % 5) - 2.0f;
            else if (f->family == INPUTS_MASKED && c != place &&
                     (inputs_random(f->seed, STREAM_POSITION, (uint64_t)(f->shape.rows + r * columns + c)) & 3) == 0)
                x[c] = -INFINITY;
        }
    }
}

void softmax_make(const struct problem_case *which, uint64_t seed, bool with_inputs, struct host_problem *problem) {
    const struct matrix_shape *s = &which->matrix;
    int64_t kept = with_inputs ? inputs_kept(s->rows, s->columns) : 0;
    struct filling filling = {which->family, seed, *s, host_allocate(kept * s->columns, sizeof(float))};
    parallel_for(kept, 1 + 4096 / s->columns, fill_matrix, &filling);
    *problem = (struct host_problem){.operation = &softmax_operation, .which = *which};
    problem_add_input(problem, "in", which->dtype, s->rows, s->columns, filling.in, kept);
    problem_add_output(problem, "out", which->dtype, s->rows, s->columns);
}

int softmax_cases(enum matrix_kind kind, struct problem_case cases[MAX_CASES]) {
    static const int columns[] = {1,   2,   3,    31,   32,   33,   63,   64,   65,   127,  128,  129,   255,
                                  256, 257, 1000, 1023, 1024, 1025, 2047, 2049, 4095, 4096, 4097, 10007, 32771};
    static const enum input_family families[] = {INPUTS_LARGE,         INPUTS_DOMINANT_FIRST, INPUTS_DOMINANT_LAST,
                                                 INPUTS_DOMINANT_EDGE, INPUTS_RISING,         INPUTS_CONSTANT_VALUE,
                                                 INPUTS_NAN_KEY,       INPUTS_INF_KEY,        INPUTS_OFFSET,
                                                 INPUTS_TINY,          INPUTS_MASKED};
    int count = 0;
    for (int i = 0; i < COUNT(columns); i++)
        if (kind != MATRIX_QUICK || i % 5 == 0)
            cases[count++] = (struct problem_case){.matrix = {kind == MATRIX_GPU ? 67 + i : 1 + i % 5, columns[i]}};
    for (int i = 0; i < COUNT(families); i++) {
        if (kind != MATRIX_QUICK)
            cases[count++] = (struct problem_case){.matrix = {6, 33}, .family = families[i]};
        if (kind != MATRIX_QUICK || i % 4 == 0)
            cases[count++] = (struct problem_case){.matrix = {3, 1025}, .family = families[i]};
    }
    // More rows than a grid may have in two of its directions, of which the simulator runs a part.
    if (kind == MATRIX_SIMULATOR)
        cases[count++] = (struct problem_case){.matrix = {65600, 9}};
    if (kind == MATRIX_GPU) {
        static const struct matrix_shape large[] = {{1, 131072},  {1, 131071}, {5, 131073},   {4096, 1024},
                                                    {4096, 4096}, {70000, 33}, {262177, 8192}};
        for (int i = 0; i < COUNT(large); i++)
            cases[count++] = (struct problem_case){.matrix = large[i]};
    }
    assert(count <= MAX_CASES);
    return count;
}
