/* What is asked most, compiled.
 *
 * Nothing here decides what NumPy would decide otherwise. Kernel sums are rounded differently, so
 * whatever lies within the guard is left undecided, for the referee in Python. Pairs, codes and
 * trees are worked out in the same order as by NumPy, to the last bit. No state is kept between
 * calls. Structures are mirrored in the Python modules of this folder.
 */
#ifndef LOCALFACE_COMMON_H
#define LOCALFACE_COMMON_H

#include <math.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#if defined(__GNUC__) && !defined(__clang__) && defined(__x86_64__) && defined(__gnu_linux__)
#define WIDE __attribute__((target_clones("avx512f", "avx2", "default")))
#define CHOOSES_WIDTH
#else
#define WIDE
#endif
#if defined(_WIN32)
#define PUBLIC __declspec(dllexport)
#else
#define PUBLIC __attribute__((visibility("default")))
#endif

#define FLOOR_TOLERANCE 1e-9
#define BLOCK 256 /* rows worked on at a time: as many as fit next to the processor */

/* The number of ascending edges that a value reaches. */
static inline int64_t reached(const double *edges, int64_t n, double value)
{
    int64_t low = 0, high = n;
    while (low < high) {
        int64_t middle = (low + high) / 2;
        if (value >= edges[middle]) /* false where there is no number */
            low = middle + 1;
        else
            high = middle;
    }
    return low;
}

/* The lower of two values, no number where one of them is none, as numpy.minimum has it. */
static inline double lower_of(double a, double b)
{
    return a <= b || isnan(a) ? a : b;
}

#endif
