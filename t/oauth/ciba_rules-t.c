/* The rules of CIBA without HTTP and SQL (gateway-admin.md 4.2; OpenID Connect CIBA Core 1.0). */
#include "config.h"

#include "oauth/ciba/ciba_rules.h"

#include <string.h>

#include "base/json/jsonx.h"
#include "env.h"
#include "tap.h"

#define TEN "aaaaaaaaaa"
#define SIXTY_FOUR TEN TEN TEN TEN TEN TEN "aaaa"
#define HUNDRED TEN TEN TEN TEN TEN TEN TEN TEN TEN TEN
#define E_ACUTE "\xc3\xa9"
#define TEN_ACUTE E_ACUTE E_ACUTE E_ACUTE E_ACUTE E_ACUTE E_ACUTE E_ACUTE E_ACUTE E_ACUTE E_ACUTE

/* The state table, one row per line of gateway-admin.md 4.2, and each of its combinations that
 * could be read two ways. */
/* clang-format off */
static const struct { enum ciba_state state; bool expired, early; enum az_status wanted; const char *name; } polls[] = {
    {CIBA_PENDING,  false, false, AZ_AUTHORIZATION_PENDING, "pending: authorization_pending"},
    {CIBA_PENDING,  false, true,  AZ_SLOW_DOWN,             "pending, polled too early: slow_down"},
    {CIBA_PENDING,  true,  false, AZ_EXPIRED_TOKEN,         "pending, and its time is over: expired_token"},
    {CIBA_PENDING,  true,  true,  AZ_EXPIRED_TOKEN,         "... also when polled too early"},
    {CIBA_APPROVED, false, false, AZ_OK,                    "approved: tokens"},
    {CIBA_APPROVED, false, true,  AZ_OK,                    "... also when polled too early"},
    {CIBA_APPROVED, true,  false, AZ_EXPIRED_TOKEN,         "approved and not collected in time: expired_token"},
    {CIBA_DENIED,   false, false, AZ_USER_DENIED,           "denied: access_denied"},
    {CIBA_DENIED,   true,  true,  AZ_USER_DENIED,           "... also later"},
    {CIBA_CONSUMED, false, false, AZ_INVALID_GRANT,         "consumed: invalid_grant"},
    {CIBA_CONSUMED, true,  true,  AZ_INVALID_GRANT,         "... also later"},
};

static const struct { const char *text, *idp_id, *upstream_sub, *email, *name; } hints[] = {
    {"alice", NULL, NULL, NULL, "a sub"},
    {"corp:alice", "corp", "alice", NULL, "idpId:sub"},
    {"corp:a:b", "corp", "a:b", NULL, "... whose sub has a colon"},
    {"a@b.example", NULL, NULL, "a@b.example", "an e-mail address"},
    {"corp:a@b.example", "corp", "a@b.example", "corp:a@b.example", "idpId:sub with a sub that is an address"},
    {":alice", NULL, NULL, NULL, "no provider"},
    {"corp:", NULL, NULL, NULL, "no sub"},
    {"@b.example", NULL, NULL, NULL, "no mailbox"},
    {"a@", NULL, NULL, NULL, "no domain"},
    {"@", NULL, NULL, NULL, "an @ alone"},
};

static const struct { const char *text; bool good; const char *name; } messages[] = {
    {"W4SCT", true, "letters and digits"},
    {"Pay 5.00 to A&B?", true, "blanks and marks"},
    {SIXTY_FOUR, true, "64 characters"},
    {SIXTY_FOUR "a", false, "65 characters"},
    {TEN_ACUTE TEN_ACUTE TEN_ACUTE TEN_ACUTE TEN_ACUTE TEN_ACUTE "aaaa", true, "64 characters, some of two octets"},
    {"a\nb", false, "a line break"},
    {"a\x7f", false, "DEL"},
    {"a\xe2\x80\xae" "b", false, "a character that reverses the text"},
    {"a\xe2\x80\x8b" "b", false, "a blank without width"},
    {"   ", false, "blanks alone"},
};

static const struct { const char *text; int64_t wanted; const char *name; } expiries[] = {
    {NULL, 300, "not sent: the setting"},
    {"30", 30, "the smallest"},
    {"600", 600, "the largest"},
    {"29", 30, "one less is cut to the smallest (CIBA Core 7.1)"},
    {"1", 30, "the least positive integer is cut too"},
    {"601", 600, "one more is cut to the largest (CIBA Core 7.1)"},
    {"0", 0, "zero"},
    {"-30", 0, "a negative number"},
    {"+30", 0, "a sign"},
    {"30.0", 0, "a fraction"},
    {" 30", 0, "a blank"},
    {"", 0, "an empty text"},
    {"4294967326", 600, "30 beyond 32 bits"},
    {"18446744073709551646", 600, "30 beyond 64 bits"},
};

