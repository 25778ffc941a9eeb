#include "config.h"

#include "gateway/relay/relay_stream.h"

#include <fastcgi.h>
#include <string.h>
#include <sys/socket.h>
#include <unistd.h>

#include "gateway/relay/relay_message.h"
#include "tap.h"

static const struct relay_hold example = {
    .request = 0x0102,
    .resource = 7,
    .topics = RELAY_TOOLS,
    .text = {"tools", "", "", "", "", "bye", "request", "client", "", "/gateway/mcp", "POST",
             "listen"},
};

/* A stream, and the web server's end of its connection. */
static struct relay_stream *
make_stream(int *ret_server)
{
    int ends[2], reply[2];
    if (socketpair(AF_UNIX, SOCK_STREAM, 0, ends) != 0
        || socketpair(AF_UNIX, SOCK_SEQPACKET, 0, reply) != 0)
        return NULL;
    close(reply[0]);
    *ret_server = ends[1];
    return relay_stream_new(NULL, &example, ends[0], reply[1]);
}

static void
test_message(void)
{
    static char room[RELAY_MESSAGE_MAX], long_text[RELAY_MESSAGE_MAX];
    struct relay_hold read, long_one = example;
    size_t length = relay_message_write(&example, room);
    ok(length > 0 && relay_message_read(room, length, &read),
       "a message is read as it was written");
    is_int(read.request, example.request, "... with its numbers");
    is_str(read.text[RELAY_LAST], "bye", "... and its texts");
    ok(!relay_message_read(room, length - 1, &read), "one that breaks off is none");
    ok(!relay_message_read(room, 10, &read), "... nor one without texts");
    ok(!relay_message_read(room, length + 1, &read), "... nor one with octets behind it");
    memset(long_text, 'x', sizeof(long_text) - 1);
    long_one.text[RELAY_LAST] = long_text;
    is_int((int64_t) relay_message_write(&long_one, room), 0,
           "texts that are too long are refused");
}

/* Send a message with so many copies of a descriptor. */
static void
send_message(int line, char *message, size_t length, int passed, size_t copies)
{
    union {
        struct cmsghdr align;
        char room[CMSG_SPACE(RELAY_DESCRIPTORS * sizeof(int))];
    } control = {.room = {0}};
    struct iovec part = {message, length};
    struct msghdr header = {.msg_iov = &part,
                            .msg_iovlen = 1,
                            .msg_control = control.room,
                            .msg_controllen = sizeof(control.room)};
    struct cmsghdr *rights = CMSG_FIRSTHDR(&header);
    rights->cmsg_level = SOL_SOCKET;
    rights->cmsg_type = SCM_RIGHTS;
    rights->cmsg_len = CMSG_LEN(copies * sizeof(int));
    for (size_t i = 0; i < copies; i++)
        memcpy(CMSG_DATA(rights) + i * sizeof(int), &passed, sizeof(int));
    header.msg_controllen = CMSG_SPACE(copies * sizeof(int));
    ok(sendmsg(line, &header, 0) == (ssize_t) length, "a message is sent");
}

/* What is passed with a message that is no good stays open nowhere: each would be one of the
 * relay's for ever. */
static void
test_descriptors(void)
{
    static char room[RELAY_MESSAGE_MAX], got[RELAY_MESSAGE_MAX];
    static const struct {
        size_t copies, cut;
        const char *name;
    } bad[] = {
        {1, 0, "a message with one descriptor, as at the limit of open files, is none"},
        {2, 1, "one that breaks off is none"                                          },
    };
    int line[2], ends[2], passed[RELAY_DESCRIPTORS];
    char octet;
    struct relay_hold hold;
    size_t length = relay_message_write(&example, room);
    if (socketpair(AF_UNIX, SOCK_DGRAM, 0, line) != 0)
        return;
    for (size_t i = 0; i < sizeof(bad) / sizeof(bad[0]) && pipe(ends) == 0; i++) {
        send_message(line[0], room, length - bad[i].cut, ends[1], bad[i].copies);
        close(ends[1]);
        ok(!relay_message_receive(line[1], got, &hold, passed), "%s", bad[i].name);
        is_int(read(ends[0], &octet, 1), 0, "... and leaves no descriptor open");
        close(ends[0]);
    }
    if (pipe(ends) != 0)
        return;
    send_message(line[0], room, length, ends[1], RELAY_DESCRIPTORS);
    ok(relay_message_receive(line[1], got, &hold, passed), "a whole one is received");
    is_str(hold.text[RELAY_CLIENT], "client", "... with its texts");
    ok(write(passed[0], "a", 1) == 1 && write(passed[1], "b", 1) == 1, "... and both descriptors");
    ok(!relay_message_receive(line[1], got, &hold, passed), "... once");
}

