#!/usr/bin/env bash
#
# rotate_snapshots.sh - archive a directory and keep only the newest archives.
#
#   rotate_snapshots.sh [-k COUNT] [-n] SOURCE_DIR TARGET_DIR
#
#   -k COUNT   how many archives to keep (default 7)
#   -n         dry run: print what would happen and change nothing
#   -h         show this help

set -euo pipefail

keep_count=7
dry_run=0

usage() {
	# Print the comment block at the top of this file.
	sed -n '3,/^$/ s/^# \{0,1\}//p' "$0"
}

log() {
	printf '%s  %s\n' "$(date '+%Y-%m-%d %H:%M:%S')" "$*" >&2
}

die() {
	log "error: $*"
	exit 1
}

run() {
	if (( dry_run )); then
		log "would run: $*"
	else
		"$@"
	fi
}

while getopts ':k:nh' option; do
	case "$option" in
		k) keep_count=$OPTARG ;;
		n) dry_run=1 ;;
		h) usage; exit 0 ;;
		:) die "option -$OPTARG needs a value" ;;
		*) die "unknown option -$OPTARG" ;;
	esac
done
shift $(( OPTIND - 1 ))

[[ $# -eq 2 ]] || { usage >&2; exit 2; }
[[ $keep_count =~ ^[1-9][0-9]*$ ]] || die "bad count: $keep_count"

source_dir=${1%/}
target_dir=${2%/}
[[ -d $source_dir ]] || die "no such directory: $source_dir"
[[ -d $target_dir ]] || run mkdir -p -- "$target_dir"

name=$(basename -- "$source_dir")
stamp=$(date -u '+%Y%m%dT%H%M%SZ')
archive="$target_dir/$name-$stamp.tar.gz"
partial="$archive.part"

# Never leave half an archive behind, whatever goes wrong.
trap 'rm -f -- "$partial"' EXIT

log "archiving $source_dir"
run tar -C "$(dirname -- "$source_dir")" -czf "$partial" -- "$name"
run mv -- "$partial" "$archive"

# The time stamp sorts like text, so the glob is already oldest first.
shopt -s nullglob
archives=( "$target_dir/$name"-[0-9]*Z.tar.gz )
surplus=$(( ${#archives[@]} - keep_count ))

for (( i = 0; i < surplus; i++ )); do
	log "removing ${archives[i]##*/}"
	run rm -f -- "${archives[i]}"
done

if (( surplus > 0 )); then
	kept=$keep_count
else
	kept=${#archives[@]}
fi
log "done: ${kept} archive(s) kept in $target_dir"
