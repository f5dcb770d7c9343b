// The smallest program with a kernel, for ways to compile one: test_runtime_other.cu with a main(). Where its launch
// fails it prints the error's name.
#include <cuda_runtime_api.h>
#include <stdio.h>

extern int answer_of_the_other_file(void);

int main(void) {
    if (answer_of_the_other_file() == 43)
        return 0;
    puts(cudaGetErrorName(cudaGetLastError()));
    return 1;
}
