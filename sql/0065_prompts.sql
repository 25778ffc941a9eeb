-- plan: expand; locks identity_provider AccessExclusive
-- The words of prompt that a provider takes. NULL: it is taken to know login and select_account.
ALTER TABLE identity_provider ADD COLUMN prompts text[];

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
       instant_text(client_secret_expires_at) AS "clientSecretExpiresAt",
       prompts                           AS "prompts"
  FROM identity_provider;
