#include "config.h"

#include <stdio.h>
#include <string.h>

#include "env.h"
#include "oidc/flow_decide.h"
#include "tap.h"

#define ASKED 1795258800LL

static const char *const registrations[] = {"ADMIN", "DCR", "STATEMENT", "CIMD"};
static const enum consent_mode modes[] = {CONSENT_OFF, CONSENT_DYNAMIC_CLIENTS, CONSENT_ALWAYS};
static const char *const mode_names[] = {"off", "dynamic_clients", "always"};
/* Age of the session against a max_age of 100 s; NO_SESSION: there is none. */
enum age { NO_SESSION, YOUNG, AT_MAX, PAST_MAX, AGES };

/* One combination of facts; test_all tries every one. */
struct combination {
    unsigned prompt;             /* 0 nothing, 1 none, 2 login, 3 consent, 4 login consent,
                                    5 select_account, 6 create */
    bool max_age, signed_in;     /* max_age=100 was sent; the provider was asked */
    enum age age;                /* of the session */
    bool consented, allowed;     /* remembered; said just now */
    unsigned registration, mode; /* of the tables above */
    size_t providers;
};

static struct authorization
make_authorization(const struct combination *c)
{
    return (struct authorization){
        .client_id = "c",
        .redirect_uri = "https://a.example/cb",
        .max_age = c->max_age ? 100 : AUTHORIZATION_NO_MAX_AGE,
        .prompt_none = c->prompt == 1,
        .prompt_login = c->prompt == 2 || c->prompt == 4,
        .prompt_consent = c->prompt == 3 || c->prompt == 4,
        .prompt_select = c->prompt == 5,
        .prompt_create = c->prompt == 6,
        .signed_in = c->signed_in,
        .asked_at = ASKED,
    };
}

/* Return how many seconds before the request the user signed in. */
static int64_t
seconds_old(enum age age)
{
    static const int64_t old[AGES] = {0, 0, 100, 101};
    return old[age];
}

static enum flow_next
decide(const struct combination *c, enum az_status *error)
{
    struct authorization authorization = make_authorization(c);
    struct client client = {.registration = registrations[c->registration]};
    struct session session = {
        .found = c->age != NO_SESSION, .subject = "ann", .auth_time = ASKED - seconds_old(c->age)};
    struct flow_facts facts = {.authorization = &authorization,
                               .client = &client,
                               .session = &session,
                               .mode = modes[c->mode],
                               .allowed = c->allowed,
                               .consented = c->consented,
                               .providers = c->providers};
    *error = AZ_OK;
    return flow_decide(&facts, error);
}

/*
 * The rule written a second time, from the page's words: prompt=login requires a sign-in of this
 * request, max_age a young enough one; either may be a minute late by the provider's clock.
 */
static enum flow_next
wanted(const struct combination *c, enum az_status *error)
{
    bool login = c->prompt == 2 || c->prompt == 4, consent = c->prompt == 3 || c->prompt == 4;
    int64_t old = seconds_old(c->age), late = c->signed_in ? AUTHORIZATION_CLOCK_SKEW : 0;
    bool serves = c->age != NO_SESSION;
    if (c->prompt >= 5 && !c->signed_in) /* the user chooses or makes an account (world.md F5) */
        serves = false;
    if (login && (!c->signed_in || old > late))
        serves = false;
    if (!login && c->max_age && old > 100 + late)
        serves = false;
    *error = AZ_OK;
    if (!serves) {
        if (c->prompt == 1 || c->signed_in)
            *error = AZ_LOGIN_REQUIRED;
        else if (c->providers == 0)
            *error = AZ_SERVER_ERROR;
        return *error != AZ_OK ? FLOW_ERROR : c->providers == 1 ? FLOW_UPSTREAM : FLOW_CHOOSE;
    }
    bool dynamic = c->registration != 0;
    bool due = consent || (c->mode == 2) || (c->mode == 1 && dynamic);
    if (!due || c->allowed || (c->consented && !consent))
        return FLOW_CODE;
    if (c->prompt == 1) {
        *error = AZ_CONSENT_REQUIRED;
        return FLOW_ERROR;
    }
    return FLOW_CONSENT;
}

