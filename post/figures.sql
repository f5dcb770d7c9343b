-- What the placeholders of an outline become: figure (key, text), the key being what stands between the braces. Run after
-- plots/charts.sql, which gives this_gpu, chart, star and busiest. A placeholder whose key is not here is not measured, or a mistake.
-- A figure has three digits: printf('%.*f', n, round(1.0000000001 * x, n)), n = (x < 1) + (x < 10) + (x < 100). SQLite 3.45 cuts
-- where it is to print no digit behind the point, so all are rounded first; what lies between two goes up, in every version; char(160) keeps it with its unit, ~ marks a noisy one.

CREATE TABLE figure (key, text);

-- ---- Who was timed, and where ------------------------------------------------------------------------------------------

CREATE TABLE ladder_of AS SELECT run, max(device) AS device FROM ladder_run JOIN this_gpu USING (gpu) JOIN run USING (gpu, run)
    WHERE what = 'attention';
CREATE TABLE alias AS
SELECT number AS who, folder AS name, 'lesson' AS role FROM lesson
UNION ALL SELECT 'first', min(name), 'lesson' FROM star GROUP BY NULL UNION ALL SELECT 'last', max(name), 'lesson'
    FROM star GROUP BY NULL
UNION ALL SELECT DISTINCT kind || '-' || name, name, kind FROM timing WHERE kind IN ('peer', 'baseline');
CREATE TABLE at AS
SELECT who, role, r.* FROM (
    SELECT gpu, run, kind, name, B, H, Nq AS N, D, us, tflops, peak, noisy FROM rung
    UNION ALL SELECT gpu, run, kind, name, B, H, Nq, D, us, tflops, peak, noisy FROM plain WHERE kind IN ('peer', 'baseline')) AS r
    JOIN this_gpu USING (gpu) JOIN alias USING (name)
WHERE B = 1 AND role = iif(r.kind IN ('peer', 'baseline'), r.kind, 'lesson');

CREATE VIEW at_text AS
SELECT *, iif(noisy, '~', '') || iif(us < 999.5, printf('%.*f', (us < 1) + (us < 10) + (us < 100), round(1.0000000001 * us, (us < 1) + (us < 10) + (us < 100))) || char(160) || 'µs',
        printf('%.*f', (us < 1e3) + (us < 1e4) + (us < 1e5), round(1.0000000001 * us / 1000, (us < 1e3) + (us < 1e4) + (us < 1e5))) || char(160) || 'ms') AS time_text,
    iif(noisy, '~', '') || printf('%.*f', (tflops < 1) + (tflops < 10) + (tflops < 100), round(1.0000000001 * tflops, (tflops < 1) + (tflops < 10) + (tflops < 100))) AS rate_text,
    iif(peak > 0, iif(noisy, '~', '') || printf('%.0f', round(1.0000000001 * 100 * tflops / peak)) || char(160) || '%', NULL) AS share_text
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

CREATE VIEW two_text AS SELECT *, iif(noisy, '~', '') || printf('%.*f×', (ratio < 1.095) + (ratio < 99.95), round(1.0000000001 * ratio, (ratio < 1.095) + (ratio < 99.95))) AS ratio_text FROM two;
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
SELECT who, g.name, g.kind, Nq AS N, D, tflops, us, peak, noisy FROM grid AS g JOIN this_gpu USING (gpu) JOIN alias ON alias.name = g.name
WHERE dtype = 'bf16' AND causal = 0 AND role = iif(g.kind IN ('peer', 'baseline'), g.kind, 'lesson')
UNION ALL SELECT 'best', name, kind, Nq, D, tflops, us, peak, noisy FROM grid JOIN this_gpu USING (gpu)
WHERE dtype = 'bf16' AND causal = 0 AND name = (SELECT max(name) FROM grid JOIN this_gpu USING (gpu) WHERE dtype = 'bf16'
    AND kind NOT IN ('peer', 'baseline'));
INSERT INTO figure SELECT 'bf16 tflops ' || who || ' ' || D || ' ' || N, iif(noisy, '~', '') || printf('%.0f', round(1.0000000001 * tflops)) || char(160) ||
    'TFLOP/s' FROM grid_at;
