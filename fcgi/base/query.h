/* Parameters in the query of a URL (RFC 6749 4.1.2, appendix B). */
#ifndef AZ_BASE_QUERY_H
#define AZ_BASE_QUERY_H

#include <stddef.h>
#include <talloc.h>

/* One parameter; with a value of NULL it is left out. */
struct query_pair {
    const char *name;  /* of unreserved characters */
    const char *value; /* any text */
};

/* Return the length of a text after escaping, in octets. */
size_t query_escaped_length(const char *text);

/* Return the text after escaping: all but the unreserved characters of RFC 3986 2.3. Belongs to
 * mem; NULL: out of memory. */
char *query_escape(TALLOC_CTX *mem, const char *text);

/*
 * Return the URL with the parameters after its query, which stays as it is, and before its
 * fragment. All but the unreserved characters of RFC 3986 2.3 are escaped. Belongs to mem; NULL:
 * out of memory.
 */
char *query_append(TALLOC_CTX *mem, const char *url, const struct query_pair *pairs, size_t count);

#endif
