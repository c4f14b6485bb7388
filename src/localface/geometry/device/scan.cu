/* Rows held against many questions at a time, for a GPU: as numpy_scan.py has it.
 *
 * Compiled when it is asked for, with WIDTH columns to a row. A thread keeps one row at a time and
 * holds it against several questions. Sums are added up in an order that no batch changes: by
 * thread, by block, by chunk of rows. Whatever is decided by them leaves room for rounding.
 */
#define THREADS 256
#define TILE 8            /* samples, or questions, that a row is held against while it is at hand */
#define INF __longlong_as_double(0x7ff0000000000000LL)

enum { KERNELS = 0, BALLS = 1, COUNTS = 2 };

__device__ __forceinline__ double sum_of_block(double value, double *shared)
{
    for (int away = 16; away; away >>= 1) value += __shfl_down_sync(0xffffffffu, value, away);
    __syncthreads();
    if ((threadIdx.x & 31) == 0) shared[threadIdx.x >> 5] = value;
    __syncthreads();
    double total = 0.0;
    for (int warp = 0; warp < THREADS / 32; warp++) total += shared[warp];
    return total;
}

/* Sums over a chunk of rows at samples along legs, and the same weighted by the feet of rows.
 * KERNELS: kernels at an offset along the leg. BALLS: kernels of rows that are nearer by the
 * offset. COUNTS: rows within the offset. Rows of the leg's own, of its group, or nearer than
 * sqrt(nearest) are left out. KernelSamples of one leg follow each other. */
#define ARGUMENTS                                                                               \
    const double *columns, long long n_rows, long long chunk_rows, int n_samples,               \
        const int *legs, const double *offsets, const double *starts, const double *directions, \
        const int *own, const int *row_groups, const int *leg_groups, double nearest,           \
        double factor, double *totals, double *tilted

template <int mode> __device__ __forceinline__ void sum_over_chunk(ARGUMENTS)
{
    __shared__ double2 line[TILE][WIDTH]; /* start and direction of each sample's leg */
    __shared__ double partial[THREADS / 32], offset[TILE];
    __shared__ int leg_of[TILE], is_fresh[TILE], own_of[TILE][2];
    int first = blockIdx.x * TILE, n = min(TILE, n_samples - first);
    for (int i = threadIdx.x; i < TILE * WIDTH; i += THREADS) {
        long long leg = legs[first + min(i / WIDTH, n - 1)];
        line[i / WIDTH][i % WIDTH] =
            make_double2(starts[leg * WIDTH + i % WIDTH], directions[leg * WIDTH + i % WIDTH]);
    }
    if (threadIdx.x < TILE) { /* where there are fewer samples, the last stands for the rest */
        int s = threadIdx.x, at = first + min(s, n - 1), leg = legs[at];
        leg_of[s] = leg;
        is_fresh[s] = s == 0 || (s < n && legs[at - 1] != leg);
        own_of[s][0] = own[2 * leg];
        own_of[s][1] = own[2 * leg + 1];
        offset[s] = offsets[at];
    }
    __syncthreads();
    double total[TILE], tilt[TILE], row[WIDTH];
#pragma unroll
    for (int s = 0; s < TILE; s++) total[s] = tilt[s] = 0.0;
    long long from = blockIdx.y * chunk_rows, to = min(from + chunk_rows, n_rows);
    for (long long r = from + threadIdx.x; r < to; r += THREADS) {
#pragma unroll
        for (int j = 0; j < WIDTH; j++) row[j] = columns[j * n_rows + r];
        double foot = 0.0, squared = 0.0;
        int left_out = 0;
#pragma unroll
        for (int s = 0; s < TILE; s++) {
            if (s < n) {
                if (is_fresh[s]) {
                    /* or the compiler keeps all legs in registers, which are not that many */
                    asm volatile("" ::: "memory");
                    foot = squared = 0.0;
#pragma unroll
                    for (int j = 0; j < WIDTH; j++) {
                        double2 at = line[s][j];
                        double away = row[j] - at.x;
                        foot += away * at.y;
                        squared += away * away;
                    }
                    left_out = r == own_of[s][0] || r == own_of[s][1] || squared < nearest ||
                               (row_groups && row_groups[r] == leg_groups[leg_of[s]]);
                }
                double t = offset[s], weight;
                if (mode == KERNELS) {
                    weight = exp(((squared - 2.0 * foot * t) + t * t) * factor);
                } else if (mode == BALLS) {
                    double away = sqrt(squared) - t;
                    away = away > 0.0 ? away : 0.0;
                    weight = exp(away * away * factor);
                } else {
                    weight = squared <= t * t ? 1.0 : 0.0;
                }
                weight = left_out ? 0.0 : weight;
                total[s] += weight;
                tilt[s] += weight * foot;
            }
        }
    }
#pragma unroll
    for (int s = 0; s < TILE; s++) {
        double sum = sum_of_block(total[s], partial), slope = sum_of_block(tilt[s], partial);
        if (threadIdx.x == 0 && s < n) {
            totals[(long long)blockIdx.y * n_samples + first + s] = sum;
            tilted[(long long)blockIdx.y * n_samples + first + s] = slope;
        }
    }
}

