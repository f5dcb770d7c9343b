#!/usr/bin/env bats
# The SQL functions of plots/sql_text.c.

query() {
    sqlite3 -bail -cmd ".load $BATS_TEST_DIRNAME/../../build/sql_text" :memory: "$@"
}

# Each function is compared with its rule in SQL: for ties in the third digit, numbers close to 1, 10 and 100, and quotients. SQLite 3.45
# truncates when it prints no decimal place, so the rules round first.
@test "formatted numbers equal their rules in SQL, also at ties" {
    run query "
        CREATE TABLE number AS
        WITH RECURSIVE i(i) AS (SELECT 1 UNION ALL SELECT i + 1 FROM i WHERE i < 20000)
        SELECT i * 0.0005 AS x FROM i UNION ALL SELECT i * 0.005 FROM i UNION ALL SELECT i * 0.05 FROM i
        UNION ALL SELECT i * 0.5 FROM i UNION ALL SELECT i / 7.0 FROM i UNION ALL SELECT 1e9 / i FROM i UNION ALL SELECT 1e5 / i / i FROM i
        UNION ALL SELECT value FROM json_each(
            '[0.9994, 0.9996, 9.994, 9.996, 99.94, 99.95, 99.96, 999.4, 999.5, 1.094, 1.095, 1.0949999]');
        CREATE VIEW rule AS
        SELECT x, (x < 1) + (x < 10) + (x < 100) AS three, (x < 1.095) + (x < 99.95) AS near, x < 99.95 AS short
        FROM number;
        SELECT count(*) FROM number;
        SELECT 'three_digits', x, three_digits(x) FROM rule
        WHERE three_digits(x) <> printf('%.*f', three, round(1.0000000001 * x, three));
        SELECT 'whole', x, whole(x) FROM rule
        WHERE whole(x) <> printf('%.0f', round(1.0000000001 * x));
        SELECT 'rounded', x, rounded(x, 1) FROM rule
        WHERE x < 1e5 AND rounded(x, 1) <> printf('%.1f', round(1.0000000001 * x, 1));
        SELECT 'percent', x, percent(x, 7) FROM rule
        WHERE percent(x, 7) <> printf('%.0f %%', round(1.0000000001 * 100 * x / 7));
        SELECT 'ratio', x, ratio(x) FROM rule
        WHERE ratio(x) <> printf('%.*f×', near, round(1.0000000001 * x, near));
        SELECT 'short_ratio', x, short_ratio(x) FROM rule
        WHERE short_ratio(x) <> printf('%.*f×', short, round(1.0000000001 * x, short));
        SELECT 'times', x, times(x, 0) FROM rule WHERE times(x, 0) <> printf('%.2f×', x);
        SELECT 'duration', x, duration(x) FROM rule WHERE replace(duration(x), char(160), ' ') <>
            iif(x < 999.5, three_digits(x) || ' µs', three_digits(x / 1000) || ' ms');"
    echo "$output"
    [ "$status" -eq 0 ]
    [ "$output" = 140012 ]
}

@test "NULL gives NULL" {
    run query "SELECT coalesce(three_digits(NULL), whole(NULL), rounded(NULL, 1), percent(NULL, 2), percent(1, 0),
        percent(1, NULL), ratio(NULL), short_ratio(NULL), times(NULL, 1), duration(NULL), 'none')" "SELECT times(1.5, 1)"
    [ "$output" = "$(printf 'none\n1.50×, noisy')" ]
}

@test "a table row and a table head" {
    run query "SELECT table_row('a', NULL, 1, '')" "SELECT table_head('a', '>b', '', 'c | d', '>e')"
    [ "$output" = "$(printf '| a | - | 1 |  |\n| a | b |  | c | d | e |\n|---|--:|---|---|---|--:|')" ]
}
