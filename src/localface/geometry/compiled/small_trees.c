/* The leaves that many records reach in trees of few nodes: node by node, all records at once. */
#include "common.h"

#define RECORDS 256 /* that go through a tree at once */
#define MOST_NODES 511 /* of a tree */
#define SLOT_BITS 9 /* values whose rank is remembered while a column is worked out: 512 */

#if defined(CHOOSES_WIDTH) && __GNUC__ >= 12 /* numbers of 16 bits are wide on v4 alone */
#define MANY_AT_ONCE __attribute__((target_clones("arch=x86-64-v4", "avx2", "default")))
#else
#define MANY_AT_ONCE WIDE
#endif

typedef struct {
    double threshold;
    int32_t left, feature;
} Node;

/* Trees as trees.c has them, by numbers alone. A value is more than the threshold of a node where
 * its rank among all thresholds of that feature (`edges`, from `edge_firsts` on) is more than the
 * node's. */
typedef struct {
    int64_t n_trees, n_outputs, n_features, single;
    const int64_t *roots, *edge_firsts, *leading; /* features, those first that part most */
    const Node *nodes;
    const int16_t *ranks;
    const double *edges;
    const void *value; /* double, or float where single */
} SmallTrees;

/* Records under way in one tree: a label for each, and the lowest and highest rank by feature. */
typedef struct {
    const SmallTrees *t;
    int64_t n, stride;
    const int32_t *order; /* which records they are */
    const int16_t *ranks; /* features x stride, from the first of these records on */
    int16_t *least, *most;
    int16_t label[RECORDS];
    int64_t leaf_of[MOST_NODES]; /* of each label */
} UnderWay;

static int16_t rank_of(const double *edges, int64_t n, double value)
{
    int64_t low = 0, high = n; /* how many it is more than */
    while (low < high) {
        int64_t middle = (low + high) / 2;
        if (value > edges[middle])
            low = middle + 1;
        else
            high = middle;
    }
    return (int16_t)low;
}

/* The rank of one feature of all records, each at its place: many have the same few values. */
static void rank_column(const SmallTrees *t, int64_t feature, int64_t n, int64_t width,
                        const double *records, const int32_t *place, int16_t *ranks)
{
    uint64_t known[1 << SLOT_BITS];
    int16_t found[1 << SLOT_BITS];
    uint8_t used[1 << SLOT_BITS] = {0};
    const double *edges = t->edges + t->edge_firsts[feature];
    int64_t n_edges = t->edge_firsts[feature + 1] - t->edge_firsts[feature];
    for (int64_t i = 0; i < n; i++) {
        double value = records[i * width + feature];
        uint64_t bits;
        memcpy(&bits, &value, sizeof bits);
        uint64_t slot = (bits * 0x9E3779B97F4A7C15u) >> (64 - SLOT_BITS);
        if (!used[slot] || known[slot] != bits) {
            used[slot] = 1;
            known[slot] = bits;
            found[slot] = rank_of(edges, n_edges, value);
        }
        ranks[place[i]] = found[slot];
    }
}

/* Put records in the order of the leading feature that they differ in: those that go through trees
 * at once part in fewer nodes. `ranks` and `counts` are as long as there are records and ranks. */
static void order_records(const SmallTrees *t, int64_t n, int64_t width, const double *records,
                          int16_t *ranks, int32_t *counts, int32_t *place)
{
    for (int64_t i = 0; i < n; i++) place[i] = (int32_t)i;
    for (int64_t f = 0; f < t->n_features && n > RECORDS; f++) {
        int64_t feature = t->leading[f];
        int32_t first = 0;
        int64_t n_ranks = t->edge_firsts[feature + 1] - t->edge_firsts[feature] + 1;
        rank_column(t, feature, n, width, records, place, ranks);
        memset(counts, 0, (size_t)n_ranks * sizeof(int32_t));
        for (int64_t i = 0; i < n; i++) counts[ranks[i]]++;
        if (counts[ranks[0]] == n) continue;
        for (int64_t r = 0; r < n_ranks; r++) {
            int32_t many = counts[r];
            counts[r] = first;
            first += many;
        }
        for (int64_t i = 0; i < n; i++) place[i] = counts[ranks[i]]++;
        return;
    }
}

