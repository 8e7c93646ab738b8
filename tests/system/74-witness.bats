#!/usr/bin/env bats
# The witness on its own: what it cosigns and what not, by bodies that another program makes (tests/support/notes.py).

load ../support/workspace

NOTES="python3 -B $ROOT/tests/support/notes.py"
LOG=example.org/log

setup() {
	TOP=$(mktemp -d "${TMPDIR:-/tmp}/agentsafetestXXXXXXXX")
	W=$TOP/w
	WITNESS=$BUILD_DIR/agent-safe-witness
	VKEY=$("$WITNESS" init "$W" example.org/witness)
	"$WITNESS" trust "$W" "$($NOTES vkey $LOG seed)"
}

teardown() { rm -rf "$TOP"; }

# body OLD SIZE [SALT [WRONG]]; LEAVES: how many the log has
body() { $NOTES body $LOG seed "${LEAVES:-$2}" "$@" >"$TOP/body"; }

add() { "$WITNESS" add "$W" <"$TOP/body" >"$TOP/answer" 2>"$TOP/words"; }

# The same, with the exit status that must come.
add_says() {
	local status=0
	add || status=$?
	[ "$status" = "$1" ] || { echo "status $status, not $1: $(cat "$TOP/words")"; return 1; }
}

state() { "$WITNESS" show "$W" | sed -n 2p | cut -d' ' -f2; }

@test "the consistency proofs that unit/consistency compares with are those of notes.py" {
	$NOTES proofs 130 | cmp - "$ROOT/tests/unit/data/consistency.txt"
}

@test "a first checkpoint and what continues it are cosigned, and the cosignatures hold elsewhere" {
	local old=0 size
	for size in 1 2 3 7 8 9 64 65 100 257 1000; do
		body $old $size
		add_says 0
		$NOTES check "$VKEY" 3<"$TOP/body" <"$TOP/answer"
		[ "$(state)" = $size ]
		old=$size
	done
}

@test "whatever the size before, the next step is cosigned" {
	local size
	for size in $(seq 1 7 64) 32 63; do
		rm -rf "$W/cosigned"
		body 0 "$size" && add_says 0
		LEAVES=70 body "$size" 70 && add_says 0
	done
}

@test "the same size is cosigned again when it has the same root" {
	body 0 9 && add_says 0
	body 9 9 && add_says 0
	$NOTES check "$VKEY" 3<"$TOP/body" <"$TOP/answer"
}

@test "the same size with another root is a fork: 4, and what was cosigned stays" {
	body 0 9 && add_says 0
	cp -r "$W/cosigned" "$TOP/before"
	body 9 9 other && add_says 4
	[ ! -s "$TOP/answer" ]
	grep -q 'ANOTHER TREE' "$TOP/words"
	diff -r "$TOP/before" "$W/cosigned"
}

@test "a smaller tree is never cosigned: stale when it says its own size, malformed when it says ours" {
	body 0 9 && add_says 0
	body 5 8 && add_says 5
	[ "$(cat "$TOP/answer")" = 9 ]
	grep -q smaller "$TOP/words"
	body 9 8 && add_says 2
	body 0 8 && add_says 5
	[ "$(state)" = 9 ]
}

@test "an old size that is not the one cosigned last: 5, and the size as the answer" {
	body 3 9 && add_says 5
	[ "$(cat "$TOP/answer")" = 0 ]
	body 0 9 && add_says 0
	LEAVES=12 body 7 12 && add_says 5
	[ "$(cat "$TOP/answer")" = 9 ]
	LEAVES=12 body 9 12 && add_says 0
}

@test "another past, or a wrong, short, long or missing proof: 4, and nothing changes" {
	local wrong
	body 0 9 && add_says 0
	LEAVES=20 body 9 20 other && add_says 4
	for wrong in proof short more none; do
		LEAVES=20 body 9 20 '' $wrong && add_says 4
		[ ! -s "$TOP/answer" ]
	done
	[ "$(state)" = 9 ]
	LEAVES=20 body 9 20 && add_says 0
}

@test "a log that is not known, or another's signature under its name: 6" {
	$NOTES body example.org/stranger seed 5 0 5 >"$TOP/body" && add_says 6
	body 0 5 '' signature && add_says 6
	[ ! -s "$TOP/answer" ]
	[ -z "$(state)" ]
}

