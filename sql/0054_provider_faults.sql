-- plan: expand; locks identity_provider ShareRowExclusive
-- Faults of identity providers that do not heal by themselves: one row for each code, for the overview and the provider's own page.
CREATE TABLE provider_fault (
    idp      bigint NOT NULL REFERENCES identity_provider ON DELETE CASCADE,
    code     text NOT NULL CHECK (length(code) <= 64),
    first_at timestamptz NOT NULL,
    last_at  timestamptz NOT NULL,
    n        bigint NOT NULL,
    PRIMARY KEY (idp, code)
);

-- Those of the last 24 hours.
CREATE VIEW recent_fault AS
SELECT f.*, p.idp_id, p.enabled FROM provider_fault f JOIN identity_provider p ON p.id = f.idp
 WHERE f.last_at > now() - interval '24 hours';
