-- plan: expand; locks identity_provider AccessExclusive; reads identity_provider, subject
-- If userinfo of a provider is asked (auto, off, required), and when claims of it were joined last. That time is no column of the
-- provider, because a change of its row ends what processes remember. Providers from before that have people are taken to have joined
-- userinfo, as they refused a sign-in without.
ALTER TABLE identity_provider ADD COLUMN userinfo text;

CREATE TABLE provider_userinfo (
    idp       bigint PRIMARY KEY REFERENCES identity_provider ON DELETE CASCADE,
    joined_at timestamptz NOT NULL
);
INSERT INTO provider_userinfo SELECT p.id, now() FROM identity_provider p
 WHERE EXISTS (SELECT 1 FROM subject s WHERE s.idp_id = p.idp_id);

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
       (SELECT instant_text(u.joined_at) FROM provider_userinfo u WHERE u.idp = identity_provider.id) AS "userinfoAt"
  FROM identity_provider;
