-- Where links to shares lead: their first characters say it, but for those of earlier versions, which all begin
-- alike and may lead to any store that was there then.
ALTER TABLE stores ADD COLUMN has_early_links INTEGER NOT NULL DEFAULT 0;
UPDATE stores SET has_early_links = 1;
