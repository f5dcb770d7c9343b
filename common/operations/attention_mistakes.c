#include "operations/attention_mistakes.h"

#define MISTAKE(name, title, reasoning) static const struct mistake name = {title, reasoning}

MISTAKE(scale_missing, "the scores are not scaled",
        "The output is exactly the one that unscaled scores give: large scores, so that a few keys take nearly all "
        "the weight. Follow one score from the dot product to its exponential: where does softmax_scale come in?");
MISTAKE(scale_twice, "the scores are scaled twice",
        "The weights are flatter than they should be, exactly as if the scale had been squared. That is what scaling "
        "in two places gives, and also a division by head_dim where its square root was meant. Count where the scale "
        "enters.");
MISTAKE(scale_padded, "the scale is that of a padded row",
        "Where head_dim is a size that the kernel rounds to, the output is right; elsewhere the scores are too "
        "small, by the root of the rounded size. Zeros that pad a row change no dot product: should they change the "
        "scale?");
MISTAKE(base_2, "the exponential has the base 2",
        "The weights are flatter than they should be, exactly as powers of 2 are beside powers of e. exp2 is the "
        "faster instruction, but its argument has to be converted: by which factor do the two exponents differ?");
MISTAKE(all_equal, "all keys weigh the same",
        "Every row is the plain mean of the values that it sees, so the scores have no influence. Are they all the "
        "same when the exponential is taken, or is it taken of something else?");
MISTAKE(no_maximum, "the maximum is not subtracted before the exponential",
        "Small scores come out right; large ones give infinity, far negative ones a sum of 0, and the division then "
        "NaN. fp32 holds exp(x) up to x = 88. What can be taken off every score of a row without changing the "
        "quotient, and before which step does it have to be?");
MISTAKE(maximum_from_0, "the maximum starts at 0",
        "Only rows whose scores all lie far below 0 are wrong: their weights underflow to 0, all of them. Their "
        "maximum came out as 0, although none of their scores is that large. Which value is no larger than any "
        "score?");
MISTAKE(maximum_of_thread, "threads subtract different maxima",
        "The weights of a row do not belong together: exp(s - m) was taken with a different m for different keys, "
        "each the maximum of only some of them. The quotient is right only where all the weights of a row have the "
        "same m.");
MISTAKE(
    maximum_of_block, "queries of a block subtract one maximum",
    "Rows are right as long as the largest scores of neighbouring queries lie close together. Where they do not, the "
    "weights of the lower rows underflow, all of them: what was subtracted is the largest score of several queries. "
    "Whose scores does the maximum of a row come from?");
MISTAKE(output_not_rescaled, "the weighted sum is not rescaled",
        "Rows are right as long as the largest score is in the first tile, and wrong once a later tile raises the "
        "maximum. What had been added up by then is relative to the old maximum. The sum of the weights was mended "
        "at that point: what else was summed with those weights?");
MISTAKE(sum_not_rescaled, "the sum is not rescaled",
        "Rows are right as long as the largest score is in the first tile, and wrong once a later tile raises the "
        "maximum: they are then divided by too much. The weights in the sum are relative to the maximum of their "
        "time, not to the last one.");
MISTAKE(nothing_rescaled, "neither the weighted sum nor the sum is rescaled",
        "Each tile was weighted relative to the maximum of its own time, and the tiles were then added up as they "
        "stood. The earlier ones count too much. By which factor do exp(s - old) and exp(s - new) differ?");
MISTAKE(rescaled_upside_down, "the factor of the rescaling is upside down",
        "Rows are right as long as the maximum does not grow, and wrong once a later tile raises it: what was summed "
        "up before then counts too much, the more the maximum grew. Relative to a larger maximum a weight is "
        "smaller: which of the two maxima is subtracted from which?");
MISTAKE(pieces_as_they_stand, "the pieces of a row are added up as they stand",
        "Rows whose keys one block has worked through are right. The others were put together from pieces, and each "
        "piece is relative to the largest score of its own keys. By which factor does a piece have to be multiplied "
        "before it may be added to another?");
