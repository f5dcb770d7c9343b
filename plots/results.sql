-- What may stand beside what. The clock of a GPU moves from run to run, so everything that is compared is chosen from one run: the
-- newest of those that hold most of what is compared.

-- ---- Runs ------------------------------------------------------------------------------------------------------------

-- measured_on: "NVIDIA H200: driver ..., commit abc1234."
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
    commit_name || '.' AS measured_on
FROM last JOIN span USING (what, gpu, run);

-- The GPUs that charts tell of: of a learner's own where there are timings of them.
CREATE VIEW told_gpu AS
SELECT gpu FROM (SELECT gpu, kind FROM timing WHERE NOT eager UNION ALL SELECT gpu, kind FROM softmax_timing) AS t, setting
WHERE setting.kind IN ('solution', t.kind) GROUP BY gpu;

-- ---- Lessons -----------------------------------------------------------------------------------------------------------

-- fp32 without a mask, from a cold cache, tensors in the usual order.
CREATE VIEW plain AS
SELECT * FROM timing
WHERE NOT eager AND dtype = 'fp32' AND usual AND causal = 0 AND cache = 'cold' AND kind <> 'kernel';

-- The lessons of each run. Where a learner's own are wanted, a solution of the same run stands in for one that is not there.
CREATE TABLE rung AS
SELECT * FROM (
    SELECT plain.*, setting.kind AS wanted, row_number() OVER (PARTITION BY gpu, run, name, B, H, Nq, D
        ORDER BY plain.kind = setting.kind DESC, line DESC) AS place
    FROM plain, setting WHERE plain.kind IN ('solution', setting.kind))
WHERE place = 1;

-- What the ladder is of.
CREATE VIEW charted AS SELECT * FROM rung WHERE B = 1 AND H = 16 AND Nq = 4096 AND D IN (64, 128);

CREATE TABLE ladder_run AS
SELECT gpu, run FROM (
    SELECT gpu, run, row_number() OVER (PARTITION BY gpu ORDER BY count(*) DESC, time DESC, run.line DESC) AS place
    FROM charted JOIN run USING (gpu, run) WHERE what = 'attention' GROUP BY gpu, run HAVING max(kind = wanted))
WHERE place = 1;

-- over_before: over the lesson before, where the run has it.
CREATE TABLE ladder AS
SELECT gpu, run, D, name, replace(name, '_', ' ') AS title, kind, us, tflops, peak, noisy,
    max(us) FILTER (WHERE number = 1) OVER (PARTITION BY gpu, D) / us AS over_first,
    max(us) OVER (PARTITION BY gpu, D ORDER BY number RANGE BETWEEN 1 PRECEDING AND 1 PRECEDING) / us AS over_before,
    dense_rank() OVER (PARTITION BY gpu ORDER BY name) AS number
FROM charted JOIN ladder_run USING (gpu, run) ORDER BY gpu, name, D;

CREATE VIEW width AS SELECT 64 AS D UNION ALL SELECT 128;

-- The lessons that take fp32 and that the ladder's run has not, "02_vectorized (D=64)".
CREATE VIEW ladder_lack AS
SELECT gpu, 'run ' || run || ' lacks at N=4096: ' || group_concat(words, '; ') AS text FROM (
    SELECT gpu, run, folder || ' (' || group_concat('D=' || D, ', ') || ')' AS words
    FROM ladder_run, lesson, width AS d
    WHERE takes_fp32 AND NOT EXISTS (SELECT 1 FROM ladder AS l WHERE l.gpu = ladder_run.gpu AND l.name = folder AND l.D = d.D)
        GROUP BY gpu, folder)
GROUP BY gpu;

-- Over N: the run with the most lessons that were timed at two sizes or more, and of these with the most sizes.
CREATE TABLE sizes_run AS
WITH series AS (
    SELECT gpu, run, name, D, count(*) AS sizes, max(kind = wanted) AS is_wanted
    FROM rung WHERE B = 1 AND H = 16 GROUP BY gpu, run, name, D HAVING count(*) >= 2)
