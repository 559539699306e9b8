/** Every command of the program beside its roles. docs/cli.md describes each of them. */
import type { Command } from 'commander';
import { addSimulateCommand } from '../simulation/command';
import { addBackupCommand } from './backup-command';
import { addCompletionCommands } from './completion-command';
import { addDashboardCommand } from './dashboard-command';
import { addDoctorCommand } from './doctor-command';
import { addMigrateCommand } from './migrate-command';
import { addMiniClusterCommand } from './minicluster-command';
import { addReadCommands } from './read-commands';
import { addRenderCommand } from './render-command';
import { addSecretCommands } from './secret-commands';
import { addUninstallCommand } from './uninstall-command';
import { addUpCommand } from './up-command';
import { addWorkloadCommands } from './workload-commands';

export function addCommands(program: Command): void {
  addWorkloadCommands(program);
  addReadCommands(program);
  addMiniClusterCommand(program);
  addDashboardCommand(program);
  addMigrateCommand(program);
  addBackupCommand(program);
  addSecretCommands(program);
  addRenderCommand(program);
  addSimulateCommand(program);
  addUpCommand(program);
  addUninstallCommand(program);
  addDoctorCommand(program);
  addCompletionCommands(program);
}
