/* Uses of builtins that leave the decision are found in every form in which the engine accepts
 * them (each of these was tried with OPA 1.20.2), and comments and strings are no use (decisions.md
 * "Network builtins"). */
#include "config.h"

#include "policy/rows/rule_builtins.h"

#include "tap.h"

static const struct {
    const char *text;
    int line; /* 0: no use */
    const char *name;
} texts[] = {
    {"package a\n\nx := http.send({})",                    3, "a call"                                   },
    {"package a\nx := net.lookup_ip_addr(\"a\")",          2, "net.lookup_ip_addr"                       },
    {"package a\nx := opa.runtime().env",                  2, "opa.runtime"                              },
    {"package a\nx := json.match_schema(1, input)",        2, "json.match_schema"                        },
    {"package a\nx := json.verify_schema(input)",          2, "json.verify_schema"                       },
    {"package a\nx := http[\"send\"]({})",                 2, "a name in brackets"                       },
    {"package a\nx := http[`send`]({})",                   2, "... in back quotes"                       },
    {"package a\nx := http[ # c\n  \"send\" # d\n]({})",   2, "... with blanks and comments"             },
    {"package a\nx := http[(\"send\")]({})",               2, "... in parentheses"                       },
    {"package a\nx := http[( (\"send\"))]({})",            2, "... in several"                           },
    {"package a\nx := http[\"\\u0073end\"]({})",           2, "... with an escape"                       },
    {"package a\nx := http\n[\"send\"]({})",               2, "... on the next line"                     },
    {"package a\nx := y with y as http.send",              2, "in the place of another function (with)"  },
    {"package a\nx := y with y as http[\"send\"]",         2, "... in brackets"                          },
    {"package a\nx := $\"{http.send({})}\"",               2, "in a template string"                     },
    {"package a\nx := $`# \" {http.send({})}`",            2, "... in back quotes, behind other signs"   },
    {"package a\nx := $\"{y}\"\n# \"\nz := http.send({})", 4, "behind a template string"                 },
    {"package a\nx := \"#\" y := http.send({})",           2, "behind a string with the sign of comments"},
    {"package a\nx := \"\\\"\" y := opa.runtime()",        2, "behind an escaped quote"                  },
    {"package a\nx := `\\` y := opa.runtime()",            2, "behind a backslash in back quotes"        },
    {"package a\nx := `\n\n` y := opa.runtime()",          4, "behind a string of several lines"         },
    {"package a # \"\nx := opa.runtime()",                 2, "behind a comment with a quote"            },
    {"package a\r\n\r\nx := opa.runtime()",                3, "with the line ends of other systems"      },
    {"package a\nx := [1,http.send({})]",                  2, "behind a comma"                           },
    {"package a\nx := \xc3\xa9http.send({})",              2, "behind a letter beyond ASCII"             },
    {"package a\nx {opa.runtime()}",                       2, "behind a brace"                           },
    {"http.send",                                          1, "as the whole text"                        },
    {"package a\n# http.send({})\nx := 1",                 0, "in a comment"                             },
    {"package a\nx := \"http.send({})\"",                  0, "in a string"                              },
    {"package a\nx := `http.send({})`",                    0, "in back quotes"                           },
    {"package a\nx := \"a\\\" http.send({})\"",            0, "in a string, behind an escaped quote"     },
    {"package a\nx := input.http.send",                    0, "as a member of another document"          },
    {"package a\nx := input.opa[\"runtime\"]",             0, "... in brackets"                          },
    {"package a\nx := xhttp.send",                         0, "a longer word"                            },
    {"package a\nx := http.sender",                        0, "a longer member"                          },
    {"package a\nx := http.sen",                           0, "a shorter member"                         },
    {"package a\nx := http[\"sender\"]",                   0, "a longer member in brackets"              },
    {"package a\nx := net[i]",                             0, "a variable in brackets"                   },
    {"package a\nx := net.cidr_contains(a, b)",            0, "another builtin of net"                   },
    {"package a\nx := json.unmarshal(input)",              0, "another builtin of json"                  },
    {"package a\nx := time.now_ns()",                      0, "a builtin that only computes"             },
    {"package a\nx := \"open",                             0, "a string that is not closed"              },
    {"package a\nx := http[\"send",                        0, "... in brackets"                          },
    {"package a\nx := http[\"\\",                          2, "... with an escape at the end"            },
    {"",                                                   0, "an empty text"                            },
};

int
main(void)
{
    for (size_t i = 0; i < sizeof(texts) / sizeof(texts[0]); i++) {
        struct rule_builtin_use use = {.line = 0};
        bool found = rule_builtin_find(texts[i].text, &use);
        is_int(found ? use.line : 0, texts[i].line, "%s: %s",
               texts[i].line > 0 ? "found, with its line" : "no use", texts[i].name);
    }
    return done();
}
