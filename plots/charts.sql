-- The charts of the GPU in this_gpu, for plots/draw. chart has one row per chart; bar, line_point, utilization and dot have the data that
-- the chart's gnuplot script draws. Titles state the main result; the rules below compute them from the data.
-- GROUP BY NULL: an aggregate over no rows gives no row.
.load build/sql_text

-- subtitle: the line below the title; alt: text alternative, under 200 characters; is_default: 1 if the chart is drawn without ALL=1.
CREATE TABLE chart (name, script, is_default, title, subtitle, alt, caption, footnote);
-- head: a heading on a line of its own above its bars. hue 0 is grey; mark: position of a line across the bar.
CREATE TABLE bar (chart, position, head, label, value, figure, hue, mark);
-- Bar charts whose heads stand side by side, each with an axis of its own.
CREATE TABLE side_by_side (chart);
-- A vertical line in a bar chart, or a horizontal line in a chart over N.
CREATE TABLE ceiling_line (chart, value, label);
CREATE TABLE line_point (chart, name, hue, x, y, noisy);
CREATE TABLE utilization (chart, name, title, column, percent);
CREATE TABLE dot (chart, name, title, series, value, figure);
-- A part of a row, from one value to another on an axis that all rows share; label: a line of text above the row, one per row.
CREATE TABLE span (chart, row, label, start, end, hue);

CREATE VIEW ladder_on_gpu AS
SELECT *, title || iif((SELECT kind FROM setting) <> kind, '*', '') AS marked_title FROM ladder JOIN this_gpu USING (gpu);
CREATE VIEW ceiling_on_gpu AS SELECT * FROM newest_ceiling JOIN this_gpu USING (gpu);
CREATE VIEW softmax_on_gpu AS SELECT * FROM softmax JOIN this_gpu USING (gpu);
CREATE VIEW grid_on_gpu AS SELECT * FROM grid JOIN this_gpu USING (gpu);
CREATE VIEW run_on_gpu AS
SELECT run.*, 'Median of interleaved CUDA-event timings, run of ' || minute || ', commit ' || commit_name || '.' ||
    coalesce(' ' || versions || '.', '') AS method
FROM run JOIN this_gpu USING (gpu) LEFT JOIN run_versions USING (gpu, run);
CREATE VIEW device_prefix AS SELECT device || ', ' || iif((SELECT kind FROM setting) = 'lesson', 'own lessons, ', '') AS prefix FROM run_on_gpu LIMIT 1;
CREATE TABLE peer_title (name, title, short);
INSERT INTO peer_title VALUES ('torch_flash', 'PyTorch, flash', 'flash'), ('torch_cudnn', 'PyTorch, cuDNN', 'cuDNN'),
    ('torch_efficient', 'PyTorch, memory-efficient', 'efficient'), ('torch_math', 'PyTorch, math', 'math'),
    ('torch_unfused', 'PyTorch, unfused', 'unfused'), ('cublas_unfused', 'cuBLAS and a softmax', 'cuBLAS'),
    ('torch_softmax', 'torch.softmax', 'torch'), ('torch_unfused_softmax', 'PyTorch, five ops', 'PyTorch'),
    ('fa3', 'FlashAttention-3', 'FA3'), ('fa4', 'FlashAttention-4', 'FA4');

-- ---- The ladder --------------------------------------------------------------------------------------------------------

INSERT INTO bar
SELECT 'ladder-d' || D, number, marked_title || iif(noisy, ' (noisy)', ''), '', tflops,
    three_digits(tflops) || coalesce(' (' || ratio(over_previous) || ')', ''), 1, NULL
FROM ladder_on_gpu;
INSERT INTO bar
SELECT 'ladder-d' || D, 100 + 1 / us, coalesce(title, replace(p.name, '_', ' ')) || iif(noisy, ' (noisy)', ''), '', tflops,
    three_digits(tflops) || coalesce((SELECT ' (' || substr(units, instr(units, ': ') + 2) || ')' FROM unit_usage AS u
        WHERE (u.gpu, u.kind, u.name, u.dtype) = (p.gpu, p.kind, p.name, 'fp32') AND units LIKE 'tensor%:%'), ''), 0, NULL
FROM standard_timing AS p JOIN ladder_run USING (gpu, run) JOIN this_gpu USING (gpu) LEFT JOIN peer_title USING (name)
WHERE p.kind IN ('peer', 'baseline') AND p.name NOT LIKE 'triton%' AND B = 1 AND H = 16 AND Nq = 4096 AND D IN (64, 128);
INSERT INTO ceiling_line SELECT 'ladder-d' || D, max(peak), printf('fp32 peak %.1f', max(peak)) FROM ladder_on_gpu WHERE peak > 0 GROUP BY D;

