#include "highlight.h"

#include "text.h"

#include <ctype.h>
#include <limits.h>
#include <regex.h>
#include <string.h>

void html_text(FILE *out, const char *text, size_t length) {
    static const char *const entity[UCHAR_MAX + 1] = {
        ['&'] = "&amp;", ['<'] = "&lt;", ['>'] = "&gt;", ['"'] = "&quot;"};
    for (const char *at = text; at < text + length; at++)
        if (entity[(unsigned char)*at])
            fputs(entity[(unsigned char)*at], out);
        else
            fputc(*at, out);
}

// The kind of a token, NULL for an identifier of the kernel.
static const char *kind_of(const char *token, int length) {
    static const char *const keywords =
        " if else for while do return const constexpr static inline template typename struct enum using auto break "
        "continue sizeof switch case asm volatile extern include define pragma unroll ";
    static const char *const types =
        " int float double bool char void unsigned size_t float2 float4 half __half __nv_bfloat16 uint32_t uint64_t "
        "int64_t uint4 dim3 cudaError_t ";
    static const char *const of_cuda[] = {"__", "threadIdx", "blockIdx", "blockDim", "gridDim"};
    if (*token == '/')
        return "c";
    if (*token == '"')
        return "s";
    if (isdigit((unsigned char)*token))
        return "n";
    char key[64];
    snprintf(key, sizeof key, " %.*s ", length, token);
    if (strstr(keywords, key))
        return "k";
    if (strstr(types, key))
        return "t";
    for (size_t i = 0; i < sizeof of_cuda / sizeof *of_cuda; i++)
        if (text_after_prefix(token, of_cuda[i]))
            return "g";
    return NULL;
}

static void write_line(FILE *out, const regex_t *tokens, const char *text, const char *end) {
    regmatch_t found = {.rm_eo = (regoff_t)(end - text)};
    while (!regexec(tokens, text, 1, &found, REG_STARTEND)) {
        const char *token = text + found.rm_so;
        int length = found.rm_eo - found.rm_so;
        const char *kind = kind_of(token, length);
        html_text(out, text, (size_t)found.rm_so);
        fprintf(out, kind ? "<span class=\"%s\">" : "", kind);
        html_text(out, token, (size_t)length);
        fputs(kind ? "</span>" : "", out);
        text = token + length;
        found = (regmatch_t){.rm_eo = (regoff_t)(end - text)};
    }
    html_text(out, text, (size_t)(end - text));
}

void highlight(FILE *out, const char *code, bool is_diff) {
    regex_t tokens; // comments, string literals, words and numbers
    regcomp(&tokens, "//.*|\"([^\"\\]|\\\\.)*\\\\?\"?|[A-Za-z_][A-Za-z0-9_]*|[0-9][A-Za-z0-9.]*", REG_EXTENDED);
    for (const char *end; *code; code = end + 1) {
        end = strchr(code, '\n');
        const char *kind = *code == '+' ? "new" : *code == '-' ? "gone" : "old";
        if (is_diff)
            fprintf(out, "<span class=\"%s\">%c ", kind, *code);
        write_line(out, &tokens, code + (is_diff && end - code >= 2 ? 2 : 0), end);
        fputs(is_diff ? "</span>\n" : "\n", out);
    }
    regfree(&tokens);
}
