-- The verdicts of verdicts.csv by groups of kernels: up to 19 in fp32, 21 to 29 with mma.sync, the others with wgmma. Kernel 20 is
-- of lesson 21, whose products are wgmma.
.mode csv
.headers on
.import tests/collection/blind/verdicts.csv verdict
SELECT CASE WHEN kernel < '20' THEN '01-19 fp32' WHEN kernel BETWEEN '21' AND '30' THEN '21-29 mma.sync'
    ELSE '20, 30-40 wgmma' END AS kernels,
    count(*) AS number, sum(verdict = 'told') AS told, sum(verdict = 'vague') AS vague, sum(untrue > 0) AS with_untrue,
    sum(sentences) AS sentences, sum(untrue) AS untrue
FROM verdict GROUP BY 1;
