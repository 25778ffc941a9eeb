#include "config.h"

#include "base/pack.h"

#include <stdint.h>
#include <string.h>
#include <zlib.h>

#include "tap.h"

/* The window the format fixes (pack.c); a stream with another one is damage. */
#define WINDOW_BITS (-12)

static void
round_trip(TALLOC_CTX *mem, const char *text, size_t length, const char *name)
{
    unsigned char *packed = NULL;
    char *back = NULL;
    size_t packed_length = 0, back_length = 0;
    is_int(pack_text(mem, text, length, &packed, &packed_length), AZ_OK, "packs %s", name);
    is_int(unpack_text(mem, packed, packed_length, &back, &back_length), AZ_OK, "... unpacks it");
    ok(back_length == length && memcmp(back, text, length) == 0 && back[length] == '\0',
       "... to the same octets and a NUL");
    talloc_free(packed);
    talloc_free(back);
}

/* Text that deflate cannot shrink, the same each time. */
static char *
noise(TALLOC_CTX *mem, size_t length)
{
    char *text = talloc_size(mem, length);
    uint32_t state = 2463534242u;
    for (size_t i = 0; i < length; i++) {
        state ^= state << 13, state ^= state >> 17, state ^= state << 5;
        text[i] = (char) state;
    }
    return text;
}

static void
test_round_trips(TALLOC_CTX *mem)
{
    static const char input[] =
        "{\"schema\":1,\"evaluation\":\"issue\",\"issuer\":\"https://"
        "as.example\",\"client\":{\"id\":"
        "\"demo\",\"type\":\"confidential\",\"registration\":\"ADMIN\",\"enabled\":true}}";
    unsigned char *packed = NULL;
    size_t length = 0;
    char *zeros = talloc_zero_size(mem, PACK_TEXT_MAX + 1), *random = noise(mem, PACK_TEXT_MAX);
    round_trip(mem, "", 0, "nothing");
    round_trip(mem, "x", 1, "one octet");
    round_trip(mem, "a\0b", 3, "a NUL inside");
    round_trip(mem, input, strlen(input), "a policy input");
    round_trip(mem, zeros, PACK_TEXT_MAX - 1, "one octet less than the largest, all alike");
    round_trip(mem, zeros, PACK_TEXT_MAX, "the largest text, all alike");
    round_trip(mem, random, PACK_TEXT_MAX, "the largest text, all different");
    round_trip(mem, random, 5000, "noise larger than the window");
    pack_text(mem, input, strlen(input), &packed, &length);
    ok(length * 2 < strlen(input),
       "the dictionary makes a small input smaller than half (%zu of %zu)", length, strlen(input));
    packed = NULL;
    length = 77;
    is_int(pack_text(mem, zeros, PACK_TEXT_MAX + 1, &packed, &length), AZ_SERVER_ERROR,
           "a text one octet longer than the largest is refused");
    ok(packed == NULL && length == 77, "... and the outputs are untouched");
}

/* Unpacks and looks that nothing was handed out. */
static void
refused(TALLOC_CTX *mem, const unsigned char *packed, size_t length, const char *why)
{
    char *text = NULL;
    size_t text_length = 77;
    size_t before = talloc_total_size(mem);
    enum az_status st = unpack_text(mem, packed, length, &text, &text_length);
    ok(st == AZ_INVALID && text == NULL && text_length == 77, "refuses %s", why);
    is_int((int64_t) talloc_total_size(mem), (int64_t) before, "... and keeps no memory");
}

/* Raw deflate of `length` zeros, without the dictionary, behind the octet that names it. */
static unsigned char *
make_bomb(TALLOC_CTX *mem, size_t length, size_t *ret_length)
{
    z_stream stream = {.next_in = NULL};
    char *zeros = talloc_zero_size(mem, length);
    unsigned char *out = talloc_size(mem, length / 100 + 1000);
    out[0] = 1;
    deflateInit2(&stream, 9, Z_DEFLATED, WINDOW_BITS, 8, Z_DEFAULT_STRATEGY);
    stream.next_in = (Bytef *) zeros;
    stream.avail_in = (uInt) length;
    stream.next_out = out + 1;
    stream.avail_out = (uInt) (length / 100 + 999);
    deflate(&stream, Z_FINISH);
    *ret_length = 1 + stream.total_out;
    deflateEnd(&stream);
    talloc_free(zeros);
    return out;
}

static void
test_refused(TALLOC_CTX *mem)
{
    unsigned char *packed, *bomb;
    size_t length, bomb_length, opened = 0;
    static const char text[] = "{\"allow\":true,\"scopes\":[\"orders.read\"]}";
    pack_text(mem, text, strlen(text), &packed, &length);
    refused(mem, packed, 0, "nothing at all");
    refused(mem, packed, 1, "the dictionary's number alone");
    for (int number = 0; number < 256; number += number == 0 ? 2 : 1) {
        unsigned char *copy = talloc_memdup(mem, packed, length);
        char *out;
        size_t out_length;
        copy[0] = (unsigned char) number;
        opened += unpack_text(mem, copy, length, &out, &out_length) != AZ_INVALID;
        talloc_free(copy);
    }
    is_int((int64_t) opened, 0, "refuses every dictionary number but the ones there are");
    for (size_t cut = 1; cut < length; cut++) {
        unsigned char *copy = talloc_memdup(mem, packed, cut);
        char *out;
        size_t out_length;
        opened += unpack_text(mem, copy, cut, &out, &out_length) != AZ_INVALID;
        talloc_free(copy);
    }
    is_int((int64_t) opened, 0, "refuses a text cut short anywhere");
    unsigned char *longer = talloc_zero_size(mem, length + 1);
    memcpy(longer, packed, length);
    refused(mem, longer, length + 1, "an octet after the end");
    memset(longer + 1, 0xff, length);
    refused(mem, longer, length, "octets that are no deflate stream");
    bomb = make_bomb(mem, PACK_TEXT_MAX, &bomb_length);
    char *out = NULL;
    size_t out_length = 0;
    is_int(unpack_text(mem, bomb, bomb_length, &out, &out_length), AZ_OK,
           "octets that grow to the largest text are taken");
    talloc_free(out);
    bomb = make_bomb(mem, PACK_TEXT_MAX + 1, &bomb_length);
    refused(mem, bomb, bomb_length, "octets that grow one past the largest text");
    bomb = make_bomb(mem, 64 << 20, &bomb_length);
    refused(mem, bomb, bomb_length, "a bomb of 64 MiB");
}

/* The stream is kept between calls: a failure must not show in the next one. */
static void
test_after_failure(TALLOC_CTX *mem)
{
    static const unsigned char broken[] = {1, 0xff, 0xff, 0xff};
    char *text;
    size_t length;
    unpack_text(mem, broken, sizeof(broken), &text, &length);
    round_trip(mem, "after a failure", 15, "a text after a failure");
}

int
main(void)
{
    TALLOC_CTX *mem = talloc_new(NULL);
    plan(0);
    test_round_trips(mem);
    test_refused(mem);
    test_after_failure(mem);
    talloc_free(mem);
    return done();
}
