-- README.md's figures in words and its ladder, for scripts/front: it reads a GPU's attention.csv into the table of that name
-- and the lessons into lesson(name, title, idea, hours), and asks for the view that has the text of a block.

CREATE TEMP VIEW cold AS
SELECT run, device, lesson, dtype, B + 0 AS b, H + 0 AS h, Nq + 0 AS nq, Nk + 0 AS nk, D + 0 AS d, causal + 0 AS causal,
       median_us + 0.0 AS us, tflops + 0.0 AS tflops, substr(date, 1, 10) AS day, "commit"
FROM attention WHERE cache = 'cold';

-- Speed-ups compare rows of one run only. For each type the newest of the runs with the most solutions, as in plots/; with the peers, the newest of the runs that time the last solution of them beside a peer.
CREATE TEMP VIEW ladder_run AS
SELECT dtype, run FROM (
    SELECT dtype, run, row_number() OVER (
        PARTITION BY dtype
        ORDER BY count(DISTINCT CASE WHEN lesson LIKE 'solution-%' THEN lesson END) DESC, run DESC) AS place
    FROM cold GROUP BY dtype, run)
WHERE place = 1;
CREATE TEMP VIEW ladder AS SELECT cold.* FROM cold JOIN ladder_run USING (dtype, run) WHERE lesson LIKE 'solution-%';
CREATE TEMP VIEW last_solution AS SELECT dtype, max(lesson) AS lesson, min(lesson) AS first FROM ladder GROUP BY dtype;
CREATE TEMP VIEW peer_run AS
SELECT dtype, max(run) AS run FROM cold JOIN last_solution USING (dtype, lesson)
WHERE run IN (SELECT run FROM cold WHERE lesson LIKE 'peer-%') GROUP BY dtype;
CREATE TEMP VIEW beside AS
SELECT peer.*, peer.us / ours.us AS ratio
FROM peer_run JOIN last_solution USING (dtype)
JOIN cold AS ours USING (run, dtype, lesson)
JOIN cold AS peer ON (peer.run, peer.dtype, peer.b, peer.h, peer.nq, peer.nk, peer.d, peer.causal)
                   = (ours.run, ours.dtype, ours.b, ours.h, ours.nq, ours.nk, ours.d, ours.causal) AND peer.lesson <> ours.lesson;

-- The shapes that one figure stands for.
CREATE TEMP VIEW shape_fp32 AS SELECT 1 AS b, 16 AS h, 4096 AS nq, 4096 AS nk, 64 AS d, 0 AS causal;
CREATE TEMP VIEW shape_bf16 AS SELECT 4 AS b, 16 AS h, 4096 AS nq, 4096 AS nk, 128 AS d, 0 AS causal;
CREATE TEMP VIEW reference AS
SELECT * FROM ladder NATURAL JOIN shape_fp32 WHERE dtype = 'fp32'
UNION ALL SELECT * FROM ladder NATURAL JOIN shape_bf16 WHERE dtype = 'bf16';

-- Three digits, as the charts have them.
CREATE TEMP VIEW measured AS
SELECT *, printf(CASE WHEN tflops < 0.9995 THEN '%.3f' WHEN tflops < 9.995 THEN '%.2f' WHEN tflops < 99.95 THEN '%.1f' ELSE '%.0f' END,
                 tflops) AS shown FROM reference;
CREATE TEMP VIEW mean AS
SELECT dtype, lesson, exp(avg(ln(ratio))) AS ratio, min(ratio) AS least, max(ratio) AS most, count(*) AS shapes
FROM beside GROUP BY dtype, lesson;
CREATE TEMP VIEW mean_of_d AS
SELECT dtype, lesson, d, exp(avg(ln(ratio))) AS ratio FROM beside GROUP BY dtype, lesson, d ORDER BY d;

