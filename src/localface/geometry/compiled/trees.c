/* The descent through trees of any library, and the sum of what their leaves answer. */
#include "common.h"

#define TOGETHER 8   /* records that descend side by side: one waits for memory, the others go on */
#define LEVELS 4     /* that are gone down before it is seen whether all have arrived */
#define SHALLOW 10   /* levels up to which all are gone down, without looking */
#define RECORDS 256  /* records that go through a tree together, before the next one is taken */
#define MANY 1024    /* the same where each goes by itself */

#define LEAVES (TREES * RECORDS) /* no fewer than MANY */
#define WORDS (RECORDS / 64)
#define TREES 16       /* that are gone down in turns */
#define LEVELS_ALONE 8 /* levels up to which each goes down by itself: it takes no longer */
#define FEW_ALIKE 4    /* records below which each goes by itself */
#define FEW_VALUES 4   /* of so many values one at most may be new, where records go together */
#define FEW_TOGETHER 6 /* records that go on one by one */

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

/* Fetch what a leaf answers, for later. */
INLINED void fetch_value(const Trees *t, int64_t leaf)
{
    __builtin_prefetch((const char *)t->value + leaf * t->n_outputs * (t->single ? 4 : 8));
}

/* The same where nothing is missing and all nodes go by numbers: records descend side by side. */
static void find_leaves_by_numbers(const Trees *t, int64_t root, int64_t n, int64_t width,
                                   const double *records, int32_t *leaves)
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
        for (int i = 0; i < TOGETHER; i++) {
            leaves[from + i] = node[i];
            fetch_value(t, node[i]);
        }
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
                        const double *records, int32_t *leaves)
{
    for (int64_t from = 0; from < n; from += TOGETHER) {
        int64_t some = n - from < TOGETHER ? n - from : TOGETHER, under_way = 1;
        int32_t *node = leaves + from;
        for (int64_t i = 0; i < some; i++) node[i] = (int32_t)root;
        while (under_way) {
            for (int level = 0; level < LEVELS; level++)
                for (int64_t i = 0; i < some; i++)
                    node[i] = (int32_t)next_node(
                        t, node[i], records[(from + i) * width + t->nodes[node[i]].feature]);
            under_way = 0;
            for (int64_t i = 0; i < some; i++) under_way |= t->nodes[node[i]].left != node[i];
        }
    }
}

/* A set of the records of one block, a bit each. */
typedef struct {
    uint64_t words[WORDS];
} Set;

/* The records of one block by what they have: of each column the values that occur, ascending, and
 * who has more than the first of them, the first two and so on, all to begin with. Numbers that are
 * missing are none of them. */
typedef struct {
    int64_t *firsts; /* of each column in `values`; the last is where all end */
    double *values;
    Set *beyond; /* one more for each column than there are values */
    Set *missing;
} Columns;

INLINED void put_in(Set *set, int64_t one)
{
    set->words[one / 64] |= (uint64_t)1 << (one % 64);
}

INLINED int64_t size_of(const Set *set)
{
    int64_t size = 0;
    for (int w = 0; w < WORDS; w++) size += __builtin_popcountll(set->words[w]);
    return size;
}

/* A set of all. */
INLINED Set everyone(int64_t n)
{
    Set all = {{0}};
    for (int64_t w = 0; w < n / 64; w++) all.words[w] = ~(uint64_t)0;
    if (n % 64) all.words[n / 64] = ((uint64_t)1 << n % 64) - 1;
    return all;
}

/* Who has not the value that most of them may have: what two of three have. */
INLINED Set find_others(int64_t n, int64_t width, const double *column, double base)
{
    Set others = {{0}};
    for (int64_t i = 0; i < n; i++)
        others.words[i / 64] |= (uint64_t)(column[i * width] != base) << (i % 64);
    return others;
}

