# compile_commands.json, for clangd (.clangd) and other editors. It contains the path of this clone, so it is generated and
# not committed.

editor_c    = $(wildcard common/*.c common/*/*.c simulator/*/*.c simulator/*/*/*.c teach/*.c post/*.c tests/harness/*.c tests/simulator/*.c tests/teach/*.c)
editor_cuda = $(wildcard lessons/*/*.cu solutions/*/*.cu baselines/*.cu common/runner/*.cu)
# clang only parses the toolkit's headers; it may be older than the toolkit.
editor_nvcc = clang++ -x cuda --cuda-path=$(CUDA) --no-cuda-version-check -Wno-unknown-cuda-version -nocudalib \
              --cuda-gpu-arch=sm_80 -std=c++20 -Icommon -Wall -Wextra -Wno-missing-field-initializers
editor_gcc  = $(CC) $(CPPFLAGS) $(CFLAGS) $(if $(filter simulator/%,$1),$(SIMULATOR_CFLAGS) $(AVX2))
# $(call editor_entry,file,command)
editor_entry = {"directory": "$(subst ",\",$(CURDIR))", "file": "$1", "command": "$(strip $2) -c $1"}

.PHONY: compile_commands.json
compile_commands.json:
	$(shell rm -f $@.new)$(foreach f,$(editor_c),$(file >>$@.new,$(call editor_entry,$f,$(call editor_gcc,$f))))\
	$(foreach f,$(editor_cuda),$(file >>$@.new,$(call editor_entry,$f,$(editor_nvcc))))
	{ echo '['; sed '$$!s/$$/,/' $@.new; echo ']'; } >$@.$$$$ && mv $@.$$$$ $@; rm -f $@.new
