/* Sources of settings: authz.conf and the environment. */
#include "config.h"

#include <ctype.h>
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>

#include "base/file_trust.h"
#include "base/settings/settings_private.h"

/* SVC_ROTATION_* belong to a control plane (specification 8). */
bool
settings_knows(const char *name)
{
    return settings_find(name) != NULL || settings_find_file(name) != NULL
           || strncmp(name, "SVC_ROTATION_", 13) == 0 || strcmp(name, "SVC_CONFIG") == 0;
}

/* Read one line of authz.conf: blank, # comment, or NAME=VALUE with the value optionally in double
 * or single quotes. */
static void
read_line(TALLOC_CTX *mem, struct settings *cfg, char *line, const char *origin,
          struct problems *problems)
{
    char *name = line + strspn(line, " \t");
    name[strcspn(name, "\r\n")] = '\0';
    if (*name == '\0' || *name == '#')
        return;
    char *value = strchr(name, '=');
    if (value == NULL) {
        problems_add(mem, problems, "%s: the line is not NAME=VALUE; correct or delete it", origin);
        return;
    }
    *value++ = '\0';
    for (char *end = name + strlen(name); end > name && isspace((unsigned char) end[-1]);)
        *--end = '\0';
    value += strspn(value, " \t");
    for (char *end = value + strlen(value); end > value && isspace((unsigned char) end[-1]);)
        *--end = '\0';
    size_t len = strlen(value);
    if (len >= 2 && (value[0] == '"' || value[0] == '\'') && value[len - 1] == value[0]) {
        value[len - 1] = '\0';
        value++;
    }
    const struct setting *in_file = settings_find_file(name);
    const struct setting *row = in_file != NULL ? in_file : settings_find(name);
    const char *before = row != NULL ? cfg->origin[row - settings_table] : NULL;
    if (before != NULL && strcmp(before, "default") != 0)
        problems_add(mem, problems, "%s: %s: is set in line %s, too; delete one of them", origin,
                     row->name, strrchr(before, ':') + 1);
    else if (in_file != NULL && strcmp(row->name, FILE_TRUST_WAIVER) != 0)
        settings_set_file(mem, cfg, name, value, origin, problems);
    else if (row != NULL && strcmp(row->name, FILE_TRUST_WAIVER) == 0)
        problems_add(mem, problems,
                     "%s: %s: is read from the environment alone, because whoever can change this "
                     "file could write the line; set it there, or delete it",
                     origin, row->name);
    else if (row != NULL)
        settings_set(mem, cfg, row, value, origin, problems);
    else if (!settings_knows(name))
        problems_add(mem, problems, "%s: unknown setting '%s'; %s", origin, name,
                     settings_hint(mem, name));
}

bool
settings_file_is_fit(TALLOC_CTX *mem, const char *from, const char *path, int fd, bool secret,
                     struct problems *problems)
{
    struct stat about;
    const char *why = fstat(fd, &about) != 0 ? NULL : file_trust_fault(mem, path, &about, secret);
    if (why == NULL || file_trust_is_waived())
        return true;
    problems_add(mem, problems,
                 "%s: %s; where no other account is on the host, " FILE_TRUST_WAIVER
                 "=true in the environment allows it",
                 from, why);
    return false;
}

/* Say why authz.conf cannot be opened, by errno; a missing file may be fine. */
static void
report_unopened(TALLOC_CTX *mem, const char *path, bool required, struct problems *problems)
{
    if (errno == EACCES)
        problems_add(mem, problems,
                     "SVC_CONFIG: cannot read %s: %s; it is for root and for the account of the "
                     "service: call this as one of them, and let that account read the file "
                     "(chgrp authz FILE; chmod 640 FILE)",
                     path, strerror(errno));
    else if (required || errno != ENOENT)
        problems_add(mem, problems, "SVC_CONFIG: cannot read %s: %s; set it to a readable file",
                     path, strerror(errno));
}

