-- What plots/draw draws of one GPU, whose folder's name stands in this_gpu: chart has a row a chart, with the finding that is its title;
-- bar, line_point, share and dot have what its script draws. A title is written from the figures by the rules here.
-- GROUP BY NULL makes no row of none.
.load build/sql_text

-- what: the words below the title; alt: the finding for those who do not see it, under 200 characters; told: all figures; shown: 1 for what
-- is drawn without ALL=1.
CREATE TABLE chart (name, script, shown, title, what, alt, caption, footnote, settings DEFAULT '');
-- A head is a text on a line of its own, above the bars that have it. hue 0 is grey; mark is a line across a bar.
CREATE TABLE bar (chart, place, head, label, value, figure, hue, mark);
-- A vertical line of a chart of bars, or a level one of a chart over N.
CREATE TABLE ceiling_line (chart, value, label);
CREATE TABLE line_point (chart, name, hue, x, y, noisy);
CREATE TABLE share (chart, name, title, column, percent);
CREATE TABLE dot (chart, name, title, series, value, figure);

CREATE VIEW star AS
SELECT *, title || iif((SELECT kind FROM setting) <> kind, '*', '') AS shown_title FROM ladder JOIN this_gpu USING (gpu);
CREATE VIEW reached AS SELECT * FROM newest_ceiling JOIN this_gpu USING (gpu);
CREATE VIEW our_softmax AS SELECT * FROM softmax JOIN this_gpu USING (gpu);
CREATE VIEW our_grid AS SELECT * FROM grid JOIN this_gpu USING (gpu);
CREATE VIEW said AS
SELECT run.*, 'Median of interleaved CUDA-event timings, run of ' || minute || ', commit ' || commit_name || '.' ||
    coalesce(' ' || versions || '.', '') AS how
FROM run JOIN this_gpu USING (gpu) LEFT JOIN run_versions USING (gpu, run);
CREATE VIEW of_gpu AS SELECT device || ', ' || iif((SELECT kind FROM setting) = 'lesson', 'own lessons, ', '') AS whose FROM said LIMIT 1;
CREATE TABLE peer_title (name, title, short);
INSERT INTO peer_title VALUES ('torch_flash', 'PyTorch, flash', 'flash'), ('torch_cudnn', 'PyTorch, cuDNN', 'cuDNN'),
    ('torch_efficient', 'PyTorch, memory-efficient', 'efficient'), ('torch_math', 'PyTorch, math', 'math'),
    ('torch_unfused', 'PyTorch, unfused', 'unfused'), ('cublas_unfused', 'cuBLAS and a softmax', 'cuBLAS'),
    ('torch_softmax', 'torch.softmax', 'torch'), ('torch_unfused_softmax', 'PyTorch, five ops', 'PyTorch'),
    ('fa3', 'FlashAttention-3', 'FA3'), ('fa4', 'FlashAttention-4', 'FA4');

-- ---- The ladder --------------------------------------------------------------------------------------------------------

INSERT INTO bar
SELECT 'ladder-d' || D, number, shown_title || iif(noisy, ' (noisy)', ''), '', tflops,
    three_digits(tflops) || coalesce(' (' || ratio(over_before) || ')', ''), 1, NULL
FROM star;
INSERT INTO bar
SELECT 'ladder-d' || D, 100 + 1 / us, coalesce(title, replace(p.name, '_', ' ')) || iif(noisy, ' (noisy)', ''), '', tflops,
    three_digits(tflops) || coalesce((SELECT ' (' || substr(units, instr(units, ': ') + 2) || ')' FROM runs_on AS u
        WHERE (u.gpu, u.kind, u.name, u.dtype) = (p.gpu, p.kind, p.name, 'fp32') AND units LIKE 'tensor%:%'), ''), 0, NULL
FROM plain AS p JOIN ladder_run USING (gpu, run) JOIN this_gpu USING (gpu) LEFT JOIN peer_title USING (name)
WHERE p.kind IN ('peer', 'baseline') AND p.name NOT LIKE 'triton%' AND B = 1 AND H = 16 AND Nq = 4096 AND D IN (64, 128);
INSERT INTO ceiling_line SELECT 'ladder-d' || D, max(peak), printf('fp32 peak %.1f', max(peak)) FROM star WHERE peak > 0 GROUP BY D;

