-- The blocks that plots/tables writes into pages, as Markdown: block (name, lesson, gpu, position, text). lesson: the page, which is a
-- lesson's folder, README, results or peers; '' for all pages. plots/tables replaces @up@ by the relative path from the page to the
-- root of the repository. Position 1e9 is the text below a table, surrounded by empty lines.
.load build/sql_text

CREATE TABLE block (name, lesson, gpu, position, text);
CREATE VIEW timed_run AS SELECT *, 'median of interleaved CUDA-event timings' AS method FROM run;
CREATE VIEW attention AS SELECT * FROM timed_run WHERE what = 'attention';

-- ---- The ladder --------------------------------------------------------------------------------------------------------

CREATE VIEW ladder_cell AS
SELECT *, three_digits(us / 1000) AS ms, three_digits(tflops) AS rate, short_ratio(over_previous) AS previous, short_ratio(over_first) AS first
FROM ladder;

INSERT INTO block
SELECT 'ladder', '', gpu, position, text FROM (
    SELECT gpu, 1 AS position, table_head('lesson', 'time, ms', 'TFLOP/s', 'over the previous lesson', 'over lesson 01') AS text FROM ladder_run
    UNION ALL SELECT gpu, 2, table_row('[' || replace(name, '_', ' ') || '](@up@lessons/' || name || '/README.md)',
        group_concat(coalesce(ms, '-'), ' / '), group_concat(coalesce(rate, '-'), ' / '),
        replace(group_concat(coalesce(previous, '-'), ' / '), '- / -', '-'), replace(group_concat(coalesce(first, '-'), ' / '), '- / -', '-'))
    FROM (SELECT * FROM (SELECT DISTINCT gpu, name FROM ladder), head_dimension LEFT JOIN ladder_cell USING (gpu, name, D) ORDER BY D)
    GROUP BY gpu, name
    UNION ALL SELECT gpu, 1e9, 'Each pair is D=64 / D=128; fp32, B=1 H=16 N=4096, no mask; ' || method || '. ' || provenance
    FROM ladder_run JOIN attention USING (gpu, run));

-- Each lesson at N=4096 without a mask: the timing of the ladder in fp32, or of the grid in 16 bits.
CREATE VIEW measured_cell AS
SELECT name, gpu, run, '' AS dtype, D, us, tflops, peak, over_previous, short_ratio(over_first) AS last, 'of the fp32 peak' AS peak_head,
    'over lesson 01' AS last_head, 'fp32, B=1 H=16 N=4096, no mask; ' AS shape, '. ' AS run_suffix
FROM ladder
UNION ALL
SELECT name, gpu, run, dtype, D, us, tflops, peak, max(other_us) FILTER (WHERE is_previous) / us,
    whole(max(other_tflops) FILTER (WHERE other_kind <> 'solution' AND other NOT LIKE 'triton%')), 'of the 16-bit peak',
    'fastest library, TFLOP/s', 'B=4 N=4096, H × D = 2048, no mask; ', ' of one run. '
FROM grid_comparison WHERE causal = 0 AND Nq = 4096 AND name NOT IN (SELECT name FROM ladder) GROUP BY gpu, name, dtype, D;
INSERT INTO block
SELECT 'measured', name, gpu, position, text FROM (
    SELECT DISTINCT name, '0' AS gpu, 1 AS position,
        table_head('GPU', 'D', 'time, ms', 'TFLOP/s', peak_head, 'over the previous lesson', last_head) AS text
    FROM measured_cell
    UNION ALL SELECT name, '1' || gpu, D, table_row(device || iif(dtype = '', '', ', ' || dtype), D, three_digits(us / 1000),
        three_digits(tflops), percent(tflops, peak), short_ratio(over_previous), last)
    FROM measured_cell JOIN attention USING (gpu, run)
    UNION ALL SELECT name, '2' || gpu, 1e9, 'Solution; ' || shape || method || run_suffix ||
        group_concat(iif(dtype = '', '', dtype || ', ') || provenance, ' ')
    FROM (SELECT DISTINCT name, gpu, run, dtype, shape, run_suffix FROM measured_cell) JOIN attention USING (gpu, run) GROUP BY name, gpu);

-- Each lesson of the grid compared with the previous lesson and with the best library of the same run; one column per length.
CREATE VIEW length_cell AS
SELECT gpu, run, name, dtype, D, causal, Nq, coalesce(times(previous, 0), '-') || ' / ' || coalesce(times(best, 0), '-') ||
    iif(is_noisy, ', noisy', '') AS text
