# The actions on a built lesson: check, bench, trace, profile, explore, diff, reset.

harness := build/bin/attention build/bin/runner $(simulator_library)
.PHONY: build/harness
build/harness: $(harness)

# For a unit (lesson-03, or `kernel` for KERNEL=file.cu): its name in the output, the sources that an action runs, and their
# libraries. A SHAPE of two numbers is a matrix and selects softmax.cu; any other SHAPE, DATA and CAUSAL select attention.cu.
shape_is_matrix    := $(filter 2,$(words $(subst $(comma), ,$(SHAPE))))
filter_by_part       = $(if $(PART),$(filter %/$(PART).cu,$1),$1)
filter_by_shape      = $(if $(shape_is_matrix),$(filter-out %/attention.cu,$1),$(if $(SHAPE)$(DATA)$(filter 1,$(CAUSAL)),$(filter %/attention.cu,$1),$1))
name       = $(if $(filter kernel,$1),kernel-$(notdir $(KERNEL)),$(call title,$1))
sources    = $(if $(filter kernel,$1),$(KERNEL),$(call filter_by_part,$(or $(call filter_by_shape,$(files)),$(files))))
$(if $(PART),$(foreach u,$(selected_lessons),$(if $(call sources,$u),,$(error PART=$(PART) and SHAPE=$(SHAPE) conflict: SHAPE of this part is \
$(if $(shape_is_matrix),B$(comma)H$(comma)N$(comma)D,ROWS$(comma)COLUMNS) [conflict]))))
library    = $(if $(filter $(KERNEL),$1),$(kernel_library),$(1:%.cu=build/kernels/%.so))
libraries  = $(foreach s,$(sources),$(call library,$s))
# The operation of a file is its name, attention.cu or softmax.cu; for KERNEL=, the name of the function that it defines.
defined_operation   := $(if $(KERNEL),$(shell sed -n 's/^.*cudaError_t  *\([a-z0-9_]*\)_forward[^a-z0-9_].*/\1/p' $(KERNEL)))
operation  = $(if $(filter $(KERNEL),$1),$(or $(firstword $(defined_operation)),attention),$(basename $(notdir $1)))

# $(call run_exclusively,commands): only one recipe runs kernels at a time, so that timings are undisturbed and output lines do
# not mix. The recipes of one make stand in a queue of their own, and only its first waits for another make. The line of
# scripts/progress is erased.
run_exclusively = exec 8>build/runs/$(BUILD_RUN)/queue; flock 8; \
    exec 9>build/.running; flock -w 5 9 || { echo 'waiting for another run to finish' >&2; flock 9; }; \
    [ ! -t 2 ] || printf '\r\033[K' >&2; ($1) 8>&- 9>&-
kernel_options = --name $(name) --source $2 --kernel $(call library,$2)

# ---- check: one kernel after the other; a failure does not stop the others -------------------------------------

# If a lesson has several files, each has its own verdict: lesson-03_fused_softmax/softmax.
verdict_name = $(name)$(if $(word 2,$(files)),/$(basename $(notdir $2)))

# The outcome of a lesson's check is recorded for make progress.
partial_check  := $(strip $(SHAPE)$(DATA)$(DTYPE)$(INPUTS)$(LAYOUT)$(SCALE)$(filter 1,$(QUICK) $(CAUSAL)))
record_command  = $(if $(filter lesson-%,$1),build/bin/teach record $2 $(if $(partial_check),part,whole))

define check_rule
.PHONY: $1/check
$1/check: $(libraries) $(harness) $(if $(filter lesson-%,$1),build/bin/teach)
	$(call run_exclusively,status=0; $(foreach s,$(sources),$(if $(word 2,$(sources)),echo '$s:';) $(call report_simulated,$1,$s) \
	    { $(call record_command,$1,$s) build/bin/attention check --name $(call verdict_name,$1,$s) --source $s --kernel $(call library,$s) $(call device_of,$s) $$(options) $$(call option,--out,$$(OUT)) \
	    $(if $(filter lesson-%,$1),$(if $(partial_check),,&& build/bin/teach compare $(call kernel_options,$1,$s))); } || \
	    status=$$$$?;) \
	    exit $$$$status)
