#include "config.h"

#include "admin/people/client_dto.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/json/jsonx.h"
#include "base/settings/settings.h"
#include "store/clients/clients_admin.h"
#include "tap.h"

#define MAX_URIS 3 /* SVC_MAX_REDIRECT_URIS of the tests */

/* RFC 7517 appendix A.1 and A.2: one key pair, its public half and all of it. */
#define EC_PUBLIC                                                                                  \
    "\"kty\":\"EC\",\"crv\":\"P-256\",\"x\":\"MKBCTNIcKUSDii11ySs3526iDZ8AiTo7Tu6KPAqv7D4\","      \
    "\"y\":\"4Etl6SRW2YiLUrN5vfvVHuhp7x8PxltmWWlbbM4IFyM\""
#define EC_PRIVATE EC_PUBLIC ",\"d\":\"870MB6gfuTJ4HtUnUvYMyJpr5eUZNP4Bk43bVdj3eAE\""

#define KEYED ",\"tokenEndpointAuthMethod\":\"private_key_jwt\""

static const struct client_state confidential = {
    .has_secret = true, .type = "confidential", .registration = "ADMIN"};
static const struct client_state keyed = {
    .type = "confidential", .registration = "ADMIN", .auth_method = "private_key_jwt"};
static const struct client_state public = {.type = "public", .registration = "ADMIN"};
static const struct client_state documented = {
    .type = "public", .registration = "CIMD", .auth_method = "private_key_jwt"};
static const struct client_state registered = {
    .has_secret = true, .type = "confidential", .registration = "DCR"};
static const struct client_state stated = {.has_secret = true,
                                           .type = "confidential",
                                           .registration = "STATEMENT",
                                           .statement = "{\"iss\":\"x\",\"scope\":\"b\"}"};
static const struct client_state elliptic = {
    .has_secret = true, .type = "confidential", .registration = "ADMIN", .id_token_alg = "ES256"};
static const char *one_alg[] = {"RS256", NULL}, *two_algs[] = {"RS256", "ES256", NULL};

static void
collect(void *arg, const char *path, const char *why)
{
    char **text = arg;
    (void) why;
    *text = talloc_asprintf_append(*text, "%s%s", **text != '\0' ? " " : "", path);
}

/* SVC_OIDC_ID_TOKEN_ALGS */
static const char **id_token_algs = one_alg;

/* Return the fields with a fault, or the columns when there is none. */
static const char *
read_as(TALLOC_CTX *mem, const char *text, const char *path_key, const struct client_state *stored,
        struct resource_reading *ret)
{
    const struct settings cfg = {.max_redirect_uris = MAX_URIS, .id_token_algs = id_token_algs};
    char *faults = talloc_strdup(mem, "");
    const char *why = NULL;
    *ret = (struct resource_reading){.mem = mem,
                                     .cfg = &cfg,
                                     .path_key = path_key,
                                     .stored = stored,
                                     .fault = collect,
                                     .fault_arg = &faults};
    if (jsonx_parse(mem, text, strlen(text), 32, &ret->object, &why) != AZ_OK) {
        fprintf(stderr, "test input is not JSON: %s\n", text);
        exit(2);
    }
    return resource_body_read(&client_body, ret) == AZ_OK ? jsonx_dump(mem, ret->columns) : faults;
}

#define CONF "\"clientId\":\"c\",\"clientType\":\"confidential\""
#define SECRET "2345678901234567" /* of the shortest length */
#define PUB "\"clientId\":\"c\",\"clientType\":\"public\""

