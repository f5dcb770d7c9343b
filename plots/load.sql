-- Results as tables. plots/load runs this after it has filled source (gpu, what, file, text), which has one row per CSV file with
-- its complete text. The view invalid_row lists invalid rows; if it is not empty, plots/load rejects the results.

-- ---- Lessons -----------------------------------------------------------------------------------------------------------

-- folder (name): the lessons' folders. takes_fp32 and is_hopper are read from the source of the solution.
CREATE TABLE lesson AS
SELECT name AS folder, substr(name, 1, 2) AS number, replace(name, '_', ' ') AS title, rtrim(coalesce(idea, ''), char(10)) AS idea,
    rtrim(coalesce(hours, ''), char(10)) AS hours, coalesce(code REGEXP '\.dtypes = [^\n]*ATTENTION_FP32', 1) AS takes_fp32,
    instr(char(10) || code, char(10) || '// architecture: sm_90a' || char(10)) > 0 AS is_hopper
FROM (SELECT name, CAST(readfile('solutions/' || name || '/attention.cu') AS TEXT) AS code,
    CAST(readfile('lessons/' || name || '/idea') AS TEXT) AS idea,
    CAST(readfile('lessons/' || name || '/hours') AS TEXT) AS hours FROM folder);

-- ---- Files to cells --------------------------------------------------------------------------------------------------

CREATE TABLE line AS
SELECT gpu, what, file, l.key + 1 AS line, rtrim(l.value, char(13)) AS text
FROM source, json_each('[' || replace(json_quote(rtrim(source.text, char(10, 13))), '\n', '","') || ']') AS l;

CREATE TABLE cell AS
SELECT gpu, what, file, line, c.key AS position, c.value AS value
FROM line, json_each('[' || replace(json_quote(line.text), ',', '","') || ']') AS c;

CREATE TABLE header AS SELECT gpu, what, file, position, value AS name FROM cell WHERE line = 1;

CREATE TABLE field AS
SELECT cell.gpu, cell.what, cell.file, line, header.name, cell.value
FROM cell JOIN header USING (gpu, what, position) WHERE line > 1;

-- ---- Validation of rows -------------------------------------------------------------------------------------------------

-- required_column: the columns that a file must have. column_format: the pattern of a column, in all files that have the column.
CREATE TABLE required_column (what, name);
INSERT INTO required_column
SELECT w.value, n.value
FROM (SELECT 'attention attention-eager' AS kinds, 'run lesson device driver cuda dtype causal peak_tflops date commit cache noise B H Hkv
    Nq Nk D median_us repeats tflops' AS names
    UNION ALL SELECT 'softmax', 'run lesson device driver cuda dtype copy_gb_per_s date commit noise rows columns median_us repeats gb_per_s'
    UNION ALL SELECT 'ablations', 'run ablation device driver cuda spill_stores spill_loads bank_conflicts date commit noise B H Nq Nk D
    median_us repeats tflops registers'
    UNION ALL SELECT 'steps', 'run lesson device driver cuda dtype B H Nq Nk D causal warpgroups queries keys segment cycles steps
    over_solution date commit'
    UNION ALL SELECT 'libraries', 'run lesson device version date'
    UNION ALL SELECT 'units', 'lesson device dtype B H Nq Nk D causal kernels tensor_instructions ffma tf32_operations fp16_operations
    bf16_operations date commit'
    UNION ALL SELECT 'ceilings', 'run device what unit date commit median repeats'
    UNION ALL SELECT 'profile', 'lesson device causal metric unit value date commit B H Nq Nk D') AS preferred_kind,
    json_each('["' || replace(kinds, ' ', '","') || '"]') AS w,
    json_each('["' || replace(replace(replace(names, char(10), ''), '    ', ' '), ' ', '","') || '"]') AS n;

