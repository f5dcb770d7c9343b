-- The blocks that plots/tables writes into pages, as finished Markdown: block (name, lesson, gpu, place, text). lesson is '' where all
-- pages have the same, else a lesson's folder, or README, results or peers; @up@ stands for the way from the page to the root of the
-- repository.
-- A figure has three digits: printf('%.*f', n, round(1.0000000001 * x, n)), n = (x < 1) + (x < 10) + (x < 100). SQLite 3.45 cuts
-- where it is to print no digit behind the point, so all are rounded first; what lies between two goes up, in every version.

CREATE TABLE block (name, lesson, gpu, place, text);
CREATE VIEW how AS SELECT 'median of interleaved CUDA-event timings' AS how, 'fp32, B=1 H=16 N=4096, no mask' AS shape;

-- ---- The ladder --------------------------------------------------------------------------------------------------------

CREATE VIEW ladder_cell AS
SELECT gpu, run, name, title, D, printf('%.*f', (us < 1e3) + (us < 1e4) + (us < 1e5), round(1.0000000001 * us / 1000, (us < 1e3) + (us < 1e4) + (us < 1e5))) AS ms,
    printf('%.*f', (tflops < 1) + (tflops < 10) + (tflops < 100), round(1.0000000001 * tflops, (tflops < 1) + (tflops < 10) + (tflops < 100))) AS tflops,
    iif(peak > 0, printf('%.0f %%', round(1.0000000001 * 100 * tflops / peak)), '-') AS share,
    iif(over_before > 0, printf('%.*f×', over_before < 99.95, round(1.0000000001 * over_before, over_before < 99.95)), '-') AS over_before,
    iif(over_first > 0, printf('%.*f×', over_first < 99.95, round(1.0000000001 * over_first, over_first < 99.95)), '-') AS over_first
FROM ladder;

CREATE VIEW ladder_pair AS
SELECT gpu, run, name, title, coalesce(at.ms, '-') || ' / ' || coalesce(wide.ms, '-') AS ms, coalesce(at.tflops, '-') || ' / ' ||
    coalesce(wide.tflops, '-') AS tflops,
    coalesce(at.over_before, '-') || ' / ' || coalesce(wide.over_before, '-') AS over_before, coalesce(at.over_first, '-') || ' / ' ||
        coalesce(wide.over_first, '-') AS over_first
FROM (SELECT DISTINCT gpu, run, name, title FROM ladder)
    LEFT JOIN (SELECT * FROM ladder_cell WHERE D = 64) AS at USING (gpu, run, name, title) LEFT JOIN (SELECT * FROM ladder_cell
        WHERE D = 128) AS wide USING (gpu, run, name, title);

INSERT INTO block
SELECT 'ladder', '', gpu, place, text FROM (
    SELECT gpu, 1 AS place, '| lesson | time, ms | TFLOP/s | over the lesson before | over lesson 01 |' || char(10) ||
        '|---|---|---|---|---|' AS text
    FROM ladder_run
    UNION ALL SELECT gpu, 2, '| [' || title || '](@up@lessons/' || name || '/README.md) | ' || ms || ' | ' || tflops || ' | ' ||
        replace(over_before, '- / -', '-') || ' | ' || replace(over_first, '- / -', '-') || ' |' FROM ladder_pair
    UNION ALL SELECT gpu, 3, char(10) || 'Each pair is D=64 / D=128; ' || shape || '; ' || how || '. ' || text || char(10)
    FROM ladder_run JOIN measured_on USING (gpu, run), how WHERE what = 'attention');

INSERT INTO block
SELECT 'measured', name, '0', 1, '| GPU | D | time, ms | TFLOP/s | of the fp32 peak | over the lesson before | over lesson 01 |' ||
    char(10) ||
    '|---|---|---|---|---|---|---|' FROM ladder GROUP BY name;
INSERT INTO block
SELECT 'measured', name, '1' || gpu, 2, '| ' || device || ' | ' || D || ' | ' || ms || ' | ' || tflops || ' | ' || share || ' | ' ||
    over_before || ' | ' ||
    over_first || ' |'
FROM ladder_cell JOIN run USING (gpu, run) WHERE what = 'attention';
INSERT INTO block
SELECT 'measured', name, '2', 3, char(10) || 'Solution; ' || shape || '; ' || how || '. ' || group_concat(text, ' ') || char(10)
FROM (SELECT DISTINCT name, gpu, run FROM ladder) JOIN measured_on USING (gpu, run), how WHERE what = 'attention' GROUP BY name;

