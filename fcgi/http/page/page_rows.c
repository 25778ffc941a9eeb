#include "config.h"

#include "http/page/page_rows.h"

#include <stddef.h>

/* clang-format off */
const struct page_row page_rows[PAGES] = {
    {"error",
     {"refused", "declined", "closed", "busy", "unavailable", "broken", "link", "console", "error", "text",
      "request_id", "back_href", "back_place", NULL}                                     },
    {"busy",       {NULL}                                                                },
    {"choose",     {"client_name", "links", "links.policy", "links.terms", "links.text", "links.href", "links.host", "providers", "providers.name", "providers.logo", "providers.host", "providers.href", NULL}},
    {"away", {"provider", "client_name", "providers", "providers.name", "providers.logo", "providers.host", "providers.href", "again_href", "leave_href", "leave_place", "leave_stranger", "request_id", NULL}},
    {"consent",
     {"action", "id", "client_name", "client_id", "client_host", "verified", "links", "links.policy", "links.terms", "links.text", "links.href", "links.host", "redirect_host",
      "loopback", "private_scheme", "scopes", "scopes.name", "scopes.text", "scopes.description", "scopes.words_lang", "resource", "details",
      "details.text", "details.title", "details.members", "members.name", "members.text",
      "subject_name", "idp_name", "switch_href", NULL}                                   },
    {"ciba",
     {"action", "request", "token", "client_name", "client_id", "client_host", "verified",
      "binding_message", "binding_words", "binding_words.word", "scopes", "scopes.name", "scopes.text", "scopes.description", "scopes.words_lang", "resource", "details",
      "details.text", "details.title", "details.members", "members.name", "members.text",
      "minutes", "seconds", "time_left", "subject_name", "idp_name", "logout_href", "list_href", NULL}         },
    {"ciba_list",
     {"approved", "denied", "requests", "requests.client", "requests.message",
      "requests.minutes", "requests.seconds", "requests.time_left", "requests.href", "subject_name", "idp_name", "logout_href",
      NULL}                                                                              },
    {"link",
     {"resource", "provider", "host", "sign_in_host", "client_name", "scopes", "scopes.name",
      "asks_secret", "label", "help", "fault", "secret_missing", "secret_malformed", "secret_refused", "action", "state", "token", "subject_name",
      "idp_name", "logout_href", NULL}                                                   },
    {"connections",
     {"connected", "partial", "cancelled", "disconnected", "connections", "connections.name",
      "connections.account", "connections.scopes", "connections.again", "connections.since",
      "connections.used", "connections.again_href", "connections.action", "connections.token",
      "subject_name", "idp_name", "logout_href", NULL}                                   },
    {"account",
     {"ended", "action", "sessions", "sessions.id", "sessions.name", "sessions.since",
      "sessions.until", "sessions.current", "sessions.token", "applications", "applications.id",
      "applications.name", "applications.scopes", "applications.words", "words.name", "words.text", "words.description", "words.words_lang", "applications.since", "applications.token",
      "approvals", "approvals.id", "approvals.name", "approvals.message", "approvals.until",
      "approvals.waits", "approvals.token", "connections", "connections.name",
      "connections.account", "connections.since", "connections.action", "connections.token",
      "delegations", "delegations.id", "delegations.name", "delegations.to", "delegations.scopes",
      "delegations.until", "delegations.token", "approvals_href", "subject_name", "idp_name",
      "logout_href", NULL}                                                               },
    {"home",       {"issuer", "discovery_href", "health_href", "reader_href", "account_href", "connections_href", NULL}                     },
    {"not_found",  {"request_id", NULL}                                                  },
    {"logout",     {"action", "token", "client_name", "subject_name", NULL}              },
    {"signed_out", {"client_name", "back_href", "back_place", NULL}                      },
};
/* clang-format on */
