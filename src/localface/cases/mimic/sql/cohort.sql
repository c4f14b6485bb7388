-- MetaVision stays that began in a medical or surgical ICU, and their callouts that led to discharge.
CREATE TABLE cohort AS
SELECT *
FROM stays
WHERE eligible AND (nth = 1 OR NOT $first_stay_only);

CREATE TABLE called AS
SELECT s.icustay_id, count(*) AS callouts, max(c.createtime) AS zero
FROM cohort AS s
JOIN callout AS c USING (hadm_id)
WHERE c.callout_outcome = 'Discharged' AND c.createtime BETWEEN s.intime AND s.outtime
GROUP BY s.icustay_id;
