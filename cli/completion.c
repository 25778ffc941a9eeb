/* completion: scripts for bash and zsh, made from the table of verbs. */
#include "config.h"

#include <stdio.h>
#include <string.h>

#include "base/words.h"
#include "cli/lib/output.h"
#include "cli/verbs.h"

/* Most nouns: paths that are no verb. */
#define NOUNS_MAX 32

/*
 * A shell's script: what collects the words before the cursor into $path_, without options and
 * their values, and what offers the words of $list, the options of $options, or files. Between them
 * stands the table as a `case`, which both shells read alike.
 */
struct completion_shell {
    const char *name;
    const char *first, *head, *end;
};

static const struct completion_shell completion_shells[] = {
    {"bash", "# Completion of authzctl for bash; printed by `authzctl completion bash`.\n",
     "_authzctl() {\n"
     "    local cur=${COMP_WORDS[COMP_CWORD]} path_= list= options= skip= word at_=()\n"
     "    for word in \"${COMP_WORDS[@]:1:COMP_CWORD-1}\"; do\n",                                                                           "    if [[ $cur == -* ]]; then list=$options; fi\n"
     "    COMPREPLY=($(compgen -W \"$list\" -- \"$cur\"))\n"
     "}\n"
     "complete -o default -F _authzctl authzctl\n"                                                 },
    {"zsh",
     "#compdef authzctl\n"
     "# Completion of authzctl for zsh; printed by `authzctl completion zsh`.\n",           "_authzctl() {\n"
     "    local cur=${words[CURRENT]} path_= list= options= skip= word at_=()\n"
     "    for word in \"${(@)words[2,CURRENT-1]}\"; do\n", "    if [[ $cur == -* ]]; then list=$options; fi\n"
     "    if [[ -n $list ]]; then compadd -- ${=list}; else _files; fi\n"
     "}\n"
     "_authzctl \"$@\"\n"},
};

/* Words that an option takes, by the verbs that have it. */
static const struct {
    const char *verbs, *option, *words;
} completion_values[] = {
    {"audit",    "format",      "json ndjson csv"                                        },
    {"audit",    "outcome",     "allowed denied rejected error"                          },
    {"bundle",   "mode",        "merge replace"                                          },
    {"client",   "auth-method",
     "none client_secret_basic client_secret_post private_key_jwt spiffe_jwt"            },
    {"client",   "type",        "confidential public"                                    },
    {"entitle",  "endpoint",    "introspect authzen uma_protection delegation_management"},
    {"keys",     "use",         "oidc statement audit access"                            },
    {"resource", "type",        "REST MCP STATIC"                                        },
};

/* Names that an argument takes, by its word in the usage line, and the verb that lists them in its
 * first column. */
static const struct {
    const char *argument, *verb;
} completion_names[] = {
    {"CLIENT",    "client list"        },
    {"CONNECTOR", "connector available"},
    {"IDP",       "idp list"           },
    {"KEY",       "policy data list"   },
    {"PATH",      "policy rule list"   },
    {"RESOURCE",  "resource list"      },
};

/*
 * Print the function that lists the names that exist. Strangers choose some of them (a client_id
 * may be any URL), and a shell runs what is in $(...) or behind a semicolon: a name with another
 * character than these is not offered. A colon is left out too, because bash divides words at it.
 */
static void
put_lister(void)
{
    fputs("_authzctl_names() {\n"
          "    authzctl \"${at_[@]}\" \"$@\" </dev/null 2>/dev/null |\n"
          "        awk 'NR > 1 && $1 ~ /^[A-Za-z0-9][A-Za-z0-9._@\\/-]*$/ {print $1}'\n"
          "}\n",
          stdout);
}

/* Print one branch for a verb whose first argument is a name that exists already. */
static void
put_names(const struct cli_verb *row)
{
    const char *argument = row->arguments + strspn(row->arguments, "["),
               *last = strrchr(row->words, ' ');
    size_t length = strcspn(argument, " ]");
    if (row->hidden || (last != NULL && strcmp(last, " create") == 0))
        return;
    for (size_t i = 0; i < sizeof(completion_names) / sizeof(completion_names[0]); i++)
        if (strlen(completion_names[i].argument) == length
            && strncmp(completion_names[i].argument, argument, length) == 0)
            printf("        '%s') list=$(_authzctl_names %s) ;;\n", row->words,
                   completion_names[i].verb);
}