static const struct {
    const char *text;
    const char *faults; /* fields with a fault; NULL: it is good */
    const char *name;
} creations[] = {
    {"{" CONF "}",                                                                                    NULL,                        "the two required fields"                   },
    {"{" PUB "}",                                                                                     NULL,                        "a public client"                           },
    {"{}",                                                                                            "clientType clientId",       "nothing"                                   },
    {"{\"clientId\":\"c\",\"clientType\":\"trusted\"}",                                               "clientType",                "another type"                              },
    {"{\"clientId\":\"c\",\"clientType\":\"Public\"}",                                                "clientType",                "a type in another case"                    },
    {"{" CONF ",\"id\":7,\"issuedSoftwareStatementJwt\":\"x\"}",                                      NULL,
     "what the service sets is ignored"                                                                                                                                        },
    {"{" CONF ",\"enable\":false}",                                                                   "enable",                    "a misspelt field"                          },

    {"{\"clientId\":\" c\",\"clientType\":\"public\"}",                                               "clientId",                  "a space before the id"                     },
    {"{\"clientId\":\"c \",\"clientType\":\"public\"}",                                               "clientId",                  "a space after the id"                      },
    {"{\"clientId\":\"a b\",\"clientType\":\"public\"}",                                              NULL,                        "a space inside the id"                     },
    {"{\"clientId\":\"a\\nb\",\"clientType\":\"public\"}",                                            "clientId",                  "a line break in the id"                    },
    {"{\"clientId\":\"a\\u007fb\",\"clientType\":\"public\"}",                                        "clientId",                  "DEL in the id"                             },
    {"{\"clientId\":\"a\\u0085b\",\"clientType\":\"public\"}",                                        "clientId",                  "a C1 control"                              },
    {"{\"clientId\":\"a\\u202eb\",\"clientType\":\"public\"}",                                        "clientId",                  "text turned round"                         },
    {"{\"clientId\":\"a\\u200bb\",\"clientType\":\"public\"}",                                        "clientId",                  "a zero-width space"                        },
    {"{\"clientId\":\"a\\udb40\\udc41\",\"clientType\":\"public\"}",                                  "clientId",                  "a tag character"                           },
    {"{\"clientId\":\"\\u00e9\\u4e2d\\ud83d\\ude00\",\"clientType\":\"public\"}",                     NULL,
     "letters of any script"                                                                                                                                                   },
    {"{\"clientId\":\".\",\"clientType\":\"public\"}",                                                "clientId",                  "a dot as the id"                           },
    {"{\"clientId\":\"..\",\"clientType\":\"public\"}",                                               "clientId",                  "two dots as the id"                        },
    {"{\"clientId\":\"...\",\"clientType\":\"public\"}",                                              NULL,                        "three dots as the id"                      },
    {"{\"clientId\":\"https://a.example/c\",\"clientType\":\"public\"}",                              NULL,                        "a URL as the id"                           },

    {"{" CONF ",\"tokenEndpointAuthMethod\":\"client_secret_basic\"}",                                NULL,                        "client_secret_basic"                       },
    {"{" CONF ",\"tokenEndpointAuthMethod\":\"client_secret_post\"}",                                 NULL,                        "client_secret_post"                        },
    {"{" CONF ",\"tokenEndpointAuthMethod\":\"none\"}",                                               "tokenEndpointAuthMethod",
     "none for a confidential client"                                                                                                                                          },
    {"{" CONF KEYED "}",                                                                              "jwks",                      "private_key_jwt without keys (oauth.md J8)"},
    {"{" CONF KEYED ",\"jwks\":null,\"jwksUri\":null}",                                               "jwks",                      "... with null for both"                    },
    {"{" CONF KEYED ",\"jwks\":{\"keys\":[{" EC_PUBLIC "}]}}",                                        NULL,                        "private_key_jwt with a key"                },
    {"{" CONF KEYED ",\"jwks\":{\"keys\":[{" EC_PUBLIC ",\"use\":\"enc\"},{" EC_PUBLIC
     ",\"use\":\"sig\",\"alg\":\"ES256\"}]}}",                                                   NULL,                        "... with two, of which one signs"          },
    {"{" CONF KEYED ",\"jwks\":{\"keys\":[]}}",                                                       "jwks",                      "... with an empty set"                     },
    {"{" CONF KEYED ",\"jwks\":{\"keys\":[{" EC_PUBLIC ",\"use\":\"enc\"}]}}",                        "jwks",
     "... with a key for encryption alone"                                                                                                                                     },
    {"{" CONF KEYED ",\"jwks\":{\"keys\":[{" EC_PUBLIC ",\"key_ops\":[\"sign\"]}]}}",                 "jwks",
     "... with a key that verifies nothing"                                                                                                                                    },
    {"{" CONF KEYED ",\"jwks\":{\"keys\":[{" EC_PUBLIC ",\"alg\":\"RS256\"}]}}",                      "jwks",
     "... with a key for an algorithm that it does not fit"                                                                                                                    },
    {"{" CONF KEYED ",\"jwks\":{\"keys\":[{" EC_PUBLIC ",\"alg\":\"ES256K\"}]}}",                     "jwks",
     "... with a key for an unknown algorithm"                                                                                                                                 },
    {"{" CONF KEYED
     ",\"jwks\":{\"keys\":[{\"kty\":\"EC\",\"crv\":\"secp256k1\",\"x\":\"AA\",\"y\":\"AA\"}]}}", "jwks",                      "... with a key of an unknown curve alone"  },
    {"{" CONF KEYED ",\"jwks\":{\"keys\":[{" EC_PRIVATE "}]}}",                                       "jwks",                      "... with a private key"                    },
    {"{" CONF KEYED ",\"jwksUri\":\"https://a/\",\"jwks\":{\"keys\":[{" EC_PUBLIC "}]}}",             "jwksUri",
     "... with keys and their address"                                                                                                                                         },
    {"{" CONF KEYED ",\"jwksUri\":\"https://a/keys\"}",                                               NULL,
     "private_key_jwt with an address of keys"                                                                                                                                 },
    {"{" CONF KEYED ",\"jwksUri\":\"https://a/keys\",\"clientSecret\":\"" SECRET "\"}",
     "clientSecret",                                                                                                               "... and a secret too (oauth.md C12)"       },
    {"{" PUB KEYED ",\"jwksUri\":\"https://a/keys\"}",                                                "tokenEndpointAuthMethod",
     "private_key_jwt for a public client"                                                                                                                                     },
    {"{" PUB ",\"tokenEndpointAuthMethod\":\"none\"}",                                                NULL,                        "none for a public client"                  },
    {"{" PUB ",\"tokenEndpointAuthMethod\":\"client_secret_post\"}",                                  "tokenEndpointAuthMethod",
     "a secret's method for a public client"                                                                                                                                   },
    {"{" CONF ",\"clientSecret\":\"" SECRET "\"}",                                                    NULL,
     "a secret of 16 octets of the administrator's (decisions.md \"Key lengths\")"                                                                                             },
    {"{" CONF ",\"clientSecret\":\"234567890123456\"}",                                               "clientSecret",              "one of 15 octets"                          },
    {"{" CONF ",\"clientSecret\":\"\"}",                                                              "clientSecret",              "an empty secret"                           },
    {"{" PUB ",\"clientSecret\":\"" SECRET "\"}",                                                     "clientSecret",              "a secret for a public client"              },

    {"{" CONF ",\"registrationType\":\"ADMIN\"}",                                                     NULL,                        "registrationType ADMIN"                    },
    {"{" CONF ",\"registrationType\":\"CIMD\"}",                                                      "registrationType",          "another registrationType"                  },
    {"{" CONF ",\"softwareStatement\":{}}",                                                           NULL,                        "a statement without claims"                },
    {"{" CONF ",\"softwareStatementJson\":\"{}\"}",                                                   NULL,                        "its text"                                  },
    {"{" CONF ",\"softwareStatement\":\"x\"}",                                                        "softwareStatement",
     "a statement that is no object"                                                                                                                                           },
    {"{" CONF ",\"softwareStatementJson\":\"[]\"}",                                                   "softwareStatementJson",
     "a text that is no object"                                                                                                                                                },
    {"{" CONF ",\"softwareStatementJson\":\"{\"}",                                                    "softwareStatementJson",
     "a text that is no JSON"                                                                                                                                                  },
    {"{" CONF ",\"softwareStatementJson\":\"\"}",                                                     "softwareStatementJson",     "an empty text"                             },
    {"{" CONF ",\"softwareStatement\":{\"a\":1},\"softwareStatementJson\":\"{ \\\"a\\\":1}\"}",
     NULL,                                                                                                                         "both, which agree"                         },
    {"{" CONF ",\"softwareStatement\":{\"a\":1},\"softwareStatementJson\":\"{\\\"a\\\":2}\"}",
     "softwareStatementJson",                                                                                                      "both, which differ"                        },
    {"{" CONF ",\"softwareStatement\":{\"client_id\":\"c\"}}",                                        NULL,
     "a statement that names the client"                                                                                                                                       },
    {"{" CONF ",\"softwareStatement\":{\"client_id\":\"d\"}}",                                        "softwareStatement",
     "a statement that names another"                                                                                                                                          },
    {"{" CONF ",\"softwareStatement\":{\"client_id\":1}}",                                            "softwareStatement",
     "a statement that names a number"                                                                                                                                         },

    {"{" CONF ",\"redirectUris\":[\"https://a/1\",\"https://a/2\",\"https://a/3\"]}",                 NULL,
     "as many redirect URIs as allowed"                                                                                                                                        },
    {"{" CONF
     ",\"redirectUris\":[\"https://a/1\",\"https://a/2\",\"https://a/3\",\"https://a/4\"]}",     "redirectUris",              "one more (specification 8)"                },
    {"{" CONF ",\"postLogoutRedirectUris\":[\"https://a/1\",\"https://a/2\",\"https://a/3\","
     "\"https://a/4\"]}",                                                                        "postLogoutRedirectUris",    "one more after logout"                     },
    {"{" CONF ",\"redirectUris\":[\"https://a/\",\"javascript:alert(1)\",\"https://a/?code=1\"]}",
     "redirectUris[1] redirectUris[2]",                                                                                            "each bad redirect URI (oauth.md 3.2)"      },
    {"{" CONF ",\"postLogoutRedirectUris\":[\"http://a/\"]}",                                         "postLogoutRedirectUris[0]",
     "http after logout"                                                                                                                                                       },
    {"{" CONF ",\"redirectUris\":\"https://a/\"}",                                                    "redirectUris",              "a text for the list"                       },

    {"{" CONF ",\"jwks\":{\"keys\":[{" EC_PUBLIC "}]}}",                                              NULL,                        "a public key"                              },
    {"{" CONF ",\"jwks\":{\"keys\":[{" EC_PRIVATE "}]}}",                                             "jwks",                      "a private key"                             },
    {"{" CONF ",\"jwks\":{\"keys\":[{\"kty\":\"oct\",\"k\":\"AAAA\"}]}}",                             "jwks",
     "a shared secret"                                                                                                                                                         },
    {"{" CONF ",\"jwks\":{}}",                                                                        "jwks",                      "no array of keys"                          },
    {"{" CONF ",\"jwks\":[]}",                                                                        "jwks",                      "an array for the set"                      },
    {"{" CONF ",\"jwksUri\":\"https://a/keys\"}",                                                     NULL,                        "an address of keys"                        },
    {"{" CONF ",\"jwksUri\":\"http://a/keys\"}",                                                      NULL,
     "an address without TLS: the scheme is a matter of private_key_jwt (oauth.md S12)"                                                                                        },
    {"{" CONF ",\"jwksUri\":\"http://a/\",\"tokenEndpointAuthMethod\":\"client_secret_post\"}",
     NULL,                                                                                                                         "... also with a method named"              },
    {"{" PUB ",\"jwksUri\":\"http://a/keys\"}",                                                       NULL,                        "... and for a public client"               },
    {"{" CONF ",\"jwksUri\":\"http://a/\",\"tokenEndpointAuthMethod\":\"private_key_jwt\"}",
     "jwksUri",                                                                                                                    "http with private_key_jwt (4.7)"           },
    {"{" CONF ",\"jwksUri\":\"/keys\"}",                                                              "jwksUri",                   "an address that is no URI"                 },
    {"{" CONF ",\"jwksUri\":\"https://u@a/keys\"}",                                                   "jwksUri",                   "one with a user"                           },
    {"{" CONF ",\"jwksUri\":\"http://a/keys#x\"}",                                                    "jwksUri",                   "one with a fragment"                       },
    {"{" CONF ",\"jwksUri\":\"https://a/\",\"jwks\":{\"keys\":[]}}",                                  "jwksUri",
     "keys and their address (RFC 7591 2)"                                                                                                                                     },
    {"{" CONF ",\"logoUri\":\"javascript:alert(1)\",\"clientUri\":\"data:,\"}",                       "clientUri logoUri",
     "links that run script"                                                                                                                                                   },
    {"{" CONF ",\"idTokenSignedResponseAlg\":\"RS256\"}",                                             NULL,                        "ID tokens by RS256"                        },
    {"{" CONF ",\"idTokenSignedResponseAlg\":null}",                                                  NULL,                        "null for the algorithm"                    },
    {"{" CONF ",\"idTokenSignedResponseAlg\":\"ES256\"}",                                             "idTokenSignedResponseAlg",
     "ES256, which is not listed"                                                                                                                                              },
    {"{" CONF ",\"idTokenSignedResponseAlg\":\"none\"}",                                              "idTokenSignedResponseAlg",
     "ID tokens without signature"                                                                                                                                             },
    {"{" CONF ",\"idTokenSignedResponseAlg\":\"HS256\"}",                                             "idTokenSignedResponseAlg",
     "ID tokens by HS256"                                                                                                                                                      },
    {"{" CONF ",\"idTokenSignedResponseAlg\":\"\"}",                                                  "idTokenSignedResponseAlg",
     "an empty algorithm"                                                                                                                                                      },
    {"{" CONF ",\"idTokenSignedResponseAlg\":[\"RS256\"]}",                                           "idTokenSignedResponseAlg",
     "a list of algorithms"                                                                                                                                                    },
    {"{" CONF ",\"clientName\":\"a\\u0007b\"}",                                                       "clientName",                "a bell in the name"                        },
};

