#!/bin/sh
# The log: what a commit costs, and how fast it is verified beside sha256sum of the same files.
set -eu
BUILD_DIR=${BUILD_DIR:-build}
COMMITS=${COMMITS:-2000}
RECORDS=${RECORDS:-1000000}
place=$(mktemp -d "${TMPDIR:-/var/tmp}/agent-safe-bench.XXXXXX")
trap 'rm -rf "$place"' EXIT
trap 'exit 130' INT TERM

echo "log: $COMMITS commits each, on $(stat -f -c %T "$place")"
"$BUILD_DIR/bench/audit" "$place" "$COMMITS" "$RECORDS"

# Seconds that a command takes; the files are in memory by then.
seconds() {
	begun=$(date +%s.%N)
	"$@" >/dev/null
	echo "$begun $(date +%s.%N)" | awk '{ print $2 - $1 }'
}

cat "$place"/log/seg-* >/dev/null
lines=$(cat "$place"/log/seg-* | wc -l)
bytes=$(cat "$place"/log/seg-* | wc -c)
hashing=$(seconds sha256sum "$place"/log/seg-*)
verifying=$(seconds "$BUILD_DIR/agent-safe-audit-verify" "$place/log")
awk -v l="$lines" -v b="$bytes" -v h="$hashing" -v v="$verifying" 'BEGIN {
	printf "verify %d records, %.0f MB: %.2f s, %.0f records/s, %.0f MB/s; sha256sum: %.2f s, %.0f MB/s (ratio %.2f)\n",
	    l, b / 1e6, v, l / v, b / 1e6 / v, h, b / 1e6 / h, v / h }'

# The same log with its closed segments compressed.
command -v zstd >/dev/null || { echo 'compressed: the program zstd is not here'; exit 0; }
begun=$(date +%s.%N)
find "$place/log" -name 'seg-*.jsonl' | sort | head -n -1 | xargs -r zstd -q -9 --rm
packing=$(echo "$begun $(date +%s.%N)" | awk '{ print $2 - $1 }')
packed=$(cat "$place"/log/seg-* | wc -c)
verifying=$(seconds "$BUILD_DIR/agent-safe-audit-verify" "$place/log")
memory=unknown
[ ! -x /usr/bin/time ] || memory=$( { /usr/bin/time -f %M "$BUILD_DIR/agent-safe-audit-verify" "$place/log" >/dev/null; } 2>&1 | tail -n 1)
awk -v l="$lines" -v b="$bytes" -v p="$packed" -v c="$packing" -v v="$verifying" -v m="$memory" 'BEGIN {
	printf "compressed: %.0f MB (%.0f%%) in %.1f s; verify %.2f s, %.0f records/s, %.0f MB/s of content, %s kB resident\n",
	    p / 1e6, 100 * p / b, c, v, l / v, b / 1e6 / v, m }'