static const char *
name_of(const struct combination *c)
{
    static const char *const prompts[] = {
        "", "none", "login", "consent", "login consent", "select_account", "create"};
    static const char *const ages[AGES] = {"no session", "a session", "one at max_age",
                                           "one past max_age"};
    static char text[256];
    snprintf(text, sizeof(text), "prompt=%s%s, %s, %s%s%s, mode %s%s, %zu providers",
             prompts[c->prompt], c->max_age ? " max_age" : "", ages[c->age],
             registrations[c->registration], c->consented ? " consented" : "",
             c->allowed ? " allowed" : "", mode_names[c->mode], c->signed_in ? ", signed in" : "",
             c->providers);
    return text;
}

/* Return the combination of a number. */
static struct combination
combination(unsigned number)
{
    struct combination c;
    c.prompt = number % 7, number /= 7;
    c.max_age = number % 2, number /= 2;
    c.signed_in = number % 2, number /= 2;
    c.age = (enum age)(number % AGES), number /= AGES;
    c.consented = number % 2, number /= 2;
    c.allowed = number % 2, number /= 2;
    c.registration = number % 4, number /= 4;
    c.mode = number % 3, number /= 3;
    c.providers = number % 3;
    return c;
}
#define COMBINATIONS (5U * 2 * 2 * AGES * 2 * 2 * 4 * 3 * 3)

static void
test_all(void)
{
    unsigned wrong = 0, seen[FLOW_ERROR + 1] = {0};
    for (unsigned i = 0; i < COMBINATIONS; i++) {
        struct combination c = combination(i);
        enum az_status error, wanted_error;
        enum flow_next next = decide(&c, &error), right = wanted(&c, &wanted_error);
        seen[next]++;
        if (next != right || error != wanted_error) {
            wrong++;
            is_int(next, right, "flow: %s", name_of(&c));
            is_int(error, wanted_error, "... outcome");
        }
    }
    is_int(wrong, 0,
           "flow: all %u combinations of prompt, max_age, session, consent, control, "
           "registration and providers go where oauth.md 3.2 and decisions.md \"Browser side\" say",
           COMBINATIONS);
    for (unsigned i = 0; i <= FLOW_ERROR; i++)
        ok(seen[i] > 0, "... and each way is taken by some");
}

/* Rules that hold for every combination, written independently of the table above, so that a
 * misread rule has to be misread twice to pass. */
static void
test_properties(void)
{
    bool page = false, loop = false, stranger = false, unasked = false;
    for (unsigned i = 0; i < COMBINATIONS; i++) {
        struct combination c = combination(i);
        enum az_status error;
        enum flow_next next = decide(&c, &error);
        page = page || (c.prompt == 1 && next != FLOW_CODE && next != FLOW_ERROR);
        loop = loop || (c.signed_in && (next == FLOW_UPSTREAM || next == FLOW_CHOOSE));
        stranger = stranger || (c.age == NO_SESSION && (next == FLOW_CODE || next == FLOW_CONSENT));
        unasked = unasked || (next == FLOW_CODE && (c.prompt == 3 || c.prompt == 4) && !c.allowed)
                  || (next == FLOW_CODE && !c.allowed && !c.consented && c.mode != 0
                      && c.registration != 0);
    }
    ok(!page, "prompt=none never shows a page and never leaves for the provider (oauth.md 3.2)");
    ok(!loop, "a browser that comes from the provider is never sent there again");
    ok(!stranger, "no code and no consent page without a session");
    ok(!unasked, "no code without consent where it is due");
}

