#include "config.h"

#include "http/page/page_site.h"

#include <errno.h>
#include <stdio.h>
#include <string.h>

#include "base/b64url.h"
#include "base/picture.h"
#include "base/uri.h"
#include "base/utf8.h"
#include "base/visible.h"

/* Characters of a logo's file name. None of them leads out of the directory or begins a URL. */
#define FILE_CHARS "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789._-"

char *
page_read_file(TALLOC_CTX *mem, const char *path, size_t most, size_t *ret_length)
{
    char *text = talloc_size(mem, most + 1);
    FILE *file = text != NULL ? fopen(path, "re") : NULL;
    if (file == NULL)
        return NULL;
    errno = 0;
    *ret_length = fread(text, 1, most + 1, file);
    int failed = ferror(file) ? errno : 0; /* a directory can be opened but not read */
    fclose(file);
    errno = failed;
    return failed == 0 ? text : NULL;
}

/* ---- the name */

static const char *
host_of(TALLOC_CTX *mem, const char *issuer)
{
    struct uri uri;
    if (issuer == NULL || uri_parse(mem, issuer, &uri) != AZ_OK || uri.host == NULL)
        return "";
    return uri.host;
}

/* Return the fault of SVC_PAGES_NAME, or NULL. */
static const char *
name_fault(TALLOC_CTX *mem, const char *name)
{
    size_t length = strlen(name);
    if (!utf8_valid(name, length))
        return "is not UTF-8 text";
    if (utf8_length(name, length) > PAGE_NAME_MAX)
        return talloc_asprintf(mem, "has more than %d characters", PAGE_NAME_MAX);
    return visible_fault(name);
}

/* ---- the logo */

static bool
is_svg(const char *octets, size_t length)
{
    return length > 0 && octets[strspn(octets, " \t\r\n")] == '<' && utf8_valid(octets, length)
           && !text_has_nul(octets, length) && strstr(octets, "<svg") != NULL;
}

/* The types that all browsers show and that are read as nothing else. */
static const struct logo_type {
    const char *suffix, *type;
} types[] = {
    {".png",  "image/png"    },
    {".svg",  "image/svg+xml"},
    {".webp", "image/webp"   },
};

/* True if a file has the type that its name says. A NUL follows the octets. */
static bool
is_type(const struct logo_type *type, const char *octets, size_t length)
{
    const char *found = picture_type(octets, length);
    if (found == NULL && is_svg(octets, length))
        found = "image/svg+xml";
    return found != NULL && strcmp(found, type->type) == 0;
}

static const struct logo_type *
type_of(const char *name)
{
    size_t length = strlen(name);
    for (size_t i = 0; i < sizeof(types) / sizeof(types[0]); i++) {
        size_t suffix = strlen(types[i].suffix);
        if (length > suffix && strcmp(name + length - suffix, types[i].suffix) == 0)
            return &types[i];
    }
    return NULL;
}

/* Return the fault of SVC_PAGES_LOGO before the file is read, or NULL. */
static const char *
logo_name_fault(const struct settings *cfg)
{
    const char *name = cfg->pages_logo;
    if (name[strspn(name, FILE_CHARS)] != '\0' || *name == '.')
        return "must be the name of a file in SVC_WWW_DIR: letters, digits, dots, hyphens and "
               "underscores, without a path and not a URL";
    if (type_of(name) == NULL)
        return "must end in .png, .svg or .webp";
    if (cfg->www_dir == NULL)
        return "names a file in SVC_WWW_DIR, which is not set; set SVC_WWW_DIR to the directory of "
               "that file";
    return NULL;
}

/* Read the logo and make its element. *ret_why: the fault. */
static const char *
logo_read(TALLOC_CTX *mem, const struct settings *cfg, const char **ret_why)
{
    size_t length = 0;
    const struct logo_type *type = type_of(cfg->pages_logo);
    const char *path = talloc_asprintf(mem, "%s/%s", cfg->www_dir, cfg->pages_logo);
    char *octets =
        path != NULL && type != NULL ? page_read_file(mem, path, PAGE_LOGO_MAX, &length) : NULL;
    if (octets == NULL) {
        *ret_why = talloc_asprintf(mem, "%s: %s", path != NULL ? path : "", strerror(errno));
        return NULL;
    }
    if (length > PAGE_LOGO_MAX) {
        *ret_why = talloc_asprintf(mem, "%s: has more than %d octets; make the image smaller", path,
                                   PAGE_LOGO_MAX);
        return NULL;
    }
    octets[length] = '\0';
    if (!is_type(type, octets, length)) {
        *ret_why =
            talloc_asprintf(mem, "%s: is not of the type %s that its name says", path, type->type);
        return NULL;
    }
    char *text = b64_encode(mem, octets, length);
    return text != NULL
               ? talloc_asprintf(mem, "<img src=\"data:%s;base64,%s\" alt=\"\">", type->type, text)
               : NULL;
}

bool
page_site_load(TALLOC_CTX *mem, const struct settings *cfg, struct page_site *ret,
               struct problems *problems, TALLOC_CTX *problems_mem)
{
    const char *why = cfg->pages_name != NULL ? name_fault(mem, cfg->pages_name) : NULL;
    size_t before = problems->count;
    ret->host = host_of(mem, cfg->oidc_issuer);
    ret->name = cfg->pages_name != NULL ? cfg->pages_name : ret->host;
    ret->logo = "";
    if (why != NULL)
        problems_add(problems_mem, problems, "SVC_PAGES_NAME: %s", why);
    if (cfg->pages_logo == NULL)
        return problems->count == before;
    why = logo_name_fault(cfg);
    const char *logo = why == NULL ? logo_read(mem, cfg, &why) : NULL;
    if (logo != NULL)
        ret->logo = logo;
    else
        problems_add(problems_mem, problems, "SVC_PAGES_LOGO: %s",
                     why != NULL ? why : "out of memory");
    return problems->count == before;
}
