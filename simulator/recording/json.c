#include "json.h"

#include <math.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

void json_free(struct json *json) {
    free(json->text);
    *json = (struct json){0};
}

static bool make_room(struct json *json, size_t more) {
    if (json->failed)
        return false;
    if (json->length + more + 1 <= json->room)
        return true;
    size_t room = (json->length + more + 1) * 2;
    char *grown = realloc(json->text, room);
    json->failed = !grown;
    if (!grown)
        return false;
    json->text = grown;
    json->room = room;
    return true;
}

void json_add(struct json *json, const char *format, ...) {
    va_list arguments, again;
    va_start(arguments, format);
    va_copy(again, arguments);
    int length = vsnprintf(NULL, 0, format, arguments);
    if (length >= 0 && make_room(json, (size_t)length)) {
        vsnprintf(json->text + json->length, (size_t)length + 1, format, again);
        json->length += (size_t)length;
    }
    va_end(again);
    va_end(arguments);
}

// The length of a UTF-8 character; 0: it is not one.
static int utf8_length(const unsigned char *text) {
    int length = text[0] < 0x80 ? 1 : text[0] >= 0xc2 && text[0] < 0xe0 ? 2 : (text[0] & 0xf0) == 0xe0 ? 3 : 0;
    length = text[0] >= 0xf0 && text[0] < 0xf5 ? 4 : length;
    for (int i = 1; i < length; i++)
        if ((text[i] & 0xc0) != 0x80)
            return 0;
    bool surrogate = text[0] == 0xed && text[1] >= 0xa0,
         overlong = (text[0] == 0xe0 && text[1] < 0xa0) || (text[0] == 0xf0 && text[1] < 0x90);
    return surrogate || overlong || (text[0] == 0xf4 && text[1] >= 0x90) ? 0 : length;
}

void json_string(struct json *json, const char *text) {
    json_add(json, "\"");
    for (const unsigned char *at = (const unsigned char *)text; *at;) {
        int length = utf8_length(at);
        if (*at == '"' || *at == '\\')
            json_add(json, "\\%c", *at);
        else if (*at < ' ' || *at == '<' || length == 0)
            json_add(json, "\\u%04x", *at);
        else
            json_add(json, "%.*s", length, (const char *)at);
        at += length ? length : 1;
    }
    json_add(json, "\"");
}

void json_number(struct json *json, int64_t number) {
    if (number < 0)
        json_add(json, "null");
    else
        json_add(json, "%lld", (long long)number);
}

void json_float(struct json *json, double value) {
    if (isnan(value))
        json_add(json, "\"nan\"");
    else if (isinf(value))
        json_add(json, value < 0 ? "\"-inf\"" : "\"inf\"");
    else
        json_add(json, "%.6g", value);
}

void json_runs(struct json *json, const int64_t *number, size_t count) {
    json_add(json, "[");
    for (size_t i = 0; i < count;) {
        size_t end = i + 1;
        int64_t step = end < count ? number[end] - number[i] : 0;
        while (end < count && number[end] - number[end - 1] == step)
            end++;
        // Two different numbers do not start a run, unless nothing follows.
        if (end == i + 2 && end < count && step)
            end = i + 1;
        json_add(json, "%s%lld,%lld,%zu", i ? "," : "", (long long)number[i], (long long)(end > i + 1 ? step : 0),
                 end - i);
        i = end;
    }
    json_add(json, "]");
}