INSERT INTO chart
SELECT 'ladder-d' || D, 'bars', D = 64,
    printf('From %s to %s TFLOP/s', low, high) || coalesce(', ' || percent(most, peak) || ' of the fp32 peak', '') ||
    coalesce('; the best library reaches ' || library, ''),
    whose || 'TFLOP/s, fp32, B=1 H=16 N=4096 D=' || D || ', no mask',
    printf('Bars: %d lessons from %s to %s TFLOP/s', lessons, low, high) || coalesce(', libraries up to ' || library, '') ||
        iif(peak > 0, printf(', the peak at %.1f', peak), '') || '; fp32, N=4096, D=' || D || '.',
    'TFLOP/s of each lesson, and how many times as fast it is as the one before.' ||
        iif(library IS NULL, '', ' Grey: libraries of the same run, TF32 off.'),
    'In brackets: over the previous lesson. ' || iif(library IS NULL, '', 'Grey: libraries, TF32 off' || iif(EXISTS (SELECT 1 FROM bar
        WHERE chart = 'ladder-d' || D AND figure LIKE '%xTF32)'), '; 3xTF32: on tensor cores, three TF32 products for each fp32 product. ',
        '. ')) || how, ''
FROM (SELECT D, count(*) AS lessons, three_digits(min(tflops)) AS low, max(tflops) AS most, three_digits(max(tflops)) AS high,
        max(peak) AS peak, whose, how, (SELECT three_digits(max(value)) FROM bar WHERE chart = 'ladder-d' || D AND hue = 0) AS library
    FROM star JOIN said USING (run), of_gpu WHERE what = 'attention' GROUP BY D);

-- ---- Over N ------------------------------------------------------------------------------------------------------------

CREATE VIEW over_n AS
SELECT 'tflops-d' || D AS chart, 'fp32' AS dtype, 0 AS causal, gpu, run, D, kind, name, substr(name, 1, 2) AS short, Nq AS N, tflops, peak,
    noisy, 1 AS is_lesson
FROM rung JOIN sizes_run USING (gpu, run) JOIN this_gpu USING (gpu) WHERE B = 1 AND H = 16
UNION ALL
SELECT 'tflops-' || dtype || '-d' || D || iif(causal, '-causal', ''), dtype, causal, gpu, run, D, kind, name,
    iif(kind IN ('peer', 'baseline'), coalesce(short, name), substr(name, 1, 2)), Nq, tflops, peak, noisy, kind NOT IN ('peer', 'baseline')
FROM our_grid LEFT JOIN peer_title USING (name) WHERE name NOT LIKE 'triton%';

INSERT INTO line_point
SELECT chart, short, iif(is_lesson, CAST(short AS INTEGER), 0), N, tflops, noisy
FROM over_n JOIN (SELECT chart, name FROM over_n GROUP BY chart, name HAVING count(*) >= 2) USING (chart, name)
ORDER BY chart, is_lesson DESC, name, N;
INSERT INTO ceiling_line
SELECT chart, max(peak), 'peak ' || rounded(max(peak), max(peak) < 100)
FROM over_n WHERE peak > 0 AND chart IN (SELECT chart FROM line_point) GROUP BY chart
UNION ALL SELECT DISTINCT chart, median, iif(what = 'wgmma_bf16', 'wgmma ', 'mma ') || whole(median)
FROM reached, over_n
WHERE what IN ('wgmma_bf16', 'mma_bf16') AND dtype <> 'fp32' AND chart IN (SELECT chart FROM line_point);

-- The last lesson at the largest N whose timings are not noisy, or at the largest; the fastest library there; and what falls to two
-- thirds of its best or less as N grows.
CREATE VIEW at_end AS
SELECT chart, N, last, library, noisy FROM (
    SELECT chart, N, max(iif(is_lesson, name, '')) AS last, max(iif(is_lesson, 0, tflops)) AS library, max(noisy) AS noisy,
        row_number() OVER (PARTITION BY chart ORDER BY max(noisy), N DESC) AS place FROM over_n GROUP BY chart, N)
WHERE place = 1;
CREATE VIEW fallen AS
SELECT a.chart, a.name, a.N AS best_n, a.tflops AS best, z.N, z.tflops FROM (SELECT *, max(tflops) FROM over_n WHERE is_lesson GROUP BY chart, name) AS a
    JOIN (SELECT *, max(N) FROM over_n WHERE NOT noisy GROUP BY chart, name) AS z USING (chart, name)
WHERE z.tflops < a.tflops * 0.667;