SELECT gpu, run FROM (
    SELECT gpu, run, row_number() OVER (PARTITION BY gpu ORDER BY count(DISTINCT name) DESC, sum(sizes) DESC, time DESC,
        run.line DESC) AS place
    FROM series JOIN run USING (gpu, run) WHERE what = 'attention' GROUP BY gpu, run HAVING max(is_wanted))
WHERE place = 1;

-- 16 bits are timed on a grid of 16384 tokens of 2048 numbers each, however these are cut into heads; lessons and peers of one run.
CREATE TABLE grid AS
WITH row AS (
    SELECT * FROM (
        SELECT timing.*, setting.kind AS wanted, row_number() OVER (PARTITION BY gpu, run, dtype, causal, name, Nq, D
            ORDER BY timing.kind = setting.kind DESC, line DESC) AS place
        FROM timing, setting
        WHERE NOT eager AND dtype IN ('bf16', 'fp16') AND usual AND cache = 'cold' AND B * Nq = 16384 AND H * D = 2048
            AND timing.kind IN ('solution', 'peer', 'baseline', setting.kind))
    WHERE place = 1),
chosen AS (
    SELECT gpu, run, dtype, causal, row_number() OVER (PARTITION BY gpu, dtype, causal
        ORDER BY count(DISTINCT iif(row.kind IN ('solution', wanted), name, NULL)) DESC, count(*) DESC, time DESC) AS place
    FROM row JOIN run USING (gpu, run) WHERE what = 'attention' GROUP BY gpu, run, dtype, causal
    HAVING wanted = 'solution' OR max(kind = wanted))
SELECT row.* FROM row JOIN chosen USING (gpu, run, dtype, causal) WHERE chosen.place = 1;

-- Each solution of the grid beside whatever was timed with it at the same shape, itself too. is_before: beside the lesson before.
CREATE VIEW grid_pair AS
SELECT own.*, other.kind AS other_kind, other.name AS other, other.us AS other_us, other.tflops AS other_tflops,
    own.noisy OR other.noisy AS any_noisy, other.kind = 'solution' AND other.number = own.number - 1 AS is_before
FROM grid AS own JOIN grid AS other USING (gpu, run, dtype, causal, Nq, D) WHERE own.kind = 'solution';

-- The libraries that solutions are compared with in 16 bits, and how pages call them.
CREATE TABLE compared_library (name, words, rank);
INSERT INTO compared_library VALUES ('fa3', 'FlashAttention-3', 1), ('fa4', 'FlashAttention-4', 2), ('torch_cudnn', 'cuDNN', 3),
    ('torch_flash', 'FlashAttention-2', 4);

-- Each solution of the grid over the libraries of its run, shape by shape. best: whichever of them is the fastest at the shape, if all of
-- them were timed there; a library that is missing must not make the others' best look slower.
CREATE VIEW over_library AS
SELECT gpu, run, p.name, dtype, causal, Nq, D, other AS library, other_us / us AS ratio, any_noisy
FROM grid_pair AS p JOIN compared_library AS l ON l.name = other WHERE other_kind = 'peer'
UNION ALL
SELECT gpu, run, p.name, dtype, causal, Nq, D, 'best', min(other_us) / us, any_noisy
FROM grid_pair AS p JOIN compared_library AS l ON l.name = other WHERE other_kind = 'peer' GROUP BY gpu, run, p.name, dtype, causal, Nq, D
HAVING count(*) = (SELECT count(DISTINCT g.name) FROM grid AS g JOIN compared_library AS c ON c.name = g.name
    WHERE g.gpu = p.gpu AND g.run = p.run AND g.dtype = p.dtype AND g.kind = 'peer');

-- "PyTorch 2.11.0; flash-attn-4 4.0.0b36, CuTe DSL 4.8.1": what a run of make peers was taken with.
CREATE VIEW run_versions AS
SELECT gpu, run, group_concat(version, '; ') AS versions FROM (
    SELECT DISTINCT gpu, run, version FROM library_version AS v
    WHERE NOT EXISTS (SELECT 1 FROM library_version AS more WHERE (more.gpu, more.run) = (v.gpu, v.run) AND more.version LIKE v.version || ', %')
    ORDER BY version)
