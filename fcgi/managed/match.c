#include "config.h"

#include "managed/match.h"

#include <string.h>

#include "base/words.h"

enum az_status
managed_parts_read(TALLOC_CTX *mem, const char *path, struct managed_parts *ret)
{
    size_t count = 0;
    if (*path != '\0' && *path != '/')
        return AZ_INVALID;
    for (const char *c = path; *c != '\0'; c++)
        count += *c == '/';
    *ret = (struct managed_parts){.part = talloc_zero_array(mem, struct managed_part, count + 1)};
    if (ret->part == NULL)
        return AZ_SERVER_ERROR;
    while (*path == '/') {
        size_t length = strcspn(path + 1, "/");
        struct managed_part *part = &ret->part[ret->count++];
        enum az_status st = managed_part_read(mem, path + 1, length, part);
        if (st != AZ_OK)
            return st;
        ret->slash = ret->slash || part->slash;
        path += 1 + length;
    }
    return AZ_OK;
}

/* ---- the path as this service reads it */

static const struct managed_pattern *
pattern_of(const struct managed_path *path, const struct managed_route *route)
{
    return path->sent ? &route->upstream_pattern : &route->pattern;
}

/* True if a segment of a request is one of a pattern. A segment with an encoded slash matches none,
 * because the upstream might take it for two segments, unless the route says that it does not. */
static bool
part_matches(const struct managed_part *part, const struct managed_segment *segment,
             bool encoded_slash)
{
    if (part->slash && !(encoded_slash && segment->variable))
        return false;
    return segment->variable ? part->length > 0 : strcmp(part->text, segment->text) == 0;
}

bool
managed_path_is_of(const struct managed_path *path, const struct managed_route *route)
{
    const struct managed_pattern *pattern = pattern_of(path, route);
    const struct managed_parts *parts = &path->parts;
    size_t count = parts->count;
    /* "/gateway/name/" is the root, as "/gateway/name" is. */
    if (pattern->count == 0 && !pattern->rest && count == 1 && parts->part[0].length == 0)
        count = 0;
    if (pattern->rest ? count < pattern->count : count != pattern->count)
        return false;
    for (size_t i = 0; i < pattern->count; i++)
        if (!part_matches(&parts->part[i], &pattern->segment[i], route->encoded_slash))
            return false;
    return true;
}

/* ---- the path as other servers read it */

/* One way to read a path: its elements. Several slashes always count as one, a slash at the end as
 * none, and letters are compared without their case: whoever does not do that comes to no other
 * route by it. */
struct reading {
    const char **element;
    size_t count;
    bool cut;  /* path parameters are cut off */
    bool kept; /* ... and a segment of nothing else counts, as an empty one */
};
/* An encoded slash parts elements or not; path parameters stay, are cut off, or leave nothing. */
#define READINGS_MAX 6

/* True if a text ends here for a server. */
static bool
ends(char octet, bool cut)
{
    return octet == '\0' || (cut && octet == ';');
}

static char
folded(char octet, bool any_case)
{
    return any_case && octet >= 'A' && octet <= 'Z' ? (char) (octet + 32) : octet;
}

static bool
reads_alike(const char *a, const char *b, bool cut, bool any_case)
{
    for (; !ends(*a, cut) && folded(*a, any_case) == folded(*b, any_case); a++)
        b++;
    return ends(*a, cut) && ends(*b, cut);
}

/* True if a server passes over a segment of a pattern, which is empty to it. */
static bool
is_void(const struct managed_segment *segment, bool cut)
{
    return !segment->variable && ends(*segment->text, cut);
}

static bool
reading_make(TALLOC_CTX *mem, const struct managed_parts *parts, bool split, struct reading *ret)
{
    size_t most = 0;
    for (size_t i = 0; i < parts->count; i++)
        most += 1 + parts->part[i].length / 2; /* each element needs a slash of its own */
    if ((ret->element = talloc_array(mem, const char *, (unsigned) most + 1)) == NULL)
        return false;
    for (size_t i = 0; i < parts->count; i++) {
        char *left = NULL, *text = talloc_strdup(ret->element, parts->part[i].text);
        const char *separator = split ? "/" : "";
        if (text == NULL)
            return false;
        for (char *at = strtok_r(text, separator, &left); at != NULL;
             at = strtok_r(NULL, separator, &left))
            if (ret->kept || !ends(*at, ret->cut))
                ret->element[ret->count++] = at;
    }
    return true;
}

/* Read the path in each way that comes to other elements. Return how many there are, 0 if out of
 * memory. With encodedSlash the upstream does not decode "%2F". */
static size_t
readings_make(TALLOC_CTX *mem, const struct managed_parts *parts, bool encoded_slash,
              struct reading readings[READINGS_MAX])
{
    size_t count = 0;
    bool slash = parts->slash && !encoded_slash, parameters = false;
    for (size_t i = 0; i < parts->count; i++)
        parameters = parameters || strchr(parts->part[i].text, ';') != NULL;
    for (int split = 0; split <= slash; split++)
        for (int way = 0; way <= 2 * parameters; way++) {
            readings[count] = (struct reading){.cut = way != 1, .kept = way == 2};
            if (!reading_make(mem, parts, split != 0, &readings[count++]))
                return 0;
        }
    return count;
}

