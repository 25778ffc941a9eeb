/* The upstream of contrib/bench/gateway: answers what the gateway and the load generator ask of it.
 *
 *   upstream PORT EVENTS MILLISECONDS
 *
 * GET /plain   {"answer":42}
 * POST /mcp    a JSON-RPC answer as MCP servers of revision 2026-07-28 give it
 * GET /stream  a stream of EVENTS events (text/event-stream), one every MILLISECONDS
 * GET /hang    nothing, until the other side closes or GET /release comes
 *
 * One process, 127.0.0.1, connections that stay open; a request is at most 64 KiB. */
#include <arpa/inet.h>
#include <netinet/in.h>
#include <netinet/tcp.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <strings.h>
#include <sys/epoll.h>
#include <sys/socket.h>
#include <time.h>
#include <unistd.h>

#define OCTETS_MAX 65536
#define CONNECTIONS_MAX 1024

struct connection {
    int fd; /* 0: free */
    size_t used;
    long long due; /* milliseconds: the next event of a stream; 0: none */
    int sent;      /* events */
    int hangs;
    char request[OCTETS_MAX + 1];
};

static struct connection *connections;
static int events_each, pause_ms;

static long long
now_ms(void)
{
    struct timespec now;
    clock_gettime(CLOCK_MONOTONIC, &now);
    return (long long) now.tv_sec * 1000 + now.tv_nsec / 1000000;
}

static void
drop(struct connection *connection)
{
    close(connection->fd);
    connection->fd = 0;
}

static void
put(struct connection *connection, const char *text)
{
    size_t length = strlen(text);
    if (send(connection->fd, text, length, MSG_NOSIGNAL) != (ssize_t) length)
        drop(connection);
}

static void
put_answer(struct connection *connection, const char *body)
{
    char text[2048];
    snprintf(text, sizeof(text),
             "HTTP/1.1 200 OK\r\nContent-Type: application/json\r\nContent-Length: %zu\r\n\r\n%s",
             strlen(body), body);
    put(connection, text);
}

/* Answer a message with its own id. */
static void
put_mcp(struct connection *connection, const char *body)
{
    const char *id = strstr(body, "\"id\":"), *result;
    char text[1024];
    int length = id != NULL ? (int) strcspn(id + 5, ",}") : 0;
    if (strstr(body, "\"server/discover\"") != NULL)
        result = "\"supportedVersions\":[\"2026-07-28\"],\"capabilities\":{\"tools\":{}}";
    else if (strstr(body, "\"tools/list\"") != NULL)
        result = "\"ttlMs\":1000,\"cacheScope\":\"public\",\"tools\":[{\"name\":\"answer\","
                 "\"description\":\"Answer.\",\"inputSchema\":{\"type\":\"object\"}}]";
    else
        result = "\"content\":[{\"type\":\"text\",\"text\":\"42\"}]";
    snprintf(text, sizeof(text),
             "{\"jsonrpc\":\"2.0\",\"id\":%.*s,\"result\":{\"resultType\":\"complete\",%s}}",
             length, id != NULL ? id + 5 : "", result);
    put_answer(connection, text);
}

static void
begin_stream(struct connection *connection)
{
    put(connection,
        "HTTP/1.1 200 OK\r\nContent-Type: text/event-stream\r\nConnection: close\r\n\r\n");
    connection->sent = 0;
    connection->due = now_ms() + pause_ms;
}

static void
next_event(struct connection *connection)
{
    char text[64];
    snprintf(text, sizeof(text), "data: event %d\n\n", ++connection->sent);
    connection->due += pause_ms;
    put(connection, text);
    if (connection->fd != 0 && connection->sent == events_each)
        drop(connection);
}

static void
release(void)
{
    for (int i = 0; i < CONNECTIONS_MAX; i++)
        if (connections[i].fd != 0 && connections[i].hangs)
            drop(&connections[i]);
}

