// Other orders of summation, and other arithmetic.
#include "right.cuh"

// ---- One thread per query, sequential sums: the least accurate order -----------------------------------------------

template <bool BACKWARD>
__global__ void thread_per_query(Problem p) {
    const int64_t row = (int64_t)blockIdx.x * blockDim.x + threadIdx.x;
    if (row >= rows_of(p))
        return;
    const Row r = row_of(p, row);
    for (int first = 0; first < r.d; first += 8) { // eight columns at a time; the scores are recomputed for each
        Running<8> s;
        for (int n = 0; n < r.keys; n++) {
            const int key = BACKWARD ? r.keys - 1 - n : n;
            const float score = score_of(r, key), new_maximum = fmaxf(s.maximum, score);
            s.rescale(new_maximum);
            const float weight = s.weight(score, new_maximum);
            s.sum += weight;
            for (int i = 0; i < 8 && first + i < r.d; i++)
                s.o[i] += weight * r.v[key * r.v_stride + first + i];
        }
        for (int i = 0; i < 8 && first + i < r.d; i++)
            r.o[first + i] = r.keys ? s.o[i] / s.sum : 0;
        if (r.lse)
            *r.lse = r.keys ? s.maximum + logf(s.sum) : -INFINITY;
    }
}

template <bool BACKWARD>
static cudaError_t run_thread_per_query(const Problem &p, cudaStream_t stream) {
    constexpr int THREADS = 48; // one and a half warps
    thread_per_query<BACKWARD><<<(unsigned)((rows_of(p) + THREADS - 1) / THREADS), THREADS, 0, stream>>>(p);
    return cudaGetLastError();
}

// ---- One warp per query, in several orders of the keys -------------------------------------------------------------

enum Order { FORWARD, ODD_AFTER_EVEN, FROM_THE_MIDDLE };

__device__ int permuted_key(Order order, int n, int keys) {
    const int even = (keys + 1) / 2;
    if (order == ODD_AFTER_EVEN)
        return n < even ? 2 * n : 2 * (n - even) + 1;
    return order == FROM_THE_MIDDLE ? (n + keys / 2) % keys : n;
}

template <Order ORDER>
__global__ void warp_per_query(Problem p) {
    const Row r = row_of(p, blockIdx.x);
    LaneRunning s;
    for (int n = 0; n < r.keys; n++) {
        const int key = permuted_key(ORDER, n, r.keys);
        add_key(s, r, key, warp_score(r, key));
    }
    finish_row(r, s);
}

template <Order ORDER>
static cudaError_t run_warp_per_query(const Problem &p, cudaStream_t stream) {
    warp_per_query<ORDER><<<(unsigned)rows_of(p), WARP, 0, stream>>>(p);
    return cudaGetLastError();
}

// ---- Double precision, compensated sums ----------------------------------------------------------------------------

__global__ void in_double(Problem p) {
    const Row r = row_of(p, blockIdx.x);
    double maximum = -INFINITY, sum = 0;
    for (int key = 0; key < r.keys; key++) {
        double score = 0;
        for (int c = 0; c < r.d; c++)
            score += (double)r.q[c] * r.k[key * r.k_stride + c];
        maximum = fmax(maximum, score * r.scale);
    }
    for (int c = threadIdx.x; c < r.d; c += blockDim.x) {
        double o = 0;
        sum = 0;
        for (int key = 0; key < r.keys; key++) {
            double score = 0;
            for (int i = 0; i < r.d; i++)
                score += (double)r.q[i] * r.k[key * r.k_stride + i];
            const double weight = exp(score * r.scale - maximum);
            sum += weight;
            o += weight * r.v[key * r.v_stride + c];
        }
        r.o[c] = r.keys ? o / sum : 0;
    }
    if (r.lse && threadIdx.x == 0)
        *r.lse = r.keys ? maximum + log(sum) : -INFINITY;
}

static cudaError_t run_in_double(const Problem &p, cudaStream_t stream) {
    in_double<<<(unsigned)rows_of(p), 64, 0, stream>>>(p);
    return cudaGetLastError();
}

struct Compensated {
    float sum = 0, compensation = 0;
    __device__ void add(float value) {
        const float y = __fsub_rn(value, compensation), t = __fadd_rn(sum, y);
        compensation = isinf(t) ? 0 : __fsub_rn(__fsub_rn(t, sum), y);
        sum = t;
    }
};

