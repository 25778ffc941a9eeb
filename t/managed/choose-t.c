/* The choice of a route on the raw path, and the path at the upstream (gateway-admin.md 3.2). */
#include "config.h"

#include <string.h>

#include "base/json/jsonx.h"
#include "managed/choose.h"
#include "managed/document.h"
#include "managed/pattern.h"
#include "tap.h"

static const char document[] =
    "{\"name\":\"api\",\"displayName\":\"API\",\"upstreamType\":\"REST\","
    "\"upstreamUrl\":\"https://api.example/v1\",\"routes\":["
    "{\"id\":\"root\",\"path\":\"/\"},"
    "{\"id\":\"item\",\"path\":\"/items/{item}\"},"
    "{\"id\":\"special\",\"path\":\"/items/special\"},"
    "{\"id\":\"again\",\"path\":\"/items/special\"},"
    "{\"id\":\"parts\",\"path\":\"/items/{item}/parts/{part}\",\"upstreamPath\":\"/p/{part}/of/"
    "{item}\"},"
    "{\"id\":\"make\",\"path\":\"/items\",\"methods\":[\"POST\",\"PUT\"]},"
    "{\"id\":\"off\",\"path\":\"/off\",\"enabled\":false},"
    "{\"id\":\"hidden\",\"path\":\"/items/hidden\",\"enabled\":false},"
    "{\"id\":\"twin-off\",\"path\":\"/twin/{a}\",\"enabled\":false},"
    "{\"id\":\"twin-on\",\"path\":\"/twin/{b}\"},"
    "{\"id\":\"ends\",\"path\":\"/ends/{a}/\"},"
    "{\"id\":\"bare\",\"path\":\"/ends/{a}\"},"
    "{\"id\":\"left\",\"path\":\"/tie/{a}/{b}/z\"},"
    "{\"id\":\"right\",\"path\":\"/tie/{a}/y/{c}\"},"
    "{\"id\":\"word\",\"path\":\"/word;v=1/xx\"},"
    "{\"id\":\"any\",\"path\":\"/{first}/xx\"},"
    "{\"id\":\"head\",\"path\":\"/head/{a}\",\"methods\":[\"GET\",\"HEAD\"]},"
    "{\"id\":\"get\",\"path\":\"/head/get\"},"
    "{\"id\":\"user\",\"path\":\"/people/{name}\",\"upstreamPath\":\"/user/{name}\"},"
    "{\"id\":\"logout\",\"path\":\"/sign-out\",\"upstreamPath\":\"/user/logout\"},"
    "{\"id\":\"person\",\"path\":\"/person/{id}\",\"upstreamPath\":\"/user/{id}\"},"
    "{\"id\":\"slash\",\"path\":\"/dir/\"},"
    "{\"id\":\"files\",\"path\":\"/files/**\",\"methods\":[\"GET\",\"DELETE\"],\"upstreamPath\":\"/"
    "store/**\"},"
    "{\"id\":\"file\",\"path\":\"/files/{file}\"},"
    "{\"id\":\"project\",\"path\":\"/projects/{id}/x\",\"encodedSlash\":true},"
    "{\"id\":\"store\",\"path\":\"/tree/**\",\"encodedSlash\":true},"
    "{\"id\":\"secret\",\"path\":\"/tree/secret/**\",\"scopes\":[\"more\"]},"
    "{\"id\":\"private\",\"path\":\"/files/private/**\",\"scopes\":[\"more\"]}]}";

static struct managed_resource
read_resource(TALLOC_CTX *mem, const char *text)
{
    struct managed_resource resource = {.routes = 0};
    json_t *object = NULL;
    jsonx_parse(mem, text, strlen(text), 32, &object, NULL);
    const struct managed_reading reading = {.mem = mem, .document = object};
    ok(managed_read(&reading, &resource) == AZ_OK, "the document of the test is good");
    return resource;
}

