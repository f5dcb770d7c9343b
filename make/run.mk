# The actions: how a lesson that is built is checked, timed, traced, compared and started afresh.

harness := build/bin/attention build/bin/runner $(simulator_library)

# A user's text on a shell's command line.
quoted  = '$(subst ','\'',$1)'
option  = $(if $2,$1 $(call quoted,$2))
options = $(call option,--device,$(DEVICE)) $(call option,--shape,$(SHAPE)) $(if $(filter 1,$(CAUSAL)),--causal) \
          $(call option,--data,$(DATA)) $(call option,--seed,$(SEED)) $(call option,--time-limit,$(TIME_LIMIT))

# Of lesson-03, or of `kernel`, which stands for KERNEL=file.cu: its name in what is printed, and the sources that an
# action works on. A shape of two numbers is a matrix for softmax.cu; one of four, data and a mask are for attention.cu.
name    = $(if $(filter kernel,$1),kernel-$(notdir $(KERNEL)),$(call title,$1))
sources = $(if $(filter kernel,$1),$(KERNEL),$(or $(filter-out $(left_out),$(files)),$(files)))
left_out := $(if $(DATA)$(filter 1,$(CAUSAL)),%/softmax.cu)\
            $(if $(SHAPE),$(if $(filter 2,$(words $(subst $(comma), ,$(SHAPE)))),%/attention.cu,%/softmax.cu))
library = $(if $(filter $(KERNEL),$1),$(kernel_library),$(1:%.cu=build/kernels/%.so))
described = --name $(call name,$1) --source $2 --kernel $(call library,$2)

# A file that is not there is said before anything is built.
used    := $(if $(filter $(actions),$(asked)),$(filter-out kernel,$(if $(filter check,$(asked)),$(checked),$(chosen))))
missing := $(if $(filter-out reset,$(asked)),$(strip $(foreach u,$(used),$(if $(KERNEL),,\
           $(foreach f,$(call files,$u),$(if $(wildcard $f),,$u $f))))))
ifneq (,$(missing))
$(error $(word 2,$(missing)) is missing; get it back with \
$(if $(filter lesson-%,$(missing)),make $(firstword $(missing)) reset,git checkout $(word 2,$(missing))))
endif

# ---- check: one kernel after the other, the second one too where the first fails -------------------------------------

define check_rule
.PHONY: $1/check
$1/check: $(foreach s,$(call sources,$1),$(call library,$s)) $(harness)
	status=0; $(foreach s,$(call sources,$1),\
	scripts/alone build/.running build/bin/attention check $(call described,$1,$s) $$(options) || status=$$$$?;)\
	exit $$$$status
endef
$(foreach u,$(sort $(checked) $(solutions)),$(eval $(call check_rule,$u)))

.PHONY: check-solutions
check-solutions: $(solutions:%=%/check)

# ---- bench: what is asked for beside lesson 01 and the lesson before it, in one interleaved run ----------------------

follows := $(join $(addsuffix <,$(wordlist 2,99,$(numbers))),$(numbers))
before   = $(patsubst $(number)<%,solution-%,$(filter $(number)<%,$(follows)))
wanted  := $(sort $(firstword $(solutions)) $(foreach u,$(benched) $(chosen),$(call before,$u)) $(benched))
ladder  := $(foreach n,$(numbers),$(filter solution-$n,$(wanted)) $(filter lesson-$n,$(wanted))) $(filter kernel,$(wanted))

ifneq (,$(filter bench,$(asked)))
  # A kernel file is timed as what it defines. Lesson 03's row softmax has its own rival, the five passes.
  kernel_softmax := $(if $(KERNEL),$(shell grep -l softmax_forward $(KERNEL)))
  attention_of    = $(filter-out %/softmax.cu $(kernel_softmax),$(call sources,$1))
  softmax_of      = $(filter %/softmax.cu $(kernel_softmax),$(call sources,$1))
  attention_runs := $(if $(kernel_softmax),,$(foreach u,$(ladder),$(call described,$u,$(call attention_of,$u))))
  softmax_runs   := $(foreach u,$(benched),$(if $(call softmax_of,$u),$(call described,$u,$(call softmax_of,$u))))
  unfused        := $(wildcard solutions/*/unfused_softmax.cu)
  softmax_runs   := $(if $(softmax_runs),--name unfused_softmax --source $(unfused) \
                    --kernel $(call library,$(unfused)) $(softmax_runs))
endif
time = scripts/alone build/.running build/bin/attention bench $1 $(options) --results $(RESULTS) --commit $(commit)
commit = $(or $(shell git describe --always --dirty --exclude '*' 2>/dev/null),none)

.PHONY: run-bench
run-bench: $(filter %.so,$(attention_runs) $(softmax_runs)) $(harness)
	status=0; \
	$(if $(attention_runs),$(call time,$(attention_runs)) || status=$$?;) \
	$(if $(softmax_runs),$(call time,$(softmax_runs)) || status=$$?;) \
	exit $$status

# ---- trace, profile: memory traffic, counted by the simulator and by a GPU --------------------------------------------

profiled := l1tex__t_requests_pipe_lsu_mem_global_op_ld.sum l1tex__t_sectors_pipe_lsu_mem_global_op_ld.sum \
            l1tex__t_requests_pipe_lsu_mem_global_op_st.sum l1tex__t_sectors_pipe_lsu_mem_global_op_st.sum \
            smsp__inst_executed_op_shared_ld.sum smsp__inst_executed_op_shared_st.sum \
            l1tex__data_bank_conflicts_pipe_lsu_mem_shared_op_ld.sum l1tex__data_bank_conflicts_pipe_lsu_mem_shared_op_st.sum \
            dram__bytes_read.sum dram__bytes_write.sum sm__warps_active.avg.pct_of_peak_sustained_active
space := $() $()

ifneq (,$(and $(filter profile,$(asked)),$(if $(shell command -v ncu),,absent)))
$(error ncu is not installed; it comes with the CUDA Toolkit, as Nsight Compute)
endif

define look_rules
.PHONY: $1/trace $1/profile
$1/trace: $(foreach s,$(call sources,$1),$(call library,$s)) $(harness)
	$(foreach s,$(call sources,$1),scripts/alone build/.running scripts/trace $(call described,$1,$s) $$(options) &&) :
$1/profile: $(foreach s,$(call sources,$1),$(call library,$s)) $(harness)
	$(foreach s,$(call sources,$1),scripts/alone build/.running ncu --target-processes all \
	    --metrics $(subst $(space),$(comma),$(strip $(profiled))) build/bin/attention check $(call described,$1,$s) \
	    --device gpu --shape $(or $(SHAPE),1$(comma)16$(comma)1024$(comma)64) --time-limit $(or $(TIME_LIMIT),600) &&) :
endef
$(foreach u,$(checked),$(eval $(call look_rules,$u)))

# ---- diff, reset: a lesson against its solution, a solution against the one before it ---------------------------------

define file_rules
.PHONY: $1/diff $1/reset
$1/diff:
	$(foreach s,$(call files,$1),scripts/diff $s $(call compared,$1,$(notdir $s));)
$1/reset:
	$(foreach s,$(call files,$1),scripts/reset $(s:lessons/%=solutions/%) $s &&) :
endef
compared = $(wildcard $(if $(filter lesson,$(call kind,$1)),$(call solution,$1),$(call folder,$(call before,$1)))/$2)
$(foreach u,$(chosen),$(eval $(call file_rules,$u)))