CREATE TEMP VIEW fp32_text AS
SELECT printf('- **fp32** (TF32 off, no tensor cores; B=1 H=16 N=4096 D=64): from %s TFLOP/s in lesson %s to %s in lesson %s, %.0f times'
           || ' as fast. PyTorch''s memory-efficient path, timed beside it, takes %.2f times as long as lesson %s, and cuBLAS with a'
           || ' softmax between its products %.2f times.',
       a.shown, substr(a.lesson, 10, 2), z.shown, substr(z.lesson, 10, 2), a.us / z.us, e.ratio, substr(z.lesson, 10, 2), c.ratio) AS text
FROM last_solution AS l
JOIN measured AS a ON a.dtype = l.dtype AND a.lesson = l.first
JOIN measured AS z ON z.dtype = l.dtype AND z.lesson = l.lesson
JOIN (SELECT * FROM beside NATURAL JOIN shape_fp32) AS e ON e.dtype = l.dtype AND e.lesson = 'peer-torch_efficient'
JOIN (SELECT * FROM beside NATURAL JOIN shape_fp32) AS c ON c.dtype = l.dtype AND c.lesson = 'baseline-cublas_unfused'
WHERE l.dtype = 'fp32';

CREATE TEMP VIEW bf16_text AS
SELECT printf('- **bf16** (tensor cores; B=4 H=16 N=4096 D=128, no mask): %s TFLOP/s in lesson %s. Over %d shapes it is, in the geometric'
           || ' mean, %.2f times as fast as FlashAttention-2 (PyTorch''s flash path) and %.2f times as fast as cuDNN.',
       z.shown, substr(z.lesson, 10, 2), f.shapes, f.ratio, c.ratio) AS text
FROM last_solution AS l
JOIN measured AS z ON z.dtype = l.dtype AND z.lesson = l.lesson
JOIN mean AS f ON f.dtype = l.dtype AND f.lesson = 'peer-torch_flash'
JOIN mean AS c ON c.dtype = l.dtype AND c.lesson = 'peer-torch_cudnn'
WHERE l.dtype = 'bf16';

-- Beside the last solution where one run has both; else its own rate alone, since two runs give no ratio.
CREATE TEMP VIEW fa3_text AS
SELECT printf('  Beside FlashAttention-3 lesson %s is %.2f times as fast in that mean: %s. At single shapes it is from %.2f to %.2f times.',
              substr(l.lesson, 10, 2), m.ratio,
              (SELECT group_concat(printf('%.2f with D=%d', ratio, d), ', ') FROM mean_of_d WHERE dtype = m.dtype AND lesson = m.lesson),
              m.least, m.most) AS text
FROM mean AS m JOIN last_solution AS l USING (dtype) WHERE m.dtype = 'bf16' AND m.lesson = 'peer-fa3'
UNION ALL
SELECT * FROM (SELECT printf('  FlashAttention-3 reaches %.0f at that shape, in another run, which gives no ratio.', tflops)
               FROM cold NATURAL JOIN shape_bf16 WHERE dtype = 'bf16' AND lesson = 'peer-fa3'
               AND NOT EXISTS (SELECT 1 FROM mean WHERE lesson = 'peer-fa3') ORDER BY run DESC LIMIT 1);

CREATE TEMP VIEW result AS
SELECT 1 AS line, printf('Measured on an %s, the forward pass, the GPU''s time alone:', (SELECT device FROM reference LIMIT 1)) || char(10) AS text
UNION ALL SELECT 2, text FROM fp32_text UNION ALL SELECT 3, text FROM bf16_text UNION ALL SELECT 4, text FROM fa3_text;

CREATE TEMP VIEW ladder_table AS
SELECT '' AS name, '| lesson | its one idea | takes about | TFLOP/s |' AS text
UNION ALL SELECT '0', '|---|---|---|---|'
UNION ALL
SELECT lesson.name, printf('| [%s](lessons/%s/README.md) | %s | %s | %s |', title, lesson.name, idea,
              replace(replace(hours, ' to ', '–'), ' hours', ' h'),
       coalesce((SELECT shown || ' ' || dtype FROM measured WHERE measured.lesson = 'solution-' || lesson.name), 'not measured yet'))
FROM lesson ORDER BY 1;