MISTAKE(last_piece, "the last piece of a row is left out",
        "Rows whose keys one block has worked through are right. From the others all that the last block has found "
        "is missing. Go through the loop over the pieces by hand with a row of two: which ones does it add up?");
MISTAKE(pieces_not_shifted, "the scores of a tile stay relative to the old maximum",
        "Where one block works through all the keys of a row, it is right as long as the scores are small. The "
        "weights of a tile were taken of scores as they stood before the maximum grew, and are then said to be "
        "relative to the new one. What has to be done to the scores at hand when the maximum changes?");
MISTAKE(pieces_base_e, "powers of 2 and of e are mixed",
        "Rows whose keys one block has worked through are right. The others were put together from pieces, and those "
        "with a smaller maximum count too little, exactly as if an exponent of 2 had been taken for one of e. In "
        "which unit is the maximum of a piece?");
MISTAKE(first_key_rescaled, "what is still empty is rescaled",
        "Rows are NaN where the first scores that are seen lie far below 0. Sum and output are 0 at that moment, and "
        "the factor by which they are multiplied overflows. What is 0 times infinity, and what is there to rescale "
        "before the first key?");
MISTAKE(weight_of_lane, "pieces are weighted by the weight of the lane",
        "The sum is right, but every column weights all the pieces by one number, which belongs to another piece for "
        "each lane. Each lane has worked out the weight of one piece: how does it come to know that of piece i?");
MISTAKE(tail_counted, "keys past the end are counted",
        "Where nk is a multiple of the tile, all is right; elsewhere the rows are too small, exactly as if the "
        "missing keys of the last tile had a score of 0. Their values are 0 and add nothing, but exp(0 - max) is not "
        "0: which score gives a key no weight?");
MISTAKE(last_value, "the last key is missing from the weighted sum",
        "The rows are divided by the sum over all keys, but the value of the last key was never added. Look at where "
        "the loop over the values ends, and compare it with the loop over the weights.");
MISTAKE(last_key, "the last key is left out",
        "The output is the attention over all keys but the last. Look at the bound of the loop over the keys.");
MISTAKE(first_key, "the first key is left out",
        "The output is the attention over all keys but the first. Look at where the loop over the keys begins.");
MISTAKE(last_tile, "the last tile is left out where it is not full",
        "Where nk is a multiple of the tile, all is right; elsewhere the keys of the last, partial tile have no "
        "influence at all. How many tiles does the loop make of 33 keys, and how many are there?");
MISTAKE(first_tile, "only the first tile is used",
        "Rows with few keys are right; of longer ones only the first keys count, as many as a tile or a block holds. "
        "Does anything bring the later keys in?");
MISTAKE(last_tile_only, "only the last tiles count",
        "Rows with few keys are right; of longer ones only the last keys count. What had been added up before is "
        "lost on the way: is it set to 0 once more, or multiplied by a factor that is 0? Then what is that factor "
        "made of?");
MISTAKE(hides_own, "the causal mask hides one key too many",
        "The last key that a query may see has no influence on its row. Write down the keys of the first query and "
        "of the last one where nq = nk: may a query see the key at its own position?");
MISTAKE(shows_next, "the causal mask shows one key too many",
        "Each query sees one key more than it may: the one after its own position. Write down the keys of the first "
        "query and of the last one where nq = nk, and try the comparison on them.");
MISTAKE(top_left, "the causal mask is aligned at the top left",
        "Where nq = nk the mask is right; elsewhere query i sees keys 0 .. i, as if queries and keys began together. "
        "They end together: the last query sees every key. Which key is then the last one of query i?");
MISTAKE(mask_missing, "the causal mask is missing",
        "With the mask and without it the output is the same: every query sees every key. Does the kernel learn that "
        "the problem is causal, and does the score of a hidden key know?");
