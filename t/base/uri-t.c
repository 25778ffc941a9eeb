#include "config.h"

#include "base/uri.h"

#include <stdlib.h>
#include <string.h>

#include "tap.h"

/* The parts with | between them: scheme, userinfo, host, port, path, query, fragment; "-" for none.
 */
static const char *
parts_of(TALLOC_CTX *mem, const char *text)
{
    struct uri uri;
    if (uri_parse(mem, text, &uri) != AZ_OK)
        return "refused";
    const char *parts[] = {uri.scheme, uri.userinfo, uri.host,    uri.port,
                           uri.path,   uri.query,    uri.fragment};
    char *all = talloc_strdup(mem, "");
    for (size_t i = 0; i < sizeof(parts) / sizeof(parts[0]); i++)
        all = talloc_asprintf_append(all, "%s%s", i > 0 ? "|" : "", parts[i] ? parts[i] : "-");
    return all;
}

static const struct {
    const char *text;
    const char *parts;
    const char *name;
} uris[] = {
    {"https://a.example/b?c=d#e", "https|-|a.example|-|/b|c=d|e",  "all parts"                        },
    {"HTTPS://A.Example/B",       "https|-|a.example|-|/B|-|-",    "scheme and host in capitals"      },
    {"https://u:p@a:8443",        "https|u:p|a|8443||-|-",         "user information and port"        },
    {"https://a?",                "https|-|a|-|||-",               "an empty query"                   },
    {"https://a/#",               "https|-|a|-|/|-|",              "an empty fragment"                },
    {"http://[::1]:80/x",         "http|-|::1|80|/x|-|-",          "an IPv6 address"                  },
    {"urn:svc:gateway",           "urn|-|-|-|svc:gateway|-|-",     "a URN"                            },
    {"com.example.app:/cb",       "com.example.app|-|-|-|/cb|-|-", "a private scheme"                 },
    {"file:///etc",               "file|-||-|/etc|-|-",            "an empty host"                    },
    {"a:",                        "a|-|-|-||-|-",                  "nothing after the scheme"         },
    {"https://a/%20?x=%3F",       "https|-|a|-|/%20|x=%3F|-",      "escapes stay as they are"         },
    {"https://a/?b?c",            "https|-|a|-|/|b?c|-",           "a question mark in the query"     },
    {"",                          "refused",                       "nothing"                          },
    {"a",                         "refused",                       "no colon"                         },
    {"/a:b",                      "refused",                       "no scheme"                        },
    {"1a:b",                      "refused",                       "a scheme that begins with a digit"},
    {":b",                        "refused",                       "an empty scheme"                  },
    {"a_b:c",                     "refused",                       "an underscore in the scheme"      },
    {"https:",                    "refused",                       "https without host"               },
    {"https:///a",                "refused",                       "https with an empty host"         },
    {"https:a",                   "refused",                       "https without authority"          },
    {"https://:443/",             "refused",                       "https with a port alone"          },
    {"https://a b/",              "refused",                       "a space"                          },
    {"https://a/\\b",             "refused",                       "a backslash"                      },
    {"https://a/\xc3\xa9",        "refused",                       "a character beyond ASCII"         },
    {"https://a/\t",              "refused",                       "a tab"                            },
    {"https://a/\x7f",            "refused",                       "DEL"                              },
    {"https://a/<b>",             "refused",                       "angle brackets"                   },
    {"https://a/[b]",             "refused",                       "brackets in the path"             },
    {"https://a/%",               "refused",                       "a lone percent sign"              },
    {"https://a/%4",              "refused",                       "half an escape"                   },
    {"https://a/%zz",             "refused",                       "an escape that is no hex"         },
    {"https://a/#b#c",            "refused",                       "two fragments"                    },
    {"https://a@b@c/",            "refused",                       "two at signs"                     },
    {"https://a:b/",              "refused",                       "a port that is no number"         },
    {"https://a:65535/",          "https|-|a|65535|/|-|-",         "the last port"                    },
    {"https://a:65536/",          "refused",                       "one past it"                      },
    {"https://a:000080/",         "refused",                       "a port of six digits"             },
    {"https://[::1/",             "refused",                       "an IPv6 address without end"      },
    {"https://[::g]/",            "refused",                       "an IPv6 address with a letter"    },
    {"https://[127.0.0.1]/",      "refused",                       "an IPv4 address in brackets"      },
    {"https://[::1]x/",           "refused",                       "text after the bracket"           },
    {"https://[fe80::1%25eth0]/", "refused",                       "an IPv6 zone"                     },
};

