/* Whether segments keep to common ground: the joint density of their rows and pairs of features
 * together, in one call. */
#include "kernels.h"

/* What common ground is made of. `pairs` is none where no pair counts, `normaliser` what turns a
 * log-sum of kernels into a log-density. */
typedef struct {
    const Kernels *kernels;
    const RowIndex *index;
    const Pairs *pairs;
    double normaliser;
} Ground;

static const double NO_MEAN[3] = {0.0, 0.0, 0.0}, NO_SPREAD[3] = {1.0, 1.0, 1.0};

/* What is expected of the person at the start of a segment; none where nobody's own counts. */
static const double *expected(const double *all, const double *none, int64_t i)
{
    return all ? all + 3 * i : none;
}

/* Segments, and where those stand who ask about them; none where nobody is known to. */
typedef struct {
    int64_t n;
    const double *starts, *ends, *askers;
    int64_t *rows;     /* two of each segment that do not count, -1 for none */
    uint8_t *left_out; /* what they are, as `lowest_pairs` has it */
} Asked;

/* Find the rows that do not count: those at the ends; where nobody stands there, that of the asker. */
static void find_rows_left_out(const Ground *g, const Asked *q)
{
    int64_t w = g->kernels->width;
    for (int64_t i = 0; i < q->n; i++) {
        int64_t *rows = q->rows + 2 * i;
        rows_at(g->index, 1, q->starts + i * w, rows);
        rows_at(g->index, 1, q->ends + i * w, rows + 1);
        q->left_out[i] = (uint8_t)((rows[0] >= 0) + 2 * (rows[1] >= 0 && rows[0] != rows[1]));
        if (!q->askers || q->left_out[i]) continue;
        rows_at(g->index, 1, q->askers + i * w, rows);
        q->left_out[i] = rows[0] >= 0 ? 4 : 0;
    }
}

/* The lowest that pairs stand for along one segment. Returns 0, or 1 without memory. */
static int pairs_along(const Ground *g, const Asked *q, int64_t i, const double *mean,
                       const double *spread, const double *floor, int only_ends, double *lowest)
{
    int64_t at = i * g->kernels->width;
    *lowest = INFINITY;
    if (!g->pairs) return 0;
    return lowest_pairs(g->pairs, 1, q->starts + at, q->ends + at,
                        q->askers ? q->askers + at : NULL, q->left_out + i, mean + 1, spread + 1,
                        floor, only_ends, lowest);
}

/* The higher of two values, no number where one of them is none, as numpy.maximum has it. */
static double higher_of(double a, double b)
{
    return a >= b || isnan(a) ? a : b;
}

/* Judge steps, the joint density first: what it refuses a step for rules out other steps too. */
static int judge_steps(const Ground *g, const Asked *q, const double *floors, const double *means,
                       const double *spreads, double *joint, int8_t *verdicts, double *lowest,
                       double *holes, double *radii)
{
    int failed = judge_segments(g->kernels, q->n, q->starts, q->ends, q->rows, joint, verdicts,
                                lowest, holes, radii);
    for (int64_t i = 0; i < q->n && !failed; i++) {
        const double *mean = expected(means, NO_MEAN, i), *spread = expected(spreads, NO_SPREAD, i);
        double along;
        lowest[i] = (lowest[i] + g->normaliser - mean[0]) / spread[0];
        if (verdicts[i] != 1) continue;
        failed = pairs_along(g, q, i, mean, spread, floors + i, 0, &along);
        verdicts[i] = along >= floors[i] - FLOOR_TOLERANCE;
        lowest[i] = lower_of(higher_of(lowest[i], floors[i]), along);
    }
    return failed;
}

/* Judge states, pairs first, which are quicker: the joint density is asked about those that are
 * left, many at a time. `points`, `some` and `number` are memory for them. */
