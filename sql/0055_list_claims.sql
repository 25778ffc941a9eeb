-- plan: expand; locks identity_provider AccessExclusive
-- The claims of a provider that are lists, so that one group as a text is a list of one. Providers from before have none, because a
-- rule may compare a text.
ALTER TABLE identity_provider ADD COLUMN list_claims text[];

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
       list_claims                       AS "listClaims"
  FROM identity_provider;
