-- plan: expand; locks audit_stream AccessExclusive
-- A collector that refuses every row (doc/design/decisions.md "Audit stream"): rows that were skipped because it refused each alone,
-- since the last one that it took.
ALTER TABLE audit_stream ADD COLUMN refused bigint NOT NULL DEFAULT 0;
