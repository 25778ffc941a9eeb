/* Send load over persistent HTTP/1.1 connections in a closed loop and check each answer.
 *
 *   load ADDRESS REQUEST-FILE EXPECT CONNECTIONS SECONDS [RATE]
 *
 * ADDRESS is unix:PATH or HOST:PORT with an IPv4 address. The file contains one request, which is
 * sent repeatedly, at most RATE times per second. A file with several requests, each followed by a
 * NUL, is sent once, up to its end if there is time. An answer is bad if its status is not 200 or
 * 302 or if it does not contain EXPECT. Prints one line: requests, microseconds, p50, p99
 * and longest latency in microseconds, bad answers. The exit status is 1 if a connection failed.
 * The service and all of its floors use this program, because wrk cannot use UNIX sockets and
 * parses each answer in Lua on a core that the service needs. */
#include <arpa/inet.h>
#include <netinet/in.h>
#include <netinet/tcp.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <strings.h>
#include <sys/epoll.h>
#include <sys/socket.h>
#include <sys/un.h>
#include <time.h>
#include <unistd.h>

/* Largest request or answer, in octets; those of policy are below 4 kB, a list of 500 tools
 * has 110 kB. */
#define OCTETS_MAX (1 << 18)
#define CONNECTIONS_MAX 256
/* Largest file of requests, in octets: 20,000 requests of 500 octets need 10 MB. */
#define FILE_MAX (64 << 20)
/* Longest latency that is recorded exactly, in microseconds. */
#define LATENCY_MAX 1000000

struct connection {
    int fd;                      /* connected, blocking; read only when readable */
    size_t used;                 /* octets of the answer so far */
    long long sent_at;           /* microseconds */
    char answer[OCTETS_MAX + 1]; /* head and body */
};

struct load {
    long long interval, due; /* microseconds between requests, 0: none; when the next may go */
    struct connection *idle[CONNECTIONS_MAX]; /* answered, waiting for their turn */
    int idles;
    const char *expect;                  /* must be in every body */
    char *request;                       /* the same for all, head and body; or the next one */
    size_t length;                       /* of it */
    const char *end;                     /* of the file when each is sent once, else NULL */
    unsigned long requests, bad;         /* answered, and wrong among them */
    unsigned histogram[LATENCY_MAX + 1]; /* answers per microsecond */
};

static long long
now_us(void)
{
    struct timespec now;
    clock_gettime(CLOCK_MONOTONIC, &now);
    return (long long) now.tv_sec * 1000000 + now.tv_nsec / 1000;
}

static int
read_request(struct load *load, const char *path)
{
    FILE *file = fopen(path, "r");
    load->request = malloc(FILE_MAX);
    load->length =
        file != NULL && load->request != NULL ? fread(load->request, 1, FILE_MAX, file) : 0;
    if (file != NULL)
        fclose(file);
    if (load->length == 0 || load->length == FILE_MAX)
        return 0;
    const char *nul = memchr(load->request, 0, load->length);
    if (nul != NULL) {
        load->end = load->request + load->length;
        load->length = (size_t) (nul - load->request);
    }
    return load->length < OCTETS_MAX;
}

/* Move to the next request of a file with several; 0 if there is none. */
static int
next_request(struct load *load)
{
    if (load->end == NULL)
        return 1;
    load->request += load->length + 1;
    if (load->request >= load->end)
        return 0;
    load->length = strlen(load->request);
    return 1;
}

static int
connect_unix(const char *path)
{
    struct sockaddr_un address = {.sun_family = AF_UNIX};
    int fd = socket(AF_UNIX, SOCK_STREAM, 0);
    if (fd < 0 || strlen(path) >= sizeof(address.sun_path))
        return -1;
    strcpy(address.sun_path, path);
    return connect(fd, (const struct sockaddr *) &address, sizeof(address)) == 0 ? fd : -1;
}

static int
connect_tcp(const char *where)
{
    struct sockaddr_in address = {.sin_family = AF_INET};
    char host[INET_ADDRSTRLEN] = "";
    const char *colon = strchr(where, ':');
    int fd = socket(AF_INET, SOCK_STREAM, 0), on = 1;
    if (fd < 0 || colon == NULL || (size_t) (colon - where) >= sizeof(host))
        return -1;
    memcpy(host, where, (size_t) (colon - where));
    address.sin_port = htons((unsigned short) atoi(colon + 1));
    if (inet_pton(AF_INET, host, &address.sin_addr) != 1
        || setsockopt(fd, IPPROTO_TCP, TCP_NODELAY, &on, sizeof(on)) != 0)
        return -1;
    return connect(fd, (const struct sockaddr *) &address, sizeof(address)) == 0 ? fd : -1;
}

static int
connect_to(const char *address)
{
    return strncmp(address, "unix:", 5) == 0 ? connect_unix(address + 5) : connect_tcp(address);
}

static int
send_request(const struct load *load, struct connection *connection)
{
    connection->used = 0;
    connection->sent_at = now_us();
    for (size_t sent = 0; sent < load->length;) {
        ssize_t put = send(connection->fd, load->request + sent, load->length - sent, MSG_NOSIGNAL);
        if (put <= 0)
            return 0;
        sent += (size_t) put;
    }
    return 1;
}

/* Return the body of a complete answer; NULL while octets are missing. *ret_broken: it has no
 * length. */
