# The stand-in for NCCL, which runs on the simulator alone: what it needs of it is found when it is loaded.
simulator_nccl := build/simulator/libnccl.so.2

$(simulator_nccl): $(patsubst %.c,build/objects/%.o,$(wildcard simulator/nccl/*.c))
	$(call link,-shared -Wl$(comma)-soname$(comma)$(@F))

$(simulator_library): | $(simulator_nccl)
