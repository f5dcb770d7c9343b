# build/simulator/ptx-dump FILE.ptx prints what the front end makes of a PTX file: operands, slots, layout.
build/simulator/ptx-dump: build/objects/simulator/ptx/tools/dump.o $(call objects,simulator/ptx)
	$(call link)