/* Redirect URIs, with the rule of oauth.md 3.2 or RFC 9700 2.1 that each breaks; NULL: it is good.
 */
static const struct {
    const char *text;
    const char *why; /* a piece of the message */
    const char *name;
} redirects[] = {
    {"https://a.example/cb",                                 NULL,               "https"                                     },
    {"https://a.example:8443/cb?tenant=1",                   NULL,               "https with port and query"                 },
    {"http://127.0.0.1/cb",                                  NULL,               "http to 127.0.0.1 (RFC 8252 7.3)"          },
    {"http://127.0.0.1:5000/cb",                             NULL,               "http to 127.0.0.1 with a port"             },
    {"http://[::1]/cb",                                      NULL,               "http to ::1"                               },
    {"http://localhost/cb",                                  NULL,               "http to localhost"                         },
    {"com.example.app:/cb",                                  NULL,               "a private scheme with a dot (RFC 8252 7.1)"},
    {"com.example.app://cb",                                 NULL,               "a private scheme with a host"              },
    {"https://a.example/?codes=1&my_state=2&error_uri=3&=4", NULL,               "names that only resemble ours"             },
    {"https://a.example/?x=code",                            NULL,               "code as a value"                           },
    {"http://a.example/cb",                                  "https",            "http"                                      },
    {"http://127.0.0.2/",                                    "https",            "http to another loopback address"          },
    {"http://localhost.example/",                            "https",            "http to a name that begins with localhost" },
    {"http://127.0.0.1.example/",                            "https",            "http to a name that begins with an address"},
    {"http://0.0.0.0/",                                      "https",            "http to all addresses"                     },
    {"javascript:alert(1)",                                  "https",            "javascript: (CVE-2026-9086)"               },
    {"JaVaScRiPt:alert(1)",                                  "https",            "javascript: in mixed case"                 },
    {"data:text/html,x",                                     "https",            "data:"                                     },
    {"DATA:text/html,x",                                     "https",            "data: in capitals"                         },
    {"file:///etc/passwd",                                   "https",            "file:"                                     },
    {"vbscript:x",                                           "https",            "vbscript:"                                 },
    {"cursor://anysphere.cursor-retrieval/cb",               NULL,
     "a private scheme without a dot: the row decides (world.md G7)"                                                         },
    {"httpx:/cb",                                            "https",            "one that begins as http"                   },
    {"blob:https://a.example/x",                             "https",            "blob:"                                     },
    {"about:blank",                                          "https",            "about:"                                    },
    {"intent://x",                                           "https",            "intent:"                                   },
    {"ws://a.example/",                                      "https",            "ws:"                                       },
    {"ftp://a.example/",                                     "https",            "ftp:"                                      },
    {"cursor://*/cb",                                        "wildcard",         "a wildcard in a private scheme"            },
    {"cursor://u@x/cb",                                      "user information", "a user in a private scheme"                },
    {"https://a.example/#",                                  "fragment",         "an empty fragment"                         },
    {"https://a.example/cb#x",                               "fragment",         "a fragment"                                },
    {"com.example.app:/cb#x",                                "fragment",         "a fragment after a private scheme"         },
    {"https://good.example@evil.example/",                   "user information", "user information"                          },
    {"https://@a.example/",                                  "user information", "empty user information"                    },
    {"http://u@127.0.0.1/",                                  "user information", "user information before loopback"          },
    {"https://*.example.com/",                               "wildcard",         "a wildcard"                                },
    {"https://a.example%2f.evil.example/",                   "a host of",        "an escape in the host"                     },
    {"https://a%2eexample/",                                 "a host of",        "an escaped dot in the host"                },
    {"https://a.example;x/",                                 "a host of",        "a semicolon in the host (CSP)"             },
    {"https://a.example'x/",                                 "a host of",        "a quote in the host"                       },
    {"https://a_b-c.example/",                               NULL,               "an underscore and a hyphen in the host"    },
    {"https://A.Example/",                                   NULL,               "a host in capitals"                        },
    {"https://[2001:db8::1]/",                               NULL,               "an IPv6 address"                           },
    {"https://a.example/?code=1",                            "query parameter",  "a parameter code (CVE-2026-9689)"          },
    {"https://a.example/?x=1&state=2",                       "query parameter",  "a parameter state"                         },
    {"https://a.example/?iss",                               "query parameter",  "a parameter iss without value"             },
    {"https://a.example/?error=",                            "query parameter",  "a parameter error"                         },
    {"https://a.example/?c%6Fde=1",                          "query parameter",  "an escaped code"                           },
    {"https://a.example/?%63%6f%64%65=1",                    "query parameter",  "a code all escaped"                        },
    {"com.example.app:/cb?code=1",                           "query parameter",  "a parameter after a private scheme"        },
    {"//a.example/cb",                                       "not a valid",      "no scheme"                                 },
    {"https://a.example/c b",                                "not a valid",      "a space"                                   },
    {"https:\\\\a.example",                                  "not a valid",      "backslashes"                               },
    {"https://a.example/\r\nX: y",                           "not a valid",      "a line break (response splitting)"         },
};

