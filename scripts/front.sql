-- README.md's figures in words and its ladder, for scripts/front: run on what plots/load has made, it asks for the view that has the text
-- of a block. Which run is shown, and what may stand beside what, is said in plots/results.sql.
.load build/sql_text

-- Of several GPUs the one with the most rows.
CREATE TEMP VIEW chosen AS SELECT gpu FROM timing GROUP BY gpu ORDER BY count(*) DESC LIMIT 1;

-- The shapes that one figure stands for, with three digits as the charts have them.
CREATE TEMP VIEW measured AS
SELECT dtype, name, substr(name, 1, 2) AS number, us,
    rounded(tflops, (tflops < 0.9995) + (tflops < 9.995) + (tflops < 99.95)) AS shown
FROM (SELECT gpu, 'fp32' AS dtype, name, us, tflops FROM ladder WHERE D = 64
    UNION ALL SELECT gpu, dtype, name, us, tflops FROM grid
    WHERE kind = 'solution' AND dtype = 'bf16' AND NOT causal AND Nq = 4096 AND D = 128) JOIN chosen USING (gpu);
CREATE TEMP VIEW last AS SELECT *, max(name) FROM measured GROUP BY dtype;

-- Each peer's time over that of the last lesson, shape by shape.
CREATE TEMP VIEW ratio AS
SELECT other AS name, D, other_us / grid_pair.us AS ratio
FROM grid_pair JOIN chosen USING (gpu) JOIN last USING (dtype, name) WHERE dtype = 'bf16' AND other_kind = 'peer';
CREATE TEMP VIEW mean AS
SELECT name, exp(avg(ln(ratio))) AS ratio, min(ratio) AS least, max(ratio) AS most, count(*) AS shapes FROM ratio GROUP BY name;

CREATE TEMP VIEW result AS
SELECT 1 AS line, printf('Measured on an %s, the forward pass, the GPU''s time alone:', device) || char(10) AS text
FROM timing JOIN chosen USING (gpu) GROUP BY NULL
UNION ALL
SELECT 2, printf('- **fp32** (TF32 off, no tensor cores; B=1 H=16 N=4096 D=64): from %s TFLOP/s in lesson %s to %s in lesson %s, %s times'
        || ' as fast. PyTorch''s memory-efficient path, timed beside it, takes %.2f times as long as lesson %s, and cuBLAS with a'
        || ' softmax between its products %.2f times.',
    a.shown, a.number, z.shown, z.number, whole(a.us / z.us), c.efficient_us / c.us, z.number, c.baseline_us / c.us)
FROM (SELECT *, min(name) FROM measured WHERE dtype = 'fp32') AS a, last AS z, compared AS c JOIN chosen USING (gpu)
WHERE z.dtype = 'fp32' AND c.name = z.name AND shape = '1,16,4096,64' AND NOT eager
UNION ALL
SELECT 3, printf('- **bf16** (tensor cores; B=4 H=16 N=4096 D=128, no mask): %s TFLOP/s in lesson %s. Over %d shapes it is, in the geometric'
        || ' mean, %.2f times as fast as FlashAttention-2 (PyTorch''s flash path) and %.2f times as fast as cuDNN.',
    z.shown, z.number, f.shapes, f.ratio, c.ratio)
FROM last AS z JOIN mean AS f ON f.name = 'torch_flash' JOIN mean AS c ON c.name = 'torch_cudnn' WHERE dtype = 'bf16'
UNION ALL
SELECT 4, printf('  Beside FlashAttention-3 lesson %s is %.2f times as fast in that mean: %s. At single shapes it is from %.2f to %.2f times.',
    z.number, m.ratio, (SELECT group_concat(printf('%.2f with D=%d', of_d, D), ', ')
        FROM (SELECT D, exp(avg(ln(ratio))) AS of_d FROM ratio WHERE name = 'fa3' GROUP BY D ORDER BY D)), m.least, m.most)
FROM last AS z JOIN mean AS m ON m.name = 'fa3' WHERE dtype = 'bf16';

CREATE TEMP VIEW ladder_table AS
SELECT '' AS place, '| lesson | its one idea | takes about | TFLOP/s |' AS text
UNION ALL SELECT '0', '|---|---|---|---|'
UNION ALL
SELECT folder, printf('| [%s](lessons/%s/README.md) | %s | %s | %s |', title, folder, idea, replace(replace(hours, ' to ', '–'), ' hours', ' h'),
    coalesce((SELECT shown || ' ' || dtype FROM measured WHERE name = folder), 'not measured yet'))
FROM lesson ORDER BY 1;