INSERT INTO figure SELECT 'bf16 share ' || who || ' ' || D || ' ' || N, iif(noisy, '~', '') || printf('%.0f', round(1.0000000001 * 100 * tflops / peak)) || char(160) || '%'
    FROM grid_at WHERE peak > 0;
INSERT INTO figure SELECT 'bf16 speedup ' || a.who || ' ' || b.who || ' ' || D || ' ' || N, iif(a.noisy OR b.noisy, '~', '') || printf('%.*f×', 1 + (b.us / a.us < 1.995), round(1.0000000001 * b.us / a.us, 1 + (b.us / a.us < 1.995)))
    FROM grid_at AS a JOIN grid_at AS b USING (N, D);

-- ---- The row softmax ---------------------------------------------------------------------------------------------------

CREATE VIEW softmax_one AS
SELECT s.*, rows || 'x' || columns AS size, iif(us < 999.5, printf('%.*f', (us < 1) + (us < 10) + (us < 100), round(1.0000000001 * us, (us < 1) + (us < 10) + (us < 100))) || char(160) || 'µs',
    printf('%.*f', (us < 1e4) + (us < 1e5),
    round(1.0000000001 * us / 1000, (us < 1e4) + (us < 1e5))) || char(160) || 'ms') AS time_text FROM softmax AS s JOIN this_gpu USING (gpu);
INSERT INTO figure SELECT 'softmax time ' || size, iif(noisy, '~', '') || time_text FROM softmax_one;
INSERT INTO figure SELECT 'softmax rate ' || size, iif(noisy, '~', '') || printf('%.0f', round(1.0000000001 * gb_per_s)) || char(160) || 'GB/s' FROM softmax_one;
INSERT INTO figure SELECT 'softmax share ' || size, iif(noisy, '~', '') || printf('%.0f', round(1.0000000001 * 100 * gb_per_s / copy)) || char(160) || '%'
    FROM softmax_one WHERE copy > 0;
INSERT INTO figure SELECT 'softmax speedup ' || size, iif(noisy, '~', '') || printf('%.*f×', five_us / us < 99.95, round(1.0000000001 * five_us / us, five_us / us < 99.95))
    FROM softmax_one WHERE five_us > 0;
INSERT INTO figure SELECT 'softmax speedup ' || s.size || ' peer-' || t.name, iif(s.noisy OR t.noisy, '~', '') || printf('%.*f×',
    t.us / s.us < 99.95, round(1.0000000001 * t.us / s.us, t.us / s.us < 99.95))
FROM softmax_one AS s JOIN softmax_timing AS t USING (gpu, run, rows, columns) WHERE t.kind = 'peer';

-- ---- What was counted, what limits, and facts ----------------------------------------------------------------------------

INSERT INTO figure
SELECT 'counter ' || who || ' ' || c.D || ' ' || metric, CASE WHEN unit = '%' THEN printf('%.0f', round(1.0000000001 * value)) || char(160) || '%'
    ELSE CASE WHEN power = 0 AND value = CAST(value AS INTEGER) THEN printf('%d', value) ELSE printf('%.3g', value / pow(1000,
        power)) END ||
        iif(power > 0 OR unit = 'byte', char(160), '') || trim(substr(' kMGT', power + 1, 1)) || iif(unit = 'byte', 'B', '') END
FROM (SELECT c.*, (value >= 999.5) + (value >= 999.5e3) + (value >= 999.5e6) + (value >= 999.5e9) AS power FROM counter AS c
    JOIN this_gpu USING (gpu) WHERE N = 4096) AS c JOIN alias ON alias.name = c.name AND role = 'lesson'
-- Of a lesson in 16 bits, which is none of the fp32 ladder, the solution's.
WHERE EXISTS (SELECT 1 FROM star AS s WHERE s.name = c.name AND s.D = c.D AND s.kind = c.kind)
    OR c.kind = 'solution' AND NOT EXISTS (SELECT 1 FROM star AS s WHERE s.name = c.name);
INSERT INTO figure
SELECT 'limit ' || who || ' ' || substr(chart, 9), trim(part) || ', at ' || printf('%.0f', round(1.0000000001 * percent)) || char(160) || '%' FROM busiest
    JOIN alias USING (name) WHERE role = 'lesson';
