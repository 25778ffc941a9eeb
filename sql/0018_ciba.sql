-- plan: expand; locks client ShareRowExclusive, identity_provider ShareRowExclusive, subject ShareRowExclusive, token_grant AccessExclusive; reads subject
-- CIBA in poll mode: requests that wait until a person has answered.

CREATE TABLE ciba_request (
    id               uuid PRIMARY KEY,        -- of the auth_req_id, and of the family that an approval makes
    secret_hash      bytea NOT NULL,          -- SHA-256 of the auth_req_id's secret part
    client           bigint NOT NULL REFERENCES client (id) ON DELETE CASCADE,
    subject          text NOT NULL REFERENCES subject (subject) ON DELETE CASCADE,
    idp              bigint NOT NULL REFERENCES identity_provider (id) ON DELETE CASCADE,
    flow_id          uuid NOT NULL,
    state            text NOT NULL DEFAULT 'pending' CHECK (state IN ('pending', 'approved', 'denied')),
    callback_hash    bytea UNIQUE,            -- SHA-256 of the token with which the provider answers; NULL: it is not asked
    binding_message  text,
    scope            text NOT NULL,           -- what policy would grant of the request, so the next two
    resource         text,
    details          json,                    -- as sent: jsonb would write 1e300 with 301 digits
    interval_seconds integer NOT NULL,        -- between two polls; grows when the client polls too early
    polled_at        timestamptz,
    early            boolean NOT NULL DEFAULT false, -- the last poll came too early
    created_at       timestamptz NOT NULL DEFAULT now(),
    expires_at       timestamptz NOT NULL
);
CREATE INDEX ciba_request_client ON ciba_request (client);
CREATE INDEX ciba_request_subject ON ciba_request (subject);
CREATE INDEX ciba_request_idp ON ciba_request (idp);
CREATE INDEX ciba_request_expiry ON ciba_request (expires_at);

-- For login_hint. No address has more than 254 characters (RFC 5321 4.5.3.1), and an index entry must stay short.
CREATE INDEX subject_email ON subject (lower(left(claims ->> 'email', 254)));

-- A family that an approval made has no browser session.
ALTER TABLE token_grant ALTER COLUMN sid DROP NOT NULL;