static bool
element_is_of(const struct reading *reading, size_t at, const struct managed_segment *segment,
              bool any_case)
{
    if (at == reading->count)
        return false;
    const char *element = reading->element[at];
    return segment->variable ? !ends(*element, reading->cut)
                             : reads_alike(element, segment->text, reading->cut, any_case);
}

/* True if a server with this reading takes the path for one of the pattern; `any_case`: if a server
 * does that ignores the case of letters, else: if all do. */
static bool
reading_is_of(const struct reading *reading, const struct managed_pattern *pattern, bool any_case)
{
    size_t at = 0;
    for (size_t i = 0; i < pattern->count; i++) {
        const struct managed_segment *segment = &pattern->segment[i];
        if (!is_void(segment, reading->cut) && !element_is_of(reading, at++, segment, any_case))
            return false;
    }
    return pattern->rest || at == reading->count;
}

/* True if servers that read paths in another way take two patterns for one: a path of both leads to
 * one request there, and the operator has made a route for each spelling. */
static bool
is_same_request(const struct managed_pattern *a, const struct managed_pattern *b)
{
    size_t i = 0, j = 0;
    for (;; i++, j++) {
        while (i < a->count && is_void(&a->segment[i], true))
            i++;
        while (j < b->count && is_void(&b->segment[j], true))
            j++;
        if (i == a->count || j == b->count)
            return i == a->count && j == b->count && a->rest == b->rest;
        const struct managed_segment *x = &a->segment[i], *y = &b->segment[j];
        if (x->variable != y->variable
            || (!x->variable && !reads_alike(x->text, y->text, true, true)))
            return false;
    }
}

/* ---- the choice */

/* Return the literal segments of a pattern; without a slash at the end if servers may pass over
 * it. */
static size_t
literals(const struct managed_pattern *pattern, bool exact)
{
    bool slash = pattern->count > 0 && is_void(&pattern->segment[pattern->count - 1], false);
    return pattern->literals - (!exact && slash);
}

/* True if `a` is the better choice. */
static bool
is_closer(const struct managed_pattern *a, const struct managed_pattern *b, bool exact)
{
    size_t of_a = literals(a, exact), of_b = literals(b, exact);
    if (of_a != of_b)
        return of_a > of_b;
    if (a->rest != b->rest)
        return b->rest;
    return a->count - a->literals < b->count - b->literals;
}

const struct managed_route *
managed_path_closest(const struct managed_path *path)
{
    const struct managed_route *best = NULL;
    for (size_t i = 0; i < path->resource->routes; i++) {
        const struct managed_route *route = &path->resource->route[i];
        if (!managed_path_is_of(path, route) || !words_has(route->methods, path->method))
            continue;
        const struct managed_pattern *pattern = pattern_of(path, route);
        if (best == NULL || is_closer(pattern, pattern_of(path, best), true)
            || (route->enabled && !best->enabled && !best->left_out
                && is_same_request(pattern, pattern_of(path, best))))
            best = route;
    }
    return best;
}

/* True if servers may see a slash at the end of the path. */
static bool
may_end_with_slash(const struct managed_parts *parts)
{
    return parts->slash || (parts->count > 0 && ends(*parts->part[parts->count - 1].text, true));
}

/* True if a server that finds both routes may take `other`. Of two that are equally close, the
 * first one wins where both patterns have the path; where only a careless server finds the other
 * one, nothing says which one wins there. */
static bool
may_win(const struct managed_path *path, const struct managed_route *other,
        const struct managed_route *route)
{
    const struct managed_pattern *a = pattern_of(path, other), *b = pattern_of(path, route);
    if (!managed_path_is_of(path, other))
        return !is_closer(b, a, false)
               || (may_end_with_slash(&path->parts) && !is_closer(b, a, true));
    return is_closer(a, b, false) || is_closer(a, b, true)
           || (other < route && !is_closer(b, a, true));
}

/* True if a server may serve the method by the route. */
static bool
may_serve(const struct managed_route *route, const char *method)
{
    return words_has(route->methods, method)
           || (strcmp(method, "HEAD") == 0 && words_has(route->methods, "GET"));
}

enum az_status
managed_path_check(TALLOC_CTX *mem, const struct managed_path *path,
                   const struct managed_route *route)
{
    const struct managed_pattern *pattern = pattern_of(path, route);
    struct reading reading[READINGS_MAX];
    size_t readings = readings_make(mem, &path->parts, route->encoded_slash, reading);
    bool found[READINGS_MAX];
    for (size_t i = 0; i < readings; i++)
        found[i] = reading_is_of(&reading[i], pattern, false);
    for (size_t i = 0; i < path->resource->routes; i++) {
        const struct managed_route *other = &path->resource->route[i];
        const struct managed_pattern *its = pattern_of(path, other);
        bool seen = false, alone = false; /* it is found, and found where `route` is not */
        for (size_t j = 0; j < readings; j++) {
            bool takes = reading_is_of(&reading[j], its, true);
            seen = seen || takes;
            alone = alone || (takes && !found[j]);
        }
        if (seen && other != route && may_serve(other, path->method)
            && (alone || (!is_same_request(its, pattern) && may_win(path, other, route))))
            return AZ_INVALID_REQUEST;
    }
    return readings > 0 ? AZ_OK : AZ_SERVER_ERROR;
}
