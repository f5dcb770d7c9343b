-- What the placeholders of an outline become: figure (key, text), the key being what stands between the braces. Run after
-- plots/charts.sql, which defines this_gpu, chart, ladder_on_gpu and busiest. A placeholder whose key is not here is not measured, or a mistake.
-- char(160) keeps a figure with its unit, ~ marks a noisy one.

CREATE TABLE figure (key, text);

-- ---- Who was timed, and where ------------------------------------------------------------------------------------------

CREATE TABLE ladder_of AS SELECT run FROM ladder_run JOIN this_gpu USING (gpu);
CREATE TABLE alias AS
SELECT number AS who, folder AS name, 'lesson' AS role FROM lesson
UNION ALL SELECT 'first', min(name), 'lesson' FROM ladder_on_gpu GROUP BY NULL
UNION ALL SELECT 'last', max(name), 'lesson' FROM ladder_on_gpu GROUP BY NULL
UNION ALL SELECT DISTINCT kind || '-' || name, name, kind FROM timing WHERE kind IN ('peer', 'baseline');
CREATE TABLE at AS
SELECT who, role, r.* FROM (
    SELECT gpu, run, kind, name, B, H, Nq AS N, D, us, tflops, peak, noisy FROM rung
    UNION ALL SELECT gpu, run, kind, name, B, H, Nq, D, us, tflops, peak, noisy FROM standard_timing WHERE kind IN ('peer', 'baseline')) AS r
    JOIN this_gpu USING (gpu) JOIN alias USING (name)
WHERE B = 1 AND role = iif(r.kind IN ('peer', 'baseline'), r.kind, 'lesson');

CREATE VIEW at_text AS
SELECT *, iif(noisy, '~', '') || duration(us) AS time_text, iif(noisy, '~', '') || three_digits(tflops) AS rate_text,
    iif(noisy, '~', '') || replace(percent(tflops, peak), ' ', char(160)) AS share_text
FROM at;

-- The ladder's run where it has what is asked for, else the newest that has; figures that are compared are of one run.
CREATE TABLE one_text AS
SELECT * FROM (SELECT at.*, row_number() OVER (PARTITION BY who, H, N, D ORDER BY run = (SELECT run FROM ladder_of) DESC,
    time DESC) AS place
    FROM at_text AS at JOIN run USING (gpu, run) WHERE what = 'attention') WHERE place = 1;
CREATE TABLE two AS
SELECT * FROM (SELECT a.who, b.who AS over, H, N, D, b.us / a.us AS ratio, a.noisy OR b.noisy AS noisy,
        row_number() OVER (PARTITION BY a.who, b.who, H, N, D ORDER BY run = (SELECT run FROM ladder_of) DESC, time DESC) AS place
    FROM at AS a JOIN at AS b USING (gpu, run, H, N, D) JOIN run USING (gpu, run) WHERE what = 'attention') WHERE place = 1;

CREATE VIEW two_text AS SELECT *, iif(noisy, '~', '') || ratio(ratio) AS ratio_text FROM two;
CREATE VIEW wanted_n AS SELECT 1 AS is_named UNION ALL SELECT 0;

INSERT INTO figure
SELECT what || ' ' || who || ' ' || D || iif(is_named, ' ' || N, ''), text FROM (
    SELECT 'time' AS what, who, N, D, time_text AS text FROM one_text WHERE H = 16
    UNION ALL SELECT 'tflops', who, N, D, rate_text || char(160) || 'TFLOP/s' FROM one_text WHERE H = 16
    UNION ALL SELECT 'share', who, N, D, share_text FROM one_text WHERE H = 16
    UNION ALL SELECT 'speedup', who || ' ' || over, N, D, ratio_text FROM two_text WHERE H = 16), wanted_n
WHERE (is_named OR N = 4096) AND text IS NOT NULL;

-- ---- 16 bits, of the grid's run ----------------------------------------------------------------------------------------

CREATE TABLE grid_at AS
WITH bf16 AS (
    SELECT name, kind, kind IN ('peer', 'baseline') AS is_library, Nq AS N, D, tflops, us, peak, iif(noisy, '~', '') AS mark
    FROM grid_on_gpu WHERE dtype = 'bf16' AND causal = 0)
