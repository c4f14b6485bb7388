/* Sums of kernels in single precision: whether they refuse a step or a state is told with a guard,
 * so that products may be fused and sums put in any order here. */
#include "kernels.h"

#if defined(__GNUC__) && !defined(__clang__)
#define FUSED __attribute__((optimize("fp-contract=fast")))
#else
#define FUSED
#endif

#define ROUGH_BLOCK 256 /* rows, so that they stay next to the processor */
#define LANE 16         /* numbers that are worked on at once */
#define LANES 4         /* and times so many rows, whose products stay in registers meanwhile */

typedef float Lane __attribute__((vector_size(LANE * sizeof(float)), aligned(4)));

/* exp for arguments up to 80. */
static inline float rough_exponential(float x)
{
    const float shift = 12582912.0f; /* 1.5 * 2^23 */
    x = x < -87.0f ? -87.0f : x;
    x = x > 80.0f ? 80.0f : x;
    float shifted = x * 1.44269504f + shift;
    float whole = shifted - shift;
    float r = (x - whole * 0.693359375f) + whole * 2.12194440e-4f;
    float p = 1.0f / 720.0f;
    p = p * r + 1.0f / 120.0f;
    p = p * r + 1.0f / 24.0f;
    p = p * r + 1.0f / 6.0f;
    p = p * r + 0.5f;
    p = p * r + 1.0f;
    p = p * r + 1.0f;
    uint32_t bits;
    memcpy(&bits, &shifted, sizeof bits);
    bits = (bits + 127) << 23;
    float scale;
    memcpy(&scale, &bits, sizeof scale);
    return p * scale;
}

/* Products of a block of rows with two places. */
WIDE FUSED static void products_with_two(const float *columns, int64_t stride, int64_t n,
                                         int64_t depth, const float *one, const float *other,
                                         float *restrict with_one, float *restrict with_other)
{
    int64_t i = 0;
    for (; i + LANE * LANES <= n; i += LANE * LANES) {
        Lane a[LANES] = {{0}}, b[LANES] = {{0}};
        for (int64_t j = 0; j < depth; j++) {
            const float *column = columns + j * stride + i;
            for (int l = 0; l < LANES; l++) {
                Lane values = *(const Lane *)(column + l * LANE);
                a[l] += values * one[j];
                b[l] += values * other[j];
            }
        }
        memcpy(with_one + i, a, sizeof a);
        memcpy(with_other + i, b, sizeof b);
    }
    for (int64_t rest = i; rest < n; rest++) with_one[rest] = with_other[rest] = 0.0f;
    for (int64_t j = 0; j < depth; j++)
        for (int64_t rest = i; rest < n; rest++) {
            with_one[rest] += columns[j * stride + rest] * one[j];
            with_other[rest] += columns[j * stride + rest] * other[j];
        }
}

static float squared_length(const float *place, int64_t depth)
{
    float sum = 0.0f;
    for (int64_t j = 0; j < depth; j++) sum += place[j] * place[j];
    return sum;
}

/* Sums of all kernels at places along a leg, as shares of the floor; stops where none is below it
 * any more. */
WIDE void rough_sums(const Kernels *k, const float *start, const float *direction,
                     const int64_t *own, double floor, const double *offsets, int n_places,
                     double *sums)
{
    float factor = (float)(-0.5 / (k->bandwidth * k->bandwidth)), less = (float)-floor;
    float square = squared_length(start, k->depth), foot = 0.0f;
    for (int64_t j = 0; j < k->depth; j++) foot += start[j] * direction[j];
    for (int p = 0; p < n_places; p++) sums[p] = 0.0;
    for (int64_t from = 0; from < k->n_rows; from += ROUGH_BLOCK) {
        int64_t n = k->n_rows - from < ROUGH_BLOCK ? k->n_rows - from : ROUGH_BLOCK;
        const float *squares = k->rough_squares + from;
        float f[ROUGH_BLOCK], q[ROUGH_BLOCK];
        products_with_two(k->rough_columns + from, k->n_rows, n, k->depth, start, direction, q, f);
        for (int64_t i = 0; i < n; i++) {
            q[i] = squares[i] - 2.0f * q[i] + square;
            f[i] = f[i] - foot;
        }
        for (int o = 0; o < 2; o++)
            if (own[o] >= from && own[o] < from + n) {
                q[own[o] - from] = 1e30f;
                f[own[o] - from] = 0.0f;
            }
        int all_above = 1;
        for (int p = 0; p < n_places; p++) {
            float t = (float)offsets[p], sum = 0.0f;
#pragma omp simd reduction(+ : sum)
            for (int64_t i = 0; i < n; i++)
                sum += rough_exponential(((q[i] - 2.0f * f[i] * t) + t * t) * factor + less);
            sums[p] += sum;
            all_above &= sums[p] > 1.0;
        }
        if (all_above) return;
    }
}

