-- The rows of peers/backward.py against what the backward lessons are to reach:
--     sqlite3 :memory: ".import --csv FILE m" ".read peers/backward.sql"
-- Each shape counts once, with its newest run.
.mode column
CREATE TEMP TABLE timed AS
SELECT *, median_us + 0.0 AS us, lesson LIKE 'peer-%' AS peer FROM m
WHERE run = (SELECT max(run) FROM m AS n WHERE (n.dtype, n.B, n.H, n.Nq, n.D, n.causal) = (m.dtype, m.B, m.H, m.Nq, m.D, m.causal));

CREATE TEMP TABLE shape AS
SELECT dtype, B, H, Nq, D, causal, min(us) FILTER (WHERE lesson LIKE 'solution-%') AS own_us, min(us) FILTER (WHERE peer) AS peer_us,
    min(us) FILTER (WHERE lesson LIKE 'solution-27%') AS atomic_us, min(us) FILTER (WHERE lesson LIKE 'solution-28%') AS deterministic_us
FROM timed GROUP BY dtype, B, H, Nq, D, causal;

SELECT dtype, iif(causal = '1' AND Nq + 0 <= 2048, 'causal, N <= 2048', 'the others') AS shapes, count(*) AS count, count(peer_us) AS with_peer,
    round(exp(avg(ln(peer_us / own_us))), 3) AS over_best_peer, round(min(peer_us / own_us), 3) AS least,
    round(max(deterministic_us / atomic_us), 3) AS deterministic_at_most
FROM shape GROUP BY 1, 2
UNION ALL
SELECT dtype, 'all', count(*), count(peer_us), round(exp(avg(ln(peer_us / own_us))), 3), round(min(peer_us / own_us), 3),
    round(max(deterministic_us / atomic_us), 3)
FROM shape GROUP BY 1;

-- Rung by rung: how many times as fast as the lesson before, in the geometric mean of the shapes that both have.
SELECT dtype, a.lesson, count(*) AS shapes, round(exp(avg(ln(b.us / a.us))), 2) AS over_lesson_before
FROM timed AS a JOIN timed AS b USING (dtype, B, H, Nq, D, causal)
WHERE substr(a.lesson, 10, 2) + 0 = substr(b.lesson, 10, 2) + 1 AND NOT a.peer AND NOT b.peer GROUP BY dtype, a.lesson;
