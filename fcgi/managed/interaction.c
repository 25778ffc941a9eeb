#include "config.h"

#include <string.h>

#include "base/uri.h"
#include "managed/reader.h"

/* The member `interaction` as it stands. */
struct raw_interaction {
    struct managed_interaction may;
    const json_t *hosts;
};

#define INTO(member) FIELD_INTO(struct raw_interaction, member)
/* clang-format off */
static const struct field interaction_fields[] = {
    {"form",     FIELD_BOOLEAN,   INTO(may.form),
     .help = "It may ask the person of a call to fill in a form, but not for passwords and the "
             "like", .example = "true"},
    {"url",      FIELD_BOOLEAN,   INTO(may.url),
     .help = "It may ask the person to open an https address of its own host, or of urlHosts",
     .example = "false"},
    {"sampling", FIELD_BOOLEAN,   INTO(may.sampling),
     .help = "It may ask the client to have its model write a text", .example = "false"},
    {"roots",    FIELD_BOOLEAN,   INTO(may.roots),
     .help = "It may ask the client for its root directories", .example = "false"},
    {"urlHosts", FIELD_TEXT_LIST, .max = MANAGED_URL_HOSTS_MAX, .item_max = MANAGED_WORD_MAX,
     INTO(hosts), .help = "With url: other hosts that it may send the person to",
     .example = "[\"login.shop.example\"]"},
};
/* clang-format on */
const struct field_table managed_interaction_table = FIELD_TABLE(NULL, interaction_fields, 0);

/* True for a host as uri_parse() gives it, without a port. */
static bool
is_host(TALLOC_CTX *mem, const char *text)
{
    struct uri uri;
    const char *whole = talloc_asprintf(mem, "https://%s/", text);
    return whole != NULL && uri_parse(mem, whole, &uri) == AZ_OK && uri.host != NULL
           && strcmp(uri.host, text) == 0 && uri.port == NULL && uri.userinfo == NULL;
}

void
reader_interaction(struct reader *reader, const json_t *object)
{
    struct raw_interaction raw = {.hosts = NULL};
    size_t index;
    const json_t *host;
    if (object == NULL)
        return;
    if (!reader_part(reader, "interaction", &managed_interaction_table, object, &raw))
        return;
    json_array_foreach (raw.hosts, index, host)
        if (!is_host(reader->mem, json_string_value(host)))
            reader_tell_text(reader, "interaction.urlHosts",
                             "[%zu] must be a host in lower case, without a port", index);
    if (reader->resource->upstream != MANAGED_MCP
        && (raw.may.form || raw.may.url || raw.may.sampling || raw.may.roots))
        reader_tell(reader, "interaction", "is for MCP resources only");
    raw.may.url_hosts = reader_list(reader, raw.hosts);
    reader->resource->interaction = raw.may;
}
