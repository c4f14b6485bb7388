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
#if defined(__GNUC__)
#define INLINED static inline __attribute__((always_inline)) /* into each width */
#else
#define INLINED static inline
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

/* Add up as NumPy does, in pairs of eighths: the same to the last bit. */
static inline double sum_in_pairs(const double *x, int64_t n)
{
    if (n < 8) {
        double sum = n ? x[0] : 0.0;
        for (int64_t i = 1; i < n; i++) sum += x[i];
        return sum;
    }
    if (n <= 128) {
        double r[8];
        int64_t i = 8;
        for (int j = 0; j < 8; j++) r[j] = x[j];
        for (; i < n - (n % 8); i += 8)
            for (int j = 0; j < 8; j++) r[j] += x[i + j];
        double sum = ((r[0] + r[1]) + (r[2] + r[3])) + ((r[4] + r[5]) + (r[6] + r[7]));
        for (; i < n; i++) sum += x[i];
        return sum;
    }
    int64_t half = n / 2;
    half -= half % 8;
    return sum_in_pairs(x, half) + sum_in_pairs(x + half, n - half);
}

/* The lower of two values, no number where one of them is none, as numpy.minimum has it. */
static inline double lower_of(double a, double b)
{
    return a <= b || isnan(a) ? a : b;
}

/* exp for arguments up to 0, without branches, so that it is worked out for many at once. */
static inline double exponential(double x)
{
    const double shift = 6755399441055744.0; /* 1.5 * 2^52: adding it rounds to a whole number */
    x = x < -708.0 ? -708.0 : x;
    double shifted = x * 1.4426950408889634074 + shift;
    double whole = shifted - shift;
    double r = (x - whole * 6.93147180369123816490e-01) - whole * 1.90821492927058770002e-10;
    double r2 = r * r, r4 = r2 * r2; /* terms side by side: none waits for all of the others */
    double low = (1.0 + r) + r2 * (0.5 + r * (1.0 / 6.0));
    double middle = (1.0 / 24.0 + r * (1.0 / 120.0)) + r2 * (1.0 / 720.0 + r * (1.0 / 5040.0));
    double high = (1.0 / 40320.0 + r * (1.0 / 362880.0)) +
                  r2 * (1.0 / 3628800.0 + r * (1.0 / 39916800.0));
    double top = 1.0 / 479001600.0 + r * (1.0 / 6227020800.0);
    double p = low + r4 * (middle + r4 * (high + r4 * top));
    uint64_t bits;
    memcpy(&bits, &shifted, sizeof bits);
    bits = (bits + 1023) << 52;
    double scale;
    memcpy(&scale, &bits, sizeof scale);
    return p * scale;
}

#endif