FROM (SELECT gpu, run, name, dtype, D, causal, Nq, max(previous) AS previous, max(best) AS best, max(is_noisy) AS is_noisy FROM (
        SELECT gpu, run, name, dtype, D, causal, Nq, other_us / us AS previous, NULL AS best, is_noisy FROM grid_comparison WHERE is_previous
        UNION ALL SELECT gpu, run, name, dtype, D, causal, Nq, NULL, ratio, is_noisy FROM over_library WHERE library = 'best')
    GROUP BY gpu, run, name, dtype, D, causal, Nq)
WHERE name NOT IN (SELECT name FROM ladder);
CREATE VIEW length AS SELECT DISTINCT gpu, name, dtype, Nq FROM length_cell;
CREATE VIEW library_mean AS
SELECT gpu, run, name, dtype, group_concat(text, '; ') AS text FROM (
    SELECT gpu, run, o.name, dtype, printf('%s: %.3f in the geometric mean of %d shapes, %.3f at least', coalesce(label, 'the best library'),
        exp(avg(ln(ratio))), count(*), min(ratio)) AS text
    FROM over_library AS o LEFT JOIN compared_library AS l ON l.name = o.library GROUP BY gpu, run, o.name, dtype, library
    ORDER BY coalesce(rank, 0))
GROUP BY gpu, run, name, dtype;
INSERT INTO block
SELECT 'lengths', name, gpu || dtype, position, text FROM (
    SELECT name, gpu, dtype, 1 AS position, table_head(dtype, group_concat('N=' || Nq, ' | ')) AS text
    FROM (SELECT * FROM length ORDER BY Nq) GROUP BY gpu, name, dtype
    UNION ALL SELECT name, gpu, dtype, 2 + D + causal / 2.0,
        table_row(printf('D=%d%s', D, iif(causal, ', causal', '')), group_concat(coalesce(text, '-'), ' | '))
    FROM (SELECT * FROM (SELECT DISTINCT gpu, name, dtype, D, causal FROM length_cell) JOIN length USING (gpu, name, dtype)
        LEFT JOIN length_cell USING (gpu, name, dtype, D, causal, Nq) ORDER BY Nq)
    GROUP BY gpu, name, dtype, D, causal
    UNION ALL SELECT name, gpu, dtype, 1e9, 'Each pair is the time of the previous lesson / of the best library over the time of this lesson, so' ||
        ' above 1 this lesson is faster; B × N = 16384, H × D = 2048; ' || method || ' of one run.' ||
        coalesce(' Times over this lesson''s. ' || upper(substr(mean.text, 1, 1)) || substr(mean.text, 2) || '.', '') || ' ' || group_concat(provenance || coalesce(' ' || versions || '.', ''), ' ')
    FROM (SELECT DISTINCT name, gpu, run, dtype FROM length_cell) JOIN attention USING (gpu, run)
        LEFT JOIN library_mean AS mean USING (gpu, run, name, dtype) LEFT JOIN run_versions USING (gpu, run)
    GROUP BY name, gpu, dtype);

-- The first part of that in bf16: the speed-up over the previous lesson alone.
INSERT INTO block
SELECT 'gain', name, gpu, position, text FROM (
    SELECT name, gpu, 1 AS position, table_head('speed-up', group_concat('N=' || Nq, ' | ')) AS text
    FROM (SELECT * FROM length WHERE dtype = 'bf16' ORDER BY Nq) GROUP BY gpu, name
    UNION ALL SELECT name, gpu, 2 + D + causal / 2.0, table_row(printf('D=%d%s', D, iif(causal, ', causal', '')),
        group_concat(coalesce(substr(text, 1, instr(text, ' / ') - 1) || iif(text LIKE '%noisy', ', noisy', ''), '-'), ' | '))
    FROM (SELECT * FROM (SELECT DISTINCT gpu, name, dtype, D, causal FROM length_cell WHERE dtype = 'bf16') JOIN length USING (gpu, name, dtype)
        LEFT JOIN length_cell USING (gpu, name, dtype, D, causal, Nq) ORDER BY Nq)
    GROUP BY gpu, name, D, causal
    UNION ALL SELECT name, gpu, 1e9, 'The time of the previous lesson over the time of this lesson; bf16, B × N = 16384, H × D = 2048; ' || method ||
        ' of one run. ' || provenance
    FROM (SELECT DISTINCT name, gpu, run FROM length_cell WHERE dtype = 'bf16') JOIN attention USING (gpu, run));

