-- plan: expand
-- The foundation: clients, keys, policy rows and bundles, access tokens by expiry, audit rows by day.
-- Times are timestamptz. Partition numbers count hours (tokens) or days (audit) since 2026-01-01T00:00Z.

CREATE SEQUENCE client_version_seq;

CREATE TABLE client (
    id                        bigint GENERATED ALWAYS AS IDENTITY PRIMARY KEY,
    version                   bigint NOT NULL DEFAULT nextval('client_version_seq'),
    client_id                 text NOT NULL UNIQUE,
    client_name               text,
    client_type               text NOT NULL CHECK (client_type IN ('confidential', 'public')),
    client_uri                text,
    logo_uri                  text,
    tos_uri                   text,
    policy_uri                text,
    enabled                   boolean NOT NULL DEFAULT true,
    redirect_uris             text[] NOT NULL DEFAULT '{}',
    post_logout_redirect_uris text[] NOT NULL DEFAULT '{}',
    jwks                      jsonb,
    jwks_uri                  text,
    auth_method               text,
    registration_type         text NOT NULL DEFAULT 'ADMIN' CHECK (registration_type IN ('ADMIN', 'DCR', 'STATEMENT', 'CIMD')),
    software_statement        jsonb,          -- verified claims
    software_statement_json   text,
    issued_statement          text,
    secret_sealed             bytea,          -- AES-256-GCM, bound to this row
    previous_secret_sealed    bytea,          -- still good until previous_secret_expires_at
    previous_secret_expires_at timestamptz,
    grant_types               text[],
    response_types            text[],
    scope                     text,           -- registered ceiling; NULL = none registered
    contacts                  text[],
    software_id               text,
    software_version          text,
    dpop_bound                boolean NOT NULL DEFAULT false,
    created_at                timestamptz NOT NULL DEFAULT now(),
    updated_at                timestamptz NOT NULL DEFAULT now()
);

-- Every change gives the row a new version: writes that rest on a cached client re-check it (architecture.md 4).
CREATE FUNCTION client_touch() RETURNS trigger LANGUAGE plpgsql AS $$
BEGIN
    NEW.version := nextval('client_version_seq');
    NEW.updated_at := now();
    RETURN NEW;
END $$;
CREATE TRIGGER client_touch BEFORE UPDATE ON client FOR EACH ROW EXECUTE FUNCTION client_touch();

-- ClientDto (specification 2.1). Secrets are not in it.
CREATE VIEW client_dto AS
SELECT id,
       client_id                 AS "clientId",
       client_name               AS "clientName",
       client_type               AS "clientType",
       client_uri                AS "clientUri",
       logo_uri                  AS "logoUri",
       enabled                   AS "enabled",
       redirect_uris             AS "redirectUris",
       post_logout_redirect_uris AS "postLogoutRedirectUris",
       jwks                      AS "jwks",
       jwks_uri                  AS "jwksUri",
       auth_method               AS "tokenEndpointAuthMethod",
       registration_type         AS "registrationType",
       software_statement        AS "softwareStatement",
       software_statement_json   AS "softwareStatementJson",
       issued_statement          AS "issuedSoftwareStatementJwt"
  FROM client;

CREATE TABLE admin_key (
    id          uuid PRIMARY KEY DEFAULT gen_random_uuid(),
    label       text NOT NULL,
    managed_by  text NOT NULL CHECK (managed_by IN ('environment', 'admin')),
    lookup      bytea NOT NULL UNIQUE,        -- HMAC-SHA-256 under SVC_ADMIN_PEPPER
    sealed      bytea NOT NULL,               -- plaintext, AES-256-GCM, bound to this row
    created_at  timestamptz NOT NULL DEFAULT now(),
    revoked_at  timestamptz
);

-- AdminApiKeyView (specification 2.8)
CREATE VIEW admin_key_dto AS
SELECT id, label, managed_by AS "managedBy", created_at AS "createdAt", revoked_at AS "revokedAt" FROM admin_key;

CREATE TABLE signing_key (
    kid            text PRIMARY KEY,
    use            text NOT NULL CHECK (use IN ('oidc', 'statement')),
    state          text NOT NULL CHECK (state IN ('next', 'active', 'retired')),
    public_jwk     jsonb NOT NULL,
    private_sealed bytea NOT NULL,            -- PKCS#8, AES-256-GCM, bound to this row
    created_at     timestamptz NOT NULL DEFAULT now(),
    activated_at   timestamptz,
    retired_at     timestamptz
);
CREATE UNIQUE INDEX signing_key_active ON signing_key (use) WHERE state = 'active';
CREATE UNIQUE INDEX signing_key_next ON signing_key (use) WHERE state = 'next';

CREATE TABLE policy_rule (
    id         bigint GENERATED ALWAYS AS IDENTITY PRIMARY KEY,
    path       text NOT NULL UNIQUE,
    kind       text NOT NULL CHECK (kind IN ('rego', 'cedar')),
    content    text NOT NULL,
    version    text NOT NULL DEFAULT '1',
    digest     text NOT NULL,                 -- hex SHA-256 of content
    enabled    boolean NOT NULL DEFAULT true,
    shipped    boolean NOT NULL DEFAULT false,
    created_at timestamptz NOT NULL DEFAULT now(),
    updated_at timestamptz NOT NULL DEFAULT now()
);