static int judge_points(const Ground *g, const Asked *q, const double *floors, const double *means,
                        const double *spreads, double *asked, int8_t *verdicts, double *lowest,
                        double *points, double *bounds, int8_t *some, int64_t *number)
{
    int64_t w = g->kernels->width, left = 0;
    for (int64_t i = 0; i < q->n; i++) {
        const double *mean = expected(means, NO_MEAN, i), *spread = expected(spreads, NO_SPREAD, i);
        if (pairs_along(g, q, i, mean, spread, NULL, 1, lowest + i)) return 1;
        verdicts[i] = lowest[i] >= floors[i] - FLOOR_TOLERANCE;
        if (!verdicts[i]) continue;
        memcpy(points + left * w, q->starts + i * w, w * sizeof(double));
        memmove(q->rows + 2 * left, q->rows + 2 * i, 2 * sizeof(int64_t));
        asked[left] = asked[i];
        number[left++] = i;
    }
    if (judge_states(g->kernels, left, points, q->rows, asked, some, bounds)) return 1;
    for (int64_t p = 0; p < left; p++) {
        int64_t i = number[p];
        const double *mean = expected(means, NO_MEAN, i), *spread = expected(spreads, NO_SPREAD, i);
        double joint = (bounds[p] + g->normaliser - mean[0]) / spread[0];
        if (some[p] == 1) joint = higher_of(joint, floors[i]);
        verdicts[i] = some[p];
        lowest[i] = lower_of(joint, lowest[i]);
    }
    return 0;
}

/* Judge segments against floors: all of them steps, or all of them states. What is expected at
 * the starts is none where nobody's own counts, and so are the askers where nobody is known.
 * Verdicts are 1, 0, or -1 for what is too close to call, whose lowest is no value then; `holes`
 * and `radii` are as judge_segments has them.
 * Returns 0, 1 without memory, or 2 where there are steps and states among them. */
PUBLIC int judge_on_ground(const Ground *g, int64_t n, const double *starts, const double *ends,
                           const double *askers, const double *floors, const double *means,
                           const double *spreads, int8_t *verdicts, double *lowest, double *holes,
                           double *radii)
{
    int64_t w = g->kernels->width, still = 0;
    for (int64_t i = 0; i < n; i++) {
        int64_t j = 0;
        while (j < w && starts[i * w + j] == ends[i * w + j]) j++;
        still += j == w;
    }
    if (still && still < n) return 2;
    double *memory = malloc((size_t)(2 * n + (still ? n * w : 0)) * sizeof(double));
    int64_t *rows = malloc((size_t)(3 * n) * sizeof(int64_t));
    int8_t *some = malloc((size_t)(2 * n));
    int failed = !memory || !rows || !some;
    if (!failed) {
        Asked q = {n, starts, ends, askers, rows, (uint8_t *)some + n};
        find_rows_left_out(g, &q);
        for (int64_t i = 0; i < n; i++)
            memory[i] = (expected(means, NO_MEAN, i)[0] +
                         expected(spreads, NO_SPREAD, i)[0] * floors[i]) - g->normaliser;
        for (int64_t i = 0; i < n; i++) radii[i] = 0.0;
        failed = still ? judge_points(g, &q, floors, means, spreads, memory, verdicts, lowest,
                                      memory + 2 * n, memory + n, some, rows + 2 * n)
                       : judge_steps(g, &q, floors, means, spreads, memory, verdicts, lowest, holes,
                                     radii);
    }
    free(memory);
    free(rows);
    free(some);
    return failed;
}

/* The lowest log-sum of kernels, and the lowest that pairs stand for, along segments.
 * Returns 0, or 1 without memory. */
PUBLIC int lowest_on_ground(const Ground *g, int64_t n, const double *starts, const double *ends,
                            const double *askers, const double *means, const double *spreads,
                            double *log_sums, double *pairs)
{
    int64_t *rows = malloc((size_t)(2 * n) * sizeof(int64_t));
    uint8_t *left_out = malloc((size_t)n);
    int failed = !rows || !left_out;
    if (!failed) {
        Asked q = {n, starts, ends, askers, rows, left_out};
        find_rows_left_out(g, &q);
        failed = lowest_log_sums(g->kernels, n, starts, ends, rows, log_sums);
        for (int64_t i = 0; i < n && !failed; i++)
            failed = pairs_along(g, &q, i, expected(means, NO_MEAN, i),
                                 expected(spreads, NO_SPREAD, i), NULL, 0, pairs + i);
    }
    free(rows);
    free(left_out);
    return failed;
}