/* Sums of all kernels at some places, as shares of their floors; stops where they are above. */
WIDE void rough_sums_at(const Kernels *k, int64_t n_places, const float *places,
                        const int64_t *own, const double *floors, double *sums)
{
    float factor = (float)(-0.5 / (k->bandwidth * k->bandwidth));
    for (int64_t p = 0; p < n_places; p++) sums[p] = 0.0;
    for (int64_t from = 0; from < k->n_rows; from += ROUGH_BLOCK) {
        int64_t n = k->n_rows - from < ROUGH_BLOCK ? k->n_rows - from : ROUGH_BLOCK;
        const float *squares = k->rough_squares + from;
        for (int64_t p = 0; p < n_places; p += 2) {
            int64_t q = p + 1 < n_places ? p + 1 : p;
            float products[2][ROUGH_BLOCK];
            if (sums[p] > 1.0 && sums[q] > 1.0) continue; /* above their floors */
            products_with_two(k->rough_columns + from, k->n_rows, n, k->depth,
                              places + p * k->depth, places + q * k->depth, products[0],
                              products[1]);
            for (int64_t s = p; s <= q; s++) {
                float *product = products[s - p], sum = 0.0f;
                float less = squared_length(places + s * k->depth, k->depth) * factor;
                for (int o = 0; o < 2; o++)
                    if (own[2 * s + o] >= from && own[2 * s + o] < from + n)
                        product[own[2 * s + o] - from] = -1e30f;
                less -= (float)floors[s];
#pragma omp simd reduction(+ : sum)
                for (int64_t i = 0; i < n; i++)
                    sum += rough_exponential((squares[i] - 2.0f * product[i]) * factor + less);
                sums[s] += sum;
            }
        }
    }
}

/* The sum of kernels, as a share of the floor, were all rows nearer by a radius. */
WIDE double rough_sum_within(const float *distances, int64_t n, double radius, double h,
                             double floor)
{
    double total = 0.0;
    float factor = (float)(-0.5 / (h * h)), nearer = (float)radius, less = (float)-floor;
    for (int64_t from = 0; from < n; from += ROUGH_BLOCK) {
        int64_t last = n - from < ROUGH_BLOCK ? n : from + ROUGH_BLOCK;
        float sum = 0.0f;
#pragma omp simd reduction(+ : sum)
        for (int64_t i = from; i < last; i++) {
            float away = distances[i] - nearer;
            away = away > 0.0f ? away : 0.0f;
            sum += rough_exponential(away * away * factor + less);
        }
        total += sum;
        if (total > 1e3) return total; /* beyond any guard */
    }
    return total;
}

/* Distances of all rows from a place; returns the number of the nearest row. */
WIDE int64_t rough_distances(const Kernels *k, const float *place, float *restrict distances)
{
    float square = squared_length(place, k->depth);
    for (int64_t from = 0; from < k->n_rows; from += ROUGH_BLOCK) {
        int64_t n = k->n_rows - from < ROUGH_BLOCK ? k->n_rows - from : ROUGH_BLOCK;
        const float *squares = k->rough_squares + from;
        float products[ROUGH_BLOCK], same[ROUGH_BLOCK], *there = distances + from;
        products_with_two(k->rough_columns + from, k->n_rows, n, k->depth, place, place, products,
                          same);
        for (int64_t i = 0; i < n; i++) {
            float squared = squares[i] - 2.0f * products[i] + square;
            there[i] = sqrtf(squared > 0.0f ? squared : 0.0f);
        }
    }
    float least = INFINITY;
#pragma omp simd reduction(min : least)
    for (int64_t i = 0; i < k->n_rows; i++) least = distances[i] < least ? distances[i] : least;
    for (int64_t i = 0; i < k->n_rows; i++)
        if (distances[i] == least) return i;
    return 0;
}
