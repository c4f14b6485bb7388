-- One line for each row of the cohort: who and when, the 22 features, and whether they were ready.
CREATE TABLE extracted AS
WITH wide AS (
    SELECT
        icustay_id,
        x,
        max(CASE WHEN $tube_carried THEN last ELSE high END) FILTER (feature = 'airway') AS airway,
        max(last) FILTER (feature = 'fio2') AS fio2,
        max(coalesce(low, last)) FILTER (feature = 'spo2') AS spo2_min,
        max(last) FILTER (feature = 'hco3') AS hco3,
        max(coalesce(low, last)) FILTER (feature = 'resp') AS resp_min,
        max(coalesce(high, last)) FILTER (feature = 'resp') AS resp_max,
        max(coalesce(low, last)) FILTER (feature = 'bp') AS bp_min,
        max(coalesce(low, last)) FILTER (feature = 'hr') AS hr_min,
        max(coalesce(high, last)) FILTER (feature = 'hr') AS hr_max,
        max(last) FILTER (feature = 'pain') AS pain,
        max(coalesce(low, last)) FILTER (feature = 'gcs') AS gcs_min,
        max(coalesce(low, last)) FILTER (feature = 'temp') AS temp_min,
        max(coalesce(high, last)) FILTER (feature = 'temp') AS temp_max,
        max(last) FILTER (feature = 'haemoglobin') AS haemoglobin,
        max(last) FILTER (feature = 'k') AS k,
        max(last) FILTER (feature = 'na') AS na,
        max(last) FILTER (feature = 'creatinine') AS creatinine,
        max(last) FILTER (feature = 'bun') AS bun,
        max(last) FILTER (feature = 'weight') / (max(nullif(last, 0)) FILTER (feature = 'height') / 100) ** 2 AS bmi
    FROM windows
    GROUP BY icustay_id, x
)
SELECT
    'mimic' AS source,
    s.subject_id,
    s.hadm_id,
    s.icustay_id,
    s.x,
    s.time,
    coalesce(w.airway, 0)::DOUBLE AS airway,
    w.* EXCLUDE (icustay_id, x, airway, bmi),
    CASE WHEN w.bmi BETWEEN 10 AND 80 OR NOT $bmi_limited THEN w.bmi END AS bmi,
    epoch(s.time - s.intime) / 3600 AS los,
    CASE WHEN s.age > 89 AND $age_capped THEN 91 ELSE s.age END::DOUBLE AS age,
    s.sex::DOUBLE AS sex,
    s.ready
FROM samples AS s
LEFT JOIN wide AS w USING (icustay_id, x)
ORDER BY s.subject_id, s.icustay_id, s.x;
