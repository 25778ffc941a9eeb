-- plan: expand; locks browser_session Share, refresh_token AccessExclusive, token_grant AccessExclusive; reads browser_session, identity_provider, subject
-- Siblings of refresh tokens end, the home issuer stays, and browser sessions end at an age.

-- The issuer whose subjects keep the upstream's own sub, one row at most. It is stored at the first sign-in, so that the
-- deletion of its provider gives no other provider the right to those names.
CREATE TABLE home_issuer (
    one    boolean PRIMARY KEY DEFAULT true CHECK (one),
    issuer text NOT NULL
);

-- Where people have signed in already, the home issuer is that of the first one who kept the upstream's sub, or else that
-- of the oldest provider.
INSERT INTO home_issuer (issuer)
SELECT home.issuer
  FROM (SELECT coalesce((SELECT issuer FROM subject WHERE subject = upstream_sub ORDER BY created_at LIMIT 1),
                        (SELECT issuer FROM identity_provider ORDER BY id LIMIT 1)) AS issuer) home
 WHERE home.issuer IS NOT NULL AND EXISTS (SELECT 1 FROM subject);

-- Number of rotations so far. An unused refresh token of an earlier turn has ended, because another one was used in its
-- place. NULL: the token is from a program that did not know this rule, and has not ended.
ALTER TABLE token_grant ADD COLUMN turn integer NOT NULL DEFAULT 0;
ALTER TABLE refresh_token ADD COLUMN turn integer;

-- For the removal of sessions that are too old.
CREATE INDEX browser_session_created ON browser_session (created_at);
