-- Where people go on who were on their way to somewhere when they asked for a letter, and in which language they
-- read.

-- A page of the server's own: nobody is led elsewhere. NULL for the account page.
ALTER TABLE letter_links ADD COLUMN place TEXT;
ALTER TABLE letters ADD COLUMN place TEXT;
-- As a file of texts is named; '' for English.
ALTER TABLE letters ADD COLUMN language TEXT NOT NULL DEFAULT '';