INSERT INTO figure SELECT 'ceiling ' || what, printf('%.*f', (median < 1) + (median < 10) + (median < 100), round(1.0000000001 * median, (median < 1) + (median < 10) + (median < 100))) || char(160) || unit
    FROM newest_ceiling JOIN this_gpu USING (gpu);
INSERT INTO figure SELECT 'title ' || who, replace(name, '_', ' ') FROM alias WHERE role = 'lesson';
INSERT INTO figure SELECT 'folder ' || who, name FROM alias WHERE role = 'lesson';
INSERT INTO figure SELECT DISTINCT 'own ' || substr(name, 1, 2), '' FROM star WHERE kind = 'lesson';
INSERT INTO figure SELECT 'count', coalesce((SELECT value
    FROM json_each('["one","two","three","four","five","six","seven","eight","nine","ten","eleven","twelve"]') WHERE key = n - 1), n)
FROM (SELECT count(DISTINCT name) AS n FROM star) WHERE n > 0;
CREATE VIEW facts AS SELECT said.* FROM said JOIN ladder_of USING (run) WHERE what = 'attention';
-- The runs that figures and charts come from, and what they have of each. known_commit: those that a reader can check out.
CREATE TABLE taken AS
SELECT words, run, time, commit_name, clock, driver, cuda,
    known_commit.name IS NOT NULL AS is_known
FROM (SELECT run, group_concat(words, ', ') AS words, min(place) AS place FROM (
        SELECT 1 AS place, 'the ladder in fp32' AS words, run FROM ladder_of
        UNION SELECT 2, 'fp32 over N', run FROM sizes_run JOIN this_gpu USING (gpu)
        UNION SELECT 3, 'the libraries', run FROM beside
        UNION SELECT 4, 'the row softmax', run FROM softmax_run JOIN this_gpu USING (gpu)
        UNION SELECT 5, 'bf16', run FROM grid JOIN this_gpu USING (gpu) WHERE dtype = 'bf16' AND NOT causal
        UNION SELECT 6, 'the ceilings', run FROM newest_ceiling JOIN this_gpu USING (gpu) ORDER BY place) GROUP BY run)
    JOIN (SELECT *, min(line) FROM said GROUP BY run) USING (run) LEFT JOIN known_commit ON known_commit.name = commit_name
ORDER BY place;
INSERT INTO figure
SELECT 'device', device FROM facts UNION ALL SELECT 'sms', sm_count FROM facts WHERE sm_count <> '' UNION ALL SELECT 'driver', driver
    FROM facts UNION ALL SELECT 'cuda', cuda FROM facts
UNION ALL SELECT 'clock', replace(clock, ' MHz', char(160) || 'MHz') FROM facts WHERE clock IS NOT NULL UNION ALL SELECT 'date', max(substr(time, 1, 10))
    FROM taken GROUP BY NULL UNION ALL SELECT 'commit', commit_name FROM facts
UNION ALL SELECT 'peak', printf('%.*f', (p < 1) + (p < 10) + (p < 100), round(1.0000000001 * p, (p < 1) + (p < 10) + (p < 100))) || char(160) || 'TFLOP/s' FROM (SELECT max(peak) AS p FROM star)
    WHERE p > 0
UNION ALL SELECT 'wins', printf('%d of %d', sum(ratio >= 1), count(*)) FROM beside GROUP BY NULL
UNION ALL SELECT 'worst', printf('%.2f×', min(ratio)) FROM beside GROUP BY NULL
UNION ALL SELECT 'worst shape', shape FROM (SELECT printf('B=%d H=%d N=%d D=%d', B, H, N, D) AS shape, min(ratio)
    FROM beside GROUP BY NULL);

-- ---- What there is -------------------------------------------------------------------------------------------------------

INSERT INTO figure
SELECT 'needs ' || who, '' FROM alias WHERE role = 'lesson' AND name IN (SELECT name FROM star UNION SELECT name FROM grid
    JOIN this_gpu USING (gpu))
