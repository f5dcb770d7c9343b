# PTX of the kernels that tests/simulator/test_exec_*.c run.
exec_ptx := $(patsubst tests/simulator/%.cu,build/exec/%.ptx,$(wildcard tests/simulator/exec_*.cu))

build/exec/%.ptx: tests/simulator/%.cu build/flags
	mkdir -p $(@D)
	$(NVCC) -ptx -lineinfo -std=c++20 -arch=compute_90 -o $@.$$$$ $< && mv $@.$$$$ $@

exec_tests := $(patsubst %.c,%,$(wildcard tests/simulator/test_exec_*.c))
$(exec_tests:%=build/%) $(exec_tests:%=build/sanitized/%): | $(exec_ptx)

# The speed of the interpreter: make build/tests/speed/simulator && build/tests/speed/simulator
build/tests/speed/attention.ptx: tests/speed/attention.cu build/flags
	mkdir -p $(@D)
	$(NVCC) -ptx -lineinfo -std=c++20 -arch=compute_90 -o $@.$$$$ $< && mv $@.$$$$ $@

build/tests/speed/simulator: build/objects/tests/speed/simulator.o build/objects/tests/simulator/exec_driver.o \
    $(simulator_objects:%=build/objects/%) | build/tests/speed/attention.ptx
	$(call link,,-lzstd -ldl -lm)
