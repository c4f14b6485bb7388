/* The different states that a person may take over from rows. */
#include "common.h"

/* What is taken over from rows. Columns are cut short at `lower` and `upper`; those of a group
 * (`group_columns`, from `group_firsts` on) are kept as the person has them where one that decides
 * would be cut. Rows outside what is comparable are left out, and so are states beyond `least` and
 * `most`. */
typedef struct {
    int64_t width, n_groups;
    const double *lower, *upper, *kept, *comparable_lower, *comparable_upper, *least, *most;
    const int64_t *group_firsts, *group_columns, *group_decides;
} Composing;

/* What is the same for all rows: the columns that need looking at, and in which states differ. */
typedef struct {
    const Composing *c;
    int64_t n_comparable, n_limited, n_varying;
    int64_t *comparable, *limited, *varying;
} Columns;

static int is_limited(double lower, double upper)
{
    return lower > -INFINITY || upper < INFINITY;
}

static void choose_columns(Columns *q)
{
    const Composing *c = q->c;
    q->n_comparable = q->n_limited = q->n_varying = 0;
    for (int64_t j = 0; j < c->width; j++) {
        int in_group = 0;
        for (int64_t g = 0; g < c->group_firsts[c->n_groups]; g++)
            in_group |= c->group_columns[g] == j;
        if (is_limited(c->comparable_lower[j], c->comparable_upper[j]))
            q->comparable[q->n_comparable++] = j;
        if (is_limited(c->least[j], c->most[j])) q->limited[q->n_limited++] = j;
        if (in_group || c->lower[j] != c->upper[j]) q->varying[q->n_varying++] = j;
    }
}

static int is_within(const double *values, int64_t n, const int64_t *columns, const double *least,
                     const double *most)
{
    int fine = 1;
    for (int64_t i = 0; i < n; i++) {
        double value = values[columns[i]];
        fine &= (value >= least[columns[i]]) & (value <= most[columns[i]]);
    }
    return fine;
}

/* Write down what a row comes to; as numpy.clip has it, a limit stands for what equals it. */
static void take_over(const Composing *c, const double *restrict row, double *restrict state)
{
    for (int64_t j = 0; j < c->width; j++) {
        double value = row[j] > c->lower[j] ? row[j] : c->lower[j];
        state[j] = value < c->upper[j] ? value : c->upper[j];
    }
    for (int64_t g = 0; g < c->n_groups; g++) {
        int cut = 0;
        for (int64_t i = c->group_firsts[g]; i < c->group_firsts[g + 1]; i++) {
            int64_t j = c->group_columns[i];
            cut |= c->group_decides[i] && state[j] != row[j];
        }
        for (int64_t i = c->group_firsts[g]; cut && i < c->group_firsts[g + 1]; i++)
            state[c->group_columns[i]] = c->kept[c->group_columns[i]];
    }
}

static uint64_t hash_of(const Columns *q, const double *state)
{
    uint64_t hash = 0;
    for (int64_t i = 0; i < q->n_varying; i++) {
        double value = state[q->varying[i]] + 0.0; /* -0 and 0 are the same */
        uint64_t bits;
        memcpy(&bits, &value, sizeof bits);
        hash = (hash ^ bits) * 0x9E3779B97F4A7C15u;
        hash ^= hash >> 29;
    }
    return hash;
}

static int are_equal(const Columns *q, const double *a, const double *b)
{
    for (int64_t i = 0; i < q->n_varying; i++)
        if (a[q->varying[i]] != b[q->varying[i]]) return 0;
    return 1;
}

/* Write down the states of rows, each once, in the order of the first row that comes to it, behind
 * the `found` ones that others have come to. `slots` is a table of more than twice as many as there
 * are rows in all, a power of two, and -1 where no state is. Returns how many there are then, or -1
 * without memory. */
PUBLIC int64_t compose_states(const Composing *c, int64_t n, const double *points, double *states,
                              int64_t found, int32_t *slots, int64_t n_slots)
{
    int64_t width = c->width;
    int64_t *columns = malloc((size_t)(3 * width + 1) * sizeof(int64_t));
    if (!columns) return -1;
    Columns q = {c, 0, 0, 0, columns, columns + width, columns + 2 * width};
    choose_columns(&q);
    for (int64_t i = 0; i < n; i++) {
        const double *row = points + i * width;
        double *state = states + found * width;
        if (!is_within(row, q.n_comparable, q.comparable, c->comparable_lower, c->comparable_upper))
            continue;
        take_over(c, row, state);
        if (!is_within(state, q.n_limited, q.limited, c->least, c->most)) continue;
        uint64_t slot = hash_of(&q, state) & (uint64_t)(n_slots - 1);
        while (slots[slot] >= 0 && !are_equal(&q, states + slots[slot] * width, state))
            slot = (slot + 1) & (uint64_t)(n_slots - 1);
        if (slots[slot] < 0) slots[slot] = (int32_t)found++;
    }
    free(columns);
    return found;
}