UNION ALL SELECT 'needs ' || name, '' FROM chart WHERE name IN ('softmax', 'peers', 'triton')
UNION ALL SELECT 'needs triton', '' WHERE EXISTS (SELECT 1 FROM beside_triton JOIN this_gpu USING (gpu))
UNION ALL SELECT 'needs profile', '' WHERE EXISTS (SELECT 1 FROM counted)
UNION ALL SELECT 'needs ceilings', '' WHERE (SELECT count(*) FROM newest_ceiling JOIN this_gpu USING (gpu) WHERE what IN ('copy',
    'fma_fp32')) = 2
UNION ALL SELECT 'needs bf16', '' WHERE EXISTS (SELECT 1 FROM grid_at WHERE who = 'best');

-- ---- Charts ------------------------------------------------------------------------------------------------------------

-- Letters that Markdown would take as its own.
CREATE VIEW plain_chart AS
SELECT name, replace(replace(replace(replace(alt, '\', '\\'), '[', '\['), ']', '\]'), '*', '\*') AS alt,
    replace(replace(replace(caption, '\', '\\'), '*', '\*'), '_', '\_') AS caption FROM chart;
INSERT INTO figure SELECT 'chart ' || name, '![' || alt || '](' || name || '.png)' || char(10, 10) || '*' || caption || '*'
    FROM plain_chart;
INSERT INTO figure SELECT 'charts', group_concat(name, ' ') FROM chart WHERE shown;

-- ---- Tables ------------------------------------------------------------------------------------------------------------

CREATE TABLE row (key, place, text);
CREATE VIEW measured AS
SELECT 'Median of interleaved timings by CUDA events; ' || device || ', run of ' || replace(substr(time, 1, 16), 'T', ' ') ||
    ', commit ' || commit_name || '.' AS text, run, what FROM said;
CREATE VIEW own AS SELECT iif((SELECT kind FROM setting) = 'lesson', ' Own kernels; \* the solution stands in for one.', '') AS own;
CREATE VIEW starred AS SELECT name, D, iif(kind <> (SELECT kind FROM setting), ' \*', '') AS star FROM ladder JOIN this_gpu USING (gpu);

INSERT INTO row SELECT DISTINCT 'table ladder ' || D, 0, '| kernel, D=' || D || ' | time | TFLOP/s | of peak | step | in all |' ||
    char(10) || '|---|--:|--:|--:|--:|--:|' FROM star;
INSERT INTO row
SELECT 'table ladder ' || d.D, CAST(number AS INTEGER), '| ' || l.title || coalesce(' ' || trim(st.star), '') || ' | ' ||
    coalesce(time_text || ' | ' || rate_text || ' | ' || coalesce(share_text, '-') || ' | ' ||
    coalesce(b.ratio_text, '-') || ' | ' || coalesce(f.ratio_text, '-'), 'not measured | - | - | - | -') || ' |'
FROM (SELECT DISTINCT D FROM star) AS d, lesson AS l LEFT JOIN one_text AS o ON o.who = l.number AND o.H = 16 AND o.N = 4096 AND o.D = d.D
    AND o.run = (SELECT run FROM ladder_of)
    LEFT JOIN two_text AS b ON b.who = l.number AND b.over = printf('%02d', l.number - 1) AND b.H = 16 AND b.N = 4096 AND b.D = d.D
        AND o.run NOT NULL
    LEFT JOIN two_text AS f ON f.who = l.number AND f.over = '01' AND l.number > '01' AND f.H = 16 AND f.N = 4096 AND f.D = d.D
        AND o.run NOT NULL
    LEFT JOIN starred AS st ON st.name = l.folder AND st.D = d.D AND st.star <> ''
WHERE takes_fp32 OR o.run IS NOT NULL;
INSERT INTO row
SELECT DISTINCT 'table ladder ' || D, 1000, char(10) ||
    '*One batch of 16 heads, N=4096, fp32, no mask. Of peak: of what all fp32 units could do. Step: times as fast as the kernel before it; in all: as the first. ' ||
    text || own || iif((SELECT max(noisy) FROM star), ' ~ marks noisy timings.', '') || '*' FROM star JOIN measured USING (run), own
        WHERE what = 'attention';

-- The last lesson beside each library, of the newest run that timed both at a shape.
CREATE TABLE library_run AS
SELECT H, N, D, run, last FROM (
    SELECT H, N, D, run, max(iif(role = 'lesson', name, NULL)) AS last, row_number() OVER (PARTITION BY H, N, D ORDER BY time DESC,
        run.line DESC) AS place
    FROM at JOIN run USING (gpu, run) WHERE what = 'attention' GROUP BY H, N, D, run
    HAVING max(role <> 'lesson' AND name NOT LIKE 'triton%') AND max(role = 'lesson'))
WHERE place = 1;
CREATE VIEW library AS
SELECT l.*, coalesce(title, replace(replace(l.name, 'torch_', 'PyTorch, '), '_', ' ')) AS title, substr(last, 1, 2) AS number,
    replace(last, '_', ' ') ||
    iif(o.kind <> (SELECT kind FROM setting), ' \*', '') AS own_title, o.time_text AS own_time, o.rate_text AS own_rate,
    iif(l.noisy OR o.noisy, '~', '') || printf('%.*f×', (l.us / o.us < 1.095) + (l.us / o.us < 99.95), round(1.0000000001 * l.us / o.us, (l.us / o.us < 1.095) + (l.us / o.us < 99.95))) AS ratio_text
FROM at_text AS l JOIN library_run USING (H, N, D, run) JOIN at_text AS o ON o.run = l.run AND o.H = l.H AND o.N = l.N AND o.D = l.D
    AND o.who = substr(last, 1, 2)
    LEFT JOIN peer_title ON peer_title.name = l.name
WHERE l.role IN ('peer', 'baseline') AND l.name NOT LIKE 'triton%';

INSERT INTO row
SELECT 'table peers ' || D, place, text FROM (
    SELECT DISTINCT D, 0 AS place, '| D=' || D || ' | time | TFLOP/s | ' || number || ' against it |' || char(10) || '|---|--:|--:|--:|' ||
        char(10) ||
        '| ' || own_title || ' | ' || own_time || ' | ' || own_rate || ' | - |' AS text FROM library WHERE H = 16 AND N = 4096
    UNION ALL SELECT D, us, '| ' || title || ' | ' || time_text || ' | ' || rate_text || ' | ' || ratio_text || ' |' FROM library
        WHERE H = 16 AND N = 4096
    UNION ALL SELECT DISTINCT D, 1e12, char(10) || '*One batch of 16 heads, N=4096, fp32, TF32 off, no mask. ' || text || own || '*'
    FROM library JOIN measured USING (run), own WHERE H = 16 AND N = 4096 AND what = 'attention');

INSERT INTO row
SELECT 'table single-head', place, text FROM (
    SELECT 0 AS place, '| N × D | ' || max(number) || ' | fastest library | its time | ' || max(number) || ' against it |' || char(10) ||
        '|---|--:|---|--:|--:|' AS text
    FROM library WHERE H = 1 GROUP BY NULL
    UNION ALL SELECT N + D / 1e4, '| ' || N || char(160) || '×' || char(160) || D || ' | ' || iif(number = (SELECT max(number) FROM library
        WHERE H = 1), '', number || ': ') || own_time ||
        ' | ' || title || ' | ' || time_text || ' | ' || ratio_text || ' |' FROM (SELECT *, min(us) FROM library WHERE H = 1 GROUP BY N, D)
    UNION ALL SELECT DISTINCT 1e12, char(10) || '*One batch of one head, fp32, TF32 off, no mask. ' || text || own || '*' FROM library
        JOIN measured USING (run), own WHERE H = 1 AND what = 'attention');

INSERT INTO row
SELECT 'table triton', place, text FROM (
    SELECT 0 AS place, '| the same idea | CUDA | Triton | CUDA against Triton |' || char(10) || '|---|--:|--:|--:|' AS text
    UNION ALL SELECT CAST(t.who AS INTEGER), '| ' || replace(o.name, '_', ' ') || ' | ' || o.time_text || ' | ' || p.time_text || ' | ' ||
        t.ratio_text || ' |'
    FROM two_text AS t JOIN one_text AS o ON o.who = t.who AND o.H = 16 AND o.N = 4096 AND o.D = 64 JOIN one_text AS p ON p.who = t.over
        AND p.H = 16 AND p.N = 4096 AND p.D = 64
    WHERE t.over = 'peer-triton_' || o.name AND t.who = substr(o.name, 1, 2) AND t.H = 16 AND t.N = 4096 AND t.D = 64
    UNION ALL SELECT 1e12, char(10) || '*One batch of 16 heads, N=4096, D=64, fp32, no mask. ' || text || own || '*' FROM measured
        JOIN ladder_of USING (run), own WHERE what = 'attention')
WHERE EXISTS (SELECT 1 FROM beside_triton JOIN this_gpu USING (gpu));

INSERT INTO row
SELECT 'table softmax', place, text FROM (
    SELECT 0 AS place, '| rows × columns | five passes | fused | speed-up | GB/s | of a copy |' || char(10) ||
        '|---|--:|--:|--:|--:|--:|' AS text
    UNION ALL SELECT rows * columns, '| ' || rows || char(160) || '×' || char(160) || columns || ' | ' || iif(five_us > 0,
        iif(five_us < 999.5, printf('%.*f', (five_us < 1) + (five_us < 10) +
        (five_us < 100), round(1.0000000001 * five_us, (five_us < 1) + (five_us < 10) +
        (five_us < 100))) || char(160) || 'µs', printf('%.*f', (five_us < 1e4) + (five_us < 1e5), round(1.0000000001 * five_us / 1000, (five_us < 1e4) + (five_us < 1e5))) || char(160) ||
            'ms'), '-') || ' | ' || iif(noisy, '~', '') || time_text ||
        ' | ' || iif(five_us > 0, printf('%.*f×', five_us / us < 99.95, round(1.0000000001 * five_us / us, five_us / us < 99.95)), '-') || ' | ' || printf('%.0f', round(1.0000000001 * gb_per_s)) ||
            ' | ' || iif(copy > 0, printf('%.0f', round(1.0000000001 * 100 * gb_per_s / copy)) ||
        char(160) || '%', '-') || ' |' FROM softmax_one
    UNION ALL SELECT 1e12, char(10) || '*fp32; one read and one write counted. ' || text || '*' FROM measured JOIN softmax_run USING (run)
        JOIN this_gpu USING (gpu) WHERE what = 'softmax')
WHERE EXISTS (SELECT 1 FROM softmax_one);

INSERT INTO row
SELECT 'table bf16 ' || D, place, text FROM (
    SELECT DISTINCT D, 0 AS place, '| bf16, D=' || D || ' | N=1024 | N=4096 | of peak at N=4096 |' || char(10) ||
        '|---|--:|--:|--:|' AS text FROM grid_at WHERE who = 'best'
    UNION ALL SELECT a.D, z.tflops, '| ' || iif(a.kind IN ('peer', 'baseline'), coalesce(title, 'Triton, ' || substr(a.name, 8, 2)), replace(a.name, '_', ' ')) ||
        ' | ' || iif(a.noisy, '~', '') || printf('%.0f', round(1.0000000001 * a.tflops)) || ' | ' || iif(z.noisy, '~', '') || printf('%.0f', round(1.0000000001 * z.tflops)) || ' | ' ||
        iif(z.peak > 0, printf('%.0f', round(1.0000000001 * 100 * z.tflops / z.peak)) || char(160) || '%', '-') || ' |'
    FROM grid_at AS a JOIN grid_at AS z USING (who, name, D) LEFT JOIN peer_title USING (name) WHERE who NOT IN ('best', 'first', 'last')
        AND a.N = 1024 AND z.N = 4096
    UNION ALL SELECT DISTINCT grid.D, 1e12, char(10) || '*TFLOP/s; 16384 tokens, H × D = 2048, no mask. ' || text || '*' FROM grid
        JOIN this_gpu USING (gpu) JOIN measured USING (run)
    WHERE dtype = 'bf16' AND causal = 0 AND what = 'attention')
WHERE EXISTS (SELECT 1 FROM grid_at WHERE who = 'best');

INSERT INTO figure SELECT key, group_concat(text, char(10)) FROM (SELECT * FROM row ORDER BY key, place) GROUP BY key;

-- ---- How it was measured -----------------------------------------------------------------------------------------------

CREATE VIEW lesson_row AS SELECT DISTINCT name, kind, substr(name, 1, 2) AS number FROM star;
INSERT INTO figure
SELECT 'reproduce', '- GPU: ' || device || iif(sm_count <> '', ', ' || sm_count || ' SMs', '') || char(10) ||
    (SELECT '- Software: ' || group_concat(DISTINCT 'driver ' || driver || ' and CUDA ' || cuda) || char(10) FROM taken) ||
    (SELECT group_concat('- Run ' || run || ': ' || words || '; ' || replace(substr(time, 1, 16), 'T', ' ') || ', commit ' ||
        commit_name || iif(is_known, '', ' (not in this repository)') || coalesce(', SM clock ' || replace(clock, ' MHz', char(160) || 'MHz'), '') || char(10), '') FROM taken) ||
    coalesce((SELECT '- Counters: ' || group_concat(text, '; ') || char(10) FROM (
        SELECT 'of ' || group_concat(number, ', ') || ' on ' || date || ', commit ' || commit_name AS text FROM (
            SELECT substr(name, 1, 2) AS number, date, commit_name, max(line) FROM counter JOIN this_gpu USING (gpu) WHERE N = 4096
                GROUP BY name) GROUP BY commit_name ORDER BY min(number)) GROUP BY NULL), '') ||
    '- Kernels: ' ||
    coalesce((SELECT 'own ones for ' || group_concat(number, ', ') FROM lesson_row WHERE kind = 'lesson' GROUP BY NULL) ||
        coalesce((SELECT '; the solutions for ' || group_concat(number, ', ') FROM lesson_row WHERE kind = 'solution' GROUP BY NULL),
            ''), 'the solutions') || char(10) ||
    coalesce((SELECT '- Not measured: ' || group_concat(text, '; ') || char(10) FROM (
        SELECT title || ' at ' || group_concat('D=' || D, ' and ') AS text FROM lesson, (SELECT 64 AS D UNION ALL SELECT 128) AS d
            WHERE takes_fp32 AND NOT EXISTS (SELECT 1 FROM star WHERE star.name = folder AND star.D = d.D) GROUP BY folder
        UNION ALL SELECT 'the row softmax' WHERE NOT EXISTS (SELECT 1 FROM softmax_one) UNION ALL SELECT 'the libraries'
            WHERE NOT EXISTS (SELECT 1 FROM beside)
        UNION ALL SELECT 'the ceilings of a copy and of multiply-adds' WHERE (SELECT count(*) FROM figure WHERE key IN ('ceiling copy',
            'ceiling fma_fp32')) < 2
        UNION ALL SELECT 'the counters of Nsight Compute' WHERE NOT EXISTS (SELECT 1 FROM counted)) GROUP BY NULL), '') ||
    iif((SELECT max(noisy) FROM one_text),
        '- ~ marks noisy timings: they spread, or the clock changed, however often they were repeated' || char(10), '') || char(10) ||
    'To measure it again, on this GPU or another:' || char(10, 10) || '```sh' || char(10) ||
    coalesce((SELECT 'git checkout ' || commit_name || '  # the run of ' || replace(substr(time, 1, 16), 'T', ' ') || char(10) FROM taken
        WHERE is_known ORDER BY time DESC LIMIT 1), '') || './setup' || char(10) ||
    'make ' || iif((SELECT max(kind = 'lesson') FROM lesson_row), (SELECT group_concat(kind || '-' || number, ' ') FROM lesson_row) || ' ',
        '') || 'bench' || char(10) ||
    iif(EXISTS (SELECT 1 FROM beside), 'make peers  # PyTorch and Triton' || char(10), '') ||
    iif(EXISTS (SELECT 1 FROM grid_at), 'make peers DTYPE=bf16  # FA3=folder: FlashAttention-3, too' || char(10), '') || iif(EXISTS (SELECT 1 FROM counted),
        'scripts/measure  # all of fp32, and counted' || char(10), '') ||
    'make post' || char(10) || '```'
FROM facts;

SELECT key, text FROM figure;
