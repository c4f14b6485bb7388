/* Whether steps stay on common ground: kernel sums along straight legs. */
#include "kernels.h"

#define EPSILON 2.220446049250313e-16
#define ROUGH_EPSILON 5.960464477539063e-08
#define SPACING 2.5       /* bandwidths between the first samples of a leg */
#define MOST_FIRST 256    /* samples to begin with, at most */
#define MOST_SAMPLES 1024 /* after which the referee decides */
#define FEW_ROWS 1024     /* rows up to which looking at all of them is quicker than choosing */
#define NEAR_ROWS 192     /* rows summed at first: near ones, which nearly always do to accept */
#define TIGHT 1e-10       /* nats within which a minimum is worked out where its value is asked for */
#define MANY_SAMPLES 131072 /* for that: where the ground is flat for long, then less will do */
#define SHARP 1e-8        /* nats that the slope gains within a bracket, where it turns sharply */
#define BRACKET 1e-5      /* half the width, in bandwidths, of what is sampled around a minimum */
#define NARROW 0.05       /* bandwidths within which a minimum that is no valley is bracketed */
#define NEGLIGIBLE 30.0   /* nats below the floor at which all rows left out stay together */
#define SHALLOW 0.5       /* nats: what is refused by less lies next to dense regions: no hole */
#define SMALLEST_HOLE 0.25
#define HALVINGS 5

enum { REFUSED = 0, PASSED = 1, UNDECIDED = -1 };

typedef struct {
    double *foot, *squared; /* of rows, as measured along a leg */
    double *start, *tilt;   /* log-kernels along the leg: start + tilt s - s^2 / 2h^2 */
    double *region_foot, *region_squared;
    float *rough_start, *rough_direction; /* of the leg, in single precision */
    int64_t n;
    Columns used; /* what the leg is not zero in */
} Measured;

typedef double Lane __attribute__((vector_size(4 * sizeof(double)), aligned(8)));
#define LANES 4 /* times four rows, whose sums stay in registers meanwhile */

/* Whether some places are all zero in a column. */
static int are_zero(const double *places, int64_t n, int64_t depth, int64_t column)
{
    for (int64_t i = 0; i < n; i++)
        if (places[i * depth + column] != 0.0) return 0;
    return 1;
}

/* Which columns are looked at from some places, or along a line through them. */
static void choose_columns(const Kernels *k, int64_t n, const double *places,
                           const double *direction, Columns *used)
{
    used->n = 0;
    for (int64_t j = 0; j < k->depth; j++)
        if (!k->sparse || !k->sparse[j]) used->list[used->n++] = j;
    used->n_dense = used->n;
    for (int64_t j = 0; k->sparse && j < k->depth; j++)
        if (k->sparse[j] &&
            (!are_zero(places, n, k->depth, j) || (direction && direction[j] != 0.0)))
            used->list[used->n++] = j;
}

/* Rows, or centres of regions: column by column, and what sparse columns add to their squares. */
typedef struct {
    const double *columns, *sparse_squares;
    int64_t n;
} Places;

static Places rows_of(const Kernels *k)
{
    return (Places){k->columns, k->sparse ? k->sparse_squares : NULL, k->n_rows};
}

static Places centres_of(const Kernels *k)
{
    return (Places){k->centres, k->sparse ? k->centre_sparse_squares : NULL, k->n_regions};
}

/* Measure places first to last against a line through start. A sparse column that is not looked
 * at adds the square of what is in it, as it does to a squared length. */
WIDE static void measure(const Places *all, const Columns *used, int64_t first, int64_t last,
                         const double *start, const double *direction, double *restrict foot,
                         double *restrict squared)
{
    int64_t i = first;
    for (; i + 4 * LANES <= last; i += 4 * LANES) {
        Lane f[LANES], q[LANES];
        for (int l = 0; l < LANES; l++) f[l] = q[l] = (Lane){0.0, 0.0, 0.0, 0.0};
        if (all->sparse_squares) memcpy(q, all->sparse_squares + i, sizeof q);
        for (int64_t u = 0; u < used->n_dense; u++) {
            int64_t j = used->list[u];
            const Lane *values = (const Lane *)(all->columns + j * all->n + i);
            for (int l = 0; l < LANES; l++) {
                Lane away = values[l] - start[j];
                f[l] += away * direction[j];
                q[l] += away * away;
            }
        }
        for (int64_t u = used->n_dense; u < used->n; u++) {
            int64_t j = used->list[u];
            const Lane *values = (const Lane *)(all->columns + j * all->n + i);
            for (int l = 0; l < LANES; l++) {
                f[l] += (values[l] - start[j]) * direction[j];
                q[l] += (start[j] - 2.0 * values[l]) * start[j];
            }
        }
        memcpy(foot + (i - first), f, sizeof f);
        memcpy(squared + (i - first), q, sizeof q);
    }
    for (; i < last; i++) {
        double f = 0.0, q = all->sparse_squares ? all->sparse_squares[i] : 0.0;
        for (int64_t u = 0; u < used->n; u++) {
            int64_t j = used->list[u];
            double value = all->columns[j * all->n + i], away = value - start[j];
            f += away * direction[j];
            q += u < used->n_dense ? away * away : (start[j] - 2.0 * value) * start[j];
        }
        foot[i - first] = f;
        squared[i - first] = q;
    }
}

