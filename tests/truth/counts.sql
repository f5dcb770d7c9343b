-- Rows of counts from what ncu printed (--csv --page raw), or from what the simulator counted (SIMULATOR_TRACE=launches): for
-- tests/truth/counts, which has made document (rows: the file as JSON), list (launch, kernel, base, place, pattern: that of
-- truth-patterns, or empty) and asked (name: the set).

CREATE TABLE item AS SELECT key AS line, value AS f FROM json_each((SELECT rows FROM document));

-- Our name, ncu's metric, what of ncu's is to be taken off it, and the rows of the simulator that it is the sum of: kinds of
-- access, quantity. Passes are what an access costs without bank conflicts. ncu counts conflicts that no address explains
-- (README.md), in wavefronts as well, so the difference says more than either.
CREATE TABLE quantity (place INTEGER PRIMARY KEY, name, metric, less, kinds, what);
INSERT INTO quantity (name, metric, kinds, what)
SELECT space || '_' || access || '_' || what, 'l1tex__t_' || what || '_pipe_lsu_mem_' || space || '_op_' || short,
    space || ' ' || access || iif(space || access = 'globalload', ',global async copy', ''), what
FROM (SELECT 1 AS rank, 'global' AS space, 'load' AS access, 'ld' AS short UNION SELECT 2, 'global', 'store', 'st'
    UNION SELECT 3, 'global', 'atomic', 'atom' UNION SELECT 4, 'global', 'reduction', 'red'
    UNION SELECT 5, 'local', 'load', 'ld' UNION SELECT 6, 'local', 'store', 'st'),
    (SELECT 'requests' AS what UNION SELECT 'sectors')
ORDER BY rank, what;
INSERT INTO quantity (name, metric, kinds, what) VALUES
    ('shared_load_instructions', 'smsp__inst_executed_op_shared_ld', 'shared load', 'requests'),
    ('shared_store_instructions', 'smsp__inst_executed_op_shared_st', 'shared store', 'requests'),
    ('matrix_load_instructions', 'smsp__inst_executed_op_ldsm', 'shared matrix load', 'requests'),
    ('async_copy_instructions', 'smsp__inst_executed_op_ldgsts', 'global async copy', 'requests');
INSERT INTO quantity (name, metric, less, kinds, what)
SELECT operation || '_' || n.value, iif(n.value = 'conflicts', conflicts, wavefronts), iif(n.value = 'passes', conflicts, NULL), kinds, n.value
FROM (SELECT operation, kinds, rank, 'l1tex__data_pipe_lsu_wavefronts_mem_shared_op_' || short AS wavefronts,
        'l1tex__data_bank_conflicts_pipe_lsu_mem_shared_op_' || short AS conflicts
    FROM (SELECT 1 AS rank, 'shared_load' AS operation, 'ld' AS short, 'shared load,shared matrix load' AS kinds
        UNION SELECT 2, 'shared_store', 'st', 'shared store,shared matrix store'
        UNION SELECT 3, 'shared_atomic', 'atom', 'shared atomic,shared reduction')),
    json_each('["wavefronts","conflicts","passes"]') AS n
ORDER BY rank, n.key;
-- Bulk copies, compared in whole sectors.
INSERT INTO quantity (name, metric, kinds, what)
SELECT * FROM (VALUES
    ('bulk_load_instructions', 'smsp__sass_inst_executed_op_tma_ld', 'global bulk load', 'requests'),
    ('bulk_load_bytes', 'l1tex__m_xbar2l1tex_read_bytes_mem_global_op_tma_ld', 'global bulk load', 'bytes'),
    ('bulk_store_instructions', 'smsp__sass_inst_executed_op_tma_st', 'global bulk store', 'requests'),
    ('bulk_store_bytes', 'l1tex__m_l1tex2xbar_write_bytes_mem_global_op_tma_st', 'global bulk store', 'bytes'),
    ('bulk_reduction_instructions', 'smsp__sass_inst_executed_op_tma_red', 'global bulk reduction', 'requests'),
    ('bulk_reduction_bytes', 'l1tex__m_l1tex2xbar_write_bytes_mem_global_op_tma_red', 'global bulk reduction', 'bytes'))
