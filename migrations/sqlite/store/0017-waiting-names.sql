-- Names that wait to be put in order cost no page of their own. Their heads are there, and what the heads hash to is
-- kept in memory.

-- Whether heads are still found by `heads_by_name`, as before hashes.
ALTER TABLE progress ADD COLUMN names_by_text INTEGER NOT NULL DEFAULT 0;
UPDATE progress SET names_by_text = names_through IS NOT NULL;

-- From here on it is always there: the names of the records up to this one are in `names`; those of later ones wait.
UPDATE progress SET names_through = (SELECT coalesce(max(id), 0) FROM heads) WHERE names_through IS NULL;

INSERT OR IGNORE INTO names SELECT hash, record FROM new_names ORDER BY hash, record;
DROP TABLE new_names;
