#include "config.h"

#include "base/pack.h"

#include <stdint.h>
#include <string.h>

#include "base/pack_dictionaries.h"
#include "tap.h"

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

/* Text that cannot be packed smaller, the same each time. */
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

/* Documents as they are stored: of a token for a client itself, and of one for a person. */
static const char client_question[] =
    "{\"schema\":1,\"evaluation\":\"issue\",\"issuer\":\"https://as.example\",\"request\":{\"id\":"
    "\"01a1fea6-7961-72e1-8abd-a9a72a74b77b\",\"flow_id\":\"01a1fea6-7961-79db-beda-cb4997ff8943\","
    "\"endpoint\":\"/token\",\"now\":1795273685,\"time_ns\":1795273685123000000,"
    "\"time\":\"2026-11-21T15:08:05Z\",\"grant_type\":"
    "\"client_credentials\",\"token_type\":\"access_token\",\"default_ttl\":3600},\"client\":{"
    "\"id\":"
    "\"demo\",\"type\":\"confidential\",\"registration\":\"ADMIN\",\"auth_method\":"
    "\"client_secret_basic\",\"enabled\":true},\"environment\":{\"ip\":\"127.0.0.1\",\"user_"
    "agent\":"
    "\"curl/7.88.1\",\"tls\":false},\"subject\":{\"type\":\"client\",\"id\":\"demo\"},\"scopes\":{"
    "\"requested\":[\"orders.read\"],\"default\":[]},\"baseline\":null}";
static const char client_answer[] =
    "{\"allow\":true,\"matched_segments\":[\"binding:clients/crm\"],\"scopes\":[\"orders.read\"],"
    "\"revision\":\"74081171a4d6fdf9b7ea0de142829a30\",\"engine\":\"opa/1.20.2\",\"eval_us\":1255}";
static const char person_question[] =
    "{\"schema\":1,\"evaluation\":\"issue\",\"issuer\":\"https://as.example\",\"request\":{\"id\":"
    "\"01a201ed-91bc-7a78-a8ab-89d63d1b91eb\",\"flow_id\":\"01a201ed-91a8-781f-a50a-13dd290cb62a\","
    "\"endpoint\":\"/token\",\"now\":1795328676,\"time_ns\":1795328676284000000,"
    "\"time\":\"2026-11-22T06:24:36Z\",\"grant_type\":\"authorization_code\","
    "\"token_type\":\"access_token\",\"default_ttl\":3600},\"client\":{\"id\":\"web\","
    "\"type\":\"confidential\",\"registration\":\"ADMIN\",\"auth_method\":\"client_secret_basic\","
    "\"enabled\":true},\"environment\":{\"ip\":\"127.0.0.1\",\"tls\":false},\"subject\":{"
    "\"type\":\"user\",\"id\":\"alice\",\"iss\":\"https://corp.example\",\"idp\":\"corp\","
    "\"auth_time\":1795328666,\"claims\":{\"email\":\"alice@example.org\",\"email_verified\":true,"
    "\"groups\":[\"ops\"],\"name\":\"Alice Example\",\"preferred_username\":\"alice.ex\","
    "\"sub\":\"alice\"}},\"scopes\":{\"requested\":[\"openid\",\"orders.read\"],\"default\":[]},"
    "\"baseline\":null}";
static const char person_answer[] =
    "{\"allow\":true,\"matched_segments\":[\"binding:clients/web\"],\"refresh\":true,"
    "\"scopes\":[\"openid\",\"orders.read\"],\"revision\":\"74081171a4d6fdf9b7ea0de142829a30\","
    "\"engine\":\"opa/1.20.2\",\"eval_us\":1619}";

static void
test_small(TALLOC_CTX *mem, const char *text, int number, size_t most, const char *name)
{
    unsigned char *packed = NULL;
    size_t length = 0;

    round_trip(mem, text, strlen(text), name);
    pack_text(mem, text, strlen(text), &packed, &length);
    is_int(packed[0], number, "... with its own dictionary");
    ok(length <= most, "... in at most %zu octets (%zu of %zu)", most, length, strlen(text));
}