-- Lessons of 16 bits: the grid at N=4096, without a mask.
CREATE VIEW grid_cell AS
SELECT g.gpu, g.run, g.name, g.dtype, g.D, g.us, g.tflops, g.peak, before.us / g.us AS over_before, max(other.tflops) AS library
FROM grid AS g LEFT JOIN grid AS before ON before.gpu = g.gpu AND before.run = g.run AND before.dtype = g.dtype AND before.causal = 0
    AND before.Nq = g.Nq AND before.D = g.D
        AND before.kind = 'solution' AND CAST(substr(before.name, 1, 2) AS INTEGER) = CAST(substr(g.name, 1, 2) AS INTEGER) - 1
    LEFT JOIN grid AS other ON other.gpu = g.gpu AND other.run = g.run AND other.dtype = g.dtype AND other.causal = 0 AND other.Nq = g.Nq
        AND other.D = g.D
        AND other.kind IN ('peer', 'baseline') AND other.name NOT LIKE 'triton%'
WHERE g.kind = 'solution' AND g.causal = 0 AND g.Nq = 4096 AND g.name NOT IN (SELECT name FROM ladder) GROUP BY g.gpu, g.name, g.dtype, g.D;
INSERT INTO block
SELECT 'measured', name, '0', 1,
    '| GPU | D | time, ms | TFLOP/s | of the 16-bit peak | over the lesson before | fastest library, TFLOP/s |' || char(10) ||
    '|---|---|---|---|---|---|---|' FROM grid_cell GROUP BY name;
INSERT INTO block
SELECT 'measured', name, '1' || gpu, 2 + D / 1e3, printf('| %s, %s | %d | %.*f | %.*f | %s | %s | %s |', device, dtype, D,
    (us < 1e3) + (us < 1e4) + (us < 1e5), round(1.0000000001 * us / 1000, (us < 1e3) + (us < 1e4) + (us < 1e5)),
    (tflops < 1) + (tflops < 10) + (tflops < 100), round(1.0000000001 * tflops, (tflops < 1) + (tflops < 10) + (tflops < 100)), iif(peak > 0, printf('%.0f %%', round(1.0000000001 * 100 * tflops / peak)), '-'),
    iif(over_before > 0, printf('%.*f×', over_before < 99.95, round(1.0000000001 * over_before, over_before < 99.95)), '-'), iif(library > 0, printf('%.0f', round(1.0000000001 * library)), '-'))
FROM grid_cell JOIN run USING (gpu, run) WHERE what = 'attention';
INSERT INTO block
SELECT 'measured', name, '2', 9, char(10) || 'Solution; B=4 N=4096, H × D = 2048, no mask; ' || how || ' of one run. ' ||
    group_concat(dtype || ', ' || text, ' ') || char(10)
FROM (SELECT DISTINCT name, gpu, run, dtype FROM grid_cell) JOIN measured_on USING (gpu, run), how WHERE what = 'attention' GROUP BY name;

-- The whole grid of a lesson beside the one before it and the library that it is measured by, where they are of one run: a column a length.
CREATE VIEW rival AS
SELECT folder AS name, iif(is_hopper, 'fa3', 'torch_flash') AS library,
    iif(is_hopper, 'FlashAttention-3', 'FlashAttention-2 (PyTorch''s flash path)') AS words
FROM lesson;
CREATE VIEW beside AS
SELECT own.*, other.name AS library, other.us / own.us AS ratio, own.noisy OR other.noisy AS unsteady
FROM grid AS own JOIN grid AS other ON other.kind = 'peer'
    AND (other.gpu, other.run, other.dtype, other.D, other.causal, other.Nq) = (own.gpu, own.run, own.dtype, own.D, own.causal, own.Nq)
WHERE own.kind = 'solution';
CREATE VIEW length_cell AS
SELECT own.gpu, own.run, own.name, own.dtype, own.D, own.causal, own.Nq,
    iif(before.us > 0, printf('%.2f×', before.us / own.us), '-') || ' / ' || iif(beside.us > 0, printf('%.2f×', beside.ratio), '-') ||
        iif(own.noisy OR coalesce(before.noisy, 0) OR coalesce(beside.unsteady, 0), ', noisy', '') AS text
FROM grid AS own JOIN rival USING (name) LEFT JOIN grid AS before ON before.kind = 'solution'
        AND CAST(substr(before.name, 1, 2) AS INTEGER) = CAST(substr(own.name, 1, 2) AS INTEGER) - 1
        AND (before.gpu, before.run, before.dtype, before.D, before.causal, before.Nq)
            = (own.gpu, own.run, own.dtype, own.D, own.causal, own.Nq)
    LEFT JOIN beside ON beside.library = rival.library AND (beside.gpu, beside.run, beside.name, beside.dtype, beside.D, beside.causal,
        beside.Nq) = (own.gpu, own.run, own.name, own.dtype, own.D, own.causal, own.Nq)
WHERE own.kind = 'solution' AND own.name NOT IN (SELECT name FROM ladder) AND (before.us IS NOT NULL OR beside.us IS NOT NULL);
CREATE VIEW length AS SELECT DISTINCT gpu, name, dtype, Nq FROM length_cell;
CREATE VIEW mean_beside AS
SELECT gpu, run, name, dtype, library, printf('%.3f times as fast in the geometric mean of %d shapes, %.3f times at least', exp(avg(ln(ratio))),
    count(*), min(ratio)) AS text
