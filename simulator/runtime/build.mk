# The calls of NVIDIA's library that the simulator does not have: see scripts/cudart-stubs.
simulator_stubs := build/simulator/stubs.c

$(simulator_stubs): scripts/cudart-stubs build/flags
	mkdir -p $(@D)
	scripts/cudart-stubs $(CUDA_LIB)/libcudart.so.$(CUDA_MAJOR) >$@.$$$$ && mv $@.$$$$ $@

$(simulator_library): $(simulator_stubs:%.c=build/objects/%.o)