static void
test_creations(void)
{
    for (size_t i = 0; i < sizeof(creations) / sizeof(creations[0]); i++) {
        TALLOC_CTX *mem = talloc_new(NULL);
        struct resource_reading dto;
        const char *seen = read_as(mem, creations[i].text, NULL, NULL, &dto);
        if (creations[i].faults == NULL)
            ok(dto.columns != NULL, "a client may be created with %s", creations[i].name);
        else
            is_str(seen, creations[i].faults, "refused: %s", creations[i].name);
        talloc_free(mem);
    }
}

/* Maxima of specification 2.1, in code points: `before` and `after` stand round n letters. */
static const struct {
    const char *field, *before, *after;
    size_t max;
} lengths[] = {
    {"clientId",        "{\"clientType\":\"public\",\"clientId\":\"", "\"}",  256     },
    {"clientName",      "{" CONF ",\"clientName\":\"",                "\"}",  256     },
    {"clientSecret",    "{" CONF ",\"clientSecret\":\"",              "\"}",  512     },
    {"clientUri",       "{" CONF ",\"clientUri\":\"https://",         "\"}",  512 - 8 },
    {"logoUri",         "{" CONF ",\"logoUri\":\"https://",           "\"}",  512 - 8 },
    {"jwksUri",         "{" CONF ",\"jwksUri\":\"https://",           "\"}",  512 - 8 },
    {"redirectUris[0]", "{" CONF ",\"redirectUris\":[\"https://",     "\"]}", 2048 - 8},
};