INSERT INTO chart
SELECT 'ladder-d' || D, 'bars', D = 64,
    printf('From %s to %s TFLOP/s', low, high) || coalesce(', ' || percent(most, peak) || ' of the fp32 peak', '') ||
    coalesce('; the best library reaches ' || library, ''),
    prefix || 'TFLOP/s, fp32, B=1 H=16 N=4096 D=' || D || ', no mask',
    printf('Bars: %d lessons from %s to %s TFLOP/s', lessons, low, high) || coalesce(', libraries up to ' || library, '') ||
        iif(peak > 0, printf(', the peak at %.1f', peak), '') || '; fp32, N=4096, D=' || D || '.',
    'TFLOP/s of each lesson, and its speed-up over the previous lesson.' ||
        iif(library IS NULL, '', ' Grey: libraries in the same run, TF32 off.'),
    'In brackets: speed-up over the previous lesson. ' || iif(library IS NULL, '', 'Grey: libraries, TF32 off' || iif(EXISTS (SELECT 1 FROM bar
        WHERE chart = 'ladder-d' || D AND figure LIKE '%xTF32)'), '; 3xTF32: on tensor cores, three TF32 multiplications per fp32 multiplication. ',
        '. ')) || method
FROM (SELECT D, count(*) AS lessons, three_digits(min(tflops)) AS low, max(tflops) AS most, three_digits(max(tflops)) AS high,
        max(peak) AS peak, prefix, method, (SELECT three_digits(max(value)) FROM bar WHERE chart = 'ladder-d' || D AND hue = 0) AS library
    FROM ladder_on_gpu JOIN run_on_gpu USING (run), device_prefix WHERE what = 'attention' GROUP BY D);

-- Both ladders and their libraries, each below a head with an axis of its own that ends at the GPU's peak.
CREATE TABLE ladder_bar AS
SELECT 'bf16' AS dtype, CAST(substr(g.name, 1, 2) AS INTEGER) AS number, g.kind, g.name, tflops, peak, noisy, run, coalesce(label, title) AS library
FROM grid_on_gpu AS g LEFT JOIN compared_library AS c ON c.name = g.name LEFT JOIN peer_title AS p ON p.name = g.name
WHERE dtype = 'bf16' AND NOT causal AND Nq = 4096 AND D = 128 AND g.name NOT LIKE 'triton%'
UNION ALL SELECT 'fp32', number, kind, name, tflops, peak, noisy, run, NULL FROM ladder_on_gpu WHERE D = 64
UNION ALL SELECT 'fp32', 100, p.kind, p.name, p.tflops, p.peak, p.noisy, run, coalesce(title, replace(p.name, '_', ' '))
FROM standard_timing AS p JOIN ladder_run USING (gpu, run) JOIN this_gpu USING (gpu) LEFT JOIN peer_title USING (name)
WHERE p.kind IN ('peer', 'baseline') AND p.name NOT LIKE 'triton%' AND B = 1 AND H = 16 AND Nq = 4096 AND D = 64;
INSERT INTO bar
SELECT 'ladder', (dtype = 'fp32') * 1e4 + iif(library IS NULL, number, 1000 - tflops / peak),
    iif(dtype = 'bf16', 'bf16, on tensor cores', 'fp32, without tensor cores') || coalesce('; peak ' || three_digits(max(peak) OVER (PARTITION BY dtype)), ''),
    coalesce(library, replace(name, '_', ' ')) || iif(noisy, ' (noisy)', ''), tflops, three_digits(tflops), iif(library IS NULL, 1, 0),
    max(peak) OVER (PARTITION BY dtype)
FROM ladder_bar;
INSERT INTO side_by_side VALUES ('ladder');
INSERT INTO chart
SELECT 'ladder', 'bars', 1, title, prefix || 'attention, forward pass, TFLOP/s: a longer bar is faster, and the mark is the peak of the GPU. Grey: libraries',
    'Bars: ' || lessons || ' kernels:' || group_concat(text, ',') || ' TFLOP/s' || iif(EXISTS (SELECT 1 FROM ladder_bar WHERE library IS NOT NULL),
        '; libraries beside them', '') || '.',
    'TFLOP/s of each lesson, and of the libraries in grey, below the peak of the GPU.',
    'bf16: B=4 H=16 N=4096 D=128. fp32: B=1 H=16 N=4096 D=64, TF32 off. No mask. Medians of interleaved CUDA-event timings; ' || runs || '.'
FROM (SELECT dtype, ' ' || dtype || ' from ' || three_digits(min(tflops) FILTER (WHERE library IS NULL)) || ' to ' ||
            three_digits(max(tflops) FILTER (WHERE library IS NULL)) AS text FROM ladder_bar GROUP BY dtype ORDER BY dtype),
    (SELECT count(DISTINCT name) FILTER (WHERE library IS NULL) AS lessons FROM ladder_bar),
    (SELECT printf('%d attention kernels, one idea each: the last runs at ', (SELECT count(DISTINCT name) FROM ladder_bar WHERE library IS NULL)) ||
        coalesce((SELECT printf('%.2f times the speed of ', own.tflops / library.tflops) || library.library FROM (SELECT *, max(tflops) FROM ladder_bar
            WHERE library IS NOT NULL AND dtype = own.dtype GROUP BY NULL) AS library WHERE library.tflops > 0), three_digits(own.tflops) || ' TFLOP/s') AS title
        FROM (SELECT *, max(number) FROM ladder_bar WHERE library IS NULL) AS own),
    device_prefix, (SELECT group_concat(dtype || ': run of ' || minute || ', commit ' || commit_name, '; ') AS runs FROM (SELECT DISTINCT dtype, run FROM ladder_bar ORDER BY 1)
        JOIN run_on_gpu USING (run) WHERE what = 'attention')
WHERE lessons > 0 GROUP BY NULL;

-- ---- Over N ------------------------------------------------------------------------------------------------------------

