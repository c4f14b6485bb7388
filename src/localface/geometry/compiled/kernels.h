/* Rows with kernels on them, and rough sums of these. */
#ifndef LOCALFACE_KERNELS_H
#define LOCALFACE_KERNELS_H

#include "common.h"

/* The rows of a density. Points are what people ask about, places where kernels are round. */
typedef struct {
    int64_t n_rows, width, depth, n_regions;
    const double *matrix;        /* width x depth; none where both are the same */
    const double *columns;       /* depth x rows: places, one region after the other */
    const float *rough_columns;  /* the same in single precision */
    const float *rough_squares;  /* squared lengths of the places, likewise */
    const uint8_t *sparse;       /* places that are mostly zero in a column; none: no such column */
    const double *sparse_squares;        /* of rows: what these columns add to squared lengths */
    const double *centre_sparse_squares; /* of the centres, likewise */
    const int64_t *position;     /* where each row stands in them */
    const double *centres;       /* depth x regions */
    const float *rough_centres;  /* the same in single precision */
    const float *rough_centre_squares; /* squared lengths of the centres, likewise */
    const double *radii;         /* of regions */
    const int64_t *firsts;       /* where each region begins; the last is where all end */
    const uint8_t *discrete;     /* columns of points that flip half way */
    double bandwidth, largest;   /* largest squared length of a place */
} Kernels;

/* The columns that are looked at: in all others what is asked about is zero, and so are most rows
 * (categories that neither end of a step has). Those that are not sparse come first. */
typedef struct {
    int64_t n, n_dense, *list;
} Columns;

/* A hash table of rows by their points (steps.c), and tables of pairs of features (pairs.c). */
typedef struct RowIndex RowIndex;
typedef struct Pairs Pairs;

PUBLIC void rows_at(const RowIndex *index, int64_t n, const double *points, int64_t *rows);
PUBLIC int judge_segments(const Kernels *k, int64_t n, const double *starts, const double *ends,
                          const int64_t *rows, const double *floors, int8_t *verdicts,
                          double *bounds, double *holes, double *radii);
PUBLIC int judge_states(const Kernels *k, int64_t n, const double *points, const int64_t *rows,
                        const double *floors, int8_t *verdicts, double *bounds);
PUBLIC int lowest_log_sums(const Kernels *k, int64_t n, const double *starts, const double *ends,
                           const int64_t *rows, double *lowest);
PUBLIC int lowest_pairs(const Pairs *p, int64_t n, const double *starts, const double *ends,
                        const double *askers, const uint8_t *left_out, const double *means,
                        const double *spreads, const double *floors, int only_ends,
                        double *lowest);

/* In single precision (rough.c): within what rough_guard allows for. */
void rough_sums(const Kernels *k, const Columns *used, const float *start, const float *direction,
                const int64_t *own, double floor, const double *offsets, int n_places,
                double *sums);
void rough_sums_at(const Kernels *k, const Columns *used, int64_t n_places, const float *places,
                   const int64_t *own, const double *floors, const double *enough, double *sums);
void rough_region_distances(const Kernels *k, const Columns *used, int64_t n_places,
                            const float *places, float *distances);
double rough_sum_near(const Kernels *k, const Columns *used, const float *place,
                      const int64_t *own, double floor, double enough, int64_t n_rows,
                      float *distances);
int64_t rough_distances(const Kernels *k, const Columns *used, const float *place,
                        float *distances);
double rough_sum_within(const float *distances, int64_t n, double radius, double h,
                        double floor);

#endif
