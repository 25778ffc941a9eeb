-- plan: expand; locks managed_resource ShareRowExclusive; reads managed_resource
-- Installed connectors (specification 2.9). Secrets are not kept here: they are sealed with the resource that uses them.
CREATE TABLE connector (
    id           text PRIMARY KEY CHECK (id ~ '^[a-z0-9]([a-z0-9-]{0,30}[a-z0-9])?$'),
    version      text NOT NULL,
    manifest     json NOT NULL,              -- the file as it was when it was installed or last synced
    settings     json NOT NULL DEFAULT '{}', -- as given, without the ones that are writeOnly
    installed_at timestamptz NOT NULL DEFAULT now(),
    updated_at   timestamptz NOT NULL DEFAULT now()
);

-- A connector in use is not deleted, whatever two administrators do at once.
ALTER TABLE managed_resource ADD CONSTRAINT managed_resource_connector_id FOREIGN KEY (connector_id) REFERENCES connector (id);