__global__ void compensated(Problem p) {
    const Row r = row_of(p, blockIdx.x);
    float maximum = -INFINITY;
    for (int key = 0; key < r.keys; key++)
        maximum = fmaxf(maximum, warp_score(r, key));
    Compensated sum, o[LANE_COLUMNS];
    for (int key = 0; key < r.keys; key++) {
        const float weight = expf(warp_score(r, key) - maximum);
        sum.add(weight);
        for (int i = 0, c = threadIdx.x; c < r.d; i++, c += WARP)
            o[i].add(weight * r.v[key * r.v_stride + c]);
    }
    LaneRunning s;
    s.maximum = maximum;
    s.sum = sum.sum;
    for (int i = 0; i < LANE_COLUMNS; i++)
        s.o[i] = o[i].sum;
    finish_row(r, s);
}

static cudaError_t run_compensated(const Problem &p, cudaStream_t stream) {
    compensated<<<(unsigned)rows_of(p), WARP, 0, stream>>>(p);
    return cudaGetLastError();
}

// ---- Lazy rescaling with a threshold of 4, in base 2 ---------------------------------------------------------------

__global__ void lazy_maximum(Problem p) {
    const float log2_e = 1.44269504f;
    const Row r = row_of(p, blockIdx.x);
    float maximum = -INFINITY, sum = 0, o[LANE_COLUMNS] = {};
    for (int key = 0; key < r.keys; key++) {
        const float score = warp_score(r, key) * log2_e;
        if (score > maximum + 4 || (key == 0 && score == score)) {
            const float factor = exp2f(maximum - (score == -INFINITY ? 0 : score));
            sum *= factor;
            for (int i = 0; i < LANE_COLUMNS; i++)
                o[i] *= factor;
            maximum = score;
        }
        const float weight = exp2f(score - (maximum == -INFINITY ? 0 : maximum));
        sum += weight;
        for (int i = 0, c = threadIdx.x; c < r.d; i++, c += WARP)
            o[i] += weight * r.v[key * r.v_stride + c];
    }
    for (int i = 0, c = threadIdx.x; c < r.d; i++, c += WARP)
        r.o[c] = r.keys ? o[i] / sum : 0;
    if (r.lse && threadIdx.x == 0)
        *r.lse = r.keys ? (maximum + log2f(sum)) / log2_e : -INFINITY;
}

static cudaError_t run_lazy_maximum(const Problem &p, cudaStream_t stream) {
    lazy_maximum<<<(unsigned)rows_of(p), WARP, 0, stream>>>(p);
    return cudaGetLastError();
}

// ---- Pairwise summation by a recursive function --------------------------------------------------------------------

// The sum of the weights and the weighted sum of one column over the keys [first, end).
__device__ __noinline__ float2 pairwise_sum(const Row &r, float maximum, int column, int first, int end) {
    if (end - first == 1) {
        const float weight = expf(score_of(r, first) - maximum);
        return make_float2(weight, weight * r.v[first * r.v_stride + column]);
    }
    const int middle = (first + end) / 2;
    const float2 a = pairwise_sum(r, maximum, column, first, middle), b = pairwise_sum(r, maximum, column, middle, end);
    return make_float2(a.x + b.x, a.y + b.y);
}

__global__ void sum_of_pairs(Problem p) {
    const Row r = row_of(p, blockIdx.x);
    float maximum = -INFINITY;
    for (int key = threadIdx.x; key < r.keys; key += WARP)
        maximum = fmaxf(maximum, score_of(r, key));
    maximum = warp_max(maximum);
    for (int c = threadIdx.x; c < r.d; c += WARP) {
        const float2 sums = r.keys ? pairwise_sum(r, maximum, c, 0, r.keys) : make_float2(1, 0);
        r.o[c] = sums.y / sums.x;
        if (r.lse && c == 0)
            *r.lse = r.keys ? maximum + logf(sums.x) : -INFINITY;
    }
}

static cudaError_t run_sum_of_pairs(const Problem &p, cudaStream_t stream) {
    sum_of_pairs<<<(unsigned)rows_of(p), WARP, 0, stream>>>(p);
    return cudaGetLastError();
}

RIGHT_KERNELS({"thread-a-query", run_thread_per_query<false>}, {"last-key-first", run_thread_per_query<true>},
              {"warp-a-query", run_warp_per_query<FORWARD>}, {"odd-after-even", run_warp_per_query<ODD_AFTER_EVEN>},
              {"from-the-middle", run_warp_per_query<FROM_THE_MIDDLE>}, {"in-double", run_in_double},
              {"compensated", run_compensated}, {"lazy-maximum", run_lazy_maximum}, {"sum-of-pairs", run_sum_of_pairs})