/* clang-format off */
static const struct {
    const char *method, *path;
    enum az_status status;
    const char *route, *upstream; /* id, and the path at the upstream */
    const char *rule;
} rows[] = {
    {"GET", "",                     AZ_OK, "root", "", "/gateway/name is the root"},
    {"GET", "/",                    AZ_OK, "root", "", "/gateway/name/ is the root too"},
    {"GET", "/items/7",             AZ_OK, "item", "/items/7", "a variable takes one segment"},
    {"GET", "/items/a%20b",         AZ_OK, "item", "/items/a%20b", "a value is decoded and encoded again"},
    {"GET", "/items/a;b",           AZ_OK, "item", "/items/a%3Bb", "a semicolon is encoded at the upstream"},
    {"GET", "/items/%C3%A9",        AZ_OK, "item", "/items/%C3%A9", "UTF-8 is text"},
    {"GET", "/items/%2541",         AZ_OK, "item", "/items/%2541", "nothing is decoded twice"},
    {"GET", "/items/special",       AZ_OK, "special", "/items/special", "most literal segments win, and then the first one"},
    {"GET", "/items/speci%61l",     AZ_OK, "special", "/items/special", "a literal is compared decoded, so encoding does not pass by its route"},
    {"GET", "/items/1/parts/2",     AZ_OK, "parts", "/p/2/of/1", "upstreamPath takes the values by name"},
    {"GET", "/files/x",             AZ_OK, "file", "/files/x", "a path without asterisks wins"},
    {"GET", "/files/a/b",           AZ_OK, "files", "/store/a/b", "the asterisks take the rest"},
    {"GET", "/files",               AZ_OK, "files", "/store", "... or nothing"},
    {"GET", "/files/",              AZ_OK, "files", "/store/", "... or a lone slash"},
    {"DELETE", "/files/a%2Fb",      AZ_OK, "files", "/store/a%2Fb", "an encoded slash passes raw below the asterisks"},
    {"GET", "/files/a%2Fb",         AZ_INVALID_REQUEST, NULL, NULL, "... not where the variable of a closer route has it at servers that decode it late"},
    {"GET", "/files/a/b%2Fc",       AZ_OK, "files", "/store/a/b%2Fc", "... where no closer route has so many segments"},
    {"GET", "/files/%252e%252e/b",  AZ_OK, "files", "/store/%252e%252e/b", "what is encoded twice stays so"},
    {"DELETE", "/files/x",          AZ_OK, "files", "/store/x", "a route of other methods is no candidate"},
    {"GET", "/dir/",                AZ_OK, "slash", "/dir/", "a slash at the end is part of the path"},
    {"GET", "/dir",                 AZ_NOT_FOUND, NULL, NULL, "... and without it the path is another"},
    {"GET", "/off",                 AZ_NOT_FOUND, NULL, NULL, "nobody reaches a disabled route"},
    {"GET", "/items/hidden",        AZ_NOT_FOUND, NULL, NULL, "... by the variable of a wider one"},
    {"GET", "/items/Hidden",        AZ_INVALID_REQUEST, NULL, NULL, "... in another case"},
    {"GET", "/twin/1",              AZ_OK, "twin-on", "/twin/1", "... but a route with the same pattern stands for it"},
    {"GET", "/items/SPECIAL",       AZ_INVALID_REQUEST, NULL, NULL, "a value that is a literal of a closer route in another case"},
    {"GET", "/items/special;a=b",   AZ_INVALID_REQUEST, NULL, NULL, "... with a path parameter"},
    {"GET", "/items/special%3Ba",   AZ_INVALID_REQUEST, NULL, NULL, "... with an encoded one"},
    {"GET", "/items/specials",      AZ_OK, "item", "/items/specials", "... another word is a value"},
    {"GET", "/ends/1/",             AZ_OK, "ends", "/ends/1/", "two routes that differ by a slash at the end"},
    {"GET", "/ends/1",              AZ_OK, "bare", "/ends/1", "... are one request of which each spelling has a route"},
    {"GET", "/tie/1/y/z",           AZ_OK, "left", "/tie/1/y/z", "of two that are equally close the first one wins"},
    {"GET", "/tie/1/Y/z",           AZ_INVALID_REQUEST, NULL, NULL, "... but not if a careless server alone finds the second one"},
    {"GET", "/word;v=1/xx",          AZ_OK, "word", "/word;v=1/xx", "a literal may have a path parameter"},
    {"GET", "/Word;v=1/xx",          AZ_INVALID_REQUEST, NULL, NULL, "... and no variable stands for it in another case"},
    {"GET", "/word;v=2/xx",         AZ_INVALID_REQUEST, NULL, NULL, "... or with another parameter"},
    {"HEAD", "/head/1",             AZ_OK, "head", "/head/1", "HEAD has routes of its own"},
    {"HEAD", "/head/get",           AZ_INVALID_REQUEST, NULL, NULL, "... but servers answer it by the closer route with GET (RFC 9110 9.3.2)"},
    {"GET", "/people/ann",          AZ_OK, "user", "/user/ann", "two routes may have one upstreamPath"},
    {"GET", "/person/ann",          AZ_OK, "person", "/user/ann", "... with the same request"},
    {"GET", "/people/logout",       AZ_OK, "user", NULL, "a value that is a literal of upstreamPath of another route"},
    {"GET", "/people/Logout",       AZ_OK, "user", NULL, "... in another case"},
    {"GET", "/people/logout;a",     AZ_OK, "user", NULL, "... with a path parameter"},
    {"GET", "/none",                AZ_NOT_FOUND, NULL, NULL, "no route is 404"},
    {"GET", "/Items/7",             AZ_NOT_FOUND, NULL, NULL, "literals differ in case"},
    {"GET", "/items//",             AZ_NOT_FOUND, NULL, NULL, "a variable takes no empty segment"},
    {"GET", "//items/7",            AZ_NOT_FOUND, NULL, NULL, "slashes are not merged"},
    {"GET", "/items",               AZ_METHOD_NOT_ALLOWED, NULL, NULL, "another method is 405"},
    {"get", "/items/7",             AZ_METHOD_NOT_ALLOWED, NULL, NULL, "methods differ in case (RFC 9110 9.1)"},
    {"GET", "/items/a%2Fb",         AZ_INVALID_REQUEST, NULL, NULL, "an encoded slash is refused elsewhere"},
    {"GET", "/items/.",             AZ_INVALID_REQUEST, NULL, NULL, "a dot segment"},
    {"GET", "/items/..",            AZ_INVALID_REQUEST, NULL, NULL, "two dots"},
    {"GET", "/files/../x",          AZ_INVALID_REQUEST, NULL, NULL, "two dots below the asterisks"},
    {"GET", "/files/%2e%2E/x",      AZ_INVALID_REQUEST, NULL, NULL, "encoded dots"},
    {"GET", "/files/.%2e/x",        AZ_INVALID_REQUEST, NULL, NULL, "half encoded dots"},
    {"GET", "/files/%70ub%2d%7e/%c3%a9", AZ_OK, "files", "/store/pub-~/%C3%A9", "below the asterisks too the canonical form is sent (RFC 3986 6.2.2.2)"},
    {"GET", "/files/%252e%252e",    AZ_OK, "file", "/files/%252e%252e", "... of an encoding that is decoded once"},
    {"GET", "/files/a/%2e%2e/b",    AZ_INVALID_REQUEST, NULL, NULL, "... which is no dot segment"},
    {"GET", "/projects/a%2Fb/x",    AZ_OK, "project", "/projects/a%2Fb/x", "encodedSlash: a variable takes an encoded slash, and it is sent encoded"},
    {"GET", "/projects/a%2F..%2Fb/x", AZ_INVALID_REQUEST, NULL, NULL, "encodedSlash: ... but no dots between them"},
    {"GET", "/projects%2Fa/x",      AZ_INVALID_REQUEST, NULL, NULL, "encodedSlash: a literal takes none"},
    {"GET", "/tree/secret%2Fx",     AZ_OK, "store", "/tree/secret%2Fx", "encodedSlash: the upstream does not read it as a path of another route"},
    {"GET", "/tree//secret/x",      AZ_INVALID_REQUEST, NULL, NULL, "encodedSlash: ... but an empty segment still might be"},
    {"GET", "/files/..%2fx",        AZ_INVALID_REQUEST, NULL, NULL, "dots before an encoded slash"},
    {"GET", "/files/x%2f..",        AZ_INVALID_REQUEST, NULL, NULL, "dots behind one"},
    {"GET", "/files/..;a/x",        AZ_INVALID_REQUEST, NULL, NULL, "dots with a path parameter, which some servers cut off"},
    {"GET", "/files/a\\b",          AZ_INVALID_REQUEST, NULL, NULL, "a backslash"},
    {"GET", "/files/a%5Cb",         AZ_INVALID_REQUEST, NULL, NULL, "an encoded backslash"},
    {"GET", "/files/a%00",          AZ_INVALID_REQUEST, NULL, NULL, "an encoded NUL"},
    {"GET", "/files/a%0d%0aX:1",    AZ_INVALID_REQUEST, NULL, NULL, "an encoded line end (request splitting)"},
    {"GET", "/files/a%7F",          AZ_INVALID_REQUEST, NULL, NULL, "an encoded DEL"},
    {"GET", "/files/%C0%AE%C0%AE/", AZ_INVALID_REQUEST, NULL, NULL, "overlong dots (RFC 3629)"},
    {"GET", "/files/%C0%AFx",       AZ_INVALID_REQUEST, NULL, NULL, "an overlong slash"},
    {"GET", "/files/%FF",           AZ_INVALID_REQUEST, NULL, NULL, "octets that are no UTF-8"},
    {"GET", "/files/%",             AZ_INVALID_REQUEST, NULL, NULL, "a lone percent sign"},
    {"GET", "/files/%4",            AZ_INVALID_REQUEST, NULL, NULL, "half an octet"},
    {"GET", "/files/%zz",           AZ_INVALID_REQUEST, NULL, NULL, "no hex digits"},
    {"GET", "/files/a b",           AZ_INVALID_REQUEST, NULL, NULL, "a blank"},
    {"GET", "/files/a#b",           AZ_INVALID_REQUEST, NULL, NULL, "a fragment"},
    {"GET", "/files/\xc3\xa9",      AZ_INVALID_REQUEST, NULL, NULL, "raw octets beyond ASCII"},
    {"GET", "files/x",              AZ_INVALID_REQUEST, NULL, NULL, "a path without its slash"},
    {"GET", "/files//private/x",    AZ_INVALID_REQUEST, NULL, NULL, "two slashes that an upstream may merge lead to a closer route"},
    {"GET", "/files/private%2Fx",   AZ_INVALID_REQUEST, NULL, NULL, "so does an encoded slash that it may decode"},
    {"GET", "/files/private;a=b/x", AZ_INVALID_REQUEST, NULL, NULL, "... a path parameter that it may cut off (RFC 3986 3.3)"},
    {"GET", "/files/privat%65%3b/x", AZ_INVALID_REQUEST, NULL, NULL, "... an encoded one"},
    {"GET", "/files/;/private/x",   AZ_INVALID_REQUEST, NULL, NULL, "... a segment of nothing else"},
    {"GET", "/files/PRIVATE/x",     AZ_INVALID_REQUEST, NULL, NULL, "... letters of another case"},
    {"GET", "/files/x/",            AZ_INVALID_REQUEST, NULL, NULL, "... a slash at the end"},
    {"GET", "/files/a/b/",          AZ_OK, "files", "/store/a/b/", "a slash at the end where no closer route is"},
    {"GET", "/files/a//b",          AZ_OK, "files", "/store/a//b", "... and two slashes"},
    {"GET", "/files/privat/x",      AZ_OK, "files", "/store/privat/x", "another name is another path"},
    {"GET", "/files/private/x",     AZ_OK, "private", "/files/private/x", "the closer route itself"},
    {"DELETE", "/files/private%2Fx", AZ_OK, "files", "/store/private%2Fx", "a closer route of other methods is none"},
};
/* clang-format on */

