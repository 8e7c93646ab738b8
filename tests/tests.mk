# Tests.  A C test says in its first lines what it links: "links: shared/text.c" and "libs: -lsodium".
SAN = -fsanitize=address,undefined -fno-sanitize-recover=all -fno-omit-frame-pointer
links = $(shell sed -n 's/.*links: *//p' $(1) | sed 's/ \*\/$$//')
libs = $(shell sed -n 's/.*libs: *//p' $(1) | sed 's/ \*\/$$//')
UNITS = $(patsubst tests/unit/%.c,%,$(wildcard tests/unit/*.c))

define unit
$(BUILD)/unit/$(1): tests/unit/$(1).c $(call links,tests/unit/$(1).c) $(wildcard shared/*.h shared/*.def)
	@mkdir -p $$(@D)
	$(CC) $(BASE) -O1 -g $(SAN) -iquote shared $(addprefix -iquote ,$(sort $(dir $(call links,tests/unit/$(1).c)))) -iquote tests/support -o $$@ \
	    tests/unit/$(1).c $(call links,tests/unit/$(1).c) -lcmocka $(call libs,tests/unit/$(1).c)
endef
$(foreach u,$(UNITS),$(eval $(call unit,$u)))

# `make unit` builds and runs the unit tests; `make unit UNITS=text` one of them.
unit: $(addprefix $(BUILD)/unit/,$(UNITS))
	@set -e; for u in $^; do echo "# $$u"; $$u; done

.PHONY: unit
