/* The states that a person may take over from rows: how far they are, and the nearest of them. */
#include "common.h"

#include <float.h>

#define PROBES 512      /* rows from which the distance of the nearest k is guessed */
#define SPARE_ROWS 16   /* looked at beyond k before it is known how many states they come to */
#define SHARE_MORE 1.2  /* of the rows wanted that a guess is to reach */

/* What one person may take over from rows, and the point that distances are from. Columns are cut
 * short at the limits; those of a group (`group_columns`, from `group_firsts` on) are kept as the
 * person has them where one that decides would be cut. Rows outside `allowed` are left out. */
typedef struct {
    int64_t n_rows, width, n_groups;
    const double *columns, *point, *lower, *upper, *allowed_lower, *allowed_upper, *kept;
    const double *sparse_squares; /* of rows: what sparse columns add to squared lengths, those in
                                   * no group and then each group's, or none */
    const int64_t *sparse;        /* 1 for columns that are mostly zero and never cut by themselves */
    const int64_t *cuts;          /* 1 where some row is beyond the limits */
    const int64_t *alone;         /* 1 for columns that are in no group */
    const int64_t *group_firsts, *group_columns, *group_decides;
} StateQuestion;

static inline double cut_short(double value, double lower, double upper)
{
    value = value < lower ? lower : value;
    return value > upper ? upper : value;
}

/* Whether no row can change a group. */
static int stays_as_kept(const StateQuestion *q, int64_t group)
{
    int stays = 1;
    for (int64_t c = q->group_firsts[group]; c < q->group_firsts[group + 1]; c++) {
        int64_t j = q->group_columns[c];
        stays &= q->lower[j] == q->kept[j] && q->upper[j] == q->kept[j];
    }
    return stays;
}

/* Mark the columns in which states can differ; write down what they all have in the others. */
static void find_varying(const StateQuestion *q, uint8_t *varies, double *state)
{
    for (int64_t j = 0; j < q->width; j++) {
        varies[j] = q->alone[j] && q->lower[j] != q->upper[j];
        state[j] = q->lower[j];
    }
    for (int64_t g = 0; g < q->n_groups; g++) {
        uint8_t changes = !stays_as_kept(q, g);
        for (int64_t c = q->group_firsts[g]; c < q->group_firsts[g + 1]; c++)
            varies[q->group_columns[c]] = changes;
    }
}

/* Squared distances from the point to the states of all rows; infinite for those left out.
 * `varies` and `state` are as `find_varying` has them. Sparse columns in which the point is zero
 * are not looked at: what they add is known. */
