-- The measured results in words, and the ladder, for README.md. scripts/front runs this on the database of plots/load and selects the
-- views result and ladder_table. plots/results.sql chooses the runs.
.load build/sql_text

-- The GPU on which the solutions were timed last.
CREATE TEMP VIEW selected_gpu AS SELECT gpu FROM run WHERE what = 'attention' AND gpu IN (SELECT gpu FROM ladder) ORDER BY time DESC LIMIT 1;

-- The timings that the page quotes, with three digits as in the charts.
CREATE TEMP VIEW headline AS
SELECT dtype, name, substr(name, 1, 2) AS number, us,
    rounded(tflops, (tflops < 0.9995) + (tflops < 9.995) + (tflops < 99.95)) AS rate_text
FROM (SELECT gpu, 'fp32' AS dtype, name, us, tflops FROM ladder WHERE D = 64
    UNION ALL SELECT gpu, dtype, name, us, tflops FROM grid
    WHERE kind = 'solution' AND dtype = 'bf16' AND NOT causal AND Nq = 4096 AND D = 128) JOIN selected_gpu USING (gpu);
CREATE TEMP VIEW last_lesson AS SELECT *, max(name) FROM headline GROUP BY dtype;

-- Speed-up over each library: in bf16 of the last lesson, at the shapes of its grid; in fp32 of the fastest lesson at each shape.
-- best: the fastest library at each shape.
CREATE TEMP VIEW speed_up AS
SELECT 'bf16' AS dtype, rank, iif(library = 'best', 'the fastest of these', label) AS library, ratio
FROM over_library AS o JOIN selected_gpu USING (gpu) JOIN last_lesson USING (dtype) LEFT JOIN compared_library AS l ON l.name = library
WHERE o.name = last_lesson.name AND dtype = 'bf16'
UNION ALL
SELECT 'fp32', json_extract(value, '$[1]'), json_extract(value, '$[0]') || coalesce((SELECT ', on tensor cores' FROM unit_usage JOIN selected_gpu USING (gpu)
        WHERE name = 'torch_efficient' AND dtype = 'fp32' AND units LIKE 'tensor%' AND json_extract(value, '$[1]') = 5), ''),
    CASE json_extract(value, '$[1]') WHEN 5 THEN efficient_us WHEN 6 THEN baseline_us ELSE library_us END / us
FROM compared JOIN selected_gpu USING (gpu), json_each('[["PyTorch, memory-efficient", 5], ["cuBLAS and a softmax", 6], ["the fastest library", null]]')
WHERE NOT eager;
CREATE TEMP VIEW result AS
SELECT 1 AS line, printf('On one %s, forward pass, GPU time alone, lesson %s reaches %s TFLOP/s in bf16 (B=4 H=16 N=4096 D=128) and lesson %s %s in fp32 (B=1'
        || ' H=16 N=4096 D=64, TF32 off), %s times as fast as lesson %s. Speed-up over libraries:', device, b.number, b.rate_text, f.number, f.rate_text,
        whole(a.us / f.us), a.number) || char(10) || char(10) || '| precision | over | mean | least | shapes |' || char(10) || '|---|---|--:|--:|--:|' AS text
FROM (SELECT device FROM timing JOIN selected_gpu USING (gpu) LIMIT 1), last_lesson AS b, last_lesson AS f, (SELECT *, min(name) FROM headline
    WHERE dtype = 'fp32') AS a WHERE b.dtype = 'bf16' AND f.dtype = 'fp32'
UNION ALL
SELECT 2 + 10 * (dtype = 'fp32') + coalesce(rank, 9), printf('| %s | %s | %.2f× | %.2f× | %d |', dtype, library, exp(avg(ln(ratio))), min(ratio), count(*))
FROM speed_up WHERE ratio IS NOT NULL GROUP BY dtype, library;

CREATE TEMP VIEW ladder_table AS
SELECT '' AS position, '| lesson | its one idea | takes | TFLOP/s |' AS text
UNION ALL SELECT '0', '|---|---|---|---|'
UNION ALL
SELECT folder, printf('| [%s](lessons/%s/README.md) | %s | %s | %s |', title, folder, idea, replace(replace(hours, ' to ', '–'), ' hours', ' h'),
    coalesce((SELECT rate_text FROM headline WHERE name = folder), 'not measured yet'))
FROM lesson ORDER BY 1;