/* The log-sum of kernels at an offset along a leg, and its slope. */
WIDE static double log_sum_at(const Measured *m, double offset, double h, double *slope)
{
    const double *restrict start = m->start, *restrict tilt = m->tilt;
    int64_t n = m->n;
    double top = -INFINITY, total = 0.0, tilted = 0.0;
    if (n == 0) {
        *slope = 0.0;
        return -INFINITY;
    }
#pragma omp simd reduction(max : top)
    for (int64_t i = 0; i < n; i++) {
        double x = start[i] + tilt[i] * offset;
        top = x > top ? x : top;
    }
#pragma omp simd reduction(+ : total, tilted)
    for (int64_t i = 0; i < n; i++) {
        double weight = exponential(start[i] + tilt[i] * offset - top);
        total += weight;
        tilted += weight * tilt[i];
    }
    *slope = tilted / total - offset / (h * h);
    return log(total) + top - offset * offset / (2 * h * h);
}

typedef struct {
    double offset, log_sum, slope, spread;
} Sample;

/* The same with the variance of the tilts, each by the weight of its kernel there: by so much the
 * log-sum bends upwards from where log p(s) + s^2/2h^2 is straight. */
WIDE static void sample_at(const Measured *m, double offset, double h, Sample *sample)
{
    const double *restrict start = m->start, *restrict tilt = m->tilt;
    double top = -INFINITY, total = 0.0, tilted = 0.0, squared = 0.0;
    Sample none = {offset, -INFINITY, 0.0, 0.0};
    *sample = none;
    if (m->n == 0) return;
#pragma omp simd reduction(max : top)
    for (int64_t i = 0; i < m->n; i++) {
        double x = start[i] + tilt[i] * offset;
        top = x > top ? x : top;
    }
#pragma omp simd reduction(+ : total, tilted, squared)
    for (int64_t i = 0; i < m->n; i++) {
        double weight = exponential(start[i] + tilt[i] * offset - top);
        total += weight;
        tilted += weight * tilt[i];
        squared += weight * tilt[i] * tilt[i];
    }
    double mean = tilted / total;
    sample->slope = mean - offset / (h * h);
    sample->log_sum = log(total) + top - offset * offset / (2 * h * h);
    sample->spread = squared / total - mean * mean;
}

/* How far tilts lie apart. */
WIDE static double range_of_tilts(const Measured *m)
{
    const double *restrict tilt = m->tilt;
    double low = INFINITY, high = -INFINITY;
#pragma omp simd reduction(min : low) reduction(max : high)
    for (int64_t i = 0; i < m->n; i++) {
        low = tilt[i] < low ? tilt[i] : low;
        high = tilt[i] > high ? tilt[i] : high;
    }
    return high - low;
}

/* Bound the log-sum between two samples, given half of what it bends downwards at most. */
static double bound_with_bend(const Sample *a, const Sample *b, double bend, double *crossing)
{
    double width = b->offset - a->offset;
    double slant = a->slope - b->slope - 2 * width * bend;
    double into = (b->log_sum - a->log_sum - b->slope * width - bend * width * width) / slant;
    if (!isfinite(into)) into = width / 2;
    into = into < 0.0 ? 0.0 : into > width ? width : into;
    double back = width - into;
    double left = a->log_sum + a->slope * into - bend * into * into;
    double right = b->log_sum - b->slope * back - bend * back * back;
    double bound = left > right ? left : right;
    double ends = a->log_sum < b->log_sum ? a->log_sum : b->log_sum;
    *crossing = a->offset + into;
    return bound < ends ? bound : ends;
}

/* Bound the log-sum between two samples: log p(s) + s^2/2h^2 is convex along any line. */
static double bound_between(const Sample *a, const Sample *b, double h, double *crossing)
{
    return bound_with_bend(a, b, 1 / (2 * h * h), crossing);
}

/* Half of what the log-sum bends downwards at most between two samples whose spreads are known.
 * The spread changes by no more than its own size times the range of the tilts. */
static double bend_between(const Sample *a, const Sample *b, double h, double range)
{
    double kept = sqrt(a->spread * b->spread) * exp(-range * (b->offset - a->offset) / 2);
    double bend = (1 / (h * h) - (kept > 0.0 ? (1 - 1e-6) * kept : 0.0)) / 2;
    return bend > 0.0 ? bend : 0.0;
}

/* Into how many parts a leg is divided to begin with. */
static int64_t first_parts(double length, double h)
{
    double parts = ceil(length / (SPACING * h));
    if (!(length > 0)) return 0;
    return (int64_t)(parts < 1 ? 1 : parts > MOST_FIRST ? MOST_FIRST : parts);
}

/* Where a cubic through two samples is lowest; or (several) just before, at, and just after it.
 * Returns how many offsets there are. */
static int around_minimum(const Sample *a, const Sample *b, double h, int several, double *offsets)
{
    double width = b->offset - a->offset, half = BRACKET * h;
    double bend = a->slope + b->slope - 3 * (b->log_sum - a->log_sum) / width;
    double root = bend * bend - a->slope * b->slope;
    root = sqrt(root > 0.0 ? root : 0.0);
    double bottom =
        a->offset + width * (1 - (b->slope + root - bend) / (b->slope - a->slope + 2 * root));
    double low = a->offset + 1e-3 * width, high = b->offset - 1e-3 * width;
    for (int i = 0; i < (several ? 3 : 1); i++) {
        double offset = several ? bottom + (i - 1) * half : bottom;
        offsets[i] = offset < low ? low : offset > high ? high : offset;
    }
    return several ? 3 : 1;
}

