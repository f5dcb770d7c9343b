// Resuming an interrupted run: the facts that must be equal for its rows to belong together, and the file that stores
// them until the run is complete.
#ifndef HOST_RESUME_H
#define HOST_RESUME_H

#include "message.h"

#include <stdint.h>

enum { RESUME_FACTS = 80, RESUME_NAME = 160, RESUME_VALUE = 200 };

// The conditions of a run: "driver" is "580.1", "kernel solution-01_basic_attention" is a hash of its library.
struct resume_facts {
    struct {
        char name[RESUME_NAME], value[RESUME_VALUE];
    } fact[RESUME_FACTS];
    int count;
};

void resume_add(struct resume_facts *facts, const char *name, const char *format, ...)
    __attribute__((format(printf, 3, 4)));

// The hash of a file's bytes as 16 digits; of a file that cannot be read, "unreadable".
void resume_hash_file(const char *path, char text[17]);

// The file of a run: folder/<hash of the names of its kernels and shapes>.
void resume_path(const char *folder, const char *what, char *path, size_t size);

// Stores the run. False and one line if the file cannot be written.
bool resume_save(const char *path, const char *run, const struct resume_facts *facts, struct message *error);

// False if no run is stored.
bool resume_load(const char *path, char *run, size_t size, struct resume_facts *facts);

// False and why, "the driver was 570.1 and is 580.1", if a run with the old facts cannot be resumed with the new ones.
bool resume_same(const struct resume_facts *old, const struct resume_facts *new, struct message *why);

// Deletes the file of a complete run.
void resume_forget(const char *path);

#endif
