-- What was seen in the four hours up to a row's time, and the last that was seen in the 36 hours up to it.
CREATE TABLE windows AS
SELECT
    s.icustay_id,
    s.x,
    m.feature,
    min(m.value) FILTER (m.charttime >= s.time - INTERVAL 4 HOUR) AS low,
    max(m.value) FILTER (m.charttime >= s.time - INTERVAL 4 HOUR) AS high,
    arg_max(m.value, {'time': m.charttime, 'rank': -m.rank, 'value': m.value}) AS last
FROM samples AS s
JOIN measured AS m USING (icustay_id)
WHERE m.charttime <= s.time
    AND (m.charttime >= s.time - INTERVAL 36 HOUR OR m.feature IN ('height', 'weight'))
GROUP BY ALL;
