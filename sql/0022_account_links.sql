-- plan: expand; locks identity_provider ShareRowExclusive, managed_resource ShareRowExclusive, subject ShareRowExclusive
-- Accounts of people at upstreams of the gateway: links that wait to be opened, connections, and our own registrations at the
-- upstreams' authorization servers.

CREATE TABLE gateway_link_request (
    jti             bytea PRIMARY KEY,        -- 16 random octets, signed in the link
    subject         text NOT NULL REFERENCES subject (subject) ON DELETE CASCADE,
    idp             bigint NOT NULL REFERENCES identity_provider (id) ON DELETE CASCADE,
    resource        text NOT NULL REFERENCES managed_resource (name) ON DELETE CASCADE,
    client_id       text NOT NULL,            -- the client whose call needs the account; '': the person came alone
    scopes          text[] NOT NULL,          -- of the upstream, that are asked for
    return_to       text NOT NULL,            -- path on our own host to which the browser goes at the end; '': none
    flow_id         uuid NOT NULL,
    created_at      timestamptz NOT NULL DEFAULT now(),
    expires_at      timestamptz NOT NULL,
    used_at         timestamptz,              -- the person chose Connect or Cancel
    -- Set with used_at by Connect, and emptied when the upstream's answer comes:
    session_hash    bytea,                    -- SHA-256 of the session cookie
    state_hash      bytea UNIQUE,             -- SHA-256 of the state that the upstream sends back; NULL: user_secret
    verifier_sealed bytea,                    -- PKCE verifier
    binding         bytea                     -- as of gateway_connection
);
CREATE INDEX gateway_link_request_subject ON gateway_link_request (subject, resource);
CREATE INDEX gateway_link_request_idp ON gateway_link_request (idp);
CREATE INDEX gateway_link_request_resource ON gateway_link_request (resource);
CREATE INDEX gateway_link_request_expiry ON gateway_link_request (expires_at);

CREATE TABLE gateway_connection (
    id            bigint GENERATED ALWAYS AS IDENTITY PRIMARY KEY,
    subject       text NOT NULL REFERENCES subject (subject) ON DELETE CASCADE,
    idp           bigint NOT NULL REFERENCES identity_provider (id) ON DELETE CASCADE,
    resource      text NOT NULL REFERENCES managed_resource (name) ON DELETE CASCADE,
    binding       bytea NOT NULL,             -- SHA-256 of the configuration that the secret is for: it is sent nowhere else
    secret_sealed bytea NOT NULL,             -- JSON: access_token and refresh_token, or secret
    status        text NOT NULL DEFAULT 'active' CHECK (status IN ('active', 'reauth_required')),
    scopes        text[] NOT NULL,            -- that the upstream granted
    account       text,                       -- label of the account
    expires_at    timestamptz,                -- of the access token; NULL: it does not expire
    connected_at  timestamptz NOT NULL DEFAULT now(),
    refreshed_at  timestamptz,
    last_used_at  timestamptz,                -- to 5 minutes
    last_error    text,                       -- why the last refresh failed
    UNIQUE (subject, idp, resource)
);
CREATE INDEX gateway_connection_idp ON gateway_connection (idp);
CREATE INDEX gateway_connection_resource ON gateway_connection (resource);

CREATE TABLE gateway_registration (
    resource          text NOT NULL REFERENCES managed_resource (name) ON DELETE CASCADE,
    issuer            text NOT NULL,          -- of the authorization server
    redirect_uri      text NOT NULL,          -- ours when we registered
    client_id         text NOT NULL,
    auth_method       text NOT NULL,          -- token_endpoint_auth_method that the server gave us
    secret_sealed     bytea,                  -- client_secret; NULL: none
    secret_expires_at timestamptz,            -- NULL: never
    registered_at     timestamptz NOT NULL DEFAULT now(),
    PRIMARY KEY (resource, issuer)
);
