/* The descent through trees of any library, and the sum of what their leaves answer. */
#include "common.h"

#define TOGETHER 8   /* records that descend side by side: one waits for memory, the others go on */
#define RECORDS 256  /* records that go through a tree before the next one is taken */

/* As `Trees` has them, in models/readers/trees.py. */
typedef struct {
    int64_t n_trees, n_outputs, n_categories, depth, single;
    const int64_t *roots, *left, *feature;
    const double *threshold;
    const uint8_t *missing_right;
    const int64_t *category_list;   /* none where all nodes go by numbers */
    const uint8_t *category_right;
    const void *value;              /* double, or float where single */
} Trees;

static inline int64_t next_node(const Trees *t, int64_t node, double value)
{
    int64_t right = value > t->threshold[node] || (value != value && t->missing_right[node]);
    if (t->category_list && t->category_list[node] >= 0) {
        int64_t last = t->n_categories - 1;
        int64_t column = value >= 0 && value < (double)last ? (int64_t)value : last;
        right = t->category_right[t->category_list[node] * t->n_categories + column];
    }
    return t->left[node] + right;
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
                                        records[(from + i) * width + t->feature[node[i]]]);
            under_way = 0;
            for (int64_t i = 0; i < some; i++) under_way |= t->left[node[i]] != node[i];
        }
    }
}

/* Add up what trees answer, one tree after another: (records, outputs), as `total` begins. */
PUBLIC void sum_of_leaves(const Trees *t, int64_t n, int64_t width, const double *records,
                          void *total)
{
    int64_t leaves[RECORDS], outputs = t->n_outputs;
    for (int64_t from = 0; from < n; from += RECORDS) {
        int64_t some = n - from < RECORDS ? n - from : RECORDS;
        for (int64_t tree = 0; tree < t->n_trees; tree++) {
            find_leaves(t, t->roots[tree], some, width, records + from * width, leaves);
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
