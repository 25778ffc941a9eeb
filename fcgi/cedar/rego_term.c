#include "config.h"

#include "cedar/rego_term.h"

#include <inttypes.h>
#include <string.h>

#include "cedar/extension.h"
#include "cedar/json.h"
#include "cedar/rego.h"

static void
put_hex(struct buf *buf, const struct cedar_ip *ip)
{
    buf_append_char(buf, ip->v6 ? '6' : '4');
    for (int i = 0; i < (ip->v6 ? 16 : 4); i++)
        buf_append_format(buf, "%02x", ip->octet[i]);
}

/* Append an address: `v` is its text, which identifies it; lo and hi are the ends of its range. */
static void
put_ip(struct buf *buf, const struct cedar_ip *ip)
{
    struct cedar_ip low = cedar_ip_edge(ip, false), high = cedar_ip_edge(ip, true);
    buf_append_text(buf, "\"ip\",\"v\":\"");
    put_hex(buf, ip);
    buf_append_format(buf, "/%03u\",\"vhi\":\"", ip->prefix);
    put_hex(buf, &high);
    buf_append_text(buf, "\",\"vlo\":\"");
    put_hex(buf, &low);
    buf_append_text(buf, "\"");
}

static void
put_extension(struct buf *buf, const struct cedar_value *value)
{
    static const char *const names[] = {[CEDAR_DATETIME] = "datetime",
                                        [CEDAR_DECIMAL] = "decimal",
                                        [CEDAR_DURATION] = "duration",
                                        [CEDAR_IP] = "ip"};
    buf_append_text(buf, "{\"" CEDAR_REGO_EXTENSION "\":{\"fn\":");
    if (value->type == CEDAR_IP)
        put_ip(buf, &value->ip);
    else
        buf_append_format(buf, "\"%s\",\"v\":%" PRId64, names[value->type], value->number);
    buf_append_text(buf, "}}");
}

static void
put_all(struct buf *buf, const struct cedar_value *value)
{
    buf_append_char(buf, value->type == CEDAR_SET ? '[' : '{');
    for (size_t i = 0; i < value->all.count; i++) {
        buf_append_text(buf, i > 0 ? "," : "");
        if (value->type == CEDAR_RECORD) {
            cedar_json_put(buf, value->all.name[i]);
            buf_append_char(buf, ':');
        }
        cedar_rego_put(buf, &value->all.member[i]);
    }
    buf_append_char(buf, value->type == CEDAR_SET ? ']' : '}');
}

void
cedar_rego_put(struct buf *buf, const struct cedar_value *value)
{
    switch (value->type) {
    case CEDAR_BOOL:
        buf_append_text(buf, value->truth ? "true" : "false");
        break;
    case CEDAR_LONG:
        buf_append_format(buf, "%" PRId64, value->number);
        break;
    case CEDAR_STRING:
        cedar_json_put(buf, value->text);
        break;
    case CEDAR_SET:
    case CEDAR_RECORD:
        put_all(buf, value);
        break;
    case CEDAR_ENTITY:
        buf_append_text(buf, "{\"" CEDAR_REGO_ENTITY "\":{\"id\":");
        cedar_json_put(buf, value->uid.id);
        buf_append_text(buf, ",\"type\":");
        cedar_json_put(buf, value->uid.type);
        buf_append_text(buf, "}}");
        break;
    case CEDAR_DATETIME:
    case CEDAR_DECIMAL:
    case CEDAR_DURATION:
    case CEDAR_IP:
        put_extension(buf, value);
        break;
    }
}

/* Append the key of an entity, as the function key() of the runtime makes it. */
static void
put_key(struct buf *buf, TALLOC_CTX *mem, const struct cedar_uid *uid)
{
    size_t length = uid->type.length + 3 + uid->id.length;
    char *key = talloc_array(mem, char, length);
    if (key == NULL) {
        buf->status = AZ_SERVER_ERROR;
        return;
    }
    memcpy(key, uid->type.at, uid->type.length);
    memcpy(key + uid->type.length, "::\"", 3);
    if (uid->id.length > 0)
        memcpy(key + uid->type.length + 3, uid->id.at, uid->id.length);
    cedar_json_put(buf, (struct cedar_text){key, length});
    talloc_free(key);
}

char *
cedar_rego_entities(TALLOC_CTX *mem, const struct cedar_entities *entities)
{
    size_t length;
    BUF_AUTO buf;
    buf_init(&buf, mem, CEDAR_REGO_MAX);
    buf_append_char(&buf, '{');
    for (size_t i = 0; i < entities->count; i++) {
        const struct cedar_entity *entity = &entities->entity[i];
        buf_append_text(&buf, i > 0 ? ",\n" : "");
        put_key(&buf, mem, &entity->uid);
        buf_append_text(&buf, ":{\"attrs\":");
        cedar_rego_put(&buf, &entity->attributes);
        buf_append_text(&buf, ",\"tags\":");
        cedar_rego_put(&buf, &entity->tags);
        buf_append_text(&buf, ",\"anc\":{");
        for (size_t j = 0, put = 0; j < entity->ancestors; j++) {
            if (j > 0 && cedar_uid_equal(&entity->ancestor[j - 1], &entity->ancestor[j]))
                continue;
            buf_append_text(&buf, put++ > 0 ? "," : "");
            put_key(&buf, mem, &entity->ancestor[j]);
            buf_append_text(&buf, ":true");
        }
        buf_append_text(&buf, "}}");
    }
    buf_append_char(&buf, '}');
    return buf_take(&buf, &length);
}

char *
cedar_rego_request(TALLOC_CTX *mem, const struct cedar_request *request)
{
    size_t length;
    BUF_AUTO buf;
    buf_init(&buf, mem, CEDAR_REGO_MAX);
    for (int i = CEDAR_PRINCIPAL; i <= CEDAR_CONTEXT; i++) {
        buf_append_format(&buf, "%s\"%s\":", i > 0 ? "," : "{", cedar_variable_names[i]);
        cedar_rego_put(&buf, &request->variable[i]);
    }
    buf_append_char(&buf, '}');
    return buf_take(&buf, &length);
}
