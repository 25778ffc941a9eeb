-- plan: expand; locks fetched_document AccessExclusive
-- Since when no fetch of the document has succeeded; NULL: the last one did.
ALTER TABLE fetched_document ADD COLUMN failing_since timestamptz;
