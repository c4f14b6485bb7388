/* The descent through trees of any library, for a GPU: as trees.c has it.
 *
 * A thread takes a record through one tree after another and adds up what the leaves answer in
 * that order, so that the sum is the same to the last bit.
 */
typedef struct {
    double threshold;
    int left, feature;
} Node;

extern "C" __global__ void sum_of_leaves(
    long long n, long long width, long long n_trees, long long n_outputs, long long n_categories,
    const long long *roots, const Node *nodes, const unsigned char *missing_right,
    const long long *category_list, const unsigned char *category_right, const REAL *value,
    const double *records, REAL *total)
{
    long long i = (long long)blockIdx.x * blockDim.x + threadIdx.x;
    if (i >= n) return;
    const double *record = records + i * width;
    for (long long tree = 0; tree < n_trees; tree++) {
        int node = (int)roots[tree], before = -1;
        while (node != before) {
            Node here = nodes[node];
            double x = record[here.feature];
            int right = x > here.threshold || (x != x && missing_right[node]);
            if (category_list && category_list[node] >= 0) {
                long long last = n_categories - 1;
                long long column = x >= 0 && x < (double)last ? (long long)x : last;
                right = category_right[category_list[node] * n_categories + column];
            }
            before = node;
            node = here.left + right;
        }
        for (long long o = 0; o < n_outputs; o++)
            total[i * n_outputs + o] += value[node * n_outputs + o];
    }
}