static void
test_fresh(void)
{
    struct authorization a = {.asked_at = ASKED, .max_age = 0};
    struct session session = {.found = true, .subject = "ann", .auth_time = ASKED};
    ok(!flow_session_serves(&a, &session),
       "max_age=0 is prompt=login, also in the second of a sign-in (OpenID Connect Core 3.1.2.1)");
    a.signed_in = true;
    ok(flow_session_serves(&a, &session), "... and a sign-in of this request serves it");
    session.auth_time = ASKED - AUTHORIZATION_CLOCK_SKEW;
    ok(flow_session_serves(&a, &session), "... by a clock that is %d s behind",
       AUTHORIZATION_CLOCK_SKEW);
    session.auth_time--;
    ok(!flow_session_serves(&a, &session), "... not one second more: that was no fresh sign-in");
    a.max_age = 100;
    session.auth_time = ASKED - 100 - AUTHORIZATION_CLOCK_SKEW;
    ok(flow_session_serves(&a, &session), "max_age after the provider: the same allowance");
    session.auth_time--;
    ok(!flow_session_serves(&a, &session), "... and the same end");
    a = (struct authorization){.asked_at = ASKED, .max_age = AUTHORIZATION_NO_MAX_AGE};
    session.auth_time = 0;
    ok(flow_session_serves(&a, &session), "without max_age a session is never too old");
    a.hint_subject = "ben";
    ok(flow_session_serves(&a, &session), "id_token_hint of another without prompt=none");
    a.prompt_none = true;
    ok(!flow_session_serves(&a, &session),
       "... under prompt=none: login_required (decisions.md \"id_token_hint\")");
    a.hint_subject = "ann";
    ok(flow_session_serves(&a, &session), "... of the same user");
    a.hint_subject = "an";
    ok(!flow_session_serves(&a, &session), "... of one whose name begins alike");
}

/* clang-format off */
static const struct { const char *idp_hint, *login_hint, *wanted; bool hinted; const char *name; } choices[] = {
    {NULL, NULL, "corp other named.example ", false, "no hint: all that are enabled"},
    {"other", NULL, "other ", true, "idp_hint"},
    {"off", NULL, "corp other named.example ", false, "... of a disabled one"},
    {"nobody", NULL, "corp other named.example ", false, "... of none"},
    {"Other", NULL, "corp other named.example ", false, "... in other letters"},
    {"other", "ann@corp.example", "other ", true, "... stands above login_hint (decisions.md \"Choosing a provider\")"},
    {"nobody", "ann@corp.example", "corp ", true, "... unless it names none"},
    {NULL, "ann@corp.example", "corp ", true, "the domain of login_hint: an issuer's host"},
    {NULL, "ann@CORP.example", "corp ", true, "... in any letters"},
    {NULL, "ann@other.example", "other ", true, "... above an issuer's host"},
    {NULL, "ann@named.example", "named.example ", true, "... an idpId"},
    {NULL, "ann@orp.example", "corp other named.example ", false, "... not the end of a label"},
    {NULL, "ann@login.other.example.org", "corp other named.example ", false, "... nor below the host"},
    {NULL, "ann@off.example", "corp other named.example ", false, "... nor of a disabled one"},
    {NULL, "ann@example", "corp other named.example ", false, "... nor of several"},
    {NULL, "ann@", "corp other named.example ", false, "... nor an empty one"},
    {NULL, "corp.example", "corp other named.example ", false, "a name without a domain"},
    {NULL, "a@b@corp.example", "corp ", true, "the last @ counts"},
};
/* clang-format on */

static void
test_providers(TALLOC_CTX *mem)
{
    const struct identity_provider providers[] = {
        {.idp_id = "corp",          .issuer = "https://corp.example",               .enabled = true },
        {.idp_id = "other",         .issuer = "https://login.other.example:8443/x", .enabled = true },
        {.idp_id = "off",           .issuer = "https://off.example",                .enabled = false},
        {.idp_id = "named.example", .issuer = "https://idp.invalid",                .enabled = true },
    };
    struct identity_providers list = {.count = 4, .provider = providers};
    const struct identity_provider *fit[4];
    for (size_t i = 0; i < sizeof(choices) / sizeof(choices[0]); i++) {
        struct authorization a = {.idp_hint = choices[i].idp_hint,
                                  .login_hint = choices[i].login_hint};
        bool hinted;
        size_t count = flow_providers(&list, &a, fit, &hinted);
        char *text = talloc_strdup(mem, "");
        for (size_t j = 0; j < count; j++)
            text = talloc_asprintf_append(text, "%s ", fit[j]->idp_id);
        is_str(text, choices[i].wanted, "providers: %s", choices[i].name);
        is_int(hinted, choices[i].hinted, "... by a hint");
    }
}

int
main(void)
{
    TALLOC_CTX *mem = talloc_new(NULL);
    plan(0);
    test_all();
    test_properties();
    test_fresh();
    test_providers(mem);
    talloc_free(mem);
    return done();
}