/* Sample a leg until it is proven to stay above the aim, or a sample lies below it.
 * Returns PASSED, REFUSED (a sample is below the aim: lowest, at offset) or UNDECIDED. */
static int refine(const Measured *m, double length, double h, double aim, Sample *samples,
                  double *lowest, double *at, double *proven)
{
    int64_t n = first_parts(length, h);
    *lowest = INFINITY;
    for (int64_t i = 0; i <= n; i++) {
        double offset = n ? length * ((double)i / (double)n) : 0.0;
        samples[i].offset = offset;
        samples[i].log_sum = log_sum_at(m, offset, h, &samples[i].slope);
        if (samples[i].log_sum < *lowest) {
            *lowest = samples[i].log_sum;
            *at = offset;
        }
        if (!(samples[i].log_sum >= aim)) return REFUSED; /* nor is what is no number */
    }
    *proven = *lowest;
    int64_t count = n + 1;
    for (int64_t i = 0; i + 1 < count;) {
        double crossing;
        double bound = bound_between(&samples[i], &samples[i + 1], h, &crossing);
        if (bound >= aim) {
            if (bound < *proven) *proven = bound;
            i++;
            continue;
        }
        if (count == MOST_SAMPLES) return UNDECIDED;
        memmove(&samples[i + 2], &samples[i + 1], (count - i - 1) * sizeof(Sample));
        count++;
        Sample *fresh = &samples[i + 1];
        fresh->offset = crossing;
        fresh->log_sum = log_sum_at(m, crossing, h, &fresh->slope);
        if (fresh->log_sum < *lowest) {
            *lowest = fresh->log_sum;
            *at = crossing;
        }
        if (!(fresh->log_sum >= aim)) return REFUSED;
    }
    return PASSED;
}

/* Keep the rows measured as those from `first` on: all but a leg's own, and those out of reach. */
WIDE static void keep(Measured *m, int64_t first, int64_t last, const int64_t *own, double length,
                      double h, double reach)
{
    double factor = -0.5 / (h * h), steep = 1 / (h * h);
    double *foot = m->foot, *squared = m->squared, *start = m->start, *tilt = m->tilt;
    int64_t n = last - first, kept = m->n;
    for (int o = 0; o < 2; o++)
        if (own[o] >= first && own[o] < last) squared[own[o] - first] = INFINITY;
    for (int64_t from = 0; from < n; from += BLOCK) {
        int64_t some = n - from < BLOCK ? n - from : BLOCK;
        double least[BLOCK], *f = foot + from, *q = squared + from;
        for (int64_t i = 0; i < some; i++) { /* how near each comes to the leg */
            double off = q[i] - f[i] * f[i];
            double beyond = f[i] < 0 ? -f[i] : f[i] > length ? f[i] - length : 0.0;
            off = off > 0.0 ? off : 0.0;
            q[i] = off + f[i] * f[i];
            least[i] = off + beyond * beyond;
        }
        for (int64_t i = 0; i < some; i++) { /* written in any case: there is no telling which */
            start[kept] = q[i] * factor;
            tilt[kept] = f[i] * steep;
            kept += !(least[i] > reach || least[i] == INFINITY); /* what is no number stays */
        }
    }
    m->n = kept;
}

static double squared_length(const double *x, int64_t n)
{
    double sum = 0.0;
    for (int64_t j = 0; j < n; j++) sum += x[j] * x[j];
    return sum;
}

/* Take the rows of the regions around the middle of a leg, about as many as will do. */
static void measure_near_rows(const Kernels *k, Measured *m, const double *start,
                              const double *direction, double length, const int64_t *own,
                              double *middle)
{
    Places rows = rows_of(k), centres = centres_of(k);
    for (int64_t j = 0; j < k->depth; j++) middle[j] = start[j] + direction[j] * (length / 2);
    measure(&centres, &m->used, 0, k->n_regions, middle, direction, m->region_foot,
            m->region_squared);
    m->n = 0;
    for (int64_t taken = 0; taken < NEAR_ROWS;) {
        int64_t best = -1;
        double nearest = INFINITY;
        for (int64_t r = 0; r < k->n_regions; r++)
            if (m->region_squared[r] < nearest) {
                nearest = m->region_squared[r];
                best = r;
            }
        if (best < 0) return;
        m->region_squared[best] = INFINITY;
        int64_t first = k->firsts[best], last = k->firsts[best + 1];
        measure(&rows, &m->used, first, last, start, direction, m->foot, m->squared);
        keep(m, first, last, own, length, k->bandwidth, INFINITY);
        taken += last - first;
    }
}