WIDE static void add_up(const StateQuestion *q, const uint8_t *varies, const double *state,
                        double *distances)
{
    double fixed = 0.0;
    for (int64_t j = 0; j < q->width; j++) {
        double away = state[j] - q->point[j];
        if (!varies[j]) fixed += away * away;
    }
    for (int64_t from = 0; from < q->n_rows; from += BLOCK) {
        int64_t n = q->n_rows - from < BLOCK ? q->n_rows - from : BLOCK;
        double sum[BLOCK], group[BLOCK], far[BLOCK], cut[BLOCK];
        for (int64_t i = 0; i < n; i++) {
            sum[i] = fixed + (q->sparse_squares ? q->sparse_squares[from + i] : 0.0);
            far[i] = 0.0;
        }
        for (int64_t j = 0; j < q->width; j++) {
            const double *column = q->columns + j * q->n_rows + from;
            double lower = q->allowed_lower[j], upper = q->allowed_upper[j];
            if (lower > -INFINITY || upper < INFINITY)
                for (int64_t i = 0; i < n; i++)
                    far[i] += (column[i] < lower) | (column[i] > upper) ? 1.0 : 0.0;
            double least = q->lower[j], most = q->upper[j], point = q->point[j];
            if (!q->alone[j] || !varies[j]) continue;
            if (q->sparse_squares && q->sparse[j]) {
                if (point == 0.0) continue;
                for (int64_t i = 0; i < n; i++) sum[i] += (point - 2.0 * column[i]) * point;
                continue;
            }
            for (int64_t i = 0; i < n; i++) {
                double away = cut_short(column[i], least, most) - point;
                sum[i] += away * away;
            }
        }
        for (int64_t g = 0; g < q->n_groups; g++) {
            if (!varies[q->group_columns[q->group_firsts[g]]]) continue;
            double kept = 0.0;
            const double *known = q->sparse_squares + (g + 1) * q->n_rows + from;
            for (int64_t i = 0; i < n; i++) {
                group[i] = q->sparse_squares ? known[i] : 0.0;
                cut[i] = 0.0;
            }
            for (int64_t c = q->group_firsts[g]; c < q->group_firsts[g + 1]; c++) {
                int64_t j = q->group_columns[c];
                const double *column = q->columns + j * q->n_rows + from;
                double least = q->lower[j], most = q->upper[j], point = q->point[j];
                kept += (q->kept[j] - point) * (q->kept[j] - point);
                if (q->group_decides[c] && q->cuts[j])
                    for (int64_t i = 0; i < n; i++)
                        cut[i] += (column[i] < least) | (column[i] > most) ? 1.0 : 0.0;
                if (q->sparse_squares && q->sparse[j]) {
                    if (point == 0.0) continue;
                    for (int64_t i = 0; i < n; i++) group[i] += (point - 2.0 * column[i]) * point;
                    continue;
                }
                for (int64_t i = 0; i < n; i++) {
                    double away = cut_short(column[i], least, most) - point;
                    group[i] += away * away;
                }
            }
            for (int64_t i = 0; i < n; i++) sum[i] += cut[i] > 0.0 ? kept : group[i];
        }
        for (int64_t i = 0; i < n; i++) distances[from + i] = far[i] > 0.0 ? INFINITY : sum[i];
    }
}

PUBLIC int state_distances(const StateQuestion *q, double *distances)
{
    uint8_t *varies = malloc((size_t)q->width);
    double *state = malloc((size_t)q->width * sizeof(double));
    int failed = !varies || !state;
    if (!failed) {
        find_varying(q, varies, state);
        add_up(q, varies, state, distances);
    }
    free(varies);
    free(state);
    return failed;
}

/* Which of the states are asked for: the k nearest within a radius and bounds, of rows within the
 * comparable ones. `rounding` is the share of squared lengths that a rough distance may be off. */
typedef struct {
    const StateQuestion *states;
    const double *points; /* rows x width */
    const double *lower, *upper, *comparable_lower, *comparable_upper;
    int64_t k;
    double radius, square, rounding; /* square: that of the point's length */
} NearestQuestion;

/* One state to be written down and looked at. All columns are gone through, whether states can
 * differ in them or not: eight at a time that takes less than to pick some. */
typedef struct {
    const NearestQuestion *q;
    int64_t n_limiting;
    int64_t *limiting; /* columns in which rows may be out of what is comparable */
    uint8_t *varies;
    double *state, *squares;
    uint64_t *factors; /* of each column in the hash of a state */
} Look;

typedef struct {
    double distance;
    int64_t row, place; /* where its state is */
} State;

/* Different states, by a table of slots (-1: free) that is at least twice as large. */
typedef struct {
    int64_t n, room, n_slots;
    State *list;
    double *values;
    int64_t *slots;
} States;

static int by_distance(const void *a, const void *b)
{
    const State *x = a, *y = b;
    if (x->distance != y->distance) return x->distance < y->distance ? -1 : 1;
    return (x->row > y->row) - (x->row < y->row);
}

static int by_value(const void *a, const void *b)
{
    double x = *(const double *)a, y = *(const double *)b;
    return (x > y) - (x < y);
}

INLINED uint64_t hash_of(const Look *look, const double *restrict state)
{
    const uint64_t *restrict factors = look->factors;
    uint64_t hash = 0;
#pragma omp simd reduction(+ : hash)
    for (int64_t j = 0; j < look->q->states->width; j++) {
        double value = state[j] + 0.0; /* -0 and 0 are the same */
        uint64_t bits;
        memcpy(&bits, &value, sizeof bits);
        hash += bits * factors[j];
    }
    hash ^= hash >> 29;
    hash *= 0x9E3779B97F4A7C15u;
    return hash ^ hash >> 32;
}

