/* Sums of kernels in single precision: whether they refuse a step or a state is told with a guard,
 * so that products may be fused and sums put in any order here. */
#include "kernels.h"

#if defined(__GNUC__) && !defined(__clang__)
#pragma GCC optimize("fp-contract=fast")
#endif

#define ROUGH_BLOCK 256 /* rows, so that they stay next to the processor */
#define PLACES 4        /* whose products with the same rows are worked out at once */
#define FAINT 16.0      /* nats below the floor at which all rows together count for next to nothing */

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

/* Products of a block of rows with some places: `lane` numbers at once, twice, stay in registers
 * for each of four places. */
#define DEFINE_PRODUCTS(name, attribute, lane)                                                    \
    typedef float Lane_##name __attribute__((vector_size(lane * sizeof(float)), aligned(4)));     \
    attribute static void name(const float *columns, int64_t stride, int64_t n,                   \
                               const Columns *used, const float *const *places, float (*restrict products)[ROUGH_BLOCK]) \
    {                                                                                             \
        int64_t i = 0;                                                                            \
        for (; i + 2 * lane <= n; i += 2 * lane) {                                                \
            Lane_##name a[PLACES] = {0}, b[PLACES] = {0};                                         \
            for (int64_t u = 0; u < used->n; u++) {                                               \
                int64_t j = used->list[u];                                                        \
                const Lane_##name *values = (const Lane_##name *)(columns + j * stride + i);      \
                for (int p = 0; p < PLACES; p++) {                                                \
                    a[p] += values[0] * places[p][j];                                             \
                    b[p] += values[1] * places[p][j];                                             \
                }                                                                                 \
            }                                                                                     \
            for (int p = 0; p < PLACES; p++) {                                                    \
                memcpy(products[p] + i, &a[p], sizeof a[p]);                                      \
                memcpy(products[p] + i + lane, &b[p], sizeof b[p]);                               \
            }                                                                                     \
        }                                                                                         \
        for (int p = 0; p < PLACES; p++)                                                          \
            for (int64_t rest = i; rest < n; rest++) {                                            \
                float sum = 0.0f;                                                                 \
                for (int64_t u = 0; u < used->n; u++)                                             \
                    sum += columns[used->list[u] * stride + rest] * places[p][used->list[u]];     \
                products[p][rest] = sum;                                                          \
            }                                                                                     \
    }

DEFINE_PRODUCTS(products_by_four, , 4)
#ifdef CHOOSES_WIDTH
DEFINE_PRODUCTS(products_by_eight, __attribute__((target("avx2,fma"))), 8)
DEFINE_PRODUCTS(products_by_sixteen, __attribute__((target("avx512f"))), 16)
#endif

static void products_with(const float *columns, int64_t stride, int64_t n, const Columns *used,
                          const float *const *places, float (*restrict products)[ROUGH_BLOCK])
{
#ifdef CHOOSES_WIDTH
    if (__builtin_cpu_supports("avx512f")) {
        products_by_sixteen(columns, stride, n, used, places, products);
        return;
    }
    if (__builtin_cpu_supports("avx2") && __builtin_cpu_supports("fma")) {
        products_by_eight(columns, stride, n, used, places, products);
        return;
    }
#endif
    products_by_four(columns, stride, n, used, places, products);
}

static float squared_length(const float *place, int64_t depth)
{
    float sum = 0.0f;
#pragma omp simd reduction(+ : sum)
    for (int64_t j = 0; j < depth; j++) sum += place[j] * place[j];
    return sum;
}

/* The sum of exp over a block. Where all of it stays far below the floor, which is most often so,
 * the largest stands for each: more than the truth, and next to nothing. */
WIDE static double sum_of_exponentials(const float *restrict logs, int64_t n, double faint)
{
    float top = -INFINITY, sum = 0.0f;
#pragma omp simd reduction(max : top)
    for (int64_t i = 0; i < n; i++) top = logs[i] > top ? logs[i] : top;
    if (top < faint) return (double)n * rough_exponential(top);
#pragma omp simd reduction(+ : sum)
    for (int64_t i = 0; i < n; i++) sum += rough_exponential(logs[i]);
    return sum;
}

/* The logarithm, as a share of the floor, below which kernels of so many rows are faint. */
static double faint_log(const Kernels *k)
{
    return -FAINT - log((double)k->n_rows);
}

/* Sums of all kernels at places along a leg, as shares of the floor; stops where none is below it
 * any more. */
WIDE void rough_sums(const Kernels *k, const Columns *used, const float *start,
                     const float *direction, const int64_t *own, double floor,
                     const double *offsets, int n_places, double *sums)
{
    float factor = (float)(-0.5 / (k->bandwidth * k->bandwidth)), less = (float)-floor;
    float square = squared_length(start, k->depth), foot = 0.0f;
    const float *both[PLACES] = {start, direction, start, direction};
    double faint = faint_log(k);
    for (int64_t j = 0; j < k->depth; j++) foot += start[j] * direction[j];
    for (int p = 0; p < n_places; p++) sums[p] = 0.0;
    for (int64_t from = 0; from < k->n_rows; from += ROUGH_BLOCK) {
        int64_t n = k->n_rows - from < ROUGH_BLOCK ? k->n_rows - from : ROUGH_BLOCK;
        const float *squares = k->rough_squares + from;
        float products[PLACES][ROUGH_BLOCK], logs[ROUGH_BLOCK], *q = products[0], *f = products[1];
        products_with(k->rough_columns + from, k->n_rows, n, used, both, products);
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
            float t = (float)offsets[p];
            for (int64_t i = 0; i < n; i++)
                logs[i] = ((q[i] - 2.0f * f[i] * t) + t * t) * factor + less;
            sums[p] += sum_of_exponentials(logs, n, faint);
            all_above &= sums[p] > 1.0;
        }
        if (all_above) return;
    }
}