CREATE TABLE policy_data (
    id         bigint GENERATED ALWAYS AS IDENTITY PRIMARY KEY,
    data_key   text NOT NULL UNIQUE,
    payload    text NOT NULL,                 -- JSON text, as its writer gave it
    version    text NOT NULL DEFAULT '1',
    digest     text NOT NULL,                 -- hex SHA-256 of payload
    in_bundle  boolean NOT NULL DEFAULT true,
    shipped    boolean NOT NULL DEFAULT false,
    updated_at timestamptz NOT NULL DEFAULT now()
);

-- PolicyDataDto (specification 2.5)
CREATE VIEW policy_data_dto AS
SELECT id,
       data_key   AS "dataKey",
       payload    AS "payload",
       version    AS "version",
       in_bundle  AS "inBundle",
       updated_at AS "updatedAt",
       to_char(updated_at AT TIME ZONE 'UTC', 'YYYY-MM-DD HH24:MI:SS "UTC"') AS "updatedAtFormatted"
  FROM policy_data;

-- The schema a control declares for its row; loaded with the shipped policy.
CREATE TABLE policy_schema (
    data_key text PRIMARY KEY,
    control  text NOT NULL,
    schema   text NOT NULL
);

-- Every bundle ever published, newest last. One of them is served (bundle_state).
CREATE TABLE bundle (
    id             bigint GENERATED ALWAYS AS IDENTITY PRIMARY KEY,
    revision       text NOT NULL UNIQUE,
    etag           text NOT NULL,             -- hex SHA-256 of body
    previous_etag  text,
    body           bytea,                     -- gzip'd tar
    status         text NOT NULL CHECK (status IN ('pending', 'published', 'confirmed', 'refused', 'withdrawn')),
    trigger_source text NOT NULL,
    triggered_by   text NOT NULL,
    size_octets    integer NOT NULL,
    rule_paths     text[] NOT NULL,
    data_keys      text[] NOT NULL,
    created_at     timestamptz NOT NULL DEFAULT now(),
    confirmed_at   timestamptz
);
CREATE SEQUENCE bundle_revision_seq;

-- One row: which bundle is served, and which revisions may decide (decisions.md "Which revisions may decide").
CREATE TABLE bundle_state (
    one        boolean PRIMARY KEY DEFAULT true CHECK (one),
    served     bigint REFERENCES bundle (id),
    acceptable text[] NOT NULL DEFAULT '{}'
);
INSERT INTO bundle_state DEFAULT VALUES;

-- What each engine said last in its status push.
CREATE TABLE engine_instance (
    instance        text PRIMARY KEY,
    active_revision text,
    code            text,
    message         text,
    reported_at     timestamptz NOT NULL
);

CREATE TABLE access_token (
    id          uuid NOT NULL,                -- UUIDv7; its time is issued_at, and names the audit partition
    expires_at  timestamptz NOT NULL,
    issued_at   timestamptz NOT NULL,
    secret_hash bytea NOT NULL,               -- SHA-256 of the token's secret part
    client      bigint NOT NULL,              -- client.id
    audit_id    bigint NOT NULL,              -- the audit row keeps pdpInput
    revoked_at  timestamptz,
    jit         boolean NOT NULL,             -- single use: deleted by the first introspection that shows it
    subject     text,                         -- NULL: the client itself
    scope       text NOT NULL,
    resource    text,
    pdp_output  bytea NOT NULL                -- packed JSON
) PARTITION BY RANGE (expires_at);

CREATE SEQUENCE audit_id_seq;
CREATE TABLE audit_log (
    created_at      timestamptz NOT NULL,
    id              bigint NOT NULL,
    request_id      text NOT NULL,
    flow_id         uuid,
    client_id       text,
    subject_id      text,
    endpoint        text NOT NULL,            -- the route's pattern
    operation       text NOT NULL,
    method          text NOT NULL,
    http_status     smallint NOT NULL,
    outcome         text NOT NULL,            -- allowed, denied, rejected or error
    ip              inet,
    user_agent      text,
    request_summary text,                     -- JSON
    policy_input    bytea,                    -- packed JSON (pdpInput)
    policy_decision bytea                     -- packed JSON (pdpOutput with revision and engine time)
) PARTITION BY RANGE (created_at);

-- Makes one partition; nothing when it is there. LIKE and ATTACH lock the parent less than PARTITION OF does.
CREATE FUNCTION partition_create(parent text, number integer) RETURNS text LANGUAGE plpgsql AS $$
DECLARE
    epoch constant timestamptz := '2026-01-01 00:00:00+00';
    width interval;
    child text;
BEGIN
    IF parent = 'access_token' THEN
        width := interval '1 hour';
    ELSIF parent = 'audit_log' THEN
        width := interval '1 day';
    ELSE
        RAISE EXCEPTION 'no partitioned table %', parent;
    END IF;
    child := parent || '_p' || number;
    PERFORM pg_advisory_xact_lock(1, hashtext(child));
    IF to_regclass(child) IS NOT NULL THEN
        RETURN child;
    END IF;
    EXECUTE format('CREATE TABLE %I (LIKE %I INCLUDING ALL)', child, parent);
    EXECUTE format('CREATE UNIQUE INDEX ON %I (id)', child);
    IF parent = 'access_token' THEN
        EXECUTE format('ALTER TABLE %I SET (fillfactor = 95)', child);
    END IF;
    EXECUTE format('ALTER TABLE %I ATTACH PARTITION %I FOR VALUES FROM (%L) TO (%L)', parent, child,
                   epoch + number * width, epoch + (number + 1) * width);
    RETURN child;
END $$;

-- Due times of housekeeping, so that several hosts and several starts do it once.
CREATE TABLE job (
    name    text PRIMARY KEY,
    due_at  timestamptz NOT NULL,
    ran_at  timestamptz,
    outcome text
);
