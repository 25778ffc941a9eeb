-- plan: expand; locks access_token AccessExclusive, client AccessExclusive; reads client
-- People sign in: identity providers, subjects, browser sessions, consent, authorization codes and refresh tokens, and the
-- documents of others that clients and providers are known by.

-- One number for all identity providers: a process that remembers them has the newest while its number is the last one.
CREATE SEQUENCE identity_provider_version_seq;

CREATE TABLE identity_provider (
    id                      bigint GENERATED ALWAYS AS IDENTITY PRIMARY KEY,
    version                 bigint NOT NULL DEFAULT nextval('identity_provider_version_seq'),
    idp_id                  text NOT NULL UNIQUE CHECK (idp_id ~ '^[A-Za-z0-9._-]{1,64}$'),
    name                    text,
    issuer                  text NOT NULL UNIQUE,
    client_id               text,
    secret_sealed           bytea,            -- AES-256-GCM, bound to this row
    authorization_endpoint  text,             -- this and the next three: empty is what discovery says
    token_endpoint          text,
    userinfo_endpoint       text,
    jwks_uri                text,
    backchannel_notification_endpoint text,
    scopes                  text[],           -- NULL: openid profile email
    authorize_params        jsonb,
    enabled                 boolean NOT NULL DEFAULT true,
    created_at              timestamptz NOT NULL DEFAULT now(),
    updated_at              timestamptz NOT NULL DEFAULT now()
);

CREATE FUNCTION identity_provider_touch() RETURNS trigger LANGUAGE plpgsql AS $$
BEGIN
    IF TG_OP = 'DELETE' THEN
        PERFORM nextval('identity_provider_version_seq');
        RETURN OLD;
    END IF;
    NEW.version := nextval('identity_provider_version_seq');
    NEW.updated_at := now();
    RETURN NEW;
END $$;
CREATE TRIGGER identity_provider_touch BEFORE UPDATE OR DELETE ON identity_provider
    FOR EACH ROW EXECUTE FUNCTION identity_provider_touch();

-- IdentityProviderDto (specification 2.3). The secret is not in it.
CREATE VIEW identity_provider_dto AS
SELECT id,
       idp_id                            AS "idpId",
       name                              AS "name",
       issuer                            AS "issuer",
       client_id                         AS "clientId",
       authorization_endpoint            AS "authorizationEndpoint",
       token_endpoint                    AS "tokenEndpoint",
       userinfo_endpoint                 AS "userinfoEndpoint",
       jwks_uri                          AS "jwksUri",
       backchannel_notification_endpoint AS "backchannelNotificationEndpoint",
       scopes                            AS "scopes",
       authorize_params                  AS "authorizeParams",
       enabled                           AS "enabled"
  FROM identity_provider;

-- People, one row per (issuer, upstream sub), made at first sight. The name never changes and is never shared.
CREATE TABLE subject (
    subject      text PRIMARY KEY,
    issuer       text NOT NULL,
    upstream_sub text NOT NULL,
    idp_id       text,                        -- where the claims are from
    claims       json NOT NULL DEFAULT '{}', -- of the last sign-in
    created_at   timestamptz NOT NULL DEFAULT now(),
    signed_in_at timestamptz NOT NULL DEFAULT now(),
    UNIQUE (issuer, upstream_sub)
);

-- A sign-in on its way through an identity provider; deleted by the one callback it allows.
CREATE TABLE sign_in (
    state_hash      bytea PRIMARY KEY,        -- SHA-256 of the upstream request's state
    browser_hash    bytea NOT NULL,           -- SHA-256 of the cookie of the browser that began it
    idp             bigint NOT NULL REFERENCES identity_provider (id) ON DELETE CASCADE,
    nonce           text NOT NULL,
    verifier_sealed bytea NOT NULL,           -- PKCE verifier, bound to this row
    request         jsonb NOT NULL,           -- our client's authorization request, checked
    expires_at      timestamptz NOT NULL
);
CREATE INDEX sign_in_idp ON sign_in (idp);
CREATE INDEX sign_in_expiry ON sign_in (expires_at);

CREATE TABLE browser_session (
    id_hash         bytea PRIMARY KEY,        -- SHA-256 of the cookie
    sid             text NOT NULL UNIQUE,     -- as in ID tokens; no credential
    subject         text NOT NULL REFERENCES subject (subject) ON DELETE CASCADE,
    idp             bigint NOT NULL REFERENCES identity_provider (id) ON DELETE CASCADE,
    auth_time       timestamptz NOT NULL,
    acr             text,
    amr             text[],
    upstream_sid    text,
    id_token_sealed bytea,                    -- the provider's ID token, for its logout; bound to this row
    created_at      timestamptz NOT NULL DEFAULT now(),
    expires_at      timestamptz NOT NULL      -- moves with use
);
CREATE INDEX browser_session_subject ON browser_session (subject);
CREATE INDEX browser_session_idp ON browser_session (idp);
CREATE INDEX browser_session_expiry ON browser_session (expires_at);

-- An authorization request that waits for its user's word on the consent page; deleted by the answer.
CREATE TABLE consent_request (
    id_hash    bytea PRIMARY KEY,             -- SHA-256 of the form token
    session    bytea NOT NULL REFERENCES browser_session (id_hash) ON DELETE CASCADE,
    request    jsonb NOT NULL,
    expires_at timestamptz NOT NULL
);
CREATE INDEX consent_request_session ON consent_request (session);
CREATE INDEX consent_request_expiry ON consent_request (expires_at);

