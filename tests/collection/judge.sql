-- Judges what the diagnosis has said of the wrong kernels. tests/collection/judge fills these tables:
--   kernel (kernel, cause, place, options)     kernels.csv: what is wrong with a kernel, from its own change
--   cause (cause, words)                       causes.csv
--   judgement (of, code, numbers, says)        sentences.csv: of a kernel, of a cause, or of any kernel (*) a sentence `tells` the cause,
--                                              is `true` but does not tell it, or is `false`; numbers is a GLOB pattern
--   printed (kernel, code, numbers, text)      what the check has printed
-- A row of the kernel itself precedes one of its cause, and that one precedes one of any kernel. A sentence without a row is false.

CREATE VIEW applicable AS
SELECT printed.rowid AS sentence, judgement.says,
    rank() OVER (PARTITION BY printed.rowid ORDER BY judgement.of <> printed.kernel, judgement.of = '*', judgement.says = 'tells' DESC,
        judgement.says = 'true' DESC, judgement.rowid) AS place
FROM printed JOIN kernel USING (kernel)
JOIN judgement ON judgement.of IN (printed.kernel, kernel.cause, '*') AND judgement.code = printed.code
    AND printed.numbers GLOB judgement.numbers;

CREATE VIEW sentence AS
SELECT printed.kernel, kernel.cause, printed.code, printed.numbers, printed.text, coalesce(applicable.says, 'false') AS says,
    applicable.says IS NULL AS is_new
FROM printed JOIN kernel USING (kernel) LEFT JOIN applicable ON applicable.sentence = printed.rowid AND applicable.place = 1;

CREATE VIEW verdict AS
SELECT kernel.kernel, CASE WHEN count(*) FILTER (WHERE says = 'tells') > 0 THEN 'told' ELSE 'vague' END AS verdict,
    count(says) AS sentences, count(*) FILTER (WHERE says = 'false') AS untrue
FROM kernel LEFT JOIN sentence USING (kernel) GROUP BY kernel.kernel ORDER BY kernel.kernel;

CREATE VIEW recall AS
SELECT CASE WHEN kernel < '09' OR kernel LIKE 'asked/%' THEN '01-08 fp32' WHEN kernel < '13' THEN '09-12 mma.sync'
    ELSE '13-20 wgmma' END AS kernels,
    count(*) AS number, sum(verdict = 'told') AS told, sum(verdict = 'vague') AS vague, sum(untrue > 0) AS with_untrue,
    sum(sentences) AS sentences, sum(untrue) AS untrue
FROM verdict GROUP BY 1;

CREATE VIEW in_words AS
SELECT kernels || ': of ' || number || ' told ' || told || ', vaguely ' || vague || ', with a false sentence ' || with_untrue || '; '
    || untrue || ' of ' || sentences || ' sentences false' AS summary
FROM recall;

-- What is worse than in verdicts.csv, of the kernels in printed: one that was told is no longer, or more of what is said is false.
CREATE VIEW worse AS
SELECT kernel || ' (' || cause || ') was told' AS what FROM verdict JOIN frozen USING (kernel) JOIN kernel USING (kernel)
WHERE frozen.verdict = 'told' AND verdict.verdict <> 'told' AND kernel IN (SELECT kernel FROM printed)
UNION ALL
SELECT kernel || ' (' || cause || '), false: ' || trim(text) || ' [' || code || '] ' || numbers
FROM sentence JOIN verdict USING (kernel) LEFT JOIN frozen USING (kernel)
WHERE says = 'false' AND verdict.untrue > coalesce(frozen.untrue, 0);

-- What is not as it should be in the tables themselves.
CREATE VIEW invalid AS
SELECT 'kernels.csv: ' || kernel || ' has the cause ' || cause || ', which causes.csv does not have' AS what
FROM kernel WHERE cause NOT IN (SELECT cause FROM cause)
UNION ALL SELECT 'causes.csv: no kernel has the cause ' || cause FROM cause WHERE cause NOT IN (SELECT cause FROM kernel)
UNION ALL SELECT 'kernels.csv: ' || kernel || ' is there twice' FROM kernel GROUP BY kernel HAVING count(*) > 1
UNION ALL SELECT 'causes.csv: ' || cause || ' is there twice' FROM cause GROUP BY cause HAVING count(*) > 1
UNION ALL SELECT 'kernels.csv: ' || kernel || ' has no place' FROM kernel WHERE place = ''
UNION ALL SELECT 'sentences.csv: ' || of || ' is no kernel, no cause and not *' FROM judgement
WHERE of NOT IN (SELECT kernel FROM kernel UNION SELECT cause FROM cause UNION SELECT '*')
UNION ALL SELECT 'sentences.csv: says is tells, true or false, not ' || says FROM judgement WHERE says NOT IN ('tells', 'true', 'false')
UNION ALL SELECT 'sentences.csv: no sentence tells the cause of every kernel, ' || code FROM judgement WHERE of = '*' AND says = 'tells';
