-- What each charted value comes to in the units of the paper, and why it does not count, if it does not.
CREATE TABLE judged AS
SELECT
    c.icustay_id,
    c.charttime,
    i.feature,
    i.rank,
    CASE WHEN i.fraction AND c.number <= 1 THEN c.number * 100 ELSE c.number END AS mended,
    CASE WHEN i.feature = 'airway' THEN 1 ELSE mended * i.scale + i.shift END AS value,
    CASE
        WHEN $errors_dropped AND c.error THEN 'charted in error'
        WHEN lower(trim(c.says)) = lower(i.void) THEN 'said to be absent'
        WHEN i.feature = 'airway' THEN NULL
        WHEN mended IS NULL THEN 'no number'
        WHEN mended < i.low OR mended > i.high THEN 'outside the limits'
    END AS fault
FROM charted AS c
JOIN items AS i USING (itemid);

-- A coma score is the sum of its three parts at one time; of a part charted twice, the worse one.
INSERT INTO judged
SELECT
    icustay_id,
    charttime,
    'gcs',
    0,
    NULL,
    sum(worst) AS total,
    CASE WHEN total NOT BETWEEN 3 AND 15 THEN 'outside the limits' END
FROM (
    SELECT icustay_id, charttime, feature, min(value) AS worst
    FROM judged
    WHERE fault IS NULL AND feature IN ('gcs_eye', 'gcs_verbal', 'gcs_motor')
    GROUP BY ALL
)
GROUP BY icustay_id, charttime
HAVING count(*) = 3;

CREATE VIEW measured AS
SELECT icustay_id, charttime, feature, rank, value
FROM judged
WHERE fault IS NULL AND feature NOT IN ('gcs_eye', 'gcs_verbal', 'gcs_motor');