static void
test_round_trips(TALLOC_CTX *mem)
{
    static const char other[] = "{\"schema\":1,\"evaluation\":\"introspect\",\"context\":{}}";
    static const size_t lengths[] = {127, 128, 255, 4096, 5000, 16383, 16384, 65535, 65536, 200000};
    unsigned char *packed = NULL;
    size_t length = 0;
    char *zeros = talloc_zero_size(mem, PACK_TEXT_MAX + 1), *random = noise(mem, PACK_TEXT_MAX);

    round_trip(mem, "", 0, "nothing");
    round_trip(mem, "x", 1, "one octet");
    round_trip(mem, "a\0b", 3, "a NUL inside");
    for (size_t i = 0; i < sizeof(lengths) / sizeof(lengths[0]); i++) {
        round_trip(mem, random, lengths[i], "noise");
        round_trip(mem, zeros, lengths[i], "octets all alike");
    }
    round_trip(mem, zeros, PACK_TEXT_MAX - 1, "one octet less than the largest, all alike");
    round_trip(mem, zeros, PACK_TEXT_MAX, "the largest text, all alike");
    round_trip(mem, random, PACK_TEXT_MAX, "the largest text, all different");
    test_small(mem, client_question, 5, 160, "a question about a client's token");
    test_small(mem, client_answer, 6, 60, "its answer");
    test_small(mem, person_question, 5, 260, "a question about a person's token");
    test_small(mem, person_answer, 6, 65, "its answer");
    test_small(mem, other, 4, sizeof(other), "a question about a token that is shown");
    for (size_t cut = 0; cut < 40; cut++)
        round_trip(mem, client_question, cut, "the beginning of a question");
    packed = NULL;
    length = 77;
    is_int(pack_text(mem, zeros, PACK_TEXT_MAX + 1, &packed, &length), AZ_SERVER_ERROR,
           "a text one octet longer than the largest is refused");
    ok(packed == NULL && length == 77, "... and the outputs are untouched");
}

static void
test_dictionaries(void)
{
    for (size_t i = 0; i < PACK_DICTIONARIES; i++) {
        ok(pack_dictionaries[i].length == strlen(pack_dictionaries[i].text)
               && pack_dictionaries[i].length <= 65536,
           "dictionary %d is no longer than LZ4 looks back", pack_dictionaries[i].number);
        ok(pack_dictionaries[i].number > 3, "... and has no number of builds before 0.65.0");
        ok((i == PACK_DICTIONARIES - 1) == (pack_dictionaries[i].start[0] == '\0'),
           "... and the last takes all other texts");
    }
}

/* Unpacks and looks that nothing was handed out. */
static bool
is_refused(TALLOC_CTX *mem, const unsigned char *packed, size_t length)
{
    char *text = NULL;
    size_t text_length = 77;
    size_t before = talloc_total_size(mem);
    /* In memory of its own size: valgrind and ASan see an octet read too many. */
    unsigned char *copy = talloc_memdup(NULL, packed, length);
    enum az_status st = unpack_text(mem, copy, length, &text, &text_length);
    talloc_free(copy);
    return st == AZ_INVALID && text == NULL && text_length == 77
           && talloc_total_size(mem) == before;
}

static void
test_heads(TALLOC_CTX *mem)
{
    /* After the dictionary's number the length, then one octet of literals, as LZ4 ends a block. */
    static const struct {
        unsigned char octets[8];
        size_t length;
        const char *name;
    } heads[] = {
        {{0},                                    0, "nothing at all"                              },
        {{6},                                    1, "the dictionary's number alone"               },
        {{6, 1},                                 2, "a length and no block"                       },
        {{6, 0x80},                              2, "a length cut short"                          },
        {{0, 1, 0x10, 'x'},                      4, "dictionary 0"                                },
        {{3, 1, 0x10, 'x'},                      4, "a dictionary of earlier builds"              },
        {{6, 0, 0x10, 'x'},                      4, "a length of 0 for one octet"                 },
        {{6, 2, 0x10, 'x'},                      4, "a length of 2 for one octet"                 },
        {{6, 0x81, 0x00, 0x10, 'x'},             5, "a length longer than it must be"             },
        {{6, 0x81, 0x80, 0x00, 0x10, 'x'},       6, "a length of three octets for one"            },
        {{6, 0x80, 0x80, 0x80, 0x01, 0x10, 'x'}, 7, "a length of four octets"                     },
        {{6, 0x81, 0x80, 0x40, 0x10, 'x'},       6, "a length one past the largest"               },
        {{6, 0x80, 0x80, 0x40, 0x10, 'x'},       6, "the largest length for a block of two octets"},
        {{6, 1, 0x10, 'x', 0},                   5, "an octet after the block"                    },
    };
    static const unsigned char good[] = {6, 1, 0x10, 'x'};
    char *text = NULL;
    size_t length = 0;

    is_int(unpack_text(mem, good, sizeof(good), &text, &length), AZ_OK, "one octet unpacks");
    is_str(text, "x", "... to itself");
    for (size_t i = 0; i < sizeof(heads) / sizeof(heads[0]); i++)
        ok(is_refused(mem, heads[i].octets, heads[i].length), "refuses %s", heads[i].name);
}