-- The last lesson compared, at each shape, with the best library and with each library.
CREATE VIEW last_lesson_over_library AS
SELECT o.*, coalesce(label, 'the best library') AS label, coalesce(rank, 0) AS rank
FROM over_library AS o LEFT JOIN compared_library AS l ON l.name = o.library WHERE o.name = (SELECT max(folder) FROM lesson);
INSERT INTO block
SELECT 'libraries', '', gpu || dtype, position, text FROM (
    SELECT gpu, dtype, 1 AS position, table_head(dtype || ' |', group_concat('N=' || Nq, ' | '), 'geometric mean') AS text
    FROM (SELECT DISTINCT gpu, dtype, Nq FROM last_lesson_over_library ORDER BY Nq) GROUP BY gpu, dtype
    UNION ALL SELECT gpu, dtype, 2 + rank + D / 1e3 + causal / 1e4, table_row(label, printf('D=%d%s', D, iif(causal, ', causal', '')),
        group_concat(coalesce(times(ratio, is_noisy), '-'), ' | '), coalesce(printf('%.3f', exp(avg(ln(ratio)))), '-') ||
        iif(count(ratio) < count(*), printf(' of %d', count(ratio)), ''))
    FROM (SELECT * FROM (SELECT DISTINCT gpu, dtype, label, rank FROM last_lesson_over_library) JOIN (SELECT DISTINCT gpu, dtype, D, causal, Nq FROM last_lesson_over_library)
            USING (gpu, dtype) LEFT JOIN last_lesson_over_library USING (gpu, dtype, label, rank, D, causal, Nq) ORDER BY D, causal, Nq)
    GROUP BY gpu, dtype, label, D, causal
    UNION ALL SELECT gpu, dtype, 2.9 + rank, table_row(label, 'all shapes', printf('at least %.3f', min(ratio)) ||
        replace(hex(zeroblob((SELECT count(DISTINCT Nq) FROM last_lesson_over_library AS l WHERE (l.gpu, l.dtype) = (o.gpu, o.dtype)) - 1)), '00', ' |'),
        printf('%.3f', exp(avg(ln(ratio)))) || iif(count(*) < (SELECT count(*) FROM (SELECT DISTINCT D, causal, Nq FROM last_lesson_over_library AS l
            WHERE (l.gpu, l.dtype) = (o.gpu, o.dtype))), ' of ' || count(*), ''))
    FROM last_lesson_over_library AS o GROUP BY gpu, dtype, label
    UNION ALL SELECT gpu, dtype, 1e9, 'The library''s time over the time of lesson ' || substr(name, 1, 2) ||
        '; the best library is, at each shape, the fastest of ' || (SELECT group_concat(label, ', ') FROM (SELECT DISTINCT label, rank
            FROM last_lesson_over_library AS l WHERE (l.gpu, l.dtype) = (one.gpu, one.dtype) AND rank > 0 ORDER BY rank)) ||
        '; B × N = 16384, H × D = 2048; ' || method || ' of one run. ' || provenance || coalesce(' ' || versions || '.', '')
    FROM (SELECT DISTINCT name, gpu, run, dtype FROM last_lesson_over_library) AS one JOIN attention USING (gpu, run) LEFT JOIN run_versions USING (gpu, run)
    GROUP BY gpu, dtype);

-- The units that execute the multiply-adds of each library and kernel, as counted.
INSERT INTO block
SELECT 'units', '', gpu, position, text FROM (
    SELECT gpu, 0 AS position, table_head('name in results', 'dtype', 'runs on', 'tensor-core operations', 'fp32 multiply-adds', 'kernels') AS text
    FROM unit_usage GROUP BY gpu
    UNION ALL SELECT gpu, line, table_row('`' || kind || '-' || name || '`', dtype, units,
        iif(gemm_multiple > 0.005, printf('%.2f', gemm_multiple), '-'), printf('%.2f', ffma / gemm_fmas), '`' || iif(length(kernels) > 60,
            substr(kernels, 1, 57) || '...', kernels) || '`')
    FROM unit_usage WHERE kind <> 'solution'
    UNION ALL SELECT gpu, 1e9, 'Counted by Nsight Compute in one call at B,H,N,D = ' || shape || ', as multiples of the multiply-adds of both' ||
        ' GEMMs; kernel names as Nsight Compute reports them. ' || device || ', ' || max(date) || ', commit ' || commit_name || '.'
    FROM unit_usage GROUP BY gpu);

-- ---- The row softmax ---------------------------------------------------------------------------------------------------

