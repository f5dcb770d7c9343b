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

-- Geometric mean of the libraries' times over the last lesson's times on the grid; best: the fastest library at each shape.
CREATE TEMP VIEW library_mean AS
SELECT library, exp(avg(ln(ratio))) AS ratio, min(ratio) AS least, count(*) AS shapes
FROM over_library AS o JOIN selected_gpu USING (gpu) JOIN last_lesson USING (dtype) WHERE o.name = last_lesson.name AND dtype = 'bf16' GROUP BY library;

CREATE TEMP VIEW result AS
SELECT 1 AS line, printf('Measured on one %s, forward pass, GPU time alone:', device) || char(10) AS text
FROM timing JOIN selected_gpu USING (gpu) GROUP BY NULL
UNION ALL
SELECT 2, printf('- **bf16** (tensor cores; B=4 H=16 N=4096 D=128, no mask): %s TFLOP/s in lesson %s. Compared at each of %d shapes with the'
        || ' fastest library there (%s), it is %.2f times as fast in the geometric mean and %.3f times at least. It is %s.',
    z.rate_text, z.number, b.shapes, (SELECT group_concat(label, ', ') FROM (SELECT label FROM library_mean JOIN compared_library AS l ON l.name = library_mean.library
        ORDER BY rank)), b.ratio, b.least, (SELECT group_concat(text, ', ') FROM (SELECT printf('%.2f times as fast as %s', ratio, label) AS text
        FROM library_mean JOIN compared_library AS l ON l.name = library_mean.library ORDER BY rank)))
FROM last_lesson AS z JOIN library_mean AS b ON b.library = 'best' WHERE dtype = 'bf16'
UNION ALL
SELECT 3, printf('- **fp32** (TF32 off; B=1 H=16 N=4096 D=64): from %s TFLOP/s in lesson %s to %s in lesson %s, %s times as fast, on the FMA'
        || ' units alone. PyTorch''s memory-efficient path%s takes %.2f times as long as lesson %s, and cuBLAS with a softmax between its GEMMs'
        || ' %.2f times.',
    a.rate_text, a.number, z.rate_text, z.number, whole(a.us / z.us), coalesce((SELECT ', which runs on ' || replace(replace(units, ', TF32: ', ' ('), '3xTF32',
            '3xTF32)') || ',' FROM unit_usage JOIN selected_gpu USING (gpu) WHERE name = 'torch_efficient' AND dtype = 'fp32' AND units LIKE 'tensor%'), ''),
    c.efficient_us / c.us, z.number, c.baseline_us / c.us)
FROM (SELECT *, min(name) FROM headline WHERE dtype = 'fp32') AS a, last_lesson AS z, compared AS c JOIN selected_gpu USING (gpu)
WHERE z.dtype = 'fp32' AND c.name = z.name AND shape = '1,16,4096,64' AND NOT eager AND c.efficient_us > 0 AND c.baseline_us > 0;

CREATE TEMP VIEW ladder_table AS
SELECT '' AS position, '| lesson | its one idea | takes about | TFLOP/s |' AS text
UNION ALL SELECT '0', '|---|---|---|---|'
UNION ALL
SELECT folder, printf('| [%s](lessons/%s/README.md) | %s | %s | %s |', title, folder, idea, replace(replace(hours, ' to ', '–'), ' hours', ' h'),
    coalesce((SELECT rate_text || ' ' || dtype FROM headline WHERE name = folder), 'not measured yet'))
FROM lesson ORDER BY 1;