static const struct { const char *status; bool approves; } words[] = {
    {"SUCCEED", true}, {"approved", true}, {"UNAUTHORIZED", false}, {"CANCELLED", false}, {"denied", false},
};
/* clang-format on */
#define COUNT(table) (sizeof(table) / sizeof((table)[0]))

static bool
same(const char *seen, const char *wanted)
{
    return wanted == NULL ? seen == NULL : seen != NULL && strcmp(seen, wanted) == 0;
}

static void
test_polls(void)
{
    struct ciba_poll poll = {
        .owner = {.found = true, .client = {.id = 7}}
    };
    for (size_t i = 0; i < COUNT(polls); i++) {
        poll.state = polls[i].state;
        poll.expired = polls[i].expired;
        poll.early = polls[i].early;
        is_int(ciba_poll_judge(&poll, 7), polls[i].wanted, "poll: %s", polls[i].name);
        is_int(ciba_poll_judge(&poll, 8), AZ_INVALID_GRANT,
               "poll: ... and another client gets invalid_grant");
    }
    poll = (struct ciba_poll){
        .owner = {.found = false, .client = {.id = 7}}
    };
    is_int(ciba_poll_judge(&poll, 7), AZ_INVALID_GRANT, "poll: unknown: invalid_grant");
}

static void
test_hints(TALLOC_CTX *mem)
{
    struct ciba_hint hint;
    char *longest = talloc_asprintf(mem, "%s%s%s" TEN TEN, HUNDRED, HUNDRED, HUNDRED);
    for (size_t i = 0; i < COUNT(hints); i++) {
        bool read = ciba_hint_read(mem, hints[i].text, &hint);
        ok(read && same(hint.sub, hints[i].text) && same(hint.idp_id, hints[i].idp_id)
               && same(hint.upstream_sub, hints[i].upstream_sub)
               && same(hint.email, hints[i].email),
           "login_hint: %s", hints[i].name);
    }
    ok(ciba_hint_read(mem, longest, &hint), "login_hint: 320 octets");
    longest = talloc_asprintf(mem, "%sa", longest);
    ok(!ciba_hint_read(mem, longest, &hint), "login_hint: 321 octets are refused");
}

static enum az_status
read_callback(TALLOC_CTX *mem, const char *text, struct ciba_callback *ret)
{
    *ret = (struct ciba_callback){.status = NULL};
    return fields_read(mem, &ciba_callback_table, env_json(mem, text), NULL, NULL, ret, NULL);
}

static void
test_callbacks(TALLOC_CTX *mem)
{
    struct ciba_callback callback;
    for (size_t i = 0; i < COUNT(words); i++) {
        const char *text = talloc_asprintf(mem, "{\"status\":\"%s\"}", words[i].status);
        ok(read_callback(mem, text, &callback) == AZ_OK
               && ciba_callback_approves(&callback) == words[i].approves,
           "callback: %s %s", words[i].status, words[i].approves ? "approves" : "denies");
    }
    ok(read_callback(mem, "{\"status\":\"Approved\"}", &callback) == AZ_INVALID,
       "callback: a word in another case is refused");
    callback = (struct ciba_callback){.status = "approved", .auth_time = 1060};
    ok(ciba_callback_fault(&callback, 1000) == NULL, "callback: a clock that is 60 s ahead");
    callback.auth_time++;
    ok(ciba_callback_fault(&callback, 1000) != NULL, "callback: 61 s are in the future");
}

int
main(void)
{
    TALLOC_CTX *mem = talloc_new(NULL);
    test_polls();
    test_hints(mem);
    for (size_t i = 0; i < COUNT(messages); i++)
        ok((ciba_binding_fault(messages[i].text) == NULL) == messages[i].good,
           "binding_message: %s", messages[i].name);
    for (size_t i = 0; i < COUNT(expiries); i++) {
        int64_t seconds = 0;
        bool read = ciba_expiry_read(expiries[i].text, 300, &seconds);
        ok(read == (expiries[i].wanted != 0) && seconds == expiries[i].wanted,
           "requested_expiry: %s", expiries[i].name);
    }
    test_callbacks(mem);
    talloc_free(mem);
    return done();
}