static void
test_lengths(void)
{
    for (size_t i = 0; i < sizeof(lengths) / sizeof(lengths[0]); i++)
        for (size_t over = 0; over < 2; over++) {
            TALLOC_CTX *mem = talloc_new(NULL);
            struct resource_reading dto;
            char *letters = talloc_zero_size(mem, lengths[i].max + 2);
            memset(letters, 'a', lengths[i].max + over);
            const char *text =
                talloc_asprintf(mem, "%s%s%s", lengths[i].before, letters, lengths[i].after);
            const char *seen = read_as(mem, text, NULL, NULL, &dto);
            if (over == 0)
                ok(dto.columns != NULL, "%s may have its maximum", lengths[i].field);
            else
                is_str(seen, lengths[i].field, "%s one longer is refused", lengths[i].field);
            talloc_free(mem);
        }
}

static const struct {
    const char *text;
    const struct client_state *state;
    const char *faults; /* fields with a fault; NULL: it is good */
    const char *name;
} replacements[] = {
    {"{\"clientType\":\"confidential\"}",                                &confidential, NULL,                       "the id of the path alone"                    },
    {"{" CONF "}",                                                       &confidential, NULL,                       "the same id in the body"                     },
    {"{\"clientId\":null,\"clientType\":\"public\"}",                    &public,       NULL,                       "null for the id"                             },
    {"{\"clientId\":\"d\",\"clientType\":\"public\"}",                   &public,       "clientId",                 "another id"                                  },
    {"{\"clientId\":5,\"clientType\":\"public\"}",                       &public,       "clientId",                 "a number for the id"                         },
    {"{\"clientId\":\"c\"}",                                             &public,       "clientType",               "no type: a PUT replaces all"                 },
    {"{" CONF "}",                                                       &public,       "clientSecret",             "public becomes confidential without a secret"},
    {"{" CONF ",\"clientSecret\":\"" SECRET "\"}",                       &public,       NULL,
     "public becomes confidential with one"                                                                                                                       },
    {"{" PUB "}",                                                        &confidential, NULL,                       "confidential becomes public"                 },
    {"{" CONF "}",                                                       &keyed,        "clientSecret",
     "a client without a secret loses its keys and gets none"                                                                                                     },
    {"{" CONF ",\"clientSecret\":\"" SECRET "\"}",                       &keyed,        NULL,                       "... and gets one"                            },
    {"{" CONF KEYED ",\"jwksUri\":\"https://a/keys\"}",                  &keyed,        NULL,                       "a client keeps its keys"                     },
    {"{" CONF KEYED ",\"jwksUri\":\"https://a/keys\"}",                  &confidential, NULL,
     "a client gets keys in place of its secret"                                                                                                                  },
    {"{" CONF KEYED ",\"jwksUri\":\"https://a/keys\"}",                  &public,       NULL,                       "a public client gets keys"                   },
    {"{" PUB KEYED "}",                                                  &documented,   NULL,                       "a client whose document declares keys"       },
    {"{" PUB "}",                                                        &documented,   NULL,                       "... without a method"                        },
    {"{" PUB ",\"tokenEndpointAuthMethod\":\"none\"}",                   &documented,   "tokenEndpointAuthMethod",
     "... with another method than its document (a downgrade)"                                                                                                    },
    {"{" CONF ",\"registrationType\":\"DCR\"}",                          &registered,   NULL,                       "the stored registrationType"                 },
    {"{" CONF ",\"registrationType\":\"ADMIN\"}",                        &registered,   "registrationType",         "another"                                     },
    {"{" CONF ",\"softwareStatement\":{\"a\":1}}",                       &registered,   NULL,
     "a statement, for a client that came without"                                                                                                                },
    {"{" CONF "}",                                                       &stated,       NULL,                       "no statement, for one that came with one"    },
    {"{" CONF ",\"softwareStatement\":{\"scope\":\"b\",\"iss\":\"x\"}}", &stated,       NULL,
     "the statement that it registered with"                                                                                                                      },
    {"{" CONF ",\"softwareStatement\":{\"iss\":\"x\"}}",                 &stated,       "softwareStatement",
     "another: it would widen the client"                                                                                                                         },
    {"{" CONF ",\"softwareStatementJson\":\"{}\"}",                      &stated,       "softwareStatementJson",
     "another, as text"                                                                                                                                           },
    {"{" CONF ",\"idTokenSignedResponseAlg\":\"ES256\"}",                &confidential, "idTokenSignedResponseAlg",
     "an algorithm that is not listed"                                                                                                                            },
    {"{" CONF ",\"idTokenSignedResponseAlg\":\"ES256\"}",                &elliptic,     NULL,
     "the stored algorithm, listed or not"                                                                                                                        },
    {"{" CONF ",\"idTokenSignedResponseAlg\":\"RS256\"}",                &elliptic,     NULL,
     "a listed algorithm in its place"                                                                                                                            },
};

