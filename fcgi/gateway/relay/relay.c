#include "config.h"

#include "gateway/relay/relay.h"

#include <errno.h>
#include <poll.h>
#include <string.h>
#include <sys/eventfd.h>
#include <sys/socket.h>
#include <unistd.h>

#include "crypto/random.h"
#include "gateway/process/gateway_process.h"
#include "gateway/relay/relay_message.h"
#include "host/post.h"

/* Longest wait for the relay's answer, in milliseconds. It answers at once, or after one trip to
 * the database. */
#define ANSWER_MS 5000

struct relay_line {
    struct post *post; /* from workers to the relay */
    int bell;          /* of the feeder: an eventfd */
    unsigned char feeder[FEED_HOLDER_OCTETS];
};

struct relay_reservation {
    int reply; /* to the relay, about this stream */
};

static int
line_free(struct relay_line *line)
{
    if (line->bell >= 0)
        close(line->bell);
    return 0;
}

static int
reservation_free(struct relay_reservation *reservation)
{
    close(reservation->reply);
    return 0;
}

struct relay_line *
relay_line_new(TALLOC_CTX *mem)
{
    struct relay_line *line = talloc_zero(mem, struct relay_line);
    if (line == NULL)
        return NULL;
    line->post = post_new(line);
    line->bell = eventfd(0, EFD_CLOEXEC | EFD_NONBLOCK);
    talloc_set_destructor(line, line_free);
    if (line->post == NULL || line->bell < 0
        || random_octets(line->feeder, sizeof(line->feeder)) != AZ_OK)
        TALLOC_FREE(line);
    return line;
}

void
relay_ring(const struct relay_line *line)
{
    /* It fails where the number of rings is full, and then it rings. */
    eventfd_write(line->bell, 1);
}

int
relay_bell(const struct relay_line *line)
{
    return line->bell;
}

const unsigned char *
relay_feeder(const struct relay_line *line)
{
    return line->feeder;
}

int
relay_line_receiver(const struct relay_line *line)
{
    return post_receiver(line->post);
}

/* Wait for the relay's answer; 0: no answer. */
static char
await_answer(int reply)
{
    struct pollfd waited = {.fd = reply, .events = POLLIN};
    char answer = 0;
    if (poll(&waited, 1, ANSWER_MS) != 1 || recv(reply, &answer, 1, MSG_DONTWAIT) != 1)
        return 0;
    return answer;
}

/* Turn the relay's answer into a status. */
static enum az_status
judge_answer(struct op *op, char answer)
{
    static const struct {
        char answer;
        const char *why;
    } full[] = {
        {RELAY_CLIENT_FULL, "the client has as many streams as it may have" },
        {RELAY_PERSON_FULL, "the person has as many streams as one may have"},
        {RELAY_FULL,        "SVC_GATEWAY_STREAMS: all streams are taken"    },
    };
    if (answer == RELAY_HELD)
        return AZ_OK;
    if (answer == RELAY_SESSION_FULL)
        return op_fail(op, AZ_CONFLICT, "The session has a stream already", NULL);
    for (size_t i = 0; i < sizeof(full) / sizeof(full[0]); i++)
        if (answer == full[i].answer)
            return op_fail(op, AZ_BUSY, "Too many streams are open; try again later", "%s",
                           full[i].why);
    return op_fail(op, AZ_UNAVAILABLE, NULL, "the relay of streams %s",
                   answer == RELAY_NO_DATABASE ? "cannot read the database" : "does not answer");
}

enum az_status
relay_reserve(struct op *op, int connection, const struct relay_hold *hold,
              struct relay_reservation **ret)
{
    int ends[2];
    char *message = talloc_size(op->mem, RELAY_MESSAGE_MAX);
    struct relay_reservation *reservation = talloc_zero(op->mem, struct relay_reservation);
    size_t length = message != NULL ? relay_message_write(hold, message) : 0;
    if (reservation == NULL || length == 0 || !post_pair(ends))
        return op_fail(op, AZ_SERVER_ERROR, NULL, "a stream cannot be handed over");
    reservation->reply = ends[0];
    talloc_set_destructor(reservation, reservation_free);
    const int passed[RELAY_DESCRIPTORS] = {connection, ends[1]};
    bool sent = post_send(op->az->gateway->relay->post, message, length, passed, RELAY_DESCRIPTORS);
    close(ends[1]);
    talloc_free(message);
    *ret = reservation;
    return judge_answer(op, sent ? await_answer(reservation->reply) : 0);
}

bool
relay_start(struct relay_reservation *reservation)
{
    const char go = RELAY_GO;
    return send(reservation->reply, &go, 1, MSG_DONTWAIT | MSG_NOSIGNAL) == 1;
}
