-- Harvest records of a small orchard.
-- Runs in SQLite 3.25 or newer (window functions):  sqlite3 :memory: < orchard.sql

PRAGMA foreign_keys = ON;

CREATE TABLE variety (
    variety_id   INTEGER PRIMARY KEY,
    name         TEXT    NOT NULL UNIQUE,
    fruit        TEXT    NOT NULL CHECK (fruit IN ('apple', 'pear', 'plum')),
    ripens_month INTEGER NOT NULL CHECK (ripens_month BETWEEN 1 AND 12)
);

CREATE TABLE tree (
    tree_id    INTEGER PRIMARY KEY,
    variety_id INTEGER NOT NULL REFERENCES variety (variety_id),
    row_label  CHAR(1) NOT NULL,
    position   INTEGER NOT NULL,
    planted_on DATE    NOT NULL,
    UNIQUE (row_label, position)
);

CREATE TABLE harvest (
    tree_id      INTEGER NOT NULL REFERENCES tree (tree_id) ON DELETE CASCADE,
    picked_on    DATE    NOT NULL,
    kilograms    REAL    NOT NULL CHECK (kilograms >= 0),
    note         TEXT,
    PRIMARY KEY (tree_id, picked_on)
);

CREATE INDEX idx_harvest_date ON harvest (picked_on);

BEGIN TRANSACTION;

INSERT INTO variety (variety_id, name, fruit, ripens_month) VALUES
    (1, 'Marsh Beauty',   'apple', 9),
    (2, 'Old Lantern',    'pear',  10),
    (3, 'Widow''s Thumb', 'plum',  8);

INSERT INTO tree (tree_id, variety_id, row_label, position, planted_on) VALUES
    (10, 1, 'A', 1, '2011-11-04'),
    (11, 1, 'A', 2, '2011-11-04'),
    (12, 2, 'B', 1, '2014-03-19'),
    (13, 3, 'B', 2, '2018-02-27');

INSERT INTO harvest (tree_id, picked_on, kilograms, note) VALUES
    (10, '2022-09-12', 41.5, NULL),
    (10, '2023-09-15', 38.0, 'wasps'),
    (11, '2022-09-12', 29.3, NULL),
    (11, '2023-09-16', 44.8, NULL),
    (12, '2022-10-02', 17.0, 'late frost in April'),
    (12, '2023-10-05', 26.4, NULL),
    (13, '2023-08-21',  9.6, 'first real crop');

COMMIT;

-- 1. Total per variety and year, heaviest first.
SELECT v.name,
       strftime('%Y', h.picked_on)  AS harvest_year,
       ROUND(SUM(h.kilograms), 1)   AS total_kg,
       COUNT(DISTINCT h.tree_id)    AS trees
FROM harvest AS h
JOIN tree    AS t USING (tree_id)
JOIN variety AS v USING (variety_id)
GROUP BY v.variety_id, harvest_year
HAVING total_kg > 10
ORDER BY total_kg DESC;

-- 2. How did each tree do against its own previous year?
WITH yearly AS (
    SELECT tree_id,
           CAST(strftime('%Y', picked_on) AS INTEGER) AS yr,
           SUM(kilograms)                             AS kg
    FROM harvest
    GROUP BY tree_id, yr
)
SELECT tree_id,
       yr,
       kg,
       ROUND(kg - LAG(kg) OVER (PARTITION BY tree_id ORDER BY yr), 1) AS change_kg
FROM yearly
ORDER BY tree_id, yr;

-- 3. Trees that have never been picked in an even year.
SELECT t.row_label || t.position AS place, v.name
FROM tree AS t
JOIN variety AS v ON v.variety_id = t.variety_id
WHERE NOT EXISTS (
    SELECT 1
    FROM harvest AS h
    WHERE h.tree_id = t.tree_id
      AND CAST(strftime('%Y', h.picked_on) AS INTEGER) % 2 = 0
);
