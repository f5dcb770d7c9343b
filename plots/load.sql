-- Results as tables. plots/load runs this after it has filled source (gpu, what, file, text): one row a CSV file, its text
-- whole. A row that cannot be right stands in bad_row, and then nothing that is read here may be used.

-- ---- Files to cells --------------------------------------------------------------------------------------------------

CREATE TABLE line AS
SELECT gpu, what, file, l.key + 1 AS line, rtrim(l.value, char(13)) AS text
FROM source, json_each('[' || replace(json_quote(rtrim(source.text, char(10, 13))), '\n', '","') || ']') AS l;

CREATE TABLE cell AS
SELECT gpu, what, file, line, c.key AS place, c.value AS value
FROM line, json_each('[' || replace(json_quote(line.text), ',', '","') || ']') AS c;

CREATE TABLE header AS SELECT gpu, what, file, place, value AS name FROM cell WHERE line = 1;

CREATE TABLE field AS
SELECT cell.gpu, cell.what, cell.file, line, header.name, cell.value
FROM cell JOIN header USING (gpu, what, place) WHERE line > 1;

-- ---- What a row has to be ----------------------------------------------------------------------------------------------

-- Which columns a file must have; the pattern of a column holds wherever the column is.
CREATE TABLE needed (what, name);
INSERT INTO needed
SELECT w.value, n.value
FROM (SELECT 'attention attention-eager' AS kinds, 'run lesson device driver cuda dtype causal peak_tflops date commit cache noise B H Hkv
    Nq Nk D median_us repeats tflops' AS names
    UNION ALL SELECT 'softmax', 'run lesson device driver cuda dtype copy_gb_per_s date commit noise rows columns median_us repeats gb_per_s'
    UNION ALL SELECT 'versions', 'run version device driver cuda spill_stores spill_loads bank_conflicts date commit noise B H Nq Nk D
    median_us repeats tflops registers'
    UNION ALL SELECT 'ceilings', 'run device what unit date commit median repeats'
    UNION ALL SELECT 'profile', 'lesson device causal metric unit value date commit B H Nq Nk D') AS wanted,
    json_each('["' || replace(kinds, ' ', '","') || '"]') AS w,
    json_each('["' || replace(replace(replace(names, char(10), ''), '    ', ' '), ' ', '","') || '"]') AS n;

CREATE TABLE form (name, pattern, kind);
INSERT INTO form VALUES
    ('run', '^.', 'the name of a run'),
    ('lesson', '^((solution|lesson)-[0-9][0-9]_[a-z0-9_]+|(baseline|peer)-[a-z0-9_]+|kernel-.+|unfused_softmax)$', 'the name of a lesson'),
    ('version', '^[a-z0-9][-a-z0-9]*$', 'the name of a version'),
    ('bank_conflicts', '^(-|[0-9.]+)$', 'a number, or -'),
    ('device', '^[A-Za-z0-9][-A-Za-z0-9 ._+()/]*$', 'the name of a GPU'),
    ('commit', '^[-0-9A-Za-z._]+$', 'the name of a commit'),
    ('cache', '^(cold|warm)$', 'cold or warm'),
    ('noise', '^(steady|noisy)$', 'steady or noisy'),
    ('causal', '^[01]$', '0 or 1'),
    ('layout', '^(bhnd|bnhd)$', 'bhnd or bnhd'),
    ('lse', '^[01]$', '0 or 1'),
    ('date', '^[0-9][0-9][0-9][0-9]-[0-9][0-9]-[0-9][0-9]', 'YYYY-MM-DD'),
    ('value', '^[0-9]+(\.[0-9]*)?([eE][-+]?[0-9]+)?$', 'a number');
INSERT INTO form
SELECT value, '^[0-9]*[1-9][0-9]*(\.[0-9]*)?([eE][-+]?[0-9]+)?$|^0+\.0*[1-9][0-9]*([eE][-+]?[0-9]+)?$', 'a number above zero'
FROM json_each('["B","H","Hkv","Nq","Nk","D","rows","columns","median_us","median","repeats","tflops","registers"]');