SELECT who, bf16.* FROM bf16 JOIN alias USING (name) WHERE role = iif(is_library, kind, 'lesson')
UNION ALL SELECT 'best', * FROM bf16 WHERE name = (SELECT max(name) FROM bf16 WHERE NOT is_library)
UNION ALL SELECT 'peer-best', name, kind, is_library, N, D, max(tflops), us, peak, mark
FROM bf16 JOIN compared_library USING (name) WHERE is_library GROUP BY N, D;
INSERT INTO figure
SELECT printf('bf16 %s %s %d %d', what, who, D, N), text FROM (
    SELECT 'tflops' AS what, who, D, N, mark || whole(tflops) || char(160) || 'TFLOP/s' AS text FROM grid_at
    UNION ALL SELECT 'share', who, D, N, mark || replace(percent(tflops, peak), ' ', char(160)) FROM grid_at WHERE peak > 0
    UNION ALL SELECT 'speedup', a.who || ' ' || b.who, D, N, max(a.mark, b.mark) || rounded(b.us / a.us, 1 + (b.us / a.us < 1.995)) || '×'
    FROM grid_at AS a JOIN grid_at AS b USING (N, D));

-- ---- The row softmax ---------------------------------------------------------------------------------------------------

CREATE VIEW softmax_one AS SELECT *, rows || 'x' || columns AS size, iif(noisy, '~', '') AS mark FROM softmax_on_gpu;
INSERT INTO figure
SELECT 'softmax time ' || size, mark || duration(us) FROM softmax_one
UNION ALL SELECT 'softmax rate ' || size, mark || whole(gb_per_s) || char(160) || 'GB/s' FROM softmax_one
UNION ALL SELECT 'softmax share ' || size, mark || replace(percent(gb_per_s, copy), ' ', char(160)) FROM softmax_one WHERE copy > 0
UNION ALL SELECT 'softmax speedup ' || size, mark || short_ratio(five_us / us) FROM softmax_one WHERE five_us > 0
UNION ALL SELECT 'softmax speedup ' || size || ' peer-' || t.name, iif(s.noisy OR t.noisy, '~', '') || short_ratio(t.us / s.us)
FROM softmax_one AS s JOIN softmax_timing AS t USING (gpu, run, rows, columns) WHERE t.kind = 'peer';

-- ---- What was counted, what limits, and facts ----------------------------------------------------------------------------

INSERT INTO figure
SELECT 'counter ' || who || ' ' || D || ' ' || metric, replace(text, ' ', char(160))
FROM counter_text AS c JOIN this_gpu USING (gpu) JOIN alias USING (name)
WHERE N = 4096 AND role = 'lesson'
-- Of a lesson in 16 bits, which is none of the fp32 ladder, the solution's.
    AND (EXISTS (SELECT 1 FROM ladder_on_gpu AS s WHERE s.name = c.name AND s.D = c.D AND s.kind = c.kind)
        OR c.kind = 'solution' AND c.name NOT IN (SELECT name FROM ladder_on_gpu));
INSERT INTO figure
SELECT 'limit ' || who || ' ' || substr(chart, 9), unit || ', at ' || whole(percent) || char(160) || '%'
FROM busiest JOIN alias USING (name) WHERE role = 'lesson';
INSERT INTO figure SELECT 'ceiling ' || what, three_digits(median) || char(160) || unit FROM ceiling_on_gpu;
INSERT INTO figure SELECT 'title ' || who, replace(name, '_', ' ') FROM alias WHERE role = 'lesson';
INSERT INTO figure SELECT 'folder ' || who, name FROM alias WHERE role = 'lesson';
INSERT INTO figure SELECT DISTINCT 'own ' || substr(name, 1, 2), '' FROM ladder_on_gpu WHERE kind = 'lesson';
INSERT INTO figure SELECT 'count', coalesce((SELECT value
    FROM json_each('["one","two","three","four","five","six","seven","eight","nine","ten","eleven","twelve"]') WHERE key = n - 1), n)
FROM (SELECT count(DISTINCT name) AS n FROM ladder_on_gpu) WHERE n > 0;
CREATE VIEW facts AS SELECT run_on_gpu.* FROM run_on_gpu JOIN ladder_of USING (run) WHERE what = 'attention';
-- The runs that figures and charts come from, and what they have of each. known_commit: those that a reader can check out.
CREATE TABLE taken AS
SELECT words, run, time, minute, commit_name, replace(clock, ' MHz', char(160) || 'MHz') AS clock, driver, cuda,
    known_commit.name IS NOT NULL AS is_known
