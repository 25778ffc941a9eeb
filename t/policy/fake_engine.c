#include "config.h"

#include "policy/fake_engine.h"

#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/prctl.h>
#include <sys/socket.h>
#include <sys/un.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#include "env.h"

/* Octets of the longest request that is read. */
#define REQUEST_MAX (1 << 20)

static void
stop(struct fake_engine *fake)
{
    if (fake->server > 0) {
        kill(fake->server, SIGKILL);
        waitpid(fake->server, NULL, 0);
    }
    fake->server = 0;
}

static int
destroy(struct fake_engine *fake)
{
    stop(fake);
    close(fake->listener);
    return 0;
}

struct fake_engine *
fake_engine_new(TALLOC_CTX *mem)
{
    struct fake_engine *fake = talloc_zero(mem, struct fake_engine);
    const char *dir = env_directory(mem);
    struct sockaddr_un address = {.sun_family = AF_UNIX};
    snprintf(address.sun_path, sizeof(address.sun_path), "%s/opa", dir);
    fake->url = talloc_asprintf(fake, "unix:%s", address.sun_path);
    fake->seen = talloc_asprintf(fake, "%s/seen", dir);
    fake->listener = socket(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0);
    if (bind(fake->listener, (struct sockaddr *) &address, sizeof(address)) != 0
        || listen(fake->listener, 16) != 0) {
        perror(address.sun_path);
        exit(99);
    }
    talloc_set_destructor(fake, destroy);
    return fake;
}

/* Read a header and its body by Content-Length, and keep them; false at the end. */
static bool
read_request(const struct fake_engine *fake, int connection)
{
    static char text[REQUEST_MAX + 1];
    size_t used = 0, wanted = 0;
    while (wanted == 0 || used < wanted) {
        ssize_t got = read(connection, text + used, REQUEST_MAX - used);
        if (got <= 0)
            return false;
        text[used += (size_t) got] = '\0';
        const char *end = strstr(text, "\r\n\r\n"), *length = strstr(text, "Content-Length: ");
        if (end != NULL)
            wanted = (size_t) (end + 4 - text)
                     + (length != NULL && length < end ? strtoul(length + 16, NULL, 10) : 0);
    }
    FILE *file = fopen(fake->seen, "wb");
    fwrite(text, 1, used, file);
    fclose(file);
    return true;
}

/* Wait until the test lets the next piece go, or tell that it was sent. */
static void
pass_gate(const struct reply *reply, size_t at, bool sent)
{
    char octet = '.';
    if (reply->gate > 0 && at > 0
        && (sent ? write(reply->gate, &octet, 1) : read(reply->gate, &octet, 1)) != 1)
        _exit(99);
}

static bool
send_reply(int connection, const struct reply *reply)
{
    size_t piece = reply->piece > 0 ? reply->piece : reply->length;
    do
        for (size_t at = 0; at < reply->length;) {
            size_t size = reply->length - at < piece ? reply->length - at : piece;
            if (reply->pause_ms > 0)
                nanosleep(
                    &(struct timespec){reply->pause_ms / 1000, reply->pause_ms % 1000 * 1000000L},
                    NULL);
            pass_gate(reply, at, false);
            ssize_t sent = send(connection, reply->text + at, size, MSG_NOSIGNAL);
            if (sent <= 0)
                return false;
            pass_gate(reply, at, true);
            at += (size_t) sent;
        }
    while (reply->endless);
    return true;
}

static void
serve(const struct fake_engine *fake, const struct reply *replies, size_t count)
{
    int connection = -1;
    for (size_t i = 0; i < count;) {
        if (connection < 0)
            connection = accept(fake->listener, NULL, NULL);
        bool asked = read_request(fake, connection);
        bool open = asked && send_reply(connection, &replies[i]) && replies[i].keep;
        i += asked;
        if (!open) {
            close(connection);
            connection = -1;
        }
    }
    /* Connections stay open until the test ends this process. */
    pause();
}

void
fake_engine_serve(struct fake_engine *fake, const struct reply *replies, size_t count)
{
    stop(fake);
    unlink(fake->seen);
    fflush(NULL);
    fake->server = fork();
    if (fake->server < 0)
        exit(99);
    if (fake->server == 0) {
        prctl(PR_SET_PDEATHSIG, SIGKILL); /* a test that ends by a signal leaves no process */
        serve(fake, replies, count);
        _exit(0);
    }
}

const char *
fake_engine_seen(TALLOC_CTX *mem, const struct fake_engine *fake)
{
    char *text = talloc_zero_size(mem, REQUEST_MAX + 1);
    FILE *file = fopen(fake->seen, "rb");
    if (file != NULL) {
        text[fread(text, 1, REQUEST_MAX, file)] = '\0';
        fclose(file);
    }
    return text;
}

const char *
fake_engine_answer(TALLOC_CTX *mem, const char *status, const char *body)
{
    return talloc_asprintf(mem,
                           "HTTP/1.1 %s\r\nContent-Type: application/json\r\n"
                           "Content-Length: %zu\r\n\r\n%s",
                           status, strlen(body), body);
}