/* Sort the values of one column, who has each and who has more; -1 where these are too many. */
static int64_t sort_column(int64_t n, int64_t width, const double *column, int64_t most,
                           double *values, Set *beyond, Set *missing)
{
    double base = column[0] == column[n / 2 * width] ? column[0] : column[(n - 1) * width];
    Set others = find_others(n, width, column, base);
    int64_t many = base == base;
    if (many > most) return -1;
    memset(missing, 0, sizeof *missing);
    if (many) {
        values[0] = base;
        beyond[0] = everyone(n);
        for (int w = 0; w < WORDS; w++) beyond[0].words[w] &= ~others.words[w];
    }
    for (int64_t left = size_of(&others), i = 0; left; i++) {
        if (!(others.words[i / 64] >> (i % 64) & 1)) continue;
        left--;
        double value = column[i * width];
        if (value != value) {
            put_in(missing, i);
            continue;
        }
        int64_t at = 0;
        while (at < many && values[at] < value) at++;
        if (at == many || values[at] != value) {
            if (many == most) return -1;
            memmove(values + at + 1, values + at, (size_t)(many - at) * sizeof *values);
            memmove(beyond + at + 1, beyond + at, (size_t)(many - at) * sizeof *beyond);
            values[at] = value;
            memset(beyond + at, 0, sizeof *beyond);
            many++;
        }
        put_in(beyond + at, i);
    }
    memset(beyond + many, 0, sizeof *beyond);
    for (int64_t k = many - 1; k >= 0; k--)
        for (int w = 0; w < WORDS; w++) beyond[k].words[w] |= beyond[k + 1].words[w];
    return many;
}

/* Sort what records have; tells whether the values are so few that it pays. */
static int sort_columns(int64_t n, int64_t width, const double *records, Columns *columns)
{
    int64_t many = 0, most = n * width / FEW_VALUES;
    for (int64_t j = 0; j < width; j++) {
        columns->firsts[j] = many;
        int64_t more = sort_column(n, width, records + j, most - many, columns->values + many,
                                   columns->beyond + many + j, columns->missing + j);
        if (more < 0) return 0;
        many += more;
    }
    columns->firsts[width] = many;
    return 1;
}

/* Some records at one node of a tree. */
typedef struct {
    Set who;
    int32_t node;
    int16_t tree, size;
} Group;

/* One record at a node of a tree. */
typedef struct {
    int32_t node;
    uint16_t tree, record;
} Alone;

/* Where the records of one block are in some trees, level by level. */
typedef struct {
    Group *groups, *next;
    Alone *alone;
    int64_t n_groups, n_next, n_alone;
    int32_t *leaves; /* RECORDS for each tree */
} Descent;

/* Who of a group goes to the right. */
INLINED Set goes_right(const Trees *t, const Group *group, const Columns *columns)
{
    const Node *node = t->nodes + group->node;
    int64_t feature = node->feature, first = columns->firsts[feature];
    int64_t n = columns->firsts[feature + 1] - first, up_to = 0;
    const double *values = columns->values + first;
    const Set *beyond = columns->beyond + first + feature, *missing = columns->missing + feature;
    int by_category = t->category_list && t->category_list[group->node] >= 0;
    Set right = {{0}};
    if (by_category) {
        for (int64_t k = 0; k < n; k++)
            if (next_node(t, group->node, values[k]) != node->left)
                for (int w = 0; w < WORDS; w++)
                    right.words[w] |= beyond[k].words[w] & ~beyond[k + 1].words[w];
    } else {
        for (int64_t high = n; up_to < high;) {
            int64_t middle = (up_to + high) / 2;
            if (values[middle] > node->threshold) high = middle;
            else up_to = middle + 1;
        }
        right = beyond[up_to];
    }
    if (by_category ? next_node(t, group->node, NAN) != node->left : t->missing_right[group->node])
        for (int w = 0; w < WORDS; w++) right.words[w] |= missing->words[w];
    for (int w = 0; w < WORDS; w++) right.words[w] &= group->who.words[w];
    return right;
}

