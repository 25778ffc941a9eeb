/* Tokens of a Cedar file. */
#ifndef AZ_CEDAR_LEX_H
#define AZ_CEDAR_LEX_H

#include "cedar/ast.h"

enum cedar_token_kind {
    TOKEN_END,
    TOKEN_NAME,   /* identifier or word of the language */
    TOKEN_NUMBER, /* digits */
    TOKEN_STRING, /* text without the quotes, escapes unread */
    TOKEN_PATH,   /* :: and the rest of the signs, as in the table of lex.c */
    TOKEN_EQUAL,
    TOKEN_NOT_EQUAL,
    TOKEN_LESS_EQUAL,
    TOKEN_GREATER_EQUAL,
    TOKEN_AND,
    TOKEN_OR,
    TOKEN_OPEN,
    TOKEN_CLOSE,
    TOKEN_OPEN_BRACKET,
    TOKEN_CLOSE_BRACKET,
    TOKEN_OPEN_BRACE,
    TOKEN_CLOSE_BRACE,
    TOKEN_COMMA,
    TOKEN_SEMICOLON,
    TOKEN_COLON,
    TOKEN_DOT,
    TOKEN_AT,
    TOKEN_LESS,
    TOKEN_GREATER,
    TOKEN_PLUS,
    TOKEN_MINUS,
    TOKEN_STAR,
    TOKEN_NOT,
    TOKEN_QUESTION,
    TOKEN_SLASH, /* this and the next two have no meaning in Cedar, but are refused by name */
    TOKEN_PERCENT,
    TOKEN_ASSIGN,
    TOKEN_FAILED,
};

struct cedar_token {
    enum cedar_token_kind kind;
    struct cedar_text text;
    struct cedar_place place;
};

/* The reader of tokens. Set text, length and fault; the place begins at line 1, column 1. */
struct cedar_lexer {
    const char *text;
    size_t length, at;
    struct cedar_place place;
    struct cedar_fault *fault;
};

/* Read the next token. TOKEN_FAILED: the fault was recorded. */
struct cedar_token cedar_lex(struct cedar_lexer *lexer);

/* Return the sign of a token ("&&"), or what it is ("a string"). */
const char *cedar_token_name(enum cedar_token_kind kind);

/* Record a fault; the first one stays. Returns false. */
bool cedar_fail(struct cedar_fault *fault, struct cedar_place place, const char *format, ...)
    __attribute__((format(printf, 3, 4)));

/* Check a whole text before it is read: at most CEDAR_FILE_MAX octets of UTF-8 without NUL. */
bool cedar_check_text(const char *text, size_t length, struct cedar_fault *fault);

/*
 * Replace the escapes of a string token, those of Rust: \n \r \t \\ \0 \' \" \x7F \u{10FFFF}. With
 * parts (a pattern of `like`) an unescaped * ends a part, and \* is a star. Without parts there is
 * one text. The texts belong to mem.
 */
bool cedar_unescape(TALLOC_CTX *mem, const struct cedar_token *token, bool parts,
                    struct cedar_text **ret, size_t *ret_count, struct cedar_fault *fault);

#endif