endef
$(foreach u,$(sort $(checked_units) $(solutions)),$(eval $(call check_rule,$u)))

.PHONY: check-solutions
check-solutions: $(solutions:%=%/check)

# ---- bench: selected units, lesson 01 and the previous solution as baselines, interleaved in one run ----------------------

previous_numbers := $(join $(addsuffix <,$(wordlist 2,99,$(numbers))),$(numbers))
previous_solution   = $(patsubst $(number)<%,solution-%,$(filter $(number)<%,$(previous_numbers)))
bench_units  := $(sort $(firstword $(solutions)) $(foreach u,$(benched_units) $(selected_lessons),$(call previous_solution,$u)) $(benched_units))
ladder  := $(foreach n,$(numbers),$(filter solution-$n,$(bench_units)) $(filter lesson-$n,$(bench_units))) $(filter kernel,$(bench_units))

ifneq (,$(filter bench,$(selected_actions)))
  # The whole ladder is timed together with baselines/.
  baselines      := $(if $(selected_lessons)$(KERNEL),,$(wildcard baselines/*.cu))
  runnable_files     := $(call filter_gpu_files,$(sort $(foreach u,$(ladder) $(benched_units),$(call sources,$u)) $(baselines)))
  timed_files     = $(filter $(runnable_files),$(sources))
  attention_of    = $(foreach s,$(timed_files),$(if $(filter attention,$(call operation,$s)),$s))
  others_of       = $(foreach s,$(timed_files),$(if $(filter attention,$(call operation,$s)),,$s))
  file_options            = --name $1$(basename $(notdir $2)) --source $2 --kernel $(call library,$2)
  attention_runs := $(if $(shape_is_matrix)$(if $(KERNEL),$(call others_of,kernel)),,\
                    $(foreach u,$(ladder),$(foreach s,$(call attention_of,$u),$(call kernel_options,$u,$s))))
  attention_runs += $(if $(attention_runs),$(foreach s,$(filter $(runnable_files),$(baselines)),$(call file_options,baseline-,$s)))
  # The baseline of another file of a lesson is the file without blanks that computes the same: unfused_softmax.cu for softmax.cu.
  baselines_of       = $(filter-out $(solutions_with_blanks),$(wildcard solutions/*/*_$(operation).cu))
  operation_baselines         := $(sort $(foreach u,$(benched_units),$(foreach s,$(call others_of,$u),$(call baselines_of,$s))))
  other_runs     := $(foreach s,$(call filter_gpu_files,$(operation_baselines)),$(call file_options,,$s)) \
                    $(foreach u,$(benched_units),$(foreach s,$(call others_of,$u),$(call kernel_options,$u,$s)))
endif
# The GPU's ceilings are measured together with the ladder's sizes, but not for a user's SHAPE.
ceilings     := $(if $(attention_runs),$(if $(SHAPE),,$(patsubst %.cu,build/kernels/%.so,\
                $(call filter_gpu_files,common/runner/ceilings.cu))))
bench_options = $(options) $(call option,--sizes,$(SIZES)) $(call option,--ceilings,$(ceilings)) \
                --results $(call shell_quote,$(RESULTS)) --state build/bench $(if $(filter 1,$(LSE)),--lse) $(if $(filter 1,$(FRESH)),--fresh)
# Ceilings of the tensor cores are next to the ceiling of the copy; bench reports those that this GPU does not support.
ceiling_all  := $(if $(ceilings),$(patsubst %.cu,build/kernels/%.so,$(wildcard common/runner/ceiling*.cu)))
timed_libraries        := $(filter %.so,$(attention_runs) $(other_runs)) $(ceiling_all)

