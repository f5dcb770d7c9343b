-- Compares the counts of a GPU with the simulator's, row by row, both as counts.sql writes them: for tests/truth/counts, which has
-- made golden and simulated (rows: the files as JSON), difference (what, gpu, simulator, why) and asked (name: the set).
-- A count that is known to differ has a line in differences.csv: SET/KERNEL/QUANTITY,GPU,SIMULATOR,why. Both figures must
-- still be what the line says. An empty count of the GPU's, a metric that ncu did not know, is wrong.

CREATE TABLE gpu AS SELECT value->>'launch' AS launch, value->>'kernel' AS kernel, value AS f FROM json_each((SELECT rows FROM golden));
CREATE TABLE ours AS SELECT value->>'launch' AS launch, value->>'kernel' AS kernel, value AS f FROM json_each((SELECT rows FROM simulated));
CREATE TABLE known AS SELECT what, gpu, simulator FROM difference WHERE what LIKE (SELECT name FROM asked) || '/%';

CREATE TABLE cell AS
SELECT ours.rowid AS line, c.id AS place, (SELECT name FROM asked) || '/' || ours.kernel || '/' || c.key AS what,
    coalesce(gpu.f->>('$."' || c.key || '"'), '') AS gpu, c.value AS simulator
FROM ours JOIN gpu USING (launch, kernel), json_each(ours.f) AS c
WHERE c.key NOT IN ('set', 'launch', 'kernel');

CREATE TABLE complaint (text);
INSERT INTO complaint
SELECT 'the golden file has other columns: make it again (README.md)'
WHERE (SELECT group_concat(key) FROM json_each((SELECT f FROM gpu LIMIT 1)))
    <> (SELECT group_concat(key) FROM json_each((SELECT f FROM ours LIMIT 1)));
INSERT INTO complaint
SELECT iif(gpu.kernel IS NULL, ours.kernel || ': no golden counts',
    'row ' || launch || ' is ' || gpu.kernel || ' on the GPU, ' || ours.kernel || ' on the simulator')
FROM ours LEFT JOIN gpu USING (launch) WHERE gpu.kernel IS NOT ours.kernel;
INSERT INTO complaint
SELECT CASE
    WHEN cell.gpu = '' THEN what || ': the recording has no count'
    WHEN known.what IS NULL THEN what || ',' || cell.gpu || ',' || cell.simulator || ': GPU and simulator differ'
    WHEN cell.gpu + 0 = cell.simulator + 0 THEN what || ' is listed as a difference, but there is none'
    ELSE what || ',' || cell.gpu || ',' || cell.simulator || ': differences.csv says ' || known.gpu || ',' || known.simulator END
FROM cell LEFT JOIN known USING (what)
WHERE cell.gpu = '' OR iif(known.what IS NULL, cell.gpu + 0 <> cell.simulator + 0,
    cell.gpu + 0 = cell.simulator + 0 OR known.gpu <> cell.gpu OR known.simulator <> cell.simulator)
ORDER BY line, place;
INSERT INTO complaint
SELECT (SELECT name FROM asked) || ': ' || (SELECT count(*) FROM gpu) || ' rows from the GPU, ' || (SELECT count(*) FROM ours) || ' from the simulator'
WHERE (SELECT count(*) FROM ours) < (SELECT count(*) FROM gpu);
INSERT INTO complaint
SELECT what || ' is listed as a difference, but is not counted' FROM known WHERE what NOT IN (SELECT what FROM cell WHERE gpu <> '');

SELECT text FROM complaint;
SELECT 'truth: ' || (SELECT name FROM asked) || ': ' || (SELECT count(*) FROM cell WHERE gpu <> '') || ' counts, '
    || (SELECT count(*) FROM complaint) || ' wrong, ' || (SELECT count(*) FROM cell JOIN known USING (what) WHERE cell.gpu <> '') || ' known to differ';