static void
test_records(void)
{
    static const unsigned char told[] = {1, FCGI_STDOUT, 1, 2, 0, 5, 0, 0, 't', 'o', 'o', 'l', 's'};
    static const unsigned char ended[] = {
        1, FCGI_STDOUT,      1, 2, 0, 3, 0, 0, 'b', 'y', 'e', 1, FCGI_STDOUT, 1, 2, 0, 0, 0, 0,
        1, FCGI_END_REQUEST, 1, 2, 0, 8, 0, 0, 0,   0,   0,   0, 0,           0, 0, 0};
    unsigned char got[256];
    int server = -1;
    struct relay_stream *stream = make_stream(&server);
    relay_stream_send(stream, "tools", 5);
    ssize_t length = read(server, got, sizeof(got));
    is_bin(got, (size_t) length, told, sizeof(told),
           "an event is a record of the answer (FastCGI 1.0 3.3)");
    is_int(stream->written_ms, 5, "... whose time is noted");
    relay_stream_end(stream, "token", 6);
    length = read(server, got, sizeof(got));
    is_bin(got, (size_t) length, ended, sizeof(ended),
           "the last events end the answer and the request (5.5)");
    is_str(stream->ended, "token", "... for a reason");
    talloc_free(stream);
    is_int(read(server, got, sizeof(got)), 0, "a stream that is freed closes its connection");
    close(server);
}

static void
test_web_server(void)
{
    static const unsigned char other[] = {1, FCGI_STDIN, 1, 2, 0, 2, 1, 0, 'a', 'b', 0};
    static const unsigned char abort_it[] = {1, FCGI_ABORT_REQUEST, 1, 2, 0, 0, 0, 0};
    static const unsigned char bad[] = {2, FCGI_STDIN, 1, 2, 0, 0, 0, 0};
    static const struct {
        const unsigned char *octets;
        size_t length;
        const char *ended, *name;
    } cases[] = {
        {abort_it, sizeof(abort_it), "client_left", "an abort ends a stream (FastCGI 1.0 5.4)" },
        {bad,      sizeof(bad),      "malformed",   "a record of another version ends it (3.3)"},
        {NULL,     0,                "client_left", "the end of the connection ends it"        },
    };
    for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
        int server = -1;
        struct relay_stream *stream = make_stream(&server);
        for (size_t j = 0; j < sizeof(other); j++) {
            ok(write(server, other + j, 1) == 1, "an octet of another record");
            relay_stream_read(stream);
        }
        is_str(stream->ended, NULL, "... does not end it");
        if (cases[i].octets != NULL)
            ok(write(server, cases[i].octets, cases[i].length) > 0, "a record");
        else
            close(server);
        relay_stream_read(stream);
        is_str(stream->ended, cases[i].ended, "%s", cases[i].name);
        talloc_free(stream);
        if (cases[i].octets != NULL)
            close(server);
    }
}

/* A reader that takes nothing: the socket is full, then RELAY_UNSENT_MAX octets are kept. */
static void
test_slow_reader(void)
{
    static char event[1025];
    int server = -1;
    size_t sent = 0, most = 0, got = 0;
    struct relay_stream *stream = make_stream(&server);
    memset(event, 'x', sizeof(event) - 1);
    while (stream->ended == NULL && sent < 10000) {
        most = stream->unsent_length;
        relay_stream_send(stream, event, 0);
        sent++;
    }
    is_str(stream->ended, "slow_reader", "a reader that takes nothing ends its stream");
    ok(most > RELAY_UNSENT_MAX - 2048 && most <= RELAY_UNSENT_MAX, "... when 16 KiB wait for it");
    talloc_free(stream);
    close(server);

    stream = make_stream(&server);
    for (sent = 0; stream->unsent_length == 0; sent++)
        relay_stream_send(stream, event, 0);
    char octets[4096];
    for (ssize_t part; (part = recv(server, octets, sizeof(octets), MSG_DONTWAIT)) > 0;) {
        got += (size_t) part;
        if (stream->unsent_length > 0)
            relay_stream_flush(stream);
    }
    is_str(stream->ended, NULL, "one that reads on keeps its stream");
    is_int((int64_t) got, (int64_t) (sent * (sizeof(event) - 1 + FCGI_HEADER_LEN)),
           "... and gets every octet");
    talloc_free(stream);
    close(server);
}

/* The events of URIs are told by their bits. */
static void
test_updates(void)
{
    unsigned char got[256];
    int server = -1;
    struct relay_stream *stream = make_stream(&server);
    talloc_free((char *) (uintptr_t) stream->hold.text[RELAY_EVENTS_UPDATED]);
    stream->hold.text[RELAY_EVENTS_UPDATED] =
        talloc_strdup(stream, "data: a\n\ndata: b\n\ndata: c\n\n");
    stream->hold.uris = 3;
    stream->due_uris = 1 << 0 | 1 << 2;
    relay_stream_update(stream, 5);
    ssize_t length = read(server, got, sizeof(got));
    ok(length == 2 * (FCGI_HEADER_LEN + 9) && memcmp(got + FCGI_HEADER_LEN, "data: a\n\n", 9) == 0
           && memcmp(got + length - 9, "data: c\n\n", 9) == 0,
       "the events of the URIs that are due are told, and no other");
    ok(stream->due_uris == 0, "... once");
    talloc_free(stream);
    close(server);
}

int
main(void)
{
    plan(0);
    test_message();
    test_descriptors();
    test_records();
    test_web_server();
    test_slow_reader();
    test_updates();
    return done();
}