/* Policy sees one text for paths that are equal (RFC 3986 6.2.2), so encoding passes by no rule. */
static void
test_plain(TALLOC_CTX *mem)
{
    static const struct {
        const char *path, *plain;
    } paths[] = {
        {"",                 ""            },
        {"/%61dmin/x",       "/admin/x"    },
        {"/%41%2d%2E%5f%7e", "/A-._~"      },
        {"/a%2fb%c3%a9",     "/a%2Fb%C3%A9"},
        {"/a%2541",          "/a%2541"     },
        {"/a%3b%3B;b",       "/a%3B%3B;b"  },
        {"/%00%",            "/%00%"       },
    };
    for (size_t i = 0; i < sizeof(paths) / sizeof(paths[0]); i++)
        is_str(managed_path_plain(mem, paths[i].path), paths[i].plain, "plain: %s", paths[i].path);
}

/* Build the path of a tool's call of a route with one value. */
static enum az_status
tool_path(TALLOC_CTX *mem, const struct managed_resource *resource, const char *id,
          const char *name, const char *value, char **ret)
{
    struct managed_choice choice = {.values = jsonx_own(mem, json_object())};
    for (size_t i = 0; i < resource->routes; i++)
        if (strcmp(resource->route[i].id, id) == 0)
            choice.route = &resource->route[i];
    if (value != NULL)
        json_object_set_new(choice.values, name, json_string(value));
    *ret = NULL;
    return managed_upstream_path(mem, resource, choice.route->methods[0], &choice, ret);
}

