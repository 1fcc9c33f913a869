#!/bin/sh
# What `make demo` runs: every command is shown before it runs, and all of them can be typed by hand.
set -eu
cd "$(dirname "$0")/.."
PATH="$PWD/.venv/bin:$PATH"

run() {
    printf '\n$'
    for word in "$@"; do
        case $word in
        *[!a-zA-Z0-9_./-]*) printf " '%s'" "$word" ;;
        *) printf ' %s' "$word" ;;
        esac
    done
    printf '\n'
    "$@"
}

stdlib=$(python -c 'import sysconfig; print(sysconfig.get_path("stdlib"))')
mkdir -p demo

echo "1. Train on the texts in corpora/ and the top-level modules of Python's standard library."
# The glob is the library's to expand, so that the line above stays readable.
run bpe train 'corpora/**/*.txt' 'corpora/code/*' "$stdlib/*.py" -s 8192 -o demo/tokenizer.json

printf '\n2. Encode a text into ids and decode them again: the same bytes.\n'
run bpe encode corpora/languages/en.txt -t demo/tokenizer.json -o demo/en.ids
run bpe decode demo/en.ids -t demo/tokenizer.json -o demo/en.txt
run cmp corpora/languages/en.txt demo/en.txt
echo "identical"

printf '\n3. Look at the tokens of a text.\n'
run bpe inspect -T 'def naïve(x): return "Straße 東京 🙂"  # 3.14159' -t demo/tokenizer.json

printf '\n4. Compare with the tokenizers of GPT-2, GPT-4 and GPT-4o on texts in many scripts.\n'
run bpe compare 'corpora/languages/*.txt' -t demo/tokenizer.json -t gpt2 -t cl100k_base -t o200k_base
