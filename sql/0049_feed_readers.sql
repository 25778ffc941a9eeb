-- plan: expand; locks gateway_feed_uri AccessExclusive
-- One reader must not take all of the URIs that a feeder hears of at one upstream.

ALTER TABLE gateway_feed_uri
    ADD COLUMN reader bytea; -- SHA-256 of the person, or of the client, that asked first; it counts for the limit of one reader
