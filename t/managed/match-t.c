/*
 * Routes and paths at random, asked on both sides (gateway-admin.md 3.2): what is sent is the
 * request of the route that policy was asked about, at a strict server and at those that read paths
 * in another way. AUTHZ_SEED repeats a run.
 */
#include "config.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <strings.h>
#include <time.h>

#include "base/json/jsonx.h"
#include "managed/choose.h"
#include "managed/document.h"
#include "tap.h"

#define DOCUMENTS 400
#define PATHS 60
#define ROUTES_MAX 7
#define SEGMENTS_MAX 24
#define TEXT_MAX 256

struct source {
    uint64_t state;
};

static unsigned
draw(struct source *source, unsigned bound)
{
    source->state ^= source->state << 13;
    source->state ^= source->state >> 7;
    source->state ^= source->state << 17;
    return (unsigned) (source->state >> 33) % bound;
}

static const char *
draw_of(struct source *source, const char *const *words)
{
    unsigned count = 0;
    while (words[count] != NULL)
        count++;
    return words[draw(source, count)];
}

/* ---- a server behind the gateway: nothing of the code under test */

/* Ways to read a path; a server has any of them. */
enum {
    READS_CASE = 1,   /* letters are compared without their case */
    READS_END = 2,    /* a slash at the end is nothing */
    READS_MERGE = 4,  /* several slashes are one */
    READS_CUT = 8,    /* path parameters are cut off */
    READS_SPLIT = 16, /* %2F is a slash */
    READS_LATE = 32,  /* of routes that are equally close, one that does not have the very text */
    READS_HEAD = 64,  /* HEAD is answered as GET (RFC 9110 9.3.2) */
    READINGS = 128
};

struct texts {
    char text[SEGMENTS_MAX][TEXT_MAX];
    size_t count;
};

static void
decode(char *text, bool slash_alone)
{
    char *out = text;
    for (const char *c = text; *c != '\0'; c++) {
        unsigned octet = 0;
        if (*c == '%' && sscanf(c + 1, "%2x", &octet) == 1 && (!slash_alone || octet == '/')) {
            *out++ = (char) octet;
            c += 2;
        } else {
            *out++ = *c;
        }
    }
    *out = '\0';
}

static void
read_texts(const char *path, unsigned reading, struct texts *ret)
{
    char whole[SEGMENTS_MAX * TEXT_MAX];
    ret->count = 0;
    snprintf(whole, sizeof(whole), "%s", path);
    if (reading & READS_SPLIT)
        decode(whole, true);
    for (char *at = whole; *at == '/' && ret->count < SEGMENTS_MAX;) {
        size_t length = strcspn(at + 1, "/");
        char *text = ret->text[ret->count++];
        snprintf(text, TEXT_MAX, "%.*s", (int) length, at + 1);
        decode(text, false);
        if (reading & READS_CUT)
            text[strcspn(text, ";")] = '\0';
        at += 1 + length;
        if (*text == '\0' && (*at == '\0' ? reading & READS_END : reading & READS_MERGE))
            ret->count--;
    }
    /* What was the last one may be empty only now, behind one that was dropped. */
    if (ret->count > 0 && reading & READS_END && *ret->text[ret->count - 1] == '\0')
        ret->count--;
}

struct server_route {
    struct texts texts;
    bool rest;
    size_t literals, variables;
};

static bool
is_variable(const char *text)
{
    return *text == '{';
}

static void
read_route(const char *pattern, unsigned reading, struct server_route *ret)
{
    char text[SEGMENTS_MAX * TEXT_MAX];
    size_t length = strlen(pattern);
    *ret = (struct server_route){.rest = length >= 3 && strcmp(pattern + length - 3, "/**") == 0};
    snprintf(text, sizeof(text), "%.*s", (int) (length - (ret->rest ? 3 : 0)), pattern);
    /* Nothing of a pattern is encoded or empty. */
    read_texts(strcmp(text, "/") == 0 ? "" : text, reading & (READS_END | READS_CUT), &ret->texts);
    for (size_t i = 0; i < ret->texts.count; i++) {
        bool variable = is_variable(ret->texts.text[i]);
        ret->variables += variable;
        ret->literals += !variable;
    }
}