static void find_extremes(UnderWay *u)
{
    for (int64_t f = 0; f < u->t->n_features; f++) {
        const int16_t *ranks = u->ranks + f * u->stride;
        int16_t least = ranks[0], most = ranks[0];
        for (int64_t i = 1; i < u->n; i++) {
            least = ranks[i] < least ? ranks[i] : least;
            most = ranks[i] > most ? ranks[i] : most;
        }
        u->least[f] = least;
        u->most[f] = most;
    }
}

/* Give another label to those records with a label whose rank is more than a node's. */
MANY_AT_ONCE static void send_right(int64_t n, int16_t *restrict label,
                                    const int16_t *restrict ranks, int16_t here, int16_t right,
                                    int16_t rank)
{
    for (int64_t i = 0; i < n; i++)
        label[i] = (label[i] == here) & (ranks[i] > rank) ? right : label[i];
}

/* Label all records by their leaves: a left child keeps the label of its parent. */
static void find_leaves(UnderWay *u, int64_t root)
{
    struct {
        int32_t node;
        int16_t label;
    } stack[MOST_NODES];
    int16_t n_labels = 1;
    int64_t n = 0;
    memset(u->label, 0, sizeof u->label);
    stack[n].node = (int32_t)root;
    stack[n++].label = 0;
    while (n) {
        int32_t at = stack[--n].node;
        int16_t label = stack[n].label, rank = u->t->ranks[at];
        Node here = u->t->nodes[at];
        if (here.left == at) {
            u->leaf_of[label] = at;
            continue;
        }
        int32_t next = here.left;
        if (u->least[here.feature] > rank) {
            next++;
        } else if (u->most[here.feature] > rank) {
            send_right(u->n, u->label, u->ranks + here.feature * u->stride, label, n_labels, rank);
            stack[n].node = next + 1;
            stack[n++].label = n_labels++;
        }
        stack[n].node = next;
        stack[n++].label = label;
    }
}

static void add_values(const UnderWay *u, void *total)
{
    int64_t outputs = u->t->n_outputs;
    if (u->t->single) {
        const float *value = u->t->value;
        float *sum = total;
        for (int64_t i = 0; i < u->n; i++)
            for (int64_t o = 0; o < outputs; o++)
                sum[u->order[i] * outputs + o] += value[u->leaf_of[u->label[i]] * outputs + o];
        return;
    }
    const double *restrict value = u->t->value;
    double *restrict sum = total;
    if (outputs == 2) { /* a forest of two classes: most of all */
        for (int64_t i = 0; i < u->n; i++) {
            const double *restrict own = value + 2 * u->leaf_of[u->label[i]];
            sum[2 * u->order[i]] += own[0];
            sum[2 * u->order[i] + 1] += own[1];
        }
        return;
    }
    for (int64_t i = 0; i < u->n; i++)
        for (int64_t o = 0; o < outputs; o++)
            sum[u->order[i] * outputs + o] += value[u->leaf_of[u->label[i]] * outputs + o];
}

/* Add up what trees answer for records without gaps, one tree after another, as `sum_of_leaves`
 * does. Returns 0, or 1 without memory. */
PUBLIC int sum_of_small_trees(const SmallTrees *t, int64_t n, int64_t width, const double *records,
                              void *total)
{
    int64_t n_ranks = t->edge_firsts[t->n_features] + 1; /* no feature has more */
    int32_t *order = malloc((size_t)(2 * n + n_ranks) * sizeof(int32_t)), *place = order + n;
    int16_t *ranks = malloc((size_t)(t->n_features * (n + 2) + n) * sizeof(int16_t));
    if (order && ranks) {
        order_records(t, n, width, records, ranks, place + n, place);
        for (int64_t i = 0; i < n; i++) order[place[i]] = (int32_t)i;
        for (int64_t f = 0; f < t->n_features; f++)
            rank_column(t, f, n, width, records, place, ranks + f * n);
        UnderWay u = {.t = t, .stride = n, .least = ranks + t->n_features * n};
        u.most = u.least + t->n_features;
        for (int64_t from = 0; from < n; from += RECORDS) {
            u.n = n - from < RECORDS ? n - from : RECORDS;
            u.ranks = ranks + from;
            u.order = order + from;
            find_extremes(&u);
            for (int64_t tree = 0; tree < t->n_trees; tree++) {
                find_leaves(&u, t->roots[tree]);
                add_values(&u, total);
            }
        }
    }
    int failed = !order || !ranks;
    free(order);
    free(ranks);
    return failed;
}
