/** Every command of the program beside its roles. docs/cli.md describes each of them. */
import type { Command } from 'commander';
import { addSimulateCommand } from '../simulation/command';
import { addBackupCommand } from './backup-command';
import { addCompletionCommands } from './completion-command';
import { addDashboardCommand } from './dashboard-command';
import { addDoctorCommand } from './doctor-command';
import { requireValues } from './empty-values';
import { addMigrateCommand } from './migrate-command';
import { addMiniClusterCommand } from './minicluster-command';
import { addReadCommands } from './read-commands';
import { addRenderCommand } from './render-command';
import { addSecretCommands } from './secret-commands';
import { addUninstallCommand } from './uninstall-command';
import { addUpCommand } from './up-command';
import { addWorkloadCommands } from './workload-commands';

export function addCommands(program: Command): void {
  program.commandsGroup('Workloads and nodes, with your own rights:');
  addWorkloadCommands(program);
  addReadCommands(program);
  addMiniClusterCommand(program);
  addDashboardCommand(program);
  program.commandsGroup('Without a stack:');
  addRenderCommand(program);
  addSimulateCommand(program);
  addUpCommand(program);
  addCompletionCommands(program);
  program.commandsGroup('The stack, for its administrators:');
  addDoctorCommand(program);
  addUninstallCommand(program);
  program.commandsGroup('In the pods of the stack:');
  addMigrateCommand(program);
  addBackupCommand(program);
  addSecretCommands(program);
  program.hook('preAction', (_, command) => requireValues(command));
}
