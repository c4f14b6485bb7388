-- Every ICU stay: whose, when, which one of the admission's it is, and how the admission ended.
CREATE TABLE stays AS
SELECT
    s.subject_id,
    s.hadm_id,
    s.icustay_id,
    s.intime,
    s.outtime,
    lower(s.dbsource) = 'metavision' AND upper(s.first_careunit) IN ('MICU', 'SICU') AS eligible,
    row_number() OVER (PARTITION BY s.hadm_id ORDER BY s.intime, s.icustay_id) AS nth,
    count(*) OVER (PARTITION BY s.hadm_id) AS stays_of_admission,
    date_sub('year', p.dob, s.intime) AS age,
    CASE upper(p.gender) WHEN 'M' THEN 1 WHEN 'F' THEN 0 END AS sex,
    a.hospital_expire_flag AS died
FROM icustays AS s
JOIN patients AS p USING (subject_id)
JOIN admissions AS a USING (hadm_id);
