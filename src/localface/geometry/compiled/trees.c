/* The descent through trees of any library, and the sum of what their leaves answer. */
#include "common.h"

#define TOGETHER 8   /* records that descend side by side: one waits for memory, the others go on */
#define LEVELS 4     /* that are gone down before it is seen whether all have arrived */
#define SHALLOW 10   /* levels up to which all are gone down, without looking */
#define RECORDS 256  /* records that go through a tree before the next one is taken */

#define FEW_ALIKE 4  /* records below which each goes by itself */
#define FEW_OTHERS 4 /* values of which one at most may be another, where records go together */

/* A node: more than the threshold goes to the right of its left child. */
typedef struct {
    double threshold;
    int32_t left, feature;
} Node;

/* As `Trees` has them, in models/readers/trees.py. */
typedef struct {
    int64_t n_trees, n_outputs, n_categories, depth, single;
    const int64_t *roots;
    const Node *nodes;
    const uint8_t *missing_right;
    const int64_t *category_list;   /* none where all nodes go by numbers */
    const uint8_t *category_right;
    const void *value;              /* double, or float where single */
} Trees;

static inline int64_t next_node(const Trees *t, int64_t node, double value)
{
    int64_t right = value > t->nodes[node].threshold || (value != value && t->missing_right[node]);
    if (t->category_list && t->category_list[node] >= 0) {
        int64_t last = t->n_categories - 1;
        int64_t column = value >= 0 && value < (double)last ? (int64_t)value : last;
        right = t->category_right[t->category_list[node] * t->n_categories + column];
    }
    return t->nodes[node].left + right;
}

/* The same where nothing is missing and all nodes go by numbers: records descend side by side. */
static void find_leaves_by_numbers(const Trees *t, int64_t root, int64_t n, int64_t width,
                                   const double *records, int64_t *leaves)
{
    const Node *restrict nodes = t->nodes;
    int64_t from = 0;
    for (; from + TOGETHER <= n; from += TOGETHER) {
        const double *restrict record = records + from * width;
        int32_t node[TOGETHER];
        for (int i = 0; i < TOGETHER; i++) node[i] = (int32_t)root;
        int64_t levels = t->depth <= SHALLOW ? t->depth : LEVELS;
        for (int under_way = 1; under_way;) {
            for (int64_t level = 0; level < levels; level++)
                for (int i = 0; i < TOGETHER; i++) {
                    Node here = nodes[node[i]];
                    node[i] = here.left + (record[i * width + here.feature] > here.threshold);
                }
            under_way = 0;
            for (int i = 0; i < TOGETHER && levels < t->depth; i++)
                under_way |= nodes[node[i]].left != node[i];
        }
        for (int i = 0; i < TOGETHER; i++) leaves[from + i] = node[i];
    }
    for (; from < n; from++) {
        const double *record = records + from * width;
        int32_t node = (int32_t)root;
        for (int32_t next = -1; next != node;) {
            next = node;
            node = nodes[next].left + (record[nodes[next].feature] > nodes[next].threshold);
        }
        leaves[from] = node;
    }
}

static void find_leaves(const Trees *t, int64_t root, int64_t n, int64_t width,
                        const double *records, int64_t *leaves)
{
    for (int64_t from = 0; from < n; from += TOGETHER) {
        int64_t some = n - from < TOGETHER ? n - from : TOGETHER, under_way = 1;
        int64_t *node = leaves + from;
        for (int64_t i = 0; i < some; i++) node[i] = root;
        while (under_way) {
            for (int level = 0; level < LEVELS; level++)
                for (int64_t i = 0; i < some; i++)
                    node[i] = next_node(t, node[i],
                                        records[(from + i) * width + t->nodes[node[i]].feature]);
            under_way = 0;
            for (int64_t i = 0; i < some; i++) under_way |= t->nodes[node[i]].left != node[i];
        }
    }
}

/* Records that are mostly alike: what most of them have, and by column which ones have another
 * value there. */
typedef struct {
    double *base;
    int64_t *firsts; /* of each column in `others`; the last is where all end */
    uint16_t *others;
    int missing; /* whether any value is */
} Alike;

/* Find what records have in common; tells whether so few values are others that it pays. */
static int find_alike(int64_t n, int64_t width, const double *records, Alike *alike)
{
    int64_t many = 0, most = n * width / FEW_OTHERS;
    for (int64_t j = 0; j < width; j++) { /* what two of three have */
        double one = records[j], two = records[(n / 2) * width + j];
        alike->base[j] = memcmp(&one, &two, sizeof one) ? records[(n - 1) * width + j] : one;
    }
    for (int64_t j = 0; j < width; j++) {
        alike->firsts[j] = many;
        for (int64_t i = 0; i < n; i++) {
            if (!memcmp(&records[i * width + j], &alike->base[j], sizeof(double))) continue;
            if (many == most) return 0;
            alike->others[many++] = (uint16_t)i;
        }
    }
    alike->firsts[width] = many;
    return 1;
}