INLINED int are_equal(const Look *look, const double *restrict a, const double *restrict b)
{
    int64_t apart = 0;
#pragma omp simd reduction(| : apart)
    for (int64_t j = 0; j < look->q->states->width; j++) apart |= a[j] != b[j];
    return !apart;
}

static double *values_of(const Look *look, const States *all, int64_t i)
{
    return all->values + all->list[i].place * look->q->states->width;
}

/* The slot of a state, or the free one where it belongs. */
INLINED int64_t slot_of(const Look *look, const States *all, const double *state)
{
    int64_t slot = (int64_t)(hash_of(look, state) & (uint64_t)(all->n_slots - 1));
    while (all->slots[slot] >= 0 &&
           !are_equal(look, values_of(look, all, all->slots[slot]), state))
        slot = (slot + 1) & (all->n_slots - 1);
    return slot;
}

WIDE static void fill_table(const Look *look, States *all)
{
    memset(all->slots, -1, (size_t)all->n_slots * sizeof(int64_t));
    for (int64_t i = 0; i < all->n; i++)
        all->slots[slot_of(look, all, values_of(look, all, i))] = i;
}

static int make_room(const Look *look, States *all, int64_t room)
{
    int64_t n_slots = 16, width = look->q->states->width;
    while (n_slots < 2 * room) n_slots *= 2;
    State *list = realloc(all->list, (size_t)room * sizeof(State));
    if (list) all->list = list;
    double *values = realloc(all->values, (size_t)(room * width) * sizeof(double));
    if (values) all->values = values;
    int64_t *slots = realloc(all->slots, (size_t)n_slots * sizeof(int64_t));
    if (slots) all->slots = slots;
    if (!list || !values || !slots) return 1;
    all->room = room;
    all->n_slots = n_slots;
    fill_table(look, all);
    return 0;
}

/* Write down the state that a row comes to; tell whether the row and the state are allowed. A limit
 * stands for what equals it, as `Projection.states_of` has it. */
INLINED int take_over(Look *look, const double *restrict row)
{
    const NearestQuestion *q = look->q;
    const StateQuestion *s = q->states;
    const double *restrict lower = s->lower, *restrict upper = s->upper, *restrict point = s->point,
                 *restrict least = q->lower, *restrict most = q->upper;
    double *restrict state = look->state, *restrict squares = look->squares;
    int64_t outside = 0, elsewhere = 0;
    for (int64_t c = 0; c < look->n_limiting; c++) {
        int64_t j = look->limiting[c];
        outside |= !(row[j] >= q->comparable_lower[j] && row[j] <= q->comparable_upper[j]);
    }
    if (outside) return 0;
#pragma omp simd
    for (int64_t j = 0; j < s->width; j++) {
        double value = row[j] > lower[j] ? row[j] : lower[j];
        state[j] = value < upper[j] ? value : upper[j];
    }
    for (int64_t g = 0; g < s->n_groups; g++) {
        int cut = 0;
        if (!look->varies[s->group_columns[s->group_firsts[g]]]) continue;
        for (int64_t c = s->group_firsts[g]; c < s->group_firsts[g + 1]; c++) {
            int64_t j = s->group_columns[c];
            cut |= s->group_decides[c] && state[j] != row[j];
        }
        for (int64_t c = s->group_firsts[g]; cut && c < s->group_firsts[g + 1]; c++)
            state[s->group_columns[c]] = s->kept[s->group_columns[c]];
    }
#pragma omp simd reduction(| : outside, elsewhere)
    for (int64_t j = 0; j < s->width; j++) {
        double away = state[j] - point[j];
        squares[j] = away * away;
        outside |= (state[j] < least[j]) | (state[j] > most[j]);
        elsewhere |= state[j] != point[j];
    }
    return !outside && elsewhere;
}

