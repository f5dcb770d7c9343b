#include "form.h"

#include "text.h"

#include <ctype.h>
#include <string.h>

static const char *const forms[] = {
    "time LESSON D [N]",
    "tflops LESSON D [N]",
    "share LESSON D [N]",
    "speedup LESSON OVER D [N]",
    "bf16 tflops|share LESSON D N",
    "bf16 speedup LESSON OVER D N",
    "softmax time|rate|share ROWSxCOLUMNS",
    "softmax speedup ROWSxCOLUMNS [NAME]",
    "counter LESSON D METRIC",
    "limit LESSON D",
    "ceiling copy|fma_fp32|mma_bf16|wgmma_bf16",
    "title LESSON",
    "new LESSON",
    "gone LESSON",
    "worst [shape]",
    "count|wins|device|sms|peak|driver|cuda|clock|date|commit",
    "chart NAME",
    "charts",
    "figure FILE.svg",
    "code LESSON [FILE.cu] [BLANK]",
    "diff LESSON [FILE.cu] [BLANK]",
    "table ladder|peers|bf16 D",
    "table single-head|triton|softmax",
    "needs LESSON",
    "needs softmax|peers|triton|profile|ceilings|bf16",
    "reproduce",
};

// Whether a word is one of the alternatives "this|that" of a form.
static bool is_one_of(const char *words, const char *word, int letters) {
    for (;; words++) {
        int length = (int)strcspn(words, "| ]");
        if (length == letters && !strncmp(words, word, (size_t)letters))
            return true;
        words += length;
        if (*words != '|')
            return false;
    }
}

// Whether a word matches a word of a form.
static bool is_for(const char *kind, int length, const char *word, int letters) {
    int digits = (int)strspn(word, "0123456789");
    if (islower((unsigned char)*kind))
        return is_one_of(kind, word, letters);
    if (is_one_of("D|N|BLANK", kind, length))
        return digits == letters;
    if (is_one_of("LESSON|OVER", kind, length))
        return (digits == 2 && letters == 2) || is_one_of("first|last|best", word, letters) ||
               text_after_prefix(word, "peer-") || text_after_prefix(word, "baseline-");
    if (text_after_prefix(kind, "ROWS"))
        return digits > 0 && word[digits] == 'x' && isdigit((unsigned char)word[digits + 1]);
    if (text_after_prefix(kind, "FILE"))
        return letters > length - 4 && !strncmp(word + letters - (length - 4), kind + 4, (size_t)length - 4);
    return true;
}

static bool fits_form(const char *form, const char *inner) {
    while (*form) {
        bool optional = *form == '[';
        const char *kind = form + optional;
        int length = (int)strcspn(kind, " ]"), letters = (int)strcspn(inner, " ");
        bool taken = letters && is_for(kind, length, inner, letters);
        if (!taken && !optional)
            return false;
        if (taken)
            inner += letters + strspn(inner + letters, " ");
        form = kind + length + optional;
        form += strspn(form, " ");
    }
    return !*inner;
}

const char *form_of(const char *inner, bool *fits) {
    const char *form = NULL;
    int letters = (int)strcspn(inner, " ");
    for (size_t i = 0; i < sizeof forms / sizeof *forms; i++) {
        *fits = fits_form(forms[i], inner);
        if (*fits)
            return forms[i];
        if (!form && is_one_of(forms[i], inner, letters))
            form = forms[i];
    }
    return form;
}
