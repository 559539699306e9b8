/** The commands on the read API (docs/decisions/0042-read-api.md), which users run with their own kubeconfig and rights. */
import type { Command } from 'commander';
import { addHistoryCommand } from './history-command';
import { addNodesCommands } from './nodes-command';
import { addPlanCommand } from './plan-command';
import { addTraceCommand } from './trace-command';
import { addUsageCommand } from './usage-command';
import { addWhatIfCommand } from './whatif-command';

export function addReadCommands(program: Command): void {
  addPlanCommand(program);
  addWhatIfCommand(program);
  addHistoryCommand(program);
  addUsageCommand(program);
  addNodesCommands(program);
  addTraceCommand(program);
}