FROM beside GROUP BY gpu, run, name, dtype, library;
INSERT INTO block
SELECT 'lengths', name, gpu || dtype, 1, '| ' || dtype || ' | ' || group_concat('N=' || Nq, ' | ') || ' |' || char(10) ||
    '|---|' || group_concat('---', '|') || '|'
FROM (SELECT * FROM length ORDER BY Nq) GROUP BY gpu, name, dtype;
INSERT INTO block
SELECT 'lengths', name, gpu || dtype, 2 + D + causal / 2.0, printf('| D=%d%s | ', D, iif(causal, ', causal', '')) ||
    group_concat(coalesce(text, '-'), ' | ') || ' |'
FROM (SELECT one.gpu, one.name, one.dtype, one.D, one.causal, cell.text
    FROM (SELECT DISTINCT gpu, name, dtype, D, causal FROM length_cell) AS one JOIN length USING (gpu, name, dtype)
        LEFT JOIN length_cell AS cell USING (gpu, name, dtype, D, causal, Nq) ORDER BY one.D, one.causal, length.Nq)
GROUP BY gpu, name, dtype, D, causal;
INSERT INTO block
SELECT 'lengths', cell.name, gpu || dtype, 1e9, char(10) || 'Each pair is the time of the lesson before / of ' || words || ' over that of ' ||
    'this lesson, so above 1 this one is faster; B × N = 16384, H × D = 2048; ' || how || ' of one run.' ||
    coalesce(' Beside ' || words || ': ' || mean.text || '.', '') || ' ' || group_concat(measured_on.text, ' ') || char(10)
FROM (SELECT DISTINCT name, gpu, run, dtype FROM length_cell) AS cell JOIN measured_on USING (gpu, run) JOIN rival USING (name)
    LEFT JOIN mean_beside AS mean USING (gpu, run, name, dtype, library), how WHERE what = 'attention'
GROUP BY cell.name, gpu, dtype;

-- The last lesson beside each library, shape by shape.
CREATE VIEW last_beside AS
SELECT beside.*, words, rank FROM beside JOIN (SELECT 'fa3' AS library, 'FlashAttention-3' AS words, 1 AS rank UNION ALL
    SELECT 'torch_cudnn', 'cuDNN', 2 UNION ALL SELECT 'torch_flash', 'FlashAttention-2', 3) USING (library)
WHERE name = (SELECT max(folder) FROM lesson);
INSERT INTO block
SELECT 'libraries', '', gpu || dtype, 1, '| ' || dtype || ' | | ' || group_concat('N=' || Nq, ' | ') || ' | geometric mean |' || char(10) ||
    '|---|---|' || group_concat('---', '|') || '|---|'
FROM (SELECT DISTINCT gpu, dtype, Nq FROM last_beside ORDER BY Nq) GROUP BY gpu, dtype;
INSERT INTO block
SELECT 'libraries', '', gpu || dtype, 2 + rank + D / 1e3 + causal / 1e4, printf('| %s | D=%d%s | ', words, D, iif(causal, ', causal', '')) ||
    group_concat(printf('%.2f×', ratio) || iif(unsteady, ', noisy', ''), ' | ') || printf(' | %.3f |', exp(avg(ln(ratio))))
FROM (SELECT * FROM last_beside ORDER BY D, causal, Nq) GROUP BY gpu, dtype, words, D, causal;
INSERT INTO block
SELECT 'libraries', '', gpu || dtype, 2.9 + rank, printf('| %s | all shapes | at least %.3f', words, min(ratio)) ||
    replace(hex(zeroblob(count(DISTINCT Nq))), '00', ' |') || printf(' %.3f |', exp(avg(ln(ratio))))
FROM last_beside GROUP BY gpu, dtype, words;
INSERT INTO block
SELECT 'libraries', '', gpu || dtype, 1e9, char(10) || 'The library''s time over that of lesson ' || substr(name, 1, 2) ||
    '; B × N = 16384, H × D = 2048; ' || how || ' of one run. ' || text || char(10)
FROM (SELECT DISTINCT name, gpu, run, dtype FROM last_beside) JOIN measured_on USING (gpu, run), how WHERE what = 'attention'
GROUP BY gpu, dtype;

-- ---- The row softmax ---------------------------------------------------------------------------------------------------