CREATE VIEW over_n AS
SELECT 'tflops-d' || D AS chart, 'fp32' AS dtype, 0 AS causal, gpu, run, D, kind, name, substr(name, 1, 2) AS short, Nq AS N, tflops, peak,
    noisy, 1 AS is_lesson
FROM rung JOIN sizes_run USING (gpu, run) JOIN this_gpu USING (gpu) WHERE B = 1 AND H = 16
UNION ALL
SELECT 'tflops-' || dtype || '-d' || D || iif(causal, '-causal', ''), dtype, causal, gpu, run, D, kind, name,
    iif(kind IN ('peer', 'baseline'), coalesce(short, name), substr(name, 1, 2)), Nq, tflops, peak, noisy, kind NOT IN ('peer', 'baseline')
FROM grid_on_gpu LEFT JOIN peer_title USING (name) WHERE name NOT LIKE 'triton%';

INSERT INTO line_point
SELECT chart, short, iif(is_lesson, CAST(short AS INTEGER), 0), N, tflops, noisy
FROM over_n JOIN (SELECT chart, name FROM over_n GROUP BY chart, name HAVING count(*) >= 2) USING (chart, name)
ORDER BY chart, is_lesson DESC, name, N;
INSERT INTO ceiling_line
SELECT chart, max(peak), 'peak ' || rounded(max(peak), max(peak) < 100)
FROM over_n WHERE peak > 0 AND chart IN (SELECT chart FROM line_point) GROUP BY chart
UNION ALL SELECT DISTINCT chart, median, iif(what = 'wgmma_bf16', 'wgmma ', 'mma ') || whole(median)
FROM ceiling_on_gpu, over_n
WHERE what IN ('wgmma_bf16', 'mma_bf16') AND dtype <> 'fp32' AND chart IN (SELECT chart FROM line_point);

-- last_point: the last lesson and the fastest library at the largest N whose timings are not noisy, or else at the largest N. falling_line:
-- lessons that drop to two thirds of their best rate or less as N grows.
CREATE VIEW last_point AS
SELECT chart, N, last, library, noisy FROM (
    SELECT chart, N, max(iif(is_lesson, name, '')) AS last, max(iif(is_lesson, 0, tflops)) AS library, max(noisy) AS noisy,
        row_number() OVER (PARTITION BY chart ORDER BY max(noisy), N DESC) AS position FROM over_n GROUP BY chart, N)
WHERE position = 1;
CREATE VIEW falling_line AS
SELECT a.chart, a.name, a.N AS best_n, a.tflops AS best, z.N, z.tflops FROM (SELECT *, max(tflops) FROM over_n WHERE is_lesson GROUP BY chart, name) AS a
    JOIN (SELECT *, max(N) FROM over_n WHERE NOT noisy GROUP BY chart, name) AS z USING (chart, name)
WHERE z.tflops < a.tflops * 0.667;

INSERT INTO chart
SELECT chart, 'lines', chart IN ('tflops-d64', 'tflops-bf16-d128'),
    replace(last, '_', ' ') || printf(' reaches %s%s TFLOP/s at N=%d', iif(e.noisy, '~', ''), three_digits(tflops), N) ||
    iif(library > 0, ', the fastest library ' || whole(library), '') ||
    coalesce((SELECT printf('; %s falls from %.1f at N=%d to %.1f at N=%d', substr(f.name, 1, 2), f.best, f.best_n, f.tflops, f.N)
        FROM falling_line AS f WHERE f.chart = o.chart ORDER BY f.tflops / f.best LIMIT 1), ''),
    prefix || 'TFLOP/s over N, ' || dtype || iif(dtype = 'fp32', ', B=1 H=16', ', 16384 tokens, H × D = 2048') || ', D=' || D ||
        iif(causal, ', causal mask', ', no mask'),
    printf('Lines over N: %s at %s TFLOP/s', substr(last, 1, 2), three_digits(tflops)) ||
        iif(library > 0, ', the fastest library at ' || whole(library), '') || ' at N=' || N || '; ' || dtype || ', D=' || D || '.',
    'Useful floating-point operations per second over the number of queries and keys; each line is labelled with the number of its lesson.',
    method || coalesce((SELECT ' mma, wgmma: mma.sync and wgmma without loads' || iif(c.run = o.run, '', ', in another run') || '.'
        FROM ceiling_on_gpu AS c WHERE c.what = 'mma_bf16' AND dtype <> 'fp32'), '') ||
        iif((SELECT max(noisy) FROM line_point WHERE line_point.chart = o.chart), ' Ringed: noisy.', '')
FROM last_point AS e JOIN over_n AS o USING (chart, N) JOIN run_on_gpu USING (run), device_prefix
WHERE name = last AND is_lesson AND what = 'attention' AND chart IN (SELECT chart FROM line_point);

-- ---- Utilization ---------------------------------------------------------------------------------------------------------

