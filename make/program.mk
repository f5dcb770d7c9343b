# Runs any CUDA program on the simulator: make run PROGRAM=file.cu ARGS='...'. The binary is in build/programs/.

# The simulated GPU determines the PTX target of the program: compute_90a has all features of an H200.
ptx_of_a100       := compute_80
ptx_of_rtx4090    := compute_89
ptx_of_t4         := compute_75
program_ptx       := $(or $(ptx_of_$(SIMULATOR_DEVICE)),compute_90a)
program_arguments  = $(call shell_quote,$(value PROGRAM)) $(call shell_quote,$(value FLAGS)) $(call shell_quote,$(value ARGS))

ifneq (,$(filter run,$(goals)))
  $(if $(filter-out run,$(goals)),$(error run cannot be combined with other goals: make run PROGRAM=file.cu))
  $(if $(filter gpu,$(DEVICE)),$(error run uses the simulator: omit DEVICE; to run on a GPU, build the program with nvcc))
  run_refusal := $(shell scripts/run-program --validate $(program_arguments))
  $(if $(run_refusal),$(error $(run_refusal)))
  $(if $(V)$(wildcard $(simulator_library)),,$(info Building the simulator (once)))
else ifneq (,$(PROGRAM)$(FLAGS)$(ARGS))
  $(foreach v,PROGRAM FLAGS ARGS,$(if $(call from_command_line,$v),$(error $v=$(value $v) is an option of run: make run PROGRAM=file.cu)))
endif

run: $(simulator_library)
	exec scripts/run-program $(NVCC) $(program_ptx) $(<D) $(program_arguments)