INSERT INTO block
SELECT 'softmax', '', gpu, place, text FROM (
    SELECT gpu, 1 AS place,
        '| rows × columns | five passes, us | GB/s | one read and one write, us | GB/s | speed-up | of a copy''s GB/s |' || char(10) ||
        '|---|---|---|---|---|---|---|' AS text FROM softmax_run
    UNION ALL SELECT gpu, 2, printf('| %d × %d | %s | %s | %.*f | %.0f | %s | %s |', rows, columns,
        iif(five_us > 0, printf('%.*f', (five_us < 1) + (five_us < 10) + (five_us < 100), round(1.0000000001 * five_us, (five_us < 1) + (five_us < 10) + (five_us < 100))), '-'), iif(five_us > 0, printf('%.0f',
            round(1.0000000001 * five_gb_per_s)), '-'),
        (us < 1) + (us < 10) + (us < 100), round(1.0000000001 * us, (us < 1) + (us < 10) + (us < 100)), round(1.0000000001 * gb_per_s), iif(five_us > 0, printf('%.*f×', five_us / us < 99.95, round(1.0000000001 * five_us / us, five_us / us < 99.95)), '-'),
        iif(copy > 0, printf('%.0f %%', round(1.0000000001 * 100 * gb_per_s / copy)), '-')) FROM softmax
    UNION ALL SELECT gpu, 3, char(10) || 'Solution; fp32; GB/s count one read and one write; ' || how || '. ' || text || char(10)
    FROM softmax_run JOIN measured_on USING (gpu, run), how WHERE what = 'softmax');

-- ---- Counters ----------------------------------------------------------------------------------------------------------

-- 2160000000 and byte -> 2.16 GB, 71.3 and % -> 71 %.
CREATE VIEW counter_text AS
SELECT gpu, name, N, D, metric, device, date, commit_name, line, value, unit,
    CASE WHEN unit = '%' THEN printf('%.0f %%', round(1.0000000001 * value))
        ELSE CASE WHEN power = 0 AND value = CAST(value AS INTEGER) THEN printf('%d', value) ELSE printf('%.3g', value / pow(1000,
            power)) END ||
            rtrim(' ' || substr(' kMGT', power + 1, power > 0) || CASE unit WHEN 'byte' THEN 'B' ELSE '' END) END AS text
FROM (SELECT *, (value >= 999.5) + (value >= 999.5e3) + (value >= 999.5e6) + (value >= 999.5e9) AS power FROM counter
    WHERE kind = 'solution');

CREATE VIEW counter_row AS
SELECT gpu, name, coalesce(words, '`' || metric || '`') AS words, min(coalesce(counter_words.rowid, 1000000 + line)) AS place,
    max(text) FILTER (WHERE D = 64) AS narrow, max(text) FILTER (WHERE D = 128) AS wide,
    max(coalesce(folded = 'folded' OR instr(folded, substr(name, 1, 2)), 0)) AS folded
FROM counter_text LEFT JOIN counter_words USING (metric) WHERE D IN (64, 128) GROUP BY gpu, name, coalesce(words, metric);

CREATE VIEW counter_head AS
SELECT name, gpu, '| Nsight Compute, ' || device || ' |' || iif(has_64, ' D=64 |', '') || iif(has_128, ' D=128 |', '') || char(10) ||
    '|---|' || iif(has_64, '---|', '') || iif(has_128, '---|', '') AS text
FROM (SELECT name, gpu, device, max(D = 64) AS has_64, max(D = 128) AS has_128, max(line) FROM counter_text WHERE D IN (64, 128)
    GROUP BY gpu, name);

-- What no page speaks of is folded away, behind the others; so is, on the page of a lesson, what it does not speak of: the third word
-- of a counter is "folded" or the numbers of such lessons.
INSERT INTO block
SELECT 'profile', name, gpu, place, text FROM (
    SELECT name, gpu, 1 AS place, text FROM counter_head
    UNION ALL SELECT name, gpu, 1e7, char(10) || '<details><summary>More counters</summary>' || char(10) || char(10) || text
    FROM counter_head WHERE EXISTS (SELECT 1 FROM counter_row AS r WHERE r.gpu = counter_head.gpu AND r.name = counter_head.name AND folded)
    UNION ALL SELECT name, gpu, 2e7, char(10) || '</details>'
    FROM counter_head WHERE EXISTS (SELECT 1 FROM counter_row AS r WHERE r.gpu = counter_head.gpu AND r.name = counter_head.name AND folded)
    UNION ALL SELECT name, gpu, 1 + place + folded * 1e7, '| ' || words || ' |' ||
        CASE WHEN max(narrow IS NOT NULL) OVER (PARTITION BY gpu, name) THEN ' ' || coalesce(narrow, '-') || ' |' ELSE '' END ||
        CASE WHEN max(wide IS NOT NULL) OVER (PARTITION BY gpu, name) THEN ' ' || coalesce(wide, '-') || ' |' ELSE '' END
    FROM counter_row
    UNION ALL SELECT name, gpu, 1e9, char(10) || 'Solution; B=1 H=16 N=' || N || ', no mask; ' ||
        (SELECT date || ', commit ' || commit_name FROM counter_text AS c WHERE c.gpu = counter_text.gpu AND c.name = counter_text.name
            ORDER BY line DESC LIMIT 1) ||
            '.' || char(10)
    FROM counter_text WHERE D IN (64, 128) GROUP BY gpu, name);

