// The diagnosis as a ranked list of explanations. A generator proposes explanations of one kind for a case that was
// observed; each explanation predicts what was observed, and what another case will show. The best one that predicts a
// second case is printed.
#ifndef OPERATIONS_DIAGNOSIS_H
#define OPERATIONS_DIAGNOSIS_H

#include "operations/attention_observed.h"
#include "operations/diagnosis_columns.h"
#include "operations/diagnosis_maps.h"
#include "operations/diagnosis_operands.h"

#include <stdint.h>
#include <stdio.h>

// Per key whose weight it has (-1: none) and how many times.
struct key_table {
    int16_t from[1000];
    float times[1000];
};

// How many keys each row attends to: unknown where its weights for equal scores are not those of the first keys, all
// alike; of the values alone where the row is divided by the right number of keys.
enum mask_seen { MASK_UNKNOWN, MASK_OF_WEIGHTS, MASK_OF_VALUES };

// A case and what was observed of it.
struct case_seen {
    const struct observed *x;
    int64_t rows;
    int nq, nk;
    bool *wrong;             // [rows], the row is there, and its weights are not right
    double *off;             // [rows][nk], log(observed / right), NAN where a weight is too small to tell
    double *largest;         // [rows], the largest observed weight
    enum mask_seen mask;     // of a causal case, and for equal scores:
    int *attended;           // [rows], keys from the first on that have a weight
    struct key_table *table; // for explanations: per key whose weight it has,
    float *times;            // [MAX_HEAD_DIM], and how often each element counts
};

void case_seen_of(struct observed *x, struct case_seen *seen);
void case_seen_free(struct case_seen *seen);

// Whether the weights of each row are right but for one factor.
bool weights_are_proportional(const struct case_seen *seen);

static inline const double *case_got(const struct case_seen *s, int64_t row) {
    return s->x->got + row * s->nk;
}
static inline const double *case_right(const struct case_seen *s, int64_t row) {
    return s->x->right + row * s->nk;
}
static inline const double *case_score(const struct case_seen *s, int64_t row) {
    return s->x->score + row * s->nk;
}

enum explanation_kind {
    EXPLAINS_WEIGHTS,
    EXPLAINS_DIVISOR,
    EXPLAINS_LSE,
    EXPLAINS_MASK,
    EXPLAINS_OPERANDS,
    EXPLAINS_ROUNDING
};

// A row of diagnosis_hypotheses.def: what a coefficient of a column means under some partitions.
struct hypothesis {
    enum explanation_kind kind;
    enum column_name column;
    unsigned partitions; // bits of enum partition_class
    double coefficient;  // NAN: any
    const char *code, *words;
};

// Partitions that hypotheses tell apart.
enum partition_class {
    EACH_KEY = 1,        // the maximum is updated at each key,
    EACH_TILE = 2,       // at each tile,
    LAST_TILE_FIRST = 4, // from the last one on
    OWN_TILE = 8,        // tiles by themselves,
    OWN_SPLIT = 16,      // equal parts of the row by themselves
    THREADS = 32,        // keys in turn
    WARPS = 64,          // tiles in turn,
    LANES = 128,         // fewer than 16 keys in turn
    QUADS = 256,         // the lanes of a quad
    HALF_QUADS = 512,    // two of them
    GROUPS = 1024,       // within a tile keys in turn
    ANY_PARTITION = 2047,
    RUNNING = EACH_KEY | EACH_TILE | LAST_TILE_FIRST | THREADS | WARPS | LANES, // a maximum is raised several times
    APART = ANY_PARTITION & ~(EACH_KEY | EACH_TILE | LAST_TILE_FIRST)           // several chains
};
enum partition_class partition_class(const struct partition *partition);

// What a row sum is, of the output or of lse.
enum sum_rule {
    SUM_BY_COLUMNS,
    SUM_BY_FORMULA,      // its logarithm is linear in a maximum and in the logarithm of the right sum
    SUM_OF_SOME_KEYS,    // n: a period, the first key and how many; or 0, the first key and the end, from the last key
                         // back if it is not above 0
    SUM_WITH_EXTRA_KEYS, // n: how many with a score of 0, or up to the end of which tile
    SUM_PLUS_CONSTANT,   // formula[0] is added to it
    SUM_OF_OTHER_ROW,
    SUM_PLUS_EARLIER_ROW // n: that of the row so many rows before is added, with what was added to it
};

// Whose weights a key has.
enum gather {
    GATHER_NOTHING,    // its own, by the columns
    GATHER_ROWS,       // those of another row of its head, by the map
    GATHER_TRANSPOSED, // n: of blocks of so many rows, as if stored key by key
    GATHER_FRAGMENT,   // bits of the query and of the key, as a position in a tile, are exchanged
    GATHER_TABLE,      // those of the keys of a table, so many times
    GATHER_SCORES,     // the scores
    GATHER_NOT_OWN,    // its own, but for the key whose index is the query's plus n[0]
    GATHER_NEAR        // its own, where it is not further below the row max than formula[0]
};

// Which keys a query attends to under a causal mask.
enum mask_kind_seen {
    MASK_OFF_BY,         // n too many
    MASK_OF_NOTHING,     // all keys
    MASK_OF_PACKED_ROW,  // those of the index of the row among the rows of a group of heads
    MASK_OF_OTHER_QUERY, // by the map
    MASK_DOWN_TO_TILE,
    MASK_AS_IF_SQUARE, // up to the last query of the block, where nk is as nq
    MASK_OF_FIRST,     // those of the first query of the block, rounded up to a tile
    MASK_OF_LAST
};
enum mask_bound { EXACTLY, AT_MOST, AT_LEAST }; // or its own
struct mask_rule {
    enum mask_kind_seen kind;
    int n, block, tile;
    enum mask_bound bound;
    struct index_map map;
};

