/** A user's own project: nothing but the package and what README names beside it, on a Node of its choice. */
import { cpSync, mkdirSync, readFileSync, symlinkSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { devDependencies } from '../../package.json';
import { snippets } from '../docs/snippets';
import { type PackedPackage, run } from '../package/packed';
import type { Surroundings } from '../shell-line';

const ROOT = join(__dirname, '../..');
/** The npm packages with Node's binaries are named by platform. */
const NODE = `node-${process.platform}-${process.arch}`;
export const NODES = ['20.20.2', devDependencies.node] as const;

const LAMMPS = {
  apiVersion: 'flux-framework.org/v1alpha2',
  kind: 'MiniCluster',
  metadata: { name: 'lammps' },
  spec: { size: 4, containers: [{ image: 'lammps', command: 'lmp -in in.lj' }] },
};

export class Project {
  private constructor(
    readonly node: string,
    readonly folder: string,
    private readonly programs: string,
  ) {}

  /** @throws if the registry does not answer */
  static install(packed: PackedPackage, node: string): Project {
    const folder = packed.project(`node-${node}`);
    const { cdk8s, 'cdk8s-plus-28': plus, constructs, 'cdk8s-cli': cli, tsx, typescript } = devDependencies;
    const given = {
      cdk8s,
      'cdk8s-plus-28': plus,
      constructs,
      'cdk8s-cli': cli,
      tsx,
      typescript,
      [NODE]: node,
    };
    writeFileSync(join(folder, 'package.json'), JSON.stringify({ private: true, devDependencies: given }));
    const quiet = ['--prefer-offline', '--no-audit', '--no-fund'];
    run('npm', ['install', ...quiet, packed.tarball], folder);
    const programs = join(folder, '.bin');
    mkdirSync(programs);
    symlinkSync(join(folder, 'node_modules', NODE, 'bin', 'node'), join(programs, 'node'));
    return new Project(node, folder, programs).filled();
  }

  /** The files that README takes for granted, and its first program. */
  private filled(): this {
    const [program] = snippets('ts').filter(({ place }) => place.startsWith('README'));
    writeFileSync(join(this.folder, 'main.ts'), program!.text);
    writeFileSync(join(this.folder, 'cdk8s.yaml'), 'language: typescript\napp: npx tsx main.ts\n');
    writeFileSync(join(this.folder, 'lammps.yaml'), JSON.stringify(LAMMPS));
    cpSync(join(ROOT, 'examples/jobs'), join(this.folder, 'examples/jobs'), { recursive: true });
    const wide = readFileSync(join(ROOT, 'examples/jobs/wide.yaml'), 'utf8');
    writeFileSync(join(this.folder, 'job.yaml'), wide.replace('name: wide', 'name: wanted'));
    return this;
  }

  /** Its own programs come before those of the cluster. */
  surroundings(kubeconfig: string, kubectl: string): Surroundings {
    const PATH = `${this.programs}:${join(this.folder, 'node_modules/.bin')}:${kubectl}:${process.env.PATH}`;
    return {
      folder: this.folder,
      env: { ...process.env, NODE_OPTIONS: '', HOME: this.folder, PATH, KUBECONFIG: kubeconfig },
    };
  }
}
