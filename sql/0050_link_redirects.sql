-- plan: expand; locks managed_resource AccessExclusive; rewrites managed_resource
-- Each resource has a redirect address of its own at the authorization server of its upstream. Those that are stored may be
-- registered there with the one address that all had, so they keep it until the operator says otherwise
-- (upstreamAuth.redirectUri). Where this service registers itself and nobody has connected an account, there is nothing to keep.

ALTER TABLE managed_resource
    ADD COLUMN redirect_shared boolean NOT NULL DEFAULT false; -- it was stored before
UPDATE managed_resource m SET redirect_shared = true
    WHERE document #>> '{upstreamAuth,type}' = 'oauth_link'
      AND (coalesce(document #>> '{upstreamAuth,registration}', 'static') = 'static'
           OR EXISTS (SELECT 1 FROM gateway_connection c WHERE c.resource = m.name));
