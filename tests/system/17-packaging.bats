#!/usr/bin/env bats
# What is delivered: installed files, units, accounts, man pages, completions, the sample policy.

load ../support/workspace

# Into DESTDIR with the prefix the binaries were built for, so that nothing is built anew.
install_into() {
	make -s --no-print-directory -C "$ROOT" BUILD="$BUILD_DIR" DESTDIR="$1" install
}

@test "install puts each program in its place, uninstall takes everything away again" {
	local top=$BATS_TEST_TMPDIR/dest
	install_into "$top"
	[ -x "$top/usr/bin/agent-safe" ]
	for program in broker launch executor keeper auditor; do
		[ -x "$top/usr/libexec/agent-safe/agent-safe-$program" ]
		[ ! -e "$top/usr/bin/agent-safe-$program" ]
	done
	"$top/usr/bin/agent-safe-audit-verify" --version
	"$top/usr/bin/agent-safe" --version
	[ -s "$top/usr/share/man/man1/agent-safe.1" ]
	# Where the parser can read it; else it is documentation.
	if [ -e /etc/apparmor.d/abi/4.0 ]; then
		[ -s "$top/etc/apparmor.d/agent-safe" ]
	else
		[ -s "$top/usr/share/doc/agent-safe/apparmor/agent-safe" ] && [ ! -e "$top/etc/apparmor.d" ]
	fi
	[ -z "$(find "$top" -type f -perm /022)" ]
	make -s --no-print-directory -C "$ROOT" BUILD="$BUILD_DIR" DESTDIR="$top" uninstall
	[ -z "$(find "$top" ! -type d)" ]
}

@test "man pages are free of faults" {
	command -v mandoc >/dev/null || skip "mandoc is not installed"
	mandoc -T lint -W warning "$ROOT"/packaging/man/*
}

@test "the unit is accepted by systemd, without a warning" {
	command -v systemd-analyze >/dev/null || skip "systemd-analyze is not installed"
	local top=$BATS_TEST_TMPDIR/root
	install_into "$top"
	mkdir -p "$top/etc"
	cp -rn /usr/lib/systemd/system/*.target /usr/lib/systemd/system/-.slice "$top/usr/lib/systemd/system/" 2>/dev/null || true
	run systemd-analyze verify --man=no --root="$top" agent-safe.service
	echo "$output"
	[ "$status" = 0 ]
	[ -z "$(grep agent-safe <<<"$output")" ]
}

# Offline: nothing is loaded.  A parser before 4.0 (Debian 12 has 3.0) knows neither abi 4.0 nor userns; it reads the rest.
@test "the AppArmor profile is accepted, allows user namespaces, and names every program that makes one" {
	local profile=$ROOT/packaging/apparmor/agent-safe program
	command -v apparmor_parser >/dev/null || skip "apparmor_parser is not installed"
	grep -qxF '	userns,' "$profile"
	if apparmor_parser --version | grep -qE 'version [4-9]'; then
		apparmor_parser -Q -K "$profile"
	else
		sed '/abi <abi/d; /^	userns,/d' "$profile" >"$BATS_TEST_TMPDIR/older"
		apparmor_parser -Q -K "$BATS_TEST_TMPDIR/older"
	fi
	# Each that confines itself with confine_privileges() makes one when an ordinary user starts it.
	for program in $(make -s --no-print-directory -C "$ROOT" rows | awk '{ print $2 }'); do
		case /usr/libexec/agent-safe/$program in
		/usr/libexec/agent-safe/agent-safe | /usr/libexec/agent-safe/agent-safe-*) ;;
		*) echo "$program is not named"; return 1 ;;
		esac
	done
	refute apparmor_parser -Q -K <(sed '/abi <abi/d; s/^	userns,/	no such rule,/' "$profile")
}

@test "accounts and folders are accepted by sysusers and tmpfiles" {
	command -v systemd-sysusers >/dev/null || skip "systemd-sysusers is not installed"
	command -v systemd-tmpfiles >/dev/null || skip "systemd-tmpfiles is not installed"
	local top=$BATS_TEST_TMPDIR/root account
	mkdir -p "$top/etc" "$top/usr/lib/sysusers.d" "$top/usr/lib/tmpfiles.d"
	cp "$ROOT/packaging/sysusers.d/agent-safe.conf" "$top/usr/lib/sysusers.d/"
	cp "$ROOT/packaging/tmpfiles.d/agent-safe.conf" "$top/usr/lib/tmpfiles.d/"
	systemd-sysusers --root="$top"
	for account in agent-safe agent-safe-exec agent-safe-audit agent-safe-courier; do
		grep -q "^$account:" "$top/etc/passwd"
	done
	for account in agent-safe-propose agent-safe-operate; do
		grep -q "^$account:" "$top/etc/group"
	done
	systemd-tmpfiles --root="$top" --create
	[ "$(stat -c %a "$top/var/lib/agent-safe")" = 711 ]
}

@test "the sample policy is accepted, and so is what init-policy writes" {
	"$BUILD_DIR/agent-safe" --policy "$ROOT/packaging/policy.json" --json check-policy | jq -e .valid
	cd "$BATS_TEST_TMPDIR"
	"$BUILD_DIR/agent-safe" --json init-policy
	"$BUILD_DIR/agent-safe" --policy "$BATS_TEST_TMPDIR/agent-safe-policy.json" --json check-policy | jq -e .valid
}

@test "the completion knows every command that help lists" {
	local command
	for command in $("$BUILD_DIR/agent-safe" --help | awk '/^Commands:/ { on = 1; next } /^[^ ]/ { on = 0 } on && NF { print $1 }'); do
		[ "$command" = dial-stdio ] && continue # for -H only
		grep -qE "\b$command\b" "$ROOT/packaging/completions/agent-safe" || { echo "bash: $command"; false; }
		grep -qE "\b$command\b" "$ROOT/packaging/completions/_agent-safe" || { echo "zsh: $command"; false; }
		grep -qE "\b$command\b" "$ROOT/packaging/man/agent-safe.1" || { echo "man: $command"; false; }
	done
	bash -c 'source "$1"; COMP_WORDS=(agent-safe ru); COMP_CWORD=1; _agent_safe; [ "${COMPREPLY[*]}" = run ]' - \
	    "$ROOT/packaging/completions/agent-safe"
}

@test "the commands of README are commands" {
	local command
	for command in $(grep -oE '^(\$ )?agent-safe( -[^ ]+)* [a-z-]+' "$ROOT/README.md" | awk '{ print $NF }' | sort -u); do
		"$BUILD_DIR/agent-safe" help "$command" >/dev/null || { echo "$command"; false; }
	done
}
