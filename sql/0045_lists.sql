-- plan: expand; locks browser_session AccessExclusive, client AccessExclusive, subject Share; reads audit_count, subject
-- What lists of the console show and sort by, without a look at audit rows: the last use of each client, and decisions by hour
-- (gateway-admin.md 3.6). Housekeeping adds them up with the numbers by day (store/audit/counts.c).

ALTER TABLE client ADD COLUMN updated_by text; -- label of the admin key, or the person, whose request changed it last

CREATE TABLE client_last (
    client_id text PRIMARY KEY,
    used_at   timestamptz NOT NULL            -- last request of the client that was allowed or denied
) WITH (fillfactor = 70);                     -- updated once a minute

CREATE TABLE hour_count (
    client_id text NOT NULL,                  -- '': all clients together
    hour      timestamptz NOT NULL,           -- its begin
    outcome   text NOT NULL,
    n         bigint NOT NULL,                -- decisions of policy
    PRIMARY KEY (client_id, hour, outcome)
) WITH (fillfactor = 70);                     -- those of this hour are updated once a minute
CREATE INDEX hour_count_hour ON hour_count (hour);

-- The last use of before is known by the day. Hours begin with this program: to count those of before would read the rows of two
-- days while no row can be written.
INSERT INTO client_last (client_id, used_at)
SELECT client_id, max(day)::timestamp AT TIME ZONE 'UTC' FROM audit_count
 WHERE client_id <> '' AND outcome IN ('allowed', 'denied') AND endpoint NOT LIKE '/admin/%' GROUP BY 1;

-- A browser session as its person would know it again, and its last use, written with its end.
ALTER TABLE browser_session
    ADD COLUMN last_seen_at timestamptz,      -- to a tenth of SVC_SESSION_TIMEOUT; NULL: since the program that knows it, none
    ADD COLUMN ip           inet,             -- of the browser at the sign-in
    ADD COLUMN user_agent   text;

-- A page of people in the order of their last sign-in.
CREATE INDEX subject_signed_in ON subject (signed_in_at);

-- The view as before, with the number, reason, author and measured effect of each policy change.
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
       (SELECT coalesce(json_agg(c), '[]')
          FROM (SELECT "triggerSource" AS action, id::text AS "entityId", 'bundle' AS "entityType", "createdAt" AS timestamp,
                       id, message, "triggeredBy" AS who, impact AS effect
                  FROM bundle_audit_dto ORDER BY id DESC LIMIT 10) c) AS "recentPolicyChanges";
