# The line `// architecture: sm_80` of a kernel file names the GPUs that it supports (teach/architecture.c). If the user
# requests a GPU that cannot run the file, make stops before anything is built; without DEVICE the simulator runs the file,
# and a line reports that.

gpu_actions := $(filter bench profile peers,$(selected_actions))
ifneq (,$(filter all check bench trace explore profile peers repair,$(goals)))
  unit_files    = $(if $(filter kernel,$1),$(KERNEL),$(files))
  kernel_files := $(sort $(wildcard solutions/*/*.cu baselines/*.cu common/runner/*.cu) \
                  $(foreach u,$(checked_units) $(benched_units),$(call unit_files,$u) $(wildcard $(call folder,$u)/repaired.cu)))
  architecture_facts        := $(shell scripts/architecture facts $(call shell_quote,$(cuda)) $(kernel_files))
endif
# $(call devices_of,file): those of gpu and sim that can run the file, or none; wrong if its architecture line is wrong.
devices_of = $(or $(subst $(comma), ,$(lastword $(subst |, ,$(filter $1|%,$(architecture_facts))))),gpu sim)
architecture_reason   = $(shell scripts/architecture why $(call shell_quote,$(cuda)) $1)

# $(call device_of,file): the option --device of a check; $(call report_simulated,unit,file): the line that reports it.
simulated_only = $(if $(DEVICE),,$(filter sim,$(firstword $(call devices_of,$1))))
device_of      = $(if $(call simulated_only,$1),--device sim)
report_simulated    = $(if $(call simulated_only,$2),echo $(call shell_quote,$(name) runs on the simulator: $(call architecture_reason,$2));)

# $(call filter_gpu_files,files): the files that the local GPU can run; each of the others is reported.
filter_gpu_files = $(foreach s,$1,$(if $(filter-out gpu,$(firstword $(call devices_of,$s))),$(info $s is skipped: $(call architecture_reason,$s)),$s))

# A selected file that cannot run on the requested device is an error.
refuse_on = $(error $2 cannot run on $1: $(call architecture_reason,$2)$3 [unsupported-architecture])
simulator_hint  := $(if $(gpu_actions),,; omit DEVICE to run it on the simulator)
require_device   = $(if $(filter wrong,$(call devices_of,$1)),$(error $(call architecture_reason,$1)))\
             $(if $(gpu_actions)$(filter gpu,$(DEVICE)),$(if $(filter gpu,$(call devices_of,$1)),,\
                 $(call refuse_on,the local GPU,$1,$(if $(filter sim,$(call devices_of,$1)),$(simulator_hint)))))\
             $(if $(filter sim,$(DEVICE))$(filter trace explore,$(selected_actions)),$(if $(filter sim,$(call devices_of,$1)),,\
                 $(call refuse_on,the simulator,$1)))\
             $(if $(filter none,$(call devices_of,$1)),$(call refuse_on,the local GPU or the simulator,$1))
units_to_run := $(if $(filter all,$(goals)),$(solutions)) $(if $(filter check,$(selected_actions)),$(checked_units)) \
               $(if $(filter bench trace explore profile peers,$(selected_actions)),$(if $(KERNEL),kernel,$(selected_lessons)))
files_to_run := $(sort $(foreach u,$(units_to_run),$(call unit_files,$u)) \
               $(if $(filter repair,$(selected_actions)),$(foreach u,$(selected_lessons),\
               $(or $(wildcard $(call folder,$u)/repaired.cu),$(call solution,$u)/attention.cu))))
$(foreach s,$(files_to_run),$(call require_device,$s))
