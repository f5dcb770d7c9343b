# build/simulator/ptx-dump FILE prints what the front end makes of PTX: operands, slots, layout.
build/simulator/ptx-dump: build/objects/simulator/ptx/tools/dump.o $(call objects,simulator/ptx simulator/fatbin)
	$(call link,,-lzstd)
