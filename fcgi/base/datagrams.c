#include "config.h"

#include "base/datagrams.h"

#include <poll.h>
#include <sys/socket.h>
#include <unistd.h>

/* Octets of the queue that are asked for; the kernel gives what net.core.wmem_max allows. */
#define QUEUE_OCTETS (1 << 20)

struct datagrams {
    int send, receive; /* ends of the socket */
};

static int
datagrams_free(struct datagrams *queue)
{
    close(queue->send);
    close(queue->receive);
    return 0;
}

struct datagrams *
datagrams_new(TALLOC_CTX *mem)
{
    const int size = QUEUE_OCTETS;
    int ends[2];
    struct datagrams *queue = talloc(mem, struct datagrams);
    if (queue == NULL || socketpair(AF_UNIX, SOCK_DGRAM | SOCK_CLOEXEC, 0, ends) != 0) {
        talloc_free(queue);
        return NULL;
    }
    *queue = (struct datagrams){.send = ends[0], .receive = ends[1]};
    setsockopt(queue->send, SOL_SOCKET, SO_SNDBUF, &size, sizeof(size));
    talloc_set_destructor(queue, datagrams_free);
    return queue;
}

bool
datagrams_send(const struct datagrams *queue, const void *octets, size_t length)
{
    return send(queue->send, octets, length, MSG_DONTWAIT | MSG_NOSIGNAL) == (ssize_t) length;
}

ssize_t
datagrams_receive(const struct datagrams *queue, int ms, void *room, size_t size)
{
    struct pollfd waited = {.fd = queue->receive, .events = POLLIN};
    return poll(&waited, 1, ms) > 0 ? recv(queue->receive, room, size, MSG_DONTWAIT) : -1;
}
