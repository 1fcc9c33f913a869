"""``bpe completions``: print what a shell has to read so that Tab completes commands, options and their values.

The scripts know nothing of the command line. They run ``bpe`` itself with the words so far and ``_BPE_COMPLETE`` set;
``completing`` answers.
"""

from bpe_cli.cli.options import Argument
from bpe_cli.errors import UsageError
from bpe_cli.support.fast_typing import Annotated, Literal

EPILOG = "Exit status: 0 fine, 2 bad usage."

COMMON = {
    "shell": "bash, zsh or fish.",
}
"""The options that people use most, and what the short help says of them; nothing: the first sentence of the long."""

BASH = r"""# bpe's completion for bash. To use it, put this into ~/.bashrc:  eval "$(bpe completions bash)"
_bpe_complete() {
    local reply line place current=${COMP_WORDS[COMP_CWORD]}
    local -a words=()
    for ((place = 1; place <= COMP_CWORD; place++)); do
        words+=("${COMP_WORDS[place]}")
    done
    [[ $current == [=:] ]] && current=
    COMPREPLY=()
    reply=$(_BPE_COMPLETE=bash "${1/#\~/$HOME}" "${words[@]}" 2>/dev/null) || return 0
    while IFS= read -r line; do
        case $line in
            '') ;;
            :files)
                compopt -o filenames 2>/dev/null
                while IFS= read -r line; do
                    COMPREPLY+=("$line")
                done < <(compgen -f -- "$current")
                ;;
            *=) compopt -o nospace 2>/dev/null; COMPREPLY+=("$line") ;;
            *) COMPREPLY+=("$line") ;;
        esac
    done <<< "$reply"
}
complete -F _bpe_complete bpe
"""

ZSH = r"""#compdef bpe
# bpe's completion for zsh. To use it, write this to a file _bpe in a folder of $fpath, or put this into ~/.zshrc
# below compinit:  eval "$(bpe completions zsh)"
_bpe() {
    local line files=
    local -a described
    for line in "${(@f)$(_BPE_COMPLETE=zsh "${(Q)words[1]}" "${(@Q)words[2,CURRENT]}" 2>/dev/null)}"; do
        case $line in
            '') ;;
            :files) files=1 ;;
            *$'\t'*) described+=("${${line%%$'\t'*}//:/\\:}:${line#*$'\t'}") ;;
            *) described+=("${line//:/\\:}") ;;
        esac
    done
    (( $#described )) && _describe 'bpe' described
    if [[ -n $files ]]; then
        [[ $PREFIX == --*=* ]] && compset -P '*='
        _files
    fi
}
if [[ $funcstack[1] == _bpe ]]; then
    _bpe "$@"
else
    compdef _bpe bpe
fi
"""

FISH = r"""# bpe's completion for fish. To use it:  bpe completions fish > ~/.config/fish/completions/bpe.fish
function __bpe_complete
    set -l words (commandline -opc)
    set -l current (commandline -ct)
    for line in (_BPE_COMPLETE=fish command $words[1] $words[2..-1] "$current" 2>/dev/null)
        if test "$line" = :files
            set -l option (string match -r '^--[^=]*=' -- "$current")
            for path in (__fish_complete_path (string replace -r '^--[^=]*=' '' -- "$current"))
                echo "$option$path"
            end
        else
            echo "$line"
        end
    end
end
complete -c bpe -f -a '(__bpe_complete)'
"""

SCRIPTS = {"bash": BASH, "zsh": ZSH, "fish": FISH}


def run(
    shell: Annotated[
        Literal["bash", "zsh", "fish"] | None, Argument(metavar="SHELL", help="bash, zsh or fish.")
    ] = None,
) -> None:
    """Print a shell script that completes commands, options and their values.

    [bold]Examples[/bold]

        bpe completions bash > ~/.local/share/bash-completion/completions/bpe

        bpe completions zsh > ~/.zfunc/_bpe

        bpe completions fish > ~/.config/fish/completions/bpe.fish
    """
    if shell is None:
        raise UsageError("no shell is named", hint="bpe completions bash, zsh or fish")
    print(SCRIPTS[shell], end="")
