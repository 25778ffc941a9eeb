-- plan: expand
-- The members of GovernanceReportDto (specification 2.16) that do not depend on a period.
CREATE VIEW governance_inventory AS
SELECT to_char(now() AT TIME ZONE 'UTC', 'YYYY-MM-DD"T"HH24:MI:SS.MS"Z"') AS "generatedAt",
       (SELECT count(*) FROM policy_rule WHERE enabled) AS "activeRules",
       (SELECT count(*) FROM policy_rule)               AS "totalRules",
       (SELECT count(*) FROM policy_data)               AS "dataKeys",
       (SELECT count(*) FROM identity_provider)         AS "identityProviderCount",
       (SELECT count(*) FROM uma_resource)              AS "protectedResourceCount",
       (SELECT coalesce(json_agg(json_strip_nulls(row_to_json(p))), '[]')
          FROM (SELECT issuer, name FROM identity_provider ORDER BY id LIMIT 20) p) AS "identityProviders",
       '[]'::json                                       AS "resources",
       (SELECT coalesce(json_agg(c), '[]')
          FROM (SELECT "triggerSource" AS action, id::text AS "entityId", 'bundle' AS "entityType", "createdAt" AS timestamp
                  FROM bundle_audit_dto ORDER BY id DESC LIMIT 10) c) AS "recentPolicyChanges";
