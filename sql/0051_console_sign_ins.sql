-- plan: expand; locks browser_session AccessExclusive
-- A session of the console begins only from the sign-in that was begun for it.
ALTER TABLE browser_session
    ADD COLUMN for_console boolean NOT NULL DEFAULT false; -- its sign-in was begun for the console, which has not taken it yet
