// EvenShares against plain enumeration: every tile is in one share, shares differ by one tile at most, and pieces of a
// share that are not put in the same place. Its functions run on the device, so this needs one, or the simulator.
#include "attention.h"
#include "even_shares.cuh"

#include <stdio.h>
#include <vector>

struct Seen {
    EvenShares::Item item;
    int share, place;
};

// Grid: a thread for each tile and one for each share's first tile, the end among them.
__global__ void ask(const EvenShares work, Seen *seen /* [tiles] */, int *first /* [shares + 1] */) {
    const int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i <= work.shares)
        first[i] = work.first_of(i);
    if (i < work.tiles) {
        const EvenShares::Item item = work.item_of(i);
        const int share = work.share_of(i);
        seen[i] = {item, share, work.place_of(share, item)};
    }
}

static int problems, failures;
static const char *at = "";

static void expect(bool holds, const char *what) {
    if (!holds && failures++ < 20)
        printf("%s: %s\n", at, what);
}

static std::vector<EvenShares::Item> enumerate(int heads, int nq, int nk, bool causal, int queries, int keys) {
    std::vector<EvenShares::Item> item_of_tile;
    for (int head = 0; head < heads; head++)
        for (int query0 = 0; query0 < nq; query0 += queries) {
            const int first = (int)item_of_tile.size();
            int tiles = 0;
            for (int key0 = 0; key0 < nk; key0 += keys) {
                bool visible = !causal;
                for (int i = query0; i < query0 + queries && i < nq; i++)
                    visible |= key0 <= i + nk - nq;
                tiles += visible;
            }
            if (tiles == 0) // zeros have to be written
                tiles = 1;
            item_of_tile.insert(item_of_tile.end(), tiles, {head, query0, first, tiles});
        }
    return item_of_tile;
}

static bool same(const EvenShares::Item &a, const EvenShares::Item &b) {
    return a.head == b.head && a.query0 == b.query0 && a.first_tile == b.first_tile && a.tiles == b.tiles;
}

static void try_problem(int heads, int nq, int nk, bool causal, int queries, int keys, int most) {
    char name[128];
    snprintf(name, sizeof name, "heads %d, nq %d, nk %d%s, items of %d queries, tiles of %d keys, at most %d shares",
             heads, nq, nk, causal ? " causal" : "", queries, keys, most);
    at = name;
    problems++;

    const std::vector<EvenShares::Item> expected = enumerate(heads, nq, nk, causal, queries, keys);
    const int tiles = (int)expected.size(), shares = tiles < most ? tiles : most;
    EvenShares work;
    expect(deal_out_to(&work, heads, nq, nk, causal ? nk - nq : NO_DIAGONAL, queries, keys, most) == cudaSuccess,
           "is refused");
    expect(work.tiles == tiles, "another number of tiles");
    expect(work.shares == shares, "another number of shares");
    if (work.tiles != tiles || work.shares != shares)
        return;

    std::vector<Seen> seen(tiles);
    std::vector<int> first(shares + 1);
    Seen *seen_device = NULL;
    int *first_device = NULL;
    cudaMalloc(&seen_device, tiles * sizeof(Seen));
    cudaMalloc(&first_device, (shares + 1) * sizeof(int));
    ask<<<tiles / 128 + 1, 128>>>(work, seen_device, first_device);
    cudaMemcpy(seen.data(), seen_device, tiles * sizeof(Seen), cudaMemcpyDeviceToHost);
    cudaMemcpy(first.data(), first_device, (shares + 1) * sizeof(int), cudaMemcpyDeviceToHost);
    expect(cudaDeviceSynchronize() == cudaSuccess, "the kernel failed");
    cudaFree(seen_device);
    cudaFree(first_device);

    expect(first[0] == 0 && first[shares] == tiles, "the shares are not all the tiles");
    for (int s = 0; s < shares; s++) {
        const int size = first[s + 1] - first[s];
        expect(size == tiles / shares || size == tiles / shares + 1, "a share has too many tiles, or too few");
        int places[2] = {0, 0}; // pieces in each place, of items that are cut
        for (int t = first[s]; t < first[s + 1] && t < tiles; t++) {
            const EvenShares::Item &item = expected[t];
            expect(seen[t].share == s, "share_of() is not the share whose tile it is");
            expect(same(seen[t].item, item), "item_of() is another item");
            const bool begins = t == first[s] || t == item.first_tile;
            const bool whole = first[s] <= item.first_tile && item.first_tile + item.tiles <= first[s + 1];
            const bool own = seen[t].place == 2 * s || seen[t].place == 2 * s + 1;
            expect(own, "a piece is in the place of another share");
            if (begins && !whole && own)
                places[seen[t].place - 2 * s]++;
            if (item.first_tile < first[s])
                expect(seen[t].place == 2 * s, "what goes on from the share before is not in the first place");
        }
        expect(places[0] <= 1 && places[1] <= 1, "two pieces are in one place");
    }
}

int main() {
    static const int lengths[][2] = {{1, 1},   {1, 300},  {32, 32},  {33, 65},   {64, 64},   {65, 1},  {70, 10},
                                     {10, 70}, {129, 64}, {64, 129}, {200, 200}, {257, 300}, {300, 7}, {127, 126}};
    static const int sizes[][2] = {{32, 32}, {64, 64}, {128, 64}, {256, 64}, {16, 128}};
    static const int most[] = {1, 2, 3, 7, 132, 264, 924};
    for (const int *n : lengths)
        for (const int *size : sizes)
            for (const int slots : most)
                for (int causal = 0; causal < 2; causal++)
                    for (int heads = 1; heads <= 64; heads *= 4)
                        if (slots > 3 || heads < 16)
                            try_problem(heads, n[0], n[1], causal, size[0], size[1], slots);

    EvenShares work;
    at = "more tiles than an int can count";
    expect(deal_out_to(&work, 1 << 20, 1 << 16, 1 << 16, NO_DIAGONAL, 32, 32, 264) == cudaErrorInvalidConfiguration,
           "is not refused");
    at = "as many tiles as an int can count";
    expect(deal_out_to(&work, INT32_MAX, 1, 1, NO_DIAGONAL, 32, 32, 264) == cudaSuccess && work.tiles == INT32_MAX,
           "is refused");
    printf("%d problems, %d failures\n", problems, failures);
    return failures != 0;
}
