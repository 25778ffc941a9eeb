-- plan: expand; locks gateway_connection AccessExclusive
-- Refusals of a refresh whose code does not tell what is wrong, since the last new token: how many, and when the first was.
ALTER TABLE gateway_connection ADD COLUMN refusals integer NOT NULL DEFAULT 0;
ALTER TABLE gateway_connection ADD COLUMN refused_first_at timestamptz;
