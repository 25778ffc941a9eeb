-- plan: expand; locks client ShareRowExclusive
-- UMA 2.0 resources and permission tickets, and delegations of such resources (specification 2.14, 2.15).

-- Owned by (client, subject) of the token that registered it. subject is the client_id if the token was the client's own.
CREATE TABLE uma_resource (
    id         uuid PRIMARY KEY,
    client     bigint NOT NULL REFERENCES client (id) ON DELETE CASCADE,
    subject    text NOT NULL,
    name       text,
    type       text,
    scopes     text[] NOT NULL,
    created_at timestamptz NOT NULL DEFAULT now(),
    updated_at timestamptz NOT NULL DEFAULT now()
);
CREATE INDEX uma_resource_owner ON uma_resource (client, subject, id);

-- Nothing redeems a ticket in this version. What will must look the resources up again: they may have changed.
CREATE TABLE uma_ticket (
    id          uuid PRIMARY KEY,
    secret_hash bytea NOT NULL,               -- SHA-256 of the ticket's secret part
    client      bigint NOT NULL REFERENCES client (id) ON DELETE CASCADE,
    subject     text NOT NULL,
    permissions jsonb NOT NULL,               -- [{"resource_id", "resource_scopes"}]
    created_at  timestamptz NOT NULL DEFAULT now(),
    expires_at  timestamptz NOT NULL
);
CREATE INDEX uma_ticket_client ON uma_ticket (client);
CREATE INDEX uma_ticket_expiry ON uma_ticket (expires_at);

CREATE TABLE delegation (
    id              uuid PRIMARY KEY,         -- UUIDv7: in the order of creation
    grantor_client  bigint NOT NULL REFERENCES client (id) ON DELETE CASCADE,
    grantor_subject text NOT NULL,
    grantee_subject text,
    grantee_client  bigint REFERENCES client (id) ON DELETE CASCADE,
    resource        uuid NOT NULL REFERENCES uma_resource (id) ON DELETE CASCADE,
    scopes          text[] NOT NULL,
    expires_at      timestamptz,              -- NULL: it ends by revocation alone
    created_at      timestamptz NOT NULL DEFAULT now(),
    updated_at      timestamptz NOT NULL DEFAULT now(),
    revoked_at      timestamptz,
    CHECK ((grantee_subject IS NULL) <> (grantee_client IS NULL))
);
CREATE INDEX delegation_owner ON delegation (grantor_client, grantor_subject, id);
CREATE INDEX delegation_resource ON delegation (resource);
CREATE INDEX delegation_grantee_client ON delegation (grantee_client);
-- While there are delegations, every introspection looks here.
CREATE INDEX delegation_to_client ON delegation (grantee_client, id) WHERE revoked_at IS NULL AND grantee_client IS NOT NULL;
CREATE INDEX delegation_to_subject ON delegation (grantee_subject, id) WHERE revoked_at IS NULL AND grantee_subject IS NOT NULL;
CREATE INDEX delegation_end ON delegation ((least(revoked_at, expires_at)));

-- A time as the interface shows it, with milliseconds. The planner puts it in place.
CREATE FUNCTION instant_text(at timestamptz) RETURNS text LANGUAGE sql STABLE AS
$$SELECT to_char(at AT TIME ZONE 'UTC', 'YYYY-MM-DD"T"HH24:MI:SS.MS"Z"')$$;