/* Add what a row comes to, unless it is known or further away than `furthest`. */
INLINED int add_row(Look *look, States *all, int64_t row, double furthest)
{
    int64_t width = look->q->states->width;
    if (!take_over(look, look->q->points + row * width)) return 0;
    double distance = sqrt(sum_in_pairs(look->squares, width));
    if (!(distance <= furthest)) return 0;
    if (all->n == all->room && make_room(look, all, 2 * all->room)) return 1;
    int64_t slot = slot_of(look, all, look->state), known = all->slots[slot];
    if (known >= 0) {
        if (row < all->list[known].row) all->list[known].row = row;
        return 0;
    }
    all->list[all->n] = (State){distance, row, all->n};
    memcpy(values_of(look, all, all->n), look->state, (size_t)width * sizeof(double));
    all->slots[slot] = all->n++;
    return 0;
}

/* Keep the k nearest, nearest first and ties by row, each where it is in the list. */
static int keep_nearest(const Look *look, States *all)
{
    int64_t width = look->q->states->width;
    qsort(all->list, (size_t)all->n, sizeof(State), by_distance);
    if (all->n > look->q->k) all->n = look->q->k;
    double *values = malloc((size_t)(all->room * width) * sizeof(double));
    if (!values) return 1;
    for (int64_t i = 0; i < all->n; i++) {
        memcpy(values + i * width, values_of(look, all, i), (size_t)width * sizeof(double));
        all->list[i].place = i;
    }
    free(all->values);
    all->values = values;
    fill_table(look, all);
    return 0;
}

/* The most that a rough squared distance can be where the distance is no more than given. */
static double rough_reach(const NearestQuestion *q, double distance)
{
    double far = sqrt(q->square) + distance;
    return distance * distance + q->rounding * (q->square + far * far);
}

/* Some of the rough distances, ascending, and how many. */
static int64_t probe(const double *rough, int64_t n_rows, double *probed)
{
    int64_t n = 0, step = n_rows / PROBES > 1 ? n_rows / PROBES : 1;
    for (int64_t i = 0; i < n_rows; i += step) probed[n++] = rough[i];
    qsort(probed, (size_t)n, sizeof(double), by_value);
    return n;
}

/* Go through rows by rough distance, more and more at a time, until the k nearest are certain. */
WIDE static int gather(Look *look, const double *rough, double *probed, States *all)
{
    const NearestQuestion *q = look->q;
    int64_t n_rows = q->states->n_rows, n_probed = probe(rough, n_rows, probed);
    double done = -INFINITY, wanted = (double)(q->k + SPARE_ROWS);
    double furthest = q->radius, reach = rough_reach(q, furthest);
    while (done < reach) {
        double rank = ceil(SHARE_MORE * wanted / (double)n_rows * (double)n_probed) + 2;
        double edge = rank < (double)n_probed ? probed[(int64_t)rank] : INFINITY;
        edge = edge < reach ? edge : reach;
        double most = edge < DBL_MAX ? edge : DBL_MAX;
        for (int64_t i = 0; i < n_rows; i++)
            if (rough[i] <= most && rough[i] > done && add_row(look, all, i, furthest)) return 1;
        if (keep_nearest(look, all)) return 1;
        if (all->n == q->k) furthest = all->list[all->n - 1].distance;
        reach = rough_reach(q, furthest);
        done = edge;
        wanted *= 4;
    }
    return 0;
}

/* Find out which columns limit rows, and choose the factors of a hash. */
static void prepare(Look *look)
{
    const NearestQuestion *q = look->q;
    uint64_t factor = 0x9E3779B97F4A7C15u;
    find_varying(q->states, look->varies, look->state);
    for (int64_t j = 0; j < q->states->width; j++) {
        if (q->comparable_lower[j] > -INFINITY || q->comparable_upper[j] < INFINITY)
            look->limiting[look->n_limiting++] = j;
        factor = (factor ^ factor >> 31) * 0xBF58476D1CE4E5B9u + 0x94D049BB133111EBu;
        look->factors[j] = factor | 1;
    }
}

/* The k nearest different states, nearest first, ties by row: the first row of those that come to
 * each, its distance, its values, and whether it is not the row's own. `rough` are the squared
 * distances of all rows, infinite where one is left out. Returns how many there are, or -1 without
 * memory. */
