/* What pairs of features say of the cells that steps pass through, for a GPU: as pairs.c has it.
 *
 * Compiled without fused operations, and in the same order, so that it is the same to the last
 * bit. A block of threads takes a segment, a thread one of its cells at a time.
 */
#define THREADS 64
#define INF __longlong_as_double(0x7ff0000000000000LL)

typedef struct {
    long long width, n_features, n_edges, n_one_hot, n_absences, n_pairs, n_cells;
    const long long *columns;
    const double *edges;
    const long long *one_hot, *absences;
    const unsigned char *discrete;
    const long long *first, *second, *starts, *n_second;
    const double *log_ratios, *weights;
    long long n_values[2];
    const double *values[2], *heights[2];
} Pairs;

/* A cell and the rows left out of its counts. */
typedef struct {
    const short *bins, *without;
    int n_without;
} Cell;

__device__ long long reached(const double *edges, long long n, double value)
{
    long long low = 0, high = n;
    while (low < high) {
        long long middle = (low + high) / 2;
        if (value >= edges[middle])
            low = middle + 1;
        else
            high = middle;
    }
    return low;
}

__device__ double lower_of(double a, double b)
{
    return a <= b || isnan(a) ? a : b;
}

__device__ double value_at(const Pairs *p, const double *start, const double *end, double t,
                           long long j)
{
    if (t < 0.0) return start[j];
    if (t > 1.0) return end[j];
    if (p->discrete[j]) return t < 0.5 ? start[j] : end[j];
    return start[j] + t * (end[j] - start[j]);
}

/* The bins of a place on a segment; before it is its start itself, beyond it its end. */
__device__ void bins_of(const Pairs *p, const double *start, const double *end, double t,
                        short *bins)
{
    for (long long j = 0; j < p->n_features; j++)
        bins[j] = (short)reached(p->edges + j * p->n_edges, p->n_edges,
                                 value_at(p, start, end, t, p->columns[j]));
    for (long long i = 0; i < p->n_one_hot; i++) {
        const long long *one = p->one_hot + 3 * i;
        long long best = one[1];
        double highest = value_at(p, start, end, t, best);
        for (long long c = one[1] + 1; c < one[2]; c++) {
            double value = value_at(p, start, end, t, c);
            if (value > highest) {
                best = c;
                highest = value;
            }
        }
        bins[one[0]] = (short)(best - one[1]);
    }
    for (long long i = 0; i < p->n_absences; i++) {
        const long long *one = p->absences + 3 * i;
        if (value_at(p, start, end, t, one[1]) > 0) bins[one[0]] = (short)one[2];
    }
}

__device__ double ratio_of(const Pairs *p, const Cell *cell, long long i)
{
    long long first = p->first[i], second = p->second[i], left_out = 0;
    for (int r = 0; r < cell->n_without; r++) {
        const short *other = cell->without + r * p->n_features;
        left_out += other[first] == cell->bins[first] && other[second] == cell->bins[second];
    }
    long long at = cell->bins[first] * p->n_second[i] + cell->bins[second] + p->starts[i];
    return p->log_ratios[at + left_out * p->n_cells];
}

__device__ double weighted_ratio(const Pairs *p, const Cell *cell, long long i, double *rarest)
{
    double ratio = ratio_of(p, cell, i);
    *rarest = ratio < *rarest ? ratio : *rarest;
    return ratio * p->weights[i];
}

/* Add up as NumPy does, in pairs of eighths: the same to the last bit. */
__device__ double sum_in_pairs(const Pairs *p, const Cell *cell, long long from, long long n,
                               double *rarest)
{
    if (n < 8) {
        double sum = n ? weighted_ratio(p, cell, from, rarest) : 0.0;
        for (long long i = 1; i < n; i++) sum += weighted_ratio(p, cell, from + i, rarest);
        return sum;
    }
    if (n <= 128) {
        double r[8];
        long long i = 8;
        for (int j = 0; j < 8; j++) r[j] = weighted_ratio(p, cell, from + j, rarest);
        for (; i < n - (n % 8); i += 8)
            for (int j = 0; j < 8; j++) r[j] += weighted_ratio(p, cell, from + i + j, rarest);
        double sum = ((r[0] + r[1]) + (r[2] + r[3])) + ((r[4] + r[5]) + (r[6] + r[7]));
        for (; i < n; i++) sum += weighted_ratio(p, cell, from + i, rarest);
        return sum;
    }
    long long half = n / 2;
    half -= half % 8;
    double left = sum_in_pairs(p, cell, from, half, rarest);
    return left + sum_in_pairs(p, cell, from + half, n - half, rarest);
}

