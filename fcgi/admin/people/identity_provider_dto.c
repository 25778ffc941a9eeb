#include "config.h"

#include "admin/people/identity_provider_dto.h"

#include <string.h>

#include "base/b64url.h"
#include "base/iso8601.h"
#include "base/json/field_rules.h"
#include "base/picture.h"
#include "base/uri.h"
#include "base/visible.h"
#include "base/words.h"

/* Limits of scopes and authorizeParams, which are in the URL of every sign-in. */
#define SCOPES_MAX 32
#define SCOPE_OCTETS_MAX 256
#define PARAMS_MAX 32
/* Limits of claims and listClaims, and of issuerAliases. */
#define LIST_CLAIMS_MAX 64
#define LIST_CLAIM_MAX 128
#define ALIASES_MAX 2
/* Limits of prompts: each word once. */
#define PROMPTS_MAX 5
#define PROMPT_MAX 32
#define PARAM_NAME_MAX 64
#define PARAM_VALUE_MAX 512

/* Separator of the media type and the data in a data: URL (RFC 2397), and the longest such URL of a
 * logo, in characters: the name of the longest type, and base64 of PICTURE_LOGO_MAX octets. */
#define LOGO_ENCODING ";base64,"
#define LOGO_TEXT_MAX (sizeof("data:image/jpeg" LOGO_ENCODING) - 1 + (PICTURE_LOGO_MAX + 2) / 3 * 4)

/* Longest idpId that is made from a name, with room for a number after it. */
#define MADE_ID_MAX (IDP_ID_MAX - 8)

#define LOWER "abcdefghijklmnopqrstuvwxyz0123456789"
#define NAME_CHARS "ABCDEFGHIJKLMNOPQRSTUVWXYZ" LOWER "._-"

/* ---- rules of single fields ---- */

static const char *
idp_id_rule(TALLOC_CTX *mem, const json_t *value)
{
    const char *text = json_string_value(value);
    (void) mem;
    /* A proxy may remove dot segments from a path, so this idpId could not be used in one. */
    if (strcmp(text, ".") == 0 || strcmp(text, "..") == 0)
        return "must not be . or ..";
    return text[strspn(text, NAME_CHARS)] == '\0'
               ? NULL
               : "must have only letters, digits, dots, underscores and hyphens";
}

/* OpenID Connect Discovery 3: no query, no fragment. http is accepted here; SVC_SAFE_HTTP decides
 * when the service fetches something. */
static const char *
issuer_rule(TALLOC_CTX *mem, const json_t *value)
{
    struct uri uri;
    const char *why = uri_web_fault(json_string_value(value));
    if (why != NULL)
        return why;
    if (uri_parse(mem, json_string_value(value), &uri) != AZ_OK)
        return "is not a valid URI";
    return uri.query != NULL || uri.fragment != NULL ? "must not have a query or a fragment" : NULL;
}

/* RFC 6749 section 3.1: a query is kept, a fragment is forbidden. */
static const char *
endpoint_rule(TALLOC_CTX *mem, const json_t *value)
{
    const char *text = json_string_value(value), *why = uri_web_fault(text);
    (void) mem;
    return why == NULL && strchr(text, '#') != NULL ? "must not have a fragment" : why;
}

/* scope-token = 1*( %x21 / %x23-5B / %x5D-7E ), RFC 6749 section 3.3 */
static const char *
scope_rule(TALLOC_CTX *mem, const json_t *value)
{
    const char *c = json_string_value(value);
    (void) mem;
    for (; *c != '\0'; c++)
        if (*c <= 0x20 || *c >= 0x7f || *c == '"' || *c == '\\')
            return "must be one scope, without spaces, quotes or backslashes";
    return NULL;
}

/*
 * True for parameters that the service sets itself, and for those that would send the answer to
 * another place or in another form than the callback accepts. prompt, max_age, login_hint,
 * acr_values and ui_locales may be set; they apply when the client's request has none.
 */
static bool
is_ours(const char *name)
{
    static const char *const ours[] = {"client_id",      "client_secret",
                                       "redirect_uri",   "response_type",
                                       "response_mode",  "scope",
                                       "state",          "nonce",
                                       "request",        "request_uri",
                                       "code_challenge", "code_challenge_method",
                                       "code_verifier",  NULL};
    return words_has(ours, name);
}

