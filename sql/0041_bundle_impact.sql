-- plan: expand; locks bundle AccessExclusive; reads bundle
-- What a bundle changed in recorded decisions, and who passed guards with it (doc/design/policy.md 7.1).
ALTER TABLE bundle
    ADD COLUMN impact          json,   -- counts of the measurement; NULL: there was none
    ADD COLUMN override_by     text,   -- id of the admin key that passed guards, or authzctl
    ADD COLUMN override_reason text,
    ADD CHECK ((override_by IS NULL) = (override_reason IS NULL));

CREATE OR REPLACE VIEW bundle_audit_dto AS
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
       data_keys                AS "dataKeys",
       message,
       impact,
       override_by              AS "overrideBy",
       override_reason          AS "overrideReason"
  FROM bundle
 WHERE status IN ('published', 'confirmed');