INSERT INTO block
SELECT 'softmax', '', gpu, position, text FROM (
    SELECT gpu, 1 AS position, table_head('rows × columns', 'five passes, us', 'GB/s', 'one read and one write, us', 'GB/s', 'speed-up',
        'of a copy''s GB/s') AS text
    FROM softmax_run
    UNION ALL SELECT gpu, 2, table_row(rows || ' × ' || columns, three_digits(five_us), whole(five_gb_per_s), three_digits(us),
        whole(gb_per_s), short_ratio(five_us / us), percent(gb_per_s, copy))
    FROM softmax
    UNION ALL SELECT gpu, 1e9, 'Solution; fp32; GB/s count one read and one write; ' || method || '. ' || provenance
    FROM softmax_run JOIN timed_run USING (gpu, run) WHERE what = 'softmax');

-- ---- Counters ----------------------------------------------------------------------------------------------------------

CREATE VIEW solution_counter AS SELECT * FROM counter_text WHERE kind = 'solution' AND D IN (64, 128);
CREATE VIEW counter_row AS
SELECT gpu, name, coalesce(label, '`' || metric || '`') AS label, min(coalesce(counter_label.rowid, 1000000 + line)) AS position,
    max(text) FILTER (WHERE D = 64) AS d64, max(text) FILTER (WHERE D = 128) AS d128,
    max(coalesce(place, '')) AS place
FROM solution_counter LEFT JOIN counter_label USING (metric) GROUP BY gpu, name, coalesce(label, metric);

CREATE VIEW counter_head AS
SELECT name, gpu, N, date || ', commit ' || commit_name || '.' AS profile_source, max(line),
    table_head('Nsight Compute, ' || device, replace(group_concat(DISTINCT 'D=' || D), ',', ' | ')) AS text
FROM (SELECT * FROM solution_counter ORDER BY D) AS one GROUP BY gpu, name;

-- A lesson's page has the block profile, the counters that name a bottleneck: those with "page" in the third column of counters.tsv. Its
-- notes have the block counters, all of them.
INSERT INTO block
SELECT block_name, name, gpu, position, text FROM (SELECT 'profile' AS block_name, 'page' AS wanted UNION ALL SELECT 'counters', NULL) JOIN (
    SELECT name, gpu, 1 AS position, text, 'page' AS place FROM counter_head
    UNION ALL SELECT name, gpu, 1 + position, '| ' || label || ' |' ||
        iif(max(d64 IS NOT NULL) OVER one, ' ' || coalesce(d64, '-') || ' |', '') ||
        iif(max(d128 IS NOT NULL) OVER one, ' ' || coalesce(d128, '-') || ' |', ''), place
    FROM counter_row WINDOW one AS (PARTITION BY gpu, name)
    UNION ALL SELECT name, gpu, 1e9, 'Solution; B=1 H=16 N=' || N || ', no mask; ' || profile_source, 'page' FROM counter_head)
ON wanted IS NULL OR place = wanted;

-- Where the previous lesson ended, in a sentence or two, for the head of a page: its rate, and how busy its arithmetic units are.
INSERT INTO block
SELECT 'before', page, gpu, 1, 'Lesson ' || substr(name, 1, 2) || ' reaches ' || group_concat(three_digits(tflops) || ' TFLOP/s at D = ' || D, ' and ') ||
    ', ' || group_concat(percent(tflops, peak), ' and ') || ' ' || peak_head || '.' || coalesce((SELECT ' Nsight Compute finds its ' ||
        replace(label, ' busy', '') || ' busy in ' || coalesce(d64 || ' and ' || d128, d64, d128) || ' of the cycles (' || device || ').'
        FROM counter_row AS r JOIN (SELECT gpu, max(device) AS device FROM counter GROUP BY gpu) USING (gpu)
        WHERE r.name = c.name AND label = iif(c.dtype = '', 'FMA units busy', 'tensor cores busy') ORDER BY gpu DESC LIMIT 1), '') || char(10)
FROM (SELECT folder AS page, lag(folder) OVER (ORDER BY folder) AS name FROM lesson) JOIN (SELECT * FROM measured_cell ORDER BY D) AS c USING (name)
WHERE dtype IN ('', 'bf16') GROUP BY page, gpu;

-- ---- Peers -------------------------------------------------------------------------------------------------------------