static const char *
param_fault(const char *name, const json_t *value)
{
    if (*name == '\0' || strlen(name) > PARAM_NAME_MAX
        || name[strspn(name, NAME_CHARS "~")] != '\0')
        return "not a valid parameter name";
    if (is_ours(name))
        return "is set by the service and cannot be given";
    if (!json_is_string(value) || json_string_length(value) > PARAM_VALUE_MAX)
        return "must be a string of at most 512 octets";
    return visible_fault(json_string_value(value)) != NULL ? "must not have control characters"
                                                           : NULL;
}

static const char *
params_rule(TALLOC_CTX *mem, const json_t *value)
{
    const char *name;
    json_t *param;
    if (json_object_size(value) > PARAMS_MAX)
        return "must have at most 32 members";
    json_object_foreach ((json_t *) (uintptr_t) value, name, param) {
        const char *why = param_fault(name, param);
        /* Only a short name without control characters is shown in the answer. */
        if (why != NULL && visible_fault(name) == NULL && strlen(name) <= PARAM_NAME_MAX)
            return field_fault_text(mem, "%s: %s", name, why);
        if (why != NULL)
            return why;
    }
    return NULL;
}

/*
 * A page shows the logo as it is stored. No http address: the browser of everyone who signs in
 * would tell its server (Content-Security-Policy: img-src data:). No SVG: it is a document, which
 * can have links and scripts, and the three other types are pictures only.
 */
static const char *
logo_rule(TALLOC_CTX *mem, const json_t *value)
{
    const char *text = json_string_value(value), *data = strstr(text, LOGO_ENCODING), *found;
    unsigned char *octets;
    size_t length;
    if (strncmp(text, "data:", 5) != 0 || data == NULL)
        return "must be a URL data:image/png;base64,..., because the page loads nothing from "
               "elsewhere; the types are image/png, image/jpeg and image/webp";
    const char *type = text + 5, *body = data + strlen(LOGO_ENCODING);
    enum az_status st = b64_decode_lenient(mem, body, strlen(body), &octets, &length);
    if (st != AZ_OK)
        return "is not base64";
    if (length > PICTURE_LOGO_MAX)
        return "has more than 16384 octets; make the picture smaller";
    if ((found = picture_type(octets, length)) == NULL)
        return "must be a PNG, JPEG or WebP picture";
    return strlen(found) == (size_t) (data - type) && strncmp(found, type, strlen(found)) == 0
               ? NULL
               : field_fault_text(mem,
                                  "is a picture of the type %s, which must follow data:", found);
}

static const char *
instant_rule(TALLOC_CTX *mem, const json_t *value)
{
    int64_t ms;
    const char *text = json_string_value(value);
    (void) mem;
    return iso8601_parse(text, strlen(text), &ms) == AZ_OK
               ? NULL
               : "must be a time like 2030-01-31T12:00:00Z";
}

static const char *const auth_methods[] = {"client_secret_basic", "client_secret_post",
                                           "private_key_jwt", "none", NULL};
/* Words of OpenID Connect Core 3.1.2.1, and of Initiating User Registration. */
static const char *const prompt_words[] = {"none",           "login",  "consent",
                                           "select_account", "create", NULL};
static const char *const userinfo_modes[] = {"auto", "off", "required", NULL};

