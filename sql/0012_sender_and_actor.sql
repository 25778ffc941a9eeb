-- plan: expand; locks access_token AccessExclusive
-- An access token can be bound to the key of its sender (RFC 9449 6), and can name who acts for its subject (RFC 8693 4.1).

ALTER TABLE access_token ADD COLUMN jkt text;  -- SHA-256 thumbprint of the DPoP key (RFC 7638); NULL: a bearer token
ALTER TABLE access_token ADD COLUMN act text;  -- JSON object of the act claim; NULL: nobody acts for the subject