CREATE VIEW counted AS
SELECT s.D, s.name, s.marked_title AS title, number, s.us, s.tflops, s.peak,
    max(value) FILTER (WHERE metric = 'sm__inst_executed_pipe_fma.avg.pct_of_peak_sustained_active') AS fma,
    max(value) FILTER (WHERE metric = 'smsp__issue_active.avg.pct_of_peak_sustained_active') AS issue,
    max(value) FILTER (WHERE metric = 'l1tex__data_pipe_lsu_wavefronts_mem_shared.avg.pct_of_peak_sustained_elapsed') AS shared,
    max(value) FILTER (WHERE metric = 'lts__throughput.avg.pct_of_peak_sustained_elapsed') AS l2,
    max(value) FILTER (WHERE metric = 'dram__bytes_read.sum') + max(value) FILTER (WHERE metric = 'dram__bytes_write.sum') AS dram_bytes,
    max(value) FILTER (WHERE metric = 'lts__t_bytes.sum') AS l2_bytes,
    32 * max(value) FILTER (WHERE metric = 'l1tex__t_sectors_pipe_lsu_mem_global_op_ld.sum') AS loaded_bytes
FROM ladder_on_gpu AS s JOIN counter AS c ON c.gpu = s.gpu AND c.kind = s.kind AND c.name = s.name AND c.D = s.D AND c.N = 4096
GROUP BY s.D, s.name;

CREATE TABLE gpu_unit (column, unit);
INSERT INTO gpu_unit VALUES (1, 'useful FLOP/s'), (2, 'FMA units'), (3, 'issue slots'), (4, 'shared memory'), (5, 'L2 cache'),
    (6, 'device memory');
INSERT INTO utilization
SELECT 'limits-d' || D, name, title, column,
    CASE column WHEN 1 THEN 100 * tflops / (SELECT median FROM ceiling_on_gpu WHERE what = 'fma_fp32') WHEN 2 THEN fma WHEN 3 THEN issue
        WHEN 4 THEN shared WHEN 5 THEN l2 ELSE dram_bytes / us / 10 / (SELECT median FROM ceiling_on_gpu WHERE what = 'copy') END AS percent
FROM counted, gpu_unit WHERE percent IS NOT NULL ORDER BY D, number, column;

CREATE VIEW busiest AS
SELECT chart, name, percent, unit
FROM (SELECT chart, name, column, max(percent) AS percent FROM utilization WHERE column > 1 GROUP BY chart, name) JOIN gpu_unit USING (column);
CREATE VIEW profile_source AS
SELECT 'Counted by Nsight Compute, ' || max(c.date) || ', commit ' || c.commit_name || '. ' AS profile_text
FROM counter AS c JOIN this_gpu USING (gpu) WHERE c.N = 4096 AND c.name IN (SELECT name FROM ladder_on_gpu);

INSERT INTO chart
SELECT chart, 'limits', chart = 'limits-d64', 'The busiest unit changes: ' || group_concat(text, '; '),
    prefix || 'utilization in percent of peak, fp32, B=1 H=16 N=4096 D=' || substr(chart, 9) || ', no mask',
    'Busiest unit: ' || group_concat(text, '; ') || '; fp32, N=4096, D=' || substr(chart, 9) || '.',
    'Utilization of each unit of the GPU by each lesson; the busiest unit is red.',
    profile_text || 'Useful FLOP/s: percent of measured multiply-adds without loads; device memory: percent of a copy. ' || method
FROM (SELECT chart, unit || ' in ' || group_concat(substr(name, 1, 2), ', ') AS text, min(name) FROM busiest GROUP BY chart, unit
    ORDER BY min(name)),
    device_prefix, profile_source, run_on_gpu JOIN ladder_run USING (gpu, run) WHERE run_on_gpu.what = 'attention'
GROUP BY chart;

-- ---- Bytes -------------------------------------------------------------------------------------------------------------

CREATE VIEW byte_counts AS
SELECT 'bytes-d' || c.D AS chart, c.name, c.title, c.number, p.bytes AS predicted, loaded_bytes AS loaded, l2_bytes, dram_bytes
FROM counted AS c LEFT JOIN (SELECT folder AS name, D, sum(bytes) AS bytes FROM prediction GROUP BY folder, D) AS p USING (name, D);

CREATE TABLE byte_series (series, label);
INSERT INTO byte_series VALUES (1, 'predicted'), (2, 'loaded'), (3, 'through L2'), (4, 'device memory');
INSERT INTO dot
SELECT chart, name, title, series, value, CASE WHEN value >= 999.5e9 THEN printf('%.3g TB', value / 1e12)
    WHEN value >= 999.5e6 THEN printf('%.3g GB', value / 1e9) WHEN value >= 999.5e3 THEN printf('%.3g MB', value / 1e6)
    ELSE printf('%.3g kB', value / 1e3) END
FROM (SELECT *, CASE series WHEN 1 THEN predicted WHEN 2 THEN loaded WHEN 3 THEN l2_bytes ELSE dram_bytes END AS value FROM byte_counts, byte_series)
WHERE value > 0 ORDER BY chart, number, series;

INSERT INTO chart
SELECT chart, 'dots', chart = 'bytes-d64', 'Bytes requested by loads fall from ' || most || ' to ' || least ||
        iif(predicted, printf('; %d of %d pages predict them within 10 %%', accurate, predicted), ''),
    prefix || 'bytes per launch, fp32, B=1 H=16 N=4096 D=' || substr(chart, 8) || ', no mask',
    'Bytes requested by loads fall from ' || most || ' to ' || least ||
        iif(predicted, printf(', predicted within 10 %% by %d of %d pages', accurate, predicted), '') ||
        '; N=4096, D=' || substr(chart, 8) || '.',
    'Bytes requested by loads as predicted on the pages and as counted, and the traffic through L2 and to device memory.',
    profile_text || 'Loaded: 32-byte sectors of all load requests of warps; right column: loaded / predicted.'