/* clang-format off */
static const struct field provider_fields[] = {
    {"id",                              FIELD_READ_ONLY, .shown = FIELD_INTEGER,
     .help = "Number of the row"},
    {"idpId",                           FIELD_TEXT,      .max = IDP_ID_MAX, .rule = idp_id_rule,
     .help = "Name in paths and in idp_hint; made from name if it is left out",
     .example = "\"company\""},
    {"name",                            FIELD_TEXT,      .max = FIELD_NAME_MAX,
     .rule = field_rule_visible, .column = "name", .help = "Shown to users who choose",
     .example = "\"Company\""},
    {"issuer",                          FIELD_TEXT,      .required = true, .max = FIELD_URI_MAX,
     .rule = issuer_rule, .column = "issuer", .help = "iss of its ID tokens",
     .example = "\"https://login.example\""},
    {"clientId",                        FIELD_TEXT,      .max = FIELD_NAME_MAX,
     .rule = field_rule_visible, .column = "client_id", .help = "client_id of this service there",
     .example = "\"authz\""},
    {"clientSecret",                    FIELD_TEXT,      .max = FIELD_SECRET_MAX,
     .rule = field_rule_visible, .secret = true,
     .help = "Secret of this service there; never shown", .example = "\"s3cr3t-of-the-provider\""},
    {"clientSecretSet",                 FIELD_READ_ONLY, .shown = FIELD_BOOLEAN,
     .help = "true: a secret is stored"},
    {"clientSecretExpiresAt",           FIELD_TEXT,      .max = FIELD_WORD_MAX,
     .rule = instant_rule, .column = "client_secret_expires_at",
     .help = "End of the secret, as the provider tells it; attention names it 30 days before. "
             "Absent: the exp of a secret that is a JWT", .example = "\"2099-01-31T12:00:00Z\""},
    {"tokenAuthMethod",                 FIELD_TEXT,      .words = auth_methods,
     .column = "token_auth_method",
     .help = "How this service authenticates there: with the secret, with a JWT that a key of its "
             "own key set signs (register jwks_uri there), or not. Absent: with the secret if "
             "there is one, as the metadata allow", .example = "\"private_key_jwt\""},
    {"discoveryUrl",                    FIELD_TEXT,      .max = FIELD_URI_MAX,
     .rule = endpoint_rule, .column = "discovery_url",
     .help = "Where its metadata stand, if not below the issuer; they must name the issuer. https, "
             "or a host of SVC_SAFE_HTTP_ALLOWED_INSECURE_HOSTS"},
    {"issuerAliases",                   FIELD_TEXT_LIST, .max = ALIASES_MAX,
     .item_max = FIELD_URI_MAX, .rule = field_rule_visible, .column = "issuer_aliases",
     .help = "Other texts of iss in its answers, which no other provider has as issuer or alias",
     .example = "[\"login.example\"]"},
    {"authorizationEndpoint",           FIELD_TEXT,      .max = FIELD_URI_MAX,
     .rule = endpoint_rule, .column = "authorization_endpoint",
     .help = "From the metadata of the issuer if it is left out, as the other endpoints are"},
    {"tokenEndpoint",                   FIELD_TEXT,      .max = FIELD_URI_MAX,
     .rule = endpoint_rule, .column = "token_endpoint", .help = "Where codes are exchanged"},
    {"userinfoEndpoint",                FIELD_TEXT,      .max = FIELD_URI_MAX,
     .rule = endpoint_rule, .column = "userinfo_endpoint", .help = "Where claims are fetched"},
    {"jwksUri",                         FIELD_TEXT,      .max = FIELD_URI_MAX,
     .rule = endpoint_rule, .column = "jwks_uri", .help = "Address of its public keys"},
    {"backchannelNotificationEndpoint", FIELD_TEXT,      .max = FIELD_URI_MAX,
     .rule = endpoint_rule, .column = "backchannel_notification_endpoint",
     .help = "The provider gets a POST here when one of its people must answer a CIBA request"},
    {"scopes",                          FIELD_TEXT_LIST, .max = SCOPES_MAX,
     .item_max = SCOPE_OCTETS_MAX, .rule = scope_rule, .column = "scopes",
     .help = "Scopes to ask for; openid is always among them",
     .example = "[\"openid\", \"email\"]"},
    {"authorizeParams",                 FIELD_OBJECT,    .rule = params_rule,
     .column = "authorize_params", .help = "More parameters of the authorization request",
     .example = "{\"prompt\": \"select_account\"}"},
    {"userinfo",                        FIELD_TEXT,      .words = userinfo_modes,
     .column = "userinfo",
     .help = "auto: claims of userinfo are joined, and without a usable answer the ID token stands "
             "alone; off: it is not asked; required: without a usable answer there is no sign-in. "
             "Absent: auto",
     .example = "\"auto\""},
    {"userinfoAt",                      FIELD_READ_ONLY, .shown = FIELD_TEXT,
     .help = "Claims of userinfo were joined then, to the hour; an answer that cannot be used "
             "leaves incomplete claims from then on"},
    {"claims",                          FIELD_TEXT_LIST, .max = LIST_CLAIMS_MAX,
     .item_max = LIST_CLAIM_MAX, .rule = field_rule_visible, .column = "claims",
     .help = "Claims of people that are kept; others are dropped, and never incomplete. One of "
             "these that is incomplete refuses the sign-in. Absent: all; [] for none",
     .example = "[\"email\", \"email_verified\", \"groups\"]"},
    {"listClaims",                      FIELD_TEXT_LIST, .max = LIST_CLAIMS_MAX,
     .item_max = LIST_CLAIM_MAX, .rule = field_rule_visible, .column = "list_claims",
     .help = "Claims that are lists: a text becomes a list of one. A new provider has groups and "
             "roles if it is left out; [] for none",
     .example = "[\"groups\", \"roles\"]"},
    {"prompts",                         FIELD_TEXT_LIST, .max = PROMPTS_MAX,
     .item_max = PROMPT_MAX, .words = prompt_words, .column = "prompts",
     .help = "Words of prompt that it takes; login and select_account of a request are sent to it "
             "only if they are among them. Absent: both are sent",
     .example = "[\"none\", \"consent\", \"select_account\"]"},
    {"sendsAuthTime",                   FIELD_BOOLEAN,   .column = "sends_auth_time",
     .help = "false: its ID tokens do not tell when the person signed in (auth_time), so requests "
             "with prompt=login or max_age are login_required. Absent: true",
     .example = "true"},
    {"logo",                            FIELD_TEXT,      .max = LOGO_TEXT_MAX, .rule = logo_rule,
     .column = "logo",
     .help = "Picture beside the name where people choose: a data: URL of a PNG, JPEG or WebP "
             "picture of at most 16 KiB"},
    {"enabled",                         FIELD_BOOLEAN,   .column = "enabled",
     .help = "Users can sign in there", .example = "true"},
    {"home",                            FIELD_READ_ONLY, .shown = FIELD_BOOLEAN,
     .help = "In the answer to POST and PUT: its people keep their sub as their name, as those of "
             "the home issuer (see /admin/api/home-issuer)"},
    {"faults",                          FIELD_READ_ONLY, .shown = FIELD_ARRAY,
     .help = "Why sign-ins ended there in the last 24 hours and will not heal: code "
             "(doc/errors.md), firstAt, lastAt and count, in minutes"},
    {"warnings",                        FIELD_READ_ONLY, .shown = FIELD_TEXT_LIST, .help = "Faults of the configuration that do not refuse it"}, /* accepted, because a client may send an answer back */
};
const struct field_table identity_provider_table = FIELD_TABLE("IdentityProviderDto",
                                                               provider_fields, 0);
