#include "config.h"

#include "accept_fastcgi.h"

#include <errno.h>
#include <fastcgi.h>
#include <poll.h>
#include <signal.h>
#include <stdio.h>
#include <string.h>
#include <sys/socket.h>
#include <unistd.h>

#include "base/clock.h"

/* Time limit for the whole body, in seconds. */
#define BODY_TIMEOUT 5

/* Time in which the web server must take some octets of an answer, in seconds. A reader that stops
 * in the middle of a long answer does not keep a worker for longer. */
#define ANSWER_TIMEOUT 30

const char *
fastcgi_variable_once(char *const *list, const char *name)
{
    const char *found = NULL;
    for (; list != NULL && *list != NULL; list++) {
        /* Without a call: each look goes through all variables. */
        const char *at = *list, *wanted = name;
        while (*wanted != '\0' && *at == *wanted)
            at++, wanted++;
        if (*wanted != '\0' || *at != '=')
            continue;
        if (found != NULL)
            return "";
        found = at + 1;
    }
    return found;
}

/* Return "unix" if file permissions decide who may connect, else "other". */
static const char *
socket_word(int fd)
{
    struct sockaddr_storage own = {.ss_family = AF_UNSPEC};
    socklen_t length = sizeof(own);
    return getsockname(fd, (struct sockaddr *) &own, &length) == 0 && own.ss_family == AF_UNIX
               ? "unix"
               : "other";
}

/* The role is that of the FastCGI record, because Apache sends a variable of its name too. */
static const char *
fastcgi_variable(const struct http_io *io, const char *name)
{
    const FCGX_Request *request = &((const struct fastcgi *) io->handle)->request;
    if (strcmp(name, HTTP_IO_ROLE) == 0)
        return request->role == FCGI_AUTHORIZER ? HTTP_IO_AUTHORIZER : "";
    if (strcmp(name, HTTP_IO_SOCKET) == 0)
        return socket_word(request->ipcFd);
    return fastcgi_variable_once(request->envp, name);
}

/* Block the stop signals while libfcgi reads: it takes EINTR for the end of the request. */
static void
hold_stops(sigset_t *ret_before)
{
    sigset_t stops;
    sigemptyset(&stops);
    sigaddset(&stops, SIGTERM);
    sigaddset(&stops, SIGINT);
    sigaddset(&stops, SIGALRM);
    sigprocmask(SIG_BLOCK, &stops, ret_before);
}

/*
 * Read the octets that libfcgi has buffered, or else wait for the next record; SO_RCVTIMEO limits
 * that wait. Apache passes a body on as it arrives, so without the deadline a slow sender could
 * hold a worker for as long as it likes.
 */
static long
fastcgi_read(const struct http_io *io, void *buffer, size_t size)
{
    struct fastcgi *held = io->handle;
    FCGX_Stream *in = held->request.in;
    size_t there = (size_t) (in->stop - in->rdNext);
    if (there > 0) /* nothing is read from the connection */
        return FCGX_GetStr(buffer, (int) (there < size ? there : size), in);
    if (clock_monotonic_ms() > held->until_ms)
        return -1;
    sigset_t before;
    hold_stops(&before);
    int got = FCGX_GetStr(buffer, 1, in);
    sigprocmask(SIG_SETMASK, &before, NULL);
    return got == 0 && FCGX_GetError(in) != 0 ? -1 : got; /* lost, which is not the end */
}

static bool
fastcgi_write(const struct http_io *io, const void *octets, size_t size)
{
    return FCGX_PutStr(octets, (int) size, ((struct fastcgi *) io->handle)->request.out)
           == (int) size;
}

/* True if the web server has closed the connection, which it does when its client has gone. */
static bool
fastcgi_gone(const struct http_io *io)
{
    struct pollfd kept = {.fd = ((struct fastcgi *) io->handle)->request.ipcFd};
    return poll(&kept, 1, 0) == 1 && (kept.revents & (POLLHUP | POLLERR)) != 0;
}

static bool
fastcgi_flush(const struct http_io *io)
{
    return FCGX_FFlush(((struct fastcgi *) io->handle)->request.out) == 0;
}

/* An end of the connection without an end of the request: the web server passes it on. */
static void
fastcgi_cut(const struct http_io *io)
{
    shutdown(((struct fastcgi *) io->handle)->request.ipcFd, SHUT_RDWR);
}

/* A connection that the web server keeps open for other requests stays here, and so does one with
 * octets of the request that nothing has read. */