CREATE VIEW bad_row AS
SELECT file, 1 AS line, 'the header has no column ''' || name || '''; move this file away and measure again' AS fault
FROM source JOIN needed USING (what)
WHERE NOT EXISTS (SELECT 1 FROM header WHERE header.file = source.file AND header.name = needed.name)
UNION ALL
SELECT file, line, count(*) || ' fields where the header has ' || columns || '; mend or delete this line'
FROM cell JOIN (SELECT file, count(*) AS columns FROM header GROUP BY file) USING (file)
GROUP BY file, line HAVING count(*) <> columns
UNION ALL
SELECT file, line, name || ' is ''' || value || ''', not ' || kind || '; mend or delete this line'
FROM field JOIN form USING (name) WHERE value NOT REGEXP pattern
UNION ALL
SELECT file, line, 'gb_per_s is ''' || value || ''', not a number above zero; mend or delete this line'
FROM field WHERE what = 'softmax' AND name = 'gb_per_s' AND NOT CAST(value AS REAL) > 0;

-- ---- Rows ----------------------------------------------------------------------------------------------------------------

-- A timing of attention. kind is solution, lesson, peer, baseline or kernel, name what follows it. eager: what a launch costs the
-- CPU is in it.
CREATE TABLE timing AS
SELECT gpu, line, what = 'attention-eager' AS eager, run, substr(lesson, 1, instr(lesson, '-') - 1) AS kind,
    substr(lesson, instr(lesson, '-') + 1) AS name, device, sm_count, driver, cuda, dtype, B, H, Hkv, Nq, Nk, D, causal, us, tflops,
    peak, date, commit_name, cache, noise = 'noisy' AS noisy, clock_1, clock_2,
    coalesce(layout, 'bhnd') = 'bhnd' AND coalesce(lse, '0') = '0' AND Hkv = H AND Nq = Nk AS usual
FROM (
    SELECT gpu, what, line,
        max(value) FILTER (WHERE name = 'run') AS run,
        max(value) FILTER (WHERE name = 'lesson') AS lesson,
        max(value) FILTER (WHERE name = 'device') AS device,
        max(value) FILTER (WHERE name = 'sm_count') AS sm_count,
        max(value) FILTER (WHERE name = 'driver') AS driver,
        max(value) FILTER (WHERE name = 'cuda') AS cuda,
        max(value) FILTER (WHERE name = 'dtype') AS dtype,
        CAST(max(value) FILTER (WHERE name = 'B') AS INTEGER) AS B,
        CAST(max(value) FILTER (WHERE name = 'H') AS INTEGER) AS H,
        CAST(max(value) FILTER (WHERE name = 'Hkv') AS INTEGER) AS Hkv,
        CAST(max(value) FILTER (WHERE name = 'Nq') AS INTEGER) AS Nq,
        CAST(max(value) FILTER (WHERE name = 'Nk') AS INTEGER) AS Nk,
        CAST(max(value) FILTER (WHERE name = 'D') AS INTEGER) AS D,
        CAST(max(value) FILTER (WHERE name = 'causal') AS INTEGER) AS causal,
        CAST(max(value) FILTER (WHERE name = 'median_us') AS REAL) AS us,
        CAST(max(value) FILTER (WHERE name = 'tflops') AS REAL) AS tflops,
        CAST(max(value) FILTER (WHERE name = 'peak_tflops') AS REAL) AS peak,
        max(value) FILTER (WHERE name = 'date') AS date,
        max(value) FILTER (WHERE name = 'commit') AS commit_name,
        max(value) FILTER (WHERE name = 'cache') AS cache,
        max(value) FILTER (WHERE name = 'noise') AS noise,
        CAST(max(value) FILTER (WHERE name = 'sm_clock_before_mhz') AS INTEGER) AS clock_1,
        CAST(max(value) FILTER (WHERE name = 'sm_clock_after_mhz') AS INTEGER) AS clock_2,
        max(value) FILTER (WHERE name = 'layout') AS layout,
        max(value) FILTER (WHERE name = 'lse') AS lse
    FROM field WHERE what IN ('attention', 'attention-eager') GROUP BY gpu, what, line);

-- A timing of the row softmax. way: "five" passes, a solution or a lesson, or a peer's name.
CREATE TABLE softmax_timing AS
SELECT gpu, line, run, CASE WHEN lesson = 'unfused_softmax' THEN 'five' ELSE substr(lesson, 1, instr(lesson, '-') - 1) END AS kind,
    substr(lesson, instr(lesson, '-') + 1) AS name, device, sm_count, driver, cuda, rows, columns, us, gb_per_s, nullif(copy, 0.0) AS copy,
    date, commit_name, noise = 'noisy' AS noisy, clock_1, clock_2
FROM (
    SELECT gpu, line,
        max(value) FILTER (WHERE name = 'run') AS run,
        max(value) FILTER (WHERE name = 'lesson') AS lesson,
        max(value) FILTER (WHERE name = 'device') AS device,
        max(value) FILTER (WHERE name = 'sm_count') AS sm_count,
        max(value) FILTER (WHERE name = 'driver') AS driver,
        max(value) FILTER (WHERE name = 'cuda') AS cuda,
        max(value) FILTER (WHERE name = 'dtype') AS dtype,
        CAST(max(value) FILTER (WHERE name = 'rows') AS INTEGER) AS rows,
        CAST(max(value) FILTER (WHERE name = 'columns') AS INTEGER) AS columns,
        CAST(max(value) FILTER (WHERE name = 'median_us') AS REAL) AS us,
        CAST(max(value) FILTER (WHERE name = 'gb_per_s') AS REAL) AS gb_per_s,
        CAST(max(value) FILTER (WHERE name = 'copy_gb_per_s') AS REAL) AS copy,
        max(value) FILTER (WHERE name = 'date') AS date,
        max(value) FILTER (WHERE name = 'commit') AS commit_name,
        max(value) FILTER (WHERE name = 'noise') AS noise,
        CAST(max(value) FILTER (WHERE name = 'sm_clock_before_mhz') AS INTEGER) AS clock_1,
        CAST(max(value) FILTER (WHERE name = 'sm_clock_after_mhz') AS INTEGER) AS clock_2
    FROM field WHERE what = 'softmax' GROUP BY gpu, line)
WHERE dtype = 'fp32';

-- What a GPU reached in a copy and in arithmetic alone; of several of a run the last counts.
CREATE TABLE ceiling AS
SELECT gpu, run, what, unit, median, date, max(line) AS line
FROM (
    SELECT gpu, line,
        max(value) FILTER (WHERE name = 'run') AS run,
        max(value) FILTER (WHERE name = 'what') AS what,
        max(value) FILTER (WHERE name = 'unit') AS unit,
        CAST(max(value) FILTER (WHERE name = 'median') AS REAL) AS median,
        max(value) FILTER (WHERE name = 'date') AS date
    FROM field WHERE what = 'ceilings' GROUP BY gpu, line)
GROUP BY gpu, run, what;

-- What Nsight Compute counted at B=1 H=16; of several the last counts.
CREATE TABLE counter AS
SELECT gpu, substr(lesson, 1, instr(lesson, '-') - 1) AS kind, substr(lesson, instr(lesson, '-') + 1) AS name, N, D, metric, unit, value,
    device, date, commit_name, max(line) AS line
FROM (
    SELECT gpu, line,
        max(value) FILTER (WHERE name = 'lesson') AS lesson,
        max(value) FILTER (WHERE name = 'device') AS device,
        CAST(max(value) FILTER (WHERE name = 'B') AS INTEGER) AS B,
        CAST(max(value) FILTER (WHERE name = 'H') AS INTEGER) AS H,
        CAST(max(value) FILTER (WHERE name = 'Nq') AS INTEGER) AS N,
        CAST(max(value) FILTER (WHERE name = 'Nk') AS INTEGER) AS Nk,
        CAST(max(value) FILTER (WHERE name = 'D') AS INTEGER) AS D,
        CAST(max(value) FILTER (WHERE name = 'causal') AS INTEGER) AS causal,
        max(value) FILTER (WHERE name = 'metric') AS metric,
        max(value) FILTER (WHERE name = 'unit') AS unit,
        CAST(max(value) FILTER (WHERE name = 'value') AS REAL) AS value,
        substr(max(value) FILTER (WHERE name = 'date'), 1, 10) AS date,
        max(value) FILTER (WHERE name = 'commit') AS commit_name
    FROM field WHERE what = 'profile' GROUP BY gpu, line)
WHERE B = 1 AND H = 16 AND N = Nk AND causal = 0
GROUP BY gpu, lesson, N, D, metric;

CREATE TABLE version_timing AS
SELECT gpu, line,
    max(value) FILTER (WHERE name = 'run') AS run,
    max(value) FILTER (WHERE name = 'version') AS version,
    max(value) FILTER (WHERE name = 'device') AS device,
    max(value) FILTER (WHERE name = 'driver') AS driver,
    max(value) FILTER (WHERE name = 'cuda') AS cuda,
    max(value) FILTER (WHERE name = 'B') || ',' || max(value) FILTER (WHERE name = 'H') || ',' || max(value) FILTER (WHERE name = 'Nq') || ',' ||
        max(value) FILTER (WHERE name = 'D') AS shape,
    CAST(max(value) FILTER (WHERE name = 'median_us') AS REAL) AS us,
    CAST(max(value) FILTER (WHERE name = 'tflops') AS REAL) AS tflops,
    max(value) FILTER (WHERE name = 'noise') = 'noisy' AS noisy,
    max(value) FILTER (WHERE name = 'registers') AS registers,
    CAST(max(value) FILTER (WHERE name = 'spill_stores') AS INTEGER) + CAST(max(value) FILTER (WHERE name = 'spill_loads') AS INTEGER) AS spilled,
    max(value) FILTER (WHERE name = 'bank_conflicts') AS bank_conflicts,
    max(value) FILTER (WHERE name = 'date') AS date,
    max(value) FILTER (WHERE name = 'commit') AS commit_name,
    CAST(max(value) FILTER (WHERE name = 'sm_clock_before_mhz') AS INTEGER) AS clock_1,
    CAST(max(value) FILTER (WHERE name = 'sm_clock_after_mhz') AS INTEGER) AS clock_2
FROM field WHERE what = 'versions' GROUP BY gpu, line;