/* Read what has arrived; answer each whole request. */
static void
read_more(struct connection *connection)
{
    ssize_t got = recv(connection->fd, connection->request + connection->used,
                       OCTETS_MAX - connection->used, 0);
    if (got <= 0) {
        drop(connection);
        return;
    }
    connection->used += (size_t) got;
    connection->request[connection->used] = '\0';
    char *end = strstr(connection->request, "\r\n\r\n"), *field;
    if (end == NULL)
        return;
    field = strcasestr(connection->request, "\r\nContent-Length:");
    size_t length = field != NULL && field < end ? (size_t) atol(field + 17) : 0;
    if (connection->used < (size_t) (end + 4 - connection->request) + length)
        return;
    connection->used = 0;
    if (strncmp(connection->request, "POST /mcp", 9) == 0)
        put_mcp(connection, end + 4);
    else if (strncmp(connection->request, "GET /stream", 11) == 0)
        begin_stream(connection);
    else if (strncmp(connection->request, "GET /hang", 9) == 0)
        connection->hangs = 1;
    else
        put_answer(connection, "{\"answer\":42}");
    if (strncmp(connection->request, "GET /release", 12) == 0)
        release();
}

static void
accept_one(int listening, int poll)
{
    int fd = accept(listening, NULL, NULL), on = 1;
    for (int i = 0; fd >= 0 && i < CONNECTIONS_MAX; i++)
        if (connections[i].fd == 0) {
            struct epoll_event event = {.events = EPOLLIN, .data.ptr = &connections[i]};
            connections[i] = (struct connection){.fd = fd};
            setsockopt(fd, IPPROTO_TCP, TCP_NODELAY, &on, sizeof(on));
            epoll_ctl(poll, EPOLL_CTL_ADD, fd, &event);
            return;
        }
    close(fd);
}

/* Send the events that are due; return the milliseconds until the next one, -1 without any. */
static int
send_due(void)
{
    long long now = now_ms(), next = -1;
    for (int i = 0; i < CONNECTIONS_MAX; i++) {
        struct connection *connection = &connections[i];
        while (connection->fd != 0 && connection->due != 0 && connection->due <= now)
            next_event(connection);
        if (connection->fd != 0 && connection->due != 0 && (next < 0 || connection->due < next))
            next = connection->due;
    }
    return next < 0 ? -1 : (int) (next - now);
}

int
main(int argc, char **argv)
{
    struct sockaddr_in address = {.sin_family = AF_INET, .sin_addr.s_addr = htonl(INADDR_LOOPBACK)};
    int listening = socket(AF_INET, SOCK_STREAM, 0), poll = epoll_create1(0), on = 1;
    connections = calloc(CONNECTIONS_MAX, sizeof(*connections));
    if (argc != 4 || connections == NULL) {
        fprintf(stderr, "usage: upstream PORT EVENTS MILLISECONDS\n");
        return 2;
    }
    address.sin_port = htons((unsigned short) atoi(argv[1]));
    events_each = atoi(argv[2]);
    pause_ms = atoi(argv[3]);
    setsockopt(listening, SOL_SOCKET, SO_REUSEADDR, &on, sizeof(on));
    struct epoll_event event = {.events = EPOLLIN, .data.ptr = NULL};
    if (bind(listening, (struct sockaddr *) &address, sizeof(address)) != 0
        || listen(listening, CONNECTIONS_MAX) != 0
        || epoll_ctl(poll, EPOLL_CTL_ADD, listening, &event) != 0) {
        perror("upstream");
        return 1;
    }
    for (;;) {
        struct epoll_event ready[64];
        int count = epoll_wait(poll, ready, 64, send_due());
        for (int i = 0; i < count; i++) {
            struct connection *connection = ready[i].data.ptr;
            if (connection == NULL)
                accept_one(listening, poll);
            else if (connection->fd != 0)
                read_more(connection);
        }
    }
}