/* Go on to the leaves from where some records are, by numbers, side by side. */
static void descend_by_numbers(const Trees *t, int64_t n, const uint16_t *some, int64_t width,
                               const double *records, int64_t *leaves)
{
    const Node *restrict nodes = t->nodes;
    for (int64_t from = 0; from < n; from += TOGETHER) {
        const double *record[TOGETHER];
        int32_t node[TOGETHER];
        for (int i = 0; i < TOGETHER; i++) { /* the last one may go several times */
            int64_t one = some[from + i < n ? from + i : n - 1];
            record[i] = records + one * width;
            node[i] = (int32_t)leaves[one];
        }
        for (int under_way = 1; under_way;) {
            for (int level = 0; level < LEVELS; level++)
                for (int i = 0; i < TOGETHER; i++) {
                    Node here = nodes[node[i]];
                    node[i] = here.left + (record[i][here.feature] > here.threshold);
                }
            under_way = 0;
            for (int i = 0; i < TOGETHER; i++) under_way |= nodes[node[i]].left != node[i];
        }
        for (int i = 0; i < TOGETHER && from + i < n; i++) leaves[some[from + i]] = node[i];
    }
}

/* The leaves of records that are mostly alike: they go down together, and each leaves the others
 * where a value of its own leads it elsewhere. */
static void find_leaves_of_alike(const Trees *t, int64_t root, int64_t n, int64_t width,
                                 const double *records, const Alike *alike, int64_t *leaves)
{
    uint16_t gone[RECORDS];
    int64_t n_gone = 0, node = root;
    for (int64_t i = 0; i < n; i++) leaves[i] = -1;
    while (t->nodes[node].left != node) {
        int64_t feature = t->nodes[node].feature, next = next_node(t, node, alike->base[feature]);
        for (int64_t o = alike->firsts[feature]; o < alike->firsts[feature + 1]; o++) {
            int64_t i = alike->others[o];
            if (leaves[i] >= 0) continue;
            int64_t own = next_node(t, node, records[i * width + feature]);
            if (own == next) continue;
            leaves[i] = own;
            gone[n_gone++] = (uint16_t)i;
        }
        node = next;
    }
    for (int64_t i = 0; i < n; i++) leaves[i] = leaves[i] < 0 ? node : leaves[i];
    if (!t->category_list && !alike->missing) {
        descend_by_numbers(t, n_gone, gone, width, records, leaves);
        return;
    }
    for (int64_t o = 0; o < n_gone; o++) {
        int64_t i = gone[o], here = -1;
        while (leaves[i] != here) {
            here = leaves[i];
            leaves[i] = next_node(t, here, records[i * width + t->nodes[here].feature]);
        }
    }
}

/* Add what the leaves of one tree answer to the totals of records. */
static void add_values(const Trees *t, int64_t n, const int64_t *leaves, void *total)
{
    int64_t outputs = t->n_outputs;
    if (t->single) {
        const float *value = t->value;
        float *sum = total;
        for (int64_t i = 0; i < n; i++)
            for (int64_t o = 0; o < outputs; o++)
                sum[i * outputs + o] += value[leaves[i] * outputs + o];
        return;
    }
    const double *restrict value = t->value;
    double *restrict sum = total;
    if (outputs == 2) { /* a forest of two classes: most of all */
        for (int64_t i = 0; i < n; i++) {
            sum[2 * i] += value[2 * leaves[i]];
            sum[2 * i + 1] += value[2 * leaves[i] + 1];
        }
        return;
    }
    for (int64_t i = 0; i < n; i++)
        for (int64_t o = 0; o < outputs; o++)
            sum[i * outputs + o] += value[leaves[i] * outputs + o];
}

/* Add up what trees answer, one tree after another: (records, outputs), as `total` begins.
 * Returns 0, or 1 without memory. */
PUBLIC int sum_of_leaves(const Trees *t, int64_t n, int64_t width, const double *records,
                         void *total)
{
    int64_t leaves[RECORDS], size = t->n_outputs * (t->single ? sizeof(float) : sizeof(double));
    Alike alike = {0, 0, 0, 0};
    alike.base = malloc((size_t)(2 * width + 1) * 8 + (size_t)(RECORDS * width + 1) * 2);
    if (!alike.base) return 1;
    alike.firsts = (int64_t *)(alike.base + width);
    alike.others = (uint16_t *)(alike.firsts + width + 1);
    for (int64_t i = 0; i < n * width; i++) alike.missing |= records[i] != records[i];
    int by_numbers = !alike.missing && !t->category_list;
    for (int64_t from = 0; from < n; from += RECORDS) {
        int64_t some = n - from < RECORDS ? n - from : RECORDS;
        const double *these = records + from * width;
        int are_alike = t->depth > SHALLOW && some >= FEW_ALIKE &&
                        find_alike(some, width, these, &alike);
        for (int64_t tree = 0; tree < t->n_trees; tree++) {
            if (are_alike)
                find_leaves_of_alike(t, t->roots[tree], some, width, these, &alike, leaves);
            else if (by_numbers)
                find_leaves_by_numbers(t, t->roots[tree], some, width, these, leaves);
            else
                find_leaves(t, t->roots[tree], some, width, these, leaves);
            add_values(t, some, leaves, (char *)total + from * size);
        }
    }
    free(alike.base);
    return 0;
}