INSERT INTO chart
SELECT chart, 'lines', chart IN ('tflops-d64', 'tflops-bf16-d128'),
    replace(last, '_', ' ') || printf(' reaches %s%s TFLOP/s at N=%d', iif(e.noisy, '~', ''), three_digits(tflops), N) ||
    iif(library > tflops, ', the fastest library ' || whole(library),
        iif(library > 0, ', ahead of the libraries'' ' || whole(library), '')) ||
    coalesce((SELECT printf('; %s falls from %.1f at N=%d to %.1f at N=%d', substr(f.name, 1, 2), f.best, f.best_n, f.tflops, f.N)
        FROM fallen AS f WHERE f.chart = o.chart ORDER BY f.tflops / f.best LIMIT 1), ''),
    whose || 'TFLOP/s over N, ' || dtype || iif(dtype = 'fp32', ', B=1 H=16', ', 16384 tokens, H × D = 2048') || ', D=' || D ||
        iif(causal, ', causal mask', ', no mask'),
    printf('Lines over N: %s at %s TFLOP/s', substr(last, 1, 2), three_digits(tflops)) ||
        iif(library > 0, ', the fastest library at ' || whole(library), '') || ' at N=' || N || '; ' || dtype || ', D=' || D || '.',
    'Useful floating-point operations a second over the number of queries and keys; a line has the number of its lesson.',
    how || coalesce((SELECT ' mma, wgmma: mma.sync and wgmma with nothing to load' || iif(c.run = o.run, '', ', in another run') || '.'
        FROM reached AS c WHERE c.what = 'mma_bf16' AND dtype <> 'fp32'), '') ||
        iif((SELECT max(noisy) FROM line_point WHERE line_point.chart = o.chart), ' Ringed: noisy.', ''), ''
FROM at_end AS e JOIN over_n AS o USING (chart, N) JOIN said USING (run), of_gpu
WHERE name = last AND is_lesson AND what = 'attention' AND chart IN (SELECT chart FROM line_point);

-- ---- What limits each lesson ---------------------------------------------------------------------------------------------

CREATE VIEW counted AS
SELECT s.D, s.name, s.shown_title AS title, number, s.us, s.tflops, s.peak,
    max(value) FILTER (WHERE metric = 'sm__inst_executed_pipe_fma.avg.pct_of_peak_sustained_active') AS fma,
    max(value) FILTER (WHERE metric = 'smsp__issue_active.avg.pct_of_peak_sustained_active') AS issue,
    max(value) FILTER (WHERE metric = 'l1tex__data_pipe_lsu_wavefronts_mem_shared.avg.pct_of_peak_sustained_elapsed') AS shared,
    max(value) FILTER (WHERE metric = 'lts__throughput.avg.pct_of_peak_sustained_elapsed') AS l2,
    max(value) FILTER (WHERE metric = 'dram__bytes_read.sum') + max(value) FILTER (WHERE metric = 'dram__bytes_write.sum') AS dram_bytes,
    max(value) FILTER (WHERE metric = 'lts__t_bytes.sum') AS l2_bytes,
    32 * max(value) FILTER (WHERE metric = 'l1tex__t_sectors_pipe_lsu_mem_global_op_ld.sum') AS loaded_bytes
FROM star AS s JOIN counter AS c ON c.gpu = s.gpu AND c.kind = s.kind AND c.name = s.name AND c.D = s.D AND c.N = 4096
GROUP BY s.D, s.name;

CREATE TABLE part (column, part);
INSERT INTO part VALUES (1, 'useful FLOP/s'), (2, 'FMA units'), (3, 'issue slots'), (4, 'shared memory'), (5, 'L2 cache'),
    (6, 'device memory');
INSERT INTO share
SELECT 'limits-d' || D, name, title, column,
    CASE column WHEN 1 THEN 100 * tflops / (SELECT median FROM reached WHERE what = 'fma_fp32') WHEN 2 THEN fma WHEN 3 THEN issue
        WHEN 4 THEN shared WHEN 5 THEN l2 ELSE dram_bytes / us / 10 / (SELECT median FROM reached WHERE what = 'copy') END AS percent
FROM counted, part WHERE percent IS NOT NULL ORDER BY D, number, column;

CREATE VIEW busiest AS
SELECT chart, name, percent, part
FROM (SELECT chart, name, column, max(percent) AS percent FROM share WHERE column > 1 GROUP BY chart, name) JOIN part USING (column);
CREATE VIEW counted_at AS
SELECT 'Counted by Nsight Compute, ' || max(c.date) || ', commit ' || c.commit_name || '. ' AS counted_by
FROM counter AS c JOIN this_gpu USING (gpu) WHERE c.N = 4096 AND c.name IN (SELECT name FROM star);

INSERT INTO chart
SELECT chart, 'limits', chart = 'limits-d64', 'What is busiest moves: ' || group_concat(words, '; '),
    whose || 'percent of what each part can do, fp32, B=1 H=16 N=4096 D=' || substr(chart, 9) || ', no mask',
    'Busiest part: ' || group_concat(words, '; ') || '; fp32, N=4096, D=' || substr(chart, 9) || '.',
    'How much of what each part of the GPU can do a lesson uses; the busiest is in red.',
    counted_by || 'Useful: FLOP/s, of multiply-adds alone; device memory: of a copy. ' || how, ''
FROM (SELECT chart, part || ' in ' || group_concat(substr(name, 1, 2), ', ') AS words, min(name) FROM busiest GROUP BY chart, part
    ORDER BY min(name)),
    of_gpu, counted_at, said JOIN ladder_run USING (gpu, run) WHERE said.what = 'attention'
