#include "highlight.h"

#include <ctype.h>
#include <string.h>

void html_text(FILE *out, const char *text, int length) {
    for (int i = 0; i < length; i++)
        switch (text[i]) {
        case '&':
            fputs("&amp;", out);
            break;
        case '<':
            fputs("&lt;", out);
            break;
        case '>':
            fputs("&gt;", out);
            break;
        case '"':
            fputs("&quot;", out);
            break;
        default:
            fputc(text[i], out);
        }
}

static void span(FILE *out, const char *kind, const char *text, int length) {
    fprintf(out, "<span class=\"%s\">", kind);
    html_text(out, text, length);
    fputs("</span>", out);
}

// The kind of a word, NULL for one of the kernel's own.
static const char *kind_of(const char *word, int length) {
    static const char *const keywords =
        " if else for while do return const constexpr static inline template typename struct enum using auto break "
        "continue sizeof switch case asm volatile extern include define pragma unroll ";
    static const char *const types =
        " int float double bool char void unsigned size_t float2 float4 half __half __nv_bfloat16 uint32_t uint64_t "
        "int64_t uint4 dim3 cudaError_t ";
    char key[64];
    snprintf(key, sizeof key, " %.*s ", length, word);
    if (strstr(keywords, key))
        return "k";
    if (strstr(types, key))
        return "t";
    bool is_cuda = !strncmp(word, "__", 2) || !strncmp(word, "threadIdx", 9) || !strncmp(word, "blockIdx", 8) ||
                   !strncmp(word, "blockDim", 8) || !strncmp(word, "gridDim", 7);
    return is_cuda ? "g" : NULL;
}

static void line(FILE *out, const char *text, int length) {
    for (int i = 0; i < length;) {
        int end = i + 1;
        if (!strncmp(text + i, "//", 2)) {
            span(out, "c", text + i, length - i);
            return;
        }
        if (text[i] == '"') {
            while (end < length && text[end] != '"')
                end += text[end] == '\\' ? 2 : 1;
            end = end < length ? end + 1 : length;
            span(out, "s", text + i, end - i);
        } else if (isalpha((unsigned char)text[i]) || text[i] == '_') {
            while (end < length && (isalnum((unsigned char)text[end]) || text[end] == '_'))
                end++;
            const char *kind = kind_of(text + i, end - i);
            if (kind)
                span(out, kind, text + i, end - i);
            else
                html_text(out, text + i, end - i);
        } else if (isdigit((unsigned char)text[i])) {
            while (end < length && (isalnum((unsigned char)text[end]) || text[end] == '.'))
                end++;
            span(out, "n", text + i, end - i);
        } else
            html_text(out, text + i, 1);
        i = end;
    }
}

void highlight(FILE *out, const char *code, bool is_diff) {
    for (const char *end; *code; code = end + 1) {
        end = strchr(code, '\n');
        int length = (int)(end - code), skip = is_diff && length >= 2 ? 2 : 0;
        const char *kind = *code == '+' ? "new" : *code == '-' ? "gone" : "old";
        if (is_diff)
            fprintf(out, "<span class=\"%s\">%c ", kind, *code);
        line(out, code + skip, length - skip);
        fputs(is_diff ? "</span>\n" : "\n", out);
    }
}
