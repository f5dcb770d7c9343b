#include "host/diagnosis.h"

#include <string.h>

static const struct mistake findings[] = {
    {"out of bounds",
     "The address lies in no tensor, or beyond the one that was meant. Put the shape of the case into the index: which "
     "thread computes the largest one, and is there an element for it? That what was read is not used is no excuse: on "
     "a GPU it may be another tensor, or end the program."},
    {"shared memory out of bounds",
     "The index goes past the shared memory of the block. Compare the largest index with the size of the array or, for "
     "extern __shared__, with the bytes that the launch asks for: on which numbers of the problem does each depend?"},
    {"misaligned access",
     "One load of 16 bytes needs an address that is a multiple of 16. A row begins at its index times its length: for "
     "which lengths is that a multiple of four floats, for every row?"},
    {"uninitialised read",
     "The kernel reads an element of device memory that nobody has written; what it holds is chance. Who was to write "
     "it, and does the bound of that loop agree with the bound of this one?"},
    {"uninitialised shared memory",
     "Shared memory holds whatever the last block left there. Who was to write the element that is read here? Either "
     "no "
     "thread does, because the tile is not full or too few threads take part, or the one that does has not come to it "
     "yet."},
    {"race",
     "One thread writes what another one reads or writes, and nothing between the two makes one wait for the other. "
     "The warps of a block run in any order: a right result shows only that this order was kind. Which of the two has "
     "to come first, and what makes the other wait?"},
    {"race within a warp",
     "Lanes of one warp exchange data through memory, and nothing makes the reader wait for the writer. Since Volta "
     "the "
     "lanes of a warp need not run in step, even where they mostly do: what brings them together?"},
    {"race between blocks", "Two blocks touch the same element, and one of them writes it. Blocks run in any order and "
                            "at the same time. Work out "
                            "the first element of two neighbouring blocks: does every block have a part of its own?"},
    {"divergent barrier",
     "A barrier waits for all threads of the block, and here not all of them come to the same one. Which threads skip "
     "it, by which condition, and does the barrier have to stand where they do not come?"},
    {"deadlock", "Everyone waits, and those who are waited for wait too. Look at the listing: who has not come, and "
                 "which way did it "
                 "take?"},
    {"absent lanes", "A shuffle exchanges values among all the lanes that its mask names, and some of them are not "
                     "there: they returned, "
                     "or took the other branch. May those lanes take part with a value that does no harm?"},
    {"instruction limit",
     "The loop goes round and round. Write down what its variable is in the last rounds, in the type that it has: does "
     "the condition ever become false?"},
};

const struct mistake *diagnosis_finding(const char *kind) {
    for (size_t i = 0; i < sizeof findings / sizeof *findings; i++)
        if (!strcmp(findings[i].title, kind))
            return &findings[i];
    return NULL;
}
