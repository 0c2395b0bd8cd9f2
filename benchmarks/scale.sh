#!/usr/bin/env bash
# Wall time and peak memory by stage on 1,000,000 users × 15,000 items. Needs 60 GB of disk; usage: scale.sh [FOLDER]
set -euo pipefail
project="$(cd "$(dirname "$0")/.." && pwd)"
folder="${1:-$(mktemp -d)}"
mkdir -p "$folder" && cd "$folder"
export PATH="$project/.venv/bin:$PATH"
start=$(date +%s)
snakemake --snakefile "$project/Snakefile" --workflow-profile "$project/profiles/default" \
  --configfile "$project/benchmarks/scale.yaml" --cores 2
echo "wall $(($(date +%s) - start)) s, by job:"
grep -rh "peak" --include=*.log results/scale/logs | sort -t: -k1,1 -s |
  awk -F'[: ,]+' '{n[$1]++; s[$1]+=$2; if ($5>m[$1]) m[$1]=$5; if ($2>w[$1]) w[$1]=$2}
       END {for (k in n) printf "%-12s jobs %3d  total %8.1f s  longest %7.1f s  peak %6d MiB\n", k, n[k], s[k], w[k], m[k]}'
