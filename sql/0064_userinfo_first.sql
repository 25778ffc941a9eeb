-- plan: expand; locks provider_userinfo AccessExclusive
-- When claims of a provider's userinfo were joined first. Whoever was stored before that, by a sign-in or by the exchange of an ID token, may
-- lack claims that userinfo has, so a later ID token is not judged by what is stored. Providers from before get the time of this migration:
-- of their people it is not known who ever signed in.
ALTER TABLE provider_userinfo ADD COLUMN first_at timestamptz NOT NULL DEFAULT now();
