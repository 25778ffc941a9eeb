/* The root certificates that other servers are checked against. */
#ifndef AZ_HTTP_FETCH_FETCH_ROOTS_H
#define AZ_HTTP_FETCH_FETCH_ROOTS_H

#include <curl/curl.h>
#include <stdbool.h>

struct settings;

/*
 * Set the root certificates: the operator's file, or the bundle of the system. Both replace the
 * directory of roots that is libcurl's default: GnuTLS reads all roots for each connection, and the
 * bundle takes a quarter of the time.
 */
bool fetch_set_roots(CURL *curl, const struct settings *cfg);

#endif