// What is rounded, or cut off, to so many bits; nothing: all scores are multiplied by a factor. times: how many times
// the right ones the numbers are then; powers of two change nothing.
enum rounded {
    ROUNDS_NOTHING,
    ROUNDS_QUERIES,
    ROUNDS_KEYS,
    ROUNDS_BOTH,
    ROUNDS_SCORES,
    ROUNDS_WEIGHTS,        // but not in the sum
    ROUNDS_WEIGHTS_SUMMED, // before they are added up
    ROUNDS_VALUES
};
struct rounding {
    enum rounded of;
    int bits;
    bool cut;
    double times;
    const char *as;
};

enum { MOST_TERMS = 2 };
struct explanation {
    enum explanation_kind kind;
    enum sum_rule rule;
    int n[3];
    double formula[4];
    enum gather gather;
    struct index_map map;
    struct mask_rule mask;
    struct operand_rule operand;
    struct rounding rounding;
    const struct key_table *table; // the case's
    struct partition by;
    int terms;
    enum column_name column[MOST_TERMS];
    double a[MOST_TERMS];
    const struct hypothesis *meaning[MOST_TERMS]; // NULL: the table has no words for it
    bool only_wrong_rows;                         // rows that are right are right for another reason
    bool ambiguous;                               // another one of its kind, with other numbers, predicts as much
    double cost;                                  // the length of its description, in bits
    int64_t fitting, rows;                        // rows that it predicts, of how many
    int confirmed_keys;                           // of the case that confirmed it
};

// The ranked explanations of a case, the cheapest first.
enum { MOST_EXPLANATIONS = 16 };
struct explanations {
    struct explanation list[MOST_EXPLANATIONS];
    int count;
};
// Adds an explanation that predicts the case; a row that it does not predict makes it longer.
void explanations_try(struct explanations *all, struct explanation one, const struct case_seen *seen, double cost);

extern const struct hypothesis hypotheses[];
extern const int hypothesis_count;

// The row of the table for a coefficient; NULL: there is none.
const struct hypothesis *hypothesis_of(enum explanation_kind kind, enum column_name column,
                                       const struct partition *partition, double coefficient);

// ---- Generators: each adds explanations that predict the case.

typedef void explain_function(const struct case_seen *seen, struct explanations *all);
explain_function explain_operands, explain_mask, explain_rounding, explain_gathers, explain_factors, explain_divisor,
    explain_lse;
explain_function explain_weights; // by gathers and factors, or by divisors

enum mask_seen mask_see(struct observed *observed, int *attended /* [rows] */);
int mask_limit(const struct mask_rule *rule, const struct attention_shape *shape, int64_t row);
void explanation_gathered(const struct explanation *one, const struct case_seen *seen, int64_t row,
                          double *weight /* [nk] */);

// Whether an explanation of a kind predicts a case.
bool explanation_of_weights_holds(struct explanation *one, const struct case_seen *seen);
bool explanation_of_sum_holds(struct explanation *one, const struct case_seen *seen);
bool explanation_of_mask_holds(struct explanation *one, const struct case_seen *seen);
bool explanation_of_operands_holds(struct explanation *one, const struct case_seen *seen);
bool explanation_of_rounding_holds(struct explanation *one, const struct case_seen *seen);

// Writes the sentence of an explanation of a kind, and returns its code.
const char *explanation_of_gather_print(const struct explanation *one, int nk, FILE *out);
const char *explanation_of_sum_print(const struct explanation *one, int nk, FILE *out);
const char *explanation_of_mask_print(const struct explanation *one, const struct attention_shape *shape, FILE *out);
const char *explanation_of_operands_print(const struct explanation *one, int head_dim, FILE *out);
const char *explanation_of_rounding_print(const struct explanation *one, bool of_lse, FILE *out);

// Whether an explanation predicts a case; sets fitting and rows.
bool explanation_holds(struct explanation *one, const struct case_seen *seen);

// The weights of a row as an explanation of them predicts them, up to one factor.
void explanation_weights(const struct explanation *one, const struct case_seen *seen, int64_t row,
                         double *weight /* [nk] */);

// Whether a sum of some keys counts this one.
bool sum_counts_key(const struct explanation *one, int key, int nk);
// The sum of a row over the right one, as an explanation of sums predicts it.
double explanation_of_sum_predicts(const struct explanation *one, const struct case_seen *seen, int64_t row);

// The words of the table for a term, with what they leave open.
void explanation_words(const struct explanation *one, int term, FILE *out);

// Bits that say which partition it is: a simple one is likely, and a usual tile more so.
double partition_cost(const struct partition *partition);

// Writes the sentence of a confirmed explanation, and its code in brackets.
void explanation_print(const struct explanation *one, const struct observed *observed, FILE *out);

// ---- The whole

// Puts the cheapest explanation that predicts a second case first. False: none does.
bool diagnosis_confirm(const struct observed *observed, struct explanations *all);

// Prints the best explanation of a generator that predicts a second case. False: none does. *best: that one, unless
// NULL.
bool diagnosis_by(const struct case_seen *seen, explain_function *explain, struct explanation *best, FILE *out);

#endif