__device__ double stands_for(const double *values, const double *heights, long long n, double x)
{
    if (isnan(x)) return x;
    double below = x - values[0];
    below = below < 0.0 ? below : 0.0;
    if (x < values[0]) return heights[0] + below;
    long long j = reached(values, n, x) - 1;
    if (j == n - 1 || values[j] == x) return heights[j] + below;
    double slope = (heights[j + 1] - heights[j]) / (values[j + 1] - values[j]);
    return (slope * (x - values[j]) + heights[j]) + below;
}

__device__ double value_of_cell(const Pairs *p, const Cell *cell, const double *mean,
                                const double *spread)
{
    double rarest = INF;
    double sum = sum_in_pairs(p, cell, 0, p->n_pairs, &rarest);
    double one = stands_for(p->values[0], p->heights[0], p->n_values[0],
                            (rarest - mean[0]) / spread[0]);
    double two = stands_for(p->values[1], p->heights[1], p->n_values[1],
                            (sum - mean[1]) / spread[1]);
    return lower_of(one, two);
}

/* The lowest that pairs stand for in the cells along segments, or (only_ends) at their ends.
 * `scratch` has room for the crossings of each block, `bins` for the bins of each thread. */
extern "C" __global__ void lowest_pairs(const Pairs *p, int n, const double *starts,
                                        const double *ends, const unsigned char *left_out,
                                        const double *means, const double *spreads, int only_ends,
                                        double *scratch, short *all_bins, double *lowest)
{
    __shared__ int n_places;
    __shared__ double least[THREADS];
    long long w = p->width, f = p->n_features;
    double *places = scratch + (long long)blockIdx.x * (f * p->n_edges + 3);
    short *without = all_bins + (long long)blockIdx.x * (THREADS + 2) * f;
    short *bins = without + (2 + threadIdx.x) * f;
    for (int i = blockIdx.x; i < n; i += gridDim.x) {
        const double *start = starts + i * w, *end = ends + i * w;
        int n_without = (left_out[i] & 1) + (left_out[i] >> 1 & 1);
        __syncthreads();
        if (threadIdx.x == 0) {
            int count = 0, flips = 0;
            if (left_out[i] & 1) bins_of(p, start, end, -1.0, without);
            if (left_out[i] & 2) bins_of(p, start, end, 2.0, without + f * (left_out[i] & 1));
            for (long long j = 0; j < w && !only_ends; j++)
                flips |= p->discrete[j] && start[j] != end[j];
            for (long long j = 0; j < f && !only_ends; j++) {
                long long c = p->columns[j];
                if (p->discrete[c] || start[c] == end[c]) continue;
                const double *edges = p->edges + j * p->n_edges;
                double low = start[c] < end[c] ? start[c] : end[c];
                double high = start[c] < end[c] ? end[c] : start[c];
                for (long long e = reached(edges, p->n_edges, low); e < p->n_edges; e++) {
                    if (!(edges[e] < high)) break;
                    if (edges[e] > low)
                        places[count++] = (edges[e] - start[c]) / (end[c] - start[c]);
                }
            }
            if (flips) places[count++] = 0.5;
            if (count) {
                places[count++] = 0.0;
                places[count++] = 1.0;
            }
            for (int a = 1; a < count; a++) { /* few enough to be put in order one by one */
                double one = places[a];
                int b = a;
                for (; b > 0 && places[b - 1] > one; b--) places[b] = places[b - 1];
                places[b] = one;
            }
            n_places = count;
        }
        __syncthreads();
        double found = INF;
        for (int c = threadIdx.x; c < 2 + (n_places ? n_places - 1 : 0); c += THREADS) {
            double t = c == 0 ? -1.0 : 2.0;
            if (c > 1) {
                double part = places[c - 1] - places[c - 2];
                if (!(part > 1e-12)) continue;
                t = places[c - 2] + part / 2;
            }
            bins_of(p, start, end, t, bins);
            Cell cell = {bins, without, n_without};
            found = lower_of(found, value_of_cell(p, &cell, means + 2 * i, spreads + 2 * i));
        }
        least[threadIdx.x] = found;
        __syncthreads();
        if (threadIdx.x == 0) {
            for (int t = 1; t < THREADS; t++) found = lower_of(found, least[t]);
            lowest[i] = found;
        }
    }
}