#define PASSED_ON                                                                               \
    columns, n_rows, chunk_rows, n_samples, legs, offsets, starts, directions, own, row_groups, \
        leg_groups, nearest, factor, totals, tilted

extern "C" __global__ void __launch_bounds__(THREADS) kernel_sums(ARGUMENTS)
{
    sum_over_chunk<KERNELS>(PASSED_ON);
}

extern "C" __global__ void __launch_bounds__(THREADS) ball_sums(ARGUMENTS)
{
    sum_over_chunk<BALLS>(PASSED_ON);
}

extern "C" __global__ void __launch_bounds__(THREADS) row_counts(ARGUMENTS)
{
    sum_over_chunk<COUNTS>(PASSED_ON);
}

/* Add up the sums of chunks, and (in a second line of blocks) those that are weighted. */
extern "C" __global__ void add_chunks(const double *parts, int n_chunks, int n, double *sums)
{
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i >= n) return;
    double sum = 0.0;
    for (int c = 0; c < n_chunks; c++)
        sum += parts[((long long)blockIdx.y * n_chunks + c) * n + i];
    sums[(long long)blockIdx.y * n + i] = sum;
}

/* What is asked about near rows: limits of rows that are looked at, and, for the states that a
 * person may take over, limits that values are cut short at, and groups of columns that stay as
 * they are where one that decides would be cut. */
typedef struct {
    const double *points, *allowed_lower, *allowed_upper, *lower, *upper, *kept_squares;
    const int *flags;        /* bit 0: rows are limited, bit 1: values are cut short */
    const int *group;        /* of each column, -1 for none */
    const int *decides;      /* whether a column of a group may not be cut */
} Questions;

__device__ __forceinline__ double squared_distance(const Questions &q, int i, const double *row,
                                                   const double *point)
{
    long long at = (long long)i * WIDTH;
    int flags = q.flags[i];
    if (flags & 1) {
        int outside = 0;
#pragma unroll
        for (int j = 0; j < WIDTH; j++)
            outside |= row[j] < q.allowed_lower[at + j] | row[j] > q.allowed_upper[at + j];
        if (outside) return INF;
    }
    double sum = 0.0;
    if (!(flags & 2)) {
#pragma unroll
        for (int j = 0; j < WIDTH; j++) {
            double away = row[j] - point[j];
            sum += away * away;
        }
        return sum;
    }
    unsigned long long cut = 0;
#pragma unroll
    for (int j = 0; j < WIDTH; j++)
        if (q.group[at + j] >= 0 && q.decides[at + j] &&
            (row[j] < q.lower[at + j] || row[j] > q.upper[at + j]))
            cut |= 1ull << q.group[at + j];
#pragma unroll
    for (int j = 0; j < WIDTH; j++) {
        int group = q.group[at + j];
        if (group >= 0 && (cut >> group & 1)) {
            sum += q.kept_squares[at + j];
            continue;
        }
        double value = fmin(fmax(row[j], q.lower[at + j]), q.upper[at + j]) - point[j];
        sum += value * value;
    }
    return sum;
}

