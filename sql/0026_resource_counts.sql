-- plan: expand; locks audit_cut Exclusive, audit_log Share; reads audit_cut, audit_log
-- Decisions about requests to managed resources by day, for GovernanceReportDto.resources (specification 2.16). Housekeeping sums
-- them with the other numbers of audit rows (store/audit/counts.c).
CREATE TABLE resource_count (
    client_id text NOT NULL,                  -- '': all clients together
    day       date NOT NULL,
    resource  text NOT NULL,                  -- managed_resource.name, perhaps of one that was deleted
    n         bigint NOT NULL,
    PRIMARY KEY (client_id, day, resource)
) WITH (fillfactor = 70);                     -- the rows of today are updated once a minute
CREATE INDEX resource_count_day ON resource_count (day);

-- No row is written or counted meanwhile.
LOCK TABLE audit_log IN SHARE MODE;
LOCK TABLE audit_cut IN EXCLUSIVE MODE;
INSERT INTO resource_count (client_id, day, resource, n)
SELECT coalesce(client_id, ''), day, resource, count(*)
  FROM (SELECT client_id, (created_at AT TIME ZONE 'UTC')::date AS day, request_summary::json ->> 'resource' AS resource
          FROM audit_log
         WHERE endpoint LIKE '/gateway/%' AND policy_input IS NOT NULL AND outcome <> 'rejected'
           AND id <= (SELECT up_to FROM audit_cut)) a
 WHERE resource IS NOT NULL
 GROUP BY GROUPING SETS ((client_id, day, resource), (day, resource))
HAVING GROUPING(client_id) = 1 OR client_id IS NOT NULL;

-- The view as before, without the list of resources, which depends on the period.
DROP VIEW governance_inventory;
CREATE VIEW governance_inventory AS
SELECT to_char(now() AT TIME ZONE 'UTC', 'YYYY-MM-DD"T"HH24:MI:SS.MS"Z"') AS "generatedAt",
       (SELECT count(*) FROM policy_rule WHERE enabled) AS "activeRules",
       (SELECT count(*) FROM policy_rule)               AS "totalRules",
       (SELECT count(*) FROM policy_data)               AS "dataKeys",
       (SELECT count(*) FROM identity_provider)         AS "identityProviderCount",
       (SELECT count(*) FROM uma_resource)
         + (SELECT count(*) FROM managed_resource)      AS "protectedResourceCount",
       (SELECT coalesce(json_agg(json_strip_nulls(row_to_json(p))), '[]')
          FROM (SELECT issuer, name FROM identity_provider ORDER BY id LIMIT 20) p) AS "identityProviders",
       (SELECT coalesce(json_agg(c), '[]')
          FROM (SELECT "triggerSource" AS action, id::text AS "entityId", 'bundle' AS "entityType", "createdAt" AS timestamp
                  FROM bundle_audit_dto ORDER BY id DESC LIMIT 10) c) AS "recentPolicyChanges";