INSERT INTO block
SELECT 'peers', '', eager || gpu, position, text FROM (
    SELECT DISTINCT eager, gpu, 0 AS position, table_head('B, H, N, D', 'fastest solution', 'us', 'TFLOP/s', 'best library', 'us',
        'speed-up', 'over memory-efficient', 'over cuBLAS + softmax') AS text
    FROM compared
    UNION ALL SELECT eager, gpu, line, table_row(shape, replace(name, '_', ' '), three_digits(us), three_digits(tflops),
        replace(replace(library, 'torch_', 'PyTorch, '), 'cublas_unfused', 'cuBLAS + softmax'), three_digits(library_us), times(library_us / us, noisy), times(efficient_us / us, noisy),
        times(baseline_us / us, noisy))
    FROM compared
    UNION ALL SELECT DISTINCT eager, gpu, 1e9, 'fp32, ' ||
        iif(eager, 'one call at a time, including the launch overhead of the CPU', 'GPU time only') || '; ' || method || ' of one run. ' ||
        provenance || coalesce(' ' || versions || '.', '') || coalesce((SELECT ' On tensor cores, as counted: ' || group_concat('PyTorch, ' || substr(name, 7) || ' (' || substr(units, 15) || ')', ', ') ||
            '. The lessons and the other libraries use FMA units.'
            FROM unit_usage AS u WHERE u.gpu = compared.gpu AND dtype = 'fp32' AND kind <> 'solution' AND units LIKE 'tensor%' GROUP BY NULL), '')
    FROM compared JOIN timed_run USING (gpu, run) LEFT JOIN run_versions USING (gpu, run) WHERE what = iif(eager, 'eager', 'attention'));

INSERT INTO block
SELECT 'softmax-peers', '', gpu, position, text FROM (
    SELECT DISTINCT gpu, 0 AS position, table_head('rows × columns', 'row softmax, us', 'of a copy''s GB/s', 'torch.softmax, us',
        'speed-up', 'over PyTorch in five operations') AS text
    FROM softmax_comparison WHERE peer = 'torch_softmax'
    UNION ALL SELECT one.gpu, one.line, table_row(rows || ' × ' || columns, three_digits(one.us), percent(one.gb_per_s, one.copy),
        three_digits(one.peer_us), times(one.peer_us / one.us, one.noisy), times(five.peer_us / one.us, one.noisy))
    FROM softmax_comparison AS one LEFT JOIN (SELECT * FROM softmax_comparison WHERE peer = 'torch_unfused_softmax') AS five
        USING (gpu, run, rows, columns)
    WHERE one.peer = 'torch_softmax'
    UNION ALL SELECT DISTINCT gpu, 1e9, 'Solution 03; fp32; ' || method || ' of one run. ' || provenance
    FROM softmax_comparison JOIN timed_run USING (gpu, run) WHERE what = 'softmax' AND peer = 'torch_softmax');

-- ---- Triton ------------------------------------------------------------------------------------------------------------

-- In fp32 at the shapes of the ladder, in 16 bits at the shapes of the grid.
CREATE VIEW triton AS
SELECT name, gpu, run, '' AS dtype_suffix, D, us, triton_us, noisy, 'fp32, B=1 H=16 N=4096, no mask' AS shape FROM over_triton
UNION ALL SELECT name, gpu, run, ', ' || dtype, D, us, other_us, is_noisy, 'B=4 N=4096, H × D = 2048, no mask'
FROM grid_comparison WHERE other_kind = 'peer' AND other = 'triton_' || name AND causal = 0 AND Nq = 4096;
INSERT INTO block
SELECT 'triton', name, gpu, position, text FROM (
    SELECT name, '0' AS gpu, 1 AS position, table_head('GPU', 'D', 'solution, ms', 'Triton, ms', 'Triton / solution') AS text
    FROM triton GROUP BY name
    UNION ALL SELECT name, '0' || gpu, D, table_row(device || dtype_suffix, D, three_digits(us / 1000), three_digits(triton_us / 1000),
        times(triton_us / us, noisy))
    FROM triton JOIN attention USING (gpu, run)
    UNION ALL SELECT name, '1' || gpu, 1e9, 'Triton''s kernel compared with the solution; ' || shape || '; ' || method || ' of one run. ' ||
        group_concat(provenance, ' ')
    FROM (SELECT DISTINCT name, gpu, run, shape FROM triton) JOIN attention USING (gpu, run) GROUP BY name, shape, gpu);

