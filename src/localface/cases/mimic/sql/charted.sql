-- The one pass over CHARTEVENTS: the items that matter, of the stays that matter, while they matter.
CREATE TABLE charted AS
WITH spans AS (
    SELECT icustay_id, min(time) - INTERVAL 36 HOUR AS since, max(time) AS zero
    FROM samples
    GROUP BY icustay_id
)
SELECT
    c.icustay_id,
    i.itemid,
    c.charttime,
    coalesce(c.error, 0) = 1 AS error,
    coalesce(
        c.valuenum,
        CASE WHEN $text_numbers_read
            THEN TRY_CAST(regexp_extract(c.value, '^\s*([-+]?[0-9]*\.?[0-9]+)\s*%?\s*\z', 1) AS DOUBLE)
        END
    ) AS number,
    CASE WHEN i.void IS NOT NULL THEN c.value END AS says
FROM chartevents AS c
JOIN items AS i USING (itemid)
JOIN spans AS s USING (icustay_id)
WHERE c.charttime <= s.zero AND (c.charttime >= s.since OR i.feature IN ('height', 'weight'));
