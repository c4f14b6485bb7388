/* From points to records and back. */
#include "common.h"

/* Lines of as many columns, as `PiecewiseLines` has them. */
typedef struct {
    int64_t n_columns, n_knots;
    const double *knots, *anchors, *heights, *slopes, *tops;
} Lines;

static double apply_line(const Lines *l, int64_t j, double x)
{
    int64_t piece = j * (l->n_knots + 1) + reached(l->knots + j * l->n_knots, l->n_knots, x);
    double y = l->heights[piece] + (x - l->anchors[piece]) * l->slopes[piece];
    return y > l->tops[piece] ? l->tops[piece] : y;
}

#define SLOT_BITS 10 /* values of a column whose result is remembered: 1,024 */
#define FEW_POINTS 32 /* up to which none is */
#define POINTS_AT_ONCE 4096 /* gone through column by column while they are next to the processor */

typedef double (*OfColumn)(const void *functions, int64_t j, double value);

/* Apply the function of one column to some points; many people have the same few values. */
static inline void apply_to_column(OfColumn function, const void *functions, int64_t j, int64_t n,
                                   int64_t m, const double *values, double *found)
{
    uint64_t known[1 << SLOT_BITS];
    double remembered[1 << SLOT_BITS];
    uint8_t used[1 << SLOT_BITS] = {0};
    for (int64_t i = j; i < n * m; i += m) {
        uint64_t bits;
        memcpy(&bits, values + i, sizeof bits);
        uint64_t slot = (bits * 0x9E3779B97F4A7C15u) >> (64 - SLOT_BITS);
        if (!used[slot] || known[slot] != bits) {
            used[slot] = 1;
            known[slot] = bits;
            remembered[slot] = function(functions, j, values[i]);
        }
        found[i] = remembered[slot];
    }
}

/* Apply a function of each column: (points, columns) to the same shape. */
static inline void apply_to_columns(OfColumn function, const void *functions, int64_t n, int64_t m,
                                    const double *values, double *found)
{
    if (n <= FEW_POINTS) {
        for (int64_t i = 0; i < n; i++)
            for (int64_t j = 0; j < m; j++)
                found[i * m + j] = function(functions, j, values[i * m + j]);
        return;
    }
    for (int64_t from = 0; from < n; from += POINTS_AT_ONCE) {
        int64_t some = n - from < POINTS_AT_ONCE ? n - from : POINTS_AT_ONCE;
        for (int64_t j = 0; j < m; j++)
            apply_to_column(function, functions, j, some, m, values + from * m, found + from * m);
    }
}

static double line_of_column(const void *lines, int64_t j, double value)
{
    return apply_line(lines, j, value);
}

PUBLIC void apply_lines(const Lines *lines, int64_t n, const double *values, double *found)
{
    apply_to_columns(line_of_column, lines, n, lines->n_columns, values, found);
}

/* From columns of points to codes: whole ones rounded to what there is, others with few digits
 * where that is the same point. `tens` is the power of ten that digits are rounded with, negative
 * where they are before the point, 0 where a code stays as it is. */
typedef struct {
    const Lines *to_codes, *to_points;
    const uint8_t *whole;
    const double *lower, *upper, *tens;
} Codes;

/* What a code is rounded with that is far larger than its column's codes mostly are: the power of
 * ten that leaves it twelve digits; 0 where its column's own power leaves it no more. */
static double ten_of_large_code(double code, double ten)
{
    static const double tens[] = {1e0, 1e1, 1e2, 1e3, 1e4, 1e5, 1e6, 1e7, 1e8, 1e9, 1e10, 1e11, 1e12};
    int before_point = 0;
    while (before_point < 13 && fabs(code) >= tens[before_point]) before_point++;
    return before_point < 13 && tens[12 - before_point] < ten ? tens[12 - before_point] : 0.0;
}

static double nearest_code(const Codes *c, int64_t j, double value)
{
    double code = apply_line(c->to_codes, j, value), ten = c->tens[j];
    if (c->whole[j]) {
        code = rint(code) + 0.0;
        return code < c->lower[j] ? c->lower[j] : code > c->upper[j] ? c->upper[j] : code;
    }
    if (ten == 0.0) return code;
    double fewer = ten_of_large_code(code, ten);
    if (fewer != 0.0) {
        double short_code = rint(code * fewer) / fewer;
        if (apply_line(c->to_points, j, short_code) == value) return short_code;
    }
    double short_code = ten > 0 ? rint(code * ten) / ten : rint(code / -ten) * -ten;
    return apply_line(c->to_points, j, short_code) == value ? short_code : code;
}

static double code_of_column(const void *codes, int64_t j, double value)
{
    return nearest_code(codes, j, value);
}

PUBLIC void nearest_codes(const Lines *to_codes, const Lines *to_points, const uint8_t *whole,
                          const double *lower, const double *upper, const double *tens, int64_t n,
                          const double *values, double *codes)
{
    Codes c = {to_codes, to_points, whole, lower, upper, tens};
    apply_to_columns(code_of_column, &c, n, to_codes->n_columns, values, codes);
}

/* Take over known values to the last bit: of each feature that of the last source whose columns
 * are those of the point. */
PUBLIC void take_over_values(int64_t n, int64_t width, int64_t n_features, const int64_t *firsts,
                             const double *points, int64_t n_sources, const double *source_points,
                             const double *sources, double *records)
{
    for (int64_t i = 0; i < n; i++)
        for (int64_t j = 0; j < n_features; j++) {
            int64_t first = firsts[j], last = j + 1 < n_features ? firsts[j + 1] : width;
            for (int64_t s = n_sources - 1; s >= 0; s--) {
                const double *point = points + i * width, *source = source_points + s * width;
                int64_t c = first;
                while (c < last && point[c] == source[c]) c++;
                if (c < last) continue;
                records[i * n_features + j] = sources[s * n_features + j];
                break;
            }
        }
}

/* Keep records within limits wherever the first columns of their points lie at the edges. */
PUBLIC void keep_within_limits(int64_t n, int64_t width, int64_t n_features, const int64_t *firsts,
                               const double *points, const double *low, const double *high,
                               const double *lower, const double *upper, double *records)
{
    for (int64_t i = 0; i < n; i++)
        for (int64_t j = 0; j < n_features; j++) {
            double value = points[i * width + firsts[j]], *record = records + i * n_features + j;
            if (value == low[j] && *record < lower[j]) *record = lower[j];
            if (value == high[j] && *record > upper[j]) *record = upper[j];
        }
}