INSERT INTO block
SELECT 'triton', name, '2' || gpu, position, text FROM (
    SELECT DISTINCT name, gpu, 0 AS position,
        table_head('rows × columns', 'solution, us', 'GB/s', 'Triton, us', 'GB/s', 'Triton / solution') AS text
    FROM softmax_comparison WHERE peer = 'triton_' || name
    UNION ALL SELECT name, gpu, line, table_row(rows || ' × ' || columns, three_digits(us), whole(gb_per_s), three_digits(peer_us),
        whole(peer_gb_per_s), times(peer_us / us, noisy))
    FROM softmax_comparison WHERE peer = 'triton_' || name
    UNION ALL SELECT DISTINCT name, gpu, 1e9, 'Triton''s row softmax compared with the solution; fp32; ' || method || ' of one run. ' || provenance
    FROM softmax_comparison JOIN timed_run USING (gpu, run) WHERE what = 'softmax' AND peer = 'triton_' || name);

-- ---- Ablations ---------------------------------------------------------------------------------------------------------

-- counted (lesson, shape, what, count): the lessons' counts.csv, filled by plots/tables. A page shows its own, or its own beside those of the
-- lesson before, if that one solves the same problem.
CREATE VIEW counted_beside AS
SELECT c.*, c.rowid AS position, before.lesson AS before, before.count AS before_count
FROM counted AS c JOIN counted AS before ON before.what = c.what AND before.shape = c.shape
    AND before.lesson = (SELECT max(lesson) FROM counted WHERE lesson < c.lesson);
INSERT INTO block
SELECT 'counts', lesson, '', 0, table_head('accesses', 'lesson ' || substr(lesson, 1, 2)) FROM counted GROUP BY lesson
UNION ALL SELECT 'counts', lesson, '', rowid, table_row(what, printf('%,d', count)) FROM counted
UNION ALL SELECT 'counts-beside', lesson, '', 0, table_head('accesses', 'lesson ' || substr(before, 1, 2), 'lesson ' || substr(lesson, 1, 2))
FROM counted_beside GROUP BY lesson
UNION ALL SELECT 'counts-beside', lesson, '', position, table_row(what, printf('%,d', before_count), printf('%,d', count)) FROM counted_beside
UNION ALL
SELECT value, lesson, '', 1e9, 'Counted by the simulator at SHAPE=' || shape || ', all threads together; bulk copies by TMA are not counted.'
FROM counted, json_each('["counts", "counts-beside"]') GROUP BY value, lesson;

-- patch (lesson, ablation, idea): the existing patches, filled by plots/tables.
-- Notes have one table per shape with all ablations, and properties of the machine code.
INSERT INTO block
SELECT 'ablations', lesson, gpu, number + us / 1e9, iif(us > min(us) OVER (PARTITION BY gpu, lesson, number), '',
        iif(number > 1, char(10), '') || 'B,H,N,D = ' || shape || ':' || char(10, 10) || table_head('ablation', 'us', 'TFLOP/s',
            'slow-down', 'registers', 'spilled, bytes', 'bank conflicts per multiply-add') || char(10)) ||
    table_row(iif(idea IS NULL, ablation, '[' || ablation || '](@up@solutions/' || lesson || '/ablations/' || ablation || '.patch)'), three_digits(us),
        three_digits(tflops), coalesce(slower, '-') || iif(noisy, ', noisy', ''), registers, spilled, bank_conflicts)
FROM ablation LEFT JOIN patch USING (lesson, ablation);

-- A lesson's page has one table: the four changes that cost most, each with its time at each shape; the slowest come last. Ablations without
-- a patch are skipped: their change has become part of the solution.
CREATE VIEW ablation_shape AS SELECT DISTINCT gpu, lesson, number, shape, D FROM ablation ORDER BY number;
CREATE VIEW ablation_row AS
SELECT gpu, lesson, dense_rank() OVER (PARTITION BY gpu, lesson ORDER BY ablation <> 'solution', average, ablation) AS position,
    dense_rank() OVER (PARTITION BY gpu, lesson ORDER BY ablation = 'solution', average DESC, ablation) AS slowest,
    ablation = 'solution' AS is_solution,
    table_row(coalesce('[' || idea || '](@up@solutions/' || lesson || '/ablations/' || ablation || '.patch)', 'the solution, us'),
        (SELECT group_concat(coalesce(coalesce(slower || iif(noisy, ', noisy', ''), three_digits(us)), '-'), ' | ')
        FROM (SELECT * FROM ablation_shape AS at LEFT JOIN ablation AS v ON (v.gpu, v.lesson, v.number, v.ablation)
            = (at.gpu, at.lesson, at.number, one.ablation) WHERE (at.gpu, at.lesson) = (one.gpu, one.lesson) ORDER BY at.number)),
        code, iif(counted = '-', '', printf('`%s`: %,d instead of %,d', counter, counted, counted_solution))) AS text