/* Values that tools give. */
static void
test_values(TALLOC_CTX *mem, const struct managed_resource *resource)
{
    static const char *const bad[] = {"", ".", "..", "a/b", "..;x", "a\\b", "a\nb", "\x7f"};
    static const char *const other[] = {"special", "SPECIAL", "special;a", "hidden", "hiddeN;"};
    char *path;
    for (size_t i = 0; i < sizeof(bad) / sizeof(bad[0]); i++)
        ok(tool_path(mem, resource, "item", "item", bad[i], &path) == AZ_INVALID && path == NULL,
           "a value that is no safe segment is refused (%zu)", i);
    for (size_t i = 0; i < sizeof(other) / sizeof(other[0]); i++)
        ok(tool_path(mem, resource, "item", "item", other[i], &path) == AZ_INVALID_REQUEST
               && path == NULL,
           "a value that makes the path of another route is refused: %s", other[i]);
    ok(tool_path(mem, resource, "user", "name", "logout", &path) == AZ_INVALID_REQUEST,
       "... at the side of the upstream");
    ok(tool_path(mem, resource, "item", "item", NULL, &path) == AZ_INVALID,
       "a value that is missing is refused");
    ok(tool_path(mem, resource, "item", "item", "?x=1#&%", &path) == AZ_OK,
       "any other value is encoded");
    is_str(path, "/items/%3Fx%3D1%23%26%25", "... and cannot begin a query or a fragment");
    ok(tool_path(mem, resource, "project", "id", "a/b", &path) == AZ_OK,
       "a value of a tool may have a slash where the route says encodedSlash");
    is_str(path, "/projects/a%2Fb/x", "... which is encoded");
    ok(tool_path(mem, resource, "files", "", NULL, &path) == AZ_OK,
       "a tool of a route with asterisks");
    is_str(path, "/store", "... sends the path before them");
}

