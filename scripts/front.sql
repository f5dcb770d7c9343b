-- README.md's figures in words and its ladder, for scripts/front: run on what plots/load has made, it asks for the view that has the text
-- of a block. Which run is shown, and what may stand beside what, is said in plots/results.sql.
.load build/sql_text

-- Of several GPUs the one on which the solutions were timed last.
CREATE TEMP VIEW chosen AS SELECT gpu FROM run WHERE what = 'attention' AND gpu IN (SELECT gpu FROM ladder) ORDER BY time DESC LIMIT 1;

-- The shapes that one figure stands for, with three digits as the charts have them.
CREATE TEMP VIEW measured AS
SELECT dtype, name, substr(name, 1, 2) AS number, us,
    rounded(tflops, (tflops < 0.9995) + (tflops < 9.995) + (tflops < 99.95)) AS shown
FROM (SELECT gpu, 'fp32' AS dtype, name, us, tflops FROM ladder WHERE D = 64
    UNION ALL SELECT gpu, dtype, name, us, tflops FROM grid
    WHERE kind = 'solution' AND dtype = 'bf16' AND NOT causal AND Nq = 4096 AND D = 128) JOIN chosen USING (gpu);
CREATE TEMP VIEW last AS SELECT *, max(name) FROM measured GROUP BY dtype;

-- The libraries' times over those of the last lesson of the grid; best: at each shape the fastest library's.
CREATE TEMP VIEW mean AS
SELECT library, exp(avg(ln(ratio))) AS ratio, min(ratio) AS least, count(*) AS shapes
FROM over_library AS o JOIN chosen USING (gpu) JOIN last USING (dtype) WHERE o.name = last.name AND dtype = 'bf16' GROUP BY library;

CREATE TEMP VIEW result AS
SELECT 1 AS line, printf('Measured on one %s, forward pass, GPU time alone:', device) || char(10) AS text
FROM timing JOIN chosen USING (gpu) GROUP BY NULL
UNION ALL
SELECT 2, printf('- **bf16** (tensor cores; B=4 H=16 N=4096 D=128, no mask): %s TFLOP/s in lesson %s. Compared at each of %d shapes with the'
        || ' fastest library there (%s), it is %.2f times as fast in the geometric mean and %.3f times at least. It is %s.',
    z.shown, z.number, b.shapes, (SELECT group_concat(words, ', ') FROM (SELECT words FROM mean JOIN compared_library AS l ON l.name = mean.library
        ORDER BY rank)), b.ratio, b.least, (SELECT group_concat(text, ', ') FROM (SELECT printf('%.2f times as fast as %s', ratio, words) AS text
        FROM mean JOIN compared_library AS l ON l.name = mean.library ORDER BY rank)))
FROM last AS z JOIN mean AS b ON b.library = 'best' WHERE dtype = 'bf16'
UNION ALL
SELECT 3, printf('- **fp32** (TF32 off; B=1 H=16 N=4096 D=64): from %s TFLOP/s in lesson %s to %s in lesson %s, %s times as fast, on the FMA'
        || ' units alone. PyTorch''s memory-efficient path%s takes %.2f times as long as lesson %s, and cuBLAS with a softmax between its GEMMs'
        || ' %.2f times.',
    a.shown, a.number, z.shown, z.number, whole(a.us / z.us), coalesce((SELECT ', which runs on ' || replace(replace(units, ', TF32: ', ' ('), '3xTF32',
            '3xTF32)') || ',' FROM runs_on JOIN chosen USING (gpu) WHERE name = 'torch_efficient' AND dtype = 'fp32' AND units LIKE 'tensor%'), ''),
    c.efficient_us / c.us, z.number, c.baseline_us / c.us)
FROM (SELECT *, min(name) FROM measured WHERE dtype = 'fp32') AS a, last AS z, compared AS c JOIN chosen USING (gpu)
WHERE z.dtype = 'fp32' AND c.name = z.name AND shape = '1,16,4096,64' AND NOT eager AND c.efficient_us > 0 AND c.baseline_us > 0;

CREATE TEMP VIEW ladder_table AS
SELECT '' AS place, '| lesson | its one idea | takes about | TFLOP/s |' AS text
UNION ALL SELECT '0', '|---|---|---|---|'
UNION ALL
SELECT folder, printf('| [%s](lessons/%s/README.md) | %s | %s | %s |', title, folder, idea, replace(replace(hours, ' to ', '–'), ' hours', ' h'),
    coalesce((SELECT shown || ' ' || dtype FROM measured WHERE name = folder), 'not measured yet'))
FROM lesson ORDER BY 1;