static void
test_replacements(void)
{
    for (size_t i = 0; i < sizeof(replacements) / sizeof(replacements[0]); i++) {
        TALLOC_CTX *mem = talloc_new(NULL);
        struct resource_reading dto;
        const char *seen = read_as(mem, replacements[i].text, "c", replacements[i].state, &dto);
        if (replacements[i].faults == NULL)
            ok(dto.key != NULL && strcmp(dto.key, "c") == 0, "a client may be replaced with %s",
               replacements[i].name);
        else
            is_str(seen, replacements[i].faults, "a replacement is refused: %s",
                   replacements[i].name);
        talloc_free(mem);
    }
}

static void
test_columns(void)
{
    TALLOC_CTX *mem = talloc_new(NULL);
    struct resource_reading dto;
    is_str(
        read_as(mem, "{" PUB ",\"enabled\":false,\"clientName\":\"n\",\"id\":3}", NULL, NULL, &dto),
        "{\"client_name\":\"n\",\"client_type\":\"public\",\"enabled\":false,"
        "\"auth_method\":\"none\"}",
        "values go to their columns, and a public client's method is none");
    ok(dto.secret == NULL, "... it has no secret");
    is_str(read_as(mem, "{" PUB "}", "c", &documented, &dto),
           "{\"client_type\":\"public\",\"auth_method\":\"private_key_jwt\"}",
           "the method of a client with a metadata document stays");
    is_str(read_as(mem, "{" CONF ",\"clientSecret\":\"" SECRET "\"}", NULL, NULL, &dto),
           "{\"client_type\":\"confidential\"}",
           "neither the id nor the secret is among the columns");
    is_str(dto.secret, SECRET, "... the secret goes its own way, to be sealed");
    talloc_free(mem);
}

/* The algorithm of ID tokens: listed or not, kept or given up. */
static void
test_id_token_alg(void)
{
    TALLOC_CTX *mem = talloc_new(NULL);
    struct resource_reading dto;
    const char *es256 = "{" CONF ",\"idTokenSignedResponseAlg\":\"ES256\"}";
    const char *column =
        "{\"client_type\":\"confidential\",\"id_token_signed_response_alg\":\"ES256\"}";
    id_token_algs = two_algs;
    is_str(read_as(mem, es256, NULL, NULL, &dto), column, "ES256 is taken where it is listed");
    id_token_algs = one_alg;
    is_str(read_as(mem, "{" CONF "}", "c", &elliptic, &dto), "{\"client_type\":\"confidential\"}",
           "an absent algorithm writes no column, so the stored one stays");
    is_str(read_as(mem, "{" CONF ",\"idTokenSignedResponseAlg\":null}", "c", &elliptic, &dto),
           "{\"client_type\":\"confidential\",\"id_token_signed_response_alg\":null}",
           "null removes it");
    talloc_free(mem);
}

int
main(void)
{
    test_creations();
    test_lengths();
    test_replacements();
    test_columns();
    test_id_token_alg();
    return done();
}
