-- Selects the timings that tables and charts compare. The clock of a GPU differs between runs, so all compared timings come from one
-- run: of the runs with the most of the timings that are compared, the newest.

-- ---- Runs ------------------------------------------------------------------------------------------------------------

-- provenance: "NVIDIA H200: driver ..., commit abc1234."
CREATE TABLE run AS
WITH row AS (
    SELECT *, iif(source = 'attention-eager', 'eager', source) AS what FROM record
    WHERE source IN ('attention', 'attention-eager', 'ablations', 'steps') OR source = 'softmax' AND dtype = 'fp32'),
last AS (SELECT what, gpu, run, max(line) AS line, device, sm_count, driver, cuda, commit_name FROM row GROUP BY what, gpu, run),
span AS (
    SELECT *, substr(time, 1, 10) AS date, replace(substr(time, 1, 16), 'T', ' ') AS minute,
        iif(low = high, low, low || ' to ' || high) || ' MHz' AS clock
    FROM (SELECT what, gpu, run, max(date) AS time,
            min(min(nullif(clock_1, 0)), min(nullif(clock_2, 0))) AS low, max(max(clock_1), max(clock_2)) AS high
        FROM row GROUP BY what, gpu, run))
SELECT *, device || ': driver ' || driver || ', CUDA ' || cuda || coalesce(', SM clock ' || clock, '') || ', ' || date || ', commit ' ||
    commit_name || '.' AS provenance
FROM last JOIN span USING (what, gpu, run);

-- The GPUs that get charts. Charts of a learner's own lessons need timings of these lessons.
CREATE VIEW charted_gpu AS
SELECT gpu FROM (SELECT gpu, kind FROM timing WHERE NOT eager UNION ALL SELECT gpu, kind FROM softmax_timing) AS t, setting
WHERE setting.kind IN ('solution', t.kind) GROUP BY gpu;

-- ---- Lessons -----------------------------------------------------------------------------------------------------------

-- Timings in fp32 without a mask, with a cold cache and the standard layout.
CREATE VIEW standard_timing AS
SELECT * FROM timing
WHERE NOT eager AND dtype = 'fp32' AND is_standard AND causal = 0 AND cache = 'cold' AND kind <> 'kernel';

-- The lessons of each run. For charts of a learner's own lessons, a solution of the same run replaces a lesson that was not timed.
CREATE TABLE rung AS
SELECT * FROM (
    SELECT standard_timing.*, setting.kind AS preferred_kind, row_number() OVER (PARTITION BY gpu, run, name, B, H, Nq, D
        ORDER BY standard_timing.kind = setting.kind DESC, line DESC) AS position
    FROM standard_timing, setting WHERE standard_timing.kind IN ('solution', setting.kind))
WHERE position = 1;

-- The timings from which the ladder is chosen.
CREATE VIEW ladder_rung AS SELECT * FROM rung WHERE B = 1 AND H = 16 AND Nq = 4096 AND D IN (64, 128);

CREATE TABLE ladder_run AS
SELECT gpu, run FROM (
    SELECT gpu, run, row_number() OVER (PARTITION BY gpu ORDER BY count(*) DESC, time DESC, run.line DESC) AS position
    FROM ladder_rung JOIN run USING (gpu, run) WHERE what = 'attention' GROUP BY gpu, run HAVING max(kind = preferred_kind))
WHERE position = 1;

-- over_previous: speed-up over the previous lesson, if the run has it.
CREATE TABLE ladder AS
SELECT gpu, run, D, name, replace(name, '_', ' ') AS title, kind, us, tflops, peak, noisy,
    max(us) FILTER (WHERE number = 1) OVER (PARTITION BY gpu, D) / us AS over_first,
    max(us) OVER (PARTITION BY gpu, D ORDER BY number RANGE BETWEEN 1 PRECEDING AND 1 PRECEDING) / us AS over_previous,
    dense_rank() OVER (PARTITION BY gpu ORDER BY name) AS number
FROM ladder_rung JOIN ladder_run USING (gpu, run) ORDER BY gpu, name, D;

CREATE VIEW head_dimension AS SELECT 64 AS D UNION ALL SELECT 128;