PUBLIC int64_t nearest_states(const NearestQuestion *q, const double *rough, int64_t *rows,
                              double *distances, double *values, uint8_t *moved)
{
    size_t width = (size_t)q->states->width;
    States all = {0};
    Look look = {.q = q};
    double *numbers = malloc((2 * PROBES + 2 * width) * sizeof(double));
    int64_t *columns = malloc(2 * width * sizeof(int64_t));
    look.varies = malloc(width);
    int failed = !numbers || !columns || !look.varies;
    if (!failed) {
        look.state = numbers + 2 * PROBES;
        look.squares = look.state + width;
        look.limiting = columns;
        look.factors = (uint64_t *)(columns + width);
        prepare(&look);
        failed = make_room(&look, &all, q->k + SPARE_ROWS) || gather(&look, rough, numbers, &all);
    }
    for (int64_t i = 0; !failed && i < all.n; i++) {
        const double *state = values_of(&look, &all, i), *row;
        rows[i] = all.list[i].row;
        distances[i] = all.list[i].distance;
        row = q->points + rows[i] * q->states->width;
        moved[i] = 0;
        for (size_t j = 0; j < width; j++) moved[i] |= state[j] != row[j];
        memcpy(values + (size_t)i * width, state, width * sizeof(double));
    }
    free(numbers);
    free(columns);
    free(look.varies);
    free(all.list);
    free(all.values);
    free(all.slots);
    return failed ? -1 : all.n;
}

#define LANE 16 /* columns worked on at a time, for each of which sums are kept apart */

/* Limits in single precision, a number a column: states are cut short at `lower` and `upper`, and
 * left out beyond `least` and `most`. There are as many as fill whole lanes (`padded`), those
 * beyond the point such that whatever stands there adds nothing. */
typedef struct {
    int64_t n_rows, stride, padded; /* of all rows; numbers from row to row */
    const float *near, *lower, *upper, *least, *most, *point;
} RoughStates;

/* The squared distance in single precision from the point to the state of a row; infinite where it
 * is left out. */
static inline float rough_square_of(const RoughStates *q, const float *restrict row)
{
    const float *restrict lower = q->lower, *restrict upper = q->upper, *restrict least = q->least,
                *restrict most = q->most, *restrict point = q->point;
    float sums[LANE] = {0.0f}, sum = 0.0f;
    int32_t beyond[LANE] = {0}, outside = 0;
    for (int64_t from = 0; from < q->padded; from += LANE)
        for (int64_t l = 0; l < LANE; l++) {
            int64_t j = from + l;
            float value = row[j] > lower[j] ? row[j] : lower[j];
            value = value < upper[j] ? value : upper[j];
            beyond[l] |= (value < least[j]) | (value > most[j]);
            float away = value - point[j];
            sums[l] += away * away;
        }
    for (int l = 0; l < LANE; l++) {
        sum += sums[l];
        outside |= beyond[l];
    }
    return outside ? INFINITY : sum;
}

/* Those of the rows from `first` up to `last`. The last row of all, behind which nothing may be
 * read, is copied to where there is room. */
WIDE static void rough_squares_of(const RoughStates *q, int64_t first, int64_t last, float *spare,
                                  float *squares)
{
    int64_t n_numbers = q->n_rows * q->stride;
    for (int64_t i = first; i < last; i++) {
        const float *row = q->near + i * q->stride;
        if (i * q->stride + q->padded > n_numbers) {
            memcpy(spare, row, (size_t)(n_numbers - i * q->stride) * sizeof(float));
            row = spare;
        }
        *squares++ = rough_square_of(q, row);
    }
}

/* The same for several ranges of rows, one after the other. `spare` has room for a row in whole
 * lanes. */
PUBLIC void rough_state_squares(const RoughStates *q, int64_t n_ranges, const int64_t *firsts,
                                const int64_t *lasts, float *spare, float *squares)
{
    for (int64_t r = 0; r < n_ranges; r++) {
        rough_squares_of(q, firsts[r], lasts[r], spare, squares);
        squares += lasts[r] - firsts[r];
    }
}
