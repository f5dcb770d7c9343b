-- The verdicts of verdicts.csv by groups of kernels: 01 to 18 are of fp32 lessons, 19 and 20 of lesson 21, whose products are wgmma, 21
-- to 30 of lessons with mma.sync, and the others of lessons with wgmma.
.mode csv
.headers on
.import tests/collection/blind/verdicts.csv verdict
SELECT CASE WHEN kernel < '19' THEN '01-18 fp32' WHEN kernel BETWEEN '21' AND '31' THEN '21-30 mma.sync'
    ELSE '19-20, 31-40 wgmma' END AS kernels,
    count(*) AS number, sum(verdict = 'told') AS told, sum(verdict = 'vague') AS vague, sum(untrue > 0) AS with_untrue,
    sum(sentences) AS sentences, sum(untrue) AS untrue
FROM verdict GROUP BY 1;