-- ---- Peers -------------------------------------------------------------------------------------------------------------

CREATE VIEW compared_text AS
SELECT eager, gpu, run, line, printf('| %s | %s | %.*f | %.*f | %s | %.*f | %s | %s | %s |', shape, replace(name, '_', ' '),
    (us < 1) + (us < 10) + (us < 100), round(1.0000000001 * us, (us < 1) + (us < 10) + (us < 100)), (tflops < 1) + (tflops < 10) + (tflops < 100), round(1.0000000001 * tflops, (tflops < 1) + (tflops < 10) + (tflops < 100)), substr(torch, 7),
    (torch_us < 1) + (torch_us < 10) + (torch_us < 100), round(1.0000000001 * torch_us, (torch_us < 1) + (torch_us < 10) + (torch_us < 100)), printf('%.2f×', torch_us / us) || noise,
    iif(efficient_us > 0, printf('%.2f×', efficient_us / us) || noise, '-'), iif(baseline_us > 0, printf('%.2f×', baseline_us / us) ||
        noise, '-')) AS text
FROM (SELECT *, iif(noisy, ', noisy', '') AS noise FROM compared);

INSERT INTO block
SELECT 'peers', '', eager || gpu, place, text FROM (
    SELECT DISTINCT eager, gpu, 0 AS place,
        '| B, H, N, D | fastest solution | us | TFLOP/s | PyTorch''s best | us | speed-up | over memory-efficient | ' ||
        'over cuBLAS + softmax |' || char(10) || '|---|---|---|---|---|---|---|---|---|' AS text FROM compared
    UNION ALL SELECT eager, gpu, line, text FROM compared_text
    UNION ALL SELECT DISTINCT eager, gpu, 1e9, char(10) || 'fp32, ' ||
        iif(eager, 'one call at a time, with what a launch costs the CPU', 'the GPU''s time alone') || '; ' || how || ' of one run. ' ||
            text || char(10)
    FROM (SELECT DISTINCT eager, gpu, run FROM compared) JOIN measured_on USING (gpu, run), how WHERE what = iif(eager, 'eager',
        'attention'));

INSERT INTO block
SELECT 'softmax-peers', '', gpu, place, text FROM (
    SELECT DISTINCT gpu, 0 AS place,
        '| rows × columns | row softmax, us | of a copy''s GB/s | torch.softmax, us | speed-up | over PyTorch in five operations |' ||
        char(10) || '|---|---|---|---|---|---|' AS text FROM softmax_beside WHERE peer = 'torch_softmax'
    UNION ALL SELECT one.gpu, one.line, printf('| %d × %d | %.*f | %.0f %% | %.*f | %s | %s |', one.rows, one.columns,
        (one.us < 1) + (one.us < 10) + (one.us < 100), round(1.0000000001 * one.us, (one.us < 1) + (one.us < 10) + (one.us < 100)), round(1.0000000001 * 100 * one.gb_per_s / one.copy),
            (one.peer_us < 1) + (one.peer_us < 10) + (one.peer_us < 100),
        round(1.0000000001 * one.peer_us, (one.peer_us < 1) + (one.peer_us < 10) + (one.peer_us < 100)), printf('%.2f×', one.peer_us / one.us) || iif(one.noisy, ', noisy', ''),
        iif(five.peer_us > 0, printf('%.2f×', five.peer_us / one.us) || iif(one.noisy, ', noisy', ''), '-'))
    FROM softmax_beside AS one LEFT JOIN softmax_beside AS five ON five.gpu = one.gpu AND five.run = one.run AND five.rows = one.rows
        AND five.columns = one.columns AND five.peer = 'torch_unfused_softmax'
    WHERE one.peer = 'torch_softmax'
    UNION ALL SELECT DISTINCT gpu, 1e9, char(10) || 'Solution 03; fp32; ' || how || ' of one run. ' || text || char(10)
    FROM softmax_beside JOIN measured_on USING (gpu, run), how WHERE what = 'softmax' AND peer = 'torch_softmax');

-- ---- Triton ------------------------------------------------------------------------------------------------------------

INSERT INTO block
SELECT 'triton', name, '0', 1, '| GPU | D | solution, ms | Triton, ms | Triton / solution |' || char(10) || '|---|---|---|---|---|'
FROM beside_triton GROUP BY name;
INSERT INTO block
SELECT 'triton', name, '0' || gpu, 2, printf('| %s | %d | %.*f | %.*f | %.2f×%s |', device, D, (us < 1e3) + (us < 1e4) + (us < 1e5),
    round(1.0000000001 * us / 1000, (us < 1e3) + (us < 1e4) + (us < 1e5)),
    (triton_us < 1e3) + (triton_us < 1e4) + (triton_us < 1e5), round(1.0000000001 * triton_us / 1000, (triton_us < 1e3) + (triton_us < 1e4) + (triton_us < 1e5)), triton_us / us, iif(noisy, ', noisy', ''))
