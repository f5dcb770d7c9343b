# PTX of the kernels that tests/simulator/test_exec_*.c run.
exec_ptx := $(patsubst tests/simulator/%.cu,build/exec/%.ptx,$(wildcard tests/simulator/exec_*.cu))

build/exec/%.ptx: tests/simulator/%.cu build/flags
	mkdir -p $(@D)
	$(NVCC) -ptx -lineinfo -std=c++20 -arch=compute_90 -o $@.$$$$ $< && mv $@.$$$$ $@

exec_tests := $(patsubst %.c,%,$(wildcard tests/simulator/test_exec_*.c))
$(exec_tests:%=build/%) $(exec_tests:%=build/sanitized/%): | $(exec_ptx)