@test "two logs do not know of each other" {
	"$WITNESS" trust "$W" "$($NOTES vkey example.org/second seed2)"
	body 0 9 && add_says 0
	$NOTES body example.org/second seed2 4 0 4 x >"$TOP/body" && add_says 0
	LEAVES=12 body 9 12 && add_says 0
	[ "$("$WITNESS" show "$W" | grep -c '^example.org/[a-z]* [0-9]')" = 2 ]
}

@test "trust refuses what is no vkey of a log, and a second key of a known one" {
	run "$WITNESS" trust "$W" "$VKEY"
	[ "$status" = 2 ]
	run "$WITNESS" trust "$W" "$($NOTES vkey $LOG another)"
	[ "$status" = 2 ]
	run "$WITNESS" trust "$W" "$($NOTES vkey $LOG another | sed 's/+..../+0000/')"
	[ "$status" = 2 ]
}

@test "malformed bodies: 2 and no answer" {
	local text
	body 0 9
	for text in '' 'old' 'old 0' 'old 00' 'old -1' 'old 0\n' 'old 0\n\n' 'old 0\nAAAA\n\n' 'new 0\n\n'; do
		printf "$text" | cat - >"$TOP/made"
		cp "$TOP/made" "$TOP/body" && add_says 2
		[ ! -s "$TOP/answer" ]
	done
	body 0 9
	head -c -1 "$TOP/body" >"$TOP/cut" && mv "$TOP/cut" "$TOP/body" && add_says 2 # its only signature has no end
	body 0 9
	tr '\n' '\r' <"$TOP/body" >"$TOP/made" && mv "$TOP/made" "$TOP/body" && add_says 2
	{ echo 'old 0'; for i in $(seq 64); do echo 'AAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAA='; done; } >"$TOP/body" && add_says 2
	# A good note with a line behind it that is no signature: kept as it came it could not be read again.
	for text in garbage '—' '— ' '— other' '— other/x !!!!' '— other/x AAAA' '— a+b AAAAAAAA' ''; do
		body 0 9
		echo "$text" >>"$TOP/body" && add_says 2
		[ ! -e "$W/cosigned" ] || [ -z "$(ls "$W/cosigned")" ]
	done
	head -c 100000 /dev/zero >"$TOP/body" && add_says 2
	head -c 100000 /dev/urandom >"$TOP/body" && add_says 2
}

@test "signatures of others, in any number and of any scheme, are passed on and in nobody's way" {
	local i
	body 0 9
	for i in 1 2 3; do echo "— other/$i $(head -c 3000 /dev/zero | base64 -w0)"; done >>"$TOP/body"
	echo "— $LOG AAAAAAAA" >>"$TOP/body" # another key of the log, one that is not known
	add_says 0
	LEAVES=12 body 9 12 && add_says 0
	[ "$(state)" = 12 ]
}

@test "it says the same wherever its output goes" {
	body 0 9 && add_says 0
	"$WITNESS" show "$W" >/dev/null
	"$WITNESS" show "$W" >/dev/zero
	run "$WITNESS" show "$W"
	[ "$status" = 0 ]
	"$WITNESS" add "$W" <"$TOP/body" >/dev/null 2>&1 || [ "$?" = 5 ]
}