FROM (SELECT gpu, lesson, ablation, avg(over_solution) AS average, counter, counted, counted_solution, max(D),
        registers || iif(spilled, ', ' || spilled || ' B spilled', '') AS code
    FROM ablation GROUP BY gpu, lesson, ablation) AS one LEFT JOIN patch USING (lesson, ablation)
WHERE ablation = 'solution' OR idea IS NOT NULL;

INSERT INTO block
SELECT 'ablation', lesson, gpu, 0, table_head('change', group_concat(shape, ' | '), 'registers at D=' || max(D),
    'counter of the trace') FROM ablation_shape GROUP BY gpu, lesson
UNION ALL SELECT 'ablation', lesson, gpu, position, text FROM ablation_row WHERE is_solution OR slowest <= 4;

-- The text below both tables.
INSERT INTO block
SELECT name, lesson, gpu, 1e9, iif(name = 'ablation', 'B,H,N,D; ', '') || dtypes || '; ' || method || ' of one run per shape. ' || provenance
FROM (SELECT gpu, lesson, newest AS run, group_concat(DISTINCT dtype) || iif(max(causal), '', ', no mask') AS dtypes
        FROM (SELECT *, first_value(run) OVER (PARTITION BY gpu, lesson ORDER BY time DESC) AS newest FROM ablation) GROUP BY gpu, lesson)
    JOIN timed_run USING (gpu, run), (SELECT 'ablations' AS name UNION ALL SELECT 'ablation')
WHERE what = 'ablations';

-- ---- Segments of an iteration ------------------------------------------------------------------------------------------

-- One row per segment, one column per lesson and head dimension; one table without a mask, one with the causal mask.
CREATE VIEW step_column AS SELECT DISTINCT gpu, causal, number, D, lesson FROM segment ORDER BY number;
INSERT INTO block
SELECT 'steps', '', gpu, causal + position / 1e3, text FROM (
    SELECT gpu, causal, 1 AS position, iif(causal, '<details><summary>Causal</summary>' || char(10, 10), '') ||
        table_head('cycles', group_concat('D=' || D || ', lesson ' || substr(lesson, 1, 2), ' | ')) AS text
    FROM step_column GROUP BY gpu, causal
    UNION ALL SELECT gpu, causal, 2 + position, table_row(text, group_concat(coalesce(value, '-'), ' | '))
    FROM (SELECT * FROM (SELECT DISTINCT gpu, causal, position, text FROM step_row) JOIN step_column USING (gpu, causal)
        LEFT JOIN step_row USING (gpu, causal, position, text, number) ORDER BY number) GROUP BY gpu, causal, position
    UNION ALL SELECT gpu, causal, 99, char(10) || 'Mean over the iterations after the first of each work tile, without masked keys; bf16; B,H,N,D = ' ||
        (SELECT group_concat(shape, ' and ') FROM (SELECT DISTINCT shape FROM segment WHERE segment.gpu = one.gpu AND
            segment.causal = one.causal ORDER BY D)) || iif(causal, ', causal', ', no mask') || '. ' || provenance || char(10) ||
        iif(causal, char(10) || '</details>' || char(10), '')
    FROM (SELECT DISTINCT gpu, run, causal FROM segment) AS one JOIN timed_run USING (gpu, run) WHERE what = 'steps');

-- ---- Charts ------------------------------------------------------------------------------------------------------------

-- The charts of plots/draw --readme: charts_file (gpu, text), lines of "name, title, caption, alternative, figures", tab-separated.
CREATE VIEW chart_image AS
SELECT gpu, position, json_extract(cells, '$[0]') AS name,
    replace(replace(replace(json_extract(cells, '$[3]'), '&', '&amp;'), '"', '&quot;'), '<', '&lt;') AS alt
FROM (SELECT gpu, line.key AS position, '[' || replace(json_quote(line.value), '\t', '","') || ']' AS cells
    FROM charts_file, json_each('[' || replace(json_quote(rtrim(text, char(10))), '\n', '","') || ']') AS line);

-- A chart with panels has a second drawing for narrow pages. README.md shows the ladder, peers/README.md the comparison in bf16, lessons' pages their charts, results/MEASURED.md all charts.
INSERT INTO block
SELECT iif(chart_image.name = 'softmax' AND page <> 'results', 'softmax', 'charts'), page, gpu, position / 1e3,
    iif(is_wide, '<picture>' || char(10) || '  <source media="(max-width: 860px)" srcset="' || file || '-narrow.svg" width="440">' || char(10) || '  ', '') ||
        '<img alt="' || alt || '" src="' || file || '.svg" width="' || iif(is_wide, 1000, 440) || '">' || char(10) || iif(is_wide, '</picture>' || char(10), '')