static bool
server_takes(const struct server_route *route, const struct texts *path, unsigned reading)
{
    size_t count = path->count;
    if (route->texts.count == 0 && !route->rest && count == 1 && *path->text[0] == '\0')
        count = 0;
    if (route->rest ? count < route->texts.count : count != route->texts.count)
        return false;
    for (size_t i = 0; i < route->texts.count; i++) {
        const char *is = path->text[i], *wants = route->texts.text[i];
        if (is_variable(wants) ? *is == '\0'
                               : (reading & READS_CASE ? strcasecmp : strcmp)(is, wants) != 0)
            return false;
    }
    return true;
}

static int
order(size_t a, size_t b)
{
    return a < b ? -1 : a > b;
}

/* Return less than 0 if the route `a` is the closer one. */
static int
order_of(const struct server_route *a, const struct server_route *b)
{
    if (a->literals != b->literals)
        return order(b->literals, a->literals);
    if (a->rest != b->rest)
        return a->rest ? 1 : -1;
    return order(a->variables, b->variables);
}

static bool
serves(const struct managed_route *route, const char *method, unsigned reading)
{
    bool head = reading & READS_HEAD && strcmp(method, "HEAD") == 0;
    for (const char *const *its = route->methods; *its != NULL; its++)
        if (strcmp(*its, method) == 0 || (head && strcmp(*its, "GET") == 0))
            return true;
    return false;
}

struct server {
    const struct managed_resource *resource;
    const char *const *pattern; /* of each route, on this side */
    struct server_route route[READINGS][ROUTES_MAX];
};

static void
server_start(struct server *server)
{
    for (unsigned reading = 0; reading < READINGS; reading++)
        for (size_t i = 0; i < server->resource->routes; i++)
            read_route(server->pattern[i], reading, &server->route[reading][i]);
}

/* Return the place of the route that a server serves, or -1. It has the disabled ones too. */
static int
server_serves(const struct server *server, const char *method, const char *path, unsigned reading)
{
    struct texts texts, exact;
    int best = -1;
    read_texts(path, reading, &texts);
    read_texts(path, 0, &exact);
    for (size_t i = 0; i < server->resource->routes; i++) {
        const struct server_route *route = &server->route[reading][i];
        if (!serves(&server->resource->route[i], method, reading)
            || !server_takes(route, &texts, reading))
            continue;
        int than = best < 0 ? -1 : order_of(route, &server->route[reading][best]);
        if (than < 0
            || (than == 0 && reading & READS_LATE
                && !server_takes(&server->route[0][i], &exact, 0)))
            best = (int) i;
    }
    return best;
}

/* True if a server with this reading has one place for two patterns. */
static bool
are_one(const struct server *server, int a, int b, unsigned reading)
{
    const struct server_route *one = &server->route[reading][a], *two = &server->route[reading][b];
    if (one->rest != two->rest || one->texts.count != two->texts.count)
        return false;
    for (size_t i = 0; i < one->texts.count; i++) {
        const char *x = one->texts.text[i], *y = two->texts.text[i];
        if (is_variable(x) != is_variable(y)
            || (!is_variable(x) && (reading & READS_CASE ? strcasecmp : strcmp)(x, y) != 0))
            return false;
    }
    return true;
}

/* Return a reading with which the server serves another route than this one, or -1. */
static int
reading_apart(const struct server *server, const char *method, const char *path, int route)
{
    bool whole = server->resource->route[route].encoded_slash;
    for (unsigned reading = 0; reading < READINGS; reading++) {
        if (whole && reading & READS_SPLIT)
            continue; /* the operator says that the upstream does not do that */
        int served = server_serves(server, method, path, reading);
        if (served >= 0 && served != route && !are_one(server, served, route, reading))
            return (int) reading;
    }
    return -1;
}

/* ---- what is drawn */

static const char *const literals[] = {"a", "b", "A", "ab", "b;v", NULL};
static const char *const values[] = {"a",  "b",   "A",   "x",   "Ab", "a;b",
                                     ";a", "b;v", "a/b", "a%b", NULL};

static char *
draw_pattern(TALLOC_CTX *mem, struct source *source)
{
    char *text = talloc_strdup(mem, "");
    unsigned count = draw(source, 4);
    for (unsigned i = 0; i < count; i++)
        text = draw(source, 5) < 2 ? talloc_asprintf_append(text, "/{v%u}", i)
                                   : talloc_asprintf_append(text, "/%s", draw_of(source, literals));
    if (draw(source, 4) == 0)
        return talloc_strdup_append(text, "/**");
    return *text == '\0' || draw(source, 6) == 0 ? talloc_strdup_append(text, "/") : text;
}

