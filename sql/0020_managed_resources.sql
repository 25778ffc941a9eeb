-- plan: expand
-- Managed resources: the upstreams of the gateway (specification 2.10).

-- The version changes with the definition (a save, a sync, an approval), not with the status, which calls change.
CREATE SEQUENCE managed_resource_version_seq;

CREATE TABLE managed_resource (
    id                bigint GENERATED ALWAYS AS IDENTITY PRIMARY KEY,
    version           bigint NOT NULL DEFAULT nextval('managed_resource_version_seq'),
    name              text NOT NULL UNIQUE CHECK (name ~ '^[a-z0-9]([a-z0-9-]{0,30}[a-z0-9])?$'),
    upstream_type     text NOT NULL CHECK (upstream_type IN ('REST', 'MCP', 'STATIC')),
    enabled           boolean NOT NULL DEFAULT true,
    document          json NOT NULL,           -- ManagedResourceDto as written, without secrets, tools and what the service sets
    tools             json NOT NULL DEFAULT '[]', -- its tools; those of an MCP upstream with their pins
    secrets_sealed    bytea,                   -- object of secrets by name, AES-256-GCM, bound to this row
    secrets_set       json NOT NULL DEFAULT '{}', -- time at which each of them was set, by name
    connector_id      text,
    connector_version text,
    missing           text,                    -- first setting or secret that is missing
    status            text NOT NULL CHECK (status IN ('pending', 'active', 'degraded', 'error', 'disabled')),
    status_reason     text,
    status_changed_at timestamptz NOT NULL DEFAULT now(),
    last_probe        json,
    failures          timestamptz[] NOT NULL DEFAULT '{}', -- newest first; at most as many as make it degraded
    synced_at         timestamptz,             -- last time the tools of its upstream were read
    created_at        timestamptz NOT NULL DEFAULT now(),
    updated_at        timestamptz NOT NULL DEFAULT now()
);
CREATE INDEX managed_resource_connector ON managed_resource (connector_id) WHERE connector_id IS NOT NULL;

-- GovernanceReportDto (specification 2.16) counts them among the protected resources.
CREATE OR REPLACE VIEW governance_inventory AS
SELECT to_char(now() AT TIME ZONE 'UTC', 'YYYY-MM-DD"T"HH24:MI:SS.MS"Z"') AS "generatedAt",
       (SELECT count(*) FROM policy_rule WHERE enabled) AS "activeRules",
       (SELECT count(*) FROM policy_rule)               AS "totalRules",
       (SELECT count(*) FROM policy_data)               AS "dataKeys",
       (SELECT count(*) FROM identity_provider)         AS "identityProviderCount",
       (SELECT count(*) FROM uma_resource)
         + (SELECT count(*) FROM managed_resource)      AS "protectedResourceCount",
       (SELECT coalesce(json_agg(json_strip_nulls(row_to_json(p))), '[]')
          FROM (SELECT issuer, name FROM identity_provider ORDER BY id LIMIT 20) p) AS "identityProviders",
       '[]'::json                                       AS "resources",
       (SELECT coalesce(json_agg(c), '[]')
          FROM (SELECT "triggerSource" AS action, id::text AS "entityId", 'bundle' AS "entityType", "createdAt" AS timestamp
                  FROM bundle_audit_dto ORDER BY id DESC LIMIT 10) c) AS "recentPolicyChanges";