/* Take all rows that may count somewhere along a leg. */
static void measure_rows_within(const Kernels *k, Measured *m, const double *start,
                                const double *direction, double length, const int64_t *own,
                                double reach)
{
    Places rows = rows_of(k), centres = centres_of(k);
    double far = sqrt(reach);
    measure(&centres, &m->used, 0, k->n_regions, start, direction, m->region_foot,
            m->region_squared);
    m->n = 0;
    for (int64_t r = 0, first = 0; r <= k->n_regions; r++) { /* regions next to each other at once */
        int is_near = 0;
        if (r < k->n_regions) {
            double foot = m->region_foot[r], off = m->region_squared[r] - foot * foot;
            double beyond = foot < 0 ? -foot : foot > length ? foot - length : 0.0;
            off = off > 0.0 ? off : 0.0;
            is_near = !(sqrt(off + beyond * beyond) * (1 - 1e-9) - k->radii[r] > far);
        }
        if (is_near) continue;
        int64_t last = k->firsts[r];
        if (last > first) {
            measure(&rows, &m->used, first, last, start, direction, m->foot, m->squared);
            keep(m, first, last, own, length, k->bandwidth, reach);
        }
        first = r < k->n_regions ? k->firsts[r + 1] : last;
    }
}

/* Set the direction of a leg and the columns that are looked at; return its length. */
static double set_direction(const Kernels *k, Measured *m, const double *start, const double *end,
                            double *direction)
{
    double length = 0.0;
    for (int64_t j = 0; j < k->depth; j++) {
        direction[j] = end[j] - start[j];
        length += direction[j] * direction[j];
    }
    length = sqrt(length);
    for (int64_t j = 0; j < k->depth; j++) direction[j] /= length > 0 ? length : 1.0;
    choose_columns(k, 1, start, direction, &m->used);
    return length;
}

/* How far rough sums may be off, in nats, given the squared lengths of both ends together; infinite
 * where they are of no use. */
static double rough_guard(const Kernels *k, double squares, double floor)
{
    double h = k->bandwidth;
    double guard = 16.0 * (k->depth + 4) * ROUGH_EPSILON * (k->largest + 2 * squares) / (h * h);
    return guard < 5.0 && fabs(floor) < 1e4 ? guard + 1e-3 : INFINITY;
}

/* Refuse a leg of which some place or other is below the floor, beyond what single precision
 * leaves open: most of those that are refused are. */
static int is_refused_roughly(const Kernels *k, Measured *m, const double *start,
                              const double *direction, double length, const int64_t *own,
                              double squares, double floor, double *bound, double *at)
{
    static const double shares[] = {0.5, 0.25, 0.75, 0.1, 0.9};
    double offsets[5], sums[5];
    double guard = rough_guard(k, squares, floor);
    int n = length > 0 ? 5 : 1, least = 0;
    if (!isfinite(guard)) return 0;
    for (int i = 0; i < n; i++) offsets[i] = shares[i] * length;
    for (int64_t j = 0; j < k->depth; j++) {
        m->rough_start[j] = (float)start[j];
        m->rough_direction[j] = (float)direction[j];
    }
    rough_sums(k, &m->used, m->rough_start, m->rough_direction, own, floor, offsets, n, sums);
    for (int i = 1; i < n; i++)
        if (sums[i] < sums[least]) least = i;
    double found = log(sums[least]);
    if (!(found < -guard)) return 0;
    *bound = floor + found + guard; /* no lower than the truth, as others search by it */
    *at = offsets[least];
    return 1;
}

static double log_sum_rounding(const Kernels *k, double squares)
{
    double h = k->bandwidth;
    return 8.0 * (k->depth + 4) * EPSILON * (2 * squares + k->largest) / (h * h);
}

/* Accept a leg on a bound from near rows; UNDECIDED where they do not suffice, or are all. */
static int judge_by_near_rows(const Kernels *k, Measured *m, Sample *samples, const double *start,
                              const double *end, double *direction, double *middle,
                              const int64_t *own, double floor, double *bound)
{
    double length = set_direction(k, m, start, end, direction), lowest, at;
    double squares = squared_length(start, k->depth) + squared_length(end, k->depth);
    double aim = floor - FLOOR_TOLERANCE / 2 + log_sum_rounding(k, squares);
    if (k->n_rows <= FEW_ROWS) return UNDECIDED;
    measure_near_rows(k, m, start, direction, length, own, middle);
    int found = refine(m, length, k->bandwidth, aim, samples, &lowest, &at, bound);
    return found == PASSED ? PASSED : UNDECIDED;
}

/* Judge one leg; `lowest` and `at` are of the lowest log-sum seen where it is refused. */
static int judge_leg(const Kernels *k, Measured *m, Sample *samples, const double *start,
                     const double *end, double *direction, double *middle, const int64_t *own,
                     double floor, double *bound, double *at)
{
    double h = k->bandwidth, length = set_direction(k, m, start, end, direction);
    double squares = squared_length(start, k->depth) + squared_length(end, k->depth);
    double rounding = log_sum_rounding(k, squares);
    double aim = floor - FLOOR_TOLERANCE / 2 + rounding;
    double allowed = NEGLIGIBLE + log((double)k->n_rows) - floor;
    double lowest, proven;
    *at = 0.0;
    if (judge_by_near_rows(k, m, samples, start, end, direction, middle, own, floor, bound) ==
        PASSED)
        return PASSED;
    *bound = log((double)k->n_rows); /* no kernel is more than 1 */
    if (allowed <= 0) return REFUSED; /* the floor is higher than all rows in one place */
    if (is_refused_roughly(k, m, start, direction, length, own, squares, floor, bound, at))
        return REFUSED;
    measure_rows_within(k, m, start, direction, length, own, 2 * h * h * allowed);
    int found = refine(m, length, h, aim, samples, &lowest, at, &proven);
    *bound = found == PASSED ? proven : lowest;
    if (found == REFUSED && !(lowest < floor - 2 * FLOOR_TOLERANCE - rounding)) return UNDECIDED;
    return found;
}