-- What a user allowed a client, remembered. `what` is the hash of all it covers, the rest is for the reader.
CREATE TABLE consent (
    id            bigint GENERATED ALWAYS AS IDENTITY PRIMARY KEY,
    subject       text NOT NULL REFERENCES subject (subject) ON DELETE CASCADE,
    client        bigint NOT NULL REFERENCES client (id) ON DELETE CASCADE,
    what          bytea NOT NULL,
    redirect_host text NOT NULL,
    scope         text NOT NULL,
    resource      text,
    granted_at    timestamptz NOT NULL DEFAULT now(),
    UNIQUE (subject, what)
);
CREATE INDEX consent_client ON consent (client);

-- A family: one authorization, from its code to the last refresh token. The id is the code's, so the code's hash is
-- remembered as long as the family lives.
CREATE TABLE token_grant (
    id              uuid PRIMARY KEY,
    code_hash       bytea NOT NULL,           -- SHA-256 of the code's secret part
    code_expires_at timestamptz NOT NULL,
    redeemed_at     timestamptz,
    revoked_at      timestamptz,
    client          bigint NOT NULL REFERENCES client (id) ON DELETE CASCADE,
    subject         text NOT NULL REFERENCES subject (subject) ON DELETE CASCADE,
    idp             bigint NOT NULL REFERENCES identity_provider (id) ON DELETE CASCADE,
    sid             text NOT NULL,
    flow_id         uuid NOT NULL,
    redirect_uri    text NOT NULL,
    code_challenge  text,                     -- NULL: the client used no PKCE
    nonce           text,
    auth_time       timestamptz NOT NULL,
    with_auth_time  boolean NOT NULL,         -- the ID token must say it
    acr             text,
    amr             text[],
    scope           text,                     -- as asked at /authorize, else as registered then
    resource        text,
    resource_types  jsonb,
    details         json,                     -- as sent: jsonb would write 1e300 with 301 digits
    granted_scope   text,                     -- what the redemption granted: no refresh goes beyond it
    created_at      timestamptz NOT NULL,
    idle_expires_at timestamptz NOT NULL,     -- moves with each refresh
    expires_at      timestamptz NOT NULL      -- never moves but at redemption
) WITH (fillfactor = 90);
CREATE INDEX token_grant_client ON token_grant (client);
CREATE INDEX token_grant_subject ON token_grant (subject);
CREATE INDEX token_grant_idp ON token_grant (idp);
CREATE INDEX token_grant_expiry ON token_grant (expires_at);

-- Refresh tokens. All of a family expire with it, so they lie in one partition.
CREATE TABLE refresh_token (
    id            uuid NOT NULL,
    expires_at    timestamptz NOT NULL,       -- of the family
    secret_hash   bytea NOT NULL,
    grant_id      uuid NOT NULL,              -- token_grant.id
    issued_at     timestamptz NOT NULL,
    first_used_at timestamptz,                -- rotated then
    uses          smallint NOT NULL DEFAULT 0
) PARTITION BY RANGE (expires_at);

ALTER TABLE access_token ADD COLUMN grant_id uuid;  -- NULL: of no family

CREATE OR REPLACE FUNCTION partition_create(parent text, number integer) RETURNS text LANGUAGE plpgsql AS $$
DECLARE
    epoch constant timestamptz := '2026-01-01 00:00:00+00';
    width interval;
    child text;
BEGIN
    IF parent = 'access_token' THEN
        width := interval '1 hour';
    ELSIF parent IN ('audit_log', 'refresh_token') THEN
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
    IF parent IN ('access_token', 'refresh_token') THEN
        EXECUTE format('ALTER TABLE %I SET (fillfactor = 95)', child);
    END IF;
    EXECUTE format('ALTER TABLE %I ATTACH PARTITION %I FOR VALUES FROM (%L) TO (%L)', parent, child,
                   epoch + number * width, epoch + (number + 1) * width);
    RETURN child;
END $$;

-- What policy answered to the registration of a client with a software statement, beside what has a column already.
ALTER TABLE client ADD COLUMN resource_types text[];

-- Those that registered themselves are counted, and looked through for idle ones.
CREATE INDEX client_dynamic ON client (created_at) WHERE registration_type <> 'ADMIN';

-- The day of the last token of a client that registered itself: such clients go when they are not used.
CREATE TABLE client_use (
    client  bigint PRIMARY KEY REFERENCES client (id) ON DELETE CASCADE,
    used_on date NOT NULL
);

-- Documents of others: discovery, key sets, client metadata. One fetch at a time per document.
CREATE TABLE fetched_document (
    key          bytea PRIMARY KEY,           -- SHA-256 of kind and URL
    kind         text NOT NULL,
    url          text NOT NULL,
    body         text,                        -- the last good one
    fetched_at   timestamptz,                 -- when that came
    expires_at   timestamptz,                 -- it is taken without asking until then
    failed_until timestamptz,                 -- the host is not asked before that
    failure      text,                        -- why, for the operator
    leased_until timestamptz,                 -- somebody fetches it now
    lease        bytea,                       -- who, or who did last
    ended_at     timestamptz,                 -- when the last fetch ended, well or not
    forced_at    timestamptz,                 -- when it was last fetched before its time: for a key that is not in it
    used_at      timestamptz NOT NULL DEFAULT now()
);
CREATE INDEX fetched_document_use ON fetched_document (kind, used_at);
