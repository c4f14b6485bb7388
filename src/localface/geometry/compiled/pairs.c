/* What pairs of features say of the cells that steps pass through. */
#include "kernels.h"

/* The tables of pairs of features, and what they stand for on the scale of the joint density. */
struct Pairs {
    int64_t width, n_features, n_edges, n_one_hot, n_absences, n_pairs, n_cells;
    const int64_t *columns;           /* of points, one a feature */
    const double *edges;              /* features x edges, padded with no number */
    const int64_t *one_hot;           /* feature, first column, the column after the last */
    const int64_t *absences;          /* feature, column, bin */
    const uint8_t *discrete;          /* columns of points that flip half way */
    const int64_t *first, *second;    /* features of each pair */
    const int64_t *starts, *n_second; /* where its table begins, and the width of it */
    const double *log_ratios;         /* (3, cells): with all rows, without one, without two */
    const double *weights;
    int64_t n_values[2];
    const double *values[2], *heights[2]; /* of the rarest pair and of the weighted pairs */
};

static void bins_of(const Pairs *p, const double *point, int64_t *bins)
{
    for (int64_t j = 0; j < p->n_features; j++)
        bins[j] = reached(p->edges + j * p->n_edges, p->n_edges, point[p->columns[j]]);
    for (int64_t i = 0; i < p->n_one_hot; i++) {
        const int64_t *one = p->one_hot + 3 * i;
        int64_t best = one[1];
        for (int64_t c = one[1] + 1; c < one[2]; c++)
            if (point[c] > point[best]) best = c;
        bins[one[0]] = best - one[1];
    }
    for (int64_t i = 0; i < p->n_absences; i++) {
        const int64_t *one = p->absences + 3 * i;
        if (point[one[1]] > 0) bins[one[0]] = one[2];
    }
}

/* A straight line between the values around it, as numpy.interp has it, and downwards below. */
static double stands_for(const double *values, const double *heights, int64_t n, double x)
{
    if (isnan(x)) return x;
    double below = x - values[0];
    below = below < 0.0 ? below : 0.0;
    if (x < values[0]) return heights[0] + below;
    int64_t j = reached(values, n, x) - 1;
    if (j == n - 1 || values[j] == x) return heights[j] + below;
    double slope = (heights[j + 1] - heights[j]) / (values[j + 1] - values[j]);
    return (slope * (x - values[j]) + heights[j]) + below;
}

/* What the pairs of one cell stand for; `without` are the bins of rows that are left out. */
static double value_of_cell(const Pairs *p, const int64_t *bins, const int64_t *without,
                            int n_without, const double *mean, const double *spread,
                            double *weighted)
{
    double rarest = INFINITY;
    for (int64_t i = 0; i < p->n_pairs; i++) {
        int64_t first = p->first[i], second = p->second[i], left_out = 0;
        for (int r = 0; r < n_without; r++) {
            const int64_t *other = without + r * p->n_features;
            left_out += other[first] == bins[first] && other[second] == bins[second];
        }
        int64_t cell = bins[first] * p->n_second[i] + bins[second] + p->starts[i];
        double ratio = p->log_ratios[cell + left_out * p->n_cells];
        rarest = ratio < rarest ? ratio : rarest;
        weighted[i] = ratio * p->weights[i];
    }
    double sum = sum_in_pairs(weighted, p->n_pairs);
    double one = stands_for(p->values[0], p->heights[0], p->n_values[0],
                            (rarest - mean[0]) / spread[0]);
    double two = stands_for(p->values[1], p->heights[1], p->n_values[1],
                            (sum - mean[1]) / spread[1]);
    return lower_of(one, two);
}

static int by_size(const void *a, const void *b)
{
    double x = *(const double *)a, y = *(const double *)b;
    return (x > y) - (x < y);
}

/* The lowest that pairs stand for in the cells along segments, or (only_ends) at their ends.
 * With floors, what is lower than its floor is not followed to the lowest.
 * `left_out` says which rows are left out, two at most: bit 0 that at the start, bit 1 that at the
 * end, bit 2 that of the asker, who is at `askers`. Returns 0, or 1 without memory. */
PUBLIC int lowest_pairs(const Pairs *p, int64_t n, const double *starts, const double *ends,
                        const double *askers, const uint8_t *left_out, const double *means,
                        const double *spreads, const double *floors, int only_ends, double *lowest)
{
    int64_t w = p->width, f = p->n_features;
    double *weighted = malloc((size_t)(p->n_pairs + f * p->n_edges + 3 + w) * sizeof(double));
    int64_t *bins = malloc((size_t)(5 * f) * sizeof(int64_t));
    if (!weighted || !bins) {
        free(weighted);
        free(bins);
        return 1;
    }
    double *places = weighted + p->n_pairs, *point = places + f * p->n_edges + 3;
    int64_t *at_start = bins, *at_end = bins + f, *without = bins + 2 * f, *passed = bins + 4 * f;
    for (int64_t i = 0; i < n; i++) {
        const double *start = starts + i * w, *end = ends + i * w;
        const double *mean = means + 2 * i, *spread = spreads + 2 * i;
        double floor = floors ? floors[i] - FLOOR_TOLERANCE : -INFINITY;
        int n_without = 0;
        bins_of(p, start, at_start);
        bins_of(p, end, at_end);
        if (left_out[i] & 1) memcpy(without + f * n_without++, at_start, f * sizeof(int64_t));
        if (left_out[i] & 2) memcpy(without + f * n_without++, at_end, f * sizeof(int64_t));
        if (left_out[i] & 4) bins_of(p, askers + i * w, without + f * n_without++);
        double least = value_of_cell(p, at_start, without, n_without, mean, spread, weighted);
        if (least >= floor) {
            double other = value_of_cell(p, at_end, without, n_without, mean, spread, weighted);
            least = lower_of(least, other);
        }
        int64_t n_places = 0;
        int flips = 0;
        for (int64_t j = 0; j < w && !only_ends; j++)
            flips |= p->discrete[j] && start[j] != end[j];
        for (int64_t j = 0; j < f && !only_ends; j++) {
            int64_t c = p->columns[j];
            if (p->discrete[c] || start[c] == end[c]) continue;
            const double *edges = p->edges + j * p->n_edges;
            double low = start[c] < end[c] ? start[c] : end[c];
            double high = start[c] < end[c] ? end[c] : start[c];
            for (int64_t e = reached(edges, p->n_edges, low); e < p->n_edges; e++) {
                if (!(edges[e] < high)) break;
                if (edges[e] > low) places[n_places++] = (edges[e] - start[c]) / (end[c] - start[c]);
            }
        }
        if (flips) places[n_places++] = 0.5;
        if (n_places) {
            places[n_places++] = 0.0;
            places[n_places++] = 1.0;
            qsort(places, n_places, sizeof(double), by_size);
        }
        for (int64_t c = 0; c + 1 < n_places && least >= floor; c++) {
            double part = places[c + 1] - places[c];
            if (!(part > 1e-12)) continue;
            double t = places[c] + part / 2;
            for (int64_t j = 0; j < w; j++)
                point[j] = p->discrete[j] ? (t < 0.5 ? start[j] : end[j])
                                          : start[j] + t * (end[j] - start[j]);
            bins_of(p, point, passed);
            double found = value_of_cell(p, passed, without, n_without, mean, spread, weighted);
            least = lower_of(least, found);
        }
        lowest[i] = least;
    }
    free(weighted);
    free(bins);
    return 0;
}
