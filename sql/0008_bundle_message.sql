-- plan: expand; locks bundle AccessExclusive
-- The reason that the author of a policy save gave, for the history of bundles.

ALTER TABLE bundle ADD COLUMN message text;   -- NULL: none was given

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
       message
  FROM bundle
 WHERE status IN ('published', 'confirmed');