/* Print what is offered behind an option with a value: its words, or files. */
static void
put_values(void)
{
    fputs("    if [[ -n $skip ]]; then\n        list= options=\n        case \"$path_ $word\" in\n",
          stdout);
    for (size_t i = 0; i < sizeof(completion_values) / sizeof(completion_values[0]); i++)
        printf("        '%s'*' --%s') list='%s' ;;\n", completion_values[i].verbs,
               completion_values[i].option, completion_values[i].words);
    fputs("        esac\n    fi\n", stdout);
}

/* Print the names of options, each after a blank. */
static void
put_options(const struct cli_option *options)
{
    for (; options != NULL && options->name != NULL; options++)
        printf(" --%s", options->name);
}

/* Print the options with a value as patterns of a `case`: the word after them is no command. */
static void
put_valued(const struct cli_verb *verbs)
{
    const char *between = "";
    for (const struct cli_option *option = cli_options; option->name != NULL; option++)
        if (option->argument != NULL) {
            printf("%s--%s", between, option->name);
            between = " | ";
        }
    for (const struct cli_verb *row = verbs; row->words != NULL; row++)
        for (const struct cli_option *option = row->options; option != NULL && option->name != NULL;
             option++)
            if (option->argument != NULL) {
                printf(" | --%s", option->name);
                if (option->letter != 0)
                    printf(" | -%c", option->letter);
            }
}

static void
put_noun(struct cli *cli, const char *noun)
{
    printf("    '%s') list='", noun);
    for (const char *const *word = cli_words_below(cli->mem, cli->verbs, noun); *word != NULL;
         word++)
        printf("%s ", *word);
    puts("' ;;");
}

/* Print one branch for each path that has words below it: "", "policy", "policy data". */
static void
put_nouns(struct cli *cli)
{
    const char *seen[NOUNS_MAX + 1] = {""};
    size_t count = 1;
    put_noun(cli, "");
    for (const struct cli_verb *row = cli->verbs; row->words != NULL; row++)
        for (const char *end = strchr(row->words, ' '); end != NULL; end = strchr(end + 1, ' ')) {
            const char *noun = talloc_strndup(cli->mem, row->words, (size_t) (end - row->words));
            if (noun == NULL || row->hidden || count == NOUNS_MAX || words_has(seen, noun))
                continue;
            put_noun(cli, seen[count++] = noun);
        }
}

/* Print what goes on with the words before the cursor: the way to a server, the values of other
 * options, and the path of the verb. */
static void
put_path(const struct cli_verb *verbs)
{
    fputs("        if [[ -n $skip ]]; then\n"
          "            case $skip in\n"
          "            --config | --key-file | --server) at_+=(\"$skip\" \"$word\") ;;\n"
          "            esac\n"
          "            skip=\n            continue\n        fi\n        case $word in\n        ",
          stdout);
    put_valued(verbs);
    fputs(") skip=$word ;;\n        -*) ;;\n        *) path_=\"$path_${path_:+ }$word\" ;;\n"
          "        esac\n    done\n    path_=${path_#help }\n    options='",
          stdout);
}

/* Print what is offered as the name behind a verb, unless an option or its value is being typed. */
static void
put_all_names(const struct cli_verb *verbs)
{
    fputs("    if [[ -z $skip && $cur != -* ]]; then\n        case $path_ in\n", stdout);
    for (const struct cli_verb *row = verbs; row->words != NULL; row++)
        put_names(row);
    fputs("        esac\n    fi\n", stdout);
}

int
completion_run(struct cli *cli)
{
    const struct completion_shell *shell = completion_shells;
    const size_t count = sizeof(completion_shells) / sizeof(completion_shells[0]);
    while (shell < completion_shells + count && strcmp(shell->name, cli->args[0]) != 0)
        shell++;
    if (shell == completion_shells + count) {
        output_error("completion: %s is not supported; the shells are bash and zsh", cli->args[0]);
        return CLI_USAGE;
    }
    fputs(shell->first, stdout);
    put_lister();
    fputs(shell->head, stdout);
    put_path(cli->verbs);
    put_options(cli_options);
    fputs(" '\n    case $path_ in\n", stdout);
    put_nouns(cli);
    for (const struct cli_verb *row = cli->verbs; row->words != NULL; row++) {
        if (row->hidden)
            continue;
        printf("    '%s' | '%s '*) options+='", row->words, row->words);
        put_options(row->options);
        puts("' ;;");
    }
    fputs("    esac\n", stdout);
    put_all_names(cli->verbs);
    put_values();
    fputs(shell->end, stdout);
    return CLI_OK;
}
