/* The root certificates that other servers are checked against. */
#ifndef AZ_HTTP_FETCH_FETCH_ROOTS_H
#define AZ_HTTP_FETCH_FETCH_ROOTS_H

#include <curl/curl.h>
#include <stdbool.h>

struct settings;

/*
 * Set the root certificates: the operator's file, in addition to the system's directory of roots,
 * which is libcurl's default. Without such a file the bundle replaces the directory: GnuTLS reads
 * all roots for each connection, and the bundle takes a quarter of the time.
 */
bool fetch_set_roots(CURL *curl, const struct settings *cfg);

#endif
