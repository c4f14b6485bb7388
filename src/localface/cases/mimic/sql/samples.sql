-- A row at callout, and one for each day X before it that the stay is long enough for.
CREATE TABLE samples AS
WITH zero AS (
    SELECT
        cohort.*,
        called.zero,
        CAST(coalesce(died, 0) = 0 AND nth = stays_of_admission AS INTEGER) AS ready
    FROM cohort
    JOIN called USING (icustay_id)
    WHERE callouts = 1 OR NOT $single_callout_only
)
SELECT subject_id, hadm_id, icustay_id, 0 AS x, zero AS time, ready, intime, age, sex
FROM zero
UNION ALL
SELECT subject_id, hadm_id, icustay_id, x, zero - to_hours(24 * x), 0, intime, age, sex
FROM zero, (SELECT unnest($extra_days::INTEGER[]) AS x)
WHERE zero - intime >= to_hours(24 * (x + 1) + 4) AND (ready = 1 OR $extra_of_all_stays);