static bool
says(const char *why, const char *piece)
{
    return why == NULL || piece == NULL ? why == piece : strstr(why, piece) != NULL;
}

static void
test_lengths(TALLOC_CTX *mem)
{
    for (size_t length = URI_MAX; length <= URI_MAX + 1; length++) {
        char *text = talloc_zero_size(mem, length + 1);
        struct uri uri;
        memset(text, 'a', length);
        memcpy(text, "https://", 8);
        ok(uri_parse(mem, text, &uri) == (length == URI_MAX ? AZ_OK : AZ_INVALID),
           "a URI of %zu octets is %s", length, length == URI_MAX ? "taken" : "refused");
    }
}

static void
test_origins(TALLOC_CTX *mem)
{
    static const struct {
        const char *text, *origin;
    } origins[] = {
        {"https://App.example/cb?x=1",  "https://app.example"     },
        {"https://app.example:8443/cb", "https://app.example:8443"},
        {"http://127.0.0.1:7777/cb",    "http://127.0.0.1:7777"   },
        {"http://[::1]:7777/cb",        "http://[::1]:7777"       },
        {"com.example.app:/cb",         "com.example.app:"        },
        {"com.example.app://host/cb",   "com.example.app:"        },
    };
    struct uri uri;
    for (size_t i = 0; i < sizeof(origins) / sizeof(origins[0]); i++)
        is_str(uri_parse(mem, origins[i].text, &uri) == AZ_OK ? uri_origin(mem, &uri) : "none",
               origins[i].origin, "where %s leads (RFC 6454 4)", origins[i].text);
}

static void
test_lists(void)
{
    static const struct {
        const char *list, *host;
        bool listed;
        const char *name;
    } rows[] = {
        {"localhost,127.0.0.1,[::1]", "localhost",  true,  "the first of a list"                },
        {"localhost,127.0.0.1,[::1]", "::1",        true,  "an IPv6 address, listed in brackets"},
        {" a.example , B.example ",   "b.example",  true,  "blanks and case do not matter"      },
        {"localhost,::1",             "::1",        false, "an IPv6 address without brackets"   },
        {"[localhost]",               "localhost",  false, "a name in brackets"                 },
        {"localhost",                 "localhost.", false, "a final dot makes another name"     },
        {"localhost",                 "local",      false, "a beginning"                        },
        {"local",                     "localhost",  false, "a longer one"                       },
        {"example",                   "a.example",  false, "a domain is no list of its hosts"   },
        {"*",                         "localhost",  false, "a star stands for nothing"          },
        {"",                          "localhost",  false, "an empty list"                      },
        {",,",                        "",           false, "nothing"                            },
        {NULL,                        "localhost",  false, "no list"                            },
    };
    for (size_t i = 0; i < sizeof(rows) / sizeof(rows[0]); i++)
        ok(uri_host_is_listed(rows[i].list, rows[i].host) == rows[i].listed, "hosts of a list: %s",
           rows[i].name);
}

