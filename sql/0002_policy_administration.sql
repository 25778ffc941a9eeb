-- plan: expand; locks bundle AccessExclusive, engine_instance AccessExclusive; reads bundle
-- Policy administration: bundles that are tried before they stand, their history, and what each engine fetched.

-- A revision names the rows it was built from (same rows, same revision), so it may come back.
ALTER TABLE bundle DROP CONSTRAINT bundle_revision_key;
ALTER TABLE bundle ADD COLUMN previous bigint REFERENCES bundle (id) ON DELETE SET NULL;  -- what was served before it
ALTER TABLE bundle ADD COLUMN content text;            -- JSON {rules, data}: the rows it was built from
ALTER TABLE bundle ADD COLUMN fetched_ms bigint;       -- when an engine first got it; milliseconds since 1970
CREATE INDEX bundle_previous ON bundle (previous);

-- One candidate at a time, whatever happens to the lock.
CREATE UNIQUE INDEX bundle_pending ON bundle ((true)) WHERE status = 'pending';

-- The engine's own time of its last attempt, and when it first got what it fetched last; milliseconds since 1970.
ALTER TABLE engine_instance ADD COLUMN tried_ms bigint NOT NULL DEFAULT 0;
ALTER TABLE engine_instance ADD COLUMN fetched bigint;       -- bundle.id, if the engine names itself
ALTER TABLE engine_instance ADD COLUMN fetched_ms bigint;

-- PolicyRuleDto (specification 2.4)
CREATE VIEW policy_rule_dto AS
SELECT id,
       path,
       kind,
       content,
       version,
       digest,
       enabled,
       to_char(created_at AT TIME ZONE 'UTC', 'YYYY-MM-DD HH24:MI:SS "UTC"') AS "createdAtFormatted"
  FROM policy_rule;

-- BundleAuditLogDto (specification 2.6) with the revision: what was tried and refused never was a bundle of ours.
CREATE VIEW bundle_audit_dto AS
SELECT id,
       to_char(created_at AT TIME ZONE 'UTC', 'YYYY-MM-DD"T"HH24:MI:SS.MS"Z"') AS "createdAt",
       revision,
       etag,
       previous_etag            AS "previousEtag",
       trigger_source           AS "triggerSource",
       triggered_by             AS "triggeredBy",
       size_octets              AS "bundleSizeBytes",
       cardinality(rule_paths)  AS "ruleCount",
       rule_paths               AS "rulePaths",
       data_keys                AS "dataKeys"
  FROM bundle
 WHERE status IN ('published', 'confirmed');
