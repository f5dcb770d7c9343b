// Memory shared by host and device: a list that the host builds and a kernel traverses, a managed variable, registered
// and mapped memory, and pageable memory at an address of freed managed memory.
#include "program.cuh"

#include <sys/mman.h>

struct node {
    int value;
    node *next;
};

__managed__ int total;

__global__ void add_list(const node *list) {
    for (; list; list = list->next)
        total += list->value;
}

__global__ void negate(int *x, int n) {
    const int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i < n)
        x[i] = -x[i];
}

int main() {
    node *list = nullptr;
    for (int i = 1; i <= 20; i++) {
        node *one;
        OK(cudaMallocManaged(&one, sizeof *one));
        *one = {i, list};
        list = one;
    }
    total = 5;
    add_list<<<1, 1>>>(list);
    OK(cudaDeviceSynchronize());
    EXPECT(total == 5 + 210);

    const int n = 300;
    int *mapped, *of_device;
    OK(cudaHostAlloc(&mapped, n * sizeof(int), cudaHostAllocMapped));
    for (int i = 0; i < n; i++)
        mapped[i] = i;
    OK(cudaHostGetDevicePointer(&of_device, mapped, 0));
    negate<<<2, 256>>>(of_device, n);
    OK(cudaDeviceSynchronize());
    for (int i = 0; i < n; i++)
        EXPECT(mapped[i] == -i);

    std::vector<int> own_memory(n, 4);
    OK(cudaHostRegister(own_memory.data(), n * sizeof(int), cudaHostRegisterDefault));
    OK(cudaHostGetDevicePointer(&of_device, own_memory.data(), 0));
    negate<<<2, 256>>>(of_device, n);
    OK(cudaDeviceSynchronize());
    OK(cudaHostUnregister(own_memory.data()));
    for (int i = 0; i < n; i++)
        EXPECT(own_memory[i] == -4);

    const size_t size = 1 << 20;
    void *managed;
    OK(cudaMallocManaged(&managed, size));
    OK(cudaFree(managed));
    int *own = (int *)mmap(managed, size, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
    EXPECT(own != MAP_FAILED);
    int *device = to_device(std::vector<int>{7});
    OK(cudaMemcpy(own, device, sizeof(int), cudaMemcpyDeviceToHost));
    EXPECT(own[0] == 7);
    own[0] = 8;
    OK(cudaMemcpy(device, own, sizeof(int), cudaMemcpyDefault));
    OK(cudaMemcpy(own + 1, device, sizeof(int), cudaMemcpyDefault));
    EXPECT(own[1] == 8);
    return 0;
}
