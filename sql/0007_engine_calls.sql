-- plan: expand; locks bundle_state AccessExclusive, engine_instance AccessExclusive
-- A save calls the engines before it publishes a candidate, and waits only for those that asked for their bundle since.

ALTER TABLE engine_instance ADD COLUMN asked_at timestamptz;     -- last request for the bundle; NULL: none under its own name
ALTER TABLE bundle_state ADD COLUMN called_at timestamptz NOT NULL DEFAULT '-infinity';