-- The lessons that support fp32 but are missing from the ladder's run, "02_vectorized (D=64)".
CREATE VIEW ladder_gap AS
SELECT gpu, 'run ' || run || ' lacks at N=4096: ' || group_concat(text, '; ') || ' [missing-timings]' AS text FROM (
    SELECT gpu, run, folder || ' (' || group_concat('D=' || D, ', ') || ')' AS text
    FROM ladder_run, lesson, head_dimension AS d
    WHERE takes_fp32 AND NOT EXISTS (SELECT 1 FROM ladder AS l WHERE l.gpu = ladder_run.gpu AND l.name = folder AND l.D = d.D)
        GROUP BY gpu, folder)
GROUP BY gpu;

-- Charts over N: the run with the most lessons timed at two or more sizes; among equals, the run with the most sizes.
CREATE TABLE sizes_run AS
WITH series AS (
    SELECT gpu, run, name, D, count(*) AS sizes, max(kind = preferred_kind) AS has_preferred
    FROM rung WHERE B = 1 AND H = 16 GROUP BY gpu, run, name, D HAVING count(*) >= 2)
SELECT gpu, run FROM (
    SELECT gpu, run, row_number() OVER (PARTITION BY gpu ORDER BY count(DISTINCT name) DESC, sum(sizes) DESC, time DESC,
        run.line DESC) AS position
    FROM series JOIN run USING (gpu, run) WHERE what = 'attention' GROUP BY gpu, run HAVING max(has_preferred))
WHERE position = 1;

-- In 16 bits: a grid of shapes with 16384 tokens and H * D = 2048; lessons and peers of one run.
CREATE TABLE grid AS
WITH row AS (
    SELECT * FROM (
        SELECT timing.*, setting.kind AS preferred_kind, row_number() OVER (PARTITION BY gpu, run, dtype, causal, name, Nq, D
            ORDER BY timing.kind = setting.kind DESC, line DESC) AS position
        FROM timing, setting
        WHERE NOT eager AND dtype IN ('bf16', 'fp16') AND is_standard AND cache = 'cold' AND B * Nq = 16384 AND H * D = 2048
            AND timing.kind IN ('solution', 'peer', 'baseline', setting.kind))
    WHERE position = 1),
selected AS (
    SELECT gpu, run, dtype, causal, row_number() OVER (PARTITION BY gpu, dtype, causal
        ORDER BY count(DISTINCT iif(row.kind IN ('solution', preferred_kind), name, NULL)) DESC, count(*) DESC, time DESC) AS position
    FROM row JOIN run USING (gpu, run) WHERE what = 'attention' GROUP BY gpu, run, dtype, causal
    HAVING preferred_kind = 'solution' OR max(kind = preferred_kind))
SELECT row.* FROM row JOIN selected USING (gpu, run, dtype, causal) WHERE selected.position = 1;

-- Each solution of the grid compared with each kernel timed at the same shape in the same run, including itself. is_previous: the other kernel
-- is the previous lesson.
CREATE VIEW grid_comparison AS
SELECT own.*, other.kind AS other_kind, other.name AS other, other.us AS other_us, other.tflops AS other_tflops,
    own.noisy OR other.noisy AS is_noisy, other.kind = 'solution' AND other.number = own.number - 1 AS is_previous
FROM grid AS own JOIN grid AS other USING (gpu, run, dtype, causal, Nq, D) WHERE own.kind = 'solution';

-- The libraries that solutions are compared with in 16 bits, and their names on pages.
CREATE TABLE compared_library (name, label, rank);
INSERT INTO compared_library VALUES ('fa3', 'FlashAttention-3', 1), ('fa4', 'FlashAttention-4', 2), ('torch_cudnn', 'cuDNN', 3),
    ('torch_flash', 'FlashAttention-2', 4);

-- Speed-up of each solution of the grid over each library of its run, per shape. best: the fastest library at the shape, if all libraries of the
-- run were timed there; a missing library must not make the others look like the best.
CREATE VIEW over_library AS
SELECT gpu, run, p.name, dtype, causal, Nq, D, other AS library, other_us / us AS ratio, is_noisy
FROM grid_comparison AS p JOIN compared_library AS l ON l.name = other WHERE other_kind = 'peer'
UNION ALL
SELECT gpu, run, p.name, dtype, causal, Nq, D, 'best', min(other_us) / us, is_noisy
FROM grid_comparison AS p JOIN compared_library AS l ON l.name = other WHERE other_kind = 'peer' GROUP BY gpu, run, p.name, dtype, causal, Nq, D
HAVING count(*) = (SELECT count(DISTINCT g.name) FROM grid AS g JOIN compared_library AS c ON c.name = g.name
    WHERE g.gpu = p.gpu AND g.run = p.run AND g.dtype = p.dtype AND g.kind = 'peer');

