/* Which rows are nearest, and which segments touch holes: worked out as NumPy does, to the last
 * bit. */
#include "kernels.h"

#include <float.h>

#define INSIDE (1 - 1e-9) /* share of a hole's radius that a segment must come within to touch it */
#define TOO_SHORT 1e-12   /* squared, beside its distance from a hole: a segment that is rounding */

/* Rows as points, and what is asked: the k nearest to a point within bounds and a radius. */
typedef struct {
    int64_t n_rows, width, k;
    const double *points, *lower, *upper, *point;
    double radius;
} NearQuestion;

typedef struct {
    double distance;
    int64_t row;
} Near;

static int by_distance(const void *a, const void *b)
{
    const Near *x = a, *y = b;
    if (x->distance != y->distance) return x->distance < y->distance ? -1 : 1;
    return (x->row > y->row) - (x->row < y->row);
}

/* The k nearest allowed of the rows whose rough squared distance is at most `edge`, nearest first,
 * ties by row. Returns how many there are, or -1 without memory. */
PUBLIC int64_t nearest_allowed(const NearQuestion *q, const double *rough, double edge,
                               int64_t *rows, double *distances)
{
    int64_t w = q->width, n = 0, found = 0, taken = 0;
    int64_t *some = malloc((size_t)(q->n_rows + 1) * sizeof(int64_t));
    if (!some) return -1;
    double most = edge < DBL_MAX ? edge : DBL_MAX;
    for (int64_t i = 0; i < q->n_rows; i++) { /* written in any case: there is no telling which */
        some[taken] = i;
        taken += rough[i] <= most;
    }
    Near *near = malloc((size_t)(taken + 1) * sizeof(Near));
    double *squares = malloc((size_t)(w + 1) * sizeof(double));
    if (!near || !squares) {
        free(some);
        free(near);
        free(squares);
        return -1;
    }
    for (int64_t s = 0; s < taken; s++) {
        int64_t i = some[s];
        const double *row = q->points + i * w;
        int inside = 1;
        for (int64_t j = 0; j < w; j++) {
            double away = row[j] - q->point[j];
            inside &= row[j] >= q->lower[j] && row[j] <= q->upper[j];
            squares[j] = away * away;
        }
        if (!inside) continue;
        near[n].distance = sqrt(sum_in_pairs(squares, w));
        near[n++].row = i;
    }
    qsort(near, (size_t)n, sizeof(Near), by_distance);
    for (; found < n && found < q->k && near[found].distance <= q->radius; found++) {
        rows[found] = near[found].row;
        distances[found] = near[found].distance;
    }
    free(some);
    free(near);
    free(squares);
    return found;
}

/* Mark the segments that touch any of some holes; all of them are where holes are round.
 * Returns 0, or 1 without memory. */
PUBLIC int touch_holes(int64_t n_holes, int64_t depth, const double *centres, const double *radii,
                       int64_t n, const double *starts, const double *ends, uint8_t *touched)
{
    double *squares = malloc((size_t)(3 * depth + 1) * sizeof(double));
    if (!squares) return 1;
    double *others = squares + depth, *product = others + depth;
    for (int64_t i = 0; i < n; i++) {
        const double *start = starts + i * depth, *end = ends + i * depth;
        for (int64_t h = 0; h < n_holes && !touched[i]; h++) {
            const double *centre = centres + h * depth;
            double inner = radii[h] * INSIDE;
            for (int64_t j = 0; j < depth; j++) {
                double to_start = start[j] - centre[j], to_end = end[j] - centre[j];
                squares[j] = to_start * to_start;
                others[j] = to_end * to_end;
                product[j] = to_end * to_start;
            }
            double at_start = sum_in_pairs(squares, depth), at_end = sum_in_pairs(others, depth);
            double both = sum_in_pairs(product, depth);
            double area = at_start * at_end - both * both;
            double length = at_start + at_end - 2 * both;
            touched[i] = both < at_start && both < at_end && area < inner * inner * length &&
                         length > TOO_SHORT * (at_start + at_end);
        }
    }
    free(squares);
    return 0;
}