GROUP BY chart;

-- ---- Bytes -------------------------------------------------------------------------------------------------------------

CREATE VIEW byte_row AS
SELECT 'bytes-d' || c.D AS chart, c.name, c.title, c.number, p.bytes AS predicted, loaded_bytes AS loaded, l2_bytes, dram_bytes
FROM counted AS c LEFT JOIN (SELECT folder AS name, D, sum(bytes) AS bytes FROM prediction GROUP BY folder, D) AS p USING (name, D);

CREATE TABLE way (series, way);
INSERT INTO way VALUES (1, 'predicted'), (2, 'loaded'), (3, 'through L2'), (4, 'device memory');
INSERT INTO dot
SELECT chart, name, title, series, value, CASE WHEN value >= 999.5e9 THEN printf('%.3g TB', value / 1e12)
    WHEN value >= 999.5e6 THEN printf('%.3g GB', value / 1e9) WHEN value >= 999.5e3 THEN printf('%.3g MB', value / 1e6)
    ELSE printf('%.3g kB', value / 1e3) END
FROM (SELECT *, CASE series WHEN 1 THEN predicted WHEN 2 THEN loaded WHEN 3 THEN l2_bytes ELSE dram_bytes END AS value FROM byte_row, way)
WHERE value > 0 ORDER BY chart, number, series;

INSERT INTO chart
SELECT chart, 'dots', chart = 'bytes-d64', 'What loads ask for falls from ' || most || ' to ' || least ||
        iif(predicted, printf('; %d of %d pages predict it within 10 %%', near, predicted), ''),
    whose || 'bytes a launch, fp32, B=1 H=16 N=4096 D=' || substr(chart, 8) || ', no mask',
    'Bytes that loads ask for fall from ' || most || ' to ' || least ||
        iif(predicted, printf(', predicted within 10 %% by %d of %d pages', near, predicted), '') ||
        '; N=4096, D=' || substr(chart, 8) || '.',
    'What the pages predict that loads ask for, what is counted of it, and what of it goes through L2 and to device memory.',
    counted_by || 'Loaded: sectors of 32 bytes, once for each warp that asks; at the right, as a part of what was predicted.', ''
FROM (SELECT chart, (SELECT figure FROM dot AS d WHERE d.chart = b.chart AND series = 2 ORDER BY value DESC LIMIT 1) AS most,
        (SELECT figure FROM dot AS d WHERE d.chart = b.chart AND series = 2 ORDER BY value LIMIT 1) AS least,
        count(loaded / predicted) AS predicted, sum(abs(loaded / predicted - 1) < 0.1) AS near FROM byte_row AS b GROUP BY chart),
    of_gpu, counted_at
WHERE most IS NOT NULL;

-- ---- The row softmax ---------------------------------------------------------------------------------------------------

CREATE VIEW softmax_way AS
SELECT rows, columns, 1 AS place, 'five passes' AS way, 0 AS hue, five_gb_per_s AS rate, copy, noisy FROM our_softmax WHERE five_us > 0
UNION ALL SELECT rows, columns, 2, 'one pass', 1, gb_per_s, copy, noisy FROM our_softmax
UNION ALL SELECT rows, columns, 3 + (t.name LIKE 'triton%'), coalesce(title, 'Triton'), iif(t.name LIKE 'triton%', 3, 2), t.gb_per_s,
    s.copy, t.noisy
FROM our_softmax AS s JOIN softmax_timing AS t USING (gpu, run, rows, columns) LEFT JOIN peer_title ON peer_title.name = t.name
WHERE t.kind = 'peer';

INSERT INTO bar
SELECT 'softmax', rows * columns + place, rows || ' × ' || columns, way, rate, iif(noisy, '~', '') || whole(rate), hue, copy
FROM softmax_way;
INSERT INTO chart
SELECT 'softmax', 'bars', 1, printf('One pass over memory reaches %s of a copy', percent(gb_per_s, copy)) ||
        iif(five_us > 0, ', five reach ' || percent(five_gb_per_s, copy), ''),
    whose || 'GB/s of a row softmax, fp32, rows × columns; one read and one write counted',
    printf('At %d × %d one pass reaches %s GB/s', rows, columns, whole(gb_per_s)) ||
        iif(five_us > 0, ', five passes ' || whole(five_gb_per_s), '') || printf(', a copy %s.', whole(copy)),
    'The row softmax of lesson 03 beside its five passes and other programs; the dark line is a copy of the same bytes.',
    how || coalesce((SELECT ' Past the copy''s line: ' || group_concat(way || ' at ' || rows || ' × ' || columns, ', ') ||
        '; why is not known.' FROM softmax_way WHERE rate > copy GROUP BY NULL), ''), ''
