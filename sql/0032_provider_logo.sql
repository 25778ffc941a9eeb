-- plan: expand; locks identity_provider AccessExclusive
-- The logo of an identity provider, which the page shows beside its name where people choose one: a data: URL.
ALTER TABLE identity_provider ADD COLUMN logo text;

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
       logo                              AS "logo"
  FROM identity_provider;