CREATE TABLE column_format (name, pattern, kind);
INSERT INTO column_format VALUES
    ('run', '^.', 'the name of a run'),
    ('lesson', '^((solution|lesson)-[0-9][0-9]_[a-z0-9_]+|(baseline|peer)-[a-z0-9_]+|kernel-.+|unfused_softmax)$', 'the name of a lesson'),
    ('dtype', '^(fp32|fp16|bf16)(-inexact)?$', 'an element type'),
    ('ffma', '^[0-9]+$', 'a count'),
    ('tensor_instructions', '^[0-9]*$', 'a count, or empty'),
    ('tf32_operations', '^[0-9]*$', 'a count, or empty'),
    ('fp16_operations', '^[0-9]*$', 'a count, or empty'),
    ('bf16_operations', '^[0-9]*$', 'a count, or empty'),
    ('version', '^[A-Za-z][^;]* [^; ]+(; [A-Za-z][^;]* [^; ]+)*$', 'names of libraries, each with its version'),
    ('ablation', '^[a-z0-9][-a-z0-9]*$', 'the name of an ablation'),
    ('bank_conflicts', '^(-|[0-9.]+)$', 'a number, or -'),
    ('counter', '^(-|[a-z_]+)$', 'the name of a counter, or -'),
    ('counted', '^(-|[0-9.]+)$', 'a number, or -'),
    ('counted_solution', '^(-|[0-9.]+)$', 'a number, or -'),
    ('segment', '^(turn|ask|scores|vote|early|products|weights|rounding)$', 'the name of a segment'),
    ('cycles', '^[0-9]+(\.[0-9]*)?$', 'a number'),
    ('device', '^[A-Za-z0-9][-A-Za-z0-9 ._+()/]*$', 'the name of a GPU'),
    ('commit', '^[-0-9A-Za-z._]+$', 'the name of a commit'),
    ('cache', '^(cold|warm)$', 'cold or warm'),
    ('noise', '^(steady|noisy)$', 'steady or noisy'),
    ('causal', '^[01]$', '0 or 1'),
    ('layout', '^(bhnd|bnhd)$', 'bhnd or bnhd'),
    ('lse', '^[01]$', '0 or 1'),
    ('date', '^[0-9][0-9][0-9][0-9]-[0-9][0-9]-[0-9][0-9]', 'YYYY-MM-DD'),
    ('value', '^[0-9]+(\.[0-9]*)?([eE][-+]?[0-9]+)?$', 'a number');
INSERT INTO column_format
SELECT value, '^([0-9]*[1-9][0-9]*(\.[0-9]*)?|0+\.0*[1-9][0-9]*)([eE][-+]?[0-9]+)?$', 'a number above zero'
FROM json_each('["B","H","Hkv","Nq","Nk","D","rows","columns","median_us","median","repeats","tflops","registers","warpgroups","queries",
    "keys","steps","over_solution"]');