FROM (SELECT *, '@up@plots/charts/' || gpu || '/' || name AS file, name = 'ladder' AS is_wide FROM chart_image) AS chart_image JOIN (
    SELECT 'README' AS page, '["ladder"]' AS names UNION ALL SELECT 'peers', '["tflops-bf16-d128"]'
    UNION ALL SELECT folder, '["limits-d64","bytes-d64","softmax"]' FROM lesson UNION ALL SELECT 'results', (SELECT json_group_array(name)
        FROM chart_image)) AS page_block
    ON chart_image.name IN (SELECT value FROM json_each(names));

-- An iteration of the main loop, on any page.
INSERT INTO block
SELECT 'timeline', '', gpu, 0, '<img alt="' || alt || '" src="@up@plots/charts/' || gpu || '/timeline.svg" width="440">' || char(10)
FROM chart_image WHERE name = 'timeline';

-- ---- Missing measurements -----------------------------------------------------------------------------------------------

INSERT INTO block
WITH page (pages, page) AS (
    SELECT '', '' UNION ALL SELECT 'lesson', folder FROM lesson UNION ALL SELECT DISTINCT 'patch', lesson FROM patch
    UNION ALL SELECT 'charts', folder FROM lesson UNION ALL SELECT 'charts', value FROM json_each('["README", "peers", "results"]')),
missing (name, pages, text) AS (VALUES
    ('ladder', '', '`make bench` measures it on a GPU.'), ('softmax', '', '`make bench` measures it on a GPU.'),
    ('measured', 'lesson', '`make bench` measures it on a GPU.'), ('steps', '', '`scripts/stamps` measures it, on a GPU.'),
    ('profile', 'lesson', '`scripts/profile` and `plots/add-profile` count it, on a GPU.'), ('counters', 'lesson', '`scripts/profile` and `plots/add-profile` count it, on a GPU.'),
    ('lengths', 'lesson', '`make peers` measures it, on a GPU with PyTorch and FlashAttention-3.'), ('units', '', '`make peers UNITS=1` measures it, on a GPU with PyTorch.'),
    ('libraries', '', '`make peers` measures it, on a GPU with PyTorch and FlashAttention-3.'),
    ('peers', '', '`make peers` measures it, on a GPU with PyTorch.'), ('softmax-peers', '', '`make peers` measures it, on a GPU with PyTorch.'),
    ('triton', 'lesson', '`make peers` measures it, on a GPU with PyTorch and Triton.'), ('charts', 'charts', 'there is no chart.'),
    ('timeline', '', '`scripts/stamps` measures it, on a GPU.'), ('before', 'lesson', '`make bench` measures it on a GPU.'), ('gain', 'lesson', '`make bench` measures it on a GPU.'),
    ('ablations', 'patch', '`scripts/ablations NN` measures it, on a GPU.'), ('ablation', 'patch', '`scripts/ablations NN` measures it, on a GPU.'))
SELECT name, page, '', 1, 'Not measured yet: ' || replace(text, 'NN', substr(page, 1, 2)) || char(10)
FROM missing JOIN page USING (pages)
WHERE NOT EXISTS (SELECT 1 FROM block WHERE block.name = missing.name AND block.lesson = page);

-- A block of a page shows one GPU, the GPU that was measured last. results/MEASURED.md shows the other GPUs after it.
CREATE VIEW block_gpu AS
SELECT block.rowid AS id, block.name, block.lesson, run.gpu, max(time) AS time
FROM block JOIN run ON instr(block.gpu, run.gpu) GROUP BY block.rowid, run.gpu;
CREATE VIEW page_block AS
SELECT block.rowid AS id, block.name, block.lesson, block.gpu, position, text, coalesce(one.gpu <> newest.gpu, 0) AS is_other
FROM block LEFT JOIN block_gpu AS one ON one.id = block.rowid
    LEFT JOIN (SELECT name, lesson, gpu, max(time) FROM block_gpu GROUP BY name, lesson) AS newest
        ON (newest.name, newest.lesson) = (block.name, block.lesson);
SELECT name, iif(is_other, 'results', lesson), iif(position = 1e9, char(10) || text || char(10), text)
FROM page_block WHERE NOT is_other OR lesson IN ('', 'results') ORDER BY name, is_other, lesson, gpu, position, id;