FROM beside_triton JOIN run USING (gpu, run) WHERE what = 'attention';
INSERT INTO block
SELECT 'triton', name, '1', 3, char(10) || 'Triton''s kernel beside the solution; ' || shape || '; ' || how || ' of one run. ' ||
    group_concat(text, ' ') || char(10)
FROM (SELECT DISTINCT name, gpu, run FROM beside_triton) JOIN measured_on USING (gpu, run), how WHERE what = 'attention' GROUP BY name;

-- In 16 bits: the grid at N=4096, without a mask.
CREATE VIEW grid_triton AS
SELECT own.gpu, own.run, own.name, own.dtype, own.D, own.us, triton.us AS triton_us, own.noisy OR triton.noisy AS noisy
FROM grid AS own JOIN grid AS triton USING (gpu, run, dtype, causal, Nq, D)
WHERE own.kind = 'solution' AND triton.kind = 'peer' AND triton.name = 'triton_' || own.name AND causal = 0 AND Nq = 4096;
INSERT INTO block
SELECT 'triton', name, '0', 1, '| GPU | D | solution, ms | Triton, ms | Triton / solution |' || char(10) || '|---|---|---|---|---|'
FROM grid_triton GROUP BY name;
INSERT INTO block
SELECT 'triton', name, '0' || gpu, 2 + D / 1e3, printf('| %s, %s | %d | %.*f | %.*f | %.2f×%s |', device, dtype, D,
    (us < 1e3) + (us < 1e4) + (us < 1e5), round(1.0000000001 * us / 1000, (us < 1e3) + (us < 1e4) + (us < 1e5)),
    (triton_us < 1e3) + (triton_us < 1e4) + (triton_us < 1e5), round(1.0000000001 * triton_us / 1000, (triton_us < 1e3) + (triton_us < 1e4) + (triton_us < 1e5)), triton_us / us, iif(noisy, ', noisy', ''))
FROM grid_triton JOIN run USING (gpu, run) WHERE what = 'attention';
INSERT INTO block
SELECT 'triton', name, '1', 9, char(10) || 'Triton''s kernel beside the solution; B=4 N=4096, H × D = 2048, no mask; ' || how ||
    ' of one run. ' || group_concat(text, ' ') || char(10)
FROM (SELECT DISTINCT name, gpu, run FROM grid_triton) JOIN measured_on USING (gpu, run), how WHERE what = 'attention' GROUP BY name;

INSERT INTO block
SELECT 'triton', name, '2' || gpu, place, text FROM (
    SELECT name, gpu, 0 AS place, '| rows × columns | solution, us | GB/s | Triton, us | GB/s | Triton / solution |' || char(10) ||
        '|---|---|---|---|---|---|' AS text
    FROM softmax_beside WHERE peer = 'triton_' || name GROUP BY name, gpu
    UNION ALL SELECT name, gpu, line, printf('| %d × %d | %.*f | %.0f | %.*f | %.0f | %.2f×%s |', rows, columns,
        (us < 1) + (us < 10) + (us < 100), round(1.0000000001 * us, (us < 1) + (us < 10) + (us < 100)), round(1.0000000001 * gb_per_s),
        (peer_us < 1) + (peer_us < 10) + (peer_us < 100), round(1.0000000001 * peer_us, (peer_us < 1) + (peer_us < 10) + (peer_us < 100)), round(1.0000000001 * peer_gb_per_s), peer_us / us, iif(noisy, ', noisy', ''))
    FROM softmax_beside WHERE peer = 'triton_' || name
    UNION ALL SELECT DISTINCT name, gpu, 1e9, char(10) || 'Triton''s row softmax beside the solution; fp32; ' || how || ' of one run. ' ||
        text || char(10)
    FROM softmax_beside JOIN measured_on USING (gpu, run), how WHERE what = 'softmax' AND peer = 'triton_' || name);

-- ---- Versions ----------------------------------------------------------------------------------------------------------

-- patch (lesson, version, idea): the versions that there are, as plots/tables found them.
CREATE VIEW version_link AS
SELECT lesson, version, idea, '@up@solutions/' || lesson || '/versions/' || version || '.patch' AS address FROM patch;