MISTAKE(hidden_multiplied, "hidden values are multiplied by 0",
        "The inputs of the case that fails hold a NaN or an infinity in a value that some queries must not see, and "
        "it reaches them. The weight of a hidden key is 0, but 0 * NaN is NaN: is it enough to give it no weight?");
MISTAKE(division_by_0, "rows that see no key are divided by 0",
        "With more queries than keys the first rows of a causal problem see no key, and only they are wrong. Their "
        "maximum is -infinity and their sum is 0. What do -infinity minus -infinity and 0 / 0 give, and what should "
        "the row be?");
MISTAKE(nothing_seen, "no key is seen",
        "The output is 0 everywhere, as for rows that see no key. Either no tile was worked on or every key was "
        "hidden. Work out the last key that a query may see, in the type in which the kernel does, and the end of "
        "the loop.");
MISTAKE(k_v_swapped, "K and V are swapped",
        "The output is that of the same problem with K in V's place and V in K's. Follow both pointers from the "
        "problem to the loop that reads them.");
MISTAKE(q_k_swapped, "Q and K are swapped",
        "The output is that of the same problem with Q in K's place and K in Q's: row i belongs to key i. Follow "
        "both pointers from the problem to the dot product.");
MISTAKE(values_from_k, "the weighted sum runs over K",
        "The weights are right, but what they weigh are the rows of K. Look at which tensor the weighted sum reads.");
MISTAKE(keys_from_v, "the scores are taken with V",
        "The weighted sum reads V, as it should, and so do the dot products. Look at which tensor the scores come "
        "from.");
MISTAKE(k_of_first_head, "every head reads the keys of the first one",
        "The first head is right. The others have the keys of the first one and their own values. Which offset does "
        "the pointer to the keys get?");
MISTAKE(v_of_first_head, "every head reads the values of the first one",
        "The first head is right. The others have their own weights, but the values of the first head. Which offset "
        "does the pointer to the values get?");
MISTAKE(kv_of_first_head, "every head reads keys and values of the first one",
        "The first head is right. The others have their own queries, but keys and values of the first head. Which "
        "offsets do the two pointers get?");
MISTAKE(kv_of_first_batch, "every batch reads keys and values of the first one",
        "The first batch is right. In the others each head has the keys and values of the same head in the first "
        "batch. How many heads lie before the one that a block works on?");
MISTAKE(stride_of_queries, "the keys of a head are found by the number of queries",
        "With one head, or with nq = nk, all is right; elsewhere the rows of K or V begin at a multiple of nq. How "
        "long is a head of K, and how long one of Q?");
MISTAKE(v_transposed, "V is read as its transpose",
        "The weights are right, but element c of key j was read from where element j of key c would be. Write down "
        "the distance in memory between two keys, and between two elements of one key.");
MISTAKE(k_transposed, "K is read as its transpose",
        "Element c of key j was read from where element j of key c would be. Write down the distance in memory "
        "between two keys, and between two elements of one key.");
MISTAKE(o_transposed, "the output is stored as its transpose",
        "All the numbers of a head are there, but each at the place of its mirror image: [head_dim][nq] instead of "
        "[nq][head_dim]. Write down the distance in memory between two rows of the output.");
MISTAKE(first_query, "every query is the first one",
        "All rows of a head are the same: the row of its first query. Which part of the address of q changes from "
        "one query to the next?");
MISTAKE(queries_of_first_block, "queries of later blocks are read from the first one",
        "The first rows of a head are right, as many as a block has; after them they come again. Which query does "
        "the second block of a head begin with, and which row of Q does it load?");
MISTAKE(query_of_block, "the queries of a block are read from one row",
        "Rows come in groups that are all the same: the row of the first query in the block. Which part of the "
        "address of q changes within a block?");
MISTAKE(no_division, "the division by the sum is missing",
        "Every row is too large by its own factor, and that factor is the sum of its weights. The weights are "
        "relative to the maximum: do they add up to 1?");