static void
test_damage(TALLOC_CTX *mem)
{
    unsigned char *packed;
    size_t length, opened = 0, same = 0;

    pack_text(mem, client_answer, strlen(client_answer), &packed, &length);
    for (int number = 0; number < 256; number++) {
        unsigned char *copy = talloc_memdup(mem, packed, length);
        copy[0] = (unsigned char) number;
        opened += (number < 4 || number > 6) && !is_refused(mem, copy, length);
        talloc_free(copy);
    }
    is_int((int64_t) opened, 0, "refuses every dictionary number but the ones there are");
    for (size_t cut = 0; cut < length; cut++)
        opened += !is_refused(mem, packed, cut);
    is_int((int64_t) opened, 0, "refuses a text cut short anywhere");
    for (int size = 0; size < 0x4000; size++) {
        unsigned char *copy = talloc_memdup(mem, packed, length);
        copy[1] = (unsigned char) (0x80 | (size & 0x7f));
        copy[2] = (unsigned char) (size >> 7);
        opened += (size_t) size != strlen(client_answer) && !is_refused(mem, copy, length);
        talloc_free(copy);
    }
    is_int((int64_t) opened, 0, "refuses every length of two octets but the text's");
    /* LZ4 has no checksum: a changed octet may give another text, of the same length. */
    for (size_t at = 3; at < length; at++) {
        for (int octet = 0; octet < 256; octet++) {
            char *text = NULL;
            size_t text_length = 0;
            unsigned char *copy = talloc_memdup(mem, packed, length);
            copy[at] = (unsigned char) octet;
            enum az_status st = unpack_text(mem, copy, length, &text, &text_length);
            same +=
                st == AZ_OK && text_length == strlen(client_answer) && text[text_length] == '\0';
            opened += st != AZ_OK && (st != AZ_INVALID || text != NULL);
            opened += st == AZ_OK && text_length != strlen(client_answer);
            talloc_free(text);
            talloc_free(copy);
        }
    }
    is_int((int64_t) opened, 0, "a changed octet is refused or gives a text of the same length");
    ok(same >= length - 3, "... and the octet that was there is taken");
}

/* A match that reaches back before the beginning of the dictionary. */
static void
test_reach(TALLOC_CTX *mem)
{
    const struct pack_dictionary *last = &pack_dictionaries[PACK_DICTIONARIES - 1];
    /* a match of 4 octets, then 8 of its own */
    unsigned char packed[] = {6, 12, 0x00, 0, 0, 0x80, 'o', 'w', 'n', ' ', 't', 'e', 'x', 't'};
    char *text = NULL;
    size_t length;

    packed[3] = (unsigned char) (last->length & 0xff);
    packed[4] = (unsigned char) (last->length >> 8);
    is_int(unpack_text(mem, packed, sizeof(packed), &text, &length), AZ_OK,
           "a match at the dictionary's first octet is taken");
    ok(text != NULL && memcmp(text, last->text, 4) == 0, "... and gives what stands there");
    packed[3] = (unsigned char) ((last->length + 1) & 0xff);
    packed[4] = (unsigned char) ((last->length + 1) >> 8);
    ok(is_refused(mem, packed, sizeof(packed)), "refuses a match one octet before it");
    packed[3] = packed[4] = 0;
    is_int(unpack_text(mem, packed, sizeof(packed), &text, &length), AZ_OK,
           "LZ4 takes a match of no distance");
    ok(memcmp(text, "\0\0\0\0own", 7) == 0, "... which gives nothing of older memory");
}

int
main(void)
{
    TALLOC_CTX *mem = talloc_new(NULL);

    plan(0);
    test_round_trips(mem);
    test_dictionaries();
    test_heads(mem);
    test_damage(mem);
    test_reach(mem);
    talloc_free(mem);
    return done();
}