static void
read_file(TALLOC_CTX *mem, struct settings *cfg, const char *path, bool required,
          struct problems *problems)
{
    FILE *file = fopen(path, "re");
    if (file == NULL) {
        cfg->source_unread = required || errno != ENOENT;
        report_unopened(mem, path, required, problems);
        return;
    }
    if (!settings_file_is_fit(mem, "SVC_CONFIG", path, fileno(file), true, problems)) {
        cfg->source_unread = true; /* no verb may take anything from it */
        fclose(file);
        return;
    }
    cfg->source_file = talloc_strdup(mem, path);
    char *line = NULL;
    size_t size = 0;
    ssize_t length;
    for (unsigned number = 1; (length = getline(&line, &size, file)) >= 0; number++) {
        const char *origin = talloc_asprintf(mem, "%s:%u", path, number);
        if (length - (line[length - 1] == '\n') > LINE_MAXIMUM)
            problems_add(mem, problems, "%s: the line is longer than %d octets; shorten it", origin,
                         LINE_MAXIMUM);
        else if (strlen(line) != (size_t) length)
            problems_add(mem, problems, "%s: the line contains a NUL octet; delete it", origin);
        else
            read_line(mem, cfg, line, origin, problems);
    }
    if (ferror(file)) { /* a directory can be opened, but not read */
        cfg->source_unread = true;
        problems_add(mem, problems, "SVC_CONFIG: cannot read %s: %s; set it to a readable file",
                     path, strerror(errno));
    }
    if (line != NULL)
        explicit_bzero(line, size);
    free(line);
    fclose(file);
}

/* Take a setting from the variable of this name, or from the file that NAME_FILE names; of both,
 * one is a mistake. Return false if there is neither. */
static bool
set_from_variable(struct settings *cfg, const struct setting *row, const char *name,
                  struct problems *problems)
{
    const char *file_name = talloc_asprintf(cfg, "%s_FILE", name);
    const char *text = getenv(name), *path = file_name != NULL ? getenv(file_name) : NULL;
    if (text != NULL && path != NULL)
        problems_add(cfg, problems, "%s: is set, and %s, too; delete one of them", row->name,
                     file_name);
    else if (path != NULL)
        settings_set_file(cfg, cfg, file_name, path, "environment", problems);
    else if (text != NULL)
        settings_set(cfg, cfg, row, text, "environment", problems);
    return text != NULL || path != NULL;
}

/*
 * Let OPA decide under plain CGI, unless the administrator has set the engine: each request has a
 * process of its own there, which would read a plan for one decision. RFC 3875 4.1.4: a CGI program
 * has GATEWAY_INTERFACE; a FastCGI worker gets it with a request only.
 */
static void
derive_engine(struct settings *cfg)
{
    const char *origin = cfg->origin[settings_find("SVC_POLICY_ENGINE") - settings_table];
    if (getenv("GATEWAY_INTERFACE") != NULL && strcmp(origin, "default") == 0)
        cfg->policy_engine = SETTINGS_OPA;
}

/* Set what follows from another setting, unless the administrator has set it. */
static void
derive(struct settings *cfg)
{
    derive_engine(cfg);
    const char **origin = &cfg->origin[settings_find("SVC_SESSION_COOKIE_SECURE") - settings_table];
    if (*origin != NULL)
        return;
    cfg->session_cookie_secure = settings_issuer_is_https(cfg);
    *origin = "SVC_OIDC_ISSUER";
}

struct settings *
settings_load(TALLOC_CTX *mem, const char *file, struct problems *problems)
{
    struct settings *cfg = talloc_zero(mem, struct settings);
    size_t rows = 0;
    while (settings_table[rows].name != NULL)
        rows++;
    if (cfg == NULL || (cfg->origin = talloc_zero_array(cfg, const char *, (unsigned) rows)) == NULL
        || (cfg->value_file = talloc_zero_array(cfg, const char *, (unsigned) rows)) == NULL)
        return NULL;
    for (const struct setting *row = settings_table; row->name != NULL; row++)
        if (row->fallback != NULL)
            settings_set(cfg, cfg, row, row->fallback, "default", problems);
    const char *named = getenv("SVC_CONFIG");
    if (named != NULL && *named != '\0')
        read_file(cfg, cfg, named, true, problems);
    else if (file != NULL)
        read_file(cfg, cfg, file, false, problems);
    for (const struct setting *row = settings_table; row->name != NULL; row++)
        if (!set_from_variable(cfg, row, row->name, problems) && row->alias != NULL)
            set_from_variable(cfg, row, row->alias, problems);
    derive(cfg);
    return cfg;
}