/* The log of the sum of kernels, were all rows nearer by a radius. */
WIDE static double log_sum_within(const double *squared, int64_t n, double radius, double h)
{
    double total = 0.0, factor = -0.5 / (h * h);
#pragma omp simd reduction(+ : total)
    for (int64_t i = 0; i < n; i++) {
        double away = sqrt(squared[i]) - radius;
        away = away > 0.0 ? away : 0.0;
        total += exponential(away * away * factor);
    }
    return log(total);
}

/* A place, and how far all rows are from it: in single precision, and in double where that does
 * not tell. */
typedef struct {
    const Kernels *k;
    Measured *m;
    const double *centre;
    float *distances;
    double floor, guard;
    int is_measured;
} Surroundings;

/* Tell whether all kernels together stay below the floor everywhere within a radius. */
static int is_empty_within(Surroundings *s, double radius)
{
    double h = s->k->bandwidth;
    double share = log(rough_sum_within(s->distances, s->k->n_rows, radius, h, s->floor));
    if (fabs(share) > s->guard) return share < 0;
    if (!s->is_measured) {
        Places rows = rows_of(s->k);
        measure(&rows, &s->m->used, 0, s->k->n_rows, s->centre, s->centre, s->m->start,
                s->m->squared);
        s->is_measured = 1;
    }
    double below = s->floor - 2 * FLOOR_TOLERANCE - 1e-9;
    return log_sum_within(s->m->squared, s->k->n_rows, radius, h) < below;
}

/* The radius of a ball around a place in which all kernels stay below the floor, about as wide as
 * it can be; 0: none. */
static double hole_radius(const Kernels *k, Measured *m, const double *centre, double floor)
{
    double h = k->bandwidth, small = SMALLEST_HOLE * h, large = 0.0;
    double guard = rough_guard(k, 2 * squared_length(centre, k->depth), floor);
    if (NEGLIGIBLE + log((double)k->n_rows) - floor <= 0) return 0.0;
    Surroundings around = {k, m, centre, (float *)m->foot, floor, guard, 0};
    choose_columns(k, 1, centre, NULL, &m->used);
    for (int64_t j = 0; j < k->depth; j++) m->rough_start[j] = (float)centre[j];
    int64_t nearest = rough_distances(k, &m->used, m->rough_start, around.distances);
    for (int64_t j = 0; j < k->depth; j++) {
        double away = k->columns[j * k->n_rows + nearest] - centre[j];
        large += away * away;
    }
    large = sqrt(large);
    if (small >= large || !is_empty_within(&around, small)) return 0.0;
    for (int i = 0; i < HALVINGS; i++) {
        double middle = (small + large) / 2;
        if (is_empty_within(&around, middle))
            small = middle;
        else
            large = middle;
    }
    return small;
}

/* Sample a leg until its lowest sample is proven to be its minimum; returns that, less TIGHT. */
static double refine_to_minimum(const Measured *m, double length, double h, Sample *samples)
{
    int64_t n = first_parts(length, h), count = n + 1;
    double lowest = INFINITY;
    for (int64_t i = 0; i <= n; i++) {
        sample_at(m, n ? length * ((double)i / (double)n) : 0.0, h, &samples[i]);
        if (isnan(samples[i].log_sum)) return NAN;
        lowest = samples[i].log_sum < lowest ? samples[i].log_sum : lowest;
    }
    if (!isfinite(lowest)) return lowest;
    double proven = lowest, tight = TIGHT, range = range_of_tilts(m);
    int64_t taken = count, many = MANY_SAMPLES;
    for (int64_t i = 0; i + 1 < count;) {
        Sample *here = &samples[i], *next = here + 1;
        double more[3], width = next->offset - here->offset;
        double bend = bend_between(here, next, h, range);
        double bound = bound_with_bend(here, next, bend, &more[0]);
        int n_more = 1, is_apart = more[0] > here->offset && more[0] < next->offset;
        /* Within a bracket it is rounding, but where the log-sum turns sharply on a long leg. */
        int is_sharp = (next->slope - here->slope) * width > SHARP;
        int is_narrow = width < BRACKET * h && !is_sharp;
        int is_full = is_narrow || !is_apart || count - i + 3 > MOST_SAMPLES;
        if (bound >= lowest - tight || is_full) {
            proven = bound < proven ? bound : proven;
            i++;
            continue;
        }
        if (here->slope < 0 && next->slope > 0)
            n_more = around_minimum(here, next, h, bend > 0 && width < NARROW * h, more);
        if (count + 3 > MOST_SAMPLES) { /* what lies behind is not needed any more */
            memmove(samples, here, (count - i) * sizeof(Sample));
            count -= i;
            i = 0;
        }
        memmove(&samples[i + 1 + n_more], &samples[i + 1], (count - i - 1) * sizeof(Sample));
        count += n_more;
        taken += n_more;
        if (taken > many) {
            many += MANY_SAMPLES / 4;
            tight *= 16;
        }
        for (int j = 0; j < n_more; j++) {
            Sample *fresh = &samples[i + 1 + j];
            sample_at(m, more[j], h, fresh);
            lowest = fresh->log_sum < lowest ? fresh->log_sum : lowest;
        }
    }
    return proven >= lowest - TIGHT ? lowest - TIGHT : proven;
}