FROM softmax JOIN said USING (gpu, run), of_gpu WHERE what = 'softmax' AND copy > 0 ORDER BY rows * columns DESC LIMIT 1;

-- ---- Peers -------------------------------------------------------------------------------------------------------------

-- The last lesson of the run of make peers beside the fastest of those libraries that were timed at every one of its shapes.
CREATE TABLE beside AS
WITH of_run AS (SELECT p.* FROM plain AS p JOIN this_gpu USING (gpu) WHERE run = (SELECT run FROM compared JOIN this_gpu USING (gpu)
    WHERE NOT eager)),
own AS (SELECT * FROM of_run, setting WHERE of_run.kind = setting.kind AND name = (SELECT max(name) FROM of_run, setting
    WHERE of_run.kind = setting.kind)),
library AS (SELECT * FROM of_run WHERE kind IN ('peer', 'baseline') AND name NOT LIKE 'triton%'),
everywhere AS (SELECT library.name FROM library JOIN own USING (B, H, Nq, D) GROUP BY library.name HAVING count(*) = (SELECT count(*)
    FROM own))
SELECT own.run, B, H, Nq AS N, D, own.name, library.name AS library, min(library.us) / own.us AS ratio, own.noisy OR library.noisy AS noisy,
    (SELECT group_concat(coalesce(title, name), '; ') FROM everywhere LEFT JOIN peer_title USING (name)) AS libraries
FROM own JOIN library USING (B, H, Nq, D) WHERE library.name IN (SELECT name FROM everywhere) GROUP BY B, H, Nq, D;

INSERT INTO bar
SELECT 'peers', -1e6 * B * H + N + D / 1e4, 'B=' || B || ' H=' || H, 'N=' || N || ' D=' || D, ratio,
    iif(noisy, '~', '') || printf('%.2f× ', ratio) || coalesce(short, library), iif(ratio < 1, 4, 1), NULL
FROM beside LEFT JOIN peer_title ON peer_title.name = library;
INSERT INTO ceiling_line SELECT 'peers', 1, 'as fast' FROM beside LIMIT 1;
INSERT INTO chart
SELECT 'peers', 'bars', 1,
    replace(b.name, '_', ' ') || printf(' beats the fastest library at %d of %d shapes', sum(ratio >= 1), count(*)) ||
        iif(min(ratio) < 1, printf(', and is %.2f of it at worst', min(ratio)), ''),
    whose || 'times as fast as the fastest library, fp32, TF32 off, no mask',
    printf('Between %.2f and %.2f times as fast as the fastest library, over %d shapes; fp32, TF32 off.', min(ratio), max(ratio), count(*)),
    'How many times as fast the last lesson is as the fastest library, shape by shape; the name behind a figure says which that is.',
    'Of: ' || libraries || ', all timed at every shape. ' || how, ''
FROM beside AS b JOIN said USING (run), of_gpu WHERE what = 'attention' GROUP BY NULL;

-- ---- Only with ALL=1 ---------------------------------------------------------------------------------------------------

INSERT INTO bar
SELECT 'triton', name || (D > 64), replace(name, '_', ' '), 'CUDA D=' || D, tflops, three_digits(tflops), 1, NULL
FROM beside_triton JOIN this_gpu USING (gpu)
UNION ALL SELECT 'triton', name || (D > 64) || 't', replace(name, '_', ' '), 'Triton D=' || D, triton_tflops,
    three_digits(triton_tflops), 0, NULL
FROM beside_triton JOIN this_gpu USING (gpu);
INSERT INTO chart
SELECT 'triton', 'bars', 0, coalesce('Triton is faster than CUDA in ' ||
        replace(group_concat(DISTINCT iif(triton_us < 0.98 * us, substr(name, 1, 2), NULL)), ',', ' and '),
    'In no lesson is Triton faster than CUDA by 2 %'),
    whose || 'TFLOP/s, fp32, B=1 H=16 N=4096, no mask',
    printf('Triton takes %.2f to %.2f times as long as CUDA.', min(triton_us / us), max(triton_us / us)),
    'Each lesson that has a Triton kernel of the same idea beside it.', how, ''
FROM beside_triton JOIN said USING (gpu, run), of_gpu, setting WHERE what = 'attention' AND kind = 'solution' GROUP BY NULL;

INSERT INTO bar
SELECT 'gpus-d' || D, name || ' ' || gpu, title, '', tflops, three_digits(tflops) || ' ' || gpu, gpu = (SELECT gpu FROM this_gpu), NULL
FROM ladder WHERE (SELECT count(DISTINCT gpu) FROM ladder) > 1;
INSERT INTO chart
SELECT 'gpus-d' || D, 'bars', 0, printf('%s is %.1f times as fast on the fastest GPU as on the slowest', replace(max(name), '_', ' '),
    max(tflops) / min(tflops)),
    'TFLOP/s of several GPUs, fp32, B=1 H=16 N=4096 D=' || D || ', no mask',
    printf('The last lesson on %d GPUs: %.3g to %.3g TFLOP/s.', count(*), min(tflops), max(tflops)),
    'Useful floating-point operations a second of each lesson, GPU beside GPU.',
    'Median of CUDA-event timings, interleaved on each GPU.', ''
