// The sentences about operands from another place.
#include "host/parallel.h"
#include "operations/attention_operation.h"
#include "operations/diagnosis.h"
#include "operations/diagnosis_text.h"

#include <stdlib.h>
#include <string.h>

static const char *print_times(const struct operand_rule *rule, int d, FILE *out) {
    bool *marked = host_allocate(d, sizeof *marked);
    char text[200];
    for (int c = 0; c < d; c++)
        marked[c] = rule->times[c] == 0;
    if (pattern_ranges(marked, d, "element", "elements", text, sizeof text))
        fprintf(out, "Q K^T omits %s of the queries and keys", text);
    else
        fprintf(out, "Q K^T does not count each element of a query and key once: element 0 counts %g times",
                rule->times[0]);
    free(marked);
    return "q-k-misses-elements";
}

static const char *print_heads(const struct operand_rule *rule, FILE *out) {
    static const char *const of[HEADS] = {
        "the first head",
        "the same head of the first batch",
        "the first head of its batch",
        "head h % kv_heads: query heads share key heads round-robin instead of in groups",
        "the query head's number",
        "an offset of nq rows a head instead of nk, or the other way round"};
    static const char *const codes[HEADS] = {"first-head",     "head-of-first-batch", "first-head-of-batch",
                                             "head-by-modulo", "head-of-query",       "head-offset"};
    static char code[60];
    const char *name = rule->tensors == 1u << Q   ? "q"
                       : rule->tensors == 1u << K ? "k"
                       : rule->tensors == 1u << V ? "v"
                                                  : "kv";
    fprintf(out, "Every head reads %s of %s",
            *name == 'q'   ? "the queries"
            : name[1]      ? "keys and values"
            : *name == 'k' ? "the keys"
                           : "the values",
            of[rule->n]);
    snprintf(code, sizeof code, "%s-of-%s", name, codes[rule->n]);
    return code;
}

static const char *print_map(const struct operand_rule *rule, FILE *out) {
    char map[100];
    int first = 0;
    map_text(&rule->map, map, sizeof map);
    while (rule->from && rule->from[first] == first)
        first++;
    if (rule->from) {
        const bool of_rows = rule->change == OPERAND_ROWS;
        fprintf(out, "The output holds other %s: %s %d holds that of %d", of_rows ? "rows" : "columns",
                of_rows ? "row" : "column", first, rule->from[first]);
        return of_rows ? "output-rows-displaced" : "columns-displaced";
    }
    if (rule->change == OPERAND_COLUMNS) {
        const bool of_scores = rule->tensors & (1u << Q | 1u << K);
        fprintf(out,
                of_scores ? "Q K^T reads other elements of the %s: element i is element %s"
                          : "Columns are displaced, in %s: column i is column %s",
                rule->tensors == 1u << Q   ? "queries"
                : rule->tensors == 1u << K ? "keys"
                : rule->tensors == 1u << V ? "V or in the output"
                : rule->tensors >> V & 1   ? "queries, keys and values"
                                           : "queries and keys",
                map);
        return of_scores ? "q-k-elements-displaced" : "columns-displaced";
    }
    fprintf(
        out,
        rule->tensors == 1u << Q ? "Each wrong row has the weights of another row: query i has the weights of query %s"
        : rule->tensors == 1u << V ? "Weights are multiplied by the values of other keys: the weight of key i by the "
                                     "value of key %s"
        : rule->tensors == 1u << K ? "Scores are those of other keys: key i has the score of key %s"
        : rule->tensors == 1u << O ? "Output rows are stored where others belong: row i holds the output of query %s"
                                   : "Scores and values are those of other keys: instead of key i the kernel reads "
                                     "key %s",
        map);
    return rule->tensors == 1u << Q   ? "rows-of-other-rows"
           : rule->tensors == 1u << V ? "weights-displaced"
           : rule->tensors == 1u << K ? "keys-displaced"
           : rule->tensors == 1u << O ? "output-rows-displaced"
                                      : "keys-and-values-displaced";
}

// "K and V"
static void tensors_text(unsigned tensors, char *text, size_t size) {
    static const char name[] = "QKVO";
    *text = 0;
    for (int t = Q; t <= O; t++)
        if (tensors >> t & 1)
            snprintf(text + strlen(text), size - strlen(text), "%s%c",
                     !*text              ? ""
                     : tensors >> t == 1 ? " and "
                                         : ", ",
                     name[t]);
}

const char *explanation_of_operands_print(const struct explanation *one, int d, FILE *out) {
    static const char *const tensor_words[] = {"K and V are swapped", "Q and K are swapped",
                                               "The weighted sum reads K instead of V",
                                               "The scores are computed with V instead of K"};
    static const char *const tensor_codes[] = {"k-v-swapped", "q-k-swapped", "values-from-k", "keys-from-v"};
    static const char *const fragment_words[FRAGMENTS] = {
        "the 8 x 8 matrices of %s are transposed, or not where they should be",
        "two 8 x 8 matrices of each 16 x 16 elements of %s are exchanged",
        "rows r and r + 8 of each 16 rows of %s are exchanged",
        "chunks of 8 elements of %s are swizzled by row %% 8 otherwise when stored than when loaded"};
    static const char *const fragment_codes[FRAGMENTS] = {"fragment-transposed", "fragment-matrices-swapped",
                                                          "fragment-rows-swapped", "swizzle-mismatch"};
    const struct operand_rule *rule = &one->operand;
    char name[40];
    tensors_text(rule->tensors, name, sizeof name);
    switch (rule->change) {
    case OPERAND_TENSORS:
        fputs(tensor_words[rule->n], out);
        return tensor_codes[rule->n];
    case OPERAND_HEADS:
        return print_heads(rule, out);
    case OPERAND_TRANSPOSED:
        fprintf(out, "%s is %s as [head_dim][n] instead of [n][head_dim]", name,
                rule->tensors == 1u << O ? "stored" : "read");
        return "operand-transposed";
    case OPERAND_STRIDES:
        if (rule->n >= STRIDES_OF) {
            fprintf(out, "The rows of %s are addressed by the strides of %c", name, "QKVO"[rule->n - STRIDES_OF]);
            return "strides-of-other-tensor";
        }
        fprintf(out, "The strides of %s are ignored: rows lie where those of a contiguous tensor would", name);
        return "strides-ignored";
    case OPERAND_PANELS:
        fprintf(
            out,
            "Columns from %d on of %s come from another place: its panels of %d columns are read at another distance "
            "than they lie",
            PANEL, name, PANEL);
        if (!one->ambiguous)
            fprintf(out, ", %d elements apart instead of %d rows of %d", rule->map.n, rule->n, PANEL);
        return "panels-displaced";
    case OPERAND_FRAGMENT:
        fputs("The output is exactly that of operands of which ", out);
        fprintf(out, fragment_words[rule->n], name);
        if (rule->n == FRAGMENT_SWIZZLE && rule->map.n != 7)
            fprintf(out, ": chunk c of row r is read as chunk c ^ (r & %d)", rule->map.n);
        return fragment_codes[rule->n];
    case OPERAND_TIMES:
        return print_times(rule, d, out);
    default:
        return print_map(rule, out);
    }
}
