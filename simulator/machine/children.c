#include "children.h"
#include "allocation.h"

#include <stdlib.h>

bool sim_children_add(struct sim_children *children, const struct sim_child *child) {
    struct sim_child *made = malloc(sizeof *made);
    if (!made)
        return false;
    *made = *child;
    made->next = NULL;
    pthread_mutex_lock(&children->lock);
    if (children->last)
        children->last->next = made;
    else
        children->first = made;
    children->last = made;
    pthread_mutex_unlock(&children->lock);
    return true;
}

bool sim_children_launch(struct sim_children *children, uint64_t buffer, bool tail) {
    bool found = false;
    pthread_mutex_lock(&children->lock);
    for (struct sim_child *one = children->first; one && !found; one = one->next) {
        found = one->buffer && one->buffer == buffer && !one->launched;
        if (found) {
            one->launched = true;
            one->tail = tail;
        }
    }
    pthread_mutex_unlock(&children->lock);
    return found;
}

void sim_children_free(struct sim_children *children) {
    while (children->first) {
        struct sim_child *one = children->first;
        children->first = one->next;
        if (one->buffer)
            sim_memory_free(one->buffer);
        free(one);
    }
    children->last = NULL;
}