@test "damaged state is 3, never a beginning anew" {
	local file
	body 0 9 && add_says 0
	file=$(echo "$W"/cosigned/*)
	cp "$file" "$TOP/good"
	LEAVES=12 body 9 12
	: >"$file" && add_says 3
	head -c 100 "$TOP/good" >"$file" && add_says 3
	sed 's/^9$/8/' "$TOP/good" >"$file" && add_says 3
	head -n -1 "$TOP/good" >"$file" && add_says 3
	run "$WITNESS" show "$W"
	[ "$status" = 1 ]
	grep -q '^damaged' <<<"$output"
	cp "$TOP/good" "$file" && add_says 0
}

@test "what a crash left beside the state is nobody's" {
	body 0 9 && add_says 0
	head -c 50 "$(echo "$W"/cosigned/*)" >"$(echo "$W"/cosigned/*).new"
	LEAVES=12 body 9 12 && add_says 0
	[ "$(state)" = 12 ]
}

@test "the state is a note that the verifier takes" {
	body 0 9 && add_says 0
	sed -n '2p' "$W"/cosigned/* | grep -qx 9
	sed -n '3p' "$W"/cosigned/* | cmp - <(sed -n '5p' "$TOP/body")
}

@test "sixteen at once, each the next step from the same size: one is cosigned, the others are stale" {
	local i
	body 0 9 && add_says 0
	for i in $(seq 16); do
		$NOTES body $LOG seed $((9 + i)) 9 $((9 + i)) >"$TOP/body.$i"
	done
	for i in $(seq 16); do
		{ s=0; "$WITNESS" add "$W" <"$TOP/body.$i" >"$TOP/answer.$i" 2>/dev/null || s=$?; echo $s >"$TOP/status.$i"; } &
	done
	wait
	[ "$(cat "$TOP"/status.* | sort | uniq -c | awk '{ print $2 ":" $1 }' | xargs)" = "0:1 5:15" ]
}

@test "killed at any time it has either cosigned or not: the next step always follows" {
	local i size=1 pid
	body 0 1 && add_says 0
	for i in $(seq 12); do
		LEAVES=$((size + 1)) body "$size" $((size + 1))
		"$WITNESS" add "$W" <"$TOP/body" >/dev/null 2>&1 &
		pid=$!
		sleep "0.00$((i % 9 + 1))"
		kill -KILL $pid 2>/dev/null || true
		wait $pid || true
		[ "$(state)" = "$size" ] || [ "$(state)" = $((size + 1)) ]
		size=$(state)
	done
	LEAVES=$((size + 1)) body "$size" $((size + 1)) && add_says 0
}

@test "its key is its owner's alone, and init does not make a second one" {
	[ "$(stat -c %a "$W/key")" = 600 ]
	[ "$(stat -c %a "$W")" = 700 ]
	run "$WITNESS" init "$W" example.org/other
	[ "$status" = 2 ]
	[ "$("$WITNESS" show "$W" | head -1)" = "$VKEY" ]
	chmod 640 "$W/key"
	body 0 9 && add_says 3
}

@test "show says which log has been silent for half an hour" {
	body 0 9 && add_says 0
	"$WITNESS" show "$W"
	# As if it had been cosigned long ago: signed anew with an older time by the same key.
	python3 -B - "$W" "$ROOT/tests/support" <<-'END'
	import base64, glob, struct, sys
	sys.path.insert(0, sys.argv[2])
	import ctypes, notes
	name, seed = open(sys.argv[1] + "/key").read().split()
	public, secret = ctypes.create_string_buffer(32), ctypes.create_string_buffer(64)
	notes.sodium.crypto_sign_seed_keypair(public, secret, base64.b64decode(seed))
	path = glob.glob(sys.argv[1] + "/cosigned/*")[0]
	text, signatures = open(path, "rb").read().split(b"\n\n", 1)
	text += b"\n"
	old = 1700000000
	signed = notes.sign(b"cosignature/v1\ntime %d\n" % old + text, secret.raw)
	line = base64.b64encode(notes.key_id(name, 4, public.raw) + struct.pack(">Q", old) + signed).decode()
	lines = signatures.decode().splitlines()[:-1] + [f"\u2014 {name} {line}"]
	open(path, "wb").write(text + b"\n" + "".join(l + "\n" for l in lines).encode())
	END
	run "$WITNESS" show "$W"
	[ "$status" = 1 ]
	grep -q '^example.org/log 9 .* 1700000000 silent$' <<<"$output"
}

@test "names that no note can carry are refused" {
	local name
	for name in '' 'a b' 'a+b' $'a\nb' 'a"b'; do
		run "$WITNESS" init "$TOP/other" "$name"
		[ "$status" = 2 ]
	done
}

@test "it is confined: no new privileges, a filter, no file but its own" {
	mkfifo "$TOP/pipe"
	"$WITNESS" add "$W" <"$TOP/pipe" 3>&- 4>&- &
	exec 5>"$TOP/pipe"
	wait_until 5 grep -qP '^Seccomp:\t2' "/proc/$!/status"
	grep -qP '^NoNewPrivs:\t1' "/proc/$!/status"
	exec 5>&-
	wait $! || true
}