/* Squared distances to every `stride`-th row, rounded up. */
extern "C" __global__ void probe(const double *columns, long long n_rows, long long stride,
                                 int n_probes, int n_questions, const Questions *asked,
                                 float *found)
{
    __shared__ double point[TILE][WIDTH];
    Questions q = *asked;
    int first = blockIdx.y * TILE, n = min(TILE, n_questions - first);
    for (int i = threadIdx.x; i < n * WIDTH; i += THREADS)
        point[i / WIDTH][i % WIDTH] = q.points[(long long)first * WIDTH + i];
    __syncthreads();
    int p = blockIdx.x * THREADS + threadIdx.x;
    if (p >= n_probes) return;
    double row[WIDTH];
#pragma unroll
    for (int j = 0; j < WIDTH; j++) row[j] = columns[j * n_rows + p * stride];
    for (int s = 0; s < n; s++)
        found[(long long)(first + s) * n_probes + p] =
            __double2float_ru(squared_distance(q, first + s, row, point[s]));
}

/* The value of a rank among those of each line (from `firsts` on, `counts` of them); infinite
 * where there are not as many. Distances are not negative: their bits are in the same order. */
extern "C" __global__ void select_rank(const float *values, const long long *firsts,
                                       const int *counts, const int *ranks, float *found)
{
    __shared__ int smaller;
    int line = blockIdx.x, n = counts[line], rank = ranks[line];
    const float *mine = values + firsts[line];
    unsigned low = 0, high = 0x7f800000u;
    if (rank > n) {
        if (threadIdx.x == 0) found[line] = __uint_as_float(0x7f800000u);
        return;
    }
    while (low < high) { /* the smallest value that `rank` are at most */
        unsigned middle = low + (high - low) / 2;
        float edge = __uint_as_float(middle);
        if (threadIdx.x == 0) smaller = 0;
        __syncthreads();
        int count = 0;
        for (int i = threadIdx.x; i < n; i += blockDim.x) count += mine[i] <= edge;
        for (int away = 16; away; away >>= 1) count += __shfl_down_sync(0xffffffffu, count, away);
        if ((threadIdx.x & 31) == 0) atomicAdd(&smaller, count);
        __syncthreads();
        int total = smaller;
        __syncthreads();
        if (total >= rank)
            high = middle;
        else
            low = middle + 1;
    }
    if (threadIdx.x == 0) found[line] = __uint_as_float(low);
}

/* All rows within the edge of each question, in no order; counts go on where there is no room. */
extern "C" __global__ void collect(const double *columns, long long n_rows, long long chunk_rows,
                                   int n_questions, const Questions *asked, const float *edges,
                                   const long long *firsts, const int *rooms, int *counts,
                                   int *rows, float *distances)
{
    __shared__ double point[TILE][WIDTH];
    Questions q = *asked;
    int first = blockIdx.x * TILE, n = min(TILE, n_questions - first);
    for (int i = threadIdx.x; i < n * WIDTH; i += THREADS)
        point[i / WIDTH][i % WIDTH] = q.points[(long long)first * WIDTH + i];
    __syncthreads();
    long long from = blockIdx.y * chunk_rows, to = min(from + chunk_rows, n_rows);
    double row[WIDTH];
    for (long long r = from + threadIdx.x; r < to; r += THREADS) {
#pragma unroll
        for (int j = 0; j < WIDTH; j++) row[j] = columns[j * n_rows + r];
        for (int s = 0; s < n; s++) {
            double squared = squared_distance(q, first + s, row, point[s]);
            float rounded = __double2float_ru(squared);
            if (rounded > edges[first + s] || squared == INF) continue;
            int at = atomicAdd(&counts[first + s], 1);
            if (at >= rooms[first + s]) continue;
            rows[firsts[first + s] + at] = (int)r;
            distances[firsts[first + s] + at] = rounded;
        }
    }
}

/* Of the rows collected, those within a tighter edge, to where they belong. */
extern "C" __global__ void pack(const int *rows, const float *distances, const long long *firsts,
                                const int *counts, const float *edges, const long long *places,
                                int *taken, int *packed)
{
    int line = blockIdx.x;
    for (int i = threadIdx.x; i < counts[line]; i += blockDim.x) {
        if (distances[firsts[line] + i] > edges[line]) continue;
        int at = atomicAdd(&taken[line], 1);
        if (packed) packed[places[line] + at] = rows[firsts[line] + i];
    }
}
