-- The rows of peers/decode.py against what lessons on decoding are to reach:
--     sqlite3 :memory: ".import --csv results/GPU/decode-peers.csv m" ".read peers/decode.sql"
-- Each shape counts once, with its newest run: the fastest lesson over the fastest exact peer, and over the copy of the same run.
.mode column
CREATE TEMP TABLE timed AS
SELECT *, replace(dtype, '-inexact', '') AS cache, dtype LIKE '%-inexact' AS inexact, median_us + 0.0 AS us, kv_bytes / 1e6 AS mb,
    lesson LIKE 'solution-%' AS own, lesson LIKE 'peer-%' AS peer
FROM m WHERE run = (SELECT max(run) FROM m AS n WHERE (n.B, n.H, n.Hkv, n.Nk, n.D, n.lengths, replace(n.dtype, '-inexact', ''))
    = (m.B, m.H, m.Hkv, m.Nk, m.D, m.lengths, replace(m.dtype, '-inexact', '')));

CREATE TEMP TABLE shape AS
SELECT cache, B, H, Hkv, Nk, D, lengths, mb, min(us) FILTER (WHERE own) AS own_us, min(us) FILTER (WHERE peer AND NOT inexact) AS peer_us,
    min(us) FILTER (WHERE lesson = 'copy') AS copy_us
FROM timed GROUP BY cache, B, H, Hkv, Nk, D, lengths;

SELECT cache, CASE WHEN lengths <> 'equal' THEN 'ragged' WHEN mb <= 64 THEN '64 MB and less' WHEN mb >= 512 THEN '512 MB and more' ELSE 'between' END AS kv,
    count(*) AS shapes, count(peer_us) AS with_peer, round(exp(avg(ln(peer_us / own_us))), 3) AS over_best_peer,
    round(min(peer_us / own_us), 3) AS least, round(exp(avg(ln(copy_us / own_us))), 3) AS of_copy
FROM shape GROUP BY 1, 2 ORDER BY 1, 2;

-- Keys per second from a cache in e4m3 over those from one in bf16, of the same lesson.
SELECT e.lesson, e.B, e.H, e.Hkv, e.Nk, e.D, e.lengths, round(b.us / e.us, 2) AS e4m3_over_bf16
FROM timed AS e JOIN timed AS b USING (lesson, B, H, Hkv, Nk, D, lengths)
WHERE e.dtype = 'e4m3' AND b.dtype = 'bf16' AND e.own AND b.mb >= 512 ORDER BY b.mb;
