/* SPIFFE IDs (SPIFFE-ID 2), the names of workloads: spiffe://TRUST_DOMAIN/PATH. */
#ifndef AZ_BASE_SPIFFE_ID_H
#define AZ_BASE_SPIFFE_ID_H

#include <stdbool.h>

/* Longest SPIFFE ID and trust domain, in octets (SPIFFE-ID 2.1, 2.3). */
#define SPIFFE_ID_MAX 2048
#define SPIFFE_DOMAIN_MAX 255

/* True if a text has the scheme of SPIFFE IDs. It need not be a valid one. */
bool spiffe_id_begins(const char *text);

/*
 * Return the fault of a SPIFFE ID as a text that fits after its name, or NULL:
 *
 * "spiffe://" domain *( "/" segment )
 * domain  = 1*( lower-case letter / DIGIT / "." / "-" / "_" )
 * segment = 1*( ALPHA / DIGIT / "." / "-" / "_" ), neither "." nor ".."
 *
 * An ID is compared octet by octet, so no second spelling of one is accepted (SPIFFE-ID 2.4).
 */
const char *spiffe_id_fault(const char *text);

/* True if a valid SPIFFE ID is in a trust domain, whose name is given without the scheme. */
bool spiffe_id_is_in(const char *id, const char *domain);

#endif
