-- plan: expand; locks delegation AccessExclusive, identity_provider ShareRowExclusive; reads delegation; rewrites delegation
-- The identity provider of the person who delegated: a delegation counts while it is enabled, and is deleted with it.
ALTER TABLE delegation ADD COLUMN grantor_idp bigint REFERENCES identity_provider (id) ON DELETE CASCADE; -- NULL: a client's own
CREATE INDEX delegation_grantor_idp ON delegation (grantor_idp) WHERE grantor_idp IS NOT NULL;
-- The delegations of a resource that a resource server names, to one grantee.
CREATE INDEX delegation_resource_live ON delegation (resource, id) WHERE revoked_at IS NULL;

UPDATE delegation d SET grantor_idp = p.id
  FROM subject s JOIN identity_provider p ON p.idp_id = s.idp_id
 WHERE s.subject = d.grantor_subject
   AND NOT EXISTS (SELECT 1 FROM client c WHERE c.id = d.grantor_client AND c.client_id = d.grantor_subject);
-- Those of a person whose provider was deleted end now.
UPDATE delegation d SET revoked_at = now(), updated_at = now()
  FROM subject s
 WHERE d.grantor_idp IS NULL AND d.revoked_at IS NULL AND s.subject = d.grantor_subject AND s.idp_id IS NOT NULL
   AND NOT EXISTS (SELECT 1 FROM client c WHERE c.id = d.grantor_client AND c.client_id = d.grantor_subject);
