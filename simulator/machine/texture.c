// All textures and surfaces. The runtime adds and removes them under the lock that it also holds during launches.
#include "texture.h"

#include <math.h>
#include <stdlib.h>

#define TAG (UINT64_C(0x7e) << 40) // not an address, so that no pointer is taken for an object

static struct sim_texture **texture;
static size_t count, room;

uint64_t sim_texture_add(const struct sim_texture *made) {
    if (count == room) {
        size_t more = room ? 2 * room : 16;
        struct sim_texture **grown = realloc(texture, more * sizeof *grown);
        if (!grown)
            return 0;
        texture = grown;
        room = more;
    }
    if (!(texture[count] = malloc(sizeof *made)))
        return 0;
    *texture[count] = *made;
    return TAG | ++count;
}

const struct sim_texture *sim_texture_find(uint64_t handle) {
    uint64_t number = handle ^ TAG;
    return number > 0 && number <= count ? texture[number - 1] : NULL;
}

float sim_texture_levels(const struct sim_texture *t, float requested, const struct sim_level *level[2]) {
    float at = requested + t->bias, whole;
    at = at < t->most ? at : t->most;
    at = at > t->least ? at : t->least; // also if it is NaN
    at = at < (float)(t->levels - 1) ? at : (float)(t->levels - 1);
    at = at > 0 ? at : 0;
    if (!t->mixes_levels) {
        level[0] = level[1] = &t->level[(int)(at + 0.5f)];
        return 0;
    }
    at = floorf(at * 256 + 0.5f) / 256; // the resolution of the weights between texels
    whole = floorf(at);
    level[0] = &t->level[(int)whole];
    level[1] = at > whole ? level[0] + 1 : level[0];
    return at - whole;
}

void sim_texture_remove(uint64_t handle) {
    if (sim_texture_find(handle)) {
        free(texture[(handle ^ TAG) - 1]);
        texture[(handle ^ TAG) - 1] = NULL;
    }
}

void sim_texture_remove_all(void) {
    for (size_t i = 0; i < count; i++)
        free(texture[i]);
    count = 0;
}