/* The lowest log-sum along one leg: rows that do not count by far beside it are left out. */
static double lowest_of_leg(const Kernels *k, Measured *m, Sample *samples, const double *start,
                            const double *end, double *direction, double *middle,
                            const int64_t *own)
{
    double h = k->bandwidth, length = set_direction(k, m, start, end, direction), least = INFINITY;
    measure_near_rows(k, m, start, direction, length, own, middle);
    int64_t n = first_parts(length, h);
    for (int64_t i = 0; i <= n; i++) { /* a bound from near rows, whichever */
        double crossing;
        samples[i].offset = n ? length * ((double)i / (double)n) : 0.0;
        samples[i].log_sum = log_sum_at(m, samples[i].offset, h, &samples[i].slope);
        double bound = i ? bound_between(&samples[i - 1], &samples[i], h, &crossing)
                         : samples[i].log_sum;
        least = bound < least ? bound : least;
    }
    double allowed = NEGLIGIBLE + log((double)k->n_rows) - least;
    measure_rows_within(k, m, start, direction, length, own, 2 * h * h * allowed);
    return refine_to_minimum(m, length, h, samples);
}

static uint64_t hash_point(const double *point, int64_t width)
{
    uint64_t hash = 1469598103934665603u;
    for (int64_t j = 0; j < width; j++) {
        double value = point[j] + 0.0; /* -0.0 and 0.0 are the same */
        uint64_t bits;
        memcpy(&bits, &value, sizeof bits);
        hash = (hash ^ bits) * 1099511628211u;
        hash ^= hash >> 29;
    }
    hash ^= hash >> 32; /* whole numbers differ in their highest bits only: bring them down */
    hash *= 0xd6e8feb86659fd93u;
    return hash ^ hash >> 32;
}

/* A hash table of rows by their points, -1 where it is empty. */
struct RowIndex {
    int64_t width, n_slots;
    const double *points;
    const int64_t *slots;
};

PUBLIC void fill_slots(const double *points, int64_t n_rows, int64_t width, int64_t *slots,
                       int64_t n_slots)
{
    for (int64_t i = 0; i < n_slots; i++) slots[i] = -1;
    for (int64_t row = 0; row < n_rows; row++) {
        uint64_t slot = hash_point(points + row * width, width) & (n_slots - 1);
        while (slots[slot] >= 0) slot = (slot + 1) & (n_slots - 1);
        slots[slot] = row;
    }
}

/* The row that lies exactly at a point; -1 if there is none. */
static int64_t row_at(const RowIndex *index, const double *point)
{
    uint64_t slot = hash_point(point, index->width) & (index->n_slots - 1);
    for (; index->slots[slot] >= 0; slot = (slot + 1) & (index->n_slots - 1)) {
        const double *row = index->points + index->slots[slot] * index->width;
        int64_t j = 0;
        while (j < index->width && row[j] == point[j]) j++;
        if (j == index->width) return index->slots[slot];
    }
    return -1;
}

/* Tell which points equal none before them, with the help of an empty table of slots. */
PUBLIC void first_of_equals(const double *points, int64_t n, int64_t width, int64_t *slots,
                            int64_t n_slots, uint8_t *first)
{
    RowIndex index = {width, n_slots, points, slots};
    for (int64_t i = 0; i < n_slots; i++) slots[i] = -1;
    for (int64_t i = 0; i < n; i++) {
        const double *point = points + i * width;
        first[i] = row_at(&index, point) < 0;
        if (!first[i]) continue;
        uint64_t slot = hash_point(point, width) & (n_slots - 1);
        while (slots[slot] >= 0) slot = (slot + 1) & (n_slots - 1);
        slots[slot] = i;
    }
}

PUBLIC void rows_at(const RowIndex *index, int64_t n, const double *points, int64_t *rows)
{
    for (int64_t i = 0; i < n; i++) rows[i] = row_at(index, points + i * index->width);
}

static void place_of(const Kernels *k, const double *point, double *place)
{
    if (!k->matrix) {
        memcpy(place, point, k->depth * sizeof(double));
        return;
    }
    for (int64_t j = 0; j < k->depth; j++) place[j] = 0.0;
    for (int64_t i = 0; i < k->width; i++)
        for (int64_t j = 0; j < k->depth; j++) place[j] += point[i] * k->matrix[i * k->depth + j];
}

/* What judging takes beside the rows: memory for one leg at a time. */
typedef struct {
    Measured measured;
    Sample *samples;
    double *memory, *here, *there, *a, *b, *direction, *middle;
    int64_t *columns;
} Desk;

static void close_desk(Desk *desk)
{
    free(desk->memory);
    free(desk->samples);
    free(desk->columns);
}