/* Return a pattern of the upstream for one of the gateway: the same, or with other literals. */
static char *
draw_upstream(TALLOC_CTX *mem, struct source *source, const char *pattern)
{
    char *text = talloc_strdup(mem, pattern);
    if (draw(source, 2) == 0)
        return text;
    for (char *c = text; *c != '\0'; c++)
        if (c[0] == '/' && (c[1] == 'a' || c[1] == 'b' || c[1] == 'A') && draw(source, 2) == 0)
            c[1] = "abA"[draw(source, 3)];
    return draw(source, 4) == 0 && *text == '/' ? talloc_asprintf(mem, "/a%s", text) : text;
}

static json_t *
draw_document(TALLOC_CTX *mem, struct source *source)
{
    json_t *routes = json_array();
    unsigned count = 2 + draw(source, ROUTES_MAX - 1);
    for (unsigned i = 0; i < count; i++) {
        char *path = draw_pattern(mem, source);
        const char *methods[] = {"[s]", "[ss]"};
        json_array_append_new(
            routes, json_pack("{s:o,s:s,s:s,s:b,s:b,s:o}", "id", json_sprintf("r%u", i), "path",
                              path, "upstreamPath", draw_upstream(mem, source, path), "enabled",
                              draw(source, 6) != 0, "encodedSlash", draw(source, 6) == 0, "methods",
                              json_pack(methods[draw(source, 3) == 0], "GET", "HEAD")));
    }
    return json_pack("{s:s,s:s,s:s,s:s,s:o}", "name", "api", "displayName", "API", "upstreamType",
                     "REST", "upstreamUrl", "https://api.example", "routes", routes);
}

/* Return a path: that of a pattern, written in another way. */
static char *
draw_path(TALLOC_CTX *mem, struct source *source, const char *pattern)
{
    static const char *const odd[] = {"a",   "b",     "A",   "x",     "a;b", ";a",
                                      "b;v", "a%2Fb", "%61", "B%3bx", NULL};
    char *path = talloc_strdup(mem, "");
    for (const char *at = pattern; *at == '/';) {
        size_t length = strcspn(at + 1, "/");
        path = talloc_strdup_append(path, draw(source, 12) == 0   ? "//"
                                          : draw(source, 12) == 0 ? "%2F"
                                                                  : "/");
        if (at[1] == '{' || at[1] == '*')
            path = talloc_strdup_append(path, draw_of(source, odd));
        else if (draw(source, 8) == 0)
            path = talloc_asprintf_append(path, "%.*s;x", (int) length, at + 1);
        else
            path = talloc_asprintf_append(path, "%.*s", (int) length, at + 1);
        at += 1 + length;
    }
    if (draw(source, 8) == 0)
        path = talloc_strdup_append(path, "/");
    for (char *c = path; *c != '\0'; c++)
        if (*c >= 'a' && *c <= 'z' && c[-1] != '%' && draw(source, 8) == 0)
            *c = (char) (*c - 32);
    return path;
}

/* ---- both sides */

struct tally {
    unsigned sent, tools, doors, refused, apart, wide;
};

struct world {
    TALLOC_CTX *mem;
    struct source *source;
    struct managed_resource resource;
    struct server asked, sent;
    struct tally *tally;
};

static void
differs(const struct world *world, const char *what, const char *method, const char *path,
        int route, const struct server *server, int reading)
{
    int served = server_serves(server, method, path, (unsigned) reading);
    if (world->tally->apart++ < 5)
        printf("# %s: %s %s: policy was asked about %s, and a server that reads 0x%x serves %s%s\n",
               what, method, path, server->pattern[route], (unsigned) reading,
               server->pattern[served], server->resource->route[served].enabled ? "" : " (off)");
}

static void
compare(const struct world *world, const char *what, const char *method, const char *path,
        int route, const struct server *server)
{
    int reading = reading_apart(server, method, path, route);
    if (reading >= 0)
        differs(world, what, method, path, route, server, reading);
}

/* True if another route has the same pattern. */
static bool
has_twin(const struct server *server, int route)
{
    for (int i = 0; i < (int) server->resource->routes; i++)
        if (i != route && are_one(server, i, route, READINGS - 1))
            return true;
    return false;
}