FROM (SELECT run, group_concat(words, ', ') AS words, min(place) AS place FROM (
        SELECT 1 AS place, 'the ladder in fp32' AS words, run FROM ladder_of
        UNION SELECT 2, 'fp32 over N', run FROM sizes_run JOIN this_gpu USING (gpu)
        UNION SELECT 3, 'the libraries', run FROM over_fastest_library
        UNION SELECT 4, 'the row softmax', run FROM softmax_run JOIN this_gpu USING (gpu)
        UNION SELECT 5, 'bf16', run FROM grid_on_gpu WHERE dtype = 'bf16' AND NOT causal
        UNION SELECT 6, 'the ceilings', run FROM ceiling_on_gpu ORDER BY place) GROUP BY run)
    JOIN (SELECT *, min(line) FROM run_on_gpu GROUP BY run) USING (run) LEFT JOIN known_commit ON known_commit.name = commit_name
ORDER BY place;
INSERT INTO figure
SELECT 'device', device FROM facts
UNION ALL SELECT 'sms', sm_count FROM facts WHERE sm_count <> ''
UNION ALL SELECT 'driver', driver FROM facts
UNION ALL SELECT 'cuda', cuda FROM facts
UNION ALL SELECT 'clock', replace(clock, ' MHz', char(160) || 'MHz') FROM facts WHERE clock IS NOT NULL
UNION ALL SELECT 'date', max(substr(time, 1, 10)) FROM taken GROUP BY NULL
UNION ALL SELECT 'commit', commit_name FROM facts
UNION ALL SELECT 'peak', three_digits(max(peak)) || char(160) || 'TFLOP/s' FROM ladder_on_gpu WHERE peak > 0 GROUP BY NULL
UNION ALL SELECT 'wins', printf('%d of %d', sum(ratio >= 1), count(*)) FROM over_fastest_library GROUP BY NULL
UNION ALL SELECT 'worst', printf('%.2f×', min(ratio)) FROM over_fastest_library GROUP BY NULL
UNION ALL SELECT 'worst shape', shape FROM (SELECT printf('B=%d H=%d N=%d D=%d', B, H, N, D) AS shape, min(ratio)
    FROM over_fastest_library GROUP BY NULL);

-- ---- What there is -------------------------------------------------------------------------------------------------------

INSERT INTO figure
SELECT 'needs ' || who, '' FROM alias
WHERE role = 'lesson' AND name IN (SELECT name FROM ladder_on_gpu UNION SELECT name FROM grid_on_gpu)
UNION ALL SELECT 'needs ' || name, '' FROM chart WHERE name IN ('softmax', 'peers', 'triton')
UNION ALL SELECT 'needs triton', '' WHERE EXISTS (SELECT 1 FROM over_triton JOIN this_gpu USING (gpu))
UNION ALL SELECT 'needs profile', '' WHERE EXISTS (SELECT 1 FROM counted)
UNION ALL SELECT 'needs ceilings', '' WHERE (SELECT count(*) FROM ceiling_on_gpu WHERE what IN ('copy', 'fma_fp32')) = 2
UNION ALL SELECT 'needs bf16', '' WHERE EXISTS (SELECT 1 FROM grid_at WHERE who = 'best');

-- ---- Charts ------------------------------------------------------------------------------------------------------------