CREATE VIEW invalid_row AS
SELECT file, 1 AS line, 'the header has no column ''' || name || '''; move this file away and measure again' AS error
FROM source JOIN required_column USING (what)
WHERE NOT EXISTS (SELECT 1 FROM header WHERE header.file = source.file AND header.name = required_column.name)
UNION ALL
SELECT file, line, count(*) || ' fields, but the header has ' || columns || '; fix or delete this line'
FROM cell JOIN (SELECT file, count(*) AS columns FROM header GROUP BY file) USING (file)
GROUP BY file, line HAVING count(*) <> columns
UNION ALL
SELECT file, line, name || ' is ''' || value || ''', not ' || kind || '; fix or delete this line'
FROM field JOIN column_format USING (name) WHERE value NOT REGEXP pattern
UNION ALL
SELECT file, line, 'device is ''' || value || ''' in the folder of an ' || device || '; move or delete this line'
FROM field JOIN (SELECT gpu, value AS device, max(rows) FROM (SELECT gpu, value, count(*) AS rows FROM field WHERE name = 'device'
    GROUP BY gpu, value) GROUP BY gpu) USING (gpu)
WHERE name = 'device' AND value <> device
UNION ALL
SELECT file, line, 'gb_per_s is ''' || value || ''', not a number above zero; fix or delete this line'
FROM field WHERE what = 'softmax' AND name = 'gb_per_s' AND NOT CAST(value AS REAL) > 0;

-- ---- Rows ---------------------------------------------------------------------------------------------------------------

-- One row per row of any file: the common columns, and f, a JSON object of all fields. A missing dtype means fp32, a missing causal
-- means no mask.
CREATE TABLE record AS
SELECT source, gpu, line, f, f->>'run' AS run, f->>'device' AS device, f->>'sm_count' AS sm_count, f->>'driver' AS driver,
    f->>'cuda' AS cuda, f->>'date' AS date, f->>'commit' AS commit_name, f->>'sm_clock_before_mhz' + 0 AS clock_1,
    f->>'sm_clock_after_mhz' + 0 AS clock_2, f->>'noise' = 'noisy' AS noisy, coalesce(f->>'dtype', 'fp32') AS dtype, f->>'B' + 0 AS B,
    f->>'H' + 0 AS H, f->>'Nq' + 0 AS Nq, f->>'D' + 0 AS D, coalesce(f->>'causal', 0) + 0 AS causal, f->>'median_us' + 0.0 AS us,
    f->>'tflops' + 0.0 AS tflops,
    iif(f->>'lesson' = 'unfused_softmax', 'five', substr(f->>'lesson', 1, instr(f->>'lesson', '-') - 1)) AS kind,
    substr(f->>'lesson', instr(f->>'lesson', '-') + 1) AS name
FROM (SELECT gpu, what AS source, line, json_group_object(name, value) AS f FROM field GROUP BY gpu, what, line);

-- A timing of attention. kind: solution, lesson, peer, baseline or kernel; name: the rest of the column lesson. eager: the time includes
-- the launch overhead of the CPU. number: the lesson's number. is_standard: layout bhnd, Nq = Nk, H = Hkv, no lse output; rows of
-- older files, which lack the columns, are standard.
CREATE TABLE timing AS
SELECT *, CAST(name AS INTEGER) AS number, layout = 'bhnd' AND lse = 0 AND Hkv = H AND Nq = Nk AS is_standard
FROM (
    SELECT *, source = 'attention-eager' AS eager, f->>'Hkv' + 0 AS Hkv, f->>'Nk' + 0 AS Nk, f->>'peak_tflops' + 0.0 AS peak,
        f->>'cache' AS cache, coalesce(f->>'layout', 'bhnd') AS layout, coalesce(f->>'lse', 0) + 0 AS lse
    FROM record WHERE source IN ('attention', 'attention-eager'));

-- A timing of the row softmax. kind: five (the version with five passes), solution, lesson or peer.
CREATE TABLE softmax_timing AS
SELECT *, f->>'rows' + 0 AS rows, f->>'columns' + 0 AS columns, f->>'gb_per_s' + 0.0 AS gb_per_s,
    nullif(f->>'copy_gb_per_s' + 0.0, 0) AS copy
FROM record WHERE source = 'softmax' AND dtype = 'fp32';

-- The measured ceilings of a GPU: bandwidth of a copy, and FLOP/s of arithmetic without loads. The last row of a run is used.
CREATE TABLE ceiling AS
SELECT gpu, run, f->>'what' AS what, f->>'unit' AS unit, f->>'median' + 0.0 AS median, date, max(line) AS line
FROM record WHERE source = 'ceilings' GROUP BY gpu, run, f->>'what';

-- Counters of Nsight Compute at B=1 H=16. The last row per counter is used.
CREATE TABLE counter AS
SELECT gpu, kind, name, Nq AS N, D, f->>'metric' AS metric, f->>'unit' AS unit, f->>'value' + 0.0 AS value, device,
    substr(date, 1, 10) AS date, commit_name, max(line) AS line
FROM record WHERE source = 'profile' AND B = 1 AND H = 16 AND f->>'Nq' = f->>'Nk' AND causal = 0
GROUP BY gpu, f->>'lesson', f->>'Nq', f->>'D', f->>'metric';

-- A timing of an ablation of a lesson's kernel, or of the solution. Older files, which lack the column lesson, are about lesson 08.
CREATE TABLE ablation_timing AS
SELECT *, coalesce(name, '08_even_shares') AS lesson, f->>'ablation' AS ablation, coalesce(f->>'counter', '-') AS counter,
    coalesce(f->>'counted', '-') AS counted, coalesce(f->>'counted_solution', '-') AS counted_solution,
    B || ',' || H || ',' || Nq || ',' || D || iif(causal, ' causal', '') AS shape, f->>'registers' AS registers,
    (f->>'spill_stores') + (f->>'spill_loads') AS spilled, f->>'bank_conflicts' AS bank_conflicts
FROM record WHERE source = 'ablations';

-- Cycles of a segment of a main-loop iteration, measured by time stamps in a lesson's kernel.
CREATE TABLE segment_timing AS
SELECT *, name AS lesson, B || ',' || H || ',' || Nq || ',' || D AS shape, f->>'warpgroups' + 0 AS warpgroups,
    4.0 * (f->>'queries') * (f->>'keys') * D AS operations, f->>'segment' AS segment, f->>'cycles' + 0.0 AS cycles,
    f->>'over_solution' + 0.0 AS over_solution
FROM record WHERE source = 'steps';

-- The version of a library in a run, for example "PyTorch 2.11.0, cuDNN 9.19.0".
CREATE TABLE library_version AS
SELECT gpu, run, name AS library, replace(f->>'version', ';', ',') AS version FROM record WHERE source = 'libraries';

-- Executed instructions and operations, counted by Nsight Compute: tensor-core instructions, tensor-core operations by operand type,
-- and fp32 multiply-adds of threads. The last row per kernel is used. gemm_fmas: the multiply-adds of both GEMMs.
CREATE TABLE unit AS
SELECT gpu, kind, name, dtype, f->>'kernels' AS kernels, f->>'tensor_instructions' + 0.0 AS tensor_instructions, f->>'ffma' + 0.0 AS ffma,
    nullif(f->>'tf32_operations', '') + 0.0 AS tf32, nullif(f->>'fp16_operations', '') + 0.0 AS fp16,
    nullif(f->>'bf16_operations', '') + 0.0 AS bf16, 2.0 * B * H * Nq * (f->>'Nk') * D AS gemm_fmas,
    B || ',' || H || ',' || Nq || ',' || D AS shape, device, substr(date, 1, 10) AS date, commit_name, max(line) AS line
FROM record WHERE source = 'units' AND causal = 0 GROUP BY gpu, kind, name, dtype;