/* A request by the proxy and at a door. */
static void
ask_path(struct world *world, const char *method, const char *path)
{
    struct managed_choice choice = {.route = NULL};
    char *sent = NULL;
    enum az_status st = managed_choose(world->mem, &world->resource, method, path, &choice);
    if (st == AZ_INVALID_REQUEST) {
        /* Refused, with a reason: there is a server that serves another route than a strict one. */
        int strict = server_serves(&world->asked, method, path, 0);
        world->tally->refused++;
        if (strict >= 0 && strstr(path, "%2F") == NULL && strstr(path, "/;") == NULL
            && !has_twin(&world->asked, strict)
            && reading_apart(&world->asked, method, path, strict) < 0 && world->tally->wide++ < 5)
            printf("# %s %s: refused, and all servers serve %s\n", method, path,
                   world->asked.pattern[strict]);
    }
    if (st != AZ_OK)
        return;
    int route = (int) (choice.route - world->resource.route);
    world->tally->doors++;
    compare(world, "door", method, path, route, &world->asked);
    if (managed_upstream_path(world->mem, &world->resource, method, &choice, &sent) != AZ_OK)
        return;
    world->tally->sent++;
    compare(world, "proxy", method, sent, route, &world->sent);
}

/* A call of a tool of a route. */
static void
ask_tool(struct world *world, int number)
{
    const struct managed_route *route = &world->resource.route[number];
    struct managed_choice choice = {.route = route, .values = jsonx_own(world->mem, json_object())};
    char *sent = NULL;
    if (!route->enabled)
        return;
    for (size_t i = 0; i < route->pattern.count; i++)
        if (route->pattern.segment[i].variable)
            json_object_set_new(choice.values, route->pattern.segment[i].text,
                                json_string(draw_of(world->source, values)));
    if (managed_upstream_path(world->mem, &world->resource, route->methods[0], &choice, &sent)
        != AZ_OK)
        return;
    world->tally->tools++;
    compare(world, "tool", route->methods[0], sent, number, &world->sent);
}

static void
ask_document(struct source *source, struct tally *tally)
{
    TALLOC_CTX *mem = talloc_new(NULL);
    struct world *world = talloc_zero(mem, struct world);
    const char *asked[ROUTES_MAX + 1], *sent[ROUTES_MAX + 1];
    json_t *document = jsonx_own(mem, draw_document(mem, source)), *route;
    const struct managed_reading reading = {.mem = mem, .document = document};
    size_t i;
    world->mem = mem;
    world->source = source;
    world->tally = tally;
    if (managed_read(&reading, &world->resource) != AZ_OK)
        abort();
    json_array_foreach (json_object_get(document, "routes"), i, route) {
        asked[i] = json_string_value(json_object_get(route, "path"));
        sent[i] = json_string_value(json_object_get(route, "upstreamPath"));
    }
    world->asked.resource = world->sent.resource = &world->resource;
    world->asked.pattern = asked;
    world->sent.pattern = sent;
    server_start(&world->asked);
    server_start(&world->sent);
    for (int n = 0; n < PATHS; n++) {
        unsigned one = draw(source, (unsigned) world->resource.routes);
        ask_path(world, draw(source, 4) == 0 ? "HEAD" : "GET", draw_path(mem, source, asked[one]));
        ask_tool(world, (int) one);
    }
    talloc_free(mem);
}

int
main(void)
{
    const char *given = getenv("AUTHZ_SEED");
    uint64_t seed = given != NULL ? strtoull(given, NULL, 10) : (uint64_t) time(NULL);
    struct source source = {seed * 0x9e3779b97f4a7c15U + 1};
    struct tally tally = {.sent = 0};
    printf("# AUTHZ_SEED=%llu\n", (unsigned long long) seed);
    for (int i = 0; i < DOCUMENTS; i++)
        ask_document(&source, &tally);
    printf("# requests: %u of the proxy, %u of tools, %u at doors, %u refused\n", tally.sent,
           tally.tools, tally.doors, tally.refused);
    ok(tally.apart == 0, "no server serves a route that policy was not asked about (%u)",
       tally.apart);
    ok(tally.wide == 0, "no request is refused that all servers read as policy does (%u)",
       tally.wide);
    ok(tally.sent > DOCUMENTS * PATHS / 20 && tally.tools > DOCUMENTS * PATHS / 20
           && tally.refused > DOCUMENTS,
       "enough requests are sent and refused");
    return done();
}
