/* Parts of the statements about admin keys, here and in admin_sessions.c. */
#ifndef AZ_STORE_PEOPLE_ADMIN_KEYS_PRIVATE_H
#define AZ_STORE_PEOPLE_ADMIN_KEYS_PRIVATE_H

/* True for a row `k` of admin_key that is neither revoked nor past its end. */
#define ADMIN_KEY_IS_VALID "k.revoked_at IS NULL AND (k.expires_at IS NULL OR k.expires_at > now())"

/* Note the use of the key of the row `found`. One write a minute is enough to find unused keys. */
#define ADMIN_KEY_USED                                                                             \
    "UPDATE admin_key k SET last_used_at = now() FROM found WHERE k.id = found.id"                 \
    " AND (k.last_used_at IS NULL OR k.last_used_at < now() - interval '1 minute')"

/* True for a row `s` of admin_session that is not over by the times of admin_sessions.h. */
#define ADMIN_SESSION_IS_LIVE                                                                      \
    "s.last_seen_at > now() - interval '30 minutes' AND s.created_at > now() - interval '8 hours'"

#endif