FROM ladder WHERE name = (SELECT max(name) FROM ladder) AND (SELECT count(DISTINCT gpu) FROM ladder) > 1 GROUP BY D;

INSERT INTO line_point
SELECT 'cache-d' || D, substr(cold.name, 1, 2), cold.number, Nq, cold.us / warm.us, cold.noisy OR warm.noisy
FROM rung AS cold JOIN sizes_run USING (gpu, run) JOIN this_gpu USING (gpu) JOIN timing AS warm USING (gpu, run, kind, name, B, H, Nq, D)
WHERE warm.cache = 'warm' AND warm.usual AND warm.causal = 0 AND warm.dtype = 'fp32' AND NOT warm.eager AND B = 1 AND H = 16
    ORDER BY cold.name, Nq;
INSERT INTO ceiling_line SELECT DISTINCT chart, 1, 'as long' FROM line_point WHERE chart LIKE 'cache-%';
INSERT INTO chart
SELECT chart, 'lines', 0, printf('Inputs out of L2 cost at most %s from N=2048 on', percent(max(iif(x >= 2048, y, 1) - 1), 1)),
    whose || 'time with inputs out of L2 over time with inputs in it, fp32, B=1 H=16 D=' || substr(chart, 8) ||
        ', no mask',
    printf('Cold over warm: at most %.2f at N=4096, at most %.2f in all.', max(iif(x = 4096, y, 1)), max(y)),
    'How much longer a launch takes whose inputs are not in the L2 cache; a line has the number of its lesson.', how, ''
FROM line_point, of_gpu, said JOIN sizes_run USING (gpu, run) WHERE chart LIKE 'cache-%' AND said.what = 'attention' GROUP BY chart;

INSERT INTO chart
SELECT 'roofline-d' || D, 'roofline', 0, printf('%s reaches %s TFLOP/s at %s FLOP for a byte of device memory', substr(name, 1, 2),
        three_digits(tflops), whole(tflops * us * 1e6 / dram_bytes)),
    whose || 'TFLOP/s over FLOP for a byte of device memory, fp32, B=1 H=16 N=4096 D=' || D || ', no mask',
    'Lessons below what memory and arithmetic allow, at their ratio of arithmetic to bytes; D=' || D || '.',
    'What a kernel reaches at its ratio of arithmetic to bytes of device memory, below what the GPU can do.',
    'Bytes c' || substr(counted_by, 2) || how, printf('copy = %g; peak = %g', median, peak)
FROM (SELECT *, max(number) FROM counted WHERE dram_bytes > 0 GROUP BY D), of_gpu, counted_at,
    said JOIN ladder_run USING (gpu, run), reached
WHERE said.what = 'attention' AND peak > 0 AND reached.what = 'copy';

-- ---- What gnuplot reads ---------------------------------------------------------------------------------------------------

-- One view a script, its columns as the script's head says them, behind the chart's name; settings are its own.
-- A figure stands behind its bar, and where a line or a mark near the bar would cross it, behind that; a mark that would cross it further
-- on is left out there. So the axis goes on behind the longest. room is what is left of a chart's width beside its labels; a letter takes
-- about 9 pixels.
CREATE VIEW bar_room AS
SELECT chart, room, line_value, line_label, max(max(value * room / (room - 9 * length(figure) - 12)), 1.02 * coalesce(line_value, 0)) AS end
FROM bar JOIN (SELECT chart, 400 - 9 * max(length(label)) AS room FROM bar GROUP BY chart) USING (chart)
    LEFT JOIN (SELECT chart, value AS line_value, label AS line_label FROM ceiling_line) USING (chart)
GROUP BY chart;
CREATE VIEW bar_row AS
SELECT chart, place, 0 AS is_head, label, value, figure, hue, mark FROM bar
UNION ALL SELECT chart, min(place), 1, head, NULL, NULL, NULL, NULL FROM bar GROUP BY chart, head ORDER BY chart, place, is_head DESC;
CREATE VIEW bars AS
SELECT chart, sum(height) OVER (PARTITION BY chart ORDER BY place, is_head DESC ROWS UNBOUNDED PRECEDING) - 10 + iif(line_label IS NULL, 0,
    24) AS y, is_head, label, value, figure,
    hue, iif(mark BETWEEN near AND past, 0, coalesce(mark, 0)) AS mark, max(value, iif(mark BETWEEN value AND near, mark, 0),
        iif(line_value BETWEEN value AND past, line_value, 0)) AS behind