WHERE (SELECT name FROM asked) IN ('hopper', 'copies');

-- ---- One row a launch and quantity -------------------------------------------------------------------------------------

-- ncu's: in the order of the file, without the row of units; a value is empty where the metric was not counted.
CREATE TABLE launched AS
SELECT row_number() OVER (ORDER BY line) - 1 AS launch, f,
    replace(f->>'Kernel Name', '(anonymous namespace)::', '') AS name
FROM item WHERE f->>'ID' <> '';
CREATE VIEW counted AS
SELECT launch, place, less, replace(f->>('$."' || metric || '.sum"'), ',', '') AS whole,
    replace(f->>('$."' || less || '.sum"'), ',', '') AS part
FROM launched, quantity;
-- basic_attention(const float *, ...) and void kernel<64>(...) -> basic_attention, kernel
CREATE TABLE kernel AS
WITH cut AS (SELECT launch, substr(name, 1, min(instr(name || '(', '('), instr(name || '<', '<')) - 1) AS name FROM launched)
SELECT launch, replace(name, rtrim(name, replace(replace(name, ':', ''), ' ', '')), '') AS name FROM cut;
CREATE TABLE count AS
SELECT launch, place, iif(coalesce(whole, '') = '', '', iif(less IS NULL, whole, whole - coalesce(part, 0))) AS value FROM counted;

-- The simulator's: sums over the lines of a launch.
CREATE TABLE access AS
SELECT f->>'group' + 0 AS launch, f->>'kernel' AS kernel, ',' || (f->>'space') || ' ' || (f->>'access') || ',' AS kind, f->>'requests' AS requests,
    f->>'sectors' AS sectors, f->>'wavefronts' AS wavefronts, f->>'ideal_wavefronts' AS ideal_wavefronts
FROM item WHERE f->>'group' <> '';
CREATE INDEX access_of_launch ON access (launch);
INSERT INTO kernel SELECT launch, max(kernel) FROM access GROUP BY launch;
INSERT INTO count
SELECT kernel.launch, place, coalesce(sum(CASE what WHEN 'requests' THEN requests WHEN 'sectors' THEN sectors WHEN 'bytes' THEN 32 * sectors WHEN 'wavefronts' THEN wavefronts
    WHEN 'conflicts' THEN wavefronts - ideal_wavefronts ELSE ideal_wavefronts END), 0)
FROM kernel JOIN quantity LEFT JOIN access ON access.launch = kernel.launch AND instr(',' || kinds || ',', kind)
WHERE EXISTS (SELECT 1 FROM access)
GROUP BY kernel.launch, place;

-- ---- Printed ---------------------------------------------------------------------------------------------------------------

-- With a list a launch's sums are taken apart into what one access of each of its patterns costs: pattern p was accessed 8 base^p
-- times, what is below 8 is none of the patterns', and the count of the last is no digit: it may be larger than the base. Without
-- one, the second launch of a kernel is called KERNEL@2.
CREATE TABLE line AS
SELECT launch AS number, launch, name || iif(nth = 1, '', '@' || nth) AS name, NULL AS weight, NULL AS base
FROM (SELECT *, row_number() OVER (PARTITION BY name ORDER BY launch) AS nth FROM kernel) WHERE NOT EXISTS (SELECT 1 FROM list)
UNION ALL
SELECT row_number() OVER (ORDER BY kernel.launch, list.place + 0) - 1, kernel.launch, name || '@' || pattern, 8 * CAST(pow(base, list.place) AS INTEGER),
    iif(list.place + 0 = max(list.place + 0) OVER (PARTITION BY kernel.launch), NULL, base + 0)
FROM kernel JOIN list ON list.launch + 0 = kernel.launch;

SELECT 'set,launch,kernel,' || group_concat(name) FROM (SELECT name FROM quantity ORDER BY place);
SELECT (SELECT name FROM asked) || ',' || number || ',' || name || ',' || group_concat(value)
FROM (
    SELECT number, line.name, CASE WHEN weight IS NULL OR value = '' THEN value WHEN base IS NULL THEN value / weight
        ELSE value / weight % base END AS value
    FROM line JOIN count USING (launch) ORDER BY number, place)
GROUP BY number ORDER BY number;
