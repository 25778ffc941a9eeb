/* Requests by FastCGI: libfcgi reads and writes the records of connections that this file accepts.
 */
#ifndef AZ_ACCEPT_FASTCGI_H
#define AZ_ACCEPT_FASTCGI_H

#include <fcgiapp.h>
#include <stdbool.h>
#include <stdint.h>

#include "http/request.h"

struct fastcgi {
    FCGX_Request request;
    int64_t until_ms; /* deadline of the body, clock_monotonic_ms() */
    bool given;       /* another process goes on with the answer */
};

/*
 * Return the value of a CGI variable, or NULL. lighttpd turns X_Forwarded_For and X.Forwarded.For
 * into HTTP_X_FORWARDED_FOR too, so a name that appears twice may hold the client's value and the
 * proxy's, and they cannot be told apart. Such a variable counts as empty.
 */
const char *fastcgi_variable_once(char *const *list, const char *name);

/* Make libfcgi ready for requests, one after the other. False: it cannot be. */
bool fastcgi_init(struct fastcgi *held);

/* Free what libfcgi keeps from one request to the next. */
void fastcgi_end(struct fastcgi *held);

/* Wait for a request on a listening socket, or on the connection that the web server keeps open,
 * and read its head. False: a signal came first, or the head broke off. */
bool fastcgi_begin(struct fastcgi *held, int socket);

/* True if a connection waits, or a request on the one that the web server keeps open. */
bool fastcgi_has_next(const struct fastcgi *held, int socket);

/* Return the functions that read the request in hand and write its answer. */
struct http_io fastcgi_io(struct fastcgi *held);

#endif
