#!/usr/bin/env bash
# Sets pgdocs up in this folder; --help tells how. Only finding Python and making .venv is done here:
# the manuals are fetched by pgdocs/scrape/setup.py, the index and the last check are pgdocs/serve/ready.py's.
set -euo pipefail

usage() {
    cat <<'EOF'
./setup.sh [--pg VERSION] [--postgis VERSION] [--from NAME=URL|FOLDER|ARCHIVE]...
    Makes .venv, installs, fetches the PostgreSQL and PostGIS manuals, builds the index, asks the server a question
    and prints how to connect a client. Does only what is missing: run it again at any time, stop it at any time.
    --pg 16, --postgis 3.4
             which version of a manual (18 and 3.5); .venv/bin/pgdocs scrape --add pg17 puts another one beside it
    --from   have a manual (pg or postgis) from a mirror, a folder of its HTML, or an archive (.tar.*, .zip)

./setup.sh --test [ARGUMENTS OF PYTEST]
    Installs what development needs and runs the test suite.
EOF
}

fail() {
    printf '%s\n' "$@" >&2
    exit 1
}

unset CDPATH # `cd` would go to a namesake elsewhere
here=$(cd -- "$(dirname -- "${BASH_SOURCE[0]}")" && pwd -P)
started_in=$PWD
extra=scrape
wanted=()
tests=()

while (($#)); do
    case $1 in
    --help | -h)
        usage
        exit 0
        ;;
    --test)
        extra=dev
        shift
        tests=("$@")
        break
        ;;
    --pg=* | --postgis=*)
        wanted+=("$1")
        shift
        ;;
    --pg | --postgis)
        if (($# < 2)); then
            usage >&2
            exit 2
        fi
        wanted+=("$1" "$2")
        shift 2
        ;;
    --from | --from=*)
        if [[ $1 == --from ]]; then
            shift
            value=${1-}
        else
            value=${1#--from=}
        fi
        where=${value#*=}
        if [[ $value != ?*=?* ]]; then
            usage >&2
            exit 2
        fi
        case $where in
        /* | [~]* | [A-Za-z]:* | http://* | https://*) ;;
        *) value=${value%%=*}=$started_in/$where ;; # what follows runs in the folder of this script
        esac
        wanted+=(--from "$value")
        shift
        ;;
    *)
        usage >&2
        exit 2
        ;;
    esac
done

cd -- "$here"
unset PYTHONHOME PYTHONPATH PGDOCS_DOCS # of other installations; this one is complete in itself
export PIP_USER=0 PIP_DISABLE_PIP_VERSION_CHECK=1

venv_python() {
    if [[ -e .venv/Scripts/python.exe ]]; then echo .venv/Scripts/python.exe; else echo .venv/bin/python; fi
}

# The first Python that is new enough; one without venv (Debian packs it apart) only if there is no other.
find_python() {
    local candidate lacking=
    for candidate in python3 python3.14 python3.13 python3.12 python3.11 python3.10 python; do
        if "$candidate" -c 'import sys; sys.exit(sys.version_info < (3, 10))' 2>/dev/null; then
            if "$candidate" -c 'import ensurepip, venv' 2>/dev/null; then
                command -v "$candidate"
                return
            fi
            lacking=${lacking:-$candidate}
        fi
    done
    if [[ $lacking ]]; then
        fail "$lacking has no venv module. On Debian and Ubuntu: sudo apt install python3-venv; then run ./setup.sh again."
    fi
    fail "No Python 3.10 or newer was found: install one (https://www.python.org/downloads/), then run ./setup.sh again."
}

# A virtual environment that was left half made, or whose Python is gone, is made anew.
python=$(venv_python)
if ! "$python" -m pip --version >/dev/null 2>&1; then
    system_python=$(find_python)
    echo "Making .venv with $system_python"
    rm -rf .venv
    "$system_python" -m venv .venv || fail "Python could not make .venv in $here: see above; then run ./setup.sh again."
    python=$(venv_python)
fi

# Installed are the dependencies of pyproject.toml as the stamp holds it, for the checkout where it lay then.
is_installed() { # EXTRA
    { printf '%s\n' "$here" && cat pyproject.toml; } | cmp -s - ".venv/installed-$1"
}
if ! is_installed "$extra" && ! is_installed dev; then
    echo "Installing (about a minute) ..."
    rm -f .venv/installed-*
    # Python 3.10's first pips can't install a checkout that has no setup.py.
    if ! "$python" -m pip install --quiet 'pip>=21.3' || ! "$python" -m pip install --quiet -e ".[$extra]"; then
        fail "pip could not install: see above. Mend that (often it is the network), then run ./setup.sh again."
    fi
    { printf '%s\n' "$here" && cat pyproject.toml; } >".venv/installing"
    mv ".venv/installing" ".venv/installed-$extra"
fi

if [[ $extra == dev ]]; then
    exec "$python" -m pytest ${tests[@]+"${tests[@]}"}
fi

status=0
"$python" -m pgdocs.scrape.setup ${wanted[@]+"${wanted[@]}"} || status=$?
if ((status != 0 && status != 3)); then # 3: one of the manuals is there, and the server is worth having
    exit "$status"
fi
"$python" -m pgdocs.serve.ready
exit $((status != 0))
