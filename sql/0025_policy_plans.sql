-- plan: expand; locks bundle AccessExclusive
-- Plans of policies, by which the service decides in its own processes (SVC_POLICY_ENGINE=embedded). A plan depends on the
-- modules alone, so bundles that differ in their data share one.
CREATE TABLE policy_plan (
    modules    text PRIMARY KEY,   -- hex SHA-256 of the modules and the entrypoints
    plan       bytea,              -- gzip of plan.json as `opa build -t plan` writes it; NULL: none could be made
    note       text,               -- why there is none, or what the policy engine still decides; NULL: nothing
    created_at timestamptz NOT NULL DEFAULT now()
);
ALTER TABLE bundle ADD COLUMN modules text;   -- policy_plan.modules; NULL: published before plans were made
