# SPDX-License-Identifier: Apache-2.0
# The commands of the block "lead" in README.md; tests/docs runs them.
omen score driple.allocate resnet50 --batch 64 --gpus gtx1080,rtx2070,v100,a100
omen score driple.allocate examples/driple/llama-3-8b.json --train --tokens 4k --gpus a100-80:8,h100:8 --top 2