/* Let some records go on to a node: together where they are many. */
INLINED void go_on(const Trees *t, Descent *at, const Set *who, int64_t size, int64_t node,
                         int64_t tree)
{
    __builtin_prefetch(t->nodes + node);
    if (size > FEW_TOGETHER) {
        Group *group = at->next + at->n_next++;
        group->who = *who;
        group->node = (int32_t)node;
        group->tree = (int16_t)tree;
        group->size = (int16_t)size;
        return;
    }
    for (int w = 0; w < WORDS; w++)
        for (uint64_t left = who->words[w]; left; left &= left - 1) {
            Alone *one = at->alone + at->n_alone++;
            one->node = (int32_t)node;
            one->tree = (uint16_t)tree;
            one->record = (uint16_t)(64 * w + __builtin_ctzll(left));
        }
}

/* Go one level down with all groups that have not arrived. */
INLINED void go_down(const Trees *t, const Columns *columns, Descent *at)
{
    at->n_next = 0;
    for (int64_t g = 0; g < at->n_groups; g++) {
        const Group *group = at->groups + g;
        int64_t left = t->nodes[group->node].left;
        if (left == group->node) {
            int32_t *leaves = at->leaves + group->tree * RECORDS;
            fetch_value(t, left);
            for (int w = 0; w < WORDS; w++)
                for (uint64_t who = group->who.words[w]; who; who &= who - 1)
                    leaves[64 * w + __builtin_ctzll(who)] = group->node;
            continue;
        }
        Set right = goes_right(t, group, columns), rest;
        int64_t n_right = size_of(&right);
        for (int w = 0; w < WORDS; w++) rest.words[w] = group->who.words[w] & ~right.words[w];
        if (n_right) go_on(t, at, &right, n_right, left + 1, group->tree);
        if (n_right < group->size) go_on(t, at, &rest, group->size - n_right, left, group->tree);
    }
    Group *groups = at->groups;
    at->groups = at->next;
    at->next = groups;
    at->n_groups = at->n_next;
}

/* Find the leaves of those who go by themselves, side by side. */
INLINED void descend_alone(const Trees *t, int64_t width, const double *records, int by_numbers,
                                 Descent *at)
{
    const Node *restrict nodes = t->nodes;
    for (int64_t from = 0; from < at->n_alone; from += TOGETHER) {
        const Alone *who[TOGETHER];
        const double *record[TOGETHER];
        int32_t node[TOGETHER];
        for (int i = 0; i < TOGETHER; i++) { /* the last one may go several times */
            who[i] = at->alone + (from + i < at->n_alone ? from + i : at->n_alone - 1);
            record[i] = records + who[i]->record * width;
            node[i] = who[i]->node;
        }
        for (int under_way = 1; under_way;) {
            for (int level = 0; level < LEVELS; level++)
                for (int i = 0; i < TOGETHER; i++) {
                    Node here = nodes[node[i]];
                    node[i] = by_numbers
                        ? here.left + (record[i][here.feature] > here.threshold)
                        : (int32_t)next_node(t, node[i], record[i][here.feature]);
                }
            under_way = 0;
            for (int i = 0; i < TOGETHER; i++) under_way |= nodes[node[i]].left != node[i];
        }
        for (int i = 0; i < TOGETHER; i++) {
            at->leaves[who[i]->tree * RECORDS + who[i]->record] = node[i];
            fetch_value(t, node[i]);
        }
    }
}

/* The leaves in some trees of records of which many have the same values: they go down together,
 * and part where a node leads them apart. Those of whom few are left go on one by one. All trees
 * take turns: what one waits for is fetched while others go on. */
WIDE
static void find_leaves_together(const Trees *t, int64_t first, int64_t n_trees, int64_t n,
                                 int64_t width, const double *records, const Columns *columns,
                                 int by_numbers, Descent *at)
{
    Set all = everyone(n);
    at->n_next = at->n_alone = 0;
    for (int64_t tree = 0; tree < n_trees; tree++)
        go_on(t, at, &all, n, t->roots[first + tree], tree);
    Group *groups = at->groups;
    at->groups = at->next;
    at->next = groups;
    at->n_groups = at->n_next;
    while (at->n_groups) go_down(t, columns, at);
    descend_alone(t, width, records, by_numbers, at);
}