built_after_launcher = $(filter-out $(call objects,common common/launcher),$(call objects,common/host common/operations common/runner) \
                  $(simulator_objects:%=build/objects/%) $(patsubst %.c,build/objects/%.o,$(wildcard simulator/nccl/*.c))) $(simulator_stubs:%.c=build/objects/%.o) $(simulator_stubs) \
                  build/simulator/exports.map
$(if $(ready),$(eval $(built_after_launcher): | ready))

# --sample names the action, since trace and explore run on the simulator only, and profile on a GPU only.
ready_check = build/bin/attention check --ready $(options) $1 &&
.PHONY: ready
ready: build/bin/attention
	$(if $(bench_first),build/bin/attention bench --ready $(bench_options) &&) \
	$(if $(check_first),$(if $(filter all check repair,$(goals)),$(ready_check)) \
	    $(foreach a,$(filter trace explore profile,$(selected_actions)),$(call ready_check,--sample $a $(if $(filter profile,$a),--device gpu)))) :

.PHONY: run-bench
run-bench: $(timed_libraries) $(harness)
	$(call run_exclusively,commit=$$(scripts/commit $(timed_libraries)) || exit 2; \
	    build/bin/attention bench $(attention_runs) $(other_runs) $(bench_options) --commit "$$commit")

# ---- trace, profile: memory traffic, counted by the simulator and by a GPU --------------------------------------------

# Without SHAPE, the operation itself has a default shape for each.
define trace_rules
.PHONY: $1/trace $1/profile
$1/trace: $(libraries) $(harness) build/bin/teach
	$(call run_exclusively,$(foreach s,$(sources),build/bin/teach trace $(call kernel_options,$1,$s) $$(options) &&) :)
$1/profile: $(libraries) $(harness)
	$(call run_exclusively,$(foreach s,$(sources),scripts/profile build/bin/attention check $(call kernel_options,$1,$s) \
	    --device gpu --time-limit $(or $(TIME_LIMIT),600) $(if $(filter 1,$(CAUSAL)),--causal) \
	    $(call option,--shape,$(SHAPE)) --sample profile &&) :)
endef
$(foreach u,$(checked_units),$(eval $(call trace_rules,$u)))

# ---- explore: a page that shows what each lane does ---------------------------------------------------------------------------

# Next to a lesson explore shows its solution, or the unit in BESIDE: the file of the same name, if that unit has it.
beside_unit = $(filter-out none,$(or $(BESIDE),$(if $(filter lesson,$(call kind,$1)),$(1:lesson-%=solution-%))))
beside_file = $(foreach u,$(beside_unit),$(wildcard $(call folder,$u)/$(if $(filter kernel,$1),attention.cu,$(notdir $2))))
beside_name = $(foreach u,$(beside_unit),$(call title,$u))
report_shown_alone = $(if $(call beside_unit,$1),$(if $(call beside_file,$1,$2),,echo '$(call beside_name,$1) has no $(notdir $2): the kernel is shown alone';))
beside      = $(foreach s,$(call beside_file,$1,$2),--beside $(call beside_name,$1) $s $(s:%.cu=build/kernels/%.so))

define explore_rule
.PHONY: $1/explore
$1/explore: $(libraries) $(foreach s,$(sources),$(patsubst %.cu,build/kernels/%.so,$(call beside_file,$1,$s))) $(harness) \
    build/bin/teach
	$(call run_exclusively,status=0; $(foreach s,$(sources),$(call report_shown_alone,$1,$s) build/bin/teach explore $(call kernel_options,$1,$s) $(call beside,$1,$s) \
	    $$(options) || status=$$$$?;) exit $$$$status)
endef
ifneq (,$(filter explore,$(selected_actions)))
$(foreach u,$(checked_units),$(eval $(call explore_rule,$u)))
endif

# ---- diff, reset: a lesson compared with its solution, a solution compared with the previous one ---------------------------------

define file_rules
.PHONY: $1/diff $1/reset
$1/diff: $(if $(filter solution,$(call kind,$1)),build/bin/teach)
	$(foreach s,$(call files,$1),scripts/diff $(call diff_order,$1,$s,$(call diff_counterpart,$1,$(notdir $s)));)
$1/reset: build/bin/teach
	$(foreach s,$(call files,$1),scripts/reset $(s:lessons/%=solutions/%) $s &&) :
endef
# The diff leads from the learner's file, or from the previous solution, to the solution.
diff_order = $(if $3,$(if $(filter lesson,$(call kind,$1)),$2 $3,$3 $2),$2)
diff_counterpart = $(wildcard $(if $(filter lesson,$(call kind,$1)),$(call solution,$1),$(call folder,$(call previous_solution,$1)))/$2)
$(foreach u,$(selected_lessons),$(eval $(call file_rules,$u)))
