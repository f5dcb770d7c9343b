// Runs of keys whose weights are in proportion within each, but not from one to the other.
#include "operations/attention_factors.h"

// Where one key after the other shows it. Returns how many runs there are; 0: too many, or short ones.
static int find_runs(const struct explainer *s, int *begin /* [MOST_PARTS + 1] */) {
    enum { LEAST_KEYS = 4, FEW = 8, LONG = 16 };
    int nk = s->x.which.attention.nk, parts = 1;
    begin[0] = 0;
    for (int j = 1; j < nk; j++)
        if (!factors_repeat(s, j, 1)) {
            if (parts == MOST_PARTS || j - begin[parts - 1] < LEAST_KEYS)
                return 0;
            begin[parts++] = j;
        }
    begin[parts] = nk;
    // Many short runs are those of lanes.
    for (int i = 0; i + 1 < parts && parts > FEW; i++)
        if (begin[i + 1] - begin[i] < LONG)
            return 0;
    return parts;
}

// Tiles of so many keys.
static int cut(const struct explainer *s, int keys, int *begin /* [MOST_PARTS + 1] */) {
    int nk = s->x.which.attention.nk, parts = 0;
    if ((nk + keys - 1) / keys > MOST_PARTS)
        return 0;
    for (; parts * keys < nk; parts++)
        begin[parts] = parts * keys;
    begin[parts] = nk;
    return parts;
}

static bool have_factors(const struct explainer *s, const int *begin, int parts) {
    int reported = 0;
    for (int i = 0; i < parts; i++)
        if (!factors_are_one(s, begin[i], begin[i + 1], 1, &reported))
            return false;
    return parts > 1 && reported > parts && factors_differ(s);
}

bool explain_tiles(const struct explainer *s) {
    static const int tiles[] = {128, 64, 32, 16};
    int begin[MOST_PARTS + 1], parts = find_runs(s, begin);
    // Where most weights are too small to tell, a run's end is not seen.
    for (size_t i = 0; i < sizeof tiles / sizeof *tiles && !have_factors(s, begin, parts); i++)
        parts = tiles[i] < s->x.which.attention.nk ? cut(s, tiles[i], begin) : 0;
    if (!have_factors(s, begin, parts))
        return false;
    fprintf(s->out, "  The weights are right up to one common factor within keys 0 to %d", begin[1] - 1);
    for (int i = 1; i < parts; i++) {
        fprintf(s->out, "%s%d", i < parts - 1 ? ", " : parts == 2 ? " and " : ", and ", begin[i]);
        if (begin[i + 1] - begin[i] > 1)
            fprintf(s->out, " to %d", begin[i + 1] - 1);
    }
    fprintf(s->out, ", but each of these tiles has another factor [tiles-differ]\n");
    // A run of several tiles whose factors happen to be alike is as many parts.
    int tile = 128, count = 0, of_tiles[MOST_PARTS + 1];
    for (int i = 1; i < parts; i++)
        while (begin[i] % tile)
            tile /= 2;
    if (tile >= 16)
        count = cut(s, tile, of_tiles);
    if (!explain_tile_maxima(s, begin, parts) && count > parts)
        explain_tile_maxima(s, of_tiles, count);
    return true;
}