static int
fastcgi_lend(const struct http_io *io, unsigned *ret_request)
{
    const FCGX_Request *request = &((const struct fastcgi *) io->handle)->request;
    char more;
    if (request->keepConnection
        || (FCGX_HasSeenEOF(request->in) != EOF && fastcgi_read(io, &more, 1) != 0))
        return -1;
    *ret_request = (unsigned) request->requestId;
    return request->ipcFd;
}

static void
fastcgi_give(const struct http_io *io)
{
    ((struct fastcgi *) io->handle)->given = true;
}

/* True if a request has no body, and nothing of the empty record that ends it was read. Web servers
 * send that record with the request (FastCGI 1.0 section 6.2). */
static bool
has_no_body(const FCGX_Request *request)
{
    const char *length = fastcgi_variable_once(request->envp, "CONTENT_LENGTH");
    return request->role == FCGI_RESPONDER && FCGX_HasSeenEOF(request->in) != EOF
           && (length == NULL || *length == '\0' || strcmp(length, "0") == 0);
}

/*
 * Finish the answer. libfcgi shuts the connection down and waits for the web server to close it,
 * because closing with unread octets would reset the connection before the server has read the
 * answer. If the request was read to its end, nothing is unread, and a plain close frees the worker
 * at once.
 */
static void
fastcgi_finish(const struct http_io *io)
{
    struct fastcgi *held = io->handle;
    FCGX_Request *request = &held->request;
    char none;
    if (!held->given && has_no_body(request))
        fastcgi_read(io, &none, 1);
    if (held->given || FCGX_HasSeenEOF(request->in) == EOF)
        FCGX_Detach(request);
    if (held->given) /* the other process ends the request */
        FCGX_Free(request, 1);
    else
        FCGX_Finish_r(request);
}

bool
fastcgi_has_next(const struct fastcgi *held, int socket)
{
    struct pollfd waited[] = {
        {.fd = held->request.ipcFd, .events = POLLIN},
        {.fd = socket,              .events = POLLIN},
    };
    return poll(waited, 2, 0) > 0;
}

/* Wait for a connection, or for the next request on one that the web server keeps open. Return
 * false if a signal came first. */
static bool
await_request(FCGX_Request *request, int socket)
{
    const struct timeval wait = {.tv_sec = BODY_TIMEOUT}, patience = {.tv_sec = ANSWER_TIMEOUT};
    struct pollfd kept = {.fd = request->ipcFd, .events = POLLIN};
    if (kept.fd >= 0)
        return poll(&kept, 1, -1) == 1;
    request->ipcFd = accept(socket, NULL, NULL);
    if (request->ipcFd < 0) {
        if (errno != EINTR && errno != ECONNABORTED)
            usleep(10000); /* for example, out of descriptors: do not spin */
        return false;
    }
    setsockopt(request->ipcFd, SOL_SOCKET, SO_RCVTIMEO, &wait, sizeof(wait));
    setsockopt(request->ipcFd, SOL_SOCKET, SO_SNDTIMEO, &patience, sizeof(patience));
    request->keepConnection = 1; /* else libfcgi closes it as left over from the last request */
    return true;
}

/*
 * Let libfcgi read the head of a request from a connection that this file accepted: libfcgi's own
 * accept drops a connection if a stop signal comes before the first octets. libfcgi takes a head
 * that breaks off between two records of parameters for complete. Such a request is dropped,
 * because the missing headers could change its meaning.
 */
bool
fastcgi_begin(struct fastcgi *held, int socket)
{
    FCGX_Request *request = &held->request;
    sigset_t before;
    if (!await_request(request, socket))
        return false;
    hold_stops(&before);
    int got = FCGX_Accept_r(request);
    sigprocmask(SIG_SETMASK, &before, NULL);
    held->until_ms = clock_monotonic_ms() + BODY_TIMEOUT * 1000;
    held->given = false;
    if (got != 0 || FCGX_GetError(request->in) == 0)
        return got == 0;
    FCGX_Detach(request);
    FCGX_Free(request, 1);
    return false;
}

bool
fastcgi_init(struct fastcgi *held)
{
    /* Without a listening socket, libfcgi does not accept connections itself. */
    return FCGX_Init() == 0 && FCGX_InitRequest(&held->request, -1, FCGI_FAIL_ACCEPT_ON_INTR) == 0;
}

void
fastcgi_end(struct fastcgi *held)
{
    FCGX_Free(&held->request, 1);
}

struct http_io
fastcgi_io(struct fastcgi *held)
{
    return (struct http_io){held,           fastcgi_variable, fastcgi_read, fastcgi_write,
                            fastcgi_finish, fastcgi_cut,      fastcgi_gone, fastcgi_flush,
                            fastcgi_lend,   fastcgi_give};
}