int
main(void)
{
    TALLOC_CTX *mem = talloc_new(NULL);
    struct managed_resource resource = read_resource(mem, document);
    struct managed_choice choice;
    for (size_t i = 0; i < sizeof(rows) / sizeof(rows[0]); i++) {
        char *path = NULL;
        choice = (struct managed_choice){.route = NULL};
        enum az_status st = managed_choose(mem, &resource, rows[i].method, rows[i].path, &choice);
        ok(st == rows[i].status, "%s %s: %s", rows[i].method, rows[i].path, rows[i].rule);
        is_str(choice.route != NULL ? choice.route->id : NULL, rows[i].route, "... its route");
        if (choice.route == NULL)
            continue;
        st = managed_upstream_path(mem, &resource, rows[i].method, &choice, &path);
        ok(st == (rows[i].upstream != NULL ? AZ_OK : AZ_INVALID_REQUEST),
           rows[i].upstream != NULL ? "... has a path at the upstream"
                                    : "... which is that of the other route, is not sent");
        is_str(path, rows[i].upstream, "... which is built from checked values");
    }
    managed_choose(mem, &resource, "GET", "/items", &choice);
    is_str(choice.allow, "POST, PUT", "405 names the methods (RFC 9110 15.5.6)");

    test_values(mem, &resource);
    test_plain(mem);
    talloc_free(mem);
    return done();
}
