/* Exponentials of many numbers at once, in place. */
#include "common.h"

/* None of the numbers is above 0 by more than a trace; what is too small to be exact becomes 0. */
WIDE PUBLIC void exponentials(double *values, int64_t n)
{
    for (int64_t i = 0; i < n; i++) {
        double found = exponential(values[i]);
        values[i] = values[i] < -708.0 ? 0.0 : found;
    }
}
