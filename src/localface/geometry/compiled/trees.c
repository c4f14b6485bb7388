/* The descent through trees of any library, and the sum of what their leaves answer. */
#include "common.h"

#define TOGETHER 8   /* records that descend side by side: one waits for memory, the others go on */
#define RECORDS 256  /* records that go through a tree before the next one is taken */

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
        for (int64_t level = 0; level < t->depth; level++)
            for (int i = 0; i < TOGETHER; i++) {
                Node here = nodes[node[i]];
                node[i] = here.left + (record[i * width + here.feature] > here.threshold);
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
            for (int level = 0; level < 4; level++)
                for (int64_t i = 0; i < some; i++)
                    node[i] = next_node(t, node[i],
                                        records[(from + i) * width + t->nodes[node[i]].feature]);
            under_way = 0;
            for (int64_t i = 0; i < some; i++) under_way |= t->nodes[node[i]].left != node[i];
        }
    }
}

/* Add up what trees answer, one tree after another: (records, outputs), as `total` begins. */
PUBLIC void sum_of_leaves(const Trees *t, int64_t n, int64_t width, const double *records,
                          void *total)
{
    int64_t leaves[RECORDS], outputs = t->n_outputs;
    int missing = 0;
    for (int64_t i = 0; i < n * width; i++) missing |= records[i] != records[i];
    int by_numbers = !missing && !t->category_list;
    for (int64_t from = 0; from < n; from += RECORDS) {
        int64_t some = n - from < RECORDS ? n - from : RECORDS;
        for (int64_t tree = 0; tree < t->n_trees; tree++) {
            const double *these = records + from * width;
            if (by_numbers)
                find_leaves_by_numbers(t, t->roots[tree], some, width, these, leaves);
            else
                find_leaves(t, t->roots[tree], some, width, these, leaves);
            for (int64_t i = 0; i < some; i++)
                for (int64_t o = 0; o < outputs; o++) {
                    int64_t at = (from + i) * outputs + o, leaf = leaves[i] * outputs + o;
                    if (t->single)
                        ((float *)total)[at] += ((const float *)t->value)[leaf];
                    else
                        ((double *)total)[at] += ((const double *)t->value)[leaf];
                }
        }
    }
}
