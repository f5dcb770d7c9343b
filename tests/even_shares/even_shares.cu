// Checks EvenShares against plain enumeration: every key tile is in one share, shares differ by at most one tile, and a
// share has at most one partial result at each of its two indices. EvenShares runs on the device, so this needs a GPU
// or the simulator.
#include "attention.h"
#include "even_shares.cuh"

#include <stdio.h>
#include <vector>

struct Answer {
    EvenShares::WorkTile work_tile, found; // by work_tile_at(), by find_work_tile()
    int share;
};

// Grid: one thread per key tile, and one per first tile of a share and for the end of the last share.
__global__ void query_shares(const EvenShares scheduler, Answer *answer /* [tiles] */, int *first /* [shares + 1] */) {
    const int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i <= scheduler.shares)
        first[i] = scheduler.first_tile_of(i);
    if (i < scheduler.tiles) {
        const EvenShares::WorkTile work_tile = scheduler.work_tile_at(i);
        answer[i] = {work_tile, scheduler.find_work_tile(i), scheduler.share_index(i)};
    }
}

static int problems, failures;
static const char *at = "";

static void expect(bool holds, const char *what) {
    if (!holds && failures++ < 20)
        printf("%s: %s\n", at, what);
}

static EvenShares partition(int heads, int nq, int nk, bool causal, int queries, int keys, int max_shares) {
    KernelConfig config = {};
    config.queries = queries;
    config.keys = keys;
    attention_problem problem = {};
    problem.batch = 1;
    problem.heads = heads;
    problem.nq = nq;
    problem.nk = nk;
    problem.causal = causal;
    return make_even_shares(&config, &problem, max_shares);
}

static std::vector<EvenShares::WorkTile> enumerate(int heads, int nq, int nk, bool causal, int queries, int keys) {
    std::vector<EvenShares::WorkTile> work_tile_of;
    for (int head = 0; head < heads; head++)
        for (int query0 = 0; query0 < nq; query0 += queries) {
            const int first = (int)work_tile_of.size();
            int tiles = 0;
            for (int key0 = 0; key0 < nk; key0 += keys) {
                bool attended = !causal;
                for (int i = query0; i < query0 + queries && i < nq; i++)
                    attended |= key0 <= i + nk - nq;
                tiles += attended;
            }
            if (tiles == 0) // zeros have to be written
                tiles = 1;
            work_tile_of.insert(work_tile_of.end(), tiles, {head, query0, first, tiles});
        }
    return work_tile_of;
}

static bool equal(const EvenShares::WorkTile &a, const EvenShares::WorkTile &b) {
    return a.head == b.head && a.query0 == b.query0 && a.first_tile == b.first_tile && a.tiles == b.tiles;
}

static void check_problem(int heads, int nq, int nk, bool causal, int queries, int keys, int max_shares) {
    char name[128];
    snprintf(name, sizeof name,
             "heads %d, nq %d, nk %d%s, work tiles of %d queries, key tiles of %d keys, at most %d shares", heads, nq,
             nk, causal ? " causal" : "", queries, keys, max_shares);
    at = name;
    problems++;

    const std::vector<EvenShares::WorkTile> expected = enumerate(heads, nq, nk, causal, queries, keys);
    const int tiles = (int)expected.size(), shares = tiles < max_shares ? tiles : max_shares;
    const EvenShares scheduler = partition(heads, nq, nk, causal, queries, keys, max_shares);
    expect(scheduler.tiles == tiles, "wrong number of tiles");
    expect(scheduler.shares == shares, "wrong number of shares");
    if (scheduler.tiles != tiles || scheduler.shares != shares)
        return;

    std::vector<Answer> answer(tiles);
    std::vector<int> first(shares + 1);
    Answer *answer_device = NULL;
    int *first_device = NULL;
    cudaMalloc(&answer_device, tiles * sizeof(Answer));
    cudaMalloc(&first_device, (shares + 1) * sizeof(int));
    query_shares<<<tiles / 128 + 1, 128>>>(scheduler, answer_device, first_device);
    cudaMemcpy(answer.data(), answer_device, tiles * sizeof(Answer), cudaMemcpyDeviceToHost);
    cudaMemcpy(first.data(), first_device, (shares + 1) * sizeof(int), cudaMemcpyDeviceToHost);
    expect(cudaDeviceSynchronize() == cudaSuccess, "the kernel failed");
    cudaFree(answer_device);
    cudaFree(first_device);

    expect(first[0] == 0 && first[shares] == tiles, "the shares do not cover all tiles");
    for (int s = 0; s < shares; s++) {
        const int size = first[s + 1] - first[s];
        expect(size == tiles / shares || size == tiles / shares + 1,
               "the size of a share differs by more than one tile");
        int partials[2] = {0, 0}; // number of partial results at each index, of work tiles that are split
        for (int t = first[s]; t < first[s + 1] && t < tiles; t++) {
            const EvenShares::WorkTile &work_tile = expected[t];
            expect(answer[t].share == s, "share_index() returns a share without this tile");
            expect(equal(answer[t].work_tile, work_tile), "work_tile_at() returns another work tile");
            expect(equal(answer[t].found, work_tile), "find_work_tile() returns another work tile");
            const bool enters = t == first[s] || t == work_tile.first_tile;
            const bool whole =
                first[s] <= work_tile.first_tile && work_tile.first_tile + work_tile.tiles <= first[s + 1];
            if (enters && !whole)
                partials[first[s] <= work_tile.first_tile]++;
        }
        expect(partials[0] <= 1 && partials[1] <= 1, "two partial results have one index");
    }
}

int main() {
    static const int lengths[][2] = {{1, 1},   {1, 300},  {32, 32},  {33, 65},   {64, 64},   {65, 1},  {70, 10},
                                     {10, 70}, {129, 64}, {64, 129}, {200, 200}, {257, 300}, {300, 7}, {127, 126}};
    static const int sizes[][2] = {{32, 32}, {64, 64}, {128, 64}, {256, 64}, {16, 128}};
    static const int max_shares[] = {1, 2, 3, 7, 132, 264, 924};
    for (const int *n : lengths)
        for (const int *size : sizes)
            for (const int slots : max_shares)
                for (int causal = 0; causal < 2; causal++)
                    for (int heads = 1; heads <= 64; heads *= 4)
                        if (slots > 3 || heads < 16)
                            check_problem(heads, n[0], n[1], causal, size[0], size[1], slots);

    at = "more tiles than an int can count";
    expect(partition(1 << 20, 1 << 16, 1 << 16, false, 32, 32, 264).shares == 0, "is not refused");
    at = "INT32_MAX tiles";
    const EvenShares scheduler = partition(INT32_MAX, 1, 1, false, 32, 32, 264);
    expect(scheduler.tiles == INT32_MAX && scheduler.shares == 264, "is refused");
    printf("%d problems, %d failures\n", problems, failures);
    return failures != 0;
}