FROM (SELECT *, iif(is_head, 22 + 8 * (place > min(place) OVER (PARTITION BY chart)), 20) AS height,
    value + 0.06 * end AS near, value + end * (9 * length(figure) + 12) / room AS past
    FROM bar_row JOIN bar_room USING (chart)) AS b;
CREATE VIEW bars_settings AS
SELECT chart, printf('plot_height = %d; end = %g; line_value = %g; line_label = "%s"; tics = ''%s''', max(y) + 16, max(end,
    max(behind * room / (room - 9 * length(figure) - 12))),
    coalesce(line_value, 0), coalesce(line_label, ''), group_concat(iif(is_head, NULL, '"' || label || '" ' || y), ', ')) AS settings
FROM bars JOIN bar_room USING (chart) GROUP BY chart;

CREATE VIEW lines AS
SELECT chart, dense_rank() OVER (PARTITION BY chart ORDER BY hue = 0, name) AS line, hue, x, y, noisy, name,
    max(x) OVER (PARTITION BY chart, name) AS end FROM line_point;
CREATE VIEW top AS
SELECT chart, max(max(y), coalesce((SELECT max(value) FROM ceiling_line AS c WHERE c.chart = l.chart), 0)) AS most FROM line_point AS l
    GROUP BY chart;
-- Names at the ends of lines and levels, moved until each has a line of text for itself, 0.055 of the axis: half-way between where they stand if
-- all give way upwards and where if all give way downwards, and none below the axis. value: where the line ends.
CREATE VIEW line_ends AS
SELECT chart, end, 0.055 * most * place + max(0.02 * most - 0.055 * most, (max(y - 0.055 * most * place) OVER (PARTITION BY chart
    ORDER BY place ROWS UNBOUNDED PRECEDING) + min(y - 0.055 * most * place) OVER (PARTITION BY chart ORDER BY place DESC
    ROWS UNBOUNDED PRECEDING)) / 2) AS y, name, hue, y AS value
FROM (SELECT *, row_number() OVER (PARTITION BY chart ORDER BY y, name) AS place FROM (
    SELECT chart, end, y, name, hue FROM lines WHERE x = end
    UNION ALL SELECT chart, max(x), value, label, 0 FROM ceiling_line JOIN line_point USING (chart) GROUP BY chart, label) JOIN top USING (chart));
CREATE VIEW lines_settings AS
SELECT chart, printf('n_least = %d; n_most = %d; most = %g; lines = %d; array line_hue[%d] = [%s]', min(x), max(x), most, max(line),
    max(line),
    (SELECT group_concat(hue) FROM (SELECT DISTINCT line, hue FROM lines AS l WHERE l.chart = lines.chart ORDER BY line))) AS settings
FROM lines JOIN top USING (chart) GROUP BY chart;

CREATE TABLE limits AS
SELECT chart, dense_rank() OVER (PARTITION BY chart ORDER BY name) AS row, column, percent,
    iif(percent < 0.5, '<1 %', whole(percent) || ' %') AS figure,
    percent = max(iif(column > 1, percent, 0)) OVER (PARTITION BY chart, name) AS is_busiest,
    iif(column = min(column) OVER (PARTITION BY chart, name), title, '') AS label
FROM share;
CREATE VIEW limits_settings AS SELECT chart, 'rows = ' || max(row) AS settings FROM limits GROUP BY chart;

CREATE VIEW dots AS
SELECT chart, dense_rank() OVER (PARTITION BY chart ORDER BY name) AS row, series, value, iif(series = first_value(series) OVER one, title,
    '') AS label,
    iif(series = 2, coalesce((SELECT printf('%.2f×', d.value / p.value) FROM dot AS p WHERE p.chart = d.chart AND p.name = d.name
        AND p.series = 1), ''), '') AS words
FROM dot AS d WINDOW one AS (PARTITION BY chart, name ORDER BY series);
CREATE VIEW dots_settings AS
SELECT chart, printf('rows = %d; least = %g; most = %g', max(row), min(value), max(value)) AS settings FROM dots GROUP BY chart;

CREATE VIEW roofline AS
SELECT chart, x, tflops, number, hue, pow(10, max(log10(tflops) - gap * place) OVER (PARTITION BY chart
    ORDER BY place ROWS UNBOUNDED PRECEDING) + gap * place) AS label_y
FROM (SELECT 'roofline-d' || D AS chart, tflops * us * 1e6 / dram_bytes AS x, tflops, substr(name, 1, 2) AS number,
        CAST(name AS INTEGER) AS hue, row_number() OVER (PARTITION BY D ORDER BY tflops) AS place,
        0.06 * log10(3.2 * peak / min(tflops) OVER (PARTITION BY D)) AS gap
    FROM counted WHERE dram_bytes > 0 AND peak > 0);