static const char *
whole_body(const struct connection *connection, int *ret_broken)
{
    const char *end = strstr(connection->answer, "\r\n\r\n");
    const char *line = strstr(connection->answer, "\r\n");
    long length = -1;
    if (end == NULL)
        return NULL;
    for (; line != NULL && line < end; line = strstr(line + 2, "\r\n"))
        if (strncasecmp(line + 2, "Content-Length:", 15) == 0)
            length = strtol(line + 17, NULL, 10);
    if (length < 0)
        *ret_broken = 1;
    size_t head = (size_t) (end + 4 - connection->answer);
    return length >= 0 && connection->used >= head + (size_t) length ? end + 4 : NULL;
}

/* Print the first bad answer, which shows the cause. */
static void
note_answer(struct load *load, const struct connection *connection)
{
    long long us = now_us() - connection->sent_at;
    load->histogram[us < LATENCY_MAX ? us : LATENCY_MAX]++;
    load->requests++;
    int good = strncmp(connection->answer, "HTTP/1.1 200 ", 13) == 0
               || strncmp(connection->answer, "HTTP/1.1 302 ", 13) == 0;
    if (good && strstr(connection->answer, load->expect) != NULL)
        return;
    if (load->bad++ == 0)
        fprintf(stderr, "load: bad answer: %.600s\n", connection->answer);
}

/* Read what has arrived; 1 if the answer is complete, -1 if the connection failed. */
static int
read_answer(struct load *load, struct connection *connection)
{
    int broken = 0;
    ssize_t got = recv(connection->fd, connection->answer + connection->used,
                       OCTETS_MAX - connection->used, 0);
    if (got <= 0)
        return -1;
    connection->used += (size_t) got;
    connection->answer[connection->used] = '\0';
    const char *body = whole_body(connection, &broken);
    if (broken || (body == NULL && connection->used == OCTETS_MAX))
        return -1;
    if (body != NULL)
        note_answer(load, connection);
    return body != NULL;
}

static int
open_all(struct load *load, const char *address, struct connection *connections, int count)
{
    int poll = epoll_create1(0);
    for (int i = 0; i < count; i++) {
        struct epoll_event event = {.events = EPOLLIN, .data.ptr = &connections[i]};
        connections[i].fd = connect_to(address);
        if (connections[i].fd < 0 || epoll_ctl(poll, EPOLL_CTL_ADD, connections[i].fd, &event) != 0
            || !send_request(load, &connections[i]) || (i + 1 < count && !next_request(load)))
            return -1;
    }
    return poll;
}

/* Send the requests that are due; after a delay, at most one per connection is caught up. 0: a
 * connection failed; -1: all requests of the file are sent. */
static int
send_due(struct load *load)
{
    long long now = now_us();
    while (load->idles > 0 && load->due <= now) {
        if (!next_request(load))
            return -1;
        if (!send_request(load, load->idle[--load->idles]))
            return 0;
        load->due += load->interval;
    }
    if (load->due < now && load->idles == 0)
        load->due = now;
    return 1;
}

/* Return the milliseconds until the next request is due, rounded up; ten seconds if none waits. */
static int
patience(const struct load *load)
{
    long long left = load->due - now_us();
    return load->idles == 0 ? 10000 : left <= 0 ? 0 : (int) ((left + 999) / 1000);
}

/* Send load until the time is over and every request is answered. */
static int
run(struct load *load, int poll, int count, long long until)
{
    struct epoll_event events[CONNECTIONS_MAX];
    for (int waiting = count; waiting > 0;) {
        int ready = epoll_wait(poll, events, CONNECTIONS_MAX, patience(load));
        if (ready < 0 || (ready == 0 && load->idles == 0))
            return 0;
        for (int i = 0; i < ready; i++) {
            int done = read_answer(load, events[i].data.ptr);
            if (done < 0)
                return 0;
            if (done == 1)
                load->idle[load->idles++] = events[i].data.ptr;
        }
        int sent = now_us() < until ? send_due(load) : -1;
        if (sent == 0)
            return 0;
        if (sent < 0) {
            waiting -= load->idles;
            load->idles = 0;
            until = 0;
        }
    }
    return 1;
}

static unsigned
percentile(const struct load *load, double share)
{
    double wanted = (double) load->requests * share, seen = 0;
    for (unsigned us = 0; us < LATENCY_MAX; us++)
        if ((seen += load->histogram[us]) >= wanted)
            return us;
    return LATENCY_MAX;
}

int
main(int argc, char **argv)
{
    static struct load load;
    int whole = argc == 6 || argc == 7;
    int count = whole ? atoi(argv[4]) : 0, seconds = whole ? atoi(argv[5]) : 0;
    int rate = argc == 7 ? atoi(argv[6]) : 0;
    if (count < 1 || count > CONNECTIONS_MAX || seconds < 1 || (argc == 7 && rate < 1)) {
        fprintf(stderr, "usage: load ADDRESS REQUEST-FILE EXPECT CONNECTIONS SECONDS [RATE]\n");
        return 2;
    }
    struct connection *connections = calloc((size_t) count, sizeof(*connections));
    load.expect = argv[3];
    load.interval = rate > 0 ? 1000000 / rate : 0;
    if (connections == NULL || !read_request(&load, argv[2])) {
        fprintf(stderr, "load: %s is empty, too large or not readable\n", argv[2]);
        return 1;
    }
    long long start = load.due = now_us();
    int poll = open_all(&load, argv[1], connections, count);
    int ended = poll >= 0 && run(&load, poll, count, start + seconds * 1000000LL);
    printf("requests=%lu us=%lld p50=%u p99=%u max=%u bad=%lu\n", load.requests, now_us() - start,
           percentile(&load, 0.50), percentile(&load, 0.99), percentile(&load, 1), load.bad);
    if (!ended)
        fprintf(stderr, "load: a connection to %s failed\n", argv[1]);
    free(connections);
    return !ended; /* the request's memory ends with the process */
}
