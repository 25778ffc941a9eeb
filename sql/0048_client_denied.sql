-- plan: expand; locks client_last AccessExclusive
-- The sum that a list of clients is sorted by is stored: to add up the hours of 10,000 clients takes longer than a page may.

ALTER TABLE client_last
    ADD COLUMN denied24h bigint NOT NULL DEFAULT 0; -- denials of this hour and the 23 before, written once a minute
