# Any CUDA program on the simulator: make run PROGRAM=file.cu ARGS='...'. What is built goes to build/programs/.

# The GPU that the simulator is says which PTX a program needs: compute_90a has all that an H200 can do.
ptx_of_a100       := compute_80
ptx_of_rtx4090    := compute_89
ptx_of_t4         := compute_75
program_ptx       := $(or $(ptx_of_$(SIMULATOR_DEVICE)),compute_90a)
program_words      = $(call quoted,$(value PROGRAM)) $(call quoted,$(value FLAGS)) $(call quoted,$(value ARGS))

ifneq (,$(filter run,$(goals)))
  $(if $(filter-out run,$(goals)),$(error run goes alone: make run PROGRAM=file.cu))
  $(if $(filter gpu,$(DEVICE)),$(error run is for the simulator: leave DEVICE out; for a GPU build the program with nvcc))
  unfit := $(shell scripts/run-program --refusal $(program_words))
  $(if $(unfit),$(error $(unfit)))
  $(if $(V)$(wildcard $(simulator_library)),,$(info Building the simulator; once, about a minute))
else ifneq (,$(PROGRAM)$(FLAGS)$(ARGS))
  $(foreach v,PROGRAM FLAGS ARGS,$(if $(call given,$v),$(error $v=$(value $v) goes with run: make run PROGRAM=file.cu)))
endif

run: $(simulator_library)
	exec scripts/run-program $(NVCC) $(program_ptx) $(<D) $(program_words)