CREATE VIEW roofline_settings AS
SELECT r.chart, settings || printf('; x_low = %g; x_high = %g; y_low = %g',
    min(min(x), 1000 * max(tflops) / (SELECT median FROM reached WHERE what = 'copy')) / 3, max(x) * 3, min(tflops) / 2) AS settings
FROM roofline AS r JOIN chart ON chart.name = r.chart GROUP BY r.chart;

-- ---- What is missing ---------------------------------------------------------------------------------------------------

-- Lines for stderr; a learner's own lessons need not have it all.
CREATE VIEW lack AS
SELECT text FROM ladder_lack JOIN this_gpu USING (gpu)
UNION ALL SELECT 'nothing is timed at B=1 H=16 N=4096, D=64 or D=128, fp32: no chart of the ladder' WHERE NOT EXISTS (SELECT 1 FROM star)
UNION ALL SELECT 'nothing is timed at two sizes or more at B=1 H=16, fp32: no chart over N' WHERE NOT EXISTS (SELECT 1 FROM sizes_run
    JOIN this_gpu USING (gpu))
UNION ALL SELECT 'no row softmax is timed: no softmax chart' WHERE NOT EXISTS (SELECT 1 FROM our_softmax)
UNION ALL SELECT 'the row softmax lacks the five passes at ' || group_concat(rows || 'x' || columns, ', ') FROM our_softmax
WHERE five_us IS NULL GROUP BY NULL
UNION ALL SELECT 'no ceilings are measured: the charts have none; make bench measures them'
WHERE (SELECT count(*) FROM reached WHERE what IN ('copy', 'fma_fp32')) < 2
UNION ALL SELECT 'nothing is counted at B=1 H=16 N=4096: no charts of limits and bytes; scripts/measure does it' WHERE NOT EXISTS (SELECT 1
    FROM counted)
UNION ALL SELECT 'not counted: ' || group_concat(DISTINCT name) || ': not in the charts of limits and bytes' FROM star
WHERE EXISTS (SELECT 1 FROM counted) AND NOT EXISTS (SELECT 1 FROM counted WHERE counted.name = star.name
    AND counted.D = star.D) GROUP BY NULL
UNION ALL SELECT 'lessons/ predict no bytes for ' || group_concat(name, ', ') || ': no prediction beside what is counted' FROM byte_row
WHERE chart = 'bytes-d64' AND predicted IS NULL GROUP BY NULL
UNION ALL SELECT 'no peers are timed: no chart of them; peers/ says how' WHERE NOT EXISTS (SELECT 1 FROM timing JOIN this_gpu USING (gpu)
    WHERE kind = 'peer')
UNION ALL SELECT count(*) ||
    ' rows are in no chart: not a lesson, in fp32 with a mask, in 16 bits and not of the grid, of another layout or with lse, or of a shape that no peer was timed at'
FROM timing AS t JOIN this_gpu USING (gpu) WHERE NOT eager AND cache = 'cold' AND (kind = 'kernel' OR NOT usual OR dtype = 'fp32'
    AND (causal OR (B <> 1 OR H <> 16) AND
    NOT EXISTS (SELECT 1 FROM timing AS p WHERE p.kind = 'peer' AND p.gpu = t.gpu AND p.B = t.B AND p.H = t.H AND p.Nq = t.Nq
        AND p.D = t.D))
    OR dtype <> 'fp32' AND NOT (B * Nq = 16384 AND H * D = 2048)) GROUP BY NULL;

-- ---- In words ----------------------------------------------------------------------------------------------------------

-- Every figure of a chart.
CREATE VIEW told AS
SELECT chart, group_concat(text, '; ') AS text FROM (
    SELECT chart, iif(is_head, label || ':', iif(label = '', '', label || ' ') || figure) AS text FROM bar_row
    UNION ALL SELECT chart, name || ': ' || group_concat(three_digits(y) || ' at N=' || x, ', ') FROM line_point GROUP BY chart, name
    UNION ALL SELECT chart, title || ': ' || group_concat(part || ' ' || whole(percent) || ' %', ', ')
    FROM share JOIN part USING (column) GROUP BY chart, name
    UNION ALL SELECT chart, title || ': ' || group_concat(way || ' ' || figure, ', ') FROM dot JOIN way USING (series) GROUP BY chart, name
    UNION ALL SELECT chart, printf('%s: %s TFLOP/s at %s FLOP a byte', number, three_digits(tflops), whole(x)) FROM roofline
    UNION ALL SELECT chart, label FROM ceiling_line)
GROUP BY chart;
CREATE TABLE drawn AS
SELECT chart.*, coalesce(replace(replace(text, ':; ', ': '), '  ', ' '), '') AS told FROM chart LEFT JOIN told ON told.chart = chart.name;
