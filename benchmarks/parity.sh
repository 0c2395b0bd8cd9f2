#!/usr/bin/env bash
# The parity experiment on ML-1M, all users, five seeds: Frostline's whole run against the peer's, one after the other.
# usage: FROSTLINE_DATA=FOLDER parity.sh PEER_VENV PEER_CONFIG      (PEER_CONFIG: the same systems, max_eval_users: null)
set -euo pipefail
project="$(cd "$(dirname "$0")/.." && pwd)"
peer="$1" config="$(realpath "$2")"
folder="$(mktemp -d)" && cd "$folder"
now() { date +%s.%N; }
before=$(now)
PATH="$project/.venv/bin:$PATH" snakemake --snakefile "$project/Snakefile" --workflow-profile "$project/profiles/default" \
  --cores 2 --configfile "$project/config/parity.yaml" > ours.log 2>&1
between=$(now)
"$peer/bin/python" - "$peer/bin/warmbench" "$config" > peer.log 2>&1 <<'PY'
import resource, subprocess, sys
subprocess.run([sys.argv[1], "--config", sys.argv[2], "--std", "--name", "peer"], check=True)
print("peak", resource.getrusage(resource.RUSAGE_CHILDREN).ru_maxrss // 1024)
PY
after=$(now)
awk -v a="$before" -v b="$between" -v c="$after" \
  'BEGIN {printf "ours %.1f s, peer %.1f s, peer / ours %.2f\n", b - a, c - b, (c - b) / (b - a)}'
ours=$(grep -rhoE "peak [0-9]+" --include=*.log results/parity/logs | awk '{if ($2 > m) m = $2} END {print m}')
echo "largest job: ours $ours MiB, peer $(grep -oE '^peak [0-9]+' peer.log | cut -d' ' -f2) MiB"
