-- plan: expand; locks refresh_token AccessExclusive, token_grant AccessExclusive
-- Branches of a family (world.md R1): programs that share one sign-in go on beside each other. Branch 0 has the turn of 0005; `turns` has
-- those of branches 1 and 2, and -1 closes a branch, born or not. refresh_token.turn of branches 1 and 2 is NULL, so that a program from
-- before takes their tokens for unended, and at worst ends too much.
ALTER TABLE token_grant ADD COLUMN branches integer NOT NULL DEFAULT 1;
ALTER TABLE token_grant ADD COLUMN turns integer[] NOT NULL DEFAULT '{0,0}';
-- Why a family was revoked, if it ended by itself: replaced, sibling, code. NULL: by its person, its client, or a program from before.
ALTER TABLE token_grant ADD COLUMN revoked_why text;

-- Branch, NULL for 0, and its turn when the token was issued. The network of the use that issued the token, and from its first use on of
-- that: an HMAC by the family's id; empty if unknown, or if the token was used from two networks. The branches that the family had at the
-- first use; NULL: unused, or first used by a program from before.
ALTER TABLE refresh_token ADD COLUMN branch integer;
ALTER TABLE refresh_token ADD COLUMN branch_turn integer;
ALTER TABLE refresh_token ADD COLUMN used_net bytea;
ALTER TABLE refresh_token ADD COLUMN used_branches integer;