FROM (SELECT chart, (SELECT figure FROM dot AS d WHERE d.chart = b.chart AND series = 2 ORDER BY value DESC LIMIT 1) AS most,
        (SELECT figure FROM dot AS d WHERE d.chart = b.chart AND series = 2 ORDER BY value LIMIT 1) AS least,
        count(loaded / predicted) AS predicted, sum(abs(loaded / predicted - 1) < 0.1) AS accurate FROM byte_counts AS b GROUP BY chart),
    device_prefix, profile_source
WHERE most IS NOT NULL;

-- ---- The row softmax ---------------------------------------------------------------------------------------------------

CREATE VIEW softmax_bar AS
SELECT rows, columns, 1 AS position, 'five passes' AS kernel, 0 AS hue, five_gb_per_s AS rate, copy, noisy FROM softmax_on_gpu WHERE five_us > 0
UNION ALL SELECT rows, columns, 2, 'one pass', 1, gb_per_s, copy, noisy FROM softmax_on_gpu
UNION ALL SELECT rows, columns, 3 + (t.name LIKE 'triton%'), coalesce(title, 'Triton'), iif(t.name LIKE 'triton%', 3, 2), t.gb_per_s,
    s.copy, t.noisy
FROM softmax_on_gpu AS s JOIN softmax_timing AS t USING (gpu, run, rows, columns) LEFT JOIN peer_title ON peer_title.name = t.name
WHERE t.kind = 'peer';

INSERT INTO bar
SELECT 'softmax', rows * columns + position, rows || ' × ' || columns, kernel, rate, iif(noisy, '~', '') || whole(rate), hue, copy
FROM softmax_bar;
INSERT INTO chart
SELECT 'softmax', 'bars', 1, printf('One pass over memory reaches %s of a copy', percent(gb_per_s, copy)) ||
        iif(five_us > 0, ', five reach ' || percent(five_gb_per_s, copy), ''),
    prefix || 'GB/s of a row softmax, fp32, rows × columns; one read and one write counted',
    printf('At %d × %d one pass reaches %s GB/s', rows, columns, whole(gb_per_s)) ||
        iif(five_us > 0, ', five passes ' || whole(five_gb_per_s), '') || printf(', a copy %s.', whole(copy)),
    'The row softmax of lesson 03 compared with five passes and with libraries; the dark line is a copy of the same bytes.',
    method || coalesce((SELECT ' Faster than the copy: ' || group_concat(kernel || ' at ' || rows || ' × ' || columns, ', ') ||
        '; the cause is unknown.' FROM softmax_bar WHERE rate > copy GROUP BY NULL), '')
FROM softmax JOIN run_on_gpu USING (gpu, run), device_prefix WHERE what = 'softmax' AND copy > 0 ORDER BY rows * columns DESC LIMIT 1;

-- ---- Peers -------------------------------------------------------------------------------------------------------------

-- The last lesson compared with the fastest library in one run of make peers. Only libraries that were timed at every shape of the lesson
-- are included.
CREATE TABLE over_fastest_library AS
WITH run_suffix AS (SELECT p.* FROM standard_timing AS p JOIN this_gpu USING (gpu) WHERE run = (SELECT run FROM compared JOIN this_gpu USING (gpu)
    WHERE NOT eager)),
own AS (SELECT * FROM run_suffix, setting WHERE run_suffix.kind = setting.kind AND name = (SELECT max(name) FROM run_suffix, setting
    WHERE run_suffix.kind = setting.kind)),
library AS (SELECT * FROM run_suffix WHERE kind IN ('peer', 'baseline') AND name NOT LIKE 'triton%'),
everywhere AS (SELECT library.name FROM library JOIN own USING (B, H, Nq, D) GROUP BY library.name HAVING count(*) = (SELECT count(*)
    FROM own))
SELECT own.run, B, H, Nq AS N, D, own.name, library.name AS library, min(library.us) / own.us AS ratio, own.noisy OR library.noisy AS noisy,
    (SELECT group_concat(coalesce(title, name), '; ') FROM everywhere LEFT JOIN peer_title USING (name)) AS libraries
FROM own JOIN library USING (B, H, Nq, D) WHERE library.name IN (SELECT name FROM everywhere) GROUP BY B, H, Nq, D;

INSERT INTO bar
SELECT 'peers', -1e6 * B * H + N + D / 1e4, 'B=' || B || ' H=' || H, 'N=' || N || ' D=' || D, ratio,
    iif(noisy, '~', '') || printf('%.2f× ', ratio) || coalesce(short, library), iif(ratio < 1, 4, 1), NULL
FROM over_fastest_library LEFT JOIN peer_title ON peer_title.name = library;
INSERT INTO ceiling_line SELECT 'peers', 1, 'equal' FROM over_fastest_library LIMIT 1;
INSERT INTO chart
SELECT 'peers', 'bars', 1,
    replace(b.name, '_', ' ') || printf(' beats the fastest library at %d of %d shapes', sum(ratio >= 1), count(*)) ||
        iif(min(ratio) < 1, printf('; worst ratio %.2f', min(ratio)), ''),
    prefix || 'speed-up over the fastest library, fp32, TF32 off, no mask',
    printf('Speed-up over the fastest library: %.2f to %.2f at %d shapes; fp32, TF32 off.', min(ratio), max(ratio), count(*)),
    'Speed-up of the last lesson over the fastest library at each shape; the name after each figure is the library.',
    'Fastest of: ' || libraries || ', which were timed at every shape. ' || method