static int open_desk(const Kernels *k, Desk *desk)
{
    int64_t n = k->n_rows, r = k->n_regions, w = k->width, d = k->depth;
    desk->memory = malloc((size_t)(4 * n + 2 * r + 2 * w + 5 * d) * sizeof(double));
    desk->samples = malloc(MOST_SAMPLES * sizeof(Sample));
    desk->columns = malloc((size_t)d * sizeof(int64_t));
    if (!desk->memory || !desk->samples || !desk->columns) {
        close_desk(desk);
        return 1;
    }
    double *next = desk->memory;
    Measured m = {next, next + n, next + 2 * n, next + 3 * n, next + 4 * n, next + 4 * n + r,
                  0,    0,        0,            {0, 0, desk->columns}};
    desk->measured = m;
    desk->here = next + 4 * n + 2 * r;
    desk->there = desk->here + w;
    desk->a = desk->there + w;
    desk->b = desk->a + d;
    desk->direction = desk->b + d;
    desk->middle = desk->direction + d;
    desk->measured.rough_start = (float *)(desk->middle + d);
    desk->measured.rough_direction = desk->measured.rough_start + d;
    return 0;
}

/* Find out where the first leg of a segment ends (here) and the second begins (there), and
 * whether there are two: discrete columns flip half way. */
static int find_bend(const Kernels *k, Desk *desk, const double *start, const double *end)
{
    int bent = 0;
    for (int64_t j = 0; j < k->width; j++) bent |= k->discrete[j] && start[j] != end[j];
    for (int64_t j = 0; j < k->width; j++) {
        int flips = k->discrete[j] && start[j] != end[j];
        double half = (start[j] + end[j]) / 2;
        desk->here[j] = !bent ? end[j] : flips ? start[j] : half;
        desk->there[j] = flips ? end[j] : half;
    }
    return bent;
}

/* Judge segments between points, given the rows at their ends. Of what is refused, `holes` has a
 * place and `radii` how far around it everything is refused, 0 where that is not known.
 * Returns 0, or 1 without memory. */
PUBLIC int judge_segments(const Kernels *k, int64_t n, const double *starts, const double *ends,
                          const int64_t *rows, const double *floors, int8_t *verdicts,
                          double *bounds, double *holes, double *radii)
{
    Desk desk;
    if (open_desk(k, &desk)) return 1;
    int64_t w = k->width, d = k->depth;
    for (int64_t i = 0; i < n; i++) {
        const double *start = starts + i * w, *end = ends + i * w;
        int64_t own[2] = {rows[2 * i] < 0 ? -1 : k->position[rows[2 * i]],
                          rows[2 * i + 1] < 0 ? -1 : k->position[rows[2 * i + 1]]};
        int bent = find_bend(k, &desk, start, end), still = 1;
        double at, bound;
        place_of(k, start, desk.a);
        place_of(k, desk.here, desk.b);
        int found = judge_leg(k, &desk.measured, desk.samples, desk.a, desk.b, desk.direction,
                              desk.middle, own, floors[i], &bounds[i], &at);
        if (bent && found != REFUSED) {
            place_of(k, desk.there, desk.a);
            place_of(k, end, desk.b);
            int second = judge_leg(k, &desk.measured, desk.samples, desk.a, desk.b,
                                   desk.direction, desk.middle, own, floors[i], &bound, &at);
            if (second == REFUSED || bound < bounds[i]) bounds[i] = bound;
            if (second != PASSED) found = second;
        }
        verdicts[i] = (int8_t)found;
        radii[i] = 0.0;
        for (int64_t j = 0; j < w; j++) still &= start[j] == end[j];
        if (found != REFUSED || still || !(bounds[i] < floors[i] - SHALLOW)) continue;
        for (int64_t j = 0; j < d; j++) holes[i * d + j] = desk.a[j] + desk.direction[j] * at;
        radii[i] = hole_radius(k, &desk.measured, holes + i * d, floors[i]);
    }
    close_desk(&desk);
    return 0;
}

/* The lowest log-sum of kernels along segments. Returns 0, or 1 without memory. */
PUBLIC int lowest_log_sums(const Kernels *k, int64_t n, const double *starts, const double *ends,
                           const int64_t *rows, double *lowest)
{
    Desk desk;
    if (open_desk(k, &desk)) return 1;
    int64_t w = k->width;
    for (int64_t i = 0; i < n; i++) {
        const double *start = starts + i * w, *end = ends + i * w;
        int64_t own[2] = {rows[2 * i] < 0 ? -1 : k->position[rows[2 * i]],
                          rows[2 * i + 1] < 0 ? -1 : k->position[rows[2 * i + 1]]};
        int bent = find_bend(k, &desk, start, end);
        place_of(k, start, desk.a);
        place_of(k, desk.here, desk.b);
        lowest[i] = lowest_of_leg(k, &desk.measured, desk.samples, desk.a, desk.b, desk.direction,
                                  desk.middle, own);
        if (!bent) continue;
        place_of(k, desk.there, desk.a);
        place_of(k, end, desk.b);
        double second = lowest_of_leg(k, &desk.measured, desk.samples, desk.a, desk.b,
                                      desk.direction, desk.middle, own);
        lowest[i] = lower_of(lowest[i], second);
    }
    close_desk(&desk);
    return 0;
}