-- "PyTorch 2.11.0; flash-attn-4 4.0.0b36, CuTe DSL 4.8.1": the library versions of a run of make peers.
CREATE VIEW run_versions AS
SELECT gpu, run, group_concat(version, '; ') AS versions FROM (
    SELECT DISTINCT gpu, run, version FROM library_version AS v
    WHERE NOT EXISTS (SELECT 1 FROM library_version AS more WHERE (more.gpu, more.run) = (v.gpu, v.run) AND more.version LIKE v.version || ', %')
    ORDER BY version)
GROUP BY gpu, run;

-- The units that execute a kernel's multiply-adds, as counted. gemm_multiple: tensor-core operations as a multiple of both GEMMs.
CREATE VIEW unit_usage AS
SELECT *, CASE
    WHEN gemm_multiple >= 0.5 THEN 'tensor cores, ' || type || iif(gemm_multiple >= 1.5, printf(': %.0fx%s', gemm_multiple, type), '')
    WHEN ffma < 0.5 * gemm_fmas THEN 'tensor cores'
    ELSE 'FMA units' END AS units
FROM (SELECT *, tensor_operations / 2 / gemm_fmas AS gemm_multiple FROM (
    SELECT *, max(coalesce(tf32, 0), coalesce(fp16, 0), coalesce(bf16, 0)) AS tensor_operations, CASE max(coalesce(tf32, 0), coalesce(fp16, 0),
        coalesce(bf16, 0)) WHEN tf32 THEN 'TF32' WHEN fp16 THEN 'fp16' ELSE 'bf16' END AS type FROM unit));

-- The ceilings of a GPU, each from the newest run that measured it.
CREATE VIEW newest_ceiling AS SELECT gpu, what, unit, median, run, max(date) AS date FROM ceiling GROUP BY gpu, what;

-- ---- Comparisons -------------------------------------------------------------------------------------------------------