FROM over_fastest_library AS b JOIN run_on_gpu USING (run), device_prefix WHERE what = 'attention' GROUP BY NULL;

-- ---- An iteration of the main loop, by time stamps --------------------------------------------------------------------------

CREATE VIEW iteration AS
SELECT D, number, substr(lesson, 1, 2) AS lesson, run, sum(cycles) AS cycles, sum(cycles) FILTER (WHERE position <= 3) AS before_scores,
    operations / 4096 * (1 - 0.5 / warpgroups) AS in_flight
FROM segment JOIN this_gpu USING (gpu) JOIN segment_label USING (segment) WHERE NOT causal GROUP BY number;
INSERT INTO span
SELECT 'timeline', 2 * number, printf('D=%d, lesson %s: %s cycles, %s after the scores', D, i.lesson, whole(i.cycles), whole(i.cycles - before_scores)),
    coalesce(sum(s.cycles) OVER (PARTITION BY number ORDER BY position ROWS BETWEEN UNBOUNDED PRECEDING AND 1 PRECEDING), 0),
    sum(s.cycles) OVER (PARTITION BY number ORDER BY position), hue
FROM iteration AS i JOIN (SELECT number, segment, cycles FROM segment JOIN this_gpu USING (gpu) WHERE NOT causal) AS s USING (number) JOIN segment_label USING (segment)
UNION ALL SELECT 'timeline', 2 * number + 1, 'GEMMs in flight meanwhile: at least ' || whole(in_flight), before_scores, before_scores + in_flight, 4 FROM iteration;
INSERT INTO chart
SELECT 'timeline', 'spans', 1, printf('At D=%d the chain after the scores falls from %s to %s cycles; the GEMMs in flight take %s', D, most, least, gemms),
    prefix || 'one warpgroup''s iteration by time stamps, bf16, N=4096, no mask. From left: waits (grey), issues both GEMMs (blue), waits, maximum and vote (yellow), exponentials and rounding (green) with a wait for P V',
    printf('Per lesson one bar of an iteration and one of the GEMMs in flight; at D=%d the chain takes %s, then %s cycles, the GEMMs %s.', D, most, least, gemms),
    'The iteration of one warpgroup in cycles, and the GEMMs that are in flight after its scores have arrived.',
    'Mean cycles; the tensor cores'' time is computed, at 4096 FLOP per cycle. Run of ' || minute || ', commit ' || commit_name || '.'
FROM (SELECT D, run, whole(max(cycles - before_scores)) AS most, whole(min(cycles - before_scores)) AS least, whole(max(in_flight)) AS gemms
        FROM iteration GROUP BY D ORDER BY D DESC LIMIT 1) JOIN run_on_gpu USING (run), device_prefix WHERE what = 'steps';

-- ---- Drawn with ALL=1 --------------------------------------------------------------------------------------------------

INSERT INTO bar
SELECT 'triton', name || (D > 64), replace(name, '_', ' '), 'CUDA D=' || D, tflops, three_digits(tflops), 1, NULL
FROM over_triton JOIN this_gpu USING (gpu)
UNION ALL SELECT 'triton', name || (D > 64) || 't', replace(name, '_', ' '), 'Triton D=' || D, triton_tflops,
    three_digits(triton_tflops), 0, NULL
FROM over_triton JOIN this_gpu USING (gpu);
INSERT INTO chart
SELECT 'triton', 'bars', 0, coalesce('Triton is faster than CUDA in ' ||
        replace(group_concat(DISTINCT iif(triton_us < 0.98 * us, substr(name, 1, 2), NULL)), ',', ' and '),
    'In no lesson is Triton faster than CUDA by 2 %'),
    prefix || 'TFLOP/s, fp32, B=1 H=16 N=4096, no mask',
    printf('Triton takes %.2f to %.2f times as long as CUDA.', min(triton_us / us), max(triton_us / us)),
    'Each lesson compared with the Triton kernel of the same idea.', method
FROM over_triton JOIN run_on_gpu USING (gpu, run), device_prefix, setting WHERE what = 'attention' AND kind = 'solution' GROUP BY NULL;

-- ---- Input of gnuplot -----------------------------------------------------------------------------------------------------

