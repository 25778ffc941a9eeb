#include "config.h"

#include "cedar/lex.h"

#include <stdarg.h>
#include <stdio.h>
#include <string.h>

#include "base/utf8.h"

/* A longer sign stands before each sign that is its prefix. */
static const struct {
    const char *sign;
    enum cedar_token_kind kind;
} signs[] = {
    {"::", TOKEN_PATH         },
    {"==", TOKEN_EQUAL        },
    {"!=", TOKEN_NOT_EQUAL    },
    {"<=", TOKEN_LESS_EQUAL   },
    {">=", TOKEN_GREATER_EQUAL},
    {"&&", TOKEN_AND          },
    {"||", TOKEN_OR           },
    {"(",  TOKEN_OPEN         },
    {")",  TOKEN_CLOSE        },
    {"[",  TOKEN_OPEN_BRACKET },
    {"]",  TOKEN_CLOSE_BRACKET},
    {"{",  TOKEN_OPEN_BRACE   },
    {"}",  TOKEN_CLOSE_BRACE  },
    {",",  TOKEN_COMMA        },
    {";",  TOKEN_SEMICOLON    },
    {":",  TOKEN_COLON        },
    {".",  TOKEN_DOT          },
    {"@",  TOKEN_AT           },
    {"<",  TOKEN_LESS         },
    {">",  TOKEN_GREATER      },
    {"+",  TOKEN_PLUS         },
    {"-",  TOKEN_MINUS        },
    {"*",  TOKEN_STAR         },
    {"!",  TOKEN_NOT          },
    {"?",  TOKEN_QUESTION     },
    {"/",  TOKEN_SLASH        },
    {"%",  TOKEN_PERCENT      },
    {"=",  TOKEN_ASSIGN       },
};
#define SIGNS (sizeof(signs) / sizeof(signs[0]))

bool
cedar_fail(struct cedar_fault *fault, struct cedar_place place, const char *format, ...)
{
    va_list arguments;
    if (fault->place.line != 0)
        return false;
    fault->place = place;
    va_start(arguments, format);
    utf8_vprint(fault->text, sizeof(fault->text), format, arguments);
    va_end(arguments);
    return false;
}

const char *
cedar_token_name(enum cedar_token_kind kind)
{
    for (size_t i = 0; i < SIGNS; i++)
        if (signs[i].kind == kind)
            return signs[i].sign;
    return kind == TOKEN_END      ? "the end of the file"
           : kind == TOKEN_NUMBER ? "a number"
           : kind == TOKEN_STRING ? "a string"
                                  : "a name";
}

/* Go on by one octet. The octets of a character after its first do not count as columns. */
static void
step(struct cedar_lexer *lexer)
{
    unsigned char octet = (unsigned char) lexer->text[lexer->at++];
    if (octet == '\n') {
        lexer->place.line++;
        lexer->place.column = 1;
    } else if ((octet & 0xc0) != 0x80)
        lexer->place.column++;
}

bool
cedar_check_text(const char *text, size_t length, struct cedar_fault *fault)
{
    struct cedar_lexer lexer = {
        text, length, 0, {1, 1},
           fault
    };
    if (length > CEDAR_FILE_MAX)
        return cedar_fail(fault, lexer.place, "the file has more than %d octets", CEDAR_FILE_MAX);
    if (utf8_valid(text, length) && !text_has_nul(text, length))
        return true;
    while (lexer.at < length && text[lexer.at] != '\0') {
        size_t room = length - lexer.at, octets = 1;
        while (octets <= 4 && octets <= room && !utf8_valid(text + lexer.at, octets))
            octets++;
        if (octets > 4 || octets > room)
            return cedar_fail(fault, lexer.place, "the text is not UTF-8");
        while (octets-- > 0)
            step(&lexer);
    }
    return cedar_fail(fault, lexer.place, "the text contains a NUL octet");
}

/* White_Space of Unicode beyond ASCII, in UTF-8. */
static const char *const wide_blanks[] = {
    "\xc2\x85",     "\xc2\xa0",     "\xe1\x9a\x80", "\xe2\x80\x80", "\xe2\x80\x81",
    "\xe2\x80\x82", "\xe2\x80\x83", "\xe2\x80\x84", "\xe2\x80\x85", "\xe2\x80\x86",
    "\xe2\x80\x87", "\xe2\x80\x88", "\xe2\x80\x89", "\xe2\x80\x8a", "\xe2\x80\xa8",
    "\xe2\x80\xa9", "\xe2\x80\xaf", "\xe2\x81\x9f", "\xe3\x80\x80",
};