-- The fastest solution at a shape compared with the fastest library in one run of make peers. Libraries: PyTorch's paths, and cuBLAS with
-- a softmax. eager: times include the launch overhead of the CPU.
CREATE TABLE compared AS
WITH row AS (
    SELECT *, B || ',' || H || ',' || Nq || iif(Nk = Nq, '', ':' || Nk) || ',' || D || iif(causal, ' causal', '') AS shape,
        iif(kind = 'solution', kind, 'library') AS way
    FROM timing
    WHERE dtype = 'fp32' AND layout = 'bhnd' AND lse = 0 AND cache = 'cold' AND (kind IN ('solution', 'baseline') OR kind = 'peer'
        AND name LIKE 'torch\_%' ESCAPE '\')),
best AS (SELECT eager, gpu, run, shape, way, name, min(us) AS us, tflops, noisy FROM row GROUP BY eager, gpu, run, shape, way),
comparison AS (
    SELECT eager, gpu, run, shape, own.name, own.us, own.tflops, library.name AS library, library.us AS library_us,
        own.noisy OR library.noisy AS noisy, efficient_us, baseline_us, line
    FROM best AS own JOIN best AS library USING (eager, gpu, run, shape) JOIN (
        SELECT eager, gpu, run, shape, min(us) FILTER (WHERE name = 'torch_efficient') AS efficient_us,
            min(us) FILTER (WHERE kind = 'baseline') AS baseline_us,
            min(min(line)) OVER (PARTITION BY eager, gpu, shape) AS line FROM row GROUP BY eager, gpu, run, shape)
        USING (eager, gpu, run, shape)
    WHERE own.way = 'solution' AND library.way = 'library'),
selected AS (
    SELECT eager, gpu, run, row_number() OVER (PARTITION BY eager, gpu
        ORDER BY count(efficient_us) DESC, count(*) DESC, time DESC, run.line DESC) AS position
    FROM comparison JOIN run USING (gpu, run) WHERE what = iif(eager, 'eager', 'attention') GROUP BY eager, gpu, run)
SELECT comparison.* FROM comparison JOIN selected USING (eager, gpu, run) WHERE position = 1 ORDER BY eager, gpu, line;

-- Each Triton kernel compared with the solution of its lesson at B=1 H=16 N=4096, in one run.
CREATE TABLE over_triton AS
WITH comparison AS (
    SELECT own.gpu, own.run, own.name, own.D, own.us, triton.us AS triton_us, own.tflops, triton.tflops AS triton_tflops,
        own.noisy OR triton.noisy AS noisy
    FROM standard_timing AS own JOIN standard_timing AS triton USING (gpu, run, B, H, Nq, D)
    WHERE own.kind = 'solution' AND triton.kind = 'peer' AND triton.name = 'triton_' || own.name
        AND B = 1 AND H = 16 AND Nq = 4096 AND D IN (64, 128)),
selected AS (
    SELECT gpu, run, row_number() OVER (PARTITION BY gpu ORDER BY count(*) DESC, time DESC, run.line DESC) AS position
    FROM comparison JOIN run USING (gpu, run) WHERE what = 'attention' GROUP BY gpu, run)
SELECT comparison.* FROM comparison JOIN selected USING (gpu, run) WHERE position = 1 ORDER BY gpu, name, D;

-- ---- The row softmax ---------------------------------------------------------------------------------------------------

-- A size timed with both kernels (one pass and five passes) counts more than any number of sizes timed with one kernel. Runs with the
-- five passes alone are ignored.
CREATE TABLE softmax_run AS
SELECT gpu, run FROM (
    SELECT own.gpu, own.run, row_number() OVER (PARTITION BY own.gpu
        ORDER BY count(five.us) * 1000 + count(*) DESC, time DESC, run.line DESC) AS position
    FROM softmax_timing AS own JOIN setting ON own.kind = setting.kind
        JOIN run ON run.what = 'softmax' AND run.gpu = own.gpu AND run.run = own.run
        LEFT JOIN softmax_timing AS five ON five.kind = 'five' AND five.gpu = own.gpu AND five.run = own.run AND five.rows = own.rows
            AND five.columns = own.columns
    GROUP BY own.gpu, own.run)
WHERE position = 1;

CREATE TABLE softmax AS
SELECT own.gpu, own.run, own.name, rows, columns, own.us, own.gb_per_s, own.copy, own.noisy, five.us AS five_us,
    five.gb_per_s AS five_gb_per_s
FROM softmax_timing AS own JOIN softmax_run USING (gpu, run) JOIN setting ON own.kind = setting.kind
    LEFT JOIN softmax_timing AS five USING (gpu, run, rows, columns)
WHERE five.kind = 'five' OR five.kind IS NULL
ORDER BY own.gpu, rows * columns, rows;

-- The row softmax compared with PyTorch and Triton, each in the newest of the runs with the most comparisons.
CREATE TABLE softmax_comparison AS
WITH comparison AS (
    SELECT own.gpu, own.run, own.name, rows, columns, own.us, own.gb_per_s, own.copy, peer.name AS peer, peer.us AS peer_us,
        peer.gb_per_s AS peer_gb_per_s, own.noisy OR peer.noisy AS noisy, own.line
    FROM softmax_timing AS own JOIN softmax_timing AS peer USING (gpu, run, rows, columns)
    WHERE own.kind = 'solution' AND peer.kind = 'peer'),
selected AS (
    SELECT gpu, run, peer, row_number() OVER (PARTITION BY gpu, peer ORDER BY count(*) DESC, time DESC, run.line DESC) AS position
    FROM comparison JOIN run USING (gpu, run) WHERE what = 'softmax' GROUP BY gpu, run, peer)
SELECT comparison.* FROM comparison JOIN selected USING (gpu, run, peer) WHERE position = 1 ORDER BY gpu, peer, line;

-- ---- Counters ----------------------------------------------------------------------------------------------------------

-- 2160000000 and byte -> 2.16 GB, 71.3 and % -> 71 %.
CREATE VIEW counter_text AS
SELECT *, CASE WHEN unit = '%' THEN whole(value) || ' %'
    ELSE iif(power = 0 AND value = CAST(value AS INTEGER), printf('%d', value), printf('%.3g', value / pow(1000, power))) ||
        rtrim(' ' || substr(' kMGT', power + 1, power > 0) || iif(unit = 'byte', 'B', '')) END AS text
FROM (SELECT *, (value >= 999.5) + (value >= 999.5e3) + (value >= 999.5e6) + (value >= 999.5e9) AS power FROM counter);

-- ---- Ablations ---------------------------------------------------------------------------------------------------------

-- For each shape of a lesson, of the runs on any GPU with at least 90 % of the most ablations, the newest, so that the timed kernel is
-- close to the current one. number: index of the shape; slower: slow-down relative to the solution.
CREATE TABLE ablation AS
WITH selected AS (
    SELECT *, row_number() OVER (PARTITION BY lesson, dtype, shape ORDER BY is_nearly_complete DESC, time DESC) AS position
    FROM (SELECT gpu, lesson, dtype, shape, run, time,
            count(*) >= 0.9 * max(count(*)) OVER (PARTITION BY lesson, dtype, shape) AS is_nearly_complete
        FROM ablation_timing JOIN run USING (gpu, run) WHERE what = 'ablations' GROUP BY gpu, lesson, dtype, shape, run
        HAVING max(ablation = 'solution'))),
row AS (
    SELECT *, min(line) OVER (PARTITION BY gpu, lesson, dtype, shape) AS first,
        us / max(us) FILTER (WHERE ablation = 'solution') OVER (PARTITION BY gpu, lesson, dtype, shape, run) AS over_solution
    FROM ablation_timing)
SELECT row.*, iif(ablation = 'solution', NULL, printf('%+.1f %%', 100 * (over_solution - 1))) AS slower, time,
    dense_rank() OVER (PARTITION BY gpu, lesson ORDER BY first) AS number
FROM row JOIN selected USING (gpu, lesson, dtype, shape, run) WHERE position = 1 ORDER BY gpu, lesson, number, us;

-- ---- Segments of an iteration ------------------------------------------------------------------------------------------

-- From the newest of the runs with the most lessons and shapes. Each pair of lesson and shape is one column of the table.
CREATE TABLE segment AS
WITH selected AS (
    SELECT gpu, run, row_number() OVER (PARTITION BY gpu ORDER BY count(DISTINCT lesson || shape || causal) DESC, time DESC) AS position
    FROM segment_timing JOIN run USING (gpu, run) WHERE what = 'steps' AND dtype = 'bf16' GROUP BY gpu, run)
SELECT s.*, dense_rank() OVER (PARTITION BY gpu, causal ORDER BY D, lesson) AS number FROM segment_timing AS s JOIN selected USING (gpu, run)
WHERE position = 1 AND dtype = 'bf16';

-- The segments of a main-loop iteration in order; hue: their colour in a chart.
CREATE TABLE segment_label (segment, position, hue, text);
INSERT INTO segment_label VALUES ('turn', 1, 0, 'waits for the tile of K and at the ping-pong barrier'), ('ask', 2, 1, 'issues both GEMMs'),
    ('scores', 3, 0, 'waits for QK^T'), ('vote', 4, 2, 'warp vote: is rescaling necessary?'), ('early', 5, 3, 'exponentials before the wait for PV'),
    ('products', 6, 0, 'waits for PV of the previous tile'), ('weights', 7, 3, 'remaining exponentials'), ('rounding', 8, 3, 'rounds the weights to 16 bits');

-- The segments and their sum; then the tensor-core time of the GEMMs of all warpgroups' iterations, at 4096 floating-point operations per
-- cycle and SM in 16 bits.
CREATE VIEW step_row AS
WITH step AS (
    SELECT gpu, causal, number, sum(cycles) AS cycles, sum(cycles) FILTER (WHERE segment NOT IN ('turn', 'ask', 'scores')) AS from_scores,
        operations / 4096 AS gemm_cycles, warpgroups, over_solution
    FROM segment GROUP BY gpu, causal, number)
SELECT gpu, causal, number, position, segment_label.text, whole(cycles) AS value FROM segment JOIN segment_label USING (segment)
UNION ALL SELECT gpu, causal, number, 9, '**iteration of one warpgroup**', whole(cycles) FROM step
UNION ALL SELECT gpu, causal, number, 10, 'from the end of QK^T to the end of the iteration', whole(from_scores) FROM step
UNION ALL SELECT gpu, causal, number, 11, '**both GEMMs of all warpgroups**, minimum', whole(gemm_cycles) FROM step
UNION ALL SELECT gpu, causal, number, 12, 'without its own QK^T', whole(gemm_cycles * (1 - 0.5 / warpgroups)) FROM step
UNION ALL SELECT gpu, causal, number, 13, 'slow-down by the time stamps', printf('%+.1f %%', 100 * (over_solution - 1)) FROM step;