/* clang-format on */

const struct resource_body identity_provider_body = {
    .fields = &identity_provider_table,
    .key = "idpId",
    .key_fixed = false,
    .secret = "clientSecret",
};

/* ---- an id for a provider that was given none ---- */

/* Return the letters and digits of a text in lower case, with one hyphen for each run of other
 * characters. */
static char *
provider_make_word(TALLOC_CTX *mem, const char *text)
{
    char *word = talloc_zero_array(mem, char, MADE_ID_MAX + 1);
    size_t length = 0;
    for (; word != NULL && *text != '\0' && length < MADE_ID_MAX; text++) {
        char c = *text >= 'A' && *text <= 'Z' ? (char) (*text - 'A' + 'a') : *text;
        if (strchr(LOWER, c) != NULL)
            word[length++] = c;
        else if (length > 0 && word[length - 1] != '-')
            word[length++] = '-';
    }
    if (length > 0 && word[length - 1] == '-')
        word[length - 1] = '\0';
    return word;
}

static bool
provider_is_taken(const struct identity_providers *taken, const char *idp_id)
{
    for (size_t i = 0; i < taken->count; i++)
        if (strcmp(taken->provider[i].idp_id, idp_id) == 0)
            return true;
    return false;
}

char *
identity_provider_make_id(TALLOC_CTX *mem, const char *name, const char *issuer,
                          const struct identity_providers *taken)
{
    struct uri uri;
    char *word = provider_make_word(mem, name != NULL ? name : "");
    if (word != NULL && *word == '\0' && uri_parse(mem, issuer, &uri) == AZ_OK)
        word = provider_make_word(mem, uri.host);
    if (word != NULL && *word == '\0')
        word = talloc_strdup(mem, "idp");
    char *made = word;
    /* Try one number more than there are providers, so that one of them is free. */
    for (size_t i = 2; made != NULL && provider_is_taken(taken, made) && i < taken->count + 3; i++)
        made = talloc_asprintf(mem, "%s-%zu", word, i);
    return made;
}