-- One view per gnuplot script: the chart's name, then the columns that the head of the script lists; and one view of its settings.
-- Figures stand in a column of their own, right of the longest bar and of every mark, so that no line can cross one. A bar is a fraction of
-- its axis, which all bars of a chart share, or those below one head in a chart of several panels.
CREATE VIEW bar_group AS
SELECT *, iif(chart IN side_by_side, dense_rank() OVER (PARTITION BY chart ORDER BY head_position) - 1, 0) AS panel
FROM (SELECT *, min(position) OVER (PARTITION BY chart, head) AS head_position FROM bar);
CREATE VIEW bar_axis AS
SELECT chart, panel, max(max(b.value), coalesce(max(mark), 0), coalesce(max(l.value), 0)) AS end
FROM bar_group AS b LEFT JOIN ceiling_line AS l USING (chart) GROUP BY chart, panel;
CREATE VIEW bar_row AS
SELECT chart, panel, position, 0 AS is_head, label AS text, value, figure, hue, mark FROM bar_group
UNION ALL SELECT chart, panel, min(position), 1, head, NULL, NULL, NULL, NULL FROM bar_group GROUP BY chart, head
ORDER BY chart, position, is_head DESC;
-- y: in pixels from the top of the plot with the panels side by side, stacked_y with one below the other.
CREATE VIEW bars AS
SELECT chart, panel, sum(height) OVER (PARTITION BY chart, panel ORDER BY position, is_head DESC ROWS UNBOUNDED PRECEDING) - 10 + top AS y,
    sum(height) OVER (PARTITION BY chart ORDER BY position, is_head DESC ROWS UNBOUNDED PRECEDING) - 10 + top + 8 * panel AS stacked_y,
    is_head, text, value / end AS value, coalesce(mark, line) / end AS mark, figure, hue
FROM (SELECT r.*, end, l.value AS line, iif(l.label IS NULL, 0, 24) AS top,
        iif(is_head, 22 + 8 * (position > min(position) OVER (PARTITION BY chart, panel)), 20) AS height
    FROM bar_row AS r JOIN bar_axis USING (chart, panel) LEFT JOIN ceiling_line AS l USING (chart));
-- A letter takes about 9 pixels, 8 in a name and 10 in N=4096 D=128. The column of figures is as wide on every GPU unless a figure is longer than usual.
CREATE VIEW bars_settings AS
SELECT chart, printf('panels = %d; rows_height = %d; stacked_height = %d; label_space = %d; figure_space = %d; line_label = "%s"; line_at = %g',
    max(panel) + 1, max(y) + 16, max(stacked_y) + 16, iif(chart IN side_by_side, 8, 10.5) * max(iif(is_head, 0, length(text))),
    9 * max(iif(chart IN side_by_side, 5, 13), max(length(figure))),
    coalesce(max(line.label), ''), coalesce(max(line.value / end), 0)) AS settings
FROM bars JOIN bar_axis USING (chart, panel) LEFT JOIN ceiling_line AS line USING (chart) GROUP BY chart;

CREATE VIEW lines AS
SELECT chart, dense_rank() OVER (PARTITION BY chart ORDER BY hue = 0, name) AS line, hue, x, y, noisy, name,
    max(x) OVER (PARTITION BY chart, name) AS end FROM line_point;
CREATE VIEW axis_top AS
SELECT chart, max(max(y), coalesce((SELECT max(value) FROM ceiling_line AS c WHERE c.chart = l.chart), 0)) AS most FROM line_point AS l
    GROUP BY chart;
-- Names at the ends of lines, spaced by one line of text, 0.055 of the axis. Each position is the mean of two layouts: in one, overlapping names
-- move up; in the other, they move down. No name is below the axis, or above the plot, where gnuplot would leave it out. value: the y of the
-- end of the line.
CREATE VIEW line_ends AS
SELECT chart, end, 0.055 * most * position + max(-0.035 * most, min(1.06 * most - 0.055 * most * count(*) OVER (PARTITION BY chart),
    (max(y - 0.055 * most * position) OVER (PARTITION BY chart ORDER BY position ROWS UNBOUNDED PRECEDING) +
        min(y - 0.055 * most * position) OVER (PARTITION BY chart ORDER BY position DESC ROWS UNBOUNDED PRECEDING)) / 2)) AS y,
    name, hue, y AS value
FROM (SELECT *, row_number() OVER (PARTITION BY chart ORDER BY y, name) AS position FROM (
    SELECT chart, end, y, name, hue FROM lines WHERE x = end
    UNION ALL SELECT chart, max(x), value, label, 0 FROM ceiling_line JOIN line_point USING (chart) GROUP BY chart, label) JOIN axis_top USING (chart));
CREATE VIEW lines_settings AS
SELECT chart, printf('n_least = %d; n_most = %d; most = %g; lines = %d; array line_hue[%d] = [%s]', min(x), max(x), most, max(line),
    max(line),
    (SELECT group_concat(hue) FROM (SELECT DISTINCT line, hue FROM lines AS l WHERE l.chart = lines.chart ORDER BY line))) AS settings
FROM lines JOIN axis_top USING (chart) GROUP BY chart;

CREATE TABLE limits AS
SELECT chart, dense_rank() OVER (PARTITION BY chart ORDER BY name) AS row, column, percent,
    iif(percent < 0.5, '<1 %', whole(percent) || ' %') AS figure,
    percent = max(iif(column > 1, percent, 0)) OVER (PARTITION BY chart, name) AS is_busiest,
    iif(column = min(column) OVER (PARTITION BY chart, name), title, '') AS label
FROM utilization;
CREATE VIEW limits_settings AS SELECT chart, 'rows = ' || max(row) AS settings FROM limits GROUP BY chart;

CREATE VIEW dots AS
SELECT chart, dense_rank() OVER (PARTITION BY chart ORDER BY name) AS row, series, value, iif(series = first_value(series) OVER one, title,
    '') AS label,
    iif(series = 2, coalesce((SELECT printf('%.2f×', d.value / p.value) FROM dot AS p WHERE p.chart = d.chart AND p.name = d.name
        AND p.series = 1), ''), '') AS ratio_text