MISTAKE(divided_twice, "the output is divided by the sum twice",
        "Every row is too small by its own factor, and that factor is the sum of its weights. Follow one weight to "
        "the output and count the divisions on its way.");
MISTAKE(sum_of_block, "the sum is that of another query",
        "The first query of each group is right; the others are weighted rightly and then divided by the sum of the "
        "first. Every query of a block has a sum of its own.");
MISTAKE(sum_of_thread, "the sum is not added up over the threads",
        "Each element of a row is divided by a sum over only some of the keys, those that its own thread or lane "
        "saw. The sum of a row is over all of its keys: who holds the other shares?");
MISTAKE(sum_misses_threads, "threads are missing from the sum",
        "The sum over the threads lacks the shares of some, always the same ones. Go through the reduction by hand "
        "with one value a thread: which values reach the result, and with which distance does the first step have to "
        "begin?");
MISTAKE(score_misses_threads, "threads are missing from the score",
        "The dot products lack some elements of the row, always the same ones: the shares of some threads or lanes "
        "are never added. Go through the reduction by hand with one value a lane: which values reach the result?");
MISTAKE(values_missing, "keys are missing from the weighted sum, or added twice",
        "The weights and their sum are right, but the values of some keys were never added, or more than once. Write "
        "down the keys of two neighbouring threads: does every key belong to exactly one thread of each column?");
MISTAKE(values_shifted, "weights and values are shifted against each other",
        "The weights are right, but that of key j meets the value of a neighbour of it. Compare the index of the "
        "weight with the row of V that it multiplies.");
MISTAKE(keys_shifted, "the scores are shifted against the keys",
        "The score of key j was taken with a neighbour of it, while its value is the right one. Compare the index of "
        "the score with the row of K.");
MISTAKE(values_unweighted, "the values are not weighted",
        "The output is the plain sum of the values, divided by the sum of the weights. The weights were computed: "
        "where do they meet the values?");
MISTAKE(weighted_by_scores, "the values are weighted by the scores",
        "The sum that divides a row is the right one, but the values are multiplied by the scores themselves. Which "
        "of the two is in memory when the weighted sum reads it, the score or its exponential?");
MISTAKE(scores_kept, "scores are added to those of an earlier tile",
        "The first keys are right. The score of each later one also holds that of the key one tile before it, and of "
        "all before that. What does the sum of a dot product start from, each time?");
MISTAKE(over_queries, "the softmax runs over the queries",
        "The weights of a key add up to 1 over the queries, not those of a query over the keys. Of the two indices "
        "of a score, along which one are the maximum and the sum taken?");
MISTAKE(unwritten, "part of the output was never written",
        "What was written is right, but some elements still hold what was there before. Look at which of them: is "
        "there a thread for each, and does every block store all of its rows?");

MISTAKE(
    groups_dealt_out, "query heads share key heads in turn, not in groups",
    "Where each query head has keys of its own, or all share one, the output is right. Elsewhere head h was given the "
    "keys of head h % kv_heads. Neighbouring query heads belong to one group: which quotient names it?");
MISTAKE(groups_ignored, "the query's head is taken for the key's",
        "Heads before kv_heads meet the right keys only by chance. There are fewer heads of keys than of queries: how "
        "many query heads share one, and which?");
MISTAKE(group_of_batch, "every head reads the keys and values of its batch's first one",
        "The first group of query heads is right, in each batch. Which part of the address of K and V changes from one "
        "group to the next?");
MISTAKE(strides_ignored, "the strides are ignored",
        "Contiguous tensors come out right. Of the others the kernel read or wrote where their rows would lie if heads "
        "followed each other: the distances from a batch, a head and a row to the next are in q_stride, k_stride, "
        "v_stride and o_stride. Which of them does each address use?");
MISTAKE(
    output_strides_ignored, "the strides of the output are ignored",
    "The numbers are right and stand in the wrong rows: as if the output were contiguous. Which struct says where a "
    "row of it begins?");