#define STATES 32 /* states that are held against a block of rows while it is near */

/* States that are judged together, in single precision; `pending` of them are not decided yet. */
typedef struct {
    double *places;
    float *rough_places, *distances;
    int64_t pending, number[STATES], own[2 * STATES];
    double floors[STATES], guards[STATES], enough[STATES], sums[STATES];
} States;

/* Tell what a sum of kernels in single precision, as a share of the floor, says of a state. A sum
 * of some rows can only accept. */
static int judge_roughly(const States *s, int64_t p, double sum, int of_all, double *bound)
{
    double share = log(sum), guard = s->guards[p];
    *bound = s->floors[p] + share - guard;
    if (share > guard) return PASSED;
    *bound = s->floors[p] + share + guard;
    return of_all && share < -guard ? REFUSED : UNDECIDED;
}

/* Keep the states of which nothing is known yet. */
static void keep_undecided(const Kernels *k, States *s, const int8_t *verdicts)
{
    int64_t kept = 0;
    for (int64_t p = 0; p < s->pending; p++) {
        if (verdicts[s->number[p]] != UNDECIDED) continue;
        if (kept < p) {
            memcpy(s->places + kept * k->depth, s->places + p * k->depth, k->depth * 8);
            memcpy(s->rough_places + kept * k->depth, s->rough_places + p * k->depth, k->depth * 4);
            memcpy(s->own + 2 * kept, s->own + 2 * p, 2 * sizeof(int64_t));
            s->number[kept] = s->number[p];
            s->floors[kept] = s->floors[p];
            s->guards[kept] = s->guards[p];
            s->enough[kept] = s->enough[p];
        }
        kept++;
    }
    s->pending = kept;
}

/* Take over some states to judge. */
static void take_states(const Kernels *k, States *s, int64_t first, int64_t last,
                        const double *points, const int64_t *rows, const double *floors)
{
    s->pending = last - first;
    for (int64_t i = first; i < last; i++) {
        int64_t p = i - first;
        double *place = s->places + p * k->depth;
        for (int o = 0; o < 2; o++)
            s->own[2 * p + o] = rows[2 * i + o] < 0 ? -1 : k->position[rows[2 * i + o]];
        place_of(k, points + i * k->width, place);
        for (int64_t j = 0; j < k->depth; j++) s->rough_places[p * k->depth + j] = (float)place[j];
        s->number[p] = i;
        s->floors[p] = floors[i];
        s->guards[p] = rough_guard(k, 2 * squared_length(place, k->depth), floors[i]);
        s->enough[p] = exp(s->guards[p]) * (1 + 1e-6);
    }
}

/* Judge states: by near rows, by all rows, and in double precision what is close. */
static void judge_some_states(const Kernels *k, States *s, Desk *desk, int8_t *verdicts,
                              double *bounds)
{
    double at;
    Columns *used = &desk->measured.used;
    choose_columns(k, s->pending, s->places, NULL, used);
    if (k->n_rows > FEW_ROWS)
        rough_region_distances(k, used, s->pending, s->rough_places, s->distances);
    for (int64_t p = 0; p < s->pending; p++) {
        int64_t i = s->number[p];
        verdicts[i] = UNDECIDED;
        if (k->n_rows <= FEW_ROWS) continue;
        double sum = rough_sum_near(k, used, s->rough_places + p * k->depth, s->own + 2 * p,
                                    s->floors[p], s->enough[p], NEAR_ROWS,
                                    s->distances + p * k->n_regions);
        verdicts[i] = (int8_t)judge_roughly(s, p, sum, 0, &bounds[i]);
    }
    keep_undecided(k, s, verdicts);
    rough_sums_at(k, used, s->pending, s->rough_places, s->own, s->floors, s->enough, s->sums);
    for (int64_t p = 0; p < s->pending; p++) {
        const double *place = s->places + p * k->depth;
        int64_t i = s->number[p];
        verdicts[i] = (int8_t)judge_roughly(s, p, s->sums[p], 1, &bounds[i]);
        if (verdicts[i] == UNDECIDED)
            verdicts[i] = (int8_t)judge_leg(k, &desk->measured, desk->samples, place, place,
                                            desk->direction, desk->middle, s->own + 2 * p,
                                            s->floors[p], &bounds[i], &at);
    }
}

/* Judge states: as segments that end where they start, many at a time. Returns 0, or 1 without
 * memory. */
PUBLIC int judge_states(const Kernels *k, int64_t n, const double *points, const int64_t *rows,
                        const double *floors, int8_t *verdicts, double *bounds)
{
    Desk desk;
    States states;
    if (open_desk(k, &desk)) return 1;
    int64_t most = n < STATES ? n : STATES;
    states.places = malloc((size_t)(most * (12 * k->depth + 4 * k->n_regions) + 1));
    if (!states.places) {
        close_desk(&desk);
        return 1;
    }
    states.rough_places = (float *)(states.places + most * k->depth);
    states.distances = states.rough_places + most * k->depth;
    for (int64_t first = 0; first < n; first += STATES) {
        int64_t last = first + STATES < n ? first + STATES : n;
        take_states(k, &states, first, last, points, rows, floors);
        judge_some_states(k, &states, &desk, verdicts, bounds);
    }
    free(states.places);
    close_desk(&desk);
    return 0;
}