/* Return the octets of the blank here, or 0. */
static size_t
blank_length(const struct cedar_lexer *lexer)
{
    const char *here = lexer->text + lexer->at;
    if (*here == ' ' || (*here >= '\t' && *here <= '\r'))
        return 1;
    for (size_t i = 0; i < sizeof(wide_blanks) / sizeof(wide_blanks[0]); i++) {
        size_t length = strlen(wide_blanks[i]);
        if (length <= lexer->length - lexer->at && memcmp(here, wide_blanks[i], length) == 0)
            return length;
    }
    return 0;
}

static bool
digit_octet(char c)
{
    return c >= '0' && c <= '9';
}

static bool
letter_octet(char c)
{
    return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || c == '_';
}

static void
skip_blanks(struct cedar_lexer *lexer)
{
    while (lexer->at < lexer->length) {
        const char *here = lexer->text + lexer->at;
        size_t blank = blank_length(lexer);
        if (lexer->length - lexer->at >= 2 && here[0] == '/' && here[1] == '/')
            /* A carriage return ends a comment too: for Cedar, the text after it is a policy. */
            while (lexer->at < lexer->length && lexer->text[lexer->at] != '\n'
                   && lexer->text[lexer->at] != '\r')
                step(lexer);
        else if (blank == 0)
            return;
        for (size_t i = 0; i < blank; i++)
            step(lexer);
    }
}

static struct cedar_token
lex_string(struct cedar_lexer *lexer, struct cedar_token token)
{
    size_t begin = lexer->at + 1;
    step(lexer);
    while (lexer->at < lexer->length && lexer->text[lexer->at] != '"') {
        if (lexer->text[lexer->at] == '\\' && lexer->at + 1 < lexer->length)
            step(lexer);
        step(lexer);
    }
    if (lexer->at >= lexer->length) {
        cedar_fail(lexer->fault, token.place, "the string that begins here has no end");
        token.kind = TOKEN_FAILED;
        return token;
    }
    token.text = (struct cedar_text){lexer->text + begin, lexer->at - begin};
    token.kind = TOKEN_STRING;
    step(lexer);
    return token;
}

static struct cedar_token
read_sign(struct cedar_lexer *lexer, struct cedar_token token)
{
    const char *here = lexer->text + lexer->at;
    size_t left = lexer->length - lexer->at;
    for (size_t i = 0; i < SIGNS; i++) {
        size_t length = strlen(signs[i].sign);
        if (length > left || memcmp(here, signs[i].sign, length) != 0)
            continue;
        token.kind = signs[i].kind;
        token.text = (struct cedar_text){here, length};
        while (length-- > 0)
            step(lexer);
        return token;
    }
    if (*here > ' ' && *here <= '~')
        cedar_fail(lexer->fault, token.place, "`%c` has no meaning here", *here);
    else
        cedar_fail(lexer->fault, token.place, "this character is allowed only in strings");
    token.kind = TOKEN_FAILED;
    return token;
}

struct cedar_token
cedar_lex(struct cedar_lexer *lexer)
{
    skip_blanks(lexer);
    struct cedar_token token = {.kind = TOKEN_END, .place = lexer->place};
    size_t begin = lexer->at;
    if (lexer->at >= lexer->length)
        return token;
    if (lexer->text[lexer->at] == '"')
        return lex_string(lexer, token);
    if (!letter_octet(lexer->text[begin]) && !digit_octet(lexer->text[begin]))
        return read_sign(lexer, token);
    token.kind = digit_octet(lexer->text[begin]) ? TOKEN_NUMBER : TOKEN_NAME;
    while (lexer->at < lexer->length
           && (digit_octet(lexer->text[lexer->at])
               || (token.kind == TOKEN_NAME && letter_octet(lexer->text[lexer->at]))))
        step(lexer);
    token.text = (struct cedar_text){lexer->text + begin, lexer->at - begin};
    return token;
}