/* Logarithms of the kernels of a block of rows at a place, as shares of a floor, given products. */
WIDE static void log_kernels(const Kernels *k, const float *place, double floor, int64_t from,
                             int64_t n, const int64_t *own, const float *restrict products,
                             float *restrict logs)
{
    const float *squares = k->rough_squares + from;
    float factor = (float)(-0.5 / (k->bandwidth * k->bandwidth));
    float less = squared_length(place, k->depth) * factor - (float)floor;
    for (int64_t i = 0; i < n; i++) logs[i] = (squares[i] - 2.0f * products[i]) * factor + less;
    for (int o = 0; o < 2; o++)
        if (own[o] >= from && own[o] < from + n) logs[own[o] - from] = -1e30f;
}

/* Sums of all kernels at some places, as shares of their floors; stops where they are enough. */
void rough_sums_at(const Kernels *k, const Columns *used, int64_t n_places, const float *places,
                   const int64_t *own, const double *floors, const double *enough, double *sums)
{
    double faint = faint_log(k);
    for (int64_t p = 0; p < n_places; p++) sums[p] = 0.0;
    for (int64_t from = 0; from < k->n_rows; from += ROUGH_BLOCK) {
        int64_t n = k->n_rows - from < ROUGH_BLOCK ? k->n_rows - from : ROUGH_BLOCK;
        for (int64_t p = 0; p < n_places;) {
            const float *some[PLACES];
            int64_t number[PLACES];
            int n_some = 0;
            float products[PLACES][ROUGH_BLOCK], logs[ROUGH_BLOCK];
            for (; p < n_places && n_some < PLACES; p++) {
                if (sums[p] > enough[p]) continue;
                some[n_some] = places + p * k->depth;
                number[n_some++] = p;
            }
            if (!n_some) break;
            for (int rest = n_some; rest < PLACES; rest++) some[rest] = some[0];
            products_with(k->rough_columns + from, k->n_rows, n, used, some, products);
            for (int one = 0; one < n_some; one++) {
                int64_t s = number[one];
                log_kernels(k, some[one], floors[s], from, n, own + 2 * s, products[one], logs);
                sums[s] += sum_of_exponentials(logs, n, faint);
            }
        }
    }
}

/* Squared distances of the centres of regions from some places, beside those lengths of the places
 * that are the same for all regions: (places, regions). */
void rough_region_distances(const Kernels *k, const Columns *used, int64_t n_places,
                            const float *places, float *distances)
{
    float products[PLACES][ROUGH_BLOCK];
    for (int64_t p = 0; p < n_places; p += PLACES) {
        const float *some[PLACES];
        for (int64_t one = 0; one < PLACES; one++)
            some[one] = places + (p + one < n_places ? p + one : p) * k->depth;
        for (int64_t from = 0; from < k->n_regions; from += ROUGH_BLOCK) {
            int64_t n = k->n_regions - from < ROUGH_BLOCK ? k->n_regions - from : ROUGH_BLOCK;
            const float *squares = k->rough_centre_squares + from;
            products_with(k->rough_centres + from, k->n_regions, n, used, some, products);
            for (int64_t one = 0; one < PLACES && p + one < n_places; one++)
                for (int64_t i = 0; i < n; i++)
                    distances[(p + one) * k->n_regions + from + i] =
                        squares[i] - 2.0f * products[one][i];
        }
    }
}

/* The sum of the kernels of about so many rows near a place, as a share of a floor; stops where it
 * is enough. Regions that were looked at are at an infinite distance afterwards. */
double rough_sum_near(const Kernels *k, const Columns *used, const float *place,
                      const int64_t *own, double floor, double enough, int64_t n_rows,
                      float *distances)
{
    const float *some[PLACES] = {place, place, place, place};
    double total = 0.0, faint = faint_log(k);
    for (int64_t taken = 0; taken < n_rows && total <= enough;) {
        int64_t best = -1;
        float nearest = INFINITY;
        for (int64_t r = 0; r < k->n_regions; r++)
            if (distances[r] < nearest) {
                nearest = distances[r];
                best = r;
            }
        if (best < 0) return total;
        distances[best] = INFINITY;
        for (int64_t from = k->firsts[best]; from < k->firsts[best + 1]; from += ROUGH_BLOCK) {
            int64_t n = k->firsts[best + 1] - from;
            float products[PLACES][ROUGH_BLOCK], logs[ROUGH_BLOCK];
            n = n < ROUGH_BLOCK ? n : ROUGH_BLOCK;
            products_with(k->rough_columns + from, k->n_rows, n, used, some, products);
            log_kernels(k, place, floor, from, n, own, products[0], logs);
            total += sum_of_exponentials(logs, n, faint);
            taken += n;
        }
    }
    return total;
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
WIDE int64_t rough_distances(const Kernels *k, const Columns *used, const float *place,
                             float *restrict distances)
{
    float square = squared_length(place, k->depth);
    const float *four[PLACES] = {place, place, place, place};
    for (int64_t from = 0; from < k->n_rows; from += ROUGH_BLOCK) {
        int64_t n = k->n_rows - from < ROUGH_BLOCK ? k->n_rows - from : ROUGH_BLOCK;
        const float *squares = k->rough_squares + from;
        float products[PLACES][ROUGH_BLOCK], *there = distances + from;
        products_with(k->rough_columns + from, k->n_rows, n, used, four, products);
        for (int64_t i = 0; i < n; i++) {
            float squared = squares[i] - 2.0f * products[0][i] + square;
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