-- Letters that Markdown would take as its own.
CREATE VIEW plain_chart AS
SELECT name, replace(replace(replace(replace(alt, '\', '\\'), '[', '\['), ']', '\]'), '*', '\*') AS alt,
    replace(replace(replace(caption, '\', '\\'), '*', '\*'), '_', '\_') AS caption FROM chart;
INSERT INTO figure SELECT 'chart ' || name, '![' || alt || '](' || name || '.png)' || char(10, 10) || '*' || caption || '*'
    FROM plain_chart;
-- A chart with panels is too wide for the column of a post.
INSERT INTO figure SELECT 'charts', group_concat(name, ' ') FROM chart WHERE is_default AND name NOT IN side_by_side;

-- ---- Tables ------------------------------------------------------------------------------------------------------------

CREATE TABLE row (key, place, text);
CREATE VIEW own AS SELECT iif((SELECT kind FROM setting) = 'lesson', ' Own kernels; \* the solution stands in for one.', '') AS own;
-- The words below a table, but for their beginning.
CREATE VIEW measured AS
SELECT 'Median of interleaved timings by CUDA events; ' || device || ', run of ' || minute || ', commit ' || commit_name || '.' AS text,
    run, what
FROM run_on_gpu;

-- The shape that most tables are of.
CREATE VIEW one_4096 AS SELECT * FROM one_text WHERE H = 16 AND N = 4096;
CREATE VIEW two_4096 AS SELECT * FROM two_text WHERE H = 16 AND N = 4096;

INSERT INTO row
SELECT DISTINCT 'table ladder ' || D, 0, table_head('kernel, D=' || D, '>time', '>TFLOP/s', '>of peak', '>step', '>in all') FROM ladder_on_gpu;
INSERT INTO row
SELECT 'table ladder ' || d.D, CAST(l.number AS INTEGER), table_row(l.title || iif(st.kind <> (SELECT kind FROM setting), ' \*', ''),
    coalesce(o.time_text, 'not measured'), o.rate_text, o.share_text, before.ratio_text, first.ratio_text)
FROM (SELECT DISTINCT D FROM ladder_on_gpu) AS d JOIN lesson AS l
    LEFT JOIN one_4096 AS o ON o.who = l.number AND o.D = d.D AND o.run = (SELECT run FROM ladder_of)
    LEFT JOIN two_4096 AS before ON before.who = o.who AND before.D = o.D AND before.over = printf('%02d', l.number - 1)
    LEFT JOIN two_4096 AS first ON first.who = o.who AND first.D = o.D AND first.over = '01' AND l.number > '01'
    LEFT JOIN ladder_on_gpu AS st ON st.name = l.folder AND st.D = d.D
WHERE takes_fp32 OR o.run IS NOT NULL;
INSERT INTO row
SELECT DISTINCT 'table ladder ' || D, 1000, char(10) || '*One batch of 16 heads, N=4096, fp32, no mask. Of peak: of what all ' ||
    'fp32 units could do. Step: times as fast as the kernel before it; in all: as the first. ' || text || own ||
    iif((SELECT max(noisy) FROM ladder_on_gpu), ' ~ marks noisy timings.', '') || '*'
FROM ladder_on_gpu JOIN measured USING (run), own WHERE what = 'attention';

-- The last lesson beside each library, of the newest run that timed both at a shape.
CREATE TABLE library_run AS
SELECT H, N, D, run, last FROM (
    SELECT H, N, D, run, max(iif(role = 'lesson', name, NULL)) AS last, row_number() OVER (PARTITION BY H, N, D ORDER BY time DESC,
        run.line DESC) AS place
    FROM at JOIN run USING (gpu, run) WHERE what = 'attention' GROUP BY H, N, D, run
    HAVING max(role <> 'lesson' AND name NOT LIKE 'triton%') AND max(role = 'lesson'))
WHERE place = 1;
CREATE VIEW library AS
SELECT l.*, coalesce(title, replace(replace(l.name, 'torch_', 'PyTorch, '), '_', ' ')) AS title, o.who AS number,
    replace(last, '_', ' ') || iif(o.kind <> (SELECT kind FROM setting), ' \*', '') AS own_title, o.time_text AS own_time,
    o.rate_text AS own_rate, iif(l.noisy OR o.noisy, '~', '') || ratio(l.us / o.us) AS ratio_text
FROM at_text AS l JOIN library_run USING (H, N, D, run) JOIN at_text AS o USING (H, N, D, run)
    LEFT JOIN peer_title ON peer_title.name = l.name
WHERE o.who = substr(last, 1, 2) AND l.role IN ('peer', 'baseline') AND l.name NOT LIKE 'triton%';

INSERT INTO row
SELECT 'table peers ' || D, place, text FROM (
    SELECT DISTINCT D, 0 AS place, table_head('D=' || D, '>time', '>TFLOP/s', '>' || number || ' against it') || char(10) ||
        table_row(own_title, own_time, own_rate, NULL) AS text, H, N FROM library
    UNION ALL SELECT D, us, table_row(title, time_text, rate_text, ratio_text), H, N FROM library
    UNION ALL SELECT DISTINCT D, 1e12, char(10) || '*One batch of 16 heads, N=4096, fp32, TF32 off, no mask. ' || text || own || '*', H, N
    FROM library JOIN measured USING (run), own WHERE what = 'attention')
WHERE H = 16 AND N = 4096;

INSERT INTO row
SELECT 'table single-head', place, text FROM (
    SELECT 0 AS place, table_head('N × D', '>' || max(number), 'fastest library', '>its time', '>' || max(number) || ' against it') AS text
    FROM library WHERE H = 1 GROUP BY NULL
    UNION ALL SELECT N + D / 1e4, table_row(N || char(160) || '×' || char(160) || D,
        iif(number = (SELECT max(number) FROM library WHERE H = 1), '', number || ': ') || own_time, title, time_text, ratio_text)
    FROM (SELECT *, min(us) FROM library WHERE H = 1 GROUP BY N, D)
    UNION ALL SELECT DISTINCT 1e12, char(10) || '*One batch of one head, fp32, TF32 off, no mask. ' || text || own || '*'
    FROM library JOIN measured USING (run), own WHERE H = 1 AND what = 'attention');

INSERT INTO row
SELECT 'table triton', place, text FROM (
    SELECT 0 AS place, table_head('the same idea', '>CUDA', '>Triton', '>CUDA against Triton') AS text
    UNION ALL SELECT CAST(t.who AS INTEGER), table_row(replace(o.name, '_', ' '), o.time_text, p.time_text, t.ratio_text)
    FROM two_4096 AS t JOIN one_4096 AS o USING (who, D) JOIN one_4096 AS p ON p.who = t.over AND p.D = t.D
    WHERE t.over = 'peer-triton_' || o.name AND t.who = substr(o.name, 1, 2) AND t.D = 64
    UNION ALL SELECT 1e12, char(10) || '*One batch of 16 heads, N=4096, D=64, fp32, no mask. ' || text || own || '*'
    FROM measured JOIN ladder_of USING (run), own WHERE what = 'attention')
WHERE EXISTS (SELECT 1 FROM over_triton JOIN this_gpu USING (gpu));

INSERT INTO row
SELECT 'table softmax', place, text FROM (
    SELECT 0 AS place, table_head('rows × columns', '>five passes', '>fused', '>speed-up', '>GB/s', '>of a copy') AS text
    UNION ALL SELECT rows * columns, table_row(rows || char(160) || '×' || char(160) || columns, duration(five_us), mark || duration(us),
        short_ratio(five_us / us), whole(gb_per_s), replace(percent(gb_per_s, copy), ' ', char(160))) FROM softmax_one
    UNION ALL SELECT 1e12, char(10) || '*fp32; one read and one write counted. ' || text || '*' FROM measured JOIN softmax_run USING (run)
        JOIN this_gpu USING (gpu) WHERE what = 'softmax')
WHERE EXISTS (SELECT 1 FROM softmax_one);

INSERT INTO row
SELECT 'table bf16 ' || D, place, text FROM (
    SELECT DISTINCT D, 0 AS place, table_head('bf16, D=' || D, '>N=1024', '>N=4096', '>of peak at N=4096') AS text
    FROM grid_at WHERE who = 'best'
    UNION ALL SELECT D, z.tflops, table_row(
        iif(a.is_library, coalesce(title, 'Triton, ' || substr(name, 8, 2)), replace(name, '_', ' ')), a.mark || whole(a.tflops),
        z.mark || whole(z.tflops), replace(percent(z.tflops, z.peak), ' ', char(160)))
    FROM grid_at AS a JOIN grid_at AS z USING (who, name, D) LEFT JOIN peer_title USING (name)
    WHERE who NOT IN ('best', 'peer-best', 'first', 'last') AND a.N = 1024 AND z.N = 4096
    UNION ALL SELECT DISTINCT D, 1e12, char(10) || '*TFLOP/s; 16384 tokens, H × D = 2048, no mask. ' || text || '*'
    FROM grid_on_gpu JOIN measured USING (run) WHERE dtype = 'bf16' AND causal = 0 AND what = 'attention')
WHERE EXISTS (SELECT 1 FROM grid_at WHERE who = 'best');

-- ---- How it was measured -----------------------------------------------------------------------------------------------

CREATE VIEW lesson_row AS SELECT DISTINCT name, kind, substr(name, 1, 2) AS number FROM ladder_on_gpu;
-- What is not there, a row each.
CREATE VIEW unmeasured AS
SELECT title || ' at ' || group_concat('D=' || D, ' and ') AS text FROM lesson, head_dimension AS d
WHERE takes_fp32 AND NOT EXISTS (SELECT 1 FROM ladder_on_gpu WHERE ladder_on_gpu.name = folder AND ladder_on_gpu.D = d.D) GROUP BY folder
UNION ALL SELECT 'the row softmax' WHERE NOT EXISTS (SELECT 1 FROM softmax_one)
UNION ALL SELECT 'the libraries' WHERE NOT EXISTS (SELECT 1 FROM over_fastest_library)
UNION ALL SELECT 'the ceilings of a copy and of multiply-adds' WHERE NOT EXISTS (SELECT 1 FROM figure WHERE key = 'needs ceilings')
UNION ALL SELECT 'the counters of Nsight Compute' WHERE NOT EXISTS (SELECT 1 FROM counted);

INSERT INTO row
SELECT 'reproduce', place, text FROM facts, (
    SELECT 1 AS place, '- GPU: ' || device || iif(sm_count <> '', ', ' || sm_count || ' SMs', '') AS text FROM facts
    UNION ALL SELECT 2, '- Software: ' || group_concat(DISTINCT 'driver ' || driver || ' and CUDA ' || cuda) FROM taken GROUP BY NULL
    UNION ALL SELECT 3, '- Run ' || run || ': ' || words || '; ' || minute || ', commit ' || commit_name ||
        iif(is_known, '', ' (not in this repository)') || coalesce(', SM clock ' || clock, '') FROM taken
    UNION ALL SELECT 4, '- Counters: ' || group_concat(text, '; ') FROM (
        SELECT 'of ' || group_concat(number, ', ') || ' on ' || date || ', commit ' || commit_name AS text FROM (
            SELECT substr(name, 1, 2) AS number, date, commit_name, max(line) FROM counter JOIN this_gpu USING (gpu) WHERE N = 4096
                GROUP BY name) GROUP BY commit_name ORDER BY min(number)) GROUP BY NULL
    UNION ALL SELECT 5, '- Kernels: ' || coalesce('own ones for ' || group_concat(number, ', ') FILTER (WHERE kind = 'lesson') ||
        coalesce('; the solutions for ' || group_concat(number, ', ') FILTER (WHERE kind = 'solution'), ''), 'the solutions')
    FROM lesson_row
    UNION ALL SELECT 6, '- Not measured: ' || group_concat(text, '; ') FROM unmeasured GROUP BY NULL
    UNION ALL SELECT 7, '- ~ marks noisy timings: they spread, or the clock changed, however often they were repeated'
    WHERE (SELECT max(noisy) FROM one_text)
    UNION ALL SELECT 8, char(10) || 'To measure it again, on this GPU or another:' || char(10, 10) || '```sh'
    UNION ALL SELECT 9, text FROM (SELECT 'git checkout ' || commit_name || '  # the run of ' || minute AS text
        FROM taken WHERE is_known ORDER BY time DESC LIMIT 1)
    UNION ALL SELECT 10, './setup'
    UNION ALL SELECT 11, 'make ' || iif(max(kind = 'lesson'), group_concat(kind || '-' || number, ' ') || ' ', '') || 'bench'
    FROM lesson_row
    UNION ALL SELECT 12, 'make peers  # PyTorch and Triton' WHERE EXISTS (SELECT 1 FROM over_fastest_library)
    UNION ALL SELECT 13, 'make peers DTYPE=bf16  # FlashAttention-4 if the package is there; FA3=folder: FlashAttention-3, too' WHERE EXISTS (SELECT 1 FROM grid_at)
    UNION ALL SELECT 14, 'scripts/measure  # all of fp32, and counted' WHERE EXISTS (SELECT 1 FROM counted)
    UNION ALL SELECT 15, 'make post' || char(10) || '```');

INSERT INTO figure SELECT key, group_concat(text, char(10)) FROM (SELECT * FROM row ORDER BY key, place) GROUP BY key;
SELECT key, text FROM figure;
