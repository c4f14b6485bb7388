/* What the library was built from: build.py works it out and hands it over. */
#include "common.h"

#ifndef FINGERPRINT
#define FINGERPRINT 0
#endif

PUBLIC uint64_t fingerprint(void)
{
    return FINGERPRINT;
}