/* Add what the leaves of one tree answer to the totals of records. */
static void add_values(const Trees *t, int64_t n, const int32_t *leaves, void *total)
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

/* Take some of the memory. */
static void *take(char **memory, size_t size)
{
    void *taken = *memory;
    *memory += (size + 63) / 64 * 64;
    return taken;
}

/* Memory for one block of records. */
static void *make_room(int64_t n, int64_t width, Columns *columns, Descent *at)
{
    int64_t most = n * width / FEW_VALUES;
    size_t groups = (size_t)(TREES * (n / FEW_TOGETHER + 1)) * sizeof(Group);
    size_t sizes[] = {
        (size_t)(width + 1) * sizeof(int64_t), (size_t)most * sizeof(double),
        (size_t)(most + width) * sizeof(Set), (size_t)width * sizeof(Set), groups, groups,
        (size_t)(TREES * n) * sizeof(Alone), (size_t)LEAVES * sizeof(int32_t),
    };
    size_t all = 0;
    for (int i = 0; i < 8; i++) all += sizes[i] + 64;
    char *memory = malloc(all), *left = memory;
    if (!memory) return NULL;
    columns->firsts = take(&left, sizes[0]);
    columns->values = take(&left, sizes[1]);
    columns->beyond = take(&left, sizes[2]);
    columns->missing = take(&left, sizes[3]);
    at->groups = take(&left, sizes[4]);
    at->next = take(&left, sizes[5]);
    at->alone = take(&left, sizes[6]);
    at->leaves = take(&left, sizes[7]);
    return memory;
}

/* How many records are next to go through all trees, and whether they go together. Who have little
 * in common are more at a time: each tree is fetched once for all of them. */
static int64_t next_block(const Trees *t, int64_t n, int64_t width, const double *records,
                          Columns *columns, int *together)
{
    int64_t block = 0;
    *together = 0;
    while (block < n && block < MANY) {
        int64_t more = n - block < RECORDS ? n - block : RECORDS;
        int alike = t->depth > LEVELS_ALONE && more >= FEW_ALIKE &&
                    sort_columns(more, width, records + block * width, columns);
        if (alike && block) break;
        block += more;
        *together = alike;
        if (alike) break;
    }
    return block;
}

/* Add up what trees answer, one tree after another: (records, outputs), as `total` begins.
 * Returns 0, or 1 without memory. */
PUBLIC int sum_of_leaves(const Trees *t, int64_t n, int64_t width, const double *records,
                         void *total)
{
    int64_t size = t->n_outputs * (t->single ? sizeof(float) : sizeof(double)), missing = 0;
    Columns columns;
    Descent at;
    void *room = make_room(n < RECORDS ? n : RECORDS, width, &columns, &at);
    if (!room) return 1;
    for (int64_t i = 0; i < n * width; i++) missing |= records[i] != records[i];
    int by_numbers = !missing && !t->category_list;
    for (int64_t from = 0, some; from < n; from += some) {
        const double *these = records + from * width;
        int together;
        some = next_block(t, n - from, width, these, &columns, &together);
        for (int64_t tree = 0; tree < t->n_trees; tree++) {
            int32_t *leaves = at.leaves + (together ? tree % TREES * RECORDS : 0);
            int64_t left = t->n_trees - tree;
            if (together && tree % TREES == 0)
                find_leaves_together(t, tree, left < TREES ? left : TREES, some, width, these,
                                     &columns, by_numbers, &at);
            else if (!together && by_numbers)
                find_leaves_by_numbers(t, t->roots[tree], some, width, these, leaves);
            else if (!together)
                find_leaves(t, t->roots[tree], some, width, these, leaves);
            add_values(t, some, leaves, (char *)total + from * size);
        }
    }
    free(room);
    return 0;
}
