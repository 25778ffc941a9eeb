-- plan: expand; locks identity_provider AccessExclusive; reads identity_provider
-- Of a provider: the claims that are kept of its people, where its discovery document stands, other texts of its issuer, how this
-- service authenticates there, and when its secret there ends: as an administrator says, or by the exp of a secret that is a JWT.
ALTER TABLE identity_provider
    ADD COLUMN claims text[],
    ADD COLUMN discovery_url text,
    ADD COLUMN issuer_aliases text[],
    ADD COLUMN token_auth_method text,
    ADD COLUMN client_secret_expires_at timestamptz,
    ADD COLUMN secret_exp timestamptz;

-- A text of iss names one provider alone, as issuer or as alias: otherwise one provider could speak for another.
CREATE TABLE provider_issuer (
    issuer text PRIMARY KEY,
    idp    bigint NOT NULL REFERENCES identity_provider ON DELETE CASCADE
);
INSERT INTO provider_issuer SELECT issuer, id FROM identity_provider;
CREATE FUNCTION identity_provider_issuers() RETURNS trigger LANGUAGE plpgsql AS $$
BEGIN
    DELETE FROM provider_issuer WHERE idp = NEW.id;
    INSERT INTO provider_issuer
    SELECT DISTINCT x, NEW.id FROM unnest(NEW.issuer || coalesce(NEW.issuer_aliases, '{}')) x;
    RETURN NULL;
END $$;
CREATE TRIGGER identity_provider_issuers AFTER INSERT OR UPDATE OF issuer, issuer_aliases ON identity_provider
    FOR EACH ROW EXECUTE FUNCTION identity_provider_issuers();

CREATE OR REPLACE VIEW identity_provider_dto AS
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
       enabled                           AS "enabled",
       logo                              AS "logo",
       list_claims                       AS "listClaims",
       userinfo                          AS "userinfo",
       (SELECT instant_text(u.joined_at) FROM provider_userinfo u WHERE u.idp = identity_provider.id) AS "userinfoAt",
       coalesce(sends_auth_time, true)   AS "sendsAuthTime",
       claims                            AS "claims",
       discovery_url                     AS "discoveryUrl",
       issuer_aliases                    AS "issuerAliases",
       token_auth_method                 AS "tokenAuthMethod",
       instant_text(client_secret_expires_at) AS "clientSecretExpiresAt"
  FROM identity_provider;

-- What ends soon: admin keys within 14 days, and secrets at identity providers within 30 days, longer because another organization makes
-- the next one. A secret that has ended stays until there is another one.
CREATE VIEW ending AS
SELECT 'key_ending' AS kind, label AS name, role AS detail, expires_at AS at FROM admin_key
 WHERE revoked_at IS NULL AND expires_at > now() AND expires_at < now() + interval '14 days'
UNION ALL
SELECT 'secret_ending', idp_id, NULL, coalesce(client_secret_expires_at, secret_exp) FROM identity_provider
 WHERE enabled AND secret_sealed IS NOT NULL AND coalesce(token_auth_method, '') NOT IN ('private_key_jwt', 'none')
   AND coalesce(client_secret_expires_at, secret_exp) < now() + interval '30 days';