FROM dot AS d WINDOW one AS (PARTITION BY chart, name ORDER BY series);
CREATE VIEW dots_settings AS
SELECT chart, printf('rows = %d; least = %g; most = %g', max(row), min(value), max(value)) AS settings FROM dots GROUP BY chart;

CREATE VIEW spans AS
SELECT chart, 46 * (dense_rank() OVER (PARTITION BY chart ORDER BY row) - 1) AS y, iif(start = min(start) OVER (PARTITION BY chart, row), label, '') AS label,
    start / max(end) OVER (PARTITION BY chart) AS start, end / max(end) OVER (PARTITION BY chart) AS end, hue
FROM span ORDER BY chart, row, start;
CREATE VIEW spans_settings AS SELECT chart, 'rows_height = ' || (max(y) + 50) AS settings FROM spans GROUP BY chart;

-- ---- Missing data -------------------------------------------------------------------------------------------------------

-- Lines for stderr, for charts of the solutions only.
CREATE VIEW missing_data AS
SELECT text FROM ladder_gap JOIN this_gpu USING (gpu)
UNION ALL SELECT 'no timing at B=1 H=16 N=4096, D=64 or D=128, fp32: no ladder chart [missing-timings]' WHERE NOT EXISTS (SELECT 1 FROM ladder_on_gpu)
UNION ALL SELECT 'no timings at two or more sizes at B=1 H=16, fp32: no chart over N [missing-timings]' WHERE NOT EXISTS (SELECT 1 FROM sizes_run
    JOIN this_gpu USING (gpu))
UNION ALL SELECT 'no timings of the row softmax: no softmax chart [missing-timings]' WHERE NOT EXISTS (SELECT 1 FROM softmax_on_gpu)
UNION ALL SELECT 'no timings of the softmax in five passes at ' || group_concat(rows || 'x' || columns, ', ') || ' [missing-timings]' FROM softmax_on_gpu
WHERE five_us IS NULL GROUP BY NULL
UNION ALL SELECT 'no ceilings: run make bench, which measures them [missing-ceilings]'
WHERE (SELECT count(*) FROM ceiling_on_gpu WHERE what IN ('copy', 'fma_fp32')) < 2
UNION ALL SELECT 'no counters at B=1 H=16 N=4096: no charts of utilization and bytes; run scripts/measure [missing-counters]' WHERE NOT EXISTS (SELECT 1
    FROM counted)
UNION ALL SELECT 'no counters of ' || group_concat(DISTINCT name) || ': not in the charts of utilization and bytes [missing-counters]' FROM ladder_on_gpu
WHERE EXISTS (SELECT 1 FROM counted) AND NOT EXISTS (SELECT 1 FROM counted WHERE counted.name = ladder_on_gpu.name
    AND counted.D = ladder_on_gpu.D) GROUP BY NULL
UNION ALL SELECT 'no predictions of bytes in the lessons ' || group_concat(name, ', ') || ' [missing-predictions]' FROM byte_counts
WHERE chart = 'bytes-d64' AND predicted IS NULL GROUP BY NULL
UNION ALL SELECT 'no timings of peers: no chart of peers; see peers/README.md [missing-timings]' WHERE NOT EXISTS (SELECT 1 FROM timing JOIN this_gpu USING (gpu)
    WHERE kind = 'peer')
UNION ALL SELECT count(*) ||
    ' rows are in no chart: not a lesson, fp32 with a mask, 16 bits outside the grid, another layout, with lse, or a shape without timings of peers [uncharted-rows]'
FROM timing AS t JOIN this_gpu USING (gpu) WHERE NOT eager AND cache = 'cold' AND (kind = 'kernel' OR NOT is_standard OR dtype = 'fp32'
    AND (causal OR (B <> 1 OR H <> 16) AND
    NOT EXISTS (SELECT 1 FROM timing AS p WHERE p.kind = 'peer' AND p.gpu = t.gpu AND p.B = t.B AND p.H = t.H AND p.Nq = t.Nq
        AND p.D = t.D))
    OR dtype <> 'fp32' AND NOT (B * Nq = 16384 AND H * D = 2048)) GROUP BY NULL;

-- ---- Text versions -----------------------------------------------------------------------------------------------------

-- All figures of a chart as text.
CREATE VIEW chart_figures AS
SELECT chart, group_concat(text, '; ') AS text FROM (
    SELECT chart, iif(is_head, text || ':', iif(text = '', '', text || ' ') || figure) AS text FROM bar_row
    UNION ALL SELECT chart, name || ': ' || group_concat(three_digits(y) || ' at N=' || x, ', ') FROM line_point GROUP BY chart, name
    UNION ALL SELECT chart, title || ': ' || group_concat(unit || ' ' || whole(percent) || ' %', ', ')
    FROM utilization JOIN gpu_unit USING (column) GROUP BY chart, name
    UNION ALL SELECT chart, title || ': ' || group_concat(label || ' ' || figure, ', ') FROM dot JOIN byte_series USING (series) GROUP BY chart, name
    UNION ALL SELECT DISTINCT chart, label FROM span
    UNION ALL SELECT chart, label FROM ceiling_line)
GROUP BY chart;
CREATE TABLE finished_chart AS
SELECT chart.*, coalesce(replace(replace(text, ':; ', ': '), '  ', ' '), '') AS figures FROM chart LEFT JOIN chart_figures ON chart_figures.chart = chart.name;