GROUP BY gpu, run;

-- Which units a kernel's multiply-adds run on, as they were counted.
CREATE VIEW runs_on AS
SELECT *, CASE
    WHEN of_needed >= 0.5 THEN 'tensor cores, ' || type || iif(of_needed >= 1.5, printf(': %.0fx%s', of_needed, type), '')
    WHEN ffma < 0.5 * gemm_fmas THEN 'tensor cores'
    ELSE 'FMA units' END AS units
FROM (SELECT *, tensor_operations / 2 / gemm_fmas AS of_needed FROM (
    SELECT *, max(coalesce(tf32, 0), coalesce(fp16, 0), coalesce(bf16, 0)) AS tensor_operations, CASE max(coalesce(tf32, 0), coalesce(fp16, 0),
        coalesce(bf16, 0)) WHEN tf32 THEN 'TF32' WHEN fp16 THEN 'fp16' ELSE 'bf16' END AS type FROM unit));

-- What a GPU reached in a copy and in arithmetic alone, of the newest run that measured each.
CREATE VIEW newest_ceiling AS SELECT gpu, what, unit, median, run, max(date) AS date FROM ceiling GROUP BY gpu, what;

-- ---- Beside others -----------------------------------------------------------------------------------------------------

-- The fastest solution of a shape compared with the fastest library, which is one of PyTorch's paths or cuBLAS with a softmax, in one run of
-- make peers; eager: with what a launch costs the CPU.
CREATE TABLE compared AS
WITH row AS (
    SELECT *, B || ',' || H || ',' || Nq || iif(Nk = Nq, '', ':' || Nk) || ',' || D || iif(causal, ' causal', '') AS shape,
        iif(kind = 'solution', kind, 'library') AS way
    FROM timing
    WHERE dtype = 'fp32' AND layout = 'bhnd' AND lse = 0 AND cache = 'cold' AND (kind IN ('solution', 'baseline') OR kind = 'peer'
        AND name LIKE 'torch\_%' ESCAPE '\')),
best AS (SELECT eager, gpu, run, shape, way, name, min(us) AS us, tflops, noisy FROM row GROUP BY eager, gpu, run, shape, way),
pair AS (
    SELECT eager, gpu, run, shape, own.name, own.us, own.tflops, library.name AS library, library.us AS library_us,
        own.noisy OR library.noisy AS noisy, efficient_us, baseline_us, line
    FROM best AS own JOIN best AS library USING (eager, gpu, run, shape) JOIN (
        SELECT eager, gpu, run, shape, min(us) FILTER (WHERE name = 'torch_efficient') AS efficient_us,
            min(us) FILTER (WHERE kind = 'baseline') AS baseline_us,
            min(min(line)) OVER (PARTITION BY eager, gpu, shape) AS line FROM row GROUP BY eager, gpu, run, shape)
        USING (eager, gpu, run, shape)
    WHERE own.way = 'solution' AND library.way = 'library'),
chosen AS (
    SELECT eager, gpu, run, row_number() OVER (PARTITION BY eager, gpu
        ORDER BY count(efficient_us) DESC, count(*) DESC, time DESC, run.line DESC) AS place
    FROM pair JOIN run USING (gpu, run) WHERE what = iif(eager, 'eager', 'attention') GROUP BY eager, gpu, run)
SELECT pair.* FROM pair JOIN chosen USING (eager, gpu, run) WHERE place = 1 ORDER BY eager, gpu, line;

-- A Triton kernel beside the solution of the same lesson at B=1 H=16 N=4096, of one run.
CREATE TABLE beside_triton AS
WITH pair AS (
    SELECT own.gpu, own.run, own.name, own.D, own.us, triton.us AS triton_us, own.tflops, triton.tflops AS triton_tflops,
        own.noisy OR triton.noisy AS noisy
    FROM plain AS own JOIN plain AS triton USING (gpu, run, B, H, Nq, D)
    WHERE own.kind = 'solution' AND triton.kind = 'peer' AND triton.name = 'triton_' || own.name
        AND B = 1 AND H = 16 AND Nq = 4096 AND D IN (64, 128)),
chosen AS (
    SELECT gpu, run, row_number() OVER (PARTITION BY gpu ORDER BY count(*) DESC, time DESC, run.line DESC) AS place
    FROM pair JOIN run USING (gpu, run) WHERE what = 'attention' GROUP BY gpu, run)
SELECT pair.* FROM pair JOIN chosen USING (gpu, run) WHERE place = 1 ORDER BY gpu, name, D;

-- ---- The row softmax ---------------------------------------------------------------------------------------------------

-- One size timed both ways outweighs any number timed one way; the five passes alone are no result.
CREATE TABLE softmax_run AS
SELECT gpu, run FROM (
    SELECT own.gpu, own.run, row_number() OVER (PARTITION BY own.gpu
        ORDER BY count(five.us) * 1000 + count(*) DESC, time DESC, run.line DESC) AS place
    FROM softmax_timing AS own JOIN setting ON own.kind = setting.kind
        JOIN run ON run.what = 'softmax' AND run.gpu = own.gpu AND run.run = own.run
        LEFT JOIN softmax_timing AS five ON five.kind = 'five' AND five.gpu = own.gpu AND five.run = own.run AND five.rows = own.rows
            AND five.columns = own.columns
    GROUP BY own.gpu, own.run)
WHERE place = 1;

CREATE TABLE softmax AS
SELECT own.gpu, own.run, own.name, rows, columns, own.us, own.gb_per_s, own.copy, own.noisy, five.us AS five_us,
    five.gb_per_s AS five_gb_per_s
FROM softmax_timing AS own JOIN softmax_run USING (gpu, run) JOIN setting ON own.kind = setting.kind
    LEFT JOIN softmax_timing AS five USING (gpu, run, rows, columns)
WHERE five.kind = 'five' OR five.kind IS NULL
ORDER BY own.gpu, rows * columns, rows;

-- The same beside PyTorch and Triton, each of the newest run with the most pairs.
CREATE TABLE softmax_beside AS
WITH pair AS (
    SELECT own.gpu, own.run, own.name, rows, columns, own.us, own.gb_per_s, own.copy, peer.name AS peer, peer.us AS peer_us,
        peer.gb_per_s AS peer_gb_per_s, own.noisy OR peer.noisy AS noisy, own.line
    FROM softmax_timing AS own JOIN softmax_timing AS peer USING (gpu, run, rows, columns)
    WHERE own.kind = 'solution' AND peer.kind = 'peer'),
chosen AS (
    SELECT gpu, run, peer, row_number() OVER (PARTITION BY gpu, peer ORDER BY count(*) DESC, time DESC, run.line DESC) AS place
    FROM pair JOIN run USING (gpu, run) WHERE what = 'softmax' GROUP BY gpu, run, peer)
SELECT pair.* FROM pair JOIN chosen USING (gpu, run, peer) WHERE place = 1 ORDER BY gpu, peer, line;

-- ---- Counters ----------------------------------------------------------------------------------------------------------

-- 2160000000 and byte -> 2.16 GB, 71.3 and % -> 71 %.
CREATE VIEW counter_text AS
SELECT *, CASE WHEN unit = '%' THEN whole(value) || ' %'
    ELSE iif(power = 0 AND value = CAST(value AS INTEGER), printf('%d', value), printf('%.3g', value / pow(1000, power))) ||
        rtrim(' ' || substr(' kMGT', power + 1, power > 0) || iif(unit = 'byte', 'B', '')) END AS text
FROM (SELECT *, (value >= 999.5) + (value >= 999.5e3) + (value >= 999.5e6) + (value >= 999.5e9) AS power FROM counter);

-- ---- Versions of a kernel ----------------------------------------------------------------------------------------------

-- Each shape of a lesson from the newest of the runs with nearly the most ablations, on whichever GPU, so that the
-- kernel is that of now or nearly so. number: its place among the lesson's shapes; slower: by how much than the solution.
CREATE TABLE ablation AS
WITH chosen AS (
    SELECT *, row_number() OVER (PARTITION BY lesson, dtype, shape ORDER BY many DESC, time DESC) AS place
    FROM (SELECT gpu, lesson, dtype, shape, run, time,
            count(*) >= 0.9 * max(count(*)) OVER (PARTITION BY lesson, dtype, shape) AS many
        FROM ablation_timing JOIN run USING (gpu, run) WHERE what = 'ablations' GROUP BY gpu, lesson, dtype, shape, run
        HAVING max(ablation = 'solution'))),
row AS (
    SELECT *, min(line) OVER (PARTITION BY gpu, lesson, dtype, shape) AS first,
        us / max(us) FILTER (WHERE ablation = 'solution') OVER (PARTITION BY gpu, lesson, dtype, shape, run) AS over_solution
    FROM ablation_timing)
SELECT row.*, iif(ablation = 'solution', NULL, printf('%+.1f %%', 100 * (over_solution - 1))) AS slower, time,
    dense_rank() OVER (PARTITION BY gpu, lesson ORDER BY first) AS number
FROM row JOIN chosen USING (gpu, lesson, dtype, shape, run) WHERE place = 1 ORDER BY gpu, lesson, number, us;

-- ---- Segments of a step ------------------------------------------------------------------------------------------------

-- Of the newest of the runs with the most lessons and shapes. A lesson's kernel at a shape is a column of a table.
CREATE TABLE segment AS
WITH chosen AS (
    SELECT gpu, run, row_number() OVER (PARTITION BY gpu ORDER BY count(DISTINCT lesson || shape || causal) DESC, time DESC) AS place
    FROM segment_timing JOIN run USING (gpu, run) WHERE what = 'steps' AND dtype = 'bf16' GROUP BY gpu, run)
SELECT s.*, dense_rank() OVER (PARTITION BY gpu, causal ORDER BY D, lesson) AS number FROM segment_timing AS s JOIN chosen USING (gpu, run)
WHERE place = 1 AND dtype = 'bf16';

-- What a step is made of, in its order, and what it takes in all; then what the tensor cores need for the products of all warpgroups'
-- steps, 4096 floating-point operations a cycle of an SM in 16 bits.
CREATE VIEW step_row AS
WITH step AS (
    SELECT gpu, causal, number, sum(cycles) AS cycles, sum(cycles) FILTER (WHERE segment NOT IN ('turn', 'ask', 'scores')) AS from_scores,
        operations / 4096 AS products, warpgroups, over_solution
    FROM segment GROUP BY gpu, causal, number)
SELECT gpu, causal, number, place, words.text, whole(cycles) AS value FROM segment JOIN (
    SELECT 1 AS place, 'turn' AS segment, 'waits for the tile''s keys and for its turn' AS text
    UNION ALL SELECT 2, 'ask', 'issues both GEMMs'
    UNION ALL SELECT 3, 'scores', 'waits for the scores'
    UNION ALL SELECT 4, 'vote', 'finds out whether maxima have to be raised'
    UNION ALL SELECT 5, 'early', 'exponentials before the wait for the products'
    UNION ALL SELECT 6, 'products', 'waits for the products of the tile before'
    UNION ALL SELECT 7, 'weights', 'the other exponentials'
    UNION ALL SELECT 8, 'rounding', 'rounds the weights') AS words USING (segment)
UNION ALL SELECT gpu, causal, number, 9, '**a step of a warpgroup**', whole(cycles) FROM step
UNION ALL SELECT gpu, causal, number, 10, 'of it from the scores to its end', whole(from_scores) FROM step
UNION ALL SELECT gpu, causal, number, 11, '**the products of all warpgroups'' steps**, at least', whole(products) FROM step
UNION ALL SELECT gpu, causal, number, 12, 'of them without its own scores', whole(products * (1 - 0.5 / warpgroups)) FROM step
UNION ALL SELECT gpu, causal, number, 13, 'what the stamps cost, in time', printf('%+.1f %%', 100 * (over_solution - 1)) FROM step;
