/* The outcomes of all functions that can fail, and the table that maps each to what the caller and
 * the operator see. */
#ifndef AZ_BASE_STATUS_H
#define AZ_BASE_STATUS_H

enum az_status {
    AZ_OK = 0,  /* done */
    AZ_INVALID, /* refused by a parser, or more than a buffer's maximum; the endpoint decides what
                   that means */
    AZ_STALE,   /* internal: a cached row is out of date, read it again */
    AZ_RETRY,   /* internal: a partition is missing or a race was lost, try again */
    AZ_SQL,     /* internal: a statement failed, look at the batch's SQLSTATE */
    AZ_INVALID_REQUEST,               /* RFC 6749 5.2 */
    AZ_INVALID_CLIENT,                /* RFC 6749 5.2, 401 */
    AZ_INVALID_GRANT,                 /* RFC 6749 5.2 */
    AZ_UNAUTHORIZED_CLIENT,           /* RFC 6749 5.2 */
    AZ_UNSUPPORTED_GRANT_TYPE,        /* RFC 6749 5.2 */
    AZ_INVALID_SCOPE,                 /* RFC 6749 5.2 */
    AZ_INVALID_TARGET,                /* RFC 8707 2 */
    AZ_INVALID_AUTHORIZATION_DETAILS, /* RFC 9396 5 */
    AZ_UNSUPPORTED_RESPONSE_TYPE,     /* RFC 6749 4.1.2.1 */
    AZ_LOGIN_REQUIRED,                /* OpenID Connect Core 3.1.2.6, so the next three */
    AZ_CONSENT_REQUIRED,
    AZ_INTERACTION_REQUIRED,
    AZ_ACCOUNT_SELECTION_REQUIRED,
    AZ_REQUEST_NOT_SUPPORTED, /* OpenID Connect Core 6, so the next two */
    AZ_REQUEST_URI_NOT_SUPPORTED,
    AZ_REGISTRATION_NOT_SUPPORTED,
    AZ_USER_DENIED,          /* the user declined, access_denied */
    AZ_INVALID_REDIRECT_URI, /* RFC 7591 3.2.2, so the next three */
    AZ_INVALID_CLIENT_METADATA,
    AZ_INVALID_SOFTWARE_STATEMENT,
    AZ_UNAPPROVED_SOFTWARE_STATEMENT,
    AZ_AUTHORIZATION_PENDING, /* CIBA Core 11, so the next two: the person has not answered yet */
    AZ_SLOW_DOWN,             /* polled too early */
    AZ_EXPIRED_TOKEN,         /* the time of the auth_req_id is over */
    AZ_UNKNOWN_USER_ID,       /* CIBA Core 13, so the next one: login_hint names no known person */
    AZ_INVALID_BINDING_MESSAGE,
    AZ_NOT_WAITING,         /* an answer that does not count: too late, or another person's, 403 */
    AZ_INVALID_RESOURCE_ID, /* Federated Authorization for UMA 2.0 section 4.3 */
    AZ_ACCESS_DENIED,       /* policy refused at /token, 400 */
    AZ_FORBIDDEN,           /* authenticated, but not entitled to ask, 403 access_denied */
    AZ_INVALID_TOKEN,       /* RFC 6750 3.1, 401 */
    AZ_INSUFFICIENT_SCOPE,  /* RFC 6750 3.1, 403 */
    AZ_USE_DPOP_NONCE,      /* RFC 9449 8, 400 */
    AZ_DPOP_NONCE_NEEDED,   /* RFC 9449 9: the same at a resource, 401 */
    AZ_UNAUTHORIZED,        /* admin key missing, unknown or revoked, 401 */
    AZ_ROLE_REQUIRED,       /* admin: the role of the key does not allow it, 403 */
    AZ_FOREIGN_PAGE,        /* admin: a session's request that no page of ours sends, 403 */
    AZ_FOREIGN_NETWORK,     /* the address is in no network that may ask, 403 */
    AZ_PLAIN_HTTP,          /* by http although the issuer is https, 403 */
    AZ_BUNDLE_UNAUTHORIZED, /* bundle key missing or wrong, 401 */
    AZ_INVALID_FIELDS,      /* admin: a field or argument failed, 400 (fieldErrors in the body) */
    AZ_NOT_FOUND,           /* no such path, id or name */
    AZ_METHOD_NOT_ALLOWED,  /* known path, other method, 405 with Allow */
    AZ_UNSUPPORTED_METHOD_TYPE, /* the same at UMA endpoints (the same, section 3.1) */
    AZ_CONFLICT,            /* row exists or must not exist, or the limit on rows is reached, 409 */
    AZ_PROTECTED,           /* admin: shipped rule or row, 409 */
    AZ_SAVE_IN_PROGRESS,    /* admin: another policy save holds the lock, 409 */
    AZ_PRECONDITION_FAILED, /* If-Match differs, 412 */
    AZ_TOO_LARGE,           /* body over the limit, 413 */
    AZ_TARGET_TOO_LONG,     /* request target over the limit, 414 */
    AZ_MEDIA_TYPE,          /* JSON endpoint, other content type, 415 */
    AZ_UNPROCESSABLE,       /* admin: understood, but refused, 422 */
    AZ_TOO_MANY_REQUESTS,   /* rate limit, 429 */
    AZ_SERVER_ERROR,        /* this service failed, 500 */
    AZ_UNAVAILABLE,         /* database or engine cannot be reached, 503 temporarily_unavailable */
    AZ_PROVIDER_SETUP,      /* an identity provider or its row must be corrected, 502 */
    AZ_LINK_REQUIRED,       /* gateway: the person has to link an account first, 403 */
    AZ_APPROVAL_REQUIRED,   /* gateway: the person has to approve the call first, 403 */
    AZ_USER_REQUIRED,       /* gateway: a client's own token on a resource of persons, 403 */
    AZ_UPSTREAM_UNREACHABLE, /* gateway: no connection to the upstream, 502 */
    AZ_UPSTREAM_AUTH,        /* gateway: the upstream refuses the shared credential, 502 */
    AZ_UPSTREAM_INVALID,     /* gateway: the upstream's answer cannot be passed on, 502 */
    AZ_UPSTREAM_TIMEOUT,     /* gateway: the upstream did not answer in time, 504 */
    AZ_RESOURCE_UNAVAILABLE, /* gateway: the managed resource is not ready, 503 */
    AZ_POLICY_UNAVAILABLE,   /* gateway: the engine gave no valid decision, 503 */
    AZ_LINK_INVALID,         /* gateway: the link of a page is not one of ours, or is gone, 400 */
    AZ_LINK_OTHER,           /* gateway: the link belongs to another account, 403 */
    AZ_LINK_EXPIRED,         /* gateway: the link was used, or its time is over, 410 */
    AZ_BUSY, /* too many workers wait for other servers; nothing was done, and the client may
                send the request again, 503 */
    AZ_IMPACT_IN_PROGRESS, /* admin: another measurement of policy is running, 503 */
    AZ_IMPACT_UNAVAILABLE, /* admin: the policy cannot be measured now, 503 */
    AZ_STATUS_COUNT
};