-- The notes of a solution have a table a shape, with what is known of the code.
INSERT INTO block
SELECT 'versions', version.lesson, gpu, number + us / 1e9, CASE WHEN us > min(us) OVER (PARTITION BY gpu, version.lesson, number) THEN '' ELSE
        iif(number > 1, char(10), '') || 'B,H,N,D = ' || shape || ':' || char(10, 10) ||
        '| version | us | TFLOP/s | time against the solution | registers | spilled, bytes | bank conflicts a multiply-add |' || char(10) ||
        '|---|---|---|---|---|---|---|' || char(10) END ||
    printf('| %s | %.*f | %.*f | %s%s | %s | %s | %s |', iif(address IS NULL, version, '[' || version || '](versions/' || version || '.patch)'),
        (us < 1) + (us < 10) + (us < 100), round(1.0000000001 * us, (us < 1) + (us < 10) + (us < 100)), (tflops < 1) + (tflops < 10) + (tflops < 100), round(1.0000000001 * tflops, (tflops < 1) + (tflops < 10) + (tflops < 100)),
        iif(version = 'solution', '-', printf('%+.1f %%', 100 * (over_solution - 1))), iif(noisy, ', noisy', ''), registers, spilled,
            bank_conflicts)
FROM version LEFT JOIN version_link USING (lesson, version);

-- A lesson's page has one table: a version a row, what is changed, and its time at each shape. Those that cost most come last; one
-- whose patch has gone is part of the solution by now.
CREATE VIEW ablation_row AS
SELECT gpu, lesson, version, dense_rank() OVER (PARTITION BY gpu, lesson ORDER BY version <> 'solution', average, version) AS place,
    coalesce('[' || idea || '](' || address || ')', 'the solution, us') AS what,
    (SELECT group_concat(text, ' | ') FROM (
        SELECT coalesce(CASE WHEN version.version IS NULL THEN NULL
            WHEN version.version = 'solution' THEN printf('%.*f', (us < 1) + (us < 10) + (us < 100), round(1.0000000001 * us, (us < 1) + (us < 10) + (us < 100)))
            ELSE printf('%+.1f %%', 100 * (over_solution - 1)) || iif(noisy, ', noisy', '') END, '-') AS text
        FROM (SELECT DISTINCT number AS at FROM version AS v WHERE v.gpu = one.gpu AND v.lesson = one.lesson) LEFT JOIN version
            ON version.gpu = one.gpu AND version.lesson = one.lesson AND version.version = one.version AND number = at
        ORDER BY at)) AS times, code,
    iif(counted = '-', '', printf('`%s`: %,d, not %,d', counter, counted, counted_solution)) AS moved
FROM (SELECT gpu, lesson, version, avg(over_solution) AS average, counter, counted, counted_solution, max(D),
        registers || iif(spilled, ', ' || spilled || ' B spilled', '') AS code
    FROM version GROUP BY gpu, lesson, version) AS one LEFT JOIN version_link USING (lesson, version)
WHERE version = 'solution' OR idea IS NOT NULL;

INSERT INTO block
SELECT 'ablation', lesson, gpu, place, text FROM (
    SELECT gpu, lesson, 0 AS place, '| what is changed | ' || group_concat(shape, ' | ') || ' | registers at D=' || max(D) ||
        ' | what the trace counts |' || char(10) || '|---|' || group_concat('---', '|') || '|---|---|' AS text
    FROM (SELECT DISTINCT gpu, lesson, number, shape, D FROM version ORDER BY number) GROUP BY gpu, lesson
    UNION ALL SELECT gpu, lesson, place, printf('| %s | %s | %s | %s |', what, times, code, moved) FROM ablation_row);

-- Of what both say.
CREATE VIEW version_how AS
SELECT version_gpu AS gpu, lesson, group_concat(DISTINCT dtype) || iif(max(causal), '', ', no mask') || '; ' || how || ' of one run a shape. ' || text AS text
FROM (SELECT gpu AS version_gpu, lesson, dtype, causal, first_value(run) OVER (PARTITION BY gpu, lesson ORDER BY time DESC) AS newest FROM version)
    JOIN measured_on ON what = 'versions' AND measured_on.gpu = version_gpu AND measured_on.run = newest, how GROUP BY version_gpu, lesson;
INSERT INTO block
SELECT name, lesson, gpu, 1e9, char(10) || iif(name = 'ablation', 'B,H,N,D; ', '') || text || char(10)
FROM version_how, (SELECT 'versions' AS name UNION ALL SELECT 'ablation');

-- ---- Segments of a step ------------------------------------------------------------------------------------------------

