#include "config.h"

#include "gateway/mcp/ask/carry_talk.h"

#include <poll.h>
#include <string.h>
#include <sys/socket.h>

#include "base/b64url.h"
#include "base/json/jsonx.h"
#include "crypto/digest.h"

/* Octets of one piece: several of them fit into the buffer of a socket. */
#define PIECE_OCTETS 32768
/* Time in which the other worker takes a piece, in milliseconds: it does nothing else. */
#define SAY_MS 10000

/* First octet of a piece, and the word for a question that was given. */
#define GOES_ON 'm'
#define IS_LAST 'e'
#define KEPT '+'

bool
talk_say(int connection, const char *text, size_t length)
{
    char piece[PIECE_OCTETS + 1];
    bool said = true;
    for (size_t at = 0, part = 1; said && part > 0 && at < length; at += part) {
        struct pollfd waited = {.fd = connection, .events = POLLOUT};
        part = length - at < PIECE_OCTETS ? length - at : PIECE_OCTETS;
        piece[0] = at + part == length ? IS_LAST : GOES_ON;
        memcpy(piece + 1, text + at, part);
        said =
            poll(&waited, 1, SAY_MS) == 1
            && send(connection, piece, part + 1, MSG_DONTWAIT | MSG_NOSIGNAL) == (ssize_t) part + 1;
    }
    return said;
}

enum az_status
talk_hear(int connection, struct buf *text, bool *ret_whole)
{
    char piece[PIECE_OCTETS + 1];
    ssize_t got = recv(connection, piece, sizeof(piece), MSG_DONTWAIT);
    if (got <= 0)
        return AZ_NOT_FOUND;
    *ret_whole = piece[0] == IS_LAST;
    return buf_append(text, piece + 1, (size_t) got - 1);
}

bool
talk_keep(int connection)
{
    const char word = KEPT;
    return send(connection, &word, 1, MSG_DONTWAIT | MSG_NOSIGNAL) == 1;
}

bool
talk_is_kept(int connection, int ms)
{
    struct pollfd waited = {.fd = connection, .events = POLLIN};
    char word = '\0';
    return poll(&waited, 1, ms) == 1 && recv(connection, &word, 1, MSG_DONTWAIT) == 1
           && word == KEPT;
}

bool
talk_has_ended(int connection)
{
    struct pollfd kept = {.fd = connection};
    return poll(&kept, 1, 0) == 1 && (kept.revents & (POLLHUP | POLLERR)) != 0;
}

const char *
talk_duties(TALLOC_CTX *mem, const struct mcp_round *round)
{
    const struct gateway_obligations *of = round->obligations;
    unsigned char hash[SHA256_OCTETS];
    json_t *headers = json_object_size(of->headers) > 0 ? of->headers : NULL;
    json_t *duties = jsonx_own(mem, json_pack("[I,I,b,O?]", (json_int_t) round->resource->version,
                                              (json_int_t) of->response_max_bytes,
                                              (int) of->approve_by_ciba, headers));
    const char *text = duties != NULL ? jsonx_dump_sorted(mem, duties) : NULL;
    return text != NULL && sha256(text, strlen(text), hash) == AZ_OK
               ? b64url_encode(mem, hash, sizeof(hash))
               : NULL;
}