/* RFC 3986 6.2.2; gateway-admin.md 1.6. */
static void
test_canonical(void)
{
    static const char *const good[] = {
        "file:///a/b",           "urn:a:b",       "test://static-text",
        "http://a.example:8/~",  "file:///a%20b", "file:///%C3%A4",
        "file:///a..b/...",      "a://u@h/",      "a:b?../c",
        "https://a.example:80/", "http://[::1]/", "http://a.example:443/"};
    static const char *const bad[] = {"FILE:///a",
                                      "http://A.example/",
                                      "http://u@A.example",
                                      "file:///%61",
                                      "file:///%7E",
                                      "file:///%c3%A4",
                                      "file:///..",
                                      "file:///a/../b",
                                      "file:///./a",
                                      "file:///a/.",
                                      "file:///%2E%2E",
                                      "file:///a%2F..",
                                      "file:///..%2Fa",
                                      "file:///..%5C",
                                      "file:///..;x",
                                      "..:a",
                                      "a",
                                      "",
                                      "a b:c",
                                      "file:///%",
                                      "file:///a%00b",
                                      "file:///a%0A",
                                      "file:///a%7F",
                                      "http://a.example:80/",
                                      "https://a.example:443/",
                                      "http://a.example:/",
                                      "http://a.example:0081/",
                                      "a://h:/",
                                      "http://a.example./",
                                      "http://a.example@b.example/",
                                      "file:///a#",
                                      "file:///a#f",
                                      "file:///a?",
                                      "file:///a?#",
                                      "file:///a?x=1",
                                      "http://a.example/?",
                                      "http://a.example/?#x",
                                      "http://a.example/?x=1#",
                                      "notes:a?x=1#f",
                                      "notes:a#",
                                      "notes:a?",
                                      "a:b?../c#../d"};
    for (size_t i = 0; i < sizeof(good) / sizeof(good[0]); i++)
        ok(uri_is_canonical(good[i]), "the one spelling: %s", good[i]);
    for (size_t i = 0; i < sizeof(bad) / sizeof(bad[0]); i++)
        ok(!uri_is_canonical(bad[i]), "another spelling, or no URI: %s", bad[i]);
}

int
main(void)
{
    TALLOC_CTX *mem = talloc_new(NULL);
    test_origins(mem);
    for (size_t i = 0; i < sizeof(uris) / sizeof(uris[0]); i++)
        is_str(parts_of(mem, uris[i].text), uris[i].parts, "%s (RFC 3986)", uris[i].name);
    for (size_t i = 0; i < sizeof(redirects) / sizeof(redirects[0]); i++)
        ok(says(uri_redirect_fault(redirects[i].text), redirects[i].why),
           "a redirect URI %s: %s (oauth.md 3.2)", redirects[i].why ? "is refused" : "may be",
           redirects[i].name);
    test_lengths(mem);
    ok(uri_https_fault("https://a/keys?x=1") == NULL, "keys are fetched from https");
    ok(says(uri_https_fault("http://a/keys"), "https"), "... not from http");
    ok(says(uri_https_fault("http://localhost/keys"), "https"), "... not from http on this host");
    ok(says(uri_https_fault("https://u@a/keys"), "user information"), "... not with a user");
    ok(says(uri_https_fault("https://a/keys#x"), "fragment"), "... not with a fragment");
    ok(uri_web_fault("https://a/#b") == NULL && uri_web_fault("http://a") == NULL,
       "pages link to https and http");
    ok(says(uri_web_fault("javascript:alert(1)"), "https"), "... not to javascript:");
    ok(says(uri_web_fault("data:text/html,x"), "https"), "... not to data:");
    ok(says(uri_web_fault("https://bank.example@evil.example/"), "user information"),
       "... not to a host behind a user");
    talloc_free(mem);
    test_canonical();
    test_lists();
    return done();
}