-- A row a segment, a column a lesson's kernel at a head dimension; a table without a mask, and one with it.
INSERT INTO block
SELECT 'steps', '', gpu, causal + place / 1e3, iif(place = 1 AND causal, '<details><summary>With a mask</summary>' || char(10, 10), '') ||
    text || iif(place = 99 AND causal, char(10) || '</details>' || char(10), '') FROM (
    SELECT gpu, causal, 1 AS place, '| cycles | ' || group_concat('D=' || D || ', lesson ' || substr(lesson, 1, 2), ' | ') || ' |' || char(10) ||
        '|---|' || group_concat('---', '|') || '|' AS text
    FROM (SELECT DISTINCT gpu, causal, number, D, lesson FROM segment ORDER BY number) GROUP BY gpu, causal
    UNION ALL SELECT gpu, causal, 2 + place, '| ' || text || ' | ' || (SELECT group_concat(value, ' | ') FROM (
            SELECT coalesce(step_row.value, '-') AS value
            FROM (SELECT DISTINCT number FROM segment WHERE segment.gpu = one.gpu AND segment.causal = one.causal) AS at LEFT JOIN step_row
                ON step_row.gpu = one.gpu AND step_row.causal = one.causal AND step_row.number = at.number AND step_row.place = one.place
            ORDER BY at.number)) || ' |'
    FROM (SELECT DISTINCT gpu, causal, place, text FROM step_row) AS one
    UNION ALL SELECT gpu, causal, 99, char(10) || 'Mean of all steps that are not an item''s first and hide no keys; bf16; B,H,N,D = ' ||
        (SELECT group_concat(shape, ' and ') FROM (SELECT DISTINCT shape FROM segment WHERE segment.gpu = one.gpu AND
            segment.causal = one.causal ORDER BY D)) || iif(causal, ', causal', ', no mask') || '. ' || text || char(10)
    FROM (SELECT DISTINCT gpu, run, causal FROM segment) AS one JOIN measured_on USING (gpu, run) WHERE what = 'steps');

-- ---- Charts ------------------------------------------------------------------------------------------------------------

-- What plots/draw --readme has drawn: charts_file (gpu, text), lines of "name, title, caption, alternative, figures", tab-separated.
CREATE VIEW drawn AS
SELECT gpu, place, json_extract(cells, '$[0]') AS name,
    replace(replace(replace(json_extract(cells, '$[3]'), '&', '&amp;'), '"', '&quot;'), '<', '&lt;') AS alt
FROM (SELECT gpu, line.key AS place, '[' || replace(json_quote(line.value), '\t', '","') || ']' AS cells
    FROM charts_file, json_each('[' || replace(json_quote(rtrim(text, char(10))), '\n', '","') || ']') AS line);

-- README.md shows the ladder, the page of the peers what is beside them, a lesson's page what its bytes are about, results/MEASURED.md all.
INSERT INTO block
SELECT iif(drawn.name = 'softmax' AND page <> 'results', 'softmax', 'charts'), page, gpu, place / 1e3,
    '<img alt="' || alt || '" src="@up@plots/charts/' || gpu || '/' || drawn.name || '.svg" width="440">' || char(10)
FROM drawn JOIN (SELECT 'README' AS page, '["ladder-d64"]' AS names UNION ALL SELECT 'peers', '["tflops-bf16-d128"]'
    UNION ALL SELECT folder, '["limits-d64","bytes-d64","softmax"]' FROM lesson UNION ALL SELECT 'results', (SELECT json_group_array(name)
        FROM drawn)) AS shown
    ON drawn.name IN (SELECT value FROM json_each(names));

-- ---- What is not measured ----------------------------------------------------------------------------------------------

INSERT INTO block
SELECT name, folder, '', 1, 'Not measured yet: ' || text || char(10)
FROM (SELECT 'ladder' AS name, '' AS folder, '`make bench` does it on a GPU.' AS text UNION ALL SELECT 'softmax', '',
    '`make bench` does it on a GPU.'
    UNION ALL SELECT 'measured', folder, '`make bench` does it on a GPU.' FROM lesson
    UNION ALL SELECT 'lengths', folder, '`make peers` does it, on a GPU with PyTorch and FlashAttention-3.' FROM lesson
    UNION ALL SELECT 'libraries', '', '`make peers` does it, on a GPU with PyTorch and FlashAttention-3.'
    UNION ALL SELECT 'peers', '', '`make peers` does it, on a GPU with PyTorch.'
    UNION ALL SELECT 'softmax-peers', '', '`make peers` does it, on a GPU with PyTorch.'
    UNION ALL SELECT 'steps', '', '`scripts/stamps` does it, on a GPU.'
    UNION ALL SELECT 'triton', folder, '`make peers` does it, on a GPU with PyTorch and Triton.' FROM lesson
    UNION ALL SELECT DISTINCT name, lesson, '`scripts/versions ' || substr(lesson, 1, 2) || '` does it, on a GPU.'
    FROM patch, (SELECT 'versions' AS name UNION ALL SELECT 'ablation')
    UNION ALL SELECT 'charts', page, 'nothing is charted.' FROM (SELECT 'README' AS page UNION ALL SELECT 'peers'
        UNION ALL SELECT 'results' UNION ALL SELECT folder FROM lesson)) AS missing
WHERE NOT EXISTS (SELECT 1 FROM block WHERE block.name = missing.name AND block.lesson = missing.folder);

SELECT name, lesson, text FROM block ORDER BY name, lesson, gpu, place, rowid;