/* Log level of an outcome. */
enum az_severity { AZ_SEV_DEBUG, AZ_SEV_INFO, AZ_SEV_WARN, AZ_SEV_ERROR };

/* One row of the outcome table. */
struct az_status_row {
    enum az_status status;     /* the outcome */
    int http;                  /* HTTP status code */
    const char *error;         /* the `error` member: OAuth or admin error code */
    const char *description;   /* public text if the failing code gave none */
    const char *audit_outcome; /* allowed, denied, rejected or error; for requests whose handler
                                  wrote no audit row */
    enum az_severity severity; /* log level */
};

/* Return the row of an outcome. An unknown number gives the row of AZ_SERVER_ERROR; never NULL. */
const struct az_status_row *az_status_row(enum az_status status);

/* A failure in two texts: one for the caller, one for the log only. */
struct az_fault {
    enum az_status status; /* AZ_OK if nothing failed */
    char public_text[256]; /* for the caller; characters of RFC 6749 5.2 only */
    char detail[512];      /* for the operator; never a secret or a token */
};

/*
 * Record a failure and return its status, so that callers can write `return az_fail(...)`. The
 * first failure stays: a later one on the way up does not hide the cause. public_text NULL takes
 * the table's text. Characters outside the error_description set of RFC 6749 5.2 become '?', so
 * that no input can break out of the JSON or of a header.
 */
enum az_status az_fail(struct az_fault *fault, enum az_status status, const char *public_text,
                       const char *detail, ...) __attribute__((format(printf, 4, 5)));

/* Give the recorded failure another status, for a caller to whom a failure in a lower room means
 * something else, and return that status. public_text NULL keeps the text; the operator's detail
 * stays. */
enum az_status az_fail_as(struct az_fault *fault, enum az_status status, const char *public_text);

/* Forget the recorded failure (before a retry). */
void az_fault_clear(struct az_fault *fault);

#endif