MISTAKE(
    lse_maximum, "the log-sum-exp lacks the sum",
    "The output is right, but lse holds only the row's maximum. What is the logarithm of a sum whose largest term was "
    "taken out?");
MISTAKE(
    lse_log_sum, "the log-sum-exp lacks the maximum",
    "The output is right, but lse is the logarithm of a sum that is relative to the maximum. What was taken out of the "
    "sum has to come back.");
MISTAKE(lse_sum, "the log-sum-exp adds the sum without its logarithm",
        "The output is right, but lse is the maximum plus the sum itself.");
MISTAKE(
    lse_base_2, "the log-sum-exp is in powers of 2",
    "The output is right, and lse is too large by the factor log2(e) everywhere: it is the logarithm to the base 2. "
    "Callers expect the natural one.");
MISTAKE(lse_unscaled, "the log-sum-exp has an unscaled maximum",
        "The output is right, but the maximum in lse is that of the scores before they were scaled.");
MISTAKE(
    lse_of_nothing, "the log-sum-exp of a row that sees no key is not -infinity",
    "The output is right, and lse is right where a row sees a key. The sum over no key is 0: what is its logarithm?");

// clang-format off
#define STRIPE(p, n) {SUBSET_STRIPE, p, n}
#define TILES(mistake, ...) \
    {&mistake, {.tile = 16, __VA_ARGS__}}, {&mistake, {.tile = 32, __VA_ARGS__}}, \
    {&mistake, {.tile = 64, __VA_ARGS__}}, {&mistake, {.tile = 128, __VA_ARGS__}}
#define PIECES(mistake, kind) \
    {&mistake, {.pieces = kind, .tile = 32, .queries = 32}}, {&mistake, {.pieces = kind, .tile = 64, .queries = 64}}
#define MANY_HEADS(mistake, kind) {&mistake, {.rescale = kind, .tile = 64, .heads = 264}}
// 64 keys, and 32 of the widest rows; LAZILY: a warp raises the maxima of its rows when one has grown by far.
#define NARROWER(mistake, kind) {&mistake, {.rescale = kind, .tile = 64, .wide_tile = 32}}
#define LAZILY(mistake, kind) {&mistake, {.rescale = kind, .tile = 64, .wide_tile = 32, .lazy_rows = 32}}
#define KEYS_OF_TILE(mistake, kind, size) {&mistake, {.sum_keys = {kind, size, 0}, .value_keys = {kind, size, 0}}}
#define KEYS_OF_TILES(mistake, kind) \
    KEYS_OF_TILE(mistake, kind, 16), KEYS_OF_TILE(mistake, kind, 32), KEYS_OF_TILE(mistake, kind, 64), \
    KEYS_OF_TILE(mistake, kind, 128), KEYS_OF_TILE(mistake, kind, 256)
// clang-format on

