-- plan: expand; locks sign_in AccessExclusive
-- A sign-in that was taken stays until it expires, without mark, nonce and verifier, so that a callback that is loaded again finds
-- the request and leads to it, once. A program from before finds no such row, because no browser has its mark.
ALTER TABLE sign_in ADD COLUMN taken_at timestamptz;                 -- when its callback was used
ALTER TABLE sign_in ADD COLUMN again boolean NOT NULL DEFAULT false; -- a refused callback was answered with the request