const struct attention_suspect attention_suspects[] = {
    {&scale_missing, {.scale = SCALE_MISSING}},
    {&scale_twice, {.scale = SCALE_TWICE}},
    {&scale_padded, {.scale = SCALE_PADDED}},
    {&base_2, {.scale = SCALE_BASE_2}},
    {&all_equal, {.scale = SCALE_ZERO}},
    {&no_maximum, {.maximum = MAXIMUM_NONE}},
    {&no_maximum, {.maximum = MAXIMUM_AS_FACTOR}},
    {&maximum_from_0, {.maximum = MAXIMUM_FROM_0}},
    {&maximum_of_thread, {.maximum = MAXIMUM_OF_THREAD, .threads = 32}},
    {&maximum_of_thread, {.maximum = MAXIMUM_OF_THREAD, .threads = 128}},
    {&maximum_of_thread, {.maximum = MAXIMUM_OF_THREAD, .threads = 256}},
    {&maximum_of_block, {.maximum = MAXIMUM_OF_BLOCK, .queries = 2}},
    {&maximum_of_block, {.maximum = MAXIMUM_OF_BLOCK, .queries = 4}},
    {&maximum_of_block, {.maximum = MAXIMUM_OF_BLOCK, .queries = 8}},
    {&maximum_of_block, {.maximum = MAXIMUM_OF_BLOCK, .queries = 16}},
    {&maximum_of_block, {.maximum = MAXIMUM_OF_BLOCK, .queries = 32}},
    {&maximum_of_block, {.maximum = MAXIMUM_OF_BLOCK, .queries = 64}},
    TILES(output_not_rescaled, .rescale = RESCALE_SUM_ONLY),
    TILES(sum_not_rescaled, .rescale = RESCALE_OUTPUT_ONLY),
    TILES(nothing_rescaled, .rescale = RESCALE_NONE),
    {&output_not_rescaled, {.rescale = RESCALE_SUM_ONLY, .tile = 1}},
    {&sum_not_rescaled, {.rescale = RESCALE_OUTPUT_ONLY, .tile = 1}},
    {&nothing_rescaled, {.rescale = RESCALE_NONE, .tile = 1}},
    MANY_HEADS(output_not_rescaled, RESCALE_SUM_ONLY),
    MANY_HEADS(sum_not_rescaled, RESCALE_OUTPUT_ONLY),
    MANY_HEADS(nothing_rescaled, RESCALE_NONE),
    MANY_HEADS(rescaled_upside_down, RESCALE_UPSIDE_DOWN),
    TILES(rescaled_upside_down, .rescale = RESCALE_UPSIDE_DOWN),
    {&output_not_rescaled, {.rescale = RESCALE_SUM_ONLY, .tile = 1024}}, // 32 pieces of 32 keys at a time
    {&sum_not_rescaled, {.rescale = RESCALE_OUTPUT_ONLY, .tile = 1024}},
    NARROWER(output_not_rescaled, RESCALE_SUM_ONLY),
    NARROWER(sum_not_rescaled, RESCALE_OUTPUT_ONLY),
    NARROWER(nothing_rescaled, RESCALE_NONE),
    NARROWER(rescaled_upside_down, RESCALE_UPSIDE_DOWN),
    LAZILY(output_not_rescaled, RESCALE_SUM_ONLY),
    LAZILY(sum_not_rescaled, RESCALE_OUTPUT_ONLY),
    LAZILY(nothing_rescaled, RESCALE_NONE),
    LAZILY(rescaled_upside_down, RESCALE_UPSIDE_DOWN),
    LAZILY(pieces_not_shifted, RESCALE_NOT_TILE),
    LAZILY(first_key_rescaled, RESCALE_EMPTY),
    PIECES(pieces_as_they_stand, PIECES_AS_THEY_STAND),
    PIECES(last_piece, PIECES_LAST_LEFT_OUT),
    PIECES(pieces_not_shifted, PIECES_NOT_SHIFTED),
    PIECES(pieces_base_e, PIECES_BASE_E),
    PIECES(first_key_rescaled, PIECES_FIRST_RESCALED),
    PIECES(weight_of_lane, PIECES_WEIGHT_OF_LANE),
    TILES(tail_counted, .tail_counted = true),
    {&tail_counted, {.tail_counted = true, .tile = 4}},
    {&tail_counted, {.tail_counted = true, .tile = 8}},
    {&tail_counted, {.tail_counted = true, .tile = 256}},
    {&last_value, {.value_keys = {.kind = SUBSET_NOT_LAST}}},
    {&last_key, {.value_keys = {.kind = SUBSET_NOT_LAST}, .sum_keys = {.kind = SUBSET_NOT_LAST}}},
    {&first_key, {.value_keys = {.kind = SUBSET_NOT_FIRST}, .sum_keys = {.kind = SUBSET_NOT_FIRST}}},
    KEYS_OF_TILES(last_tile, SUBSET_WHOLE_TILES),
    KEYS_OF_TILES(first_tile, SUBSET_FIRST_TILE),
    KEYS_OF_TILES(last_tile_only, SUBSET_LAST_TILE),
    KEYS_OF_TILE(last_tile_only, SUBSET_LAST_TILE, 1024),
    {&hides_own, {.mask = MASK_HIDES_OWN}},
    {&shows_next, {.mask = MASK_SHOWS_NEXT}},
    {&top_left, {.mask = MASK_TOP_LEFT}},
    {&mask_missing, {.mask = MASK_MISSING}},
    {&nothing_seen, {.mask = MASK_NOTHING}},
    {&nothing_seen, {.mask = MASK_OVERFLOW}},
    TILES(hidden_multiplied, .hidden_multiplied = true, .queries = 32),
    TILES(hidden_multiplied, .hidden_multiplied = true, .queries = 64),
    {&hidden_multiplied, {.hidden_multiplied = true, .tile = 1 << 20, .queries = 1 << 20}},
    {&division_by_0, {.division = DIVISION_BY_0}},
    {&division_by_0, {.division = DIVISION_BY_0, .queries = 32}}, // blocks that see no key do nothing, and are right
    {&division_by_0, {.division = DIVISION_BY_0, .queries = 64}},
    {&k_v_swapped, {.k.tensor = TENSOR_OF_V, .v.tensor = TENSOR_OF_K}},
    {&q_k_swapped, {.q.tensor = TENSOR_OF_K, .k.tensor = TENSOR_OF_Q}},
    {&values_from_k, {.v.tensor = TENSOR_OF_K}},
    {&keys_from_v, {.k.tensor = TENSOR_OF_V}},
    {&k_of_first_head, {.k.head = HEAD_FIRST}},
    {&v_of_first_head, {.v.head = HEAD_FIRST}},
    {&kv_of_first_head, {.k.head = HEAD_FIRST, .v.head = HEAD_FIRST}},
    {&kv_of_first_batch, {.k.head = HEAD_OF_FIRST_BATCH, .v.head = HEAD_OF_FIRST_BATCH}},
    {&stride_of_queries, {.k.head = HEAD_STRIDE_OF_QUERIES}},
    {&stride_of_queries, {.v.head = HEAD_STRIDE_OF_QUERIES}},
    {&stride_of_queries, {.k.head = HEAD_STRIDE_OF_QUERIES, .v.head = HEAD_STRIDE_OF_QUERIES}},
    {&groups_dealt_out, {.k.head = HEAD_MODULO, .v.head = HEAD_MODULO}},
    {&groups_ignored, {.k.head = HEAD_OF_QUERY, .v.head = HEAD_OF_QUERY}},
    {&group_of_batch, {.k.head = HEAD_FIRST_OF_BATCH, .v.head = HEAD_FIRST_OF_BATCH}},
    {&strides_ignored, {.q.contiguous = true, .k.contiguous = true, .v.contiguous = true, .output_contiguous = true}},
    {&strides_ignored, {.q.contiguous = true, .k.contiguous = true, .v.contiguous = true}},
    {&strides_ignored, {.k.contiguous = true, .v.contiguous = true}},
    {&strides_ignored, {.q.contiguous = true}},
    {&strides_ignored, {.k.contiguous = true}},
    {&strides_ignored, {.v.contiguous = true}},
    {&output_strides_ignored, {.output_contiguous = true}},
    {&lse_maximum, {.lse = LSE_MAXIMUM}},
    {&lse_log_sum, {.lse = LSE_LOG_SUM}},
    {&lse_sum, {.lse = LSE_SUM}},
    {&lse_base_2, {.lse = LSE_BASE_2}},
    {&lse_unscaled, {.lse = LSE_UNSCALED}},
    {&lse_of_nothing, {.lse = LSE_OF_NOTHING}},
    {&v_transposed, {.v.transposed = true}},
    {&k_transposed, {.k.transposed = true}},
    {&o_transposed, {.output_transposed = true}},
    {&first_query, {.query = ROW_FIRST}},
    {&queries_of_first_block, {.query = ROW_MODULO, .queries = 4}},
    {&queries_of_first_block, {.query = ROW_MODULO, .queries = 16}},
    {&queries_of_first_block, {.query = ROW_MODULO, .queries = 32}},
    {&queries_of_first_block, {.query = ROW_MODULO, .queries = 64}},
    {&query_of_block, {.query = ROW_BLOCK, .queries = 4}},
    {&query_of_block, {.query = ROW_BLOCK, .queries = 8}},
    {&query_of_block, {.query = ROW_BLOCK, .queries = 32}},
    {&no_division, {.division = DIVISION_NONE}},
    {&divided_twice, {.division = DIVISION_TWICE}},
    {&sum_of_block, {.division = DIVISION_OF_BLOCK, .queries = 4}},
    {&sum_of_block, {.division = DIVISION_OF_BLOCK, .queries = 8}},
    {&sum_of_block, {.division = DIVISION_OF_BLOCK, .queries = 32}},
    {&sum_of_thread, {.division = DIVISION_OF_THREAD, .threads = 32}},
    {&sum_of_thread, {.division = DIVISION_OF_THREAD, .threads = 128}},
    {&sum_of_thread, {.division = DIVISION_OF_THREAD, .threads = 256}},
    {&sum_misses_threads, {.sum_keys = STRIPE(128, 64), .columns = STRIPE(128, 64)}}, // one reduction for both
    {&sum_misses_threads, {.sum_keys = STRIPE(128, 127), .columns = STRIPE(128, 127)}},
    {&sum_misses_threads, {.sum_keys = STRIPE(128, 1), .columns = STRIPE(128, 1)}},
    {&sum_misses_threads, {.sum_keys = STRIPE(32, 31)}},
    {&sum_misses_threads, {.sum_keys = STRIPE(32, 16)}},
    {&sum_misses_threads, {.sum_keys = STRIPE(32, 1)}},
    {&sum_misses_threads, {.sum_keys = STRIPE(128, 64)}},
    {&sum_misses_threads, {.sum_keys = STRIPE(256, 128)}},
    {&sum_misses_threads, {.sum_keys = STRIPE(256, 32)}},
    {&score_misses_threads, {.columns = STRIPE(32, 16)}}, // eight lanes of four elements
    {&score_misses_threads, {.columns = STRIPE(32, 28)}},
    {&score_misses_threads, {.columns = STRIPE(32, 4)}},
    {&score_misses_threads, {.columns = STRIPE(32, 31)}},
    {&score_misses_threads, {.columns = STRIPE(128, 124)}},
    {&score_misses_threads, {.columns = STRIPE(128, 64)}},
    {&score_misses_threads, {.columns = STRIPE(4, 3)}},
    {&score_misses_threads, {.columns = {.kind = SUBSET_NOT_LAST}}},
    {&values_missing, {.value_step = 8, .threads = 256}},
    {&values_missing, {.value_step = 32, .threads = 256}},
    {&values_missing, {.value_step = 256, .threads = 256}},
    {&values_missing, {.value_keys = STRIPE(32, 31)}},
    {&values_missing, {.value_keys = STRIPE(4, 3)}},
    {&values_shifted, {.v.shift = 1}},
    {&values_shifted, {.v.shift = -1}},
    {&keys_shifted, {.k.shift = 1}},
    {&keys_shifted, {.k.shift = -1}},
    {&values_unweighted, {.weight = WEIGHT_ONE}},
    {&weighted_by_scores, {.weight = WEIGHT_SCORE}},
    TILES(scores_kept, .scores_kept = true),
    {&over_queries, {.over_queries = true, .maximum = MAXIMUM_NONE, .division = DIVISION_NONE}},
    {&unwritten, {.unwritten = true}},
};

const int attention_suspect_count = sizeof attention_suspects / sizeof *attention_suspects;

_Static_assert(sizeof attention_suspects / sizeof *attention_suspects <= MAX_SUSPECTS, "MAX_SUSPECTS is too small");
